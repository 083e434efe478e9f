//! Unpacks the lavapipe of Debian's backports, for tests on a current driver. The installed lavapipe stays as it is.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use crate::{Outcome, process, root};

/// The package. Its shared libraries are those of the same package in the release, which is installed.
const PACKAGE: &str = "mesa-vulkan-drivers";

/// The oldest version that is current.
const OLDEST: u32 = 25;

/// Where the tests look for the driver (`testsuite/src/device.rs`).
fn folder() -> PathBuf {
    root().join("target/drivers/lavapipe-25")
}

/// Downloads the package and unpacks its driver, unless that was done before.
pub(super) fn unpack() -> Outcome {
    let folder = folder();
    if folder.join(MANIFEST).is_file() {
        return Ok(());
    }
    eprintln!("setup: unpacking a current {PACKAGE}");
    let scratch = tempfile::tempdir().map_err(|e| e.to_string())?;
    let package = download(scratch.path())?;
    process::run(
        Command::new("dpkg-deb").arg("--extract").arg(&package).arg(scratch.path().join("package")),
    )?;
    let driver = find(&scratch.path().join("package/usr/lib"), "libvulkan_lvp.so")
        .ok_or("the package has no `libvulkan_lvp.so`")?;
    has_its_libraries(&driver)?;
    fs::create_dir_all(&folder).map_err(|e| format!("cannot make `{}`: {e}", folder.display()))?;
    let copy = |from: &Path, name: &str| {
        fs::copy(from, folder.join(name)).map_err(|e| format!("cannot write `{name}`: {e}"))
    };
    copy(&driver, "libvulkan_lvp.so")?;
    // A path with a slash is relative to the manifest. The manifest is written last, so its presence means that the
    // others are complete.
    let manifest = r#"{"file_format_version": "1.0.0", "ICD": {"library_path": "./libvulkan_lvp.so", "api_version": "1.3.0"}}"#;
    fs::write(folder.join(MANIFEST), manifest).map_err(|e| format!("cannot write `{MANIFEST}`: {e}"))
}

/// The driver manifest for the Vulkan loader.
const MANIFEST: &str = "lvp_icd.json";

/// Downloads the package from the backports of this machine's release, with separate package lists.
fn download(scratch: &Path) -> Result<PathBuf, String> {
    let (mirror, release) = mirror()?;
    let suite = format!("{release}-backports");
    for name in ["lists/partial", "cache/archives/partial"] {
        fs::create_dir_all(scratch.join(name)).map_err(|e| e.to_string())?;
    }
    let write = |name: &str, text: &str| fs::write(scratch.join(name), text).map_err(|e| e.to_string());
    write("sources.list", &format!("deb [target=Packages] {mirror} {suite} main\n"))?;
    write("status", "")?;
    let apt = || {
        let mut command = Command::new("apt-get");
        command.current_dir(scratch).args(["--quiet", "--quiet"]);
        for (option, value) in [
            ("Dir::Etc::SourceList", "sources.list"),
            ("Dir::Etc::SourceParts", "none"),
            ("Dir::State::Lists", "lists"),
            ("Dir::State::Status", "status"),
            ("Dir::Cache", "cache"),
        ] {
            command.arg("-o").arg(format!("{option}={}", scratch.join(value).display()));
        }
        // The user of apt's sandbox cannot write to this folder.
        command.args(["-o", "APT::Sandbox::User="]);
        command
    };
    process::run(apt().arg("update"))?;
    process::run(apt().args(["download", PACKAGE]))?;
    let package = find(scratch, PACKAGE).ok_or_else(|| format!("{suite} has no {PACKAGE}"))?;
    let version = version(&package).ok_or_else(|| format!("`{}` has no version", package.display()))?;
    if version < OLDEST {
        return Err(format!("{suite} has {PACKAGE} {version}; the tests need {OLDEST} or later"));
    }
    Ok(package)
}

/// The mirror from which this machine installs its release, and the release's name.
fn mirror() -> Result<(String, String), String> {
    let system = fs::read_to_string("/etc/os-release").map_err(|e| format!("/etc/os-release: {e}"))?;
    let release = system.lines().find_map(|line| line.strip_prefix("VERSION_CODENAME="));
    let release = release.ok_or("/etc/os-release has no VERSION_CODENAME")?.trim_matches('"');
    let format = ["indextargets", "--format", "$(REPO_URI) $(RELEASE)", "Created-By: Packages"];
    let targets = process::output(Command::new("apt-get").args(format))?;
    let mut sources = targets.lines().filter_map(|line| line.split_once(' '));
    let mirror = sources.find(|(_, name)| *name == release).map(|(mirror, _)| mirror.to_owned());
    Ok((mirror.ok_or_else(|| format!("apt has no source of {release}"))?, release.to_owned()))
}

/// The first number of a version in the name of a package's file: `NAME_25.0.7-2~bpo12+1_amd64.deb`.
fn version(package: &Path) -> Option<u32> {
    let name = package.file_name()?.to_str()?;
    let version = name.split('_').nth(1)?;
    version.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

/// The first file in a folder, or in one below it, whose name begins with this.
fn find(folder: &Path, begin: &str) -> Option<PathBuf> {
    let entries: Vec<PathBuf> =
        fs::read_dir(folder).ok()?.filter_map(|entry| Some(entry.ok()?.path())).collect();
    let is_it = |path: &&PathBuf| {
        path.is_file() && path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(begin))
    };
    let here = entries.iter().find(is_it).cloned();
    here.or_else(|| entries.iter().filter(|path| path.is_dir()).find_map(|path| find(path, begin)))
}

/// Checks that the system has every shared library of the driver.
fn has_its_libraries(driver: &Path) -> Outcome {
    let libraries = process::output(Command::new("ldd").arg(driver))?;
    let missing: Vec<&str> =
        libraries.lines().filter(|line| line.contains("not found")).map(str::trim).collect();
    if missing.is_empty() { Ok(()) } else { Err(format!("a current lavapipe lacks {}", missing.join(", "))) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_in_file_names() {
        let package = Path::new("/tmp/mesa-vulkan-drivers_25.0.7-2~bpo12+1_amd64.deb");
        assert_eq!(version(package), Some(25));
        assert_eq!(version(Path::new("mesa")), None);
    }
}
