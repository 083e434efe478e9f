//! The allowed dependencies between the packages of the workspace and between the compiler's modules. ARCHITECTURE.md gives
//! the reasons.
//!
//! The tests compare the sources with these tables. A new edge is a design decision.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

use kiln_testsuite::root;

/// The packages of the workspace that a package may use, except in tests.
const PACKAGES: &[(&str, &[&str])] = &[
    ("compiler/vocabulary", &[]),
    ("compiler/verify", &["kiln-vocabulary"]),
    ("compiler/syntax", &[]),
    ("compiler/core", &["kiln-syntax", "kiln-verify", "kiln-vocabulary"]),
    ("compiler/report", &["kiln-compiler", "kiln-syntax"]),
    ("compiler/build", &["kiln-compiler", "kiln-report"]),
    ("compiler/macros", &["kiln-build"]),
    ("compiler/lsp", &["kiln-compiler", "kiln-syntax"]),
    ("compiler/cli", &["kiln-build", "kiln-compiler", "kiln-lsp", "kiln-report", "kiln-runtime"]),
    ("runtime/printf", &[]),
    ("runtime/core", &["kiln-printf", "kiln-reference", "kiln-verify", "kiln-vocabulary"]),
    ("runtime/reference", &["kiln-printf"]),
    ("testsuite", &["kiln-compiler", "kiln-report", "kiln-syntax"]),
    ("testsuite/bench", &["kiln-compiler", "kiln-report", "kiln-runtime", "kiln-testsuite"]),
    // It runs programs as others compile them.
    ("testsuite/oracle", &[]),
    ("xtask", &[]),
];

/// The modules of kiln-compiler that a module may use, but for its tests.
const MODULES: &[(&str, &[&str])] = &[
    ("binary16", &[]),
    ("index", &[]),
    ("diag", &[]),
    ("session", &["diag", "opencl", "target"]),
    ("source", &[]),
    ("extensions", &["opencl", "session"]),
    ("pragma", &[]),
    ("pp", &["builtins", "diag", "extensions", "opencl", "pragma", "session", "source"]),
    ("syntax", &["diag", "source"]),
    ("ty", &["extensions", "hir", "index", "opencl"]),
    ("hir", &["builtins", "index", "opencl", "ty"]),
    ("interface", &["hir", "opencl", "ty"]),
    ("fold", &["binary16", "hir", "ty"]),
    ("builtins", &["diag", "extensions", "hir", "index", "opencl", "ty"]),
    ("memory", &["opencl", "target"]),
    (
        "sema",
        &[
            "binary16",
            "builtins",
            "diag",
            "extensions",
            "fold",
            "hir",
            "index",
            "memory",
            "opencl",
            "pragma",
            "session",
            "ty",
        ],
    ),
    ("survey", &["builtins", "diag", "extensions", "hir", "pp", "sema", "session", "source", "syntax"]),
    ("ir", &["binary16", "builtins", "hir", "index", "opencl", "ty"]),
    ("lower", &["binary16", "builtins", "diag", "hir", "index", "ir", "opencl", "ty"]),
    // The front end compiles the bodies of built-in functions.
    (
        "library",
        &[
            "diag",
            "hir",
            "ir",
            "lower",
            "opencl",
            "pp",
            "precision",
            "sema",
            "session",
            "source",
            "syntax",
            "target",
        ],
    ),
    // The emitter decides which built-in functions are instructions of the target.
    (
        "passes",
        &[
            "builtins",
            "diag",
            "emit",
            "extensions",
            "faults",
            "fold",
            "hir",
            "index",
            "ir",
            "library",
            "memory",
            "opencl",
            "session",
            "target",
            "ty",
        ],
    ),
    (
        "emit",
        &[
            "binary16",
            "builtins",
            "hir",
            "index",
            "ir",
            "memory",
            "opencl",
            "precision",
            "session",
            "target",
            "ty",
        ],
    ),
    ("stage", &["passes", "verify"]),
];

/// Macros of kiln-compiler, which any module may use.
const MACROS: &[&str] = &["id_type"];

/// Crates of others that only these modules of kiln-compiler may name.
const CRATES: &[(&str, &[&str])] = &[("rspirv", &["emit"])];

type Edges = BTreeMap<String, BTreeSet<String>>;

fn law(table: &[(&str, &[&str])]) -> Edges {
    let set = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    table.iter().map(|(name, uses)| ((*name).to_owned(), set(uses))).collect()
}

/// The dependencies in the sources that the tables do not allow.
fn hold(sources: &Edges, law: &Edges) -> Vec<String> {
    let none = BTreeSet::new();
    let mut complaints = Vec::new();
    for (name, does) in sources {
        if !law.contains_key(name) {
            complaints.push(format!("{name} has no row in the table"));
        }
        let may = law.get(name).unwrap_or(&none);
        complaints.extend(does.difference(may).map(|used| format!("{name} must not use {used}")));
    }
    complaints
}

#[test]
fn packages_use_only_what_they_may() {
    let mut sources = Edges::new();
    let members: toml::Table = read(&root().join("Cargo.toml")).parse().expect("TOML");
    for member in members["workspace"]["members"].as_array().expect("a list") {
        let member = member.as_str().expect("a path");
        let manifest: toml::Table = read(&root().join(member).join("Cargo.toml")).parse().expect("TOML");
        let used = manifest
            .get("dependencies")
            .and_then(toml::Value::as_table)
            .into_iter()
            .flat_map(|table| table.keys());
        sources.insert(member.to_owned(), used.filter(|name| name.starts_with("kiln-")).cloned().collect());
    }
    let complaints = hold(&sources, &law(PACKAGES));
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

#[test]
fn modules_of_the_compiler_use_only_what_they_may() {
    let mut sources = Edges::new();
    each_module(|module, text| {
        let used = names_behind(text, "crate")
            .into_iter()
            .filter(|used| used != module && !MACROS.contains(&used.as_str()));
        sources.entry(module.to_owned()).or_default().extend(used);
    });
    // The page of the pipeline names everything, and everything may name what it re-exports.
    sources.remove("lib");
    let complaints = hold(&sources, &law(MODULES));
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

#[test]
fn crates_of_others_stay_where_they_belong() {
    let mut complaints = Vec::new();
    each_module(|module, text| {
        for (name, allowed) in CRATES {
            if !allowed.contains(&module) && text.contains(&format!("{name}::")) {
                complaints.push(format!("{module} must not name {name}"));
            }
        }
    });
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|e| panic!("cannot read `{}`: {e}", path.display()))
}

/// Calls with each source of kiln-compiler, without its tests, and the top-level module that it belongs to.
fn each_module(mut visit: impl FnMut(&str, &str)) {
    fn walk(folder: &Path, top: Option<&str>, visit: &mut impl FnMut(&str, &str)) {
        for entry in fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry")) {
            let path = entry.path();
            let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let module = top.unwrap_or(&stem);
            if stem == "tests" {
                continue;
            }
            if path.is_dir() {
                walk(&path, Some(module), visit);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                let text = read(&path);
                visit(module, text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default());
            }
        }
    }
    walk(&root().join("compiler/core/src"), None, &mut visit);
}

/// The first names after `root::`, in `root::a::…` and in `root::{a, b::{…}}`, without comments.
fn names_behind(text: &str, root: &str) -> BTreeSet<String> {
    let code: String =
        text.lines().map(|line| line.split("//").next().unwrap_or_default()).collect::<Vec<_>>().join("\n");
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let word = |text: &str| text.chars().take_while(|c| is_word(*c)).collect::<String>();
    let mut names = BTreeSet::new();
    for (start, pattern) in code.match_indices(&format!("{root}::")) {
        // `$crate::` and `crate::`, but not `mycrate::`.
        if code[..start].ends_with(is_word) {
            continue;
        }
        let rest = &code[start + pattern.len()..];
        let Some(list) = rest.strip_prefix('{') else {
            names.insert(word(rest));
            continue;
        };
        let (mut depth, mut expects_name) = (0, true);
        for (index, c) in list.char_indices() {
            match c {
                '{' => depth += 1,
                '}' if depth == 0 => break,
                '}' => depth -= 1,
                ',' if depth == 0 => expects_name = true,
                c if expects_name && is_word(c) => {
                    names.insert(word(&list[index..]));
                    expects_name = false;
                }
                _ => {}
            }
        }
    }
    names
}

#[test]
fn names_are_found() {
    let text = "use crate::{\n    a::{b, c::{d}},\n    e,\n    f::G,\n};\n// crate::h\nfn f(x: crate::i::J) { }\nuse acrate::l;";
    assert_eq!(names_behind(text, "crate").into_iter().collect::<Vec<_>>(), ["a", "e", "f", "i"]);
}

#[test]
fn what_the_law_does_not_allow_is_found() {
    let sources = law(&[("a", &["b", "c"]), ("d", &[])]);
    let table = law(&[("a", &["b", "e"])]);
    assert_eq!(hold(&sources, &table), ["a must not use c", "d has no row in the table"]);
}
