//! Tests of hover for each kind of entity.

use super::*;
use crate::fixture::Fixture;

#[track_caller]
fn check(source: &str, expected: &[&str]) {
    let fixture = Fixture::new(source);
    let text = match hover(&fixture.cursor()).map(|hover| hover.contents) {
        Some(HoverContents::Markup(markup)) => markup.value,
        _ => String::new(),
    };
    for part in expected {
        assert!(text.contains(part), "no {part:?} in {text}");
    }
}

#[test]
fn variables_parameters_and_functions() {
    check("void f(global float *a) { $0a; }", &["global float *a", "parameter of `f`", "8 bytes"]);
    check("void f() { int x[4]; $0x; }", &["int x[4]", "variable of `f`, 16 bytes"]);
    check(
        "// Adds.\n// And more.\nint add(int a, local int *b);\nint f() { return add$0(1, 0); }",
        &["int add(int a, local int *b)", "Adds.\nAnd more."],
    );
    check("constant int N = -4;\nint f() { return $0N; }", &["constant int N = -4"]);
    check("kernel void $0k(global int *a) {}", &["kernel void k(global int *a)"]);
}

#[test]
fn macros_and_their_expansions() {
    check(
        "#define TWICE(x) ((x) + (x))\nint f(int a) { return $0TWICE(a); }",
        &["#define TWICE(x) ((x) + (x))", "((a) + (a))"],
    );
    check("float f() { return $0M_PI_F; }", &["#define M_PI_F 3.14"]);
    check("void f() { barrier($0CLK_LOCAL_MEM_FENCE); }", &["Orders accesses to local memory"]);
}

#[test]
fn layouts_of_records() {
    check(
        "struct $0S { char a; float3 b; };",
        &["size 32, alignment 16", "| 16 | 16 | `float3 b` |", "15 bytes of padding"],
    );
    check("typedef struct { int a; } T;\nvoid f($0T t) {}", &["typedef struct { int a; } T"]);
    check(
        "struct S { char a; int b; };\nint f(struct S s) { return s.$0b; }",
        &["int b", "member of `S` at offset 4, 4 bytes"],
    );
    check("enum E { A = 3, B };\nint f() { return $0B; }", &["B = 4"]);
}

#[test]
fn built_in_functions() {
    check(
        "int f(global atomic_int *a) { return atomic$0_load_explicit(a, memory_order_acquire); }",
        &[
            "int atomic_load_explicit(",
            "*object, memory_order order)",
            "Returns the value",
            "OpenCL C 6.15.12",
        ],
    );
    check(
        "void f(global atomic_int *a) { atomic_load$0_explicit(a, memory_order_acquire); }",
        &["Orders: relaxed, acquire, seq_cst."],
    );
    check(
        "kernel void f(global atomic_int *a) { int i = atomic_lo$0ad(a); }",
        &["On Vulkan: `OpAtomicOr` with 0, acq_rel, device scope. R1: Vulkan has no total order"],
    );
    check(
        "kernel void f(local atomic_int *a) { atomic_store$0_explicit(a, 1, memory_order_release, memory_scope_work_group); }",
        &["On Vulkan: the same operation, release, work_group scope."],
    );
    check(
        "kernel void f() { atomic_work_item$0_fence(CLK_LOCAL_MEM_FENCE, memory_order_seq_cst, memory_scope_device); }",
        &["On Vulkan: an addition of 0 to a word that all work-items share, acq_rel, device scope", "R6: "],
    );
    check("kernel void f() { barr$0ier(CLK_LOCAL_MEM_FENCE); }", &["On Vulkan: the same operation, acq_rel"]);
    check("void f() { get_global$0_id(0); }", &["ulong get_global_id(uint dimension)", "6.15.1"]);
    check("float4 f(int4 a) { return convert$0_float4(a); }", &["another type"]);
    check(
        "void f(image2d_t i, sampler_t s) { read_imagef$0(i, s, (float2)(0)); }",
        &["float4 read_imagef(", "sampler_t sampler, float2 coordinates"],
    );
    check("void f() { sub_group_$0elect(); }", &["Needs `"]);
}

#[test]
fn constants_types_and_words() {
    check(
        "int f(global atomic_int *a) { return atomic_load_explicit(a, memory_order$0_acquire); }",
        &["memory_order_acquire = 2", "visible"],
    );
    check("void f() { uint$0 a; }", &["4 bytes"]);
    check("$0kernel void f() {}", &["host launches"]);
    check("void f() { float4 v; v.$0xy; }", &["float2"]);
    check("int f() { return 0x1$00; }", &["int = 16"]);
}
