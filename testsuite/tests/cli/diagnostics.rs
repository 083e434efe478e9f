//! Diagnostics as text: the formats, colors, and what is escaped in them.

use std::fs;

use crate::{BAD, WARNED, command, folder, kiln, kiln_with};

#[test]
fn gcc_format_has_a_line_for_each_message() {
    let folder = folder(&[("bad.cl", BAD), ("warned.cl", WARNED)]);
    let text = kiln(&folder, &["check", "--diagnostic-format", "gcc", "bad.cl"]).stderr;
    assert!(text.starts_with("bad.cl:2:14: error: "), "{text}");
    let text = kiln(&folder, &["check", "--diagnostic-format=gcc", "warned.cl"]).stderr;
    let first = text.lines().next().unwrap_or_default();
    assert!(
        first.starts_with("warned.cl:2:9: warning: ") && first.ends_with(" [-Wmacro-redefined]"),
        "{text}"
    );
    let text = kiln(&folder, &["check", "--diagnostic-format=gcc", "-Werror", "warned.cl"]).stderr;
    assert!(text.contains(": error: ") && text.contains("[-Werror=macro-redefined]"), "{text}");
}

#[test]
fn json_format_has_an_object_for_each_message() {
    let folder = folder(&[("bad.cl", BAD), ("warned.cl", WARNED)]);
    let diagnostics = kiln::diagnostics(&kiln(&folder, &["check", "--diagnostic-format", "json", "bad.cl"]));
    let diagnostics = diagnostics.unwrap_or_else(|reason| panic!("{reason}"));
    assert_eq!(diagnostics.len(), 1);
    let location = diagnostics[0].location.as_ref().expect("a location");
    assert_eq!(
        (diagnostics[0].severity.as_str(), location.file.as_str(), location.line),
        ("error", "bad.cl", 2)
    );

    let diagnostics =
        kiln::diagnostics(&kiln(&folder, &["check", "--diagnostic-format", "json", "warned.cl"]));
    let diagnostics = diagnostics.unwrap_or_else(|reason| panic!("{reason}"));
    assert_eq!(
        (diagnostics[0].severity.as_str(), diagnostics[0].code.as_str()),
        ("warning", "macro-redefined")
    );
}

#[test]
fn short_format_has_a_line_for_each_message() {
    let folder = folder(&[("bad.cl", BAD)]);
    let text = kiln(&folder, &["check", "--diagnostic-format", "short", "bad.cl"]).stderr;
    assert_eq!(text.lines().count(), 2, "{text}");
    assert!(
        text.starts_with("bad.cl:2:14: error[undeclared-name]: ") && text.ends_with("\n1 error\n"),
        "{text}"
    );
}

#[test]
fn sarif_output_is_one_log() {
    let folder = folder(&[("a b.cl", BAD), ("c.cl", WARNED)]);
    let finished = kiln(&folder, &["check", "--diagnostic-format", "sarif", "a b.cl", "c.cl"]);
    let log: serde_json::Value = serde_json::from_str(&finished.stderr).expect("JSON");
    assert_eq!(log["version"], "2.1.0");
    // GitHub rejects several runs of one tool.
    let [run] = log["runs"].as_array().expect("runs").as_slice() else { panic!("{log}") };
    let results = run["results"].as_array().expect("results");
    let (first, last) = (&results[0], results.last().expect("results"));
    let location = &first["locations"][0]["physicalLocation"];
    assert_eq!(location["artifactLocation"]["uri"], "a%20b.cl");
    assert_eq!(
        (&location["region"]["startLine"], &location["region"]["startColumn"]),
        (&2.into(), &14.into())
    );
    assert_eq!((&first["level"], &last["level"]), (&"error".into(), &"warning".into()));
    assert_eq!(last["locations"][0]["physicalLocation"]["artifactLocation"]["uri"], "c.cl");
    let rules = run["tool"]["driver"]["rules"].as_array().expect("rules");
    for result in results {
        let index = result["ruleIndex"].as_u64().expect("an index");
        assert_eq!(rules[index as usize]["id"], result["ruleId"]);
    }
}

#[test]
fn colors_are_used_on_terminals_and_on_request() {
    let folder = folder(&[("bad.cl", BAD)]);
    let colored = |options: &[&str], variable: Option<&str>| {
        let mut command = command(&folder, &[&["check", "bad.cl"], options].concat());
        variable.map(|name| command.env(name, "1"));
        kiln_with(&mut command, "").stderr.contains("\x1b[")
    };
    assert!(!colored(&[], None), "standard error is not a terminal");
    assert!(!colored(&["--color", "never"], Some("CLICOLOR_FORCE")));
    assert!(!colored(&[], Some("NO_COLOR")));
    assert!(colored(&["--color", "always"], None));
    assert!(colored(&["--color", "always"], Some("NO_COLOR")), "an option overrides the environment");
}

#[test]
fn control_characters_are_escaped_in_messages() {
    let source = "int a = b; // \x1b]0;title\x07 \u{202E}\n#error \x1b[31m\u{9b}\n";
    let folder = folder(&[("k.cl", source)]);
    for format in ["rich", "short", "gcc"] {
        let finished = kiln(&folder, &["check", "--color", "never", "--diagnostic-format", format, "k.cl"]);
        let is_shown = |c: char| c == '\n' || !c.is_control() && !('\u{202A}'..='\u{202E}').contains(&c);
        assert!(finished.stderr.chars().all(is_shown), "{:?}", finished.stderr);
        assert!(
            finished.stderr.contains("the character U+001B is a control character"),
            "{}",
            finished.stderr
        );
    }
}

#[test]
fn utf_16_is_one_error() {
    let folder = folder(&[]);
    let units = "kernel void k() {}\n".encode_utf16();
    let little: Vec<u8> = units.clone().flat_map(u16::to_le_bytes).collect();
    let big: Vec<u8> = [0xFEFF].into_iter().chain(units).flat_map(u16::to_be_bytes).collect();
    for (name, bytes) in [("little.cl", little), ("big.cl", big)] {
        fs::write(folder.path().join(name), bytes).expect("a file");
        let finished = kiln(&folder, &["check", "--diagnostic-format", "gcc", name]);
        assert_eq!(finished.code(), Some(1));
        let lines: Vec<&str> = finished.stderr.lines().collect();
        let message = format!("{name}:1:1: error: `{name}` is encoded in UTF-16");
        assert_eq!(lines, [message, format!("{name}:1:1: note: save it in UTF-8")]);
    }
}

#[test]
fn expectations_in_comments_are_checked() {
    let good = "kernel void k(global int *out) {\n    out[0] = missing; // expected-error{{missing}}\n    // expected-error@+1 {{undeclared}}\n    out[1] = undeclared;\n}\n";
    let folder = folder(&[
        ("good.cl", good),
        ("unseen.cl", "kernel void k() {} // expected-warning {{nothing}}\n"),
        ("unexpected.cl", &good.replace("// expected-error{{missing}}", "")),
        ("silent.cl", "// expected-no-diagnostics\nkernel void k() {}\n"),
        ("unsaid.cl", "kernel void k() {}\n"),
    ]);
    for (name, code, expected) in [
        ("good.cl", 0, ""),
        ("silent.cl", 0, ""),
        ("unseen.cl", 1, "unseen.cl: line 1: expected warning is missing: nothing"),
        ("unexpected.cl", 1, "unexpected.cl: line 2: unexpected error: "),
        ("unsaid.cl", 1, "no `expected-"),
    ] {
        let finished = kiln(&folder, &["check", "--verify", name]);
        assert_eq!(finished.code(), Some(code), "{name}: {}", finished.stderr);
        assert!(finished.stderr.contains(expected), "{name}: {}", finished.stderr);
    }
}
