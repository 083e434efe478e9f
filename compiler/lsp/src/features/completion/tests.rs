//! Tests of completion by position.

use super::*;
use crate::fixture::Fixture;

fn labels(text: &str) -> Vec<String> {
    let fixture = Fixture::new(text);
    let mut items = complete(&fixture.cursor()).items;
    items.sort_by_key(|item| item.sort_text.clone().unwrap_or_else(|| item.label.clone()));
    items.into_iter().map(|item| item.label).collect()
}

#[track_caller]
fn offers(text: &str, expected: &[&str], unexpected: &[&str]) {
    let labels = labels(text);
    for wanted in expected {
        assert!(labels.iter().any(|label| label == wanted), "no {wanted} in {labels:?}");
    }
    for unwanted in unexpected {
        assert!(!labels.iter().any(|label| label == unwanted), "{unwanted} in {labels:?}");
    }
}

#[test]
fn names_in_scope() {
    offers(
        "int g; void later();\nvoid f(int a) { { int inner; } int b; $0 int c; }\n",
        &["a", "b", "g", "later", "f", "get_global_id", "float4", "while", "memory_order_relaxed"],
        &["inner", "c"],
    );
    offers("#define SIZE 4\nstruct S { int m; };\nvoid f() { S$0 }", &["SIZE", "S"], &["m", "f"]);
}

#[test]
fn the_nearest_names_come_first() {
    use std::fmt::Write as _;
    let mut text = String::new();
    (0..300).for_each(|number| writeln!(text, "int f{number}(int a);").expect("written"));
    let program_items = |text: &str| {
        let fixture = Fixture::new(text);
        let list = complete(&fixture.cursor());
        let names = list.items.into_iter().map(|item| item.label);
        let is_of_program = |name: &String| name.starts_with('f') && name[1..].parse::<u32>().is_ok();
        (names.filter(is_of_program).collect::<Vec<_>>(), list.is_incomplete)
    };
    let (nearest, is_incomplete) = program_items(&format!("{text}void g() {{ $0 }}"));
    assert_eq!((nearest.len(), nearest[0].as_str(), is_incomplete), (199, "f299", true));
    let (found, _) = program_items(&format!("{text}void g() {{ f$0 }}"));
    assert_eq!(found.len(), 300);
}

#[test]
fn members_and_components() {
    assert_eq!(labels("struct S { int a; float b; };\nvoid f(struct S s) { s.$0 }"), ["a", "b"]);
    assert_eq!(labels("struct S { int a; float b; };\nvoid f(global struct S *s) { s->$0; }"), ["a", "b"]);
    assert_eq!(labels("struct S { int a; float b; };\nvoid f(struct S *s) { int x = s[1].b$0; }"), ["b"]);
    offers("void f(float4 v) { float x = 1 + v.$0\n}", &["x", "w", "xyz", "hi", "s3"], &["s4"]);
    offers("void f(float2 v) { v.$0 }", &["x", "y", "lo"], &["z", "xyz"]);
    assert!(labels("void f() { float x = 1.$0 }").is_empty());
}

#[test]
fn orders_and_scopes_are_limited_to_legal_ones() {
    let first = |text: &str| labels(text).into_iter().take(3).collect::<Vec<_>>();
    assert_eq!(
        first("void f(global atomic_int *p) { atomic_store_explicit(p, 1, $0); }"),
        ["memory_order_relaxed", "memory_order_release", "memory_order_seq_cst"]
    );
    assert_eq!(
        first("void f(global atomic_int *p) { atomic_load_explicit(p, memory_order_acq$0); }")[..1],
        ["memory_order_acquire"]
    );
    assert_eq!(
        first("void f(global atomic_int *p) { atomic_load_explicit(p, memory_order_relaxed, $0); }"),
        ["memory_scope_sub_group", "memory_scope_work_group", "memory_scope_device"]
    );
    assert_eq!(first("void f() { barrier($0 }")[..2], ["CLK_LOCAL_MEM_FENCE", "CLK_GLOBAL_MEM_FENCE"]);
}

#[test]
fn directives_files_and_extensions() {
    offers("#$0\n", &["include", "pragma"], &["int"]);
    offers("#pragma OPENCL EXTENSION cl_khr$0\n", &["cl_khr_fp16"], &["__opencl_c_images"]);
    offers("#pragma OPENCL EXTENSION cl_khr_fp16 : $0\n", &["enable", "disable"], &[]);
    offers("#define A\n#ifdef $0\n#endif", &["A", "__opencl_c_images"], &["int"]);
    offers("//- /k/a.cl\n#include \"$0\"\n//- /k/b.h\n//- /k/c/d.h\n", &["b.h", "c"], &[]);
    offers("//- /k/a.cl\n#include \"c/$0\"\n//- /k/b.h\n//- /k/c/d.h\n", &["d.h"], &["b.h"]);
}

#[test]
fn attributes_and_comments() {
    offers("__attribute__((reqd$0))\nkernel void f() {}", &["reqd_work_group_size"], &["int"]);
    assert!(labels("// f$0\n").is_empty());
    assert!(labels("/* f$0 */\n").is_empty());
    assert!(labels("constant char s[] = \"f$0\";").is_empty());
}
