//! Other OpenCL implementations, and Kiln's own OpenCL driver: how to make `kiln-oracle` use one of them, and its results.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

use crate::{device::Device, kiln, process, process::Finished, root, server::Server};

/// Another OpenCL implementation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Oracle {
    /// PoCL from Debian: OpenCL C 1.2.
    Pocl,
    /// Oclgrind from Debian, a simulator that detects errors and reports them on standard error.
    Oclgrind,
    /// Intel's runtime for CPUs: OpenCL 3.0 with all features, and SPIR-V. Installed by `cargo xtask setup
    /// --oracles`.
    Intel,
    /// Kiln's OpenCL driver on the device with this name.
    Kiln(&'static str),
}

/// Oclgrind's ICD library, as Debian installs it.
const OCLGRIND: &str = "/usr/lib/oclgrind/liboclgrind-rt-icd.so";

/// The directory of Debian's ICD manifests.
const VENDORS: &str = "/etc/OpenCL/vendors";

impl Oracle {
    /// The implementation with this name.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "pocl" => Some(Self::Pocl),
            "intel" => Some(Self::Intel),
            "oclgrind" => Some(Self::Oclgrind),
            _ => None,
        }
    }

    /// A `kiln-oracle` command that uses only this implementation.
    pub fn command(self, scratch: &Path) -> Result<Command, String> {
        let mut command = self.environment(scratch)?;
        command.args(self.platform());
        Ok(command)
    }

    /// The options that select its platform.
    pub fn platform(self) -> &'static [&'static str] {
        match self {
            Self::Pocl => &["--platform", "Portable"],
            Self::Oclgrind => &["--platform", "Oclgrind"],
            Self::Intel => &[],
            Self::Kiln(_) => &["--platform", "Kiln"],
        }
    }

    /// A process that runs many programs with this implementation, and keeps its files in this folder.
    pub fn server(self, scratch: &Path) -> Result<Server, String> {
        let mut command = self.environment(scratch)?;
        command.arg("serve");
        Ok(Server::new(command, scratch.join(format!("{self:?}.errors"))))
    }

    fn environment(self, scratch: &Path) -> Result<Command, String> {
        let mut command = Command::new(kiln::program("kiln-oracle"));
        match self {
            Self::Pocl => {
                if !Path::new(VENDORS).join("pocl.icd").exists() {
                    return Err(
                        "PoCL is not installed: `cargo xtask setup --tests` installs pocl-opencl-icd"
                            .to_owned(),
                    );
                }
                command.env("OCL_ICD_VENDORS", VENDORS);
                // The cache goes to the scratch folder, because programs are never repeated.
                command.env("POCL_CACHE_DIR", scratch.join("pocl"));
            }
            Self::Oclgrind => {
                if !Path::new(OCLGRIND).exists() {
                    return Err("Oclgrind is not installed: `apt-get install oclgrind`".to_owned());
                }
                let vendors = manifest(scratch, OCLGRIND)?;
                command.env("OCL_ICD_VENDORS", vendors);
                command.env("OCLGRIND_DATA_RACES", "1").env("OCLGRIND_UNINITIALIZED", "1");
            }
            Self::Intel => {
                let folders = intel_libraries()?;
                let runtime =
                    folders.iter().map(|folder| folder.join("libintelocl.so")).find(|it| it.exists());
                let runtime = runtime.ok_or("there is no libintelocl.so in the oracles' folder")?;
                let vendors = manifest(scratch, &runtime.display().to_string())?;
                // Their package contains a loader that searches elsewhere; the system's loader must come first.
                let mut path = vec![PathBuf::from("/usr/lib/x86_64-linux-gnu")];
                path.extend(folders);
                let path = env::join_paths(path).map_err(|e| e.to_string())?;
                command.env("OCL_ICD_VENDORS", vendors).env("LD_LIBRARY_PATH", path);
            }
            Self::Kiln(device) => {
                let vendors = manifest(scratch, &kiln::library("libkiln_opencl.so").display().to_string())?;
                command.env("OCL_ICD_VENDORS", vendors);
                Device::named(device)
                    .ok_or_else(|| format!("there is no device `{device}`"))?
                    .only(&mut command)?;
            }
        }
        Ok(command)
    }

    /// Runs a command until it exits.
    pub fn run(command: &mut Command) -> Result<Finished, String> {
        process::run(command, b"", kiln::LIMIT)
    }
}

/// Creates an ICD directory that contains only this library.
fn manifest(scratch: &Path, library: &str) -> Result<String, String> {
    let vendors = scratch.join("vendors");
    fs::create_dir_all(&vendors)
        .and_then(|()| fs::write(vendors.join("one.icd"), library))
        .map_err(|e| format!("cannot write into `{}`: {e}", vendors.display()))?;
    // The loader requires a trailing slash.
    Ok(format!("{}/", vendors.display()))
}

/// `NAME.data/data/lib` of each wheel that `cargo xtask setup --oracles` unpacked.
fn intel_libraries() -> Result<Vec<PathBuf>, String> {
    let folder = env::var_os("KILN_ORACLES").map_or_else(|| root().join("target/oracles"), PathBuf::from);
    let missing =
        |e| format!("cannot read `{}`: {e} (`cargo xtask setup --oracles` makes it)", folder.display());
    let wheels = fs::read_dir(&folder).map_err(missing)?.filter_map(Result::ok);
    let found: Vec<PathBuf> =
        wheels.map(|wheel| wheel.path().join("data/lib")).filter(|folder| folder.is_dir()).collect();
    Ok(found)
}
