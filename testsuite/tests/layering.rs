//! The dependencies that packages and modules may have. ARCHITECTURE.md gives the reasons.
//!
//! Cargo rejects cycles between packages. This test rejects what Cargo would allow: a new edge between packages, an
//! indirect one that a package must not have, and edges between the modules of a package.

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
    ("compiler/session", &["kiln-memory", "kiln-syntax", "kiln-vocabulary"]),
    ("compiler/types", &["kiln-session", "kiln-syntax", "kiln-vocabulary"]),
    ("compiler/builtins", &["kiln-session", "kiln-syntax", "kiln-types", "kiln-vocabulary"]),
    ("compiler/memory", &["kiln-vocabulary"]),
    // It checks the output of the other packages, so it must not depend on them.
    ("compiler/model", &[]),
    ("compiler/preprocessor", &["kiln-builtins", "kiln-session", "kiln-syntax", "kiln-vocabulary"]),
    (
        "compiler/frontend",
        &[
            "kiln-builtins",
            "kiln-memory",
            "kiln-preprocessor",
            "kiln-session",
            "kiln-syntax",
            "kiln-types",
            "kiln-vocabulary",
        ],
    ),
    ("compiler/ir", &["kiln-builtins", "kiln-memory", "kiln-syntax", "kiln-types", "kiln-vocabulary"]),
    (
        "compiler/lower",
        &[
            "kiln-builtins",
            "kiln-frontend",
            "kiln-ir",
            "kiln-session",
            "kiln-syntax",
            "kiln-types",
            "kiln-vocabulary",
        ],
    ),
    (
        "compiler/read",
        &[
            "kiln-builtins",
            "kiln-ir",
            "kiln-memory",
            "kiln-session",
            "kiln-syntax",
            "kiln-types",
            "kiln-verify",
            "kiln-vocabulary",
        ],
    ),
    (
        "compiler/passes",
        &[
            "kiln-builtins",
            "kiln-ir",
            "kiln-memory",
            "kiln-session",
            "kiln-syntax",
            "kiln-types",
            "kiln-vocabulary",
        ],
    ),
    // Bodies of built-in functions are compiled before: see `xtask/bodies`.
    ("compiler/library", &["kiln-ir", "kiln-syntax", "kiln-vocabulary"]),
    (
        "compiler/spirv",
        &[
            "kiln-builtins",
            "kiln-ir",
            "kiln-memory",
            "kiln-session",
            "kiln-syntax",
            "kiln-types",
            "kiln-vocabulary",
        ],
    ),
    (
        "compiler/core",
        &[
            "kiln-builtins",
            "kiln-frontend",
            "kiln-ir",
            "kiln-library",
            "kiln-lower",
            "kiln-memory",
            "kiln-passes",
            "kiln-preprocessor",
            "kiln-read",
            "kiln-session",
            "kiln-spirv",
            "kiln-syntax",
            "kiln-types",
            "kiln-verify",
            "kiln-vocabulary",
        ],
    ),
    ("compiler/report", &["kiln-compiler", "kiln-session", "kiln-syntax"]),
    ("compiler/build", &["kiln-compiler", "kiln-report"]),
    ("compiler/macros", &["kiln-build"]),
    // The library for C and C++ compiles and launches nothing.
    ("compiler/capi", &["kiln-build", "kiln-compiler", "kiln-report"]),
    ("compiler/fmt", &["kiln-syntax"]),
    (
        "compiler/lsp",
        &[
            "kiln-builtins",
            "kiln-fmt",
            "kiln-frontend",
            "kiln-memory",
            "kiln-session",
            "kiln-syntax",
            "kiln-types",
            "kiln-vocabulary",
        ],
    ),
    (
        "compiler/cli",
        &[
            "kiln-build",
            "kiln-compiler",
            "kiln-debug",
            "kiln-fmt",
            "kiln-lsp",
            "kiln-memory-model",
            "kiln-report",
            "kiln-runtime",
        ],
    ),
    // A page in the browser: the compiler, the language server and a device that needs no driver.
    ("compiler/playground", &["kiln-compiler", "kiln-fmt", "kiln-lsp", "kiln-reference", "kiln-report"]),
    ("runtime/printf", &[]),
    ("runtime/core", &["kiln-printf", "kiln-reference", "kiln-verify", "kiln-vocabulary"]),
    ("runtime/reference", &["kiln-printf"]),
    // The debugger gets the variables of a program as data.
    ("runtime/debug", &["kiln-reference", "kiln-vocabulary"]),
    ("runtime/opencl", &["kiln-build", "kiln-compiler", "kiln-report", "kiln-runtime"]),
    ("testsuite", &["kiln-compiler", "kiln-memory-model", "kiln-report", "kiln-syntax"]),
    ("testsuite/bench", &["kiln-compiler", "kiln-report", "kiln-runtime", "kiln-testsuite"]),
    // It works with every OpenCL driver.
    ("testsuite/layer", &[]),
    // It runs programs compiled by other implementations.
    ("testsuite/oracle", &[]),
    ("xtask", &[]),
    ("xtask/generate", &[]),
    // Bodies of built-in functions are OpenCL C: the front end runs once, and not again when a program is compiled.
    (
        "xtask/bodies",
        &[
            "kiln-frontend",
            "kiln-ir",
            "kiln-lower",
            "kiln-passes",
            "kiln-preprocessor",
            "kiln-session",
            "kiln-syntax",
            "kiln-vocabulary",
        ],
    ),
];

/// Packages that a package must not use, directly or indirectly.
const NEVER: &[(&str, &[&str])] = &[
    ("compiler/lsp", &["kiln-ir", "kiln-passes", "kiln-spirv", "rspirv"]),
    ("compiler/frontend", &["kiln-ir", "kiln-verify", "rspirv"]),
    ("compiler/read", &["kiln-frontend", "kiln-passes", "kiln-spirv"]),
    ("compiler/passes", &["kiln-frontend", "kiln-spirv", "rspirv"]),
    ("runtime/core", &["kiln-syntax", "kiln-session"]),
    ("runtime/debug", &["kiln-syntax", "kiln-session"]),
    ("compiler/core", &["kiln-runtime"]),
    ("compiler/capi", &["kiln-runtime"]),
];

/// Names, and the names that each may use.
type Table = &'static [(&'static str, &'static [&'static str])];

/// The modules of a package that a module may use, except in tests.
const MODULES: &[(&str, Table)] = &[
    (
        "compiler/session",
        &[
            ("defect", &[]),
            ("diag", &["source"]),
            ("source", &[]),
            ("options", &["defect", "diag"]),
            ("extensions", &["Options"]),
        ],
    ),
    (
        "compiler/types",
        &[
            ("index", &[]),
            ("binary16", &[]),
            ("ops", &[]),
            ("ty", &["index", "ops"]),
            ("fold", &["binary16", "ops", "ty"]),
        ],
    ),
    (
        "compiler/frontend",
        &[
            ("hir", &[]),
            ("attributes", &[]),
            ("foreign", &[]),
            ("syntax", &["attributes", "foreign"]),
            ("interface", &["hir"]),
            ("variables", &["hir"]),
            ("sema", &["attributes", "foreign", "hir"]),
            ("survey", &["hir", "sema", "syntax"]),
        ],
    ),
];

/// Macros, which any module may use.
const MACROS: &[&str] = &["id_type"];

type Edges = BTreeMap<String, BTreeSet<String>>;

fn allowed(table: &[(&str, &[&str])]) -> Edges {
    let set = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    table.iter().map(|(name, uses)| ((*name).to_owned(), set(uses))).collect()
}

/// The dependencies in the sources that the tables do not allow.
fn violations(sources: &Edges, allowed: &Edges) -> Vec<String> {
    let none = BTreeSet::new();
    let mut complaints = Vec::new();
    for (name, does) in sources {
        if !allowed.contains_key(name) {
            complaints.push(format!("{name} has no row in the table"));
        }
        let may = allowed.get(name).unwrap_or(&none);
        complaints.extend(does.difference(may).map(|used| format!("{name} must not use {used}")));
    }
    complaints
}

/// Maps the folder of each package to its dependencies, and the name of each package to its folder.
fn manifests() -> (Edges, BTreeMap<String, String>) {
    let (mut edges, mut folders) = (Edges::new(), BTreeMap::new());
    let members: toml::Table = read(&root().join("Cargo.toml")).parse().expect("TOML");
    for member in members["workspace"]["members"].as_array().expect("a list") {
        let member = member.as_str().expect("a path");
        let manifest: toml::Table = read(&root().join(member).join("Cargo.toml")).parse().expect("TOML");
        let used = manifest.get("dependencies").and_then(toml::Value::as_table);
        edges.insert(member.to_owned(), used.into_iter().flat_map(|table| table.keys()).cloned().collect());
        let name = manifest["package"]["name"].as_str().expect("a name");
        folders.insert(name.to_owned(), member.to_owned());
    }
    (edges, folders)
}

#[test]
fn packages_use_only_allowed_packages() {
    let (mut edges, _) = manifests();
    for used in edges.values_mut() {
        used.retain(|name| name.starts_with("kiln-"));
    }
    let complaints = violations(&edges, &allowed(PACKAGES));
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

#[test]
fn packages_do_not_depend_on_forbidden_packages() {
    let (edges, folders) = manifests();
    for (package, never) in NEVER {
        let (mut seen, mut next) = (BTreeSet::new(), vec![*package]);
        while let Some(folder) = next.pop() {
            for used in &edges[folder] {
                assert!(!never.contains(&used.as_str()), "{package} must not use {used}, as {folder} does");
                if let Some(folder) = folders.get(used).filter(|_| seen.insert(used)) {
                    next.push(folder);
                }
            }
        }
    }
}

#[test]
fn modules_use_only_allowed_modules() {
    for (package, table) in MODULES {
        let mut sources = Edges::new();
        each_module(&root().join(package).join("src"), |module, text| {
            let used = names_after(text, "crate")
                .into_iter()
                .filter(|used| used != module && !MACROS.contains(&used.as_str()));
            sources.entry(module.to_owned()).or_default().extend(used);
        });
        sources.remove("lib");
        let complaints = violations(&sources, &allowed(table));
        assert!(complaints.is_empty(), "{package}: {}", complaints.join("\n"));
    }
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|e| panic!("cannot read `{}`: {e}", path.display()))
}

/// Calls with each source of a package, without its tests, and the top-level module that it belongs to.
fn each_module(source: &Path, mut visit: impl FnMut(&str, &str)) {
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
    walk(source, None, &mut visit);
}

/// The first names after `root::`, in `root::a::…` and in `root::{a, b::{…}}`, without comments.
fn names_after(text: &str, root: &str) -> BTreeSet<String> {
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
fn used_names_are_found() {
    let text = "use crate::{\n    a::{b, c::{d}},\n    e,\n    f::G,\n};\n// crate::h\nfn f(x: crate::i::J) { }\nuse acrate::l;";
    assert_eq!(names_after(text, "crate").into_iter().collect::<Vec<_>>(), ["a", "e", "f", "i"]);
}

#[test]
fn violations_are_reported() {
    let sources = allowed(&[("a", &["b", "c"]), ("d", &[])]);
    let table = allowed(&[("a", &["b", "e"])]);
    assert_eq!(violations(&sources, &table), ["a must not use c", "d has no row in the table"]);
}
