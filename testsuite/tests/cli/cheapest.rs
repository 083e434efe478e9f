//! `kiln compile --cheapest`, `kiln litmus --cheapest` and `kiln explain --mapping --cheapest`.

use serde_json::Value;

use super::{folder, kiln, litmus::findings};

/// A launch of two work-items in groups of their own.
const TWO_GROUPS: &str = "--global 2 --local 1";

/// A kernel in which each of two work-items has a part.
fn program(size: &str, first: &str, second: &str) -> String {
    format!(
        "// kiln run {size} --arg buf:int[1]=0 --arg buf:int[1]=0 --arg buf:int[2]=0\n\
         kernel void k(global atomic_int *x, global int *y, global int *r) {{\n\
         if (get_global_id(0) == 0) {{\n{first}\n}} else {{\n{second}\n}}\n}}\n"
    )
}

/// Store buffering, whose second object is atomic too.
const STORE_BUFFERING: &str = "\
// kiln run --global 2 --local 1 --arg buf:int[1]=0 --arg buf:int[1]=0 --arg buf:int[2]=0
kernel void k(global atomic_int *x, global atomic_int *y, global int *r) {
    if (get_global_id(0) == 0) {
        atomic_store(x, 1);
        r[0] = atomic_load(y);
    } else {
        atomic_store(y, 1);
        r[1] = atomic_load(x);
    }
}
";

/// The operations with their cheapest forms.
fn forms(source: &str) -> Vec<Value> {
    let (_, found) = findings(source, &["--cheapest"]);
    assert_eq!(found["cheapest"]["unchanged"], Value::Null, "{found:#}");
    found["cheapest"]["operations"].as_array().cloned().unwrap_or_default()
}

/// The names of the cheapest instructions; empty for those that are dropped.
fn names(forms: &[Value]) -> Vec<&str> {
    forms
        .iter()
        .map(|it| it["to"].as_str().unwrap_or_default().split(':').next().unwrap_or_default())
        .collect()
}

#[test]
fn store_buffering_needs_read_modify_writes() {
    let forms = forms(STORE_BUFFERING);
    let kept = names(&forms).into_iter().filter(|it| ["OpAtomicExchange", "OpAtomicOr"].contains(it)).count();
    assert!(kept >= 2, "{forms:#?}");
    let needs_order = |it: &&Value| it["objections"].to_string().contains("r[0]=0 r[1]=0");
    assert!(forms.iter().filter(needs_order).count() >= 2, "{forms:#?}");
    // No work-item uses local memory.
    assert!(forms.iter().all(|it| !it["to"].to_string().contains("WorkgroupMemory")), "{forms:#?}");
}

#[test]
fn a_seq_cst_message_needs_only_release_and_acquire() {
    let source = program(TWO_GROUPS, "*y = 1; atomic_store(x, 1);", "if (atomic_load(x)) r[1] = *y;");
    let forms = forms(&source);
    let to: Vec<&str> = forms.iter().map(|it| it["to"].as_str().unwrap_or_default()).collect();
    assert_eq!(
        to,
        [
            "OpAtomicStore: Device, Release + UniformMemory + MakeAvailable",
            "OpAtomicLoad: Device, Acquire + UniformMemory + MakeVisible"
        ],
        "{forms:#?}"
    );
    let reasons = forms[0]["reasons"].to_string();
    assert!(reasons.contains("work-items share no local memory"), "{forms:#?}");
    assert!(forms[0]["objections"].to_string().contains("would race"), "{forms:#?}");
}

#[test]
fn one_work_group_needs_only_its_scope() {
    let message = |size: &str| {
        let first = "*y = 1; atomic_store_explicit(x, 1, memory_order_release, memory_scope_device);";
        let second = "if (atomic_load_explicit(x, memory_order_acquire, memory_scope_device)) r[1] = *y;";
        forms(&program(size, first, second))
    };
    let forms = message("--global 2 --local 2");
    assert_eq!(forms[0]["to"], "OpAtomicStore: Workgroup, Release + UniformMemory + MakeAvailable");
    assert_eq!(forms[0]["reasons"][0], "all work-items are in one work-group");
    assert_eq!(message(TWO_GROUPS)[0]["reasons"].as_array().map(Vec::len), Some(0));
}

#[test]
fn seq_cst_fences_of_a_message_become_one_each() {
    let fence = "atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_seq_cst, memory_scope_device);";
    let first =
        format!("*y = 1; {fence} atomic_store_explicit(x, 1, memory_order_relaxed, memory_scope_device);");
    let second = format!(
        "int a = atomic_load_explicit(x, memory_order_relaxed, memory_scope_device); {fence} if (a) r[1] = *y;"
    );
    let forms = forms(&program(TWO_GROUPS, &first, &second));
    let before = forms.iter().filter(|it| it["from"].to_string().contains("OpMemoryBarrier")).count();
    let names = names(&forms);
    assert_eq!(before, 4, "{forms:#?}");
    assert_eq!(names.iter().filter(|it| **it == "OpMemoryBarrier").count(), 2, "{forms:#?}");
    assert!(!names.iter().any(|it| *it == "OpAtomicOr" || *it == "OpAtomicIAdd"), "{forms:#?}");
}

#[test]
fn a_relaxed_counter_stays() {
    let add = "atomic_fetch_add_explicit(x, 1, memory_order_relaxed, memory_scope_device);";
    let forms = forms(&program(TWO_GROUPS, add, add));
    assert!(forms.iter().all(|it| it["from"] == it["to"]), "{forms:#?}");
}

/// A loop that is cut, and a data race: nothing is changed.
#[test]
fn nothing_changes_without_a_proof() {
    let unchanged = |source: &str| {
        let (_, found) = findings(source, &["--cheapest"]);
        assert_eq!(found["cheapest"]["operations"], Value::Array(Vec::new()), "{found:#}");
        found["cheapest"]["unchanged"].as_str().map(str::to_owned).unwrap_or_default()
    };
    let lock = "while (atomic_exchange(x, 1)); *y += 1; atomic_store(x, 0);";
    let cut = unchanged(&program(TWO_GROUPS, lock, lock));
    assert!(cut.contains("more iterations than are explored"), "{cut}");
    let racing = unchanged(&program(TWO_GROUPS, "*y = 1; atomic_store(x, 1);", "r[1] = *y;"));
    assert_eq!(racing, "the launch has undefined behavior");
}

#[test]
fn the_mapping_shows_the_cheapest_forms() {
    let folder = folder(&[
        ("a.cl", STORE_BUFFERING),
        ("b.cl", "kernel void k(global atomic_int *x) { atomic_store(x, 1); }"),
    ]);
    let finished = kiln(&folder, &["explain", "--mapping", "a.cl", "--cheapest"]);
    let text = finished.text();
    assert!(text.contains("R1: ") && text.contains("The cheapest sound forms for this launch:"), "{text}");
    assert!(text.contains("r[0]=0 r[1]=0"), "{text}");
    let finished = kiln(&folder, &["explain", "--mapping", "b.cl", "--cheapest"]);
    assert!(
        !finished.status.success() && finished.stderr.contains("there is no launch"),
        "{}",
        finished.stderr
    );
}

/// A message with seq_cst, whose module needs only release and acquire for this launch.
const MESSAGE: &str = "\
// kiln run --global 2 --local 1 --arg buf:int[1]=0 --arg buf:int[1]=0 --arg buf:int[2]=0
kernel void k(global atomic_int *x, global int *y, global int *r) {
    if (get_global_id(0) == 0) {
        *y = 1;
        atomic_store(x, 1);
    } else if (atomic_load(x)) {
        r[1] = *y;
    }
}
";

#[test]
fn a_cheaper_module_runs_its_launch_only() {
    let folder = folder(&[("a.cl", MESSAGE)]);
    let finished = kiln(&folder, &["compile", "--cheapest", "a.cl", "-o", "a.spv"]);
    assert!(finished.status.success(), "{}", finished.stderr);
    assert!(finished.stderr.contains("2 of 2 operations"), "{}", finished.stderr);
    let reflected = kiln(&folder, &["reflect", "--json", "a.spv"]).text();
    let reflected: Value = serde_json::from_str(&reflected).expect("JSON");
    let proved = &reflected["proved_launch"];
    let sizes = [[2, 1, 1], [1, 1, 1]].map(Value::from);
    assert_eq!([&proved["global"], &proved["local"]], [&sizes[0], &sizes[1]], "{reflected:#}");
    assert_eq!(
        (&proved["kernel"], &proved["lines"]),
        (&Value::from("k"), &Value::from([5, 6])),
        "{reflected:#}"
    );
    let run = |size: &[&str]| {
        let arguments = ["--arg", "buf:int[1]=0", "--arg", "buf:int[1]=0", "--arg", "buf:int[2]=0"];
        let words = [&["run", "--device", "vulkan-reference", "a.spv"], size, &arguments[..]].concat();
        kiln(&folder, &words)
    };
    let right = run(&["--global", "2", "--local", "1"]);
    assert!(right.status.success(), "{}", right.stderr);
    for wrong in [&["--global", "4", "--local", "1"][..], &["--global", "2", "--local", "2"]] {
        let wrong = run(wrong);
        assert!(!wrong.status.success(), "{}", wrong.text());
        let what =
            "its synchronization is proved only for the global size [2, 1, 1] with work-groups of [1, 1, 1]";
        assert!(wrong.stderr.contains(what), "{}", wrong.stderr);
    }
}

#[test]
fn compilation_with_the_cheapest_forms_needs_a_launch() {
    let bare = "kernel void k(global atomic_int *x) { atomic_store(x, 1); }";
    let relaxed = "atomic_store_explicit(x, 1, memory_order_relaxed, memory_scope_device)";
    let racing = MESSAGE.replace("atomic_store(x, 1)", relaxed);
    let folder = folder(&[("a.cl", MESSAGE), ("b.cl", bare), ("c.cl", &racing)]);
    let error = |words: &[&str]| {
        let finished = kiln(&folder, &[&["compile", "--cheapest", "-o", "out.spv"], words].concat());
        assert!(!finished.status.success() && !folder.path().join("out.spv").exists());
        finished.stderr
    };
    assert!(error(&["--env", "opencl", "a.cl"]).contains("--cheapest needs a module for Vulkan"));
    assert!(error(&["b.cl"]).contains("--cheapest needs one launch"));
    assert!(error(&["c.cl"]).contains("the launch has undefined behavior"));
}
