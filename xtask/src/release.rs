//! `cargo xtask release`: publishes the packages on crates.io, in the order of their dependencies, after it has checked
//! the versions, the change log and the contents of each package.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
    process::Command,
};

use clap::Args;

use crate::{Outcome, process, root};

/// How to release.
#[derive(Args)]
pub(crate) struct Release {
    /// Check everything and print what would be published, without publishing
    #[arg(long)]
    dry_run: bool,
}

/// A package of the workspace.
struct Package {
    folder: String,
    name: String,
    version: String,
    description: String,
    is_published: bool,
    /// The packages of the workspace that it depends on, including for builds, and their required versions.
    needs: BTreeMap<String, String>,
}

/// The maximum size of a package that crates.io accepts, uncompressed files counted.
const LARGEST: u64 = 10 << 20;

/// Checks that the packages can be released.
pub(crate) fn check() -> Outcome {
    release(&Release { dry_run: true })
}

/// Checks and, without `--dry-run`, publishes.
pub(crate) fn release(wanted: &Release) -> Outcome {
    let version = env!("CARGO_PKG_VERSION");
    let packages = packages()?;
    let mut findings = Vec::new();
    versions(&packages, version, &mut findings);
    change_log(version, &mut findings)?;
    let order = order(&packages)?;
    println!("Version {version}, {} packages in this order:", order.len());
    for (number, package) in order.iter().enumerate() {
        let (files, bytes) = contents(package, &mut findings)?;
        println!("{:3}. {:<20} {files:4} files, {:6} KiB", number + 1, package.name, bytes.div_ceil(1024));
    }
    semver(&order)?;
    if !findings.is_empty() {
        return Err(findings.join("\n"));
    }
    if wanted.dry_run {
        println!("Nothing was published. Without --dry-run, each package is published by `cargo publish`.");
        return Ok(());
    }
    let changed = process::output(Command::new("git").current_dir(root()).args(["status", "--porcelain"]))?;
    if !changed.trim().is_empty() {
        return Err("there are changes that are not committed".to_owned());
    }
    for package in order {
        process::run(process::cargo().args(["publish", "--locked", "--package", &package.name]))?;
    }
    let tag = format!("v{version}");
    process::run(Command::new("git").current_dir(root()).args(["tag", "--annotate", &tag, "--message", &tag]))
}

/// The packages of the workspace.
fn packages() -> Result<Vec<Package>, String> {
    let workspace = read("Cargo.toml")?;
    let members = workspace.lines().find_map(|line| line.strip_prefix("members = ["));
    let members = members.ok_or("Cargo.toml has no members")?.trim_end_matches(']');
    let shared = requirements(&workspace, "[workspace.dependencies]");
    members.split(',').map(|member| package(member.trim().trim_matches('"'), &workspace, &shared)).collect()
}

fn package(folder: &str, workspace: &str, shared: &BTreeMap<String, String>) -> Result<Package, String> {
    let manifest = read(&format!("{folder}/Cargo.toml"))?;
    let value = |text: &str, key: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(key)?.trim_start().strip_prefix('='));
        line.map(|value| value.trim().trim_matches('"').to_owned())
    };
    let own = value(&manifest, "version ").filter(|_| !manifest.contains("version.workspace = true"));
    let version = own.or_else(|| value(workspace, "version ")).ok_or("the workspace has no version")?;
    // Tests may use packages that are not published.
    let mut needs = requirements(&manifest, "[dependencies]");
    needs.extend(requirements(&manifest, "[build-dependencies]"));
    let required = |name: &String| shared.get(name).cloned().unwrap_or_default();
    Ok(Package {
        folder: folder.to_owned(),
        name: value(&manifest, "name ").ok_or("a package has no name")?,
        version,
        description: value(&manifest, "description ").unwrap_or_default(),
        is_published: !manifest.contains("publish = false"),
        needs: needs.into_keys().map(|name| (name.clone(), required(&name))).collect(),
    })
}

/// The packages of this repository in a table of dependencies, with their versions.
fn requirements(manifest: &str, table: &str) -> BTreeMap<String, String> {
    let lines = manifest.lines().skip_while(|line| *line != table).skip(1);
    let lines = lines.take_while(|line| !line.starts_with('['));
    let found = lines.filter_map(|line| {
        let name = line.split(['.', ' ', '=']).next()?.to_owned();
        let version = line.split_once("version = \"").and_then(|(_, rest)| rest.split('"').next());
        name.starts_with("kiln-").then(|| (name, version.unwrap_or_default().to_owned()))
    });
    found.collect()
}

fn read(path: &str) -> Result<String, String> {
    fs::read_to_string(root().join(path)).map_err(|error| format!("cannot read `{path}`: {error}"))
}

/// All packages have one version, and require exactly it of each other.
fn versions(packages: &[Package], version: &str, findings: &mut Vec<String>) {
    let exact = format!("={version}");
    for package in packages.iter().filter(|package| package.is_published) {
        if package.version != version {
            findings.push(format!("{} has version {}, not {version}", package.name, package.version));
        }
        for (name, required) in package.needs.iter().filter(|(_, required)| **required != exact) {
            findings.push(format!("{} requires {name} {required:?}, not {exact:?}", package.name));
        }
    }
    let others = [
        ("runtime/python/pyproject.toml", "version = "),
        ("compiler/lsp/editors/vscode/package.json", "\"version\": "),
    ];
    for (path, key) in others {
        let holds = read(path).is_ok_and(|text| text.contains(&format!("{key}\"{version}\"")));
        if !holds {
            findings.push(format!("{path} does not have version {version}"));
        }
    }
}

/// The change log has a section for the version.
fn change_log(version: &str, findings: &mut Vec<String>) -> Outcome {
    let log = read("docs/CHANGELOG.md")?;
    let sections: Vec<&str> = log.lines().filter_map(|line| line.strip_prefix("## ")).collect();
    match sections.iter().find(|section| section.contains(version)) {
        None => findings.push(format!("docs/CHANGELOG.md has no section for {version}")),
        Some(section) => println!("Change log: {section}"),
    }
    Ok(())
}

/// The published packages, each after those that it depends on.
fn order(packages: &[Package]) -> Result<Vec<&Package>, String> {
    let mut rest: Vec<&Package> = packages.iter().filter(|package| package.is_published).collect();
    let mut known = BTreeSet::new();
    let mut order = Vec::new();
    while !rest.is_empty() {
        let is_ready = |package: &&Package| package.needs.keys().all(|name| known.contains(name));
        let (ready, others): (Vec<&Package>, Vec<&Package>) = rest.iter().copied().partition(is_ready);
        if ready.is_empty() {
            let names: Vec<&str> = others.iter().map(|package| package.name.as_str()).collect();
            return Err(format!(
                "these packages need each other, or one that is not published: {}",
                names.join(", ")
            ));
        }
        known.extend(ready.iter().map(|package| package.name.clone()));
        order.extend(ready);
        rest = others;
    }
    Ok(order)
}

/// The number of files in a package, and their size.
fn contents(package: &Package, findings: &mut Vec<String>) -> Result<(usize, u64), String> {
    let folder = root().join(&package.folder);
    let mut cargo = process::cargo();
    cargo.current_dir(&folder).args(["package", "--list", "--quiet", "--allow-dirty", "--offline"]);
    let list = process::output(&mut cargo)?;
    let files: Vec<&str> = list.lines().collect();
    for file in ["LICENSE", "README.md", "Cargo.toml"] {
        if !files.contains(&file) {
            findings.push(format!("{} has no {file}", package.name));
        }
    }
    let size = |file: &&str| fs::metadata(folder.join(Path::new(file))).map_or(0, |data| data.len());
    let bytes = files.iter().map(size).sum();
    if bytes > LARGEST {
        findings.push(format!("{} has {bytes} bytes; crates.io accepts {LARGEST}", package.name));
    }
    Ok((files.len(), bytes))
}

/// Compares the public interface with the published version, if there is one and the tool for it.
fn semver(order: &[&Package]) -> Outcome {
    if !process::installed("cargo-semver-checks") {
        println!("Interfaces were not compared: `cargo install cargo-semver-checks` first.");
        return Ok(());
    }
    for package in order {
        // Without the registry's name, cargo describes the package of this workspace.
        let mut search = process::cargo();
        search.args(["info", "--quiet", "--registry", "crates-io", &package.name]);
        let Some(found) = search.output().ok().filter(|found| found.status.success()) else { continue };
        if String::from_utf8_lossy(&found.stdout).contains(&package.description) {
            process::run(process::cargo().args(["semver-checks", "--package", &package.name]))?;
        } else {
            println!("{} on crates.io is another project's package", package.name);
        }
    }
    Ok(())
}
