//! The devices that tests run on: two software drivers of Debian and our reference device, each in a process of its own. One
//! that is not there fails the tests; nothing is skipped. `KILN_TEST_LAVAPIPE` and `KILN_TEST_SWIFTSHADER` put another
//! driver, by its manifest, in the place of one, to run the same tests on real hardware.

use std::{
    env,
    ffi::OsStr,
    fs,
    path::PathBuf,
    process::Command,
    sync::{Mutex, PoisonError},
};

use crate::{clang, kiln, process::Finished};

/// A driver.
#[derive(Debug, PartialEq, Eq)]
pub struct Device {
    /// As tests name it.
    pub name: &'static str,
    /// None for what is in `kiln` itself.
    driver: Option<Driver>,
    /// Whether it is given modules of clang's, in place of ours.
    is_for_clang: bool,
}

/// Where a driver is.
#[derive(Debug, PartialEq, Eq)]
struct Driver {
    /// Where Debian puts its manifest: a folder, and how the file's name begins.
    manifest: (&'static str, &'static str),
    package: &'static str,
}

/// Full-featured, minimal, and strict, this one also with modules of clang's.
pub const ALL: &[Device] = &[
    Device {
        name: "lavapipe",
        driver: Some(Driver {
            manifest: ("/usr/share/vulkan/icd.d", "lvp_icd"),
            package: "mesa-vulkan-drivers",
        }),
        is_for_clang: false,
    },
    Device {
        name: "swiftshader",
        driver: Some(Driver {
            manifest: ("/usr/lib/chromium", "vk_swiftshader_icd"),
            package: "chromium-common",
        }),
        is_for_clang: false,
    },
    Device { name: "reference", driver: None, is_for_clang: false },
    // The reference device, with modules of another compiler.
    Device { name: "clang", driver: None, is_for_clang: true },
];

impl Device {
    /// The device of this name.
    pub fn named(name: &str) -> Option<&'static Self> {
        ALL.iter().find(|device| device.name == name)
    }

    /// Makes a program see this device and no other.
    pub fn only(&self, command: &mut Command) -> Result<(), String> {
        let manifest = match &self.driver {
            Some(driver) => driver.find(self.name)?,
            None => {
                command.env("KILN_DEVICE", "reference");
                if self.is_for_clang {
                    command.env(clang::WANTED, "1");
                }
                PathBuf::from("/nonexistent")
            }
        };
        see(command, manifest.as_os_str());
        Ok(())
    }

    /// Whether it is given modules of clang's, in place of ours.
    pub fn is_for_clang(&self) -> bool {
        self.is_for_clang
    }

    /// Whether it finds what OpenCL leaves undefined.
    pub fn is_strict(&self) -> bool {
        self.driver.is_none()
    }
}

impl Driver {
    fn find(&self, name: &str) -> Result<PathBuf, String> {
        if let Some(other) = env::var_os(format!("KILN_TEST_{}", name.to_uppercase())) {
            return Ok(other.into());
        }
        let (folder, begin) = self.manifest;
        let entries = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
        let mut found = entries.map(|entry| entry.path()).filter(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with(begin) && name.ends_with(".json")
        });
        found.next().ok_or_else(|| {
            format!("{name} is not installed: `cargo xtask setup --tests` installs {}", self.package)
        })
    }
}

/// Makes a program see the software drivers and no other.
pub fn drivers(command: &mut Command) -> Result<(), String> {
    let found = ALL.iter().filter_map(|device| Some(device.driver.as_ref()?.find(device.name)));
    let manifests = found.collect::<Result<Vec<_>, _>>()?;
    see(command, &env::join_paths(manifests).map_err(|e| e.to_string())?);
    Ok(())
}

fn see(command: &mut Command, manifests: &OsStr) {
    // The loader knows the second name since 1.3.207, the first since ever.
    command.env("VK_ICD_FILENAMES", manifests).env("VK_DRIVER_FILES", manifests);
    for variable in ["VK_ADD_DRIVER_FILES", "VK_LOADER_DRIVERS_SELECT", "VK_LOADER_DRIVERS_DISABLE"] {
        command.env_remove(variable);
    }
}

/// Runs a call of `kiln` that launches kernels. One at a time: work-groups that wait for each other need the processors.
pub fn launch(command: &mut Command) -> Result<Finished, String> {
    static TURN: Mutex<()> = Mutex::new(());
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    if command.get_envs().any(|(name, value)| name == clang::WANTED && value.is_some()) {
        return clang::launch(command);
    }
    kiln::run(command)
}

/// Whether `kiln run` says that what failed may be the driver's fault.
pub fn names_a_fault(stderr: &str) -> bool {
    stderr.contains("kiln: note: a known fault of ")
}

/// What a driver says of itself at every start, and what no test is about.
pub fn without_greetings(stderr: &str) -> String {
    let greeting = |line: &&str| !line.contains("lavapipe is not a conformant vulkan implementation");
    stderr.lines().filter(greeting).collect::<Vec<_>>().join("\n")
}

/// Whether `kiln run` says that the device lacks a feature that the program needs.
pub fn lacks_a_feature(stderr: &str) -> bool {
    stderr.contains("[target-feature]")
        || stderr.contains("\"target-feature\"")
        || (stderr.contains("the program needs") && stderr.contains("does not have"))
        || stderr.contains("pass an image that can be written")
        || stderr.contains("which the runtime does not offer yet")
        || stderr.contains(clang::LACKS)
}
