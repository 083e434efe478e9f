//! `cargo xtask install` and `cargo xtask deb`: install the command-line tool, the OpenCL driver, the compiler's
//! library for C, and their supporting files. The list of installed files is in this file; `install/deb.rs` makes a
//! package of them, and `install/wheel.rs` one for Python.

pub(crate) mod deb;
pub(crate) mod wheel;

use std::{
    fs,
    os::unix::fs::{PermissionsExt as _, symlink},
    path::{Path, PathBuf},
    process::Command,
};

use clap::Args;

use crate::{
    Outcome,
    process::{self, cannot_write, cargo, target_dir},
    root,
};

/// Where to install.
#[derive(Args)]
pub(crate) struct Install {
    /// Destination folder for `bin`, `lib` and `share`
    #[arg(long, value_name = "FOLDER", default_value = "/usr/local")]
    prefix: PathBuf,
    /// Folder prepended to all paths, for building packages (DESTDIR)
    #[arg(long, value_name = "FOLDER")]
    destdir: Option<PathBuf>,
    #[command(flatten)]
    built: Built,
}

/// What to install.
#[derive(Args)]
pub(crate) struct Built {
    /// Install `kiln`, `libkiln_opencl.so`, `libkiln.so` and `libkiln.a` from this folder instead of building them
    #[arg(long, value_name = "FOLDER", value_parser = process::absolute)]
    from: Option<PathBuf>,
}

/// The driver's file.
const DRIVER: &str = "libkiln_opencl.so";

/// The compiler's library for C and C++.
const LIBRARY: &str = "libkiln.so";

/// The system libraries that programs need when they link it statically.
const SYSTEM_LIBRARIES: &str = "-lgcc_s -lpthread -lm -ldl -lc";

/// The files of the CMake package, which finds `kiln` relative to its own folder.
const CMAKE: &[&str] = &["FindKiln.cmake", "KilnConfig.cmake", "KilnConfigVersion.cmake"];

/// The rules for Bazel.
const BAZEL: &[&str] = &["BUILD", "MODULE.bazel", "WORKSPACE", "kiln.bzl"];

/// The completion scripts: the shell, and the file where that shell looks for it.
const COMPLETIONS: &[(&str, &str)] = &[
    ("bash", "share/bash-completion/completions/kiln"),
    ("zsh", "share/zsh/site-functions/_kiln"),
    ("fish", "share/fish/vendor_completions.d/kiln.fish"),
];

/// Installs everything, and prints how programs find the driver.
pub(crate) fn install(wanted: &Install) -> Outcome {
    if !wanted.prefix.is_absolute() {
        return Err("the prefix must be an absolute path: the loader's file contains it".to_owned());
    }
    let layout = Layout { prefix: &wanted.prefix, destdir: wanted.destdir.as_deref() };
    layout.install(&wanted.built.folder()?)?;
    let vendors = layout.vendors();
    println!("installed Kiln in {}", wanted.prefix.display());
    if vendors == Path::new(VENDORS) && wanted.destdir.is_none() {
        // Programs find the library by the linker's cache.
        process::run(&mut Command::new("ldconfig"))?;
    }
    if vendors != Path::new(VENDORS) {
        println!("OpenCL programs find the driver with OCL_ICD_VENDORS={}/", vendors.display());
    }
    Ok(())
}

impl Built {
    /// The folder with the tool and the driver; builds them if none was given.
    fn folder(&self) -> Result<PathBuf, String> {
        if let Some(folder) = &self.from {
            return Ok(folder.clone());
        }
        process::run(cargo().args([
            "build",
            "--release",
            "--package",
            "kiln",
            "--package",
            "kiln-opencl",
            "--package",
            "kiln-capi",
        ]))?;
        Ok(target_dir().join("release"))
    }
}

/// The only folder where the loaders look for drivers.
const VENDORS: &str = "/etc/OpenCL/vendors";

/// The locations of the installed files.
struct Layout<'a> {
    prefix: &'a Path,
    destdir: Option<&'a Path>,
}

impl Layout<'_> {
    /// The folder of the file that names the driver. Only an installation for all users may write to `/etc`.
    fn vendors(&self) -> PathBuf {
        if ["/usr", "/usr/local"].map(Path::new).contains(&self.prefix) {
            return PathBuf::from(VENDORS);
        }
        self.prefix.join("etc/OpenCL/vendors")
    }

    /// Where to write a file that will be installed at `path`: below `destdir`, if given.
    fn path_in_destdir(&self, path: &Path) -> PathBuf {
        match (self.destdir, path.strip_prefix("/")) {
            (Some(destdir), Ok(relative)) => destdir.join(relative),
            _ => path.to_owned(),
        }
    }

    fn install(&self, built: &Path) -> Outcome {
        let kiln = built.join("kiln");
        self.copy(&kiln, "bin/kiln", 0o755)?;
        // Programs open it by its path, so it is outside the system's library folders.
        let library = format!("lib/kiln/{DRIVER}");
        self.copy(&built.join(DRIVER), &library, 0o644)?;
        let line = format!("{}\n", self.prefix.join(&library).display());
        self.write(&self.vendors().join("kiln.icd"), line.as_bytes())?;
        self.library(built)?;
        for name in CMAKE {
            let source = root().join("compiler/cli/cmake").join(name);
            self.copy(&source, &format!("lib/cmake/Kiln/{name}"), 0o644)?;
        }
        for name in BAZEL {
            self.copy(
                &root().join("compiler/cli/bazel").join(name),
                &format!("share/kiln/bazel/{name}"),
                0o644,
            )?;
        }
        for name in ["LICENSE", "README.md"] {
            self.copy(&root().join(name), &format!("share/doc/kiln/{name}"), 0o644)?;
        }
        for (shell, target) in COMPLETIONS {
            let script = process::output(Command::new(&kiln).args(["completions", shell]))?;
            self.write(&self.prefix.join(target), script.as_bytes())?;
        }
        self.install_man_pages(&kiln)
    }

    /// Installs the compiler's library with its header, for linkers, programs and pkg-config.
    fn library(&self, built: &Path) -> Outcome {
        let version = env!("CARGO_PKG_VERSION");
        let file = format!("{LIBRARY}.{version}");
        self.copy(&built.join(LIBRARY), &format!("lib/{file}"), 0o644)?;
        for name in [format!("{LIBRARY}.{}", compatible(version)), LIBRARY.to_owned()] {
            self.link(&file, &format!("lib/{name}"))?;
        }
        self.copy(&built.join("libkiln.a"), "lib/libkiln.a", 0o644)?;
        self.copy(&root().join("compiler/capi/include/kiln.h"), "include/kiln.h", 0o644)?;
        // Paths are relative to this file, so that the folder can be moved.
        let description = format!(
            "prefix=${{pcfiledir}}/../..\n\nName: Kiln\nDescription: OpenCL C compiler\nVersion: {version}\n\
             Cflags: -I${{prefix}}/include\nLibs: -L${{prefix}}/lib -lkiln\nLibs.private: {SYSTEM_LIBRARIES}\n"
        );
        self.write(&self.prefix.join("lib/pkgconfig/kiln.pc"), description.as_bytes())
    }

    /// Installs a link to a file next to it.
    fn link(&self, file: &str, target: &str) -> Outcome {
        let link = self.path_in_destdir(&self.prefix.join(target));
        if fs::symlink_metadata(&link).is_ok() {
            fs::remove_file(&link).map_err(|e| cannot_write(&link, &e))?;
        }
        symlink(file, &link).map_err(|e| cannot_write(&link, &e))
    }

    /// Installs the manual pages, which `kiln` writes itself.
    fn install_man_pages(&self, kiln: &Path) -> Outcome {
        let scratch = tempfile::tempdir().map_err(|e| e.to_string())?;
        process::run(Command::new(kiln).arg("man").arg(scratch.path()))?;
        let pages = fs::read_dir(scratch.path()).map_err(|e| e.to_string())?;
        for page in pages.filter_map(Result::ok) {
            let target = Path::new("share/man/man1").join(page.file_name());
            self.copy(&page.path(), &target.to_string_lossy(), 0o644)?;
        }
        Ok(())
    }

    /// Copies a file to a path below the prefix. A running program may use the old file, so a new one replaces it.
    fn copy(&self, source: &Path, target: &str, mode: u32) -> Outcome {
        let bytes = fs::read(source).map_err(|e| format!("cannot read `{}`: {e}", source.display()))?;
        let target = self.prefix.join(target);
        self.write(&target, &bytes)?;
        let target = self.path_in_destdir(&target);
        fs::set_permissions(&target, fs::Permissions::from_mode(mode)).map_err(|e| cannot_write(&target, &e))
    }

    /// Writes an installed file.
    fn write(&self, path: &Path, bytes: &[u8]) -> Outcome {
        let target = self.path_in_destdir(path);
        let folder = target.parent().unwrap_or(Path::new("/"));
        fs::create_dir_all(folder).map_err(|e| cannot_write(folder, &e))?;
        let new = tempfile::NamedTempFile::new_in(folder).map_err(|e| cannot_write(folder, &e))?;
        fs::write(new.path(), bytes).map_err(|e| cannot_write(&target, &e))?;
        fs::set_permissions(new.path(), fs::Permissions::from_mode(0o644))
            .map_err(|e| cannot_write(&target, &e))?;
        new.persist(&target).map(drop).map_err(|e| cannot_write(&target, &e.error))
    }
}

/// The version components that compatible versions share: the major version and, before 1.0, the minor version.
fn compatible(version: &str) -> String {
    let mut numbers = version.split('.');
    match (numbers.next(), numbers.next()) {
        (Some("0"), Some(minor)) => format!("0.{minor}"),
        (major, _) => major.unwrap_or_default().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_absolute() {
        #[derive(clap::Parser)]
        struct Line {
            #[command(flatten)]
            built: Built,
        }
        let line: Line = clap::Parser::parse_from(["wheel", "--from", "target/debug"]);
        let folder = line.built.folder().expect("it is given");
        assert!(folder.is_absolute() && folder.ends_with("target/debug"), "{}", folder.display());
    }

    #[test]
    fn compatible_versions_omit_the_last_number() {
        assert_eq!(compatible("0.1.2"), "0.1");
        assert_eq!(compatible("3.4.5"), "3");
    }
}
