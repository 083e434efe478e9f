//! `kiln devices`: lists the devices and their capabilities, in OpenCL terms.

use kiln_compiler::target::profile::{self, Profile};
use kiln_runtime::{
    DeviceInfo, Instance, Options, Order, Scope, Selector, driver_bugs::DriverBug, extensions::Extension,
};
use serde_json::json;

use crate::{
    arguments::DevicesCommand,
    exit::{Failure, Outcome},
    files::print,
    litmus,
};

pub(crate) fn devices(command: &DevicesCommand) -> Result<Outcome, Failure> {
    if command.litmus {
        return litmus::certify(command);
    }
    let instance = Instance::new(Options::from_env())?;
    if let Some(name) = &command.profile {
        let device = instance.device(&Selector::from(name.as_str()))?;
        let info = device.info();
        let profile = Profile { features: info.target().features, driver: info.known_driver };
        print(&profile::text(&format!("{} ({})", info.name, info.driver), &profile))?;
        return Ok(Outcome::Success);
    }
    if command.json {
        let list: Vec<_> = instance.devices().iter().map(as_json).collect();
        print(&format!("{}\n", serde_json::Value::from(list)))?;
    } else {
        for device in instance.devices() {
            print(&description(device))?;
        }
    }
    Ok(Outcome::Success)
}

fn description(device: &DeviceInfo) -> String {
    let offers = &device.capabilities;
    let mut text = format!("{}: {} ({})\n", device.index, device.name, device.driver);
    if !device.lacks.is_empty() {
        text.push_str(&format!("   cannot run kernels: it lacks {}\n", device.lacks.join(", ")));
        return text;
    }
    let mut line = |what: &str, value: String| text.push_str(&format!("   {what:<16} {value}\n"));
    line(
        "atomics",
        format!("{} at {}", orders(&offers.atomic_orders).join(" "), scopes(&offers.atomic_scopes).join(" ")),
    );
    line(
        "fences",
        format!("{} at {}", orders(&offers.fence_orders).join(" "), scopes(&offers.fence_scopes).join(" ")),
    );
    line("64-bit atomics", spaces(offers.int64_global_atomics, offers.int64_local_atomics));
    line("long", native(offers.int64).to_owned());
    line("fp16", yes(offers.fp16).to_owned());
    line("fp64", yes(offers.fp64).to_owned());
    line(
        "sub-groups",
        offers
            .sub_groups
            .as_ref()
            .map_or("no".to_owned(), |it| format!("of up to {} work-items", it.max_size)),
    );
    line(
        "images",
        offers.images.as_ref().map_or("no".to_owned(), |it| {
            let read_write = if it.read_write { "read_write too" } else { "not read_write" };
            format!("up to {0}×{0} and {1}×{1}×{1}, {read_write}", it.max_2d, it.max_3d)
        }),
    );
    line("work-group", format!("up to {} work-items", offers.max_work_group_size));
    line("local memory", size(offers.local_memory));
    line(
        "global memory",
        format!("{}, {} in one buffer", size(offers.global_memory), size(offers.max_allocation)),
    );
    for bug in device.driver_bugs() {
        line("known bug", format!("{}: {}", bug.name(), bug.symptom()));
    }
    text
}

fn as_json(device: &DeviceInfo) -> serde_json::Value {
    let offers = &device.capabilities;
    json!({
        "index": device.index,
        "name": device.name,
        "driver": device.driver,
        "lacks": device.lacks,
        "driver_bugs": device.driver_bugs().map(driver_bug).collect::<Vec<_>>(),
        "atomic_orders": orders(&offers.atomic_orders),
        "atomic_scopes": scopes(&offers.atomic_scopes),
        "extensions": device.extensions().iter().map(Extension::name).collect::<Vec<_>>(),
        "fence_orders": orders(&offers.fence_orders),
        "fence_scopes": scopes(&offers.fence_scopes),
        "int64_global_atomics": offers.int64_global_atomics,
        "int64_local_atomics": offers.int64_local_atomics,
        "int64": offers.int64,
        "fp16": offers.fp16,
        "fp64": offers.fp64,
        "fp32_denormals": device.features.target.float_controls_denorm_preserve32,
        "sub_group_size": offers.sub_groups.as_ref().map(|it| it.max_size),
        "images": offers.images.is_some(),
        "read_write_images": offers.images.is_some_and(|it| it.read_write),
        "max_work_group_size": offers.max_work_group_size,
        "local_memory": offers.local_memory,
        "global_memory": offers.global_memory,
        "max_allocation": offers.max_allocation,
    })
}

fn driver_bug(bug: DriverBug) -> serde_json::Value {
    json!({
        "name": bug.name(),
        "symptom": bug.symptom(),
        "has_workaround": bug.has_workaround(),
    })
}

fn orders(orders: &[Order]) -> Vec<&'static str> {
    orders.iter().map(|order| order.short_name()).collect()
}

fn scopes(scopes: &[Scope]) -> Vec<&'static str> {
    scopes.iter().map(|scope| scope.short_name()).collect()
}

fn spaces(global: bool, local: bool) -> String {
    match (global, local) {
        (true, true) => "global and local",
        (true, false) => "global",
        (false, true) => "local",
        (false, false) => "no",
    }
    .to_owned()
}

fn yes(has: bool) -> &'static str {
    if has { "yes" } else { "no" }
}

fn native(has: bool) -> &'static str {
    if has { "native" } else { "emulated" }
}

fn size(bytes: u64) -> String {
    const UNITS: [(&str, u32); 3] = [("GiB", 30), ("MiB", 20), ("KiB", 10)];
    let unit = UNITS.iter().find(|(_, shift)| bytes >> shift != 0);
    unit.map_or(format!("{bytes} B"), |(name, shift)| format!("{} {name}", bytes >> shift))
}
