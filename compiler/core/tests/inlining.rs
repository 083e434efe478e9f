//! The module sizes of chains of helper functions that each call the next one twice.

use kiln_compiler::{
    Artifact, Emit, Output,
    diag::Code,
    opencl::Environment,
    session::{NoFiles, Options, Source},
    target::Target,
};

/// A kernel that calls a chain of helpers with this pointer. All but the last one also contain `step`.
fn chain(length: usize, step: &str, pointer: &str) -> String {
    let mut text = "void f0(local int *p, global int *g, int n) { p[n & 3] = g[n & 5]; }\n".to_owned();
    for number in 1..length {
        let callee = format!("f{}", number - 1);
        text.push_str(&format!(
            "void f{number}(local int *p, global int *g, int n) {{ {callee}(p, g, n); {step} {callee}(p, g, n + 1); }}\n"
        ));
    }
    let last = length - 1;
    text + &format!(
        "kernel void k(local int *a, local int *b, global int *g, int n) {{ f{last}({pointer}, g, n); f{last}(b, g, n); }}\n"
    )
}

fn compile(text: &str) -> Output {
    let options = Options { target: Target::full(Environment::Vulkan), ..Options::default() };
    let source = Source { name: "chain.cl".to_owned(), text: text.as_bytes().to_vec() };
    kiln_compiler::compile(source, &options, &NoFiles, &Emit::Spirv)
}

/// The size of the module in words, and the number of its functions.
fn size(text: &str) -> (usize, usize) {
    const OP_FUNCTION: u32 = 54;
    let output = compile(text);
    let Some(Artifact::Module(module)) = output.artifact else { panic!("{:?}\n{text}", output.diagnostics) };
    let words = module.into_words();
    let (mut at, mut functions) = (5, 0);
    while at < words.len() {
        functions += usize::from(words[at] & 0xffff == OP_FUNCTION);
        at += (words[at] >> 16) as usize;
    }
    (words.len(), functions)
}

#[test]
fn long_chains_have_small_modules() {
    let add = "atomic_fetch_add_explicit((volatile local atomic_int *)p, n, memory_order_acq_rel, memory_scope_work_group);";
    for step in
        ["p[n & 7] += g[n];", "barrier(CLK_LOCAL_MEM_FENCE);", "mem_fence(CLK_GLOBAL_MEM_FENCE);", add]
    {
        let (words, functions) = size(&chain(40, step, "a"));
        assert!(words < 60_000 && functions > 5, "{step}: {words} words, {functions} functions");
    }
}

/// Only a copy in the caller makes the order constant.
#[test]
fn functions_with_orders_as_parameters_are_inlined() {
    let text = "void add(global atomic_int *p, memory_order order) {
                    for (int i = 0; i < 9; i++) {
                        atomic_fetch_add_explicit(p, i * i + 3, order, memory_scope_device);
                        atomic_fetch_xor_explicit(p + i, i ^ 7, order, memory_scope_device);
                    }
                }
                kernel void k(global atomic_int *p) {
                    add(p, memory_order_relaxed); add(p + 1, memory_order_release); add(p + 2, memory_order_acquire);
                }";
    assert_eq!(size(text).1, 1);
}

#[test]
fn programs_that_stay_too_large_are_rejected_at_a_function() {
    // A function cannot have a pointer to several objects.
    for (step, pointer) in [("printf(\"%d\\n\", n);", "a"), ("p[n] += 1;", "n & 1 ? a : b")] {
        let text = chain(30, step, pointer);
        let output = compile(&text);
        let [error] = &output.diagnostics[..] else { panic!("{:?}", output.diagnostics) };
        assert_eq!(error.code, Code::ProgramSize);
        let line = text[..error.span.lo as usize].lines().count();
        assert!(output.artifact.is_none() && line > 1, "line {line}");
    }
}
