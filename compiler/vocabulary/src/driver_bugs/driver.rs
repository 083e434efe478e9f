//! Drivers and their versions.

use std::fmt;

/// A driver that the table of driver bugs has rows for. Other drivers have no known bugs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DriverId {
    /// Mesa lavapipe (llvmpipe)
    Lavapipe,
    /// SwiftShader
    SwiftShader,
    /// The proprietary driver of NVIDIA
    Nvidia,
}

impl DriverId {
    /// All drivers.
    pub const ALL: [Self; 3] = [Self::Lavapipe, Self::SwiftShader, Self::Nvidia];

    /// The name in a device profile.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Lavapipe => "lavapipe",
            Self::SwiftShader => "swiftshader",
            Self::Nvidia => "nvidia",
        }
    }

    /// The name of the product.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Lavapipe => "Mesa lavapipe",
            Self::SwiftShader => "SwiftShader",
            Self::Nvidia => "NVIDIA",
        }
    }
}

/// A driver version in the vendor's notation: 22.3.6 of Mesa, 580.159.4 of NVIDIA's driver.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version {
    /// The first number
    pub major: u32,
    /// The second number
    pub minor: u32,
    /// The third number
    pub patch: u32,
}

impl Version {
    /// The first version number in a text, such as Vulkan's `driverInfo`: `Mesa 22.3.6 (LLVM 15.0.6)`.
    pub fn find(text: &str) -> Option<Self> {
        text.split([' ', '(', ')', '-']).find_map(Self::parse)
    }

    /// Parses one to three numbers separated by full stops.
    pub fn parse(text: &str) -> Option<Self> {
        let mut numbers = text.splitn(3, '.').map(str::parse);
        let major = numbers.next()?.ok()?;
        let minor = numbers.next().unwrap_or(Ok(0)).ok()?;
        let patch = numbers.next().unwrap_or(Ok(0)).ok()?;
        Some(Self { major, minor, patch })
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

/// A driver in one of its versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Driver {
    /// The driver.
    pub id: DriverId,
    /// Its version.
    pub version: Version,
}

impl Driver {
    /// Parses a name and a version, such as `lavapipe 22.3.6`.
    pub fn parse(text: &str) -> Option<Self> {
        let (name, version) = text.trim().split_once(' ')?;
        let id = DriverId::ALL.into_iter().find(|id| id.name() == name)?;
        Some(Self { id, version: Version::parse(version.trim())? })
    }
}

impl fmt::Display for Driver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.id.name(), self.version)
    }
}

/// A range of versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Versions {
    /// The first version of the range; `None` for all older ones.
    pub from: Option<Version>,
    /// The first version after the range; `None` for all newer ones.
    pub before: Option<Version>,
}

impl Versions {
    /// Every version.
    pub const ALL: Self = Self { from: None, before: None };

    /// Versions older than this one.
    pub const fn before(major: u32, minor: u32) -> Self {
        Self { from: None, before: Some(Version { major, minor, patch: 0 }) }
    }

    /// This version and newer ones.
    pub const fn from(major: u32, minor: u32) -> Self {
        Self { from: Some(Version { major, minor, patch: 0 }), before: None }
    }

    /// Whether a version is in the range.
    pub fn contains(&self, version: Version) -> bool {
        self.from.is_none_or(|from| version >= from) && self.before.is_none_or(|before| version < before)
    }
}

impl fmt::Display for Versions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let short = |version: Version| format!("{}.{}", version.major, version.minor);
        match (self.from, self.before) {
            (None, None) => f.write_str("all versions"),
            (None, Some(before)) => write!(f, "before {}", short(before)),
            (Some(from), None) => write!(f, "from {}", short(from)),
            (Some(from), Some(before)) => write!(f, "from {}, before {}", short(from), short(before)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_found_in_driver_information() {
        let found = |text: &str| Version::find(text).map(|it| it.to_string());
        assert_eq!(found("Mesa 22.3.6 (LLVM 15.0.6)").as_deref(), Some("22.3.6"));
        assert_eq!(found("Mesa 25.0.7-2 (LLVM 19.1.7)").as_deref(), Some("25.0.7"));
        assert_eq!(found("580.159.04").as_deref(), Some("580.159.4"));
        assert_eq!(found(""), None);
    }

    #[test]
    fn drivers_round_trip() {
        let driver = Driver::parse("nvidia 580.159.4").unwrap();
        assert_eq!(driver.id, DriverId::Nvidia);
        assert_eq!(Driver::parse(&driver.to_string()), Some(driver));
        for wrong in ["nvidia", "toaster 1.0", "lavapipe new", "lavapipe 1.2.3.4"] {
            assert_eq!(Driver::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn ranges_contain_their_versions() {
        let version = |text: &str| Version::parse(text).unwrap();
        let range = Versions { from: Versions::from(22, 0).from, ..Versions::before(23, 3) };
        assert!(range.contains(version("22.0.0")) && range.contains(version("23.2.9")));
        assert!(!range.contains(version("21.3.9")) && !range.contains(version("23.3.0")));
        assert!(Versions::from(575, 0).contains(version("580.159")) && Versions::ALL.contains(version("1")));
    }
}
