//! The table of extensions and features determines the macros of a compilation, the features that programs may use, the
//! capabilities of devices and the output of `kiln devices`: for every profile and every device of this machine.

use std::collections::BTreeSet;

use kiln_compiler::{
    Artifact, Emit,
    extensions::{Extension, Extensions},
    opencl::{Environment, LanguageVersion},
    session::{NoFiles, Options, Source},
    target::{
        Features, Target,
        profile::{self, Profile},
    },
};
use kiln_testsuite::{device, kiln};
use serde_json::Value;

/// An extension or feature, and a kernel that is legal if a target has it.
const PROBES: &[(Extension, &str)] = &[
    (
        Extension::FeatureSubgroups,
        "kernel void k(global atomic_int *a) {
            atomic_fetch_add_explicit(a, 1, memory_order_relaxed, memory_scope_sub_group);
        }",
    ),
    (
        Extension::ScopeDevice,
        "kernel void k(global atomic_int *a) {
            atomic_fetch_add_explicit(a, 1, memory_order_relaxed, memory_scope_device);
        }",
    ),
    (
        Extension::ScopeAllDevices,
        "kernel void k(global atomic_int *a) {
            atomic_fetch_add_explicit(a, 1, memory_order_relaxed, memory_scope_all_devices);
        }",
    ),
    (
        Extension::OrderAcqRel,
        "kernel void k(global atomic_int *a) {
            atomic_fetch_add_explicit(a, 1, memory_order_acq_rel, memory_scope_work_group);
        }",
    ),
    (
        Extension::OrderSeqCst,
        "kernel void k(global atomic_int *a) {
            atomic_fetch_add_explicit(a, 1, memory_order_seq_cst, memory_scope_work_group);
        }",
    ),
    (Extension::KhrInt64Base, "kernel void k(global atomic_long *a) { }"),
    (Extension::KhrFp64, "kernel void k(global double *a) { *a *= 2.0; }"),
    (
        Extension::KhrFp16,
        "#pragma OPENCL EXTENSION cl_khr_fp16 : enable
        kernel void k(global half *a) { *a *= 2.0h; }",
    ),
    (Extension::Images, "kernel void k(read_only image2d_t i, global int *a) { *a = get_image_width(i); }"),
    (
        Extension::ReadWriteImages,
        "kernel void k(read_write image2d_t i, global int *a) { *a = get_image_width(i); }",
    ),
    (Extension::GenericAddressSpace, "kernel void k(global int *a) { int *p = a; *p = 1; }"),
    (Extension::KhrUniformArithmetic, "kernel void k(global int *a) { *a = work_group_reduce_mul(*a); }"),
    (Extension::KhrAsyncFence, "kernel void k() { async_work_group_copy_fence(CLK_LOCAL_MEM_FENCE); }"),
    (
        Extension::KhrAsyncCopies,
        "kernel void k(global int *a, local int *b) {
            event_t e = async_work_group_copy_2D2D(b, 0, a, 0, 4, 2, 2, 2, 2, 0);
            wait_group_events(1, &e);
        }",
    ),
    (
        Extension::DeviceEnqueue,
        "kernel void k(global int *a) {
            enqueue_kernel(get_default_queue(), CLK_ENQUEUE_FLAGS_NO_WAIT, ndrange_1D(1), ^{ a[0] = 1; });
        }",
    ),
    (Extension::Pipes, "kernel void k(read_only pipe int p, global int *a) { read_pipe(p, a); }"),
];

fn compiled(target: &Target, text: &str, emit: &Emit) -> Option<Artifact> {
    let options = Options { std: LanguageVersion::Cl30, target: target.clone(), ..Options::default() };
    let source = Source { name: "probe.cl".to_owned(), text: text.as_bytes().to_vec() };
    kiln_compiler::compile(source, &options, &NoFiles, emit).artifact
}

/// The extensions and features whose macros are defined.
fn macros(target: &Target) -> BTreeSet<String> {
    let names = Extension::ALL.iter().map(|extension| extension.name());
    // The macro itself would be replaced in the output.
    let text: String = names.map(|name| format!("#ifdef {name}\n\"{name}\"\n#endif\n")).collect();
    match compiled(target, &text, &Emit::Preprocessed) {
        Some(Artifact::Text(text)) => text.split('"').skip(1).step_by(2).map(str::to_owned).collect(),
        _ => panic!("unknown macros"),
    }
}

fn names(extensions: Extensions) -> BTreeSet<String> {
    extensions.iter().map(|extension| extension.name().to_owned()).collect()
}

/// Compares macros and legality with the table.
fn follow_from_the_table(what: &str, environment: Environment, features: &Features) {
    let offered = Extensions::offered(environment, features);
    let target = Target { features: features.clone(), ..Target::full(environment) };
    assert_eq!(macros(&target), names(offered), "{what}: the macros");
    for (extension, text) in PROBES {
        let is_legal = compiled(&target, text, &Emit::Spirv).is_some();
        assert_eq!(is_legal, offered.has(*extension), "{what}: {}", extension.name());
    }
}

#[test]
fn macros_and_legality_follow_from_the_table() {
    for name in profile::names() {
        let profile = profile::named(name).expect("a profile");
        follow_from_the_table(name, Environment::Vulkan, &profile.features);
    }
    follow_from_the_table("opencl", Environment::OpenCl, &Features::full());
}

/// The devices of this machine: their capabilities, as `kiln devices` lists them, and their profiles.
#[test]
fn capabilities_follow_from_the_table() {
    let mut command = kiln::command();
    device::drivers(&mut command).unwrap_or_else(|reason| panic!("{reason}"));
    let listed = kiln::run(command.args(["devices", "--json"])).expect("a list").text();
    let listed: Vec<Value> = serde_json::from_str(&listed).expect("JSON");
    assert!(listed.len() >= 2, "{listed:?}");
    for device in &listed {
        let name = device["name"].as_str().expect("a name");
        let mut command = kiln::command();
        device::drivers(&mut command).unwrap_or_else(|reason| panic!("{reason}"));
        command.args(["devices", "--profile", &device["index"].to_string()]);
        let text = kiln::run(&mut command).expect("a profile").text();
        let Profile { features, .. } = profile::parse(&text).expect("a profile");
        let environment =
            if name == "Kiln reference device" { Environment::OpenCl } else { Environment::Vulkan };
        follow_from_the_table(name, environment, &features);

        let offered = Extensions::offered(environment, &features);
        let words = |key: &str| -> BTreeSet<String> {
            let list = device[key].as_array().expect("a list").iter();
            list.map(|word| word.as_str().expect("a word").to_owned()).collect()
        };
        assert_eq!(words("extensions"), names(offered), "{name}");
        for (list, word, extension) in [
            ("atomic_scopes", "sub_group", Extension::FeatureSubgroups),
            ("atomic_scopes", "device", Extension::ScopeDevice),
            ("atomic_scopes", "all_svm_devices", Extension::ScopeAllDevices),
            ("fence_scopes", "device", Extension::ScopeDevice),
            ("fence_scopes", "all_svm_devices", Extension::ScopeAllDevices),
            ("atomic_orders", "acq_rel", Extension::OrderAcqRel),
            ("atomic_orders", "seq_cst", Extension::OrderSeqCst),
            ("fence_orders", "acquire", Extension::OrderAcqRel),
        ] {
            assert_eq!(words(list).contains(word), offered.has(extension), "{name}: {list} {word}");
        }
        for (key, extension) in [
            ("fp16", Extension::KhrFp16),
            ("fp64", Extension::KhrFp64),
            ("images", Extension::Images),
            ("read_write_images", Extension::ReadWriteImages),
        ] {
            assert_eq!(device[key].as_bool(), Some(offered.has(extension)), "{name}: {key}");
        }
        let has_int64_atomics = ["int64_global_atomics", "int64_local_atomics"]
            .into_iter()
            .all(|key| device[key].as_bool().expect("a flag"));
        assert_eq!(has_int64_atomics, offered.has(Extension::KhrInt64Base), "{name}");
    }
}

/// The profiles of this machine's drivers, with which modules are compiled ahead of time.
#[test]
fn named_profiles_match_the_devices() {
    let mut compared = Vec::new();
    for device in device::with_current() {
        let Some(named) = profile::named(device.name) else { continue };
        let mut command = kiln::command();
        device.only(&mut command).unwrap_or_else(|reason| panic!("{reason}"));
        let text = kiln::run(command.args(["devices", "--profile", "0"])).expect("a profile").text();
        let found = profile::parse(&text).expect("a profile");
        assert_eq!(
            found.features, named.features,
            "{}: `kiln devices --profile` prints\n{text}",
            device.name
        );
        compared.push(device.name);
    }
    assert!(!compared.is_empty(), "no device has a named profile");
}
