//! `kiln litmus`: outcomes, races, weaker orders, and the pictures of the book.

use std::{env, fs};

use kiln_testsuite::root;
use serde_json::Value;

use super::{folder, kiln};

/// The launch of two work-items in groups of their own.
const LAUNCH: &str =
    "// kiln run --global 2 --local 1 --arg buf:int[1]=0 --arg buf:int[1]=0 --arg buf:int[2]=0\n";

/// A kernel in which each work-item has a part.
fn program(first: &str, second: &str) -> String {
    format!(
        "{LAUNCH}kernel void k(global atomic_int *x, global atomic_int *y, global int *r) {{\n\
         if (get_global_id(0) == 0) {{\n{first}\n}} else {{\n{second}\n}}\n}}\n"
    )
}

/// The findings for a source.
fn findings(source: &str, options: &[&str]) -> (Option<i32>, Value) {
    let folder = folder(&[("a.cl", source)]);
    let words = [&["litmus", "a.cl", "--json"], options].concat();
    let finished = kiln(&folder, &words);
    let value = serde_json::from_str(&finished.text())
        .unwrap_or_else(|e| panic!("{e}: {}{}", finished.text(), finished.stderr));
    (finished.status.code(), value)
}

fn count(value: &Value, model: &str, list: &str) -> usize {
    value[model][list].as_array().map_or(0, Vec::len)
}

#[test]
fn the_total_order_forbids_store_buffering() {
    let source =
        program("atomic_store(x, 1); r[0] = atomic_load(y);", "atomic_store(y, 1); r[1] = atomic_load(x);");
    let (code, found) = findings(&source, &[]);
    assert_eq!(code, Some(0), "{found:#}");
    for model in ["opencl", "vulkan"] {
        assert_eq!(count(&found, model, "allowed"), 3, "{found:#}");
    }
    assert_eq!(found["opencl"]["forbidden"][0]["outcome"]["r[1]"], 0);
    assert_eq!(found["opencl"]["forbidden"][0]["section"], "OpenCL API 3.3.6.1, total order S");
    let (_, weak) = findings(&source, &["--seq-cst", "acq-rel"]);
    assert_eq!(weak["unsound"].as_array().map(Vec::len), Some(1), "{weak:#}");
}

#[test]
fn races_have_both_lines() {
    let source = program("*(global int *)x = 1;", "r[0] = *(global int *)x;");
    let (code, found) = findings(&source, &[]);
    assert_eq!(code, Some(3));
    let places = &found["opencl"]["undefined"][0]["places"];
    assert_eq!((&places[0]["line"], &places[1]["line"]), (&Value::from(4), &Value::from(6)), "{found:#}");
}

#[test]
fn weaker_orders_are_found() {
    let source = program(
        "atomic_store_explicit(x, 1, memory_order_relaxed); atomic_store(y, 1);",
        "r[0] = atomic_load(y); r[1] = atomic_load_explicit(x, memory_order_relaxed);",
    );
    let (_, found) = findings(&source, &["--weakest"]);
    let orders: Vec<&Value> =
        found["weaker"].as_array().expect("a list").iter().map(|it| &it["to"]["order"]).collect();
    assert_eq!(orders, ["release", "acquire"], "{found:#}");
}

#[test]
fn a_lock_excludes() {
    let source = "// kiln run --global 2 --local 1 --arg buf:int[1]=0 --arg buf:int[1]=0\n\
        kernel void k(global atomic_int *lock, global int *count) {\n\
        while (atomic_exchange_explicit(lock, 1, memory_order_acquire, memory_scope_device));\n\
        *count += 1;\n\
        atomic_store_explicit(lock, 0, memory_order_release, memory_scope_device);\n}\n";
    let (code, found) = findings(source, &["--weakest"]);
    assert_eq!((code, count(&found, "opencl", "allowed")), (Some(0), 1), "{found:#}");
    assert_eq!(found["vulkan"]["allowed"][0]["count"], 2);
    assert_eq!(
        (&found["opencl"]["is_cut"], &found["weaker"]),
        (&Value::from(true), &Value::Array(Vec::new()))
    );
}

#[test]
fn what_cannot_be_explored_is_a_message() {
    let source = program("r[0] = work_group_any(1);", "");
    let folder = folder(&[("a.cl", &source), ("b.cl", "kernel void k() {}\n")]);
    for (name, message) in [("a.cl", "the explorer does not support"), ("b.cl", "there is no launch")] {
        let finished = kiln(&folder, &["litmus", name]);
        assert_eq!(finished.status.code(), Some(2));
        assert!(finished.stderr.contains(message), "{}", finished.stderr);
    }
}

/// herd's format: the variables of a process have its names.
#[test]
fn tests_in_the_format_of_herd_are_kernels() {
    let test = "OPENCL SB\n{ [x]=0; [y]=0; }\n\
        P0@wg 0, dev 0 (global atomic_int* x, global atomic_int* y) {\n\
        atomic_store_explicit(x, 1, memory_order_seq_cst, memory_scope_work_group);\n\
        int r0 = atomic_load_explicit(y, memory_order_seq_cst, memory_scope_work_group);\n}\n\
        P1@wg 0, dev 0 (global atomic_int* x, global atomic_int* y) {\n\
        atomic_store_explicit(y, 1, memory_order_seq_cst, memory_scope_work_group);\n\
        int r0 = atomic_load_explicit(x, memory_order_seq_cst, memory_scope_work_group);\n}\n\
        exists (0:r0=0 /\\ 1:r0=0)\n";
    let (code, found) = findings(test, &[]);
    assert_eq!((code, count(&found, "opencl", "allowed")), (Some(0), 3), "{found:#}");
    let forbidden = &found["opencl"]["forbidden"][0]["outcome"];
    assert_eq!((&forbidden["0:r0"], &forbidden["1:r0"]), (&Value::from(0), &Value::from(0)), "{found:#}");
}

/// The pictures in the book are those of its kernels.
#[test]
fn pictures_are_fresh() {
    let page = fs::read_to_string(root().join("docs/litmus.md")).expect("a page");
    for (name, number) in [("message", 2), ("buffering", 1)] {
        let start = format!("```cl file={name}.cl\n");
        let (_, rest) = page.split_once(&start).expect("a kernel");
        let (source, _) = rest.split_once("```").expect("its end");
        let folder = folder(&[("a.cl", source)]);
        let finished = kiln(&folder, &["litmus", "a.cl", "--svg", "pictures"]);
        assert!(finished.status.success(), "{}", finished.stderr);
        let picture =
            fs::read_to_string(folder.path().join(format!("pictures/{number}.svg"))).expect("a picture");
        let path = root().join(format!("docs/litmus/{name}.svg"));
        if env::var_os("KILN_BLESS").is_some_and(|value| value == "1") {
            fs::write(&path, &picture).expect("a picture");
        }
        assert!(
            fs::read_to_string(&path).is_ok_and(|known| known == picture),
            "`cargo xtask bless cli` draws {name}.svg again"
        );
    }
}
