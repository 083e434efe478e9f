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
    process::succeed(&mut command, LIMIT).lines().map(str::to_owned).collect()
}

/// A later version of one package can be incompatible with the others, and crates.io can have another project's package of
/// the same name.
#[test]
fn packages_depend_on_exactly_their_own_version() {
    let workspace: toml::Table = read(&root().join("Cargo.toml")).parse().expect("TOML");
    let dependencies = workspace["workspace"]["dependencies"].as_table().expect("a table");
    for folder in published() {
        let version = manifest(&folder)["package"]["version"].clone();
        let version = match version.as_str() {
            Some(version) => version.to_owned(),
            None => workspace["workspace"]["package"]["version"].as_str().expect("a version").to_owned(),
        };
        if let Some(dependency) = dependencies.get(&name(&folder)) {
            assert_eq!(dependency["version"].as_str(), Some(&*format!("={version}")), "{}", folder.display());
        }
    }
}

/// `cargo publish --dry-run` accepts all packages together; this reads the index of crates.io. With `--nightly`, each is
/// also built from its package, without the repository, and the program is installed. If Cargo is set to be offline, `cargo package`
/// runs instead.
#[test]
fn packages_can_be_published() {
    let target = tempfile::tempdir().expect("a folder");
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root());
    match std::env::var("CARGO_NET_OFFLINE").as_deref() {
        Ok("true") => command.arg("package"),
        _ => command.args(["publish", "--dry-run"]),
    };
    command.args(["--workspace", "--allow-dirty", "--quiet"]);
    let published = published();
    for folder in members().iter().filter(|folder| !published.contains(folder)) {
        command.arg("--exclude").arg(name(folder));
    }
    if !nightly::is_on() {
        command.arg("--no-verify");
    }
    let limit = if nightly::is_on() { Duration::from_secs(3600) } else { LIMIT };
    process::succeed(command.arg("--target-dir").arg(target.path()), limit);
    // A dry run of `cargo publish` does not write to the folder of `cargo package`.
    let folder = target.path().join("package");
    let dry = folder.join("tmp-crate");
    let packages = if dry.exists() { dry } else { folder };
    for folder in published {
        let begin = format!("{}-", name(&folder));
        let entries = fs::read_dir(&packages).expect("packages");
        let names = entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned());
        let is_it = |file: &String| file.strip_prefix(&begin).is_some_and(|rest| rest.ends_with(".crate"));
        assert_eq!(
            names.filter(|file| is_it(file) && file[begin.len()..].starts_with(char::is_numeric)).count(),
            1,
            "{begin}"
        );
    }
    if nightly::is_on() {
        installs(&packages, target.path());
    }
}

/// `cargo install` of the packaged `kiln`. The other packages stand in for those of crates.io.
fn installs(packages: &Path, folder: &Path) {
    let unpacked = folder.join("unpacked");
    fs::create_dir_all(&unpacked).expect("a folder");
    let run = |command: &mut Command| process::succeed(command, Duration::from_secs(3600));
    for entry in fs::read_dir(packages).expect("packages") {
        let path = entry.expect("an entry").path();
        if path.extension().is_some_and(|it| it == "crate") {
            run(Command::new("tar").arg("xzf").arg(path).arg("-C").arg(&unpacked));
        }
    }
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(folder).args(["install", "--debug", "--offline"]);
    for entry in fs::read_dir(&unpacked).expect("packages") {
        let path = entry.expect("an entry").path();
        let name = name(&path);
        if name == "kiln" {
            command.arg("--path").arg(&path);
        } else {
            let path = path.display().to_string();
            command.arg("--config").arg(format!("patch.crates-io.{name}.path={path:?}"));
        }
    }
    run(command.arg("--root").arg(folder).arg("--target-dir").arg(folder));
    let source = folder.join("k.cl");
    fs::write(&source, "kernel void k(global int *out) { out[0] = 1; }\n").expect("a file");
    run(Command::new(folder.join("bin/kiln")).arg("compile").arg(source));
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
