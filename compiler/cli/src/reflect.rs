//! `kiln reflect`: prints the kernel interface of modules from any compiler.

use std::fmt::Write as _;

use kiln_runtime::{
    driver_bugs::DriverBug,
    interface::{
        Argument, ArgumentKind, ArgumentLocation, Binding, BindingClass, DataLocation, KernelInterface,
        ProgramData, ProgramInterface,
    },
};
use serde_json::{Value, json};

use crate::{
    arguments::ReflectCommand,
    exit::{Failure, Outcome},
    files::{read_module, write_output},
};

pub(crate) fn reflect(command: &ReflectCommand) -> Result<Outcome, Failure> {
    let mut modules = Vec::new();
    for path in &command.modules {
        let words = read_module(path)?;
        let interface =
            ProgramInterface::from_spirv(&words).map_err(|error| Failure(format!("`{path}`: {error}")))?;
        modules.push((path.as_str(), version(&words), interface));
    }
    let text = if command.json {
        modules.iter().map(|(path, version, read)| format!("{}\n", as_json(path, *version, read))).collect()
    } else {
        modules
            .iter()
            .map(|(path, version, read)| as_text(path, *version, read))
            .collect::<Vec<_>>()
            .join("\n")
    };
    write_output("-", text.as_bytes())?;
    Ok(Outcome::Success)
}

/// SPIR-V 2.3: the version is in the second word.
fn version(words: &[u32]) -> (u32, u32) {
    let word = words.get(1).copied().unwrap_or_default();
    (word >> 16 & 0xff, word >> 8 & 0xff)
}

fn as_text(path: &str, (major, minor): (u32, u32), read: &ProgramInterface) -> String {
    let mut text = format!("{path}: SPIR-V {major}.{minor}\n");
    for kernel in &read.kernels {
        let _ = writeln!(text, "\nkernel {}", kernel.name);
        for fact in facts(kernel) {
            let _ = writeln!(text, "  {fact}");
        }
        let rows: Vec<[String; 4]> = kernel
            .arguments
            .iter()
            .enumerate()
            .map(|(index, argument)| argument_row(index, argument))
            .collect();
        let width =
            |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or_default();
        let (first, second, third) = (width(0), width(1), width(2));
        for [index, name, ty, location] in &rows {
            let line = format!("  {index:>first$}  {name:second$}  {ty:third$}  {location}");
            let _ = writeln!(text, "{}", line.trim_end());
        }
    }
    for (what, data) in [("variables", &read.variables), ("constants", &read.constants)] {
        if let Some(data) = data {
            let _ =
                writeln!(text, "\nprogram-scope {what}: {} bytes, {}", data.bytes.len(), data_location(data));
        }
    }
    if !read.workarounds.is_empty() {
        let _ = writeln!(text, "\nworks around {}", read.workarounds);
    }
    if let Some(proved) = &read.proved_launch {
        let [global, local] = [proved.global, proved.local].map(|[x, y, z]| format!("{x} × {y} × {z}"));
        let lines: Vec<String> = proved.lines.iter().map(u32::to_string).collect();
        let _ = writeln!(
            text,
            "\nvalid only for the launch of kernel `{}` with {global} work-items in groups of {local}; cheaper operations in \
             lines {}",
            proved.kernel,
            lines.join(", ")
        );
    }
    if let Some(bounds) = &read.bounds {
        let _ = writeln!(text, "\nchecks {} accesses against the buffers of a launch", bounds.sites.len());
    }
    text
}

/// The properties of a kernel other than its arguments.
fn facts(kernel: &KernelInterface) -> Vec<String> {
    let mut facts = Vec::new();
    if let Some([x, y, z]) = kernel.required_local_size {
        facts.push(format!("work-groups of {x} × {y} × {z}"));
    }
    if kernel.static_local_size != 0 {
        facts.push(format!("{} bytes of local memory", kernel.static_local_size));
    }
    if kernel.prints {
        facts.push("may print".to_owned());
    }
    facts
}

fn argument_row(index: usize, argument: &Argument) -> [String; 4] {
    let info = argument.info.as_ref();
    let ty = match info.map(|info| info.type_name.as_str()) {
        Some("") | None => kind(argument.kind).to_owned(),
        Some(name) => format!("{}{name}", space(argument)),
    };
    [index.to_string(), argument.name().unwrap_or("-").to_owned(), ty, argument_location(argument.kind)]
}

/// `CL_KERNEL_ARG_ADDRESS_*` (OpenCL API 5.9.4); empty for private. If a module contains the type but no address
/// space, derives it from how the argument is passed.
fn space(argument: &Argument) -> &'static str {
    let Some(info) = &argument.info else { return "" };
    match (info.address, argument.kind) {
        (Some(0x119B), _) => "global ",
        (Some(0x119C), _) => "local ",
        (Some(0x119D), _) => "constant ",
        (None, ArgumentKind::Pointer(_)) if !info.type_name.is_empty() => "global ",
        (None, ArgumentKind::Local { .. }) if !info.type_name.is_empty() => "local ",
        _ => "",
    }
}

const fn kind(kind: ArgumentKind) -> &'static str {
    match kind {
        ArgumentKind::Unused => "unused",
        ArgumentKind::Pointer(_) | ArgumentKind::Buffer(_) => "buffer",
        ArgumentKind::Value { .. } => "value",
        ArgumentKind::Local { .. } => "local",
        ArgumentKind::Image(_) => "image",
        ArgumentKind::Sampler(_) => "sampler",
        ArgumentKind::Pipe(_) => "pipe",
        ArgumentKind::Queue(_) => "queue",
        ArgumentKind::Unsupported(what) => what,
    }
}

fn argument_location(kind: ArgumentKind) -> String {
    match kind {
        ArgumentKind::Unused | ArgumentKind::Unsupported(_) => String::new(),
        ArgumentKind::Pointer(at) => format!("address, {}", location(at)),
        ArgumentKind::Pipe(at) | ArgumentKind::Queue(at) => format!("handle, {}", location(at)),
        ArgumentKind::Value { location: at, size } => format!("{size} bytes, {}", location(at)),
        ArgumentKind::Local { count, element_size } => {
            format!("elements of {element_size} bytes, their number is specialization constant {}", count.0)
        }
        ArgumentKind::Buffer(at) | ArgumentKind::Image(at) | ArgumentKind::Sampler(at) => binding(at),
    }
}

fn location(location: ArgumentLocation) -> String {
    match location {
        ArgumentLocation::PushConstants { offset } => format!("push constants + {offset}"),
        ArgumentLocation::Block { binding: at, offset } => format!("{} + {offset}", binding(at)),
    }
}

fn data_location(data: &ProgramData) -> String {
    match data.location {
        DataLocation::Address { offset } => format!("address, push constants + {offset}"),
        DataLocation::Bound(at) => binding(at),
    }
}

fn binding(at: Binding) -> String {
    format!("{}, set {}, binding {}", class(at.class), at.set, at.binding)
}

const fn class(class: BindingClass) -> &'static str {
    match class {
        BindingClass::Uniform => "uniform buffer",
        BindingClass::Storage => "storage buffer",
        BindingClass::SampledImage => "sampled image",
        BindingClass::StorageImage => "storage image",
        BindingClass::UniformTexels => "uniform texel buffer",
        BindingClass::StorageTexels => "storage texel buffer",
        BindingClass::Sampler => "sampler",
    }
}

fn as_json(path: &str, (major, minor): (u32, u32), read: &ProgramInterface) -> Value {
    let data = |data: &Option<ProgramData>| {
        data.as_ref().map(|data| json!({ "size": data.bytes.len(), "location": data_location(data) }))
    };
    json!({
        "module": path,
        "spirv_version": format!("{major}.{minor}"),
        "kernels": read.kernels.iter().map(kernel_json).collect::<Vec<_>>(),
        "variables": data(&read.variables),
        "constants": data(&read.constants),
        "local_size": read.local_size.map(|ids| ids.map(|id| id.0)),
        "work_dim": read.work_dim.map(|id| id.0),
        "workarounds": read.workarounds.iter().map(DriverBug::name).collect::<Vec<_>>(),
        "proved_launch": read.proved_launch.as_ref().map(|it| json!({
            "kernel": it.kernel,
            "global": it.global,
            "local": it.local,
            "lines": it.lines,
        })),
        "checked_accesses": read.bounds.as_ref().map(|bounds| bounds.sites.len()),
    })
}

fn kernel_json(kernel: &KernelInterface) -> Value {
    json!({
        "name": kernel.name,
        "attributes": kernel.attributes,
        "reqd_work_group_size": kernel.required_local_size,
        "local_memory": kernel.static_local_size,
        "prints": kernel.prints,
        "arguments": kernel.arguments.iter().map(argument_json).collect::<Vec<_>>(),
    })
}

fn argument_json(argument: &Argument) -> Value {
    let info = argument.info.as_ref();
    let mut object = json!({
        "name": argument.name(),
        "type": info.map(|info| info.type_name.as_str()).filter(|name| !name.is_empty()),
        "address_space": Some(space(argument).trim_end()).filter(|name| !name.is_empty()),
        "kind": kind(argument.kind),
    });
    match argument.kind {
        ArgumentKind::Unused | ArgumentKind::Unsupported(_) => {}
        ArgumentKind::Pointer(at) | ArgumentKind::Pipe(at) | ArgumentKind::Queue(at) => {
            location_json(&mut object, at);
        }
        ArgumentKind::Value { location: at, size } => {
            object["size"] = json!(size);
            location_json(&mut object, at);
        }
        ArgumentKind::Local { count, element_size } => {
            object["element_size"] = json!(element_size);
            object["spec_id"] = json!(count.0);
        }
        ArgumentKind::Buffer(at) | ArgumentKind::Image(at) | ArgumentKind::Sampler(at) => {
            binding_json(&mut object, at);
        }
    }
    object
}

fn location_json(object: &mut Value, location: ArgumentLocation) {
    match location {
        ArgumentLocation::PushConstants { offset } => object["push_constant"] = json!(offset),
        ArgumentLocation::Block { binding, offset } => {
            binding_json(object, binding);
            object["offset"] = json!(offset);
        }
    }
}

fn binding_json(object: &mut Value, at: Binding) {
    object["set"] = json!(at.set);
    object["binding"] = json!(at.binding);
    object["class"] = json!(class(at.class));
}
