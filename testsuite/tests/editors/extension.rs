//! The extension for VS Code, without a registry: its manifest, its grammar, its snippets, its tasks and tests.
//!
//! `cargo xtask vscode` checks the types, bundles and packages it; with `--nightly`, a test does so too.

use std::{collections::BTreeSet, fs, path::PathBuf, process::Command};

use fancy_regex::Regex;
use kiln_syntax::{predeclared, token::Keyword};
use kiln_testsuite::{
    kiln::{self, LIMIT},
    nightly, process, root,
};
use serde_json::Value;
use tempfile::TempDir;

fn folder() -> PathBuf {
    root().join("compiler/lsp/editors/vscode")
}

fn text(name: &str) -> String {
    fs::read_to_string(folder().join(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
}

fn json(name: &str) -> Value {
    serde_json::from_str(&text(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
}

fn list<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value[name].as_array().unwrap_or_else(|| panic!("`{name}` is not a list in {value}"))
}

fn word<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap_or_else(|| panic!("`{name}` is not a text in {value}"))
}

#[test]
fn the_manifest_has_the_required_entries() {
    let manifest = json("package.json");
    let is = |pattern: &str, name: &str| {
        assert!(
            Regex::new(pattern).expect("a pattern").is_match(word(&manifest, name)).expect("a match"),
            "{name}"
        );
    };
    is("^[a-z0-9][a-z0-9-]*$", "name");
    is("^[a-z0-9][a-z0-9-]*$", "publisher");
    is(r"^\d+\.\d+\.\d+$", "version");
    is("^Apache-2.0$", "license");
    is(".", "displayName");
    is(".", "description");
    assert_eq!(word(&manifest, "version"), env!("CARGO_PKG_VERSION"));
    let icon = fs::read(folder().join(word(&manifest, "icon"))).expect("the icon");
    let size = |at: usize| u32::from_be_bytes([icon[at], icon[at + 1], icon[at + 2], icon[at + 3]]);
    assert!(icon.starts_with(b"\x89PNG") && size(16) >= 128 && size(20) >= 128);
    assert_eq!(text("LICENSE"), fs::read_to_string(root().join("LICENSE")).expect("the license"));
    // The client must not require an editor newer than the oldest supported one, whose API the types declare.
    let oldest =
        manifest["engines"]["vscode"].as_str().and_then(|text| text.strip_prefix('^')).expect("a version");
    assert_eq!(manifest["devDependencies"]["@types/vscode"], oldest);
    for (name, version) in manifest["devDependencies"].as_object().expect("a table") {
        let version = version.as_str().expect("a version");
        assert!(!version.starts_with(['^', '~']), "{name} has no exact version");
    }
    // The lock file matches the manifest.
    let locked = json("package-lock.json");
    assert_eq!(locked["packages"][""]["devDependencies"], manifest["devDependencies"]);
}

#[test]
fn contributed_files_and_commands_exist() {
    let manifest = json("package.json");
    let contributes = &manifest["contributes"];
    let languages: BTreeSet<&str> =
        list(contributes, "languages").iter().map(|one| word(one, "id")).collect();
    let paths = list(contributes, "languages").iter().map(|one| word(one, "configuration"));
    let paths = paths.chain(list(contributes, "grammars").iter().map(|one| word(one, "path")));
    let shipped = text(".vscodeignore");
    for path in paths.chain(list(contributes, "snippets").iter().map(|one| word(one, "path"))) {
        json(path);
        let pattern = format!("!{}", path.trim_start_matches("./"));
        assert!(shipped.lines().any(|line| line == pattern), "{path} is not packaged");
    }
    for one in list(contributes, "grammars").iter().chain(list(contributes, "snippets")) {
        assert!(languages.contains(word(one, "language")), "{one}");
    }
    let source = text("src/extension.ts");
    let commands: BTreeSet<&str> =
        list(contributes, "commands").iter().map(|one| word(one, "command")).collect();
    for command in &commands {
        assert!(source.contains(&format!("\"{command}\"")), "{command} is not registered");
    }
    for one in list(&contributes["menus"], "commandPalette") {
        assert!(commands.contains(word(one, "command")), "{one}");
    }
    for walkthrough in list(contributes, "walkthroughs") {
        for step in list(walkthrough, "steps") {
            assert!(!text(word(&step["media"], "markdown")).is_empty());
            for link in word(step, "description").split("](command:").skip(1) {
                let command = link.split([')', '?']).next().expect("a command");
                assert!(command.starts_with("workbench.") || commands.contains(command), "{command}");
            }
        }
    }
    let settings = contributes["configuration"]["properties"].as_object().expect("a table");
    for (name, setting) in settings {
        assert!(name.starts_with("kiln."), "{name}");
        assert!(setting["description"].is_string() || setting["markdownDescription"].is_string(), "{name}");
        let kind = match &setting["default"] {
            Value::Bool(_) => "boolean",
            Value::Number(_) => "number",
            Value::String(_) => "string",
            Value::Array(_) => "array",
            other => panic!("{name} is {other}"),
        };
        assert_eq!(setting["type"], kind, "{name}");
    }
}

/// Each pattern of the grammar with its scope name.
fn patterns<'a>(rule: &'a Value, found: &mut Vec<(&'a str, &'a str)>) {
    match rule {
        Value::Object(parts) => {
            let name = parts.get("name").and_then(Value::as_str).unwrap_or_default();
            for part in ["match", "begin", "end"] {
                if let Some(pattern) = parts.get(part).and_then(Value::as_str) {
                    found.push((if part == "match" { name } else { "" }, pattern));
                }
            }
            parts.values().for_each(|part| patterns(part, found));
        }
        Value::Array(parts) => parts.iter().for_each(|part| patterns(part, found)),
        _ => {}
    }
}

#[test]
fn the_grammar_has_valid_patterns_and_all_words_of_the_language() {
    let grammar = json("syntaxes/opencl.tmLanguage.json");
    let manifest = json("package.json");
    assert_eq!(word(&grammar, "scopeName"), word(&manifest["contributes"]["grammars"][0], "scopeName"));
    let rules = &grammar["repository"];
    let mut found = Vec::new();
    patterns(rules, &mut found);
    let compiled: Vec<(&str, Regex)> = found
        .iter()
        .map(|(name, pattern)| (*name, Regex::new(pattern).unwrap_or_else(|e| panic!("{pattern}: {e}"))))
        .collect();
    assert!(compiled.len() > 40);
    for (name, pattern) in compiled.iter().filter(|(name, _)| !name.is_empty()) {
        assert!(!pattern.is_match("").expect("a match"), "{name} matches nothing at all");
    }
    for include in grammar.to_string().split("\"include\":\"#").skip(1) {
        let name = include.split('"').next().unwrap_or_default();
        assert!(rules.get(name).is_some(), "there is no rule `{name}`");
    }
    let is_known = |word: &str| {
        compiled.iter().any(|(name, pattern)| {
            !name.is_empty()
                && pattern.find(word).expect("a match").is_some_and(|found| found.as_str() == word)
                && !name.starts_with("entity.name")
        })
    };
    let mut unknown: Vec<String> =
        Keyword::ALL.iter().map(|(word, _)| (*word).to_owned()).filter(|word| !is_known(word)).collect();
    predeclared::each(|name, _| {
        if !is_known(name) {
            unknown.push(name.to_owned());
        }
    });
    // Attributes have a rule with a begin and an end; what begins with `__` is another spelling.
    unknown.retain(|word| !word.starts_with("__") && !word.starts_with('_'));
    assert_eq!(unknown, [""; 0]);
}

/// The text that a snippet inserts, with the default text of its placeholders.
fn inserted(snippet: &Value) -> String {
    let lines: Vec<&str> = list(snippet, "body").iter().map(|line| line.as_str().expect("a line")).collect();
    let body = lines.join("\n");
    let choice = Regex::new(r"\$\{\d+\|([^,|]*)[^}]*\|\}").expect("a pattern");
    let placeholder = Regex::new(r"\$\{\w+:([^}]*)\}").expect("a pattern");
    let stop = Regex::new(r"\$\d+").expect("a pattern");
    let body = choice.replace_all(&body, "$1").into_owned();
    let body = placeholder.replace_all(&body, "$1").into_owned();
    stop.replace_all(&body, "").into_owned()
}

#[test]
fn every_snippet_compiles() {
    let snippets = json("snippets/opencl.json");
    let mut prefixes = BTreeSet::new();
    for (name, snippet) in snippets.as_object().expect("a table") {
        assert!(prefixes.insert(word(snippet, "prefix")), "{name}: the prefix is another's");
        assert!(!word(snippet, "description").is_empty());
        let body = inserted(snippet);
        let source = if body.contains("kernel void") {
            body
        } else if body.starts_with("__attribute__") {
            format!("kernel {body} void k(void) {{ }}\n")
        } else {
            format!(
                "kernel void k(global atomic_int *flag, global float *out, float value, uint count)\n{{\nfloat data = 0;\n{body}\nout[0] = data;\n}}\n"
            )
        };
        let mut command = kiln::command();
        command.args(["compile", "-", "-o", "/dev/null"]);
        let finished = process::run(&mut command, source.as_bytes(), LIMIT).expect("kiln starts");
        assert_eq!(finished.code(), Some(0), "{name}:\n{source}\n{}", finished.stderr);
    }
}

/// Runs `test/extension.test.mjs`, as `npm test` does.
#[test]
fn tasks_and_the_test_view_run_kiln() {
    let built = copied();
    let mut bundle = Command::new("esbuild");
    bundle.args(["src/launches.ts", "src/tasks.ts", "--bundle", "--platform=node", "--format=cjs"]);
    bundle.args(["--external:vscode", "--outdir=dist/test"]).current_dir(built.path());
    let mut test = Command::new("node");
    test.args(["--test", "test/extension.test.mjs"]).current_dir(built.path()).env("KILN", kiln::binary());
    process::succeed(&mut bundle, LIMIT);
    process::succeed(&mut test, LIMIT);
}

/// The steps of `cargo xtask vscode`, which need npm's registry.
#[test]
fn the_extension_is_packaged() {
    if !nightly::tests_all("0 of 1 package of the extension for VS Code") {
        return;
    }
    let built = copied();
    let server = built.path().join("server");
    fs::create_dir(&server).and_then(|()| fs::copy(kiln::binary(), server.join("kiln"))).expect("a copy");
    for words in
        [&["ci", "--no-audit", "--no-fund"][..], &["run", "check"], &["run", "bundle"], &["run", "package"]]
    {
        process::succeed(Command::new("npm").args(words).current_dir(built.path()), LIMIT);
    }
    let mut entries =
        fs::read_dir(built.path()).expect("the folder").map(|entry| entry.expect("an entry").path());
    let is_package = |path: &PathBuf| path.extension().is_some_and(|it| it == "vsix");
    let package = entries.find(is_package).expect("a package");
    let listed = process::succeed(Command::new("unzip").arg("-l").arg(package), LIMIT);
    for file in
        ["extension/dist/extension.js", "extension/server/kiln", "extension/syntaxes/opencl.tmLanguage.json"]
    {
        assert!(listed.contains(file), "{file} is not in\n{listed}");
    }
}

/// A copy of the extension's folder, for npm's files.
fn copied() -> TempDir {
    let built = tempfile::tempdir().expect("a folder");
    process::succeed(Command::new("cp").arg("-rT").arg(folder()).arg(built.path()), LIMIT);
    built
}
