//! The devices that tests run on: two software drivers of Debian and our reference device, each in a process of its own. One
//! that is not there fails the tests; nothing is skipped. `KILN_TEST_DEVICE` lists others by name, with commas between them: `NVIDIA` is the
//! device of this machine whose name contains that, as the loader finds it, for the same tests on real hardware.

use std::{
    env,
    ffi::OsStr,
    fs,
    path::PathBuf,
    process::Command,
    sync::{Mutex, OnceLock, PoisonError},
    time::Duration,
};

use libtest_mimic::Trial;
use serde::Deserialize;

use crate::{
    clang, kiln,
    process::{self, Finished},
};

/// Names the device of this machine to test.
const WANTED: &str = "KILN_TEST_DEVICE";

/// A device.
#[derive(Debug)]
pub struct Device {
    /// As tests name it.
    pub name: &'static str,
    place: Place,
    facts: OnceLock<Facts>,
}

/// Where a device is.
#[derive(Debug)]
enum Place {
    /// A driver of Debian's.
    Driver(Driver),
    /// This machine has it, by this part of its name.
    Machine(String),
    /// In `kiln` itself.
    Within,
    /// The same, with modules of another compiler.
    WithinForClang,
    /// In `kiln` itself, for modules of the Vulkan environment.
    WithinForVulkan,
}

/// A driver of Debian's.
#[derive(Debug)]
struct Driver {
    /// A folder, and how the name of its manifest there begins.
    manifest: (&'static str, &'static str),
    package: &'static str,
    /// It keeps denormal floats, whatever it promises.
    keeps_denormals: bool,
}

/// What `kiln devices` says of a device: the rest of a test's expectation follows from it.
#[derive(Debug, Deserialize)]
pub struct Facts {
    /// `double`
    pub fp64: bool,
    /// Arithmetic of `half`
    pub fp16: bool,
    /// Denormal floats are kept.
    pub fp32_denormals: bool,
    /// Work-items of a sub-group; none without sub-groups.
    pub sub_group_size: Option<usize>,
    /// Images that a kernel both reads and writes.
    pub read_write_images: bool,
    /// Work-items of the largest work-group.
    pub max_work_group_size: usize,
}

const LAVAPIPE: Driver = Driver {
    manifest: ("/usr/share/vulkan/icd.d", "lvp_icd"),
    package: "mesa-vulkan-drivers",
    keeps_denormals: true,
};
const SWIFTSHADER: Driver = Driver {
    manifest: ("/usr/lib/chromium", "vk_swiftshader_icd"),
    package: "chromium-common",
    keeps_denormals: false,
};

/// Full-featured, minimal, and strict: by OpenCL's rules, also with modules of clang's, and by Vulkan's.
fn known() -> &'static [Device] {
    static KNOWN: OnceLock<[Device; 5]> = OnceLock::new();
    KNOWN.get_or_init(|| {
        [
            Device::new("lavapipe", Place::Driver(LAVAPIPE)),
            Device::new("swiftshader", Place::Driver(SWIFTSHADER)),
            Device::new("reference", Place::Within),
            Device::new("clang", Place::WithinForClang),
            Device::new("vulkan-reference", Place::WithinForVulkan),
        ]
    })
}

/// Those to test.
pub fn all() -> impl Iterator<Item = &'static Device> + Clone {
    static ALL: OnceLock<Vec<&'static Device>> = OnceLock::new();
    let all = ALL.get_or_init(|| {
        let wanted = env::var(WANTED).unwrap_or_default();
        let names: Vec<&str> = wanted.split(',').map(str::trim).filter(|name| !name.is_empty()).collect();
        if names.is_empty() {
            known().iter().collect()
        } else {
            names.into_iter().map(wanted_device).collect()
        }
    });
    all.iter().copied()
}

fn wanted_device(name: &str) -> &'static Device {
    known().iter().find(|device| device.name == name).unwrap_or_else(|| {
        let short: String = name.to_lowercase().split_whitespace().collect::<Vec<_>>().join("-");
        Box::leak(Box::new(Device::new(short.leak(), Place::Machine(name.to_owned()))))
    })
}

/// Those with a driver.
pub fn vulkan() -> impl Iterator<Item = &'static Device> + Clone {
    all().filter(|device| !device.is_strict())
}

/// A device of Vulkan, for tests of something else.
pub fn any() -> &'static Device {
    vulkan().next().unwrap_or(&known()[0])
}

/// A test of a device; what is amiss is a panic.
pub type Test = fn(&'static Device);

/// Each test on each of the devices.
pub fn trials(devices: impl Iterator<Item = &'static Device> + Clone, tests: &[(&str, Test)]) -> Vec<Trial> {
    let trial = |&(name, test): &(&str, Test), device: &'static Device| {
        Trial::test(format!("{name}_on_{}", device.name), move || {
            test(device);
            Ok(())
        })
    };
    tests.iter().flat_map(|test| devices.clone().map(move |device| trial(test, device))).collect()
}

impl Device {
    const fn new(name: &'static str, place: Place) -> Self {
        Self { name, place, facts: OnceLock::new() }
    }

    /// The device of this name, whether it is one to test or not.
    pub fn named(name: &str) -> Option<&'static Self> {
        all().chain(known()).find(|device| device.name == name)
    }

    /// Makes a program see this device and no other.
    pub fn only(&self, command: &mut Command) -> Result<(), String> {
        let manifest = match &self.place {
            Place::Driver(driver) => driver.find(self.name)?,
            Place::Machine(name) => {
                command.env("KILN_DEVICE", name);
                return Ok(());
            }
            Place::WithinForVulkan => {
                command.env("KILN_DEVICE", "vulkan-reference");
                PathBuf::from("/nonexistent")
            }
            Place::Within | Place::WithinForClang => {
                command.env("KILN_DEVICE", "reference");
                if self.is_for_clang() {
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
        matches!(self.place, Place::WithinForClang)
    }

    /// Whether it has nearly none of the features that a program may need, so that Kiln makes long modules for it.
    pub fn is_minimal(&self) -> bool {
        self.name == "swiftshader"
    }

    /// Whether `--device-profile` knows it by its name, and it has more than nearly nothing.
    pub fn has_profile(&self) -> bool {
        matches!(self.place, Place::Driver(_)) && !self.is_minimal()
    }

    /// Whether it finds what its environment leaves undefined.
    pub fn is_strict(&self) -> bool {
        matches!(self.place, Place::Within | Place::WithinForClang | Place::WithinForVulkan)
    }

    /// Whether it takes modules of the Vulkan environment.
    pub fn is_vulkan(&self) -> bool {
        !matches!(self.place, Place::Within | Place::WithinForClang)
    }

    /// What it offers.
    pub fn facts(&self) -> &Facts {
        self.facts.get_or_init(|| self.ask().unwrap_or_else(|reason| panic!("{}: {reason}", self.name)))
    }

    fn ask(&self) -> Result<Facts, String> {
        /// A line of the list.
        #[derive(Deserialize)]
        struct Listed {
            name: String,
            #[serde(flatten)]
            facts: Facts,
        }
        let mut command = kiln::command();
        self.only(&mut command)?;
        let finished = kiln::run(command.args(["devices", "--json"]))?;
        let list: Vec<Listed> = serde_json::from_str(&finished.text()).map_err(|e| e.to_string())?;
        let wanted = match &self.place {
            Place::Driver(_) => "",
            Place::Machine(name) => name,
            Place::Within | Place::WithinForClang => "reference",
            Place::WithinForVulkan => "vulkan-reference",
        };
        let is_wanted = |it: &Listed| it.name.to_lowercase().contains(&wanted.to_lowercase());
        let mut facts = list.into_iter().find(is_wanted).ok_or("it is not there")?.facts;
        facts.fp32_denormals |= match &self.place {
            Place::Driver(driver) => driver.keeps_denormals,
            _ => false,
        };
        Ok(facts)
    }

    /// Whether a case means it that says who lacks something: by its name, as one of Vulkan's (`vulkan`), or because it has not a
    /// feature (`read_write_images`).
    pub fn is_meant_by(&self, word: &str) -> Result<bool, String> {
        match word {
            "vulkan" => Ok(self.is_vulkan()),
            "read_write_images" => Ok(!self.facts().read_write_images),
            "lavapipe" | "swiftshader" | "reference" | "clang" | "vulkan-reference" => Ok(self.name == word),
            _ => Err(format!("`lacks={word}` names neither a device nor a feature")),
        }
    }
}

impl Driver {
    fn find(&self, name: &str) -> Result<PathBuf, String> {
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

/// Makes a program see the devices of Vulkan that are to be tested, and others of this machine only if one of those is.
pub fn drivers(command: &mut Command) -> Result<(), String> {
    if vulkan().any(|device| matches!(device.place, Place::Machine(_))) {
        return Ok(());
    }
    let drivers = vulkan().filter_map(|device| match &device.place {
        Place::Driver(driver) => Some(driver.find(device.name)),
        _ => None,
    });
    let manifests = drivers.collect::<Result<Vec<_>, _>>()?;
    see(command, &env::join_paths(manifests).map_err(|e| e.to_string())?);
    Ok(())
}

/// Whether a device of Vulkan by this name is one to test, in a program that sees others.
pub fn is_tested(name: &str) -> bool {
    let parts = vulkan().filter_map(|device| match &device.place {
        Place::Machine(part) => Some(part.to_lowercase()),
        _ => None,
    });
    let mut parts = parts.peekable();
    parts.peek().is_none() || parts.any(|part| name.to_lowercase().contains(&part))
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
    launch_beside_others(command, kiln::LIMIT)
}

/// The same for launches that may run at the same time as others.
pub(crate) fn launch_beside_others(command: &mut Command, limit: Duration) -> Result<Finished, String> {
    if command.get_envs().any(|(name, value)| name == clang::WANTED && value.is_some()) {
        return clang::launch(command, limit);
    }
    process::run(command, b"", limit)
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
        || stderr.contains("needs `cl_khr_fp64`")
        || stderr.contains("[unsupported-extension]: the target does not support extension `cl_khr_")
        || (stderr.contains("the program needs") && stderr.contains("does not have"))
        || stderr.contains("pass an image that can be written")
        || stderr.contains("which the runtime does not offer yet")
        || stderr.contains(clang::LACKS)
}
