//! `cargo xtask deb`: a Debian package of the installed files. Needs `dpkg-deb` and `dpkg-shlibdeps` (dpkg-dev).

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::Command,
};

use clap::Args;

use super::{Built, DRIVER, LIBRARY, Layout};
use crate::{
    Outcome,
    process::{self, cannot_write, target_dir},
};

/// Where to write the package.
#[derive(Args)]
pub(crate) struct Deb {
    /// The folder for the package [default: target/debian]
    #[arg(long, value_name = "FOLDER")]
    output: Option<PathBuf>,
    #[command(flatten)]
    built: Built,
}

/// Makes the package.
pub(crate) fn deb(wanted: &Deb) -> Outcome {
    let built = wanted.built.folder()?;
    let folder = wanted.output.clone().unwrap_or_else(|| target_dir().join("debian"));
    fs::create_dir_all(&folder).map_err(|e| cannot_write(&folder, &e))?;
    let scratch = tempfile::tempdir().map_err(|e| e.to_string())?;
    let files = scratch.path().join("files");
    Layout { prefix: Path::new("/usr"), destdir: Some(&files) }.install(&built)?;
    let pages = fs::read_dir(files.join("usr/share/man/man1")).map_err(|e| e.to_string())?;
    let pages: Vec<PathBuf> = pages.filter_map(|page| Some(page.ok()?.path())).collect();
    process::run(Command::new("gzip").args(["-9", "--no-name"]).args(&pages))?;
    // Debian's name for the license, and its folder for zsh.
    let share = files.join("usr/share");
    let moves =
        [("doc/kiln/LICENSE", "doc/kiln/copyright"), ("zsh/site-functions", "zsh/vendor-completions")];
    for (from, to) in moves {
        fs::rename(share.join(from), share.join(to)).map_err(|e| cannot_write(&share, &e))?;
    }
    let control = files.join("DEBIAN");
    fs::create_dir(&control).map_err(|e| cannot_write(&control, &e))?;
    let architecture = process::output(Command::new("dpkg").arg("--print-architecture"))?;
    let architecture = architecture.trim();
    let size =
        process::output(Command::new("du").args(["--summarize", "--apparent-size", "-k"]).arg(&files))?;
    let size = size.split_whitespace().next().unwrap_or("0");
    let text = description(architecture, size, &dependencies(scratch.path(), &files)?);
    fs::write(control.join("control"), text).map_err(|e| cannot_write(&control, &e))?;
    fs::write(control.join("conffiles"), "/etc/OpenCL/vendors/kiln.icd\n")
        .map_err(|e| cannot_write(&control, &e))?;
    fs::write(control.join("triggers"), "activate-noawait ldconfig\n")
        .map_err(|e| cannot_write(&control, &e))?;
    // The folder of a temporary directory is private; the folders of a package are not.
    fs::set_permissions(&files, fs::Permissions::from_mode(0o755)).map_err(|e| cannot_write(&files, &e))?;
    let package = folder.join(format!("kiln_{}_{architecture}.deb", env!("CARGO_PKG_VERSION")));
    process::run(Command::new("dpkg-deb").args(["--root-owner-group", "--build"]).arg(&files).arg(&package))
}

/// The packages of the shared libraries that the programs use, as a list for the control file.
fn dependencies(scratch: &Path, files: &Path) -> Result<String, String> {
    // The tool works in the folder of a source package.
    let source = scratch.join("debian");
    fs::create_dir(&source).map_err(|e| cannot_write(&source, &e))?;
    fs::write(source.join("control"), "Source: kiln\n\nPackage: kiln\nArchitecture: any\n")
        .map_err(|e| cannot_write(&source, &e))?;
    if !process::installed("dpkg-shlibdeps") {
        return Err("there is no dpkg-shlibdeps here; please install what Debian calls dpkg-dev".to_owned());
    }
    let mut command = Command::new("dpkg-shlibdeps");
    command.current_dir(scratch).arg("-O").arg(files.join("usr/bin/kiln"));
    command.arg(files.join("usr/lib/kiln").join(DRIVER)).arg(files.join("usr/lib").join(LIBRARY));
    let found = process::output(&mut command)?;
    let line = found.lines().find_map(|line| line.strip_prefix("shlibs:Depends="));
    line.map(str::to_owned).ok_or_else(|| format!("dpkg-shlibdeps wrote `{found}`"))
}

/// The control file. Kiln opens Vulkan's loader at run time, and works without it on the reference device.
fn description(architecture: &str, size: &str, dependencies: &str) -> String {
    format!(
        "Package: kiln\n\
         Version: {version}\n\
         Architecture: {architecture}\n\
         Maintainer: The maintainers of Kiln <kiln@localhost>\n\
         Installed-Size: {size}\n\
         Depends: {dependencies}\n\
         Recommends: libvulkan1, ocl-icd-libopencl1 | libopencl1\n\
         Suggests: mesa-vulkan-drivers, clinfo\n\
         Provides: opencl-icd\n\
         Section: devel\n\
         Priority: optional\n\
         Description: OpenCL C compiler and OpenCL driver for Vulkan devices\n \
         Kiln compiles OpenCL C to SPIR-V and runs kernels on Vulkan devices. This package\n \
         has the command-line tool `kiln`, an OpenCL driver (ICD) for all OpenCL programs,\n \
         the library `libkiln` for C and C++, and a package for CMake. The driver's reference device reports data races and\n \
         other undefined behavior of a program.\n",
        version = env!("CARGO_PKG_VERSION"),
    )
}
