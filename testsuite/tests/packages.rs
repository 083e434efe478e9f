//! The packages for crates.io: each contains all that it is built from, its license and a README.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use kiln_testsuite::{kiln::LIMIT, process, root};

/// The folders of the published packages.
fn published() -> Vec<PathBuf> {
    let workspace: toml::Table = read(&root().join("Cargo.toml")).parse().expect("TOML");
    let members = workspace["workspace"]["members"].as_array().expect("a list");
    let folders = members.iter().map(|member| root().join(member.as_str().expect("a path")));
    let is_published = |folder: &PathBuf| {
        let manifest: toml::Table = read(&folder.join("Cargo.toml")).parse().expect("TOML");
        manifest["package"].get("publish") != Some(&toml::Value::Boolean(false))
    };
    folders.filter(is_published).collect()
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn packages_have_a_description_a_license_and_a_readme() {
    for folder in published() {
        let manifest: toml::Table = read(&folder.join("Cargo.toml")).parse().expect("TOML");
        for key in ["description", "license", "version", "rust-version"] {
            assert!(manifest["package"].get(key).is_some(), "{}: no {key}", folder.display());
        }
        let list = packaged(&folder);
        for file in ["LICENSE", "README.md"] {
            assert!(list.iter().any(|known| known == file), "{}: no {file}", folder.display());
        }
    }
}

/// The files in a package.
fn packaged(folder: &Path) -> Vec<String> {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(folder).args(["package", "--list", "--allow-dirty", "--offline"]);
    let finished = process::run(&mut command, b"", LIMIT).unwrap_or_else(|reason| panic!("{reason}"));
    assert_eq!(finished.code(), Some(0), "{}: {}", folder.display(), finished.stderr);
    finished.text().lines().map(str::to_owned).collect()
}

/// Sources include only files of their own package: others are not in it.
#[test]
fn packages_include_no_file_of_the_repository() {
    let mut wrong = Vec::new();
    for folder in published() {
        sources(&folder.join("src"), &mut |path, text| {
            for (_, rest) in text.match_indices("include_").map(|(at, _)| text[at..].split_at(8)) {
                let Some(quoted) = rest.split('"').nth(1).filter(|_| rest.starts_with(['s', 'b'])) else {
                    continue;
                };
                let ups = quoted.matches("../").count();
                let depth = path.strip_prefix(&folder).expect("a path below").components().count() - 1;
                if ups > depth {
                    wrong.push(format!("{} includes {quoted}", path.display()));
                }
            }
        });
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn sources(folder: &Path, visit: &mut impl FnMut(&Path, &str)) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            sources(&path, visit);
        } else if path.extension().is_some_and(|it| it == "rs") {
            visit(&path, &read(&path));
        }
    }
}
