//! `kiln litmus`: outcomes, races, weaker orders, and the pictures of the book.

use std::{collections::BTreeSet, env, fs};

use kiln_testsuite::{device, nightly, root};
use serde_json::Value;

use super::{command, folder, kiln, kiln_with};

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
pub(super) fn findings(source: &str, options: &[&str]) -> (Option<i32>, Value) {
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
    let accesses = &found["opencl"]["undefined"][0]["accesses"];
    assert_eq!((&accesses[0]["line"], &accesses[1]["line"]), (&Value::from(4), &Value::from(6)), "{found:#}");
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

/// A lock between work-groups, and one between work-items of a group.
#[test]
fn progress_depends_on_the_scheduler() {
    let lock = |launch: &str| {
        format!(
            "// kiln run {launch} --arg buf:int[1]=0 --arg buf:int[1]=0\n\
             kernel void k(global atomic_int *lock, global int *count) {{\n\
             while (atomic_exchange_explicit(lock, 1, memory_order_acquire, memory_scope_device));\n\
             *count += 1;\n\
             atomic_store_explicit(lock, 0, memory_order_release, memory_scope_device);\n}}\n"
        )
    };
    let rows = |source: &str| {
        let (code, found) = findings(source, &["--progress"]);
        let rows = found["progress"].as_array().cloned().unwrap_or_else(|| panic!("{found:#}"));
        let row = |it: &Value| {
            let name = |key: &str| it[key].as_str().unwrap_or_default().to_owned();
            (name("work_groups"), name("work_items"), it["ends"].as_bool())
        };
        (code, rows.iter().map(row).collect::<Vec<_>>(), found)
    };
    let expected = |at_groups: bool| {
        let each = [
            ("FAIR", true),
            ("LOBE", true),
            ("HSA_OBE", true),
            ("OBE", true),
            ("HSA", false),
            ("UNFAIR", false),
        ];
        let row = |(name, ends): (&str, bool)| match at_groups {
            true => (name.to_owned(), "FAIR".to_owned(), Some(ends)),
            false => ("FAIR".to_owned(), name.to_owned(), Some(ends)),
        };
        each.map(row).to_vec()
    };
    for (launch, at_groups) in [("--global 2 --local 1", true), ("--global 2 --local 2", false)] {
        let (code, rows, found) = rows(&lock(launch));
        assert_eq!((code, rows), (Some(0), expected(at_groups)), "{found:#}");
    }
    // Nobody releases this lock: a second work-item hangs under every scheduler.
    let held = lock("--global 2 --local 1")
        .replace("atomic_store_explicit(lock, 0", "atomic_store_explicit(lock, 1");
    let (code, rows, found) = rows(&held);
    assert_eq!(code, Some(1), "{found:#}");
    assert!(rows.iter().all(|it| it.2 == Some(false)), "{found:#}");
    let states = found["progress"][0]["states"].as_array().expect("states");
    assert_eq!(states.len(), 1, "{found:#}");
    assert!(
        states[0].as_str().is_some_and(|it| it.contains("line 3 repeats forever (lock = 1, was 1")),
        "{found:#}"
    );
}

/// A launch in which only one work-item of a group reaches a barrier never ends.
#[test]
fn progress_stops_at_barriers() {
    let source = "// kiln run --global 2 --local 2 --arg buf:int[2]=0\n\
        kernel void k(global int *r) {\n\
        if (get_local_id(0) == 0)\nbarrier(CLK_GLOBAL_MEM_FENCE);\n\
        r[get_local_id(0)] = 1;\n}\n";
    let (code, found) = findings(source, &["--progress"]);
    assert_eq!(code, Some(1), "{found:#}");
    let states = &found["progress"][0]["states"];
    assert_eq!(states, &Value::from(vec!["work-item 0, line 4 waits at the barrier"]), "{found:#}");
}

#[test]
fn unsupported_programs_are_errors() {
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
fn herd_tests_become_kernels() {
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
    assert_eq!(
        (&found["condition"]["opencl"], &found["condition"]["vulkan"]),
        (&false.into(), &false.into())
    );
}

/// A picture in the book: an execution of a kernel on the same page.
struct Picture {
    page: &'static str,
    kernel: &'static str,
    name: &'static str,
    /// The orders that replace `memory_order_seq_cst`, in the order of the source.
    orders: &'static [&'static str],
    launch: &'static [&'static str],
    /// The number of the outcome that it shows.
    outcome: u32,
}

const IN_COMMENT: Picture =
    Picture { page: "litmus", kernel: "", name: "", orders: &[], launch: &[], outcome: 1 };
const BY_EXAMPLE: Picture = Picture { page: "memory-by-example", ..IN_COMMENT };
const TWO_GROUPS: [&str; 4] = ["--global", "2", "--local", "1"];
const ONE: &str = "--arg=buf:int[1]=0";
const TWO: &str = "--arg=buf:int[2]=0";

/// The pictures in the book are those of its kernels.
#[test]
fn pictures_are_up_to_date() {
    for picture in [
        Picture { kernel: "message", name: "message", outcome: 2, ..IN_COMMENT },
        Picture { kernel: "buffering", name: "buffering", ..IN_COMMENT },
        Picture { kernel: "count", name: "lost", launch: &[ONE, ONE], ..BY_EXAMPLE },
        Picture { kernel: "message", name: "published", launch: &[ONE, ONE, ONE], outcome: 2, ..BY_EXAMPLE },
        Picture {
            kernel: "enter",
            name: "both-alone",
            orders: &["memory_order_release", "memory_order_acquire"],
            launch: &[TWO, TWO],
            outcome: 4,
            ..BY_EXAMPLE
        },
    ] {
        picture.check();
    }
}

impl Picture {
    fn check(&self) {
        let Self { page, kernel, name, .. } = self;
        let page = fs::read_to_string(root().join(format!("docs/{page}.md"))).expect("a page");
        assert!(page.contains(&format!("](litmus/{name}.svg)")), "the page does not show {name}.svg");
        let start = format!("```cl file={kernel}.cl\n");
        let (_, rest) = page.split_once(&start).expect("a kernel");
        let (source, _) = rest.split_once("```").expect("its end");
        let mut source = source.to_owned();
        for order in self.orders {
            source = source.replacen("memory_order_seq_cst", order, 1);
        }
        let folder = folder(&[("a.cl", &source)]);
        let mut words = vec!["litmus", "a.cl", "--svg", "pictures"];
        if !self.launch.is_empty() {
            words.extend(TWO_GROUPS.iter().chain(self.launch));
        }
        let finished = kiln(&folder, &words);
        // 3: there is a data race.
        assert!(matches!(finished.status.code(), Some(0 | 3)), "{}", finished.stderr);
        let drawn = fs::read_to_string(folder.path().join(format!("pictures/{}.svg", self.outcome)))
            .expect("a picture");
        let path = root().join(format!("docs/litmus/{name}.svg"));
        if env::var_os("KILN_BLESS").is_some_and(|value| value == "1") {
            fs::write(&path, &drawn).expect("a picture");
        }
        assert!(
            fs::read_to_string(&path).is_ok_and(|known| known == drawn),
            "`cargo xtask bless cli` draws {name}.svg again"
        );
    }
}

/// What a command prints as JSON on lavapipe, and its exit code.
fn on_lavapipe(source: &str, words: &[&str]) -> (Option<i32>, Value) {
    let folder = folder(&[("a.cl", source)]);
    let mut command = command(&folder, words);
    let lavapipe = device::all().find(|device| device.name == "lavapipe").expect("lavapipe");
    lavapipe.only(&mut command).unwrap_or_else(|reason| panic!("{reason}"));
    let finished = kiln_with(&mut command, "");
    let value = serde_json::from_str(&finished.text())
        .unwrap_or_else(|e| panic!("{e}: {}{}", finished.text(), finished.stderr));
    (finished.status.code(), value)
}

fn run(source: &str) -> (Option<i32>, Value) {
    on_lavapipe(source, &["litmus", "a.cl", "--json", "--run", "--instances", "5000"])
}

/// Instances are independent: ids, values, local memory, and elements of every size are those of the launch.
#[test]
fn each_instance_on_a_device_acts_as_a_launch() {
    let ids = "// kiln run --global 4,2,3 --local 2,2,1 --arg buf:ulong[24]=0 --arg int:7\n\
        kernel void k(global ulong *ids, int plus) {\n\
        ulong id = 0;\n\
        for (uint d = 0; d <= get_work_dim(); d++)\n\
        id = ((id * 8 + get_global_id(d)) * 4 + get_local_id(d)) * 4 + get_group_id(d) + get_local_size(d) + get_num_groups(d);\n\
        ids[get_global_linear_id()] = id * 16 + get_local_linear_id() + get_global_size(0) * plus + get_global_offset(1);\n}\n";
    let local = "// kiln run --global 4 --local 2 --arg buf:uchar[4]=0 --arg local:2 --arg buf:short[4]=7\n\
        kernel void k(global uchar *out, local uchar *tile, constant short *in) {\n\
        local int more[2];\n\
        int i = get_local_id(0);\n\
        tile[i] = in[get_global_id(0)]; more[i] = get_group_id(0);\n\
        barrier(CLK_LOCAL_MEM_FENCE);\n\
        out[get_global_id(0)] = tile[1 - i] * 10 + more[1 - i];\n}\n";
    let shared = "// kiln run --global 4 --local 2 --arg buf:int[1]=5 --arg local:4\n\
        kernel void k(global atomic_int *sum, local atomic_int *near) {\n\
        atomic_fetch_add(near, 3);\n\
        barrier(CLK_LOCAL_MEM_FENCE);\n\
        if (get_local_id(0) == 0) atomic_fetch_add(sum, atomic_load(near));\n}\n";
    for source in [ids, local, shared] {
        let (code, found) = run(source);
        assert_eq!((code, count(&found, "vulkan", "allowed")), (Some(0), 1), "{found:#}");
        let seen = &found["device"];
        assert_eq!(seen["outcomes"][0]["count"], seen["instances"], "{found:#}");
        assert!(seen["instances"].as_u64() >= Some(5000), "{found:#}");
    }
}

#[test]
fn outcomes_of_a_device_are_those_of_the_models() {
    let source =
        program("atomic_store(x, 1); r[0] = atomic_load(y);", "atomic_store(y, 1); r[1] = atomic_load(x);");
    let (code, found) = run(&source);
    assert_eq!((code, &found["device"]["forbidden"]), (Some(0), &Value::from(0)), "{found:#}");
    let seen = found["device"]["outcomes"].as_array().expect("a list");
    let total: u64 = seen.iter().filter_map(|it| it["count"].as_u64()).sum();
    assert_eq!(Some(total), found["device"]["instances"].as_u64(), "{found:#}");
    assert!(seen.iter().all(|it| it["is_allowed"] == true), "{found:#}");
    // Work-items that wait for each other run 32 at a time.
    let few = |source: &str| {
        let (code, found) = on_lavapipe(source, &["litmus", "a.cl", "--json", "--run", "--instances", "40"]);
        assert_eq!(code, Some(0), "{found:#}");
        assert_eq!(found["device"]["instances"], 64, "{found:#}");
        found
    };
    let lock = "// kiln run --global 2 --local 1 --arg buf:int[1]=0 --arg buf:int[1]=0\n\
        kernel void k(global atomic_int *lock, global int *count) {\n\
        while (atomic_exchange_explicit(lock, 1, memory_order_acquire, memory_scope_device));\n\
        *count += 1;\n\
        atomic_store_explicit(lock, 0, memory_order_release, memory_scope_device);\n}\n";
    assert_eq!(few(lock)["device"]["outcomes"][0]["outcome"]["count"], 2);
    // A loop that only reads is followed to its end, but waits too. No name of the source is in the way.
    let message = "// kiln run --global 2 --local 1 --arg buf:int[1]=0 --arg buf:int[1]=0 --arg int:7\n\
        #define width 3\n#define instance 3\n#define p0 3\n\
        kernel void latch(global atomic_int *flag, global int *seed, int row) {\n\
        if (get_group_id(0) == 0) {\n\
        *seed = row; atomic_store_explicit(flag, 1, memory_order_release, memory_scope_device);\n\
        } else {\n\
        while (!atomic_load_explicit(flag, memory_order_acquire, memory_scope_device));\n\
        *seed += 1;\n}\n}\n";
    assert_eq!(few(message)["device"]["outcomes"][0]["outcome"]["seed"], 8);
}

/// The executed kernel differs from the explored one, so the device shows forbidden or unknown outcomes.
#[test]
fn forbidden_outcomes_of_a_device_are_errors() {
    for (wrong, other) in [("r[0] = 1; r[1] = 0;", 0), ("r[0] = 9;", 5000)] {
        let first = "*(global int *)y = 1; atomic_store(x, 1);";
        let second = format!(
            "r[0] = atomic_load(x); if (r[0]) r[1] = *(global int *)y;\n#ifdef KILN_ITEMS\n{wrong}\n#endif"
        );
        let (code, found) = run(&program(first, &second));
        let seen = &found["device"];
        assert_eq!(code, Some(4), "{found:#}");
        assert!(seen["forbidden"].as_u64() >= Some(5000), "{found:#}");
        assert!(seen["other"].as_u64() >= Some(other), "{found:#}");
        assert_eq!(seen["other_examples"].as_array().map_or(0, Vec::len) > 0, other > 0, "{found:#}");
    }
}

#[test]
fn tests_that_cannot_run_are_errors() {
    let source = "// kiln run --global 2 --local 1 --arg buf:int[1]=0\n\
        global atomic_int all;\nkernel void k(global int *r) { *r = 1; atomic_fetch_add(&all, 1); }\n";
    let folder = folder(&[("a.cl", &source.replace("*r = 1;", "if (get_global_id(0) == 0) *r = 1;"))]);
    let finished = kiln(&folder, &["litmus", "--run", "a.cl"]);
    assert_eq!(finished.status.code(), Some(2), "{}", finished.text());
    assert!(finished.stderr.contains("program-scope variables"), "{}", finished.stderr);
}

/// The tests of the certificate: none is undefined, and lavapipe shows nothing that is forbidden.
#[test]
fn a_device_passes_the_litmus_suite() {
    let filter =
        if nightly::tests_all("24 of 243 litmus tests of `kiln devices --litmus`") { "" } else { "SB" };
    let words = ["devices", "--litmus", "--json", "--instances", "20000", "--filter", filter];
    let (code, found) = on_lavapipe("", &words);
    assert_eq!((code, &found["forbidden"]), (Some(0), &Value::from(0)), "{found:#}");
    let tests = found["tests"].as_array().expect("a list");
    assert!(tests.len() >= 24, "{found:#}");
    for test in tests {
        let outcomes = test["outcomes"].as_array().expect("a list");
        let total: u64 = outcomes.iter().filter_map(|it| it["count"].as_u64()).sum();
        assert_eq!(Some(total), test["instances"].as_u64(), "{test:#}");
        let is = |name: &str| outcomes.iter().any(|it| it[name] == true);
        assert!(is("is_allowed_by_opencl") && is("is_allowed_by_vulkan"), "{test:#}");
        // seq_cst forbids store buffering; release and acquire do not.
        let name = test["name"].as_str().unwrap_or_default();
        let weak = outcomes.iter().filter(|it| it["is_weak"] == true);
        let is_possible = weak.clone().any(|it| it["is_allowed_by_vulkan"] == true);
        if name.starts_with("SB, ") {
            assert_eq!(is_possible, !name.contains("seq_cst"), "{test:#}");
        }
    }
}

/// `kiln compile --prove` compares each kernel with its source.
#[test]
fn modules_are_compared_with_the_source() {
    let message = program(
        "*(global int *)y = 1; atomic_store_explicit(x, 1, memory_order_release, memory_scope_device);",
        "while (!atomic_load(x)); r[0] = *(global int *)y; work_group_barrier(CLK_GLOBAL_MEM_FENCE);",
    );
    let root = "kernel void k(global float *x) { x[0] = sinpi(x[0]); }\n";
    let global = "global int all;\nkernel void k(global int *x) { x[0] = all; }\n";
    let image = "kernel void k(read_only image2d_t i, global int *x) { x[0] = get_image_width(i); }\n";
    let folder =
        folder(&[("message.cl", &message), ("root.cl", root), ("global.cl", global), ("image.cl", image)]);
    for (name, code, says) in [
        ("message.cl", 0, "kernel `k` is proved in "),
        ("root.cl", 1, "kernel `k` is not proved: "),
        ("global.cl", 1, "kernel `k` is not proved: program-scope variables cannot be compared"),
        ("image.cl", 1, "kernel `k` is not proved: it has images or other handles"),
    ] {
        let finished = kiln(&folder, &["compile", "--prove", name, "-o", "out.spv"]);
        assert_eq!(finished.status.code(), Some(code), "{name}: {}", finished.stderr);
        assert!(finished.stderr.contains(says), "{name}: {}", finished.stderr);
    }
    assert!(folder.path().join("out.spv").exists());
    // Orders that are weaker than those of the source are found.
    let wrong =
        kiln(&folder, &["compile", "--prove", "--seq-cst", "acq-rel", "message.cl", "-o", "wrong.spv"]);
    assert_eq!(wrong.status.code(), Some(1), "{}", wrong.stderr);
    assert!(
        wrong
            .stderr
            .contains("differs from its source: work-item 0, line 4: the counterpart of the release store"),
        "{}",
        wrong.stderr
    );
    assert!(!folder.path().join("wrong.spv").exists());
}

/// The text of the specification does not forbid values out of thin air.
#[test]
fn out_of_thin_air_values_need_an_option() {
    let part = |from: &str, to: &str, index: u32| {
        let order = "memory_order_relaxed, memory_scope_device";
        format!(
            "r[{index}] = atomic_load_explicit({from}, {order}); if (r[{index}]) atomic_store_explicit({to}, 1, {order});"
        )
    };
    let source = program(&part("x", "y", 0), &part("y", "x", 1));
    for (options, outcomes) in [(&[][..], 1), (&["--thin-air"], 2)] {
        let (code, found) = findings(&source, options);
        assert_eq!((code, count(&found, "opencl", "allowed")), (Some(0), outcomes), "{found:#}");
        assert_eq!(count(&found, "vulkan", "allowed"), outcomes, "{found:#}");
    }
}

/// Values out of thin air can be what the condition names, and sums; a local object of a test is one object.
#[test]
fn values_out_of_thin_air_are_those_of_the_condition_and_of_sums() {
    let test = |second: &str, condition: &str| {
        format!(
            "OPENCL thinair\n{{ [x]=0; [y]=0; }}\n\
             P0@wg 0, dev 0 (global atomic_int* x, local atomic_int* y) {{ int t = atomic_load_explicit(y, \
             memory_order_relaxed);\n atomic_store_explicit(x, t + 1, memory_order_relaxed); }}\n\
             P1@wg 1, dev 0 (global atomic_int* x, local atomic_int* y) {{ int t = atomic_load_explicit(x, \
             memory_order_relaxed);\n atomic_store_explicit(y, {second}, memory_order_relaxed); }}\n\
             exists ({condition})\n"
        )
    };
    let allowed = |source: &str, options: &[&str]| {
        let (code, found) = findings(source, options);
        assert_eq!(code, Some(0), "{found:#}");
        let outcomes = found["opencl"]["allowed"].as_array().expect("outcomes");
        outcomes.iter().map(|it| it["x"].as_u64().expect("a number")).collect::<BTreeSet<_>>()
    };
    // x is 1 + y, and y is x - 1, 0 or what the other writes.
    let difference = test("t - 1", "x=42 /\\ y=41");
    assert_eq!(allowed(&difference, &[]), BTreeSet::from([0, 1]));
    assert!(allowed(&difference, &["--thin-air"]).is_superset(&BTreeSet::from([1, 42])));
    // No value is its own successor.
    assert_eq!(allowed(&test("t", "x=42"), &["--thin-air"]), BTreeSet::from([1]));
}

/// The options and the outcomes in the comment of an example: a line `kiln litmus …` and those after it.
fn proof(source: &str) -> Option<(Vec<&str>, BTreeSet<String>)> {
    let (_, rest) = source.split_once(" * kiln litmus ")?;
    let (mut options, mut outcomes) = (Vec::new(), BTreeSet::new());
    for (number, line) in rest.lines().enumerate() {
        let line = if number == 0 { line } else { line.strip_prefix(" *     ").unwrap_or_default() };
        match line {
            "" => break,
            _ if number == 0 || line.starts_with('-') => options.extend(line.split_whitespace()),
            _ => drop(outcomes.insert(line.to_owned())),
        }
    }
    Some((options, outcomes))
}

/// Each allowed outcome, with the parts that the comment names.
pub(super) fn shown(found: &Value, model: &str, names: &[&str]) -> BTreeSet<String> {
    let all = found[model]["allowed"].as_array().expect("outcomes");
    let part = |outcome: &Value, name: &&str| format!("{name}={}", outcome[*name]);
    all.iter().map(|it| names.iter().map(|name| part(it, name)).collect::<Vec<_>>().join(" ")).collect()
}

/// The weakest scheduler of work-groups under which each algorithm ends is that of the page.
#[test]
fn algorithms_need_the_schedulers_of_the_page() {
    let page = fs::read_to_string(root().join("docs/algorithms.md")).expect("the page");
    let mut count = 0;
    for entry in fs::read_dir(root().join("examples")).expect("examples").flatten() {
        let path = entry.path().join(entry.file_name()).with_extension("cl");
        let Ok(source) = fs::read_to_string(&path) else { continue };
        let Some((options, _)) = proof(&source) else { continue };
        let name = entry.file_name().into_string().expect("a name");
        let (_, found) = findings(&source, &[&options[..], &["--progress"]].concat());
        let ends = |scheduler: &str| {
            let rows = found["progress"].as_array().expect("rows");
            let is_it = |row: &&Value| row["work_groups"] == scheduler && row["work_items"] == "FAIR";
            rows.iter().find(is_it).is_some_and(|row| row["ends"] == true)
        };
        let pair: Vec<&str> = ["OBE", "HSA"].into_iter().filter(|it| ends(it)).collect();
        let strong = || ["HSA_OBE", "LOBE", "FAIR"].into_iter().find(|it| ends(it)).unwrap_or_default();
        let weakest = match pair[..] {
            _ if ends("UNFAIR") => "any".to_owned(),
            [] => strong().to_owned(),
            _ => pair.join(" or "),
        };
        let row = page.lines().find(|line| line.contains(&format!("[{name}](")));
        let cell = row.and_then(|row| row.split('|').nth(4)).map(str::trim);
        assert_eq!(cell, Some(&weakest[..]), "{name}: {found:#}");
        count += 1;
    }
    assert!(count >= 21, "{count} examples have a proof");
}

/// OpenCL allows exactly the outcomes in the comments of the algorithms, the modules for Vulkan allow no others, and no order
/// can be weaker. Longer loops could need an order that cut ones do not.
#[test]
fn algorithms_are_proved_with_their_weakest_orders() {
    let mut count = 0;
    for entry in fs::read_dir(root().join("examples")).expect("examples").flatten() {
        let path = entry.path().join(entry.file_name()).with_extension("cl");
        let Ok(source) = fs::read_to_string(&path) else { continue };
        let Some((options, expected)) = proof(&source) else { continue };
        let name = entry.file_name().into_string().expect("a name");
        count += 1;
        let (code, found) = findings(&source, &[&options[..], &["--weakest"]].concat());
        assert_eq!(code, Some(0), "{name}: {found:#}");
        let first = expected.first().expect("an outcome");
        let names: Vec<&str> = first.split(' ').filter_map(|it| Some(it.split_once('=')?.0)).collect();
        assert_eq!(shown(&found, "opencl", &names), expected, "{name}");
        assert!(shown(&found, "vulkan", &names).is_subset(&expected), "{name}: {found:#}");
        let weaker = found["weaker"].as_array().expect("a list");
        let is_needed = |it: &Value| it["from"]["order"] == it["to"]["order"];
        assert!(found["opencl"]["is_cut"] == true || weaker.iter().all(is_needed), "{name}: {weaker:#?}");
    }
    assert!(count >= 16, "{count} examples have a proof");
}
