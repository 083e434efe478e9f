//! `kiln bench` and `kiln profile`.

use std::fs;

use serde_json::Value;

use crate::{folder, kiln};

const SOURCE: &str = "\
// kiln run --kernel add --global 16 --arg buf:int[16]=iota --arg int:2 --check a[3]=5
//     then --kernel clear --global 16 --arg a
kernel void add(global int *a, int n) { a[get_global_id(0)] += n; }
kernel void clear(global int *b) { b[get_global_id(0)] = 0; }
";

#[test]
fn launches_are_measured_and_compared() {
    let folder = folder(&[("a.cl", SOURCE), ("b.cl", SOURCE), ("one.cl", &one_launch())]);
    let bench = |more: &[&str]| {
        let words = ["bench", "a.cl", "--device", "reference", "--repeat", "5"];
        kiln(&folder, &[&words, more].concat())
    };
    let measured: Value = serde_json::from_str(&bench(&["--json"]).text()).expect("JSON");
    let all = measured.as_array().expect("a list");
    let kernels: Vec<_> = all.iter().map(|it| it["kernel"].as_str().expect("a name")).collect();
    assert_eq!(kernels, ["add", "clear"]);
    for it in all {
        assert_eq!((&it["repetitions"], &it["buffer_bytes"]), (&5.into(), &64.into()));
        let number = |name: &str| it[name].as_f64().expect("a number");
        assert!(number("min_ns") > 0.0 && number("min_ns") <= number("median_ns"), "{it}");
        assert!(number("lower_quartile_ns") <= number("upper_quartile_ns"), "{it}");
        assert!(number("upper_quartile_ns") <= number("max_ns"), "{it}");
    }
    for compared in [&["--compare", "b.cl"], &["--compare-device", "vulkan-reference"]] {
        let text = bench(compared).text();
        assert_eq!(text.lines().filter(|line| line.starts_with("add: ")).count(), 1, "{text}");
        assert_eq!(text.lines().filter(|line| line.starts_with("clear: ")).count(), 1, "{text}");
    }
    let other = bench(&["--compare", "one.cl"]);
    assert_eq!(other.code(), Some(2));
    assert!(other.stderr.contains("different number of launches"), "{}", other.stderr);
}

/// The source with its first launch alone.
fn one_launch() -> String {
    SOURCE.lines().filter(|line| !line.contains("then")).collect::<Vec<_>>().join("\n")
}

/// Wrong results are not measured.
#[test]
fn a_failed_check_ends_the_measurement() {
    let folder = folder(&[("a.cl", &SOURCE.replace("a[3]=5", "a[3]=6"))]);
    let finished = kiln(&folder, &["bench", "a.cl", "--device", "reference"]);
    assert_eq!(finished.code(), Some(1));
    assert!(finished.text().is_empty() && finished.stderr.contains("check failed"), "{}", finished.stderr);
}

#[test]
fn a_trace_has_each_launch() {
    let folder = folder(&[("a.cl", SOURCE)]);
    let words = ["profile", "a.cl", "--device", "reference", "--repeat", "2", "-o", "trace.json"];
    let finished = kiln(&folder, &words);
    assert_eq!(finished.code(), Some(0), "{}", finished.stderr);
    let text = fs::read_to_string(folder.path().join("trace.json")).expect("a trace");
    let trace: Value = serde_json::from_str(&text).expect("JSON");
    let events = trace["traceEvents"].as_array().expect("events");
    let executions: Vec<&Value> = events.iter().filter(|it| it["ph"] == "X").collect();
    let names: Vec<_> = executions.iter().map(|it| it["name"].as_str().expect("a name")).collect();
    assert_eq!(names, ["add", "clear", "add", "clear"]);
    for it in &executions {
        let at = |name: &str| it["args"][name].as_u64().expect("a time");
        assert!(at("queued_ns") <= at("submitted_ns") && at("submitted_ns") <= at("start_ns"), "{it}");
        assert!(at("start_ns") <= at("end_ns"), "{it}");
    }
    // Each wait begins and ends.
    let count = |phase: &str| events.iter().filter(|it| it["ph"] == phase).count();
    assert_eq!((count("b"), count("e")), (8, 8));
}
