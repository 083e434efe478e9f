//! Compares snippets of source with snippets of the IR that they are lowered to.

use kiln_frontend::sema;
use kiln_ir::{self as ir, Module};
use kiln_lower::lower;
use kiln_preprocessor::preprocess;
use kiln_session::{NoFiles, Options, Source, diag::Sink, source::SourceMap};
use kiln_syntax::{Arena, Interner};
use kiln_vocabulary::opencl::Overflow;

fn module(source: &str) -> Module {
    let (options, mut map) = (Options::default(), SourceMap::default());
    let (mut interner, mut sink) = (Interner::new(), Sink::default());
    let source = Source { name: "test.cl".to_owned(), text: source.as_bytes().to_vec() };
    let tokens = preprocess(&options, source, &NoFiles, &mut map, &mut interner, &mut sink, None).tokens;
    let arena = Arena::default();
    let parsed =
        kiln_syntax::parse(&tokens, &arena, &kiln_syntax::parse::NoLayout, kiln_syntax::parse::MAX_DEPTH);
    assert!(parsed.errors.is_empty(), "{:?}", parsed.errors);
    let hir =
        sema::check(parsed.unit, sema::UnitKind::Program, &options, &map, &mut interner, &mut sink, None);
    let module = lower(&hir, &interner, &mut sink, Overflow::Unmarked);
    let is_sound = !sink.has_errors();
    assert!(is_sound, "{:?}", sink.finish(|span| span.lo).0);
    assert_eq!(ir::verify(&module), Vec::<String>::new(), "{module}");
    let text = module.to_string();
    assert_eq!(ir::parse(&text).map(|module| module.to_string()), Ok(text));
    module
}

/// The lines of the module's text, without value numbers, indentation, variables and parameter stores.
fn lines(source: &str) -> Vec<String> {
    let text = module(source).to_string();
    text.lines().map(plain).filter(|line| !line.is_empty()).collect()
}

/// A line without indentation and results.
fn plain(line: &str) -> String {
    let line = line.trim();
    let line = if line.starts_with('%') { line.split_once(" = ").map_or(line, |(_, op)| op) } else { line };
    let mut text = String::new();
    let mut rest = line;
    while let Some((before, after)) = rest.split_once('%') {
        text.push_str(before);
        text.push('%');
        rest = after.trim_start_matches(|c: char| c.is_ascii_digit());
    }
    text + rest
}

/// Asserts that these lines occur in this order, possibly with others between them.
#[track_caller]
fn assert_lines(source: &str, expected: &[&str]) {
    let lines = lines(source);
    let mut found = lines.iter();
    for line in expected {
        assert!(found.any(|found| found == line), "no `{line}` in its place in\n{}", lines.join("\n"));
    }
}

/// The number of lines that begin with this text.
fn count(source: &str, start: &str) -> usize {
    lines(source).iter().filter(|line| line.starts_with(start)).count()
}

#[test]
fn bool_is_a_byte_in_memory() {
    assert_lines(
        "kernel void k(global int *p) { bool b = *p > 3; p[1] = b; }",
        &[
            "compare greater signed %, i32 3",
            "zero_extend %",
            "store align 1 %, %",
            "load align 1 %",
            "compare not_equal unsigned %, i8 0",
            "zero_extend %",
            "store align 4 %, %",
        ],
    );
}

#[test]
fn three_components_are_read_and_written() {
    let source = "kernel void k(global float3 *p, int i) { p[i] = p[i + 1]; }";
    assert_lines(source, &["offset 16 %, %", "load align 16 %", "offset 16 %, %", "store align 16 %, %"]);
    assert!(module(source).to_string().contains(": f32x3 = load align 16"));
}

#[test]
fn only_named_components_are_written() {
    assert_lines(
        "kernel void k(global float4 *p, float2 v) { p->zx = v; }",
        &["extract 0 %", "extract 1 %", "offset 1 %, i64 8", "store align 8 %, %", "store align 16 %, %"],
    );
}

#[test]
fn components_by_index() {
    let source = "kernel void k(global int4 *p, int i) { int4 v = *p; v[i] = 3; (*p)[i] = v[i & 1]; }";
    assert_lines(source, &["insert_dynamic %, i32 3, %", "extract_dynamic %, %", "offset 4 %, %"]);
}

#[test]
fn shifts_are_masked() {
    assert_lines(
        "kernel void k(global int *p, global uchar4 *q) { p[0] = p[1] >> p[2]; *q = *q << (uchar)9; p[3] <<= 35; }",
        &["and %, i32 31", "ashr %, %", "shl %, i8x4 1", "shl %, i32 3"],
    );
}

#[test]
fn conversions_are_lowered() {
    let source = "kernel void k(global int *p, global float *f, global long *l) {
        f[0] = p[0]; p[1] = f[1]; p[2] = convert_int_sat_rte(f[2]); l[0] = p[3]; l[1] = (uint)p[4];
        p[5] = (char)p[6]; p[7] = convert_uchar_sat(p[8]); f[3] = (bool)p[9]; }";
    assert_lines(
        source,
        &[
            "number from_signed %",
            "number to_signed %",
            "number to_even saturate to_signed %",
            "sign_extend %",
            "zero_extend %",
            "truncate %",
            "sign_extend %",
            "number saturate from_signed %",
            "zero_extend %",
            "compare not_equal unsigned %, i32 0",
            "zero_extend %",
            "number %",
        ],
    );
}

#[test]
fn vectors_compare_to_masks() {
    assert_lines(
        "kernel void k(global int4 *p, global float4 *f) { p[0] = f[0] < f[1]; p[1] = !p[2]; p[3] = p[4] && p[5]; }",
        &[
            "compare less float %, %",
            "select %, i32x4 -1, i32x4 0",
            "compare not_equal unsigned %, i32x4 0",
            "not %",
            "select %, i32x4 -1, i32x4 0",
            "compare not_equal unsigned %, i32x4 0",
            "compare not_equal unsigned %, i32x4 0",
            "and %, %",
            "select %, i32x4 -1, i32x4 0",
        ],
    );
}

#[test]
fn conditions_do_not_become_numbers() {
    let source =
        "kernel void k(global int *p, int a, int b) { if (!(a < b && a != 3) || (b == 4) == 0) *p = 1; }";
    assert_eq!(count(source, "zero_extend"), 0);
    assert_eq!(count(source, "select"), 0);
}

#[test]
fn operands_with_effects_are_evaluated_in_an_if() {
    let source = "kernel void k(global int *p, int n) { if (n != 0 && *p / n > 2) *p = n ? p[1] : p[2]; }";
    assert_eq!(count(source, "if"), 3);
    assert_eq!(count(source, "exit L0 bool false"), 1);
}

#[test]
fn structs_are_copied() {
    let source = "struct s { int a; float4 b; };
        struct s f(struct s x, int y) { x.a = y; return x; }
        kernel void k(global struct s *p) { p[0] = f(p[1], 2); struct s t = f(p[2], 3); p[3] = t; }";
    assert_lines(
        source,
        &[
            "copy 32 align 16 %, %",
            "call #1 %, %, i32 2",
            "copy 32 align 16 %, %",
            "copy 32 align 16 %, %",
            "call #1 %, %, i32 3",
            "copy 32 align 16 %, %",
            "function #1 \"f\"(%: ptr<private>, %: ptr<private>, %: i32) {",
            "copy 32 align 16 %, %",
        ],
    );
}

#[test]
fn initializers_zero_unnamed_members() {
    assert_lines(
        "kernel void k(global int *p) { int a[4] = {1, 2}; int b[2] = {*p, 4}; p[0] = a[3] + b[1]; }",
        &["zero 16 align 4 %", "store align 4 %, i32 1", "store align 4 %, i32 2", "store align 4 %, %"],
    );
    assert_eq!(count("kernel void k(global int *p) { int b[2] = {*p, 4}; p[0] = b[1]; }", "zero"), 0);
}

#[test]
fn a_failed_compare_exchange_stores_the_old_value() {
    assert_lines(
        "kernel void k(global atomic_int *p, global int *q) { int e = 1;
            q[0] = atomic_compare_exchange_strong_explicit(p, &e, 7, memory_order_acq_rel, memory_order_relaxed); }",
        &[
            "load align 4 %",
            "atomic compare_exchange_strong i32 signed order acq_rel failure relaxed scope device %, i32 7, %",
            "compare equal unsigned %, %",
            "if L0 % {",
            "exit L0",
            "} else {",
            "store align 4 %, %",
            "exit L0",
        ],
    );
}

#[test]
fn orders_known_at_run_time_are_arguments() {
    assert_lines(
        "kernel void k(global atomic_int *p, int o, int s) {
            atomic_store_explicit(p, 1, (memory_order)o, (memory_scope)s); }",
        &["atomic store i32 signed order dynamic scope dynamic %, i32 1, %, %"],
    );
}

#[test]
fn a_flag_is_a_bool() {
    assert_lines(
        "kernel void k(global atomic_flag *f, global int *p) { *p = atomic_flag_test_and_set(f); atomic_flag_clear(f); }",
        &[
            "atomic flag_test_and_set i32 signed order seq_cst scope device %",
            "zero_extend %",
            "atomic flag_clear i32 signed order seq_cst scope device %",
        ],
    );
}

#[test]
fn cases_without_fallthrough_stay_cases() {
    let source = "kernel void k(global int *p, int n) {
        switch (n) { case 1: case 2: *p = 1; break; case 3 ... 5: *p = 2; break; default: *p = 3; case -1: ; } }";
    assert_lines(source, &["switch L0 % {", "case 1, 2 {", "case 3, 4, 5 {", "default {"]);
}

#[test]
fn fallthrough_is_selected_by_a_number() {
    let source = "kernel void k(global int *p, int n) {
        switch (n) { case 1: p[0] = 1; case 2: p[1] = 2; break; case 3: p[2] = 3; } }";
    assert_lines(
        source,
        &[
            "switch L0 % {",
            "case 1, 2 {",
            "switch L1 % {",
            "case 1 {",
            "exit L1 i32 0",
            "default {",
            "exit L1 i32 1",
            "compare less_equal unsigned %, i32 0",
            "if L2 % {",
            "case 3 {",
        ],
    );
}

#[test]
fn long_ranges_are_compared() {
    assert_lines(
        "kernel void k(global int *p, int n) { switch (n) { case -5 ... 1000000: *p = 1; break; case 2000000: *p = 2; } }",
        &["sub %, i32 -5", "compare less_equal unsigned %, i32 1000005", "select %, i32 0, i32 2"],
    );
}

#[test]
fn loops_that_run_once_become_blocks() {
    let source =
        "kernel void k(global int *p) { do { *p = 1; } while (0); do { if (*p) break; *p = 2; } while (0); }";
    assert_eq!(count(source, "loop"), 0);
    assert_eq!(count(source, "block"), 1);
}

#[test]
fn continue_branches_to_the_step_or_the_condition() {
    assert_lines(
        "kernel void k(global int *p) { for (int i = 0; i < 9; ++i) { if (p[i]) continue; p[i] = i; } }",
        &["loop L0 {", "continue L0", "continue L0", "} continuing {", "add %, i32 1", "next L0"],
    );
    assert_lines(
        "kernel void k(global int *p) { int i = 0; do { if (p[i]) continue; p[i] = i; } while (++i < 9); }",
        &["loop L0 {", "block L1 {", "exit L1", "exit L1", "add %, i32 1", "exit L0", "continue L0"],
    );
}

#[test]
fn goto_becomes_blocks_and_loops() {
    let source = "kernel void k(global int *p, int n) {
        again: if (p[n] == 0) goto out; p[n] = 0; if (--n > 0) goto again; p[0] = 5; out: p[1] = 6; }";
    assert_eq!((count(source, "loop"), count(source, "store align 4 %, i32 6")), (1, 1));
    assert_eq!(count(source, "switch"), 0);
}

#[test]
fn jumps_into_loops_get_a_dispatcher() {
    let source = "kernel void k(global int *p, int n) {
        if (n) goto inside; for (;;) { p[0]++; inside: p[1]++; if (p[2]--) continue; return; } }";
    assert_eq!((count(source, "loop"), count(source, "switch")), (1, 1));
    let duff = "kernel void k(global int *p, int n) { int c = (n + 3) / 4;
        switch (n % 4) { case 0: do { p[0]++; case 3: p[1]++; case 2: p[2]++; case 1: p[3]++; } while (--c > 0); } }";
    assert_eq!((count(duff, "loop"), count(duff, "switch")), (1, 2));
}

#[test]
fn indices_stay_narrow() {
    assert_lines(
        "kernel void k(global int *p, int i, uint u, short s) { p[i] = 1; p[u] = 2; p[s] = 3; p[-1] = 4; }",
        &[
            "offset 4 %, %",
            "zero_extend %",
            "offset 4 %, %",
            "sign_extend %",
            "offset 4 %, %",
            "offset 4 %, i32 -1",
        ],
    );
}

#[test]
fn vectors_in_arrays_are_aligned_as_their_elements() {
    assert_lines(
        "kernel void k(global float *p, global half *h, int i) { vstore3(vload3(i, p), 2, p); vstorea_half3(vload_half3(i, h), i, h); }",
        &[
            "offset 12 %, %",
            "load align 4 %",
            "offset 12 %, i32 2",
            "store align 4 %, %",
            "offset 6 %, %",
            "load align 2 %",
            "number %",
            "offset 8 %, %",
            "number %",
            "store align 8 %, %",
        ],
    );
}

#[test]
fn unreachable_functions_are_not_lowered() {
    let text = module(
        "int f(int x) { return x; } constant int t[2] = {1, 2}; kernel void k(global int *p) { *p = 1; }",
    );
    assert_eq!((text.functions.len(), text.vars.len()), (1, 0));
}

#[test]
fn a_kernel_that_is_called_has_a_plain_copy() {
    let text = lines("kernel void a(global int *p) { *p = 1; } kernel void b(global int *p) { a(p); }");
    let heads: Vec<&String> = text.iter().filter(|line| line.ends_with('{')).collect();
    assert_eq!(
        heads,
        [
            "kernel #0 \"a\"(%: ptr<global>) {",
            "kernel #1 \"b\"(%: ptr<global>) {",
            "function #2 \"a\"(%: ptr<global>) {"
        ]
    );
}
