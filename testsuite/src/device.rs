//! The devices of tests: software drivers from Debian and the reference device. Each runs in a separate process.
//! A missing device fails the tests; nothing is skipped. `KILN_TEST_DEVICE` selects other devices by name, separated
//! by commas: `NVIDIA` is the device of this machine whose name contains that, for running the same tests on
//! hardware.

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
    clang, kiln, nightly,
    process::{self, Finished},
    root,
};

/// The variable that selects a device of this machine.
const WANTED: &str = "KILN_TEST_DEVICE";

/// A device.
#[derive(Debug)]
pub struct Device {
    /// The name in tests.
    pub name: &'static str,
    provider: Provider,
    facts: OnceLock<Facts>,
}

/// The location of a device.
#[derive(Debug)]
enum Provider {
    /// A driver from Debian.
    Driver(Driver),
    /// A device of this machine whose name contains this.
    Machine(String),
    /// The reference device in `kiln`.
    Reference,
    /// The reference device, with modules compiled by clang.
    ReferenceForClang,
    /// The reference device, with modules of the Vulkan environment.
    VulkanReference(Edge),
    /// A driver from Debian, with modules that `kiln translate` makes of kernel modules by this compiler.
    Translated(Driver, Compiler),
}

/// The results of the reference device for Vulkan where Vulkan allows several, as `KILN_RESULTS` selects them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Edge {
    Nearest,
    Lowest,
    Highest,
}

/// A compiler of kernel modules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Compiler {
    Kiln,
    Clang,
}

/// A driver from Debian.
#[derive(Debug)]
struct Driver {
    /// The directory, absolute or in the repository, and the file name prefix of its manifest.
    manifest: (&'static str, &'static str),
    package: &'static str,
    /// Whether it preserves denormal floats without reporting it.
    keeps_denormals: bool,
}

/// The properties that `kiln devices` reports; the expectations of tests depend on them.
#[derive(Debug, Deserialize)]
pub struct Facts {
    /// `double`
    pub fp64: bool,
    /// Arithmetic of `half`
    pub fp16: bool,
    /// Whether denormal floats are preserved.
    pub fp32_denormals: bool,
    /// The sub-group size; `None` without sub-groups.
    pub sub_group_size: Option<usize>,
    /// Whether a kernel can both read and write an image.
    pub read_write_images: bool,
    /// The maximum size of a work-group.
    pub max_work_group_size: usize,
}

const LAVAPIPE: Driver = Driver {
    manifest: ("/usr/share/vulkan/icd.d", "lvp_icd"),
    package: "mesa-vulkan-drivers",
    keeps_denormals: true,
};
/// The driver of a current Mesa, which has few of the bugs that Kiln works around.
const LAVAPIPE_25: Driver = Driver {
    manifest: ("target/drivers/lavapipe-25", "lvp_icd"),
    package: "a current mesa-vulkan-drivers",
    keeps_denormals: true,
};
const SWIFTSHADER: Driver = Driver {
    manifest: ("/usr/lib/chromium", "vk_swiftshader_icd"),
    package: "chromium-common",
    keeps_denormals: false,
};

/// A driver with all features, one with few, and the reference device: by OpenCL's rules, with Kiln's and clang's modules,
/// and by Vulkan's rules; then a current version of the first driver. The others run modules translated from kernel SPIR-V.
fn known() -> &'static [Device] {
    static KNOWN: OnceLock<[Device; 12]> = OnceLock::new();
    KNOWN.get_or_init(|| {
        [
            Device::new("lavapipe", Provider::Driver(LAVAPIPE)),
            Device::new("swiftshader", Provider::Driver(SWIFTSHADER)),
            Device::new("reference", Provider::Reference),
            Device::new("clang", Provider::ReferenceForClang),
            Device::new("vulkan-reference", Provider::VulkanReference(Edge::Nearest)),
            Device::new(CURRENT, Provider::Driver(LAVAPIPE_25)),
            Device::new("translated", Provider::Translated(LAVAPIPE_25, Compiler::Kiln)),
            Device::new("clang-translated", Provider::Translated(LAVAPIPE_25, Compiler::Clang)),
            Device::new("swiftshader-translated", Provider::Translated(SWIFTSHADER, Compiler::Kiln)),
            Device::new("swiftshader-clang-translated", Provider::Translated(SWIFTSHADER, Compiler::Clang)),
            Device::new("vulkan-lowest", Provider::VulkanReference(Edge::Lowest)),
            Device::new("vulkan-highest", Provider::VulkanReference(Edge::Highest)),
        ]
    })
}

/// The name of the current lavapipe.
const CURRENT: &str = "lavapipe-25";

/// The devices to test. Without `--nightly`, only tests of compiled programs (`with_current`) run on the current
/// lavapipe: there it could differ from the other lavapipe.
pub fn all() -> impl Iterator<Item = &'static Device> + Clone {
    let tests_all =
        is_selected() || nightly::tests_all("5 of 6 devices, in all tests except `cases` and `examples`");
    with_current().filter(move |device| tests_all || device.name != CURRENT)
}

/// The devices that run modules translated from kernel SPIR-V; only those that the user selected, if any.
pub fn translated() -> impl Iterator<Item = &'static Device> + Clone {
    let tests_all = !is_selected();
    known().iter().filter(move |device| {
        device.is_translated() && (tests_all || with_current().any(|selected| selected.name == device.name))
    })
}

/// The reference device for Vulkan, with the least and the greatest results that Vulkan allows; only those that the user
/// selected, if any. Programs that use numbers whose precision OpenCL C does not fix have several results there.
pub fn imprecise() -> impl Iterator<Item = &'static Device> + Clone {
    let tests_all = !is_selected();
    known().iter().filter(move |device| {
        device.is_imprecise() && (tests_all || with_current().any(|selected| selected.name == device.name))
    })
}

/// Whether the user selected the devices.
fn is_selected() -> bool {
    env::var_os(WANTED).is_some_and(|names| !names.is_empty())
}

/// The devices to test, including the current lavapipe.
pub fn with_current() -> impl Iterator<Item = &'static Device> + Clone {
    static ALL: OnceLock<Vec<&'static Device>> = OnceLock::new();
    let all = ALL.get_or_init(|| {
        let wanted = env::var(WANTED).unwrap_or_default();
        let names: Vec<&str> = wanted.split(',').map(str::trim).filter(|name| !name.is_empty()).collect();
        if names.is_empty() {
            let tests_all = nightly::tests_all("6 of 10 devices in `cases`");
            let is_usual =
                |device: &&Device| (tests_all || !device.is_translated()) && !device.is_imprecise();
            known().iter().filter(is_usual).collect()
        } else {
            names.into_iter().map(wanted_device).collect()
        }
    });
    all.iter().copied()
}

fn wanted_device(name: &str) -> &'static Device {
    known().iter().find(|device| device.name == name).unwrap_or_else(|| {
        let short: String = name.to_lowercase().split_whitespace().collect::<Vec<_>>().join("-");
        Box::leak(Box::new(Device::new(short.leak(), Provider::Machine(name.to_owned()))))
    })
}

/// The devices with a Vulkan driver.
pub fn vulkan() -> impl Iterator<Item = &'static Device> + Clone {
    all().filter(|device| !device.is_strict())
}

/// A Vulkan device, for tests that are not about devices.
pub fn any() -> &'static Device {
    vulkan().next().unwrap_or(&known()[0])
}

/// A test on a device, which panics on failure.
pub type Test = fn(&'static Device);

/// Each test on each device.
pub fn trials(devices: impl Iterator<Item = &'static Device> + Clone, tests: &[(&str, Test)]) -> Vec<Trial> {
    let trial = |&(name, test): &(&str, Test), device: &'static Device| {
        Trial::test(format!("{name}_on_{}", device.name), move || {
            test(device);
            Ok(())
        })
    };
    tests.iter().flat_map(|test| devices.clone().map(move |device| trial(test, device))).collect()
}

impl Edge {
    const fn name(self) -> &'static str {
        match self {
            Self::Nearest => "nearest",
            Self::Lowest => "lowest",
            Self::Highest => "highest",
        }
    }
}

impl Device {
    const fn new(name: &'static str, provider: Provider) -> Self {
        Self { name, provider, facts: OnceLock::new() }
    }

    /// The device with this name, even if it is not selected for testing.
    pub fn named(name: &str) -> Option<&'static Self> {
        all().chain(known()).find(|device| device.name == name)
    }

    /// Restricts a command to this device.
    pub fn only(&self, command: &mut Command) -> Result<(), String> {
        let manifest = match &self.provider {
            Provider::Driver(driver) => driver.find(self.name)?,
            Provider::Translated(driver, compiler) => {
                command.env(clang::WANTED, if *compiler == Compiler::Kiln { "kiln" } else { "clang" });
                driver.find(self.name)?
            }
            Provider::Machine(name) => {
                command.env("KILN_DEVICE", name);
                return Ok(());
            }
            Provider::VulkanReference(edge) => {
                command.env("KILN_DEVICE", "vulkan-reference").env("KILN_RESULTS", edge.name());
                PathBuf::from("/nonexistent")
            }
            Provider::Reference | Provider::ReferenceForClang => {
                command.env("KILN_DEVICE", "reference");
                if self.is_for_clang() {
                    command.env(clang::WANTED, "clang");
                }
                PathBuf::from("/nonexistent")
            }
        };
        set_drivers(command, manifest.as_os_str());
        Ok(())
    }

    /// Whether it runs modules compiled by clang instead of Kiln's.
    pub fn is_for_clang(&self) -> bool {
        matches!(self.provider, Provider::ReferenceForClang | Provider::Translated(_, Compiler::Clang))
    }

    /// Whether it runs modules translated from kernel SPIR-V.
    pub fn is_translated(&self) -> bool {
        matches!(self.provider, Provider::Translated(..))
    }

    /// Whether it lacks most optional features, which makes modules for it long.
    pub fn is_minimal(&self) -> bool {
        self.driver().is_some_and(|driver| driver.package == SWIFTSHADER.package)
    }

    /// Whether it is a device of this machine that the user selected.
    pub fn is_local(&self) -> bool {
        matches!(self.provider, Provider::Machine(_))
    }

    fn driver(&self) -> Option<&Driver> {
        match &self.provider {
            Provider::Driver(driver) | Provider::Translated(driver, _) => Some(driver),
            _ => None,
        }
    }

    /// Whether `--device-profile` accepts its name, excluding the minimal device.
    pub fn has_profile(&self) -> bool {
        matches!(self.provider, Provider::Driver(_)) && !self.is_minimal()
    }

    /// Whether it detects undefined behavior.
    pub fn is_strict(&self) -> bool {
        matches!(
            self.provider,
            Provider::Reference | Provider::ReferenceForClang | Provider::VulkanReference(_)
        )
    }

    /// Whether it returns a result other than the nearest one where Vulkan allows several.
    pub fn is_imprecise(&self) -> bool {
        matches!(self.provider, Provider::VulkanReference(Edge::Lowest | Edge::Highest))
    }

    /// Whether it runs modules of the Vulkan environment.
    pub fn is_vulkan(&self) -> bool {
        !matches!(self.provider, Provider::Reference | Provider::ReferenceForClang)
    }

    /// Its properties.
    pub fn facts(&self) -> &Facts {
        self.facts
            .get_or_init(|| self.query_facts().unwrap_or_else(|reason| panic!("{}: {reason}", self.name)))
    }

    fn query_facts(&self) -> Result<Facts, String> {
        /// An entry of the device list.
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
        let wanted = match &self.provider {
            Provider::Driver(_) | Provider::Translated(..) => "",
            Provider::Machine(name) => name,
            Provider::Reference | Provider::ReferenceForClang => "reference",
            Provider::VulkanReference(_) => "vulkan-reference",
        };
        let is_wanted = |it: &Listed| it.name.to_lowercase().contains(&wanted.to_lowercase());
        let mut facts = list.into_iter().find(is_wanted).ok_or("it is not there")?.facts;
        facts.fp32_denormals |= self.driver().is_some_and(|driver| driver.keeps_denormals);
        Ok(facts)
    }

    /// Whether a word of a test's `lacks=` or `unless=` applies to the device: its name, all Vulkan devices (`vulkan`), those
    /// with a compiler (`clang`; `clang-reference` only without a translation), with modules that Kiln translates (`modules`;
    /// `kiln-modules` only its own), or without a feature (`read_write_images`).
    pub fn matches_word(&self, word: &str) -> Result<bool, String> {
        match word {
            "vulkan" => Ok(self.is_vulkan()),
            // A program that clang rejects is rejected for every device.
            "clang" => Ok(self.is_for_clang()),
            "clang-reference" => Ok(self.is_for_clang() && self.is_strict()),
            "modules" => Ok(self.is_translated()),
            "kiln-modules" => Ok(self.is_translated() && !self.is_for_clang()),
            "swiftshader" => Ok(self.is_minimal()),
            "read_write_images" => Ok(!self.facts().read_write_images),
            _ if known().iter().any(|device| device.name == word) => Ok(self.name == word),
            _ => Err(format!("`lacks={word}` names neither a device nor a feature")),
        }
    }
}

impl Driver {
    fn find(&self, name: &str) -> Result<PathBuf, String> {
        let (folder, begin) = self.manifest;
        let entries = fs::read_dir(root().join(folder)).into_iter().flatten().filter_map(Result::ok);
        let mut found = entries.map(|entry| entry.path()).filter(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with(begin) && name.ends_with(".json")
        });
        found.next().ok_or_else(|| {
            format!("{name} is not installed: `cargo xtask setup --tests` installs {}", self.package)
        })
    }
}

/// Restricts a command to the Vulkan devices to test, and to this machine's own devices if one of them is selected.
pub fn drivers(command: &mut Command) -> Result<(), String> {
    if vulkan().any(|device| matches!(device.provider, Provider::Machine(_))) {
        return Ok(());
    }
    let drivers = vulkan().filter_map(|device| match &device.provider {
        Provider::Driver(driver) => Some(driver.find(device.name)),
        _ => None,
    });
    let manifests = drivers.collect::<Result<Vec<_>, _>>()?;
    set_drivers(command, &env::join_paths(manifests).map_err(|e| e.to_string())?);
    Ok(())
}

/// Whether to test the Vulkan device with this name, in a program that also lists others.
pub fn is_tested(name: &str) -> bool {
    let parts = vulkan().filter_map(|device| match &device.provider {
        Provider::Machine(part) => Some(part.to_lowercase()),
        _ => None,
    });
    let mut parts = parts.peekable();
    parts.peek().is_none() || parts.any(|part| name.to_lowercase().contains(&part))
}

fn set_drivers(command: &mut Command, manifests: &OsStr) {
    // Loaders support the second name since 1.3.207, and the first in all versions.
    command.env("VK_ICD_FILENAMES", manifests).env("VK_DRIVER_FILES", manifests);
    for variable in ["VK_ADD_DRIVER_FILES", "VK_LOADER_DRIVERS_SELECT", "VK_LOADER_DRIVERS_DISABLE"] {
        command.env_remove(variable);
    }
}

/// Runs a `kiln` command that launches kernels. One at a time, because work-groups that wait for each other need the
/// processors.
pub fn launch(command: &mut Command) -> Result<Finished, String> {
    static TURN: Mutex<()> = Mutex::new(());
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    launch_beside_others(command, kiln::LIMIT)
}

/// Runs a `kiln` command whose launches may run in parallel with others.
pub(crate) fn launch_beside_others(command: &mut Command, limit: Duration) -> Result<Finished, String> {
    if command.get_envs().any(|(name, value)| name == clang::WANTED && value.is_some()) {
        return clang::launch(command, limit);
    }
    process::run(command, b"", limit)
}

/// Whether `kiln run` attributes a failure to a possible driver bug.
pub fn names_a_driver_bug(stderr: &str) -> bool {
    stderr.contains("kiln: note: a known bug of ")
}

/// Removes messages that a driver prints at every start.
pub fn without_greetings(stderr: &str) -> String {
    let greeting = |line: &&str| !line.contains("lavapipe is not a conformant vulkan implementation");
    stderr.lines().filter(greeting).collect::<Vec<_>>().join("\n")
}

/// Whether `kiln run` reports that the device lacks a required feature.
pub fn lacks_a_feature(stderr: &str) -> bool {
    stderr.contains("[target-feature]")
        || stderr.contains("\"target-feature\"")
        || stderr.contains("needs `cl_khr_fp64`")
        || stderr.contains("needs `__opencl_c_kernel_clock_scope_device`")
        || stderr.contains("the target does not support extension `cl_khr_")
        || (stderr.contains("the program needs") && stderr.contains("does not have"))
        || stderr.contains("pass an image that can be written")
        || stderr.contains("which the runtime does not support yet")
        || stderr.contains(clang::LACKS)
}
