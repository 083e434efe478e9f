//! `kiln translate`, and modules of the OpenCL environment in `kiln run` and `kiln link`.

use std::fs;

use kiln_testsuite::{device, module, process::Finished, untyped};
use tempfile::TempDir;

use crate::{assemble, command, folder, folder_with_module, is_module, kiln, kiln_with, succeed};

/// One launch through every family of instructions, with results that are exact on every device.
const FAMILIES: &str = "\
#pragma OPENCL EXTENSION cl_khr_subgroups : enable
typedef struct { char tag; int values[3]; } Item;
int pick(Item item, int i) { return item.values[i % 3] + item.tag; }
kernel void families(global int *out, global const float *in, local int *shared, Item item)
{
    int i = (int)get_global_id(0);
    int n = (int)get_local_id(0);
    float4 v = vload4(i, in);
    int4 rounded = convert_int4_sat_rte(v * 3.0f);
    uint bits = rotate((uint)i, 3u) ^ popcount(i * 77u);
    shared[n] = rounded.x + (int)(bits & 7u);
    barrier(CLK_LOCAL_MEM_FENCE);
    int sum = 0;
    for (int k = 0; k < (int)get_local_size(0); k++) {
        if (shared[k] == 3) continue;
        sum += shared[k];
    }
    atomic_fetch_add_explicit((global atomic_int *)out, sum, memory_order_relaxed, memory_scope_device);
    switch (i % 3) {
    case 0: sum += clamp(i, 1, 5); break;
    case 1: sum += (int)fmax(v.y, 2.0f); /* falls through */
    case 2: sum -= mad24(i, 2, 1); break;
    default: sum = select(sum, -sum, i > 4); break;
    }
    out[1 + i] = sum + pick(item, i) + all((int2)(i, -1)) + (int)signbit(v.w) + abs_diff(i, 9) + isnan(v.z);
}
";

const LAUNCH: [&str; 14] = [
    "--kernel",
    "families",
    "--global",
    "8",
    "--local",
    "4",
    "--arg",
    "buf:i32[9]",
    "--arg",
    "buf:f32[32]=iota*0.5-3",
    "--arg",
    "local:16",
    "--arg",
    "struct:{1,{2,3,4}}",
];

/// Runs a command on this device.
fn on(name: &str, folder: &TempDir, words: &[&str]) -> Finished {
    let mut command = command(folder, words);
    device::Device::named(name).expect("a device").only(&mut command).expect("it is installed");
    kiln_with(&mut command, "")
}

fn prints(finished: &Finished) -> String {
    assert!(finished.status.success(), "{}", finished.stderr);
    finished.text()
}

/// Compiles `k.cl` with clang and llvm-spirv, with this optimization. Returns the name of the module.
fn by_clang(folder: &TempDir, level: &str) -> String {
    let name = format!("clang{level}.spv");
    clang(folder, ("k.cl", &name), &["-cl-std=CL2.0", level, "-Xclang", "-finclude-default-header"], &[]);
    name
}

/// Compiles a source to a module with clang and llvm-spirv, with these options.
fn clang(folder: &TempDir, (source, module): (&str, &str), options: &[&str], of_translator: &[&str]) {
    let clang = ["clang-15", "--target=spir64", "-O0", "-w", "-c", "-emit-llvm", "-o", "k.bc"];
    succeed(folder, &[&clang[..], options, &[source]].concat());
    succeed(folder, &[&["llvm-spirv-15"], of_translator, &["k.bc", "-o", module]].concat());
}

/// A module gives the same results translated for Vulkan, as it is on the reference device, and compiled directly.
#[test]
fn modules_of_both_compilers_give_the_results_of_the_source() {
    let folder = folder(&[("k.cl", FAMILIES)]);
    let launch = [&LAUNCH[..], &["--print", "out"]].concat();
    let direct = on("reference", &folder, &[&["run", "-cl-std=CL2.0", "k.cl"][..], &launch].concat());
    let expected = prints(&direct);
    let own = ["compile", "--env", "opencl", "-cl-std=CL2.0", "k.cl", "-o", "own.spv"];
    assert!(kiln(&folder, &own).status.success());
    for module in ["own.spv".to_owned(), by_clang(&folder, "-O0"), by_clang(&folder, "-O2")] {
        for device in ["lavapipe", "reference"] {
            // The module has no names of a structure's members, so the source supplies them.
            let words = [&["run", "-cl-std=CL2.0", "k.cl"][..], &launch, &["--module", &module]].concat();
            let found = on(device, &folder, &words);
            let found = prints(&found);
            // clang drops the names of parameters.
            let numbers = |text: &str| text.split_once('=').map(|(_, numbers)| numbers.to_owned());
            assert_eq!(numbers(&found), numbers(&expected), "{module} on {device}");
        }
    }
}

/// Asynchronous copies, a table in constant memory, and pointers in private memory.
const COPIES: &str = "\
constant int table[4] = {2, 3, 5, 7};
typedef struct Node { int value; struct Node *next; } Node;
kernel void copies(global int *out, local int *shared)
{
    event_t event = async_work_group_copy(shared, out, 4, 0);
    wait_group_events(1, &event);
    Node second = {5, 0}, first = {table[get_local_id(0)], &second};
    out[4 + get_local_id(0)] = shared[3 - get_local_id(0)] * 100 + first.value * 10 + first.next->value;
}
";

/// A module with untyped pointers gives the same results as with typed ones.
#[test]
fn untyped_pointers_are_read() {
    let numbers = |text: &str| text.split_once('=').map(|(_, numbers)| numbers.trim().to_owned());
    let copies = [
        "--kernel",
        "copies",
        "--global",
        "4",
        "--local",
        "4",
        "--arg",
        "buf:i32[8]=iota",
        "--arg",
        "local:16",
    ];
    for (source, launch) in [(FAMILIES, &LAUNCH[..]), (COPIES, &copies[..])] {
        let folder = folder(&[("k.cl", source)]);
        let run = [&["run", "-cl-std=CL2.0", "k.cl", "--print", "out"][..], launch].concat();
        let expected = numbers(&prints(&on("reference", &folder, &run)));
        assert!(expected.is_some());
        let own = ["compile", "--env", "opencl", "-cl-std=CL2.0", "k.cl", "-o", "own.spv"];
        assert!(kiln(&folder, &own).status.success());
        for module in ["own.spv".to_owned(), by_clang(&folder, "-O0"), by_clang(&folder, "-O2")] {
            let path = folder.path().join(&module);
            let words = module::words(&path).expect("a module");
            let words = untyped::untyped(&words);
            fs::write(&path, words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>())
                .expect("a file");
            let verified = kiln(&folder, &["verify", &module]);
            assert_eq!(verified.code(), Some(0), "{}", verified.text());
            for device in ["lavapipe", "reference", "vulkan-reference"] {
                let found = prints(&on(device, &folder, &[&run[..], &["--module", &module]].concat()));
                assert_eq!(numbers(&found), expected, "{module} on {device}");
            }
        }
    }
}

/// A module of llvm-spirv may omit variables of its entry points.
#[test]
fn what_llvm_spirv_omits_is_a_warning() {
    let folder = folder_with_module("spv1.4", OMITS);
    let verified = kiln(&folder, &["verify", "k.spv"]);
    let text = verified.text();
    assert_eq!(verified.code(), Some(0), "{text}");
    assert!(text.contains(": warning: ") && text.contains("[SPIRV-OpEntryPoint-interface]"), "{text}");
    for device in ["lavapipe", "reference"] {
        let run = ["run", "k.spv", "--global", "1", "--arg", "buf:u8[1]", "--check", "p[0]=7"];
        let ran = on(device, &folder, &run);
        assert!(ran.status.success(), "{device}: {}", ran.stderr);
    }
}

/// Kiln cannot give the results of another rounding mode, so it rejects the mode on every device.
#[test]
fn other_rounding_modes_are_rejected() {
    let enabled = "OpCapability RoundingModeRTZ\nOpExtension \"SPV_KHR_float_controls\"\nOpMemoryModel";
    let source = OMITS.replace("OpMemoryModel", enabled);
    let source = source.replace("OpName %p", "OpExecutionMode %k RoundingModeRTZ 32\nOpName %p");
    let folder = folder_with_module("spv1.4", &source);
    for device in ["lavapipe", "reference"] {
        let ran = on(device, &folder, &["run", "k.spv", "--global", "1", "--arg", "buf:u8[1]"]);
        assert!(!ran.status.success(), "{device}");
        assert!(ran.stderr.contains("RoundingModeRTZ is not supported"), "{device}: {}", ran.stderr);
    }
}

/// llvm-spirv writes constants before their operands.
#[test]
fn constants_in_another_order_are_read() {
    let declared = "%uchar2 = OpTypeVector %uchar 2\n%pair = OpConstantComposite %uchar2 %seven %seven\n%seven = OpConstant";
    let source = OMITS.replace("%seven = OpConstant", declared);
    let part = "%part = OpCompositeExtract %uchar %pair 1\nOpStore %shared %part";
    let folder = folder_with_module("spv1.4", &source.replace("OpStore %shared %seven", part));
    for device in ["lavapipe", "reference", "vulkan-reference"] {
        let run = ["run", "k.spv", "--global", "1", "--arg", "buf:u8[1]", "--check", "p[0]=7"];
        let ran = on(device, &folder, &run);
        assert!(ran.status.success(), "{device}: {}", ran.stderr);
    }
}

/// Copies a byte through local memory, which the entry point does not list.
const OMITS: &str = "\
OpCapability Kernel
OpCapability Addresses
OpCapability Int8
OpMemoryModel Physical64 OpenCL
OpEntryPoint Kernel %k \"k\"
OpName %p \"p\"
%void = OpTypeVoid
%uchar = OpTypeInt 8 0
%seven = OpConstant %uchar 7
%global_uchar = OpTypePointer CrossWorkgroup %uchar
%local_uchar = OpTypePointer Workgroup %uchar
%type = OpTypeFunction %void %global_uchar
%shared = OpVariable %local_uchar Workgroup
%k = OpFunction %void None %type
%p = OpFunctionParameter %global_uchar
%entry = OpLabel
OpStore %shared %seven Aligned 1
%value = OpLoad %uchar %shared Aligned 1
OpStore %p %value Aligned 1
OpReturn
OpFunctionEnd
";

/// Kernels that enqueue others: events, local memory, index spaces of two dimensions, a kernel that enqueues another, and
/// queries.
const ENQUEUES: &str = "\
kernel void parent(global int *out, int n)
{
    queue_t q = get_default_queue();
    size_t size[2] = { 2, 3 };
    clk_event_t first, second;
    void (^fill)(void) = ^{ out[get_global_linear_id()] = n + (int)get_global_linear_id(); };
    int failed = enqueue_kernel(q, CLK_ENQUEUE_FLAGS_WAIT_KERNEL, ndrange_2D(size), 0, 0, &first, fill);
    failed |= enqueue_kernel(q, CLK_ENQUEUE_FLAGS_WAIT_KERNEL, ndrange_1D(4, 4), 1, &first, &second, ^(local void *shared) {
        local int *numbers = shared;
        int i = get_local_id(0);
        numbers[i] = out[i];
        barrier(CLK_LOCAL_MEM_FENCE);
        out[6 + i] = numbers[3 - i];
        if (i == 0) enqueue_kernel(get_default_queue(), CLK_ENQUEUE_FLAGS_WAIT_WORK_GROUP, ndrange_1D(1), ^{ out[10] = out[9] * 2; });
    }, 16u);
    failed |= enqueue_marker(q, 1, &second, 0);
    failed |= get_kernel_work_group_size(fill) < 1;
    release_event(first);
    release_event(second);
    out[11] = failed;
}
";

#[test]
fn kernels_of_a_module_enqueue_kernels() {
    let folder = folder(&[("k.cl", ENQUEUES)]);
    let compiled = kiln(&folder, &["compile", "--env", "opencl", "-cl-std=CL2.0", "k.cl", "-o", "k.spv"]);
    assert!(compiled.status.success(), "{}", compiled.stderr);
    for device in ["lavapipe", "reference"] {
        let launch =
            ["run", "k.spv", "--kernel", "parent", "--global", "1", "--arg", "buf:int[12]", "--arg", "int:7"];
        let finished = on(device, &folder, &[&launch[..], &["--print", "out"]].concat());
        assert_eq!(prints(&finished).trim(), "out[0..12] = 7 8 9 10 11 12 10 9 8 7 14 0", "{device}");
    }
    let reflected = kiln(&folder, &["translate", "k.spv", "-o", "vulkan.spv"]);
    assert!(reflected.status.success(), "{}", reflected.stderr);
    let kernels = kiln(&folder, &["reflect", "vulkan.spv"]).text();
    assert!(kernels.contains("parent") && !kernels.contains("invoke"), "{kernels}");
}

/// llvm-spirv writes an entry point that calls a kernel, including for the functions that kernels enqueue.
#[test]
fn enqueued_functions_of_clang_are_not_kernels() {
    let source = "kernel void k(global int *o) {\n    enqueue_kernel(get_default_queue(), \
                  CLK_ENQUEUE_FLAGS_NO_WAIT, ndrange_1D(4), ^{ o[get_global_id(0)] = 3; });\n}\n";
    let folder = folder(&[("k.cl", source)]);
    clang(&folder, ("k.cl", "k.spv"), &["-cl-std=CL2.0", "-Xclang", "-finclude-default-header"], &[]);
    let run = ["run", "k.spv", "--global", "1", "--arg", "buf:int[4]", "--check", "0[0..4]=3,3,3,3"];
    for device in ["lavapipe", "reference"] {
        let finished = on(device, &folder, &run);
        assert!(finished.status.success(), "{device}: {}", finished.stderr);
    }
}

/// clang initializes parts of objects from variables of the module that llvm-spirv declares in private memory.
#[test]
fn private_constants_of_a_module_are_read() {
    let source = "typedef struct { int n; long3 v[2]; } part;\n\
                  kernel void k(global part *o) {\n    \
                  o[get_global_id(0)] = (part){5, {(long3)(6, 7, 8), (long3)(9, 10, 11)}};\n}\n";
    let folder = folder(&[("k.cl", source)]);
    clang(&folder, ("k.cl", "k.spv"), &["-cl-std=CL3.0", "-Xclang", "-finclude-default-header"], &[]);
    let text = succeed(&folder, &["spirv-dis", "k.spv"]);
    let is_private = |line: &str| line.starts_with("  %constinit =") && line.contains(" Function %");
    assert!(text.lines().any(is_private), "the module has no such variable");
    let run = ["run", "k.spv", "--global", "1", "--arg", "buf:long[12]", "--print", "0"];
    for device in ["lavapipe", "reference"] {
        let numbers = prints(&on(device, &folder, &run));
        assert!(numbers.contains("6 7 8") && numbers.contains("9 10 11"), "{device}: {numbers}");
    }
}

/// The debug information of a kernel module is that of its translation.
#[test]
fn reports_have_the_lines_of_the_source() {
    let folder = folder(&[("k.cl", "kernel void k(global int *o) {\n    o[0] += get_local_id(0);\n}\n")]);
    let compiled = kiln(&folder, &["compile", "-g", "--env", "opencl", "k.cl", "-o", "k.spv"]);
    assert!(compiled.status.success(), "{}", compiled.stderr);
    for device in ["vulkan-reference", "reference"] {
        let launch = ["run", "k.spv", "--global", "4", "--local", "4", "--arg", "buf:int[1]"];
        let finished = kiln(&folder, &[&launch[..], &["--device", device]].concat());
        assert_eq!(finished.status.code(), Some(3), "{device}: {}", finished.stderr);
        assert!(finished.stderr.contains("k.cl:2"), "{device}: {}", finished.stderr);
    }
}

/// Debug information of old versions of llvm-spirv is accepted, and its lines are in reports.
#[test]
fn old_debug_information_is_accepted() {
    let source = "kernel void k(global int *o) {\n    int l = get_local_id(0);\n    o[0] += l;\n}\n";
    let folder = folder(&[("k.cl", source)]);
    let words = ["-g", "-cl-std=CL2.0", "-Xclang", "-finclude-default-header"];
    clang(&folder, ("k.cl", "k.spv"), &words, &["--spirv-debug-info-version=legacy"]);
    for device in ["vulkan-reference", "reference"] {
        let finished =
            on(device, &folder, &["run", "k.spv", "--global", "4", "--local", "4", "--arg", "buf:int[1]"]);
        assert!(finished.stderr.contains("k.cl:3"), "{device}: {}", finished.stderr);
    }
}

#[test]
fn a_module_is_linked_with_a_source() {
    let folder = folder(&[
        ("user.cl", "int half_of(int x); kernel void k(global int *o) { o[0] = half_of(o[0]); }\n"),
        ("half.cl", "int half_of(int x) { return x / 2; }\n"),
        ("wrong.cl", "long half_of(long x) { return x / 2; }\n"),
    ]);
    let object = ["compile", "-c", "--env", "opencl", "--emit", "object", "user.cl", "-o", "user.spv"];
    assert!(kiln(&folder, &object).status.success());
    let linked = kiln(&folder, &["link", "user.spv", "half.cl", "-o", "out.spv"]);
    assert!(linked.status.success(), "{}", linked.stderr);
    assert!(is_module(&folder.path().join("out.spv")));
    let missing = kiln(&folder, &["translate", "user.spv", "-o", "no.spv"]);
    assert_eq!(missing.status.code(), Some(1));
    assert!(missing.stderr.contains("no part of the program defines `half_of`"), "{}", missing.stderr);
    let wrong = kiln(&folder, &["link", "user.spv", "wrong.cl", "-o", "no.spv"]);
    assert!(wrong.stderr.contains("`half_of` has a different type"), "{}", wrong.stderr);
    assert!(!folder.path().join("no.spv").exists());
}

/// Two templates of one name: a module for each part has an instance, and the program keeps one (SPV_KHR_linkonce_odr).
#[test]
fn link_once_functions_are_merged() {
    let twice = "template <typename T> T twice(T x) { return x + x; }\n";
    let folder = folder(&[
        (
            "a.clcpp",
            &format!(
                "{twice}int there(int x);\nkernel void k(global int *o) {{ o[0] = twice(o[0]) + there(o[1]); }}\n"
            ),
        ),
        ("b.clcpp", &format!("{twice}int there(int x) {{ return twice(x) + 1; }}\n")),
        (
            "strong.clcpp",
            "int twice(int x) __asm(\"_Z5twiceIiET_S0_\");\nint twice(int x) { return 3 * x; }\n",
        ),
    ]);
    for part in ["a", "b", "strong"] {
        let files = [format!("{part}.clcpp"), format!("{part}.spv")];
        let extension = "--spirv-ext=+SPV_KHR_linkonce_odr";
        clang(&folder, (&files[0], &files[1]), &["-cl-std=clc++2021"], &[extension]);
    }
    let link = |words: &[&str]| kiln(&folder, &[&["link"], words, &["-o", "out.spv"]].concat());
    // An exported definition wins, and two of them are a mistake.
    for (parts, value) in [
        (&["a.spv", "b.spv"][..], 25),
        (&["a.spv", "b.spv", "strong.spv"], 37),
        (&["strong.spv", "b.spv", "a.spv"], 37),
    ] {
        let linked = link(parts);
        assert!(linked.status.success(), "{parts:?}: {}", linked.stderr);
        let run = [
            "run",
            "out.spv",
            "--global",
            "1",
            "--arg",
            "buf:int[2]=5,7",
            "--check",
            &format!("0[0..1]={value}"),
        ];
        let ran = on("lavapipe", &folder, &run);
        assert!(ran.status.success(), "{parts:?}: {}", ran.stderr);
    }
    let both = link(&["a.spv", "b.spv", "strong.spv", "strong.spv"]);
    assert!(both.stderr.contains("is defined in two parts of the program"), "{}", both.stderr);
    // A library keeps the linkage for the parts that it is linked with later.
    let library = ["link", "--env", "opencl", "--library", "a.spv", "-o", "library.spv"];
    assert!(kiln(&folder, &library).status.success());
    let linked = link(&["--env", "opencl", "library.spv", "b.spv"]);
    assert!(linked.status.success(), "{}", linked.stderr);
}

/// llvm-spirv declares built-in variables as imported variables of CrossWorkgroup, and accesses their components by casts.
#[test]
fn built_in_variables_can_be_of_any_class() {
    let folder = folder_with_module("spv1.2", FOREIGN_BUILT_INS);
    let launch = ["run", "k.spv", "--global", "2,3", "--local", "2,1", "--arg", "buf:u64[6]", "--check"];
    for device in ["lavapipe", "reference"] {
        let ran = on(device, &folder, &[&launch[..], &["p[0..6]=302,312,302,312,302,312"]].concat());
        assert!(ran.status.success(), "{device}: {}", ran.stderr);
    }
}

/// Writes 100 times the size of the second dimension, plus ten times the id in the first one, plus the local size.
const FOREIGN_BUILT_INS: &str = "\
OpCapability Kernel
OpCapability Addresses
OpCapability Linkage
OpCapability Int64
OpCapability Int8
OpMemoryModel Physical64 OpenCL
OpEntryPoint Kernel %k \"k\" %id %size %local %linear
OpName %p \"p\"
OpDecorate %id LinkageAttributes \"__spirv_BuiltInGlobalInvocationId\" Import
OpDecorate %id BuiltIn GlobalInvocationId
OpDecorate %size LinkageAttributes \"__spirv_BuiltInGlobalSize\" Import
OpDecorate %size BuiltIn GlobalSize
OpDecorate %local LinkageAttributes \"__spirv_BuiltInWorkgroupSize\" Import
OpDecorate %local BuiltIn WorkgroupSize
OpDecorate %linear LinkageAttributes \"__spirv_BuiltInGlobalLinearId\" Import
OpDecorate %linear BuiltIn GlobalLinearId
%void = OpTypeVoid
%byte = OpTypeInt 8 0
%long = OpTypeInt 64 0
%v3long = OpTypeVector %long 3
%to_byte = OpTypePointer CrossWorkgroup %byte
%to_long = OpTypePointer CrossWorkgroup %long
%to_v3long = OpTypePointer CrossWorkgroup %v3long
%type = OpTypeFunction %void %to_long
%zero = OpConstant %long 0
%one = OpConstant %long 1
%eight = OpConstant %long 8
%ten = OpConstant %long 10
%hundred = OpConstant %long 100
%id = OpVariable %to_v3long CrossWorkgroup
%size = OpVariable %to_v3long CrossWorkgroup
%local = OpVariable %to_v3long CrossWorkgroup
%linear = OpVariable %to_long CrossWorkgroup
%k = OpFunction %void None %type
%p = OpFunctionParameter %to_long
%l = OpLabel
%id_first = OpBitcast %to_long %id
%x = OpLoad %long %id_first Aligned 8
%bytes = OpBitcast %to_byte %size
%second = OpInBoundsPtrAccessChain %to_byte %bytes %eight
%size_second = OpBitcast %to_long %second
%height = OpLoad %long %size_second Aligned 8
%local_first = OpInBoundsPtrAccessChain %to_long %local %zero %zero
%width = OpLoad %long %local_first Aligned 8
%at = OpLoad %long %linear Aligned 8
%tens = OpIMul %long %x %ten
%hundreds = OpIMul %long %height %hundred
%some = OpIAdd %long %tens %hundreds
%all = OpIAdd %long %some %width
%to = OpInBoundsPtrAccessChain %to_long %p %at
OpStore %to %all Aligned 8
OpReturn
OpFunctionEnd
";

/// Queries the limits of a function that a kernel could enqueue.
const SUB_GROUP_LIMITS: &str = "\
OpCapability Kernel
OpCapability Addresses
OpCapability Int64
OpCapability Int8
OpCapability GenericPointer
OpCapability DeviceEnqueue
OpCapability SubgroupDispatch
OpMemoryModel Physical64 OpenCL
OpEntryPoint Kernel %k \"k\"
OpName %p \"p\"
%void = OpTypeVoid
%int = OpTypeInt 32 0
%long = OpTypeInt 64 0
%char = OpTypeInt 8 0
%pointer = OpTypePointer CrossWorkgroup %int
%generic = OpTypePointer Generic %char
%type = OpTypeFunction %void %pointer
%block = OpTypeFunction %void %generic
%null = OpConstantNull %generic
%zero = OpConstant %int 0
%one = OpConstant %int 1
%two = OpConstant %int 2
%many = OpConstant %int 0x80000001
%at1 = OpConstant %long 1
%at2 = OpConstant %long 2
%child = OpFunction %void None %block
%captured = OpFunctionParameter %generic
%start = OpLabel
OpReturn
OpFunctionEnd
%k = OpFunction %void None %type
%p = OpFunctionParameter %pointer
%l = OpLabel
%size = OpGetKernelWorkGroupSize %int %child %null %zero %one
%sub = OpGetKernelPreferredWorkGroupSizeMultiple %int %child %null %zero %one
%max = OpGetKernelMaxNumSubgroups %int %child %null %zero %one
%pair = OpGetKernelLocalSizeForSubgroupCount %int %two %child %null %zero %one
%none = OpGetKernelLocalSizeForSubgroupCount %int %many %child %null %zero %one
%all = OpIMul %int %max %sub
%rest = OpISub %int %size %all
%count = OpUDiv %int %pair %sub
%p1 = OpInBoundsPtrAccessChain %pointer %p %at1
%p2 = OpInBoundsPtrAccessChain %pointer %p %at2
OpStore %p %rest Aligned 4
OpStore %p1 %count Aligned 4
OpStore %p2 %none Aligned 4
OpReturn
OpFunctionEnd
";

/// SubgroupDispatch has two queries that OpenCL C does not have.
#[test]
fn limits_of_sub_groups_are_known() {
    let folder = folder_with_module("spv1.2", SUB_GROUP_LIMITS);
    for device in ["lavapipe", "reference"] {
        let launch = ["run", "k.spv", "--global", "1", "--arg", "buf:u32[3]", "--check", "p[0..3]=0,2,0"];
        let ran = on(device, &folder, &launch);
        assert!(ran.status.success(), "{device}: {}", ran.stderr);
    }
}

const HEAD: &str = "\
OpCapability Kernel
OpCapability Addresses
OpCapability Int64
OpMemoryModel Physical64 OpenCL
OpEntryPoint Kernel %k \"k\"
OpName %p \"p\"
OpDecorate %size SpecId 7
%void = OpTypeVoid
%int = OpTypeInt 32 0
%long = OpTypeInt 64 0
%pointer = OpTypePointer CrossWorkgroup %int
%type = OpTypeFunction %void %pointer
%size = OpSpecConstant %int 5
%zero = OpConstant %int 0
%one = OpConstant %int 1
%two = OpConstant %int 2
%acquire = OpConstant %int 0x202
%all = OpConstant %int 0x310
%image = OpConstant %int 0x808
%k = OpFunction %void None %type
%p = OpFunctionParameter %pointer
%l = OpLabel
";

/// Assembles a kernel with these instructions to `k.spv`.
fn assemble_kernel(folder: &TempDir, body: &str) {
    assemble(folder, "spv1.2", &format!("{HEAD}{body}OpReturn\nOpFunctionEnd\n"));
}

#[test]
fn specialization_constants_have_values() {
    let folder = folder(&[]);
    assemble_kernel(&folder, "OpStore %p %size Aligned 4\n");
    for (words, value) in [(&[][..], "5"), (&["--spec", "7=12"][..], "12"), (&["--spec", "7=0x10"], "16")] {
        let translate = [&["translate", "k.spv", "-o", "k.vk.spv"][..], words].concat();
        let translated = kiln(&folder, &translate);
        assert!(translated.status.success(), "{}", translated.stderr);
        let run = ["run", "k.vk.spv", "--global", "1", "--arg", "buf:u32[1]", "--print"];
        let printed = on("lavapipe", &folder, &[&run[..], &["p"]].concat());
        assert_eq!(prints(&printed), format!("p[0..1] = {value}\n"));
    }
    let wrong = kiln(&folder, &["translate", "k.spv", "-o", "k.vk.spv", "--spec", "seven"]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(wrong.stderr.contains("write `ID=BITS`"), "{}", wrong.stderr);
}

/// Orders, scopes and memory in OpenCL's terms, and masks that OpenCL C cannot write.
#[test]
fn scopes_and_masks_follow_opencl() {
    let folder = folder(&[]);
    let cases = [
        ("%v = OpAtomicLoad %int %p %one %acquire\n", "acquire"),
        ("OpMemoryBarrier %one %all\n", "fence"),
        ("OpControlBarrier %two %two %all\n", "barrier"),
        ("%q = OpLoad %int %p Aligned 4\n%v = OpAtomicLoad %int %p %q %zero\n", "select"),
    ];
    for (body, expected) in cases {
        assemble_kernel(&folder, body);
        let found = kiln(&folder, &["translate", "k.spv", "-o", "-", "--emit", "ir"]);
        assert!(found.status.success(), "{body}{}", found.stderr);
        assert!(found.text().contains(expected), "{body}{}", found.text());
    }
}

/// Each mistake is reported with the instruction and its word.
#[test]
fn mistakes_are_errors() {
    let folder = folder(&[("text.spv", "this is not a module")]);
    let cases = [
        // A store with acquire order, which the verifier rejects.
        ("OpAtomicStore %p %one %acquire %zero\n", "OpAtomicStore", "OpenCL-atomic-store-order"),
        ("OpMemoryBarrier %one %image\n", "OpMemoryBarrier", "0x808 order image memory beyond a work-item"),
        ("OpControlBarrier %one %one %all\n", "OpControlBarrier", "OpenCL-execution-scope"),
        ("%v = OpBitcast %long %zero\n", "OpBitcast", "different sizes"),
    ];
    for (body, instruction, message) in cases {
        assemble_kernel(&folder, body);
        let found = kiln(&folder, &["translate", "k.spv", "-o", "out.spv"]);
        assert_eq!(found.status.code(), Some(1), "{body}{}", found.stderr);
        let is_named = found.stderr.contains(instruction) && found.stderr.contains(message);
        assert!(is_named && found.stderr.contains("k.spv: error: word "), "{body}{}", found.stderr);
    }
    let none = kiln(&folder, &["translate", "text.spv", "-o", "out.spv"]);
    assert!(!none.status.success() && !none.stderr.is_empty());
    assert!(!folder.path().join("out.spv").exists());
}
