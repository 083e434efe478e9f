//! `kiln explain`.

use std::fs;

use kiln_testsuite::root;

use crate::{folder, kiln};

#[test]
fn explain_prints_the_page_of_a_code() {
    let folder = folder(&[]);
    for entry in fs::read_dir(kiln_testsuite::root().join("docs/diagnostics")).expect("pages") {
        let path = entry.expect("a page").path();
        let code = path.file_stem().expect("a name").to_string_lossy().into_owned();
        // The list of pages is not a page of a diagnostic.
        if code == "README" {
            continue;
        }
        let finished = kiln(&folder, &["explain", &code]);
        assert_eq!(finished.text(), fs::read_to_string(&path).expect("a page"), "{code}");
    }
}

/// Each operation of a source, with the instruction that it becomes, and the rule for that.
#[test]
fn explain_shows_the_mapping_of_a_source() {
    let device = "memory_scope_device";
    let source = format!(
        "kernel void k(global atomic_int *x, global atomic_int *y, global int *r) {{\n\
         r[0] = atomic_load(x);\n\
         atomic_store_explicit(x, 1, memory_order_relaxed, {device});\n\
         atomic_store_explicit(y, 1, memory_order_release, {device});\n\
         atomic_store_explicit(y, 2, memory_order_relaxed, {device});\n\
         atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_seq_cst, {device});\n\
         r[1] = atomic_load_explicit(y, memory_order_acquire, {device});\n}}\n"
    );
    let folder = folder(&[("a.cl", &source), ("b.cl", "kernel void k(global int *r) { *r = 1; }\n")]);
    let shown = kiln(&folder, &["explain", "--mapping", "a.cl"]).text();
    let parts: Vec<&str> = shown.split("line ").collect();
    let expected: [(&str, &[&str]); 6] = [
        ("2: r[0]", &["OpAtomicOr: Device, AcquireRelease + UniformMemory + ", "R1: "]),
        ("3: atomic", &["OpAtomicExchange: Device, Relaxed\n", "R2: "]),
        ("4: atomic", &["OpAtomicExchange: Device, Release + ", "R2: "]),
        ("5: atomic", &["OpAtomicExchange: Device, Release + ", "R2: ", "R4: "]),
        ("6: atomic", &["OpMemoryBarrier: Device, Acquire + ", "OpAtomicIAdd: ", "R6: "]),
        (
            "7: r[1]",
            &["OpAtomicLoad: Device, Acquire + UniformMemory + WorkgroupMemory + MakeVisible", "R7: "],
        ),
    ];
    for (start, words) in expected {
        let part =
            parts.iter().find(|part| part.starts_with(start)).unwrap_or_else(|| panic!("{start}: {shown}"));
        for word in words {
            assert!(part.contains(word), "{start} has no {word}: {shown}");
        }
    }
    assert_eq!(
        kiln(&folder, &["explain", "--mapping", "b.cl"]).text(),
        "The source has no atomic operations, fences or barriers.\n"
    );
}

#[test]
fn explain_lists_codes_and_suggests_spellings() {
    let folder = folder(&[]);
    let list = kiln(&folder, &["explain"]).text();
    let row = list.lines().find(|line| line.starts_with("atomic-order-store ")).expect("a row");
    assert!(row.contains(" error "), "{row}");
    let misspelt = kiln(&folder, &["explain", "atomic-order-stroe"]);
    assert_eq!(misspelt.code(), Some(2));
    assert!(misspelt.stderr.contains("did you mean `atomic-order-store`?"), "{}", misspelt.stderr);
    let unknown = kiln(&folder, &["explain", "nothing-of-the-kind-at-all"]);
    assert!(unknown.stderr.contains("`kiln explain` lists them"), "{}", unknown.stderr);
}

#[test]
fn kinds_of_reports_are_explained() {
    let page = fs::read_to_string(root().join("docs/reference-device.md")).expect("the page");
    let rows = page.lines().filter_map(|line| line.strip_prefix("| `")?.split(" | ").next());
    let kinds: Vec<&str> =
        rows.flat_map(|names| names.split("`, `")).map(|it| it.trim_matches('`')).collect();
    assert!(kinds.len() > 20, "{kinds:?}");
    let folder = folder(&[]);
    for kind in kinds {
        let finished = kiln(&folder, &["explain", kind]);
        assert_eq!(finished.code(), Some(0), "{kind}: {}", finished.stderr);
    }
}
