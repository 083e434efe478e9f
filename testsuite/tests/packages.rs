//! The packages for crates.io: each contains all of its sources, its license and a README.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use kiln_testsuite::{kiln::LIMIT, nightly, process, root};

/// The folders of all packages.
fn members() -> Vec<PathBuf> {
    let workspace: toml::Table = read(&root().join("Cargo.toml")).parse().expect("TOML");
    let members = workspace["workspace"]["members"].as_array().expect("a list");
    members.iter().map(|member| root().join(member.as_str().expect("a path"))).collect()
}

fn manifest(folder: &Path) -> toml::Table {
    read(&folder.join("Cargo.toml")).parse().expect("TOML")
}

fn name(folder: &Path) -> String {
    manifest(folder)["package"]["name"].as_str().expect("a name").to_owned()
}

/// The folders of the published packages.
fn published() -> Vec<PathBuf> {
    let is_published =
        |folder: &PathBuf| manifest(folder)["package"].get("publish") != Some(&toml::Value::Boolean(false));
    members().into_iter().filter(is_published).collect()
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn packages_have_a_description_a_license_and_a_readme() {
    for folder in published() {
        let manifest = manifest(&folder);
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

/// All packages are packaged together, each with the packages that it depends on. With `--nightly`, each is also built
/// from its package, without the repository.
#[test]
fn packages_can_be_built_from_their_contents() {
    let target = tempfile::tempdir().expect("a folder");
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root()).args(["package", "--workspace", "--allow-dirty", "--offline", "--quiet"]);
    let published = published();
    for folder in members().iter().filter(|folder| !published.contains(folder)) {
        command.arg("--exclude").arg(name(folder));
    }
    if !nightly::is_on() {
        command.arg("--no-verify");
    }
    let limit = if nightly::is_on() { Duration::from_secs(3600) } else { LIMIT };
    let finished = process::run(command.arg("--target-dir").arg(target.path()), b"", limit)
        .unwrap_or_else(|reason| panic!("{reason}"));
    assert_eq!(finished.code(), Some(0), "{}", finished.stderr);
    for folder in published {
        let begin = format!("{}-", name(&folder));
        let packages = fs::read_dir(target.path().join("package")).expect("packages");
        let names = packages.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned());
        let is_it = |file: &String| file.strip_prefix(&begin).is_some_and(|rest| rest.ends_with(".crate"));
        assert_eq!(
            names.filter(|file| is_it(file) && file[begin.len()..].starts_with(char::is_numeric)).count(),
            1,
            "{begin}"
        );
    }
}

/// Sources include only files of their own package, because a package contains no others.
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
