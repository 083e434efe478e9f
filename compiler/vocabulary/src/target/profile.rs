//! Device profiles: features and a driver as text, for compiling for a device of another machine.
//!
//! A line is `name` for a feature that the device has, `push_constant_size = N`, `read_images = N`, `written_images = N`,
//! `driver = NAME VERSION`, or a comment after `#`; a device lacks the features that its profile does not name, and binds
//! any number of images if its profile does not limit it. `kiln devices --profile` writes the profile of a device. Must not
//! depend on files.

use std::fmt::Write as _;

use super::{Features, UNLIMITED};
use crate::{
    driver_bugs::{Driver, Workarounds},
    precision::Precision,
    tuning::Tuning,
};

// The numeric features.
const PUSH_CONSTANT_SIZE: &str = "push_constant_size";
const READ_IMAGES: &str = "read_images";
const WRITTEN_IMAGES: &str = "written_images";
/// The line with the driver.
const DRIVER: &str = "driver";

/// A device profile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    /// The features of the device.
    pub features: Features,
    /// Its driver, if the table of driver bugs has rows for it.
    pub driver: Option<Driver>,
}

impl Profile {
    /// The workarounds that the driver needs.
    pub fn workarounds(&self) -> Workarounds {
        self.driver.map_or(Workarounds::NONE, Workarounds::for_driver)
    }

    /// The known precision of the driver's instructions.
    pub fn precision(&self) -> Precision {
        self.driver.map_or(Precision::GUARANTEED, Precision::for_driver)
    }

    /// The known properties of the driver's compiler.
    pub fn tuning(&self) -> Tuning {
        self.driver.map_or(Tuning::NONE, Tuning::for_driver)
    }
}

/// The named profiles, from fewest to most features.
const NAMED: &[(&str, &str)] = &[
    ("minimal", include_str!("profiles/minimal.profile")),
    ("swiftshader", include_str!("profiles/swiftshader.profile")),
    ("lavapipe", include_str!("profiles/lavapipe.profile")),
    ("lavapipe-25", include_str!("profiles/lavapipe-25.profile")),
    ("nvidia", include_str!("profiles/nvidia.profile")),
    ("full", include_str!("profiles/full.profile")),
];

/// The names of the named profiles.
pub fn names() -> impl Iterator<Item = &'static str> {
    NAMED.iter().map(|(name, _)| *name)
}

/// A profile by name.
pub fn named(name: &str) -> Option<Profile> {
    let (_, text) = NAMED.iter().find(|(known, _)| *known == name)?;
    Some(parse(text).unwrap_or_else(|error| panic!("the built-in profile `{name}` is invalid: {error}")))
}

/// Parses a profile. The error is a message for the user.
pub fn parse(text: &str) -> Result<Profile, String> {
    let (mut features, mut driver) = (Features::all(false), None);
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.split('#').next().unwrap_or_default().trim();
        let outcome = match line.split_once('=') {
            _ if line.is_empty() => Ok(()),
            Some((name, value)) if name.trim() == PUSH_CONSTANT_SIZE => {
                let size = value.trim().parse().ok().filter(|size| *size >= 128 && size % 4 == 0);
                size.map(|size| features.push_constant_size = size)
                    .ok_or("the size must be a multiple of 4, and at least 128")
            }
            Some((name, value)) if name.trim() == READ_IMAGES => {
                count(value).map(|count| features.read_images = count)
            }
            Some((name, value)) if name.trim() == WRITTEN_IMAGES => {
                count(value).map(|count| features.written_images = count)
            }
            Some((name, value)) if name.trim() == DRIVER => {
                driver = Driver::parse(value);
                driver.map(|_| ()).ok_or("a driver and its version are expected, such as `lavapipe 22.3.6`")
            }
            Some(_) => {
                Err("only `push_constant_size`, `read_images`, `written_images` and `driver` have a value")
            }
            None => switch(&mut features, line, true),
        };
        outcome.map_err(|why| format!("line {number}: `{line}`: {why}"))?;
    }
    Ok(Profile { features, driver })
}

fn count(value: &str) -> Result<u32, &'static str> {
    value.trim().parse().map_err(|_| "a number is expected")
}

/// Applies `+name` and `-name` to the features.
pub fn apply(features: &mut Features, change: &str) -> Result<(), String> {
    let (name, is_there) = match change.strip_prefix('-') {
        Some(name) => (name, false),
        None => (change.strip_prefix('+').unwrap_or(change), true),
    };
    switch(features, name, is_there).map_err(|why| format!("`{name}`: {why}"))
}

fn switch(features: &mut Features, name: &str, is_there: bool) -> Result<(), &'static str> {
    let feature = features.feature(name).ok_or("there is no such feature")?;
    *feature = is_there;
    // The capability Int64Atomics includes Int64 (SPIR-V 3.31).
    match (name, is_there) {
        ("int64", false) => (features.int64_global_atomics, features.int64_local_atomics) = (false, false),
        ("int64_global_atomics" | "int64_local_atomics", true) => features.int64 = true,
        _ => {}
    }
    Ok(())
}

/// The text of a profile.
pub fn text(device: &str, profile: &Profile) -> String {
    let Profile { features, driver } = profile;
    let mut text = format!("# {device}\n");
    if let Some(driver) = driver {
        let _ = writeln!(text, "{DRIVER} = {driver}");
    }
    for (name, what, _) in features.named().filter(|(.., is_there)| *is_there) {
        let _ = writeln!(text, "{name:<34} # {what}");
    }
    let _ = writeln!(text, "{PUSH_CONSTANT_SIZE} = {}", features.push_constant_size);
    for (name, count) in [(READ_IMAGES, features.read_images), (WRITTEN_IMAGES, features.written_images)] {
        if count != UNLIMITED {
            let _ = writeln!(text, "{name} = {count}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn named_profiles_round_trip() {
        assert_eq!(named("full"), Some(Profile { features: Features::full(), driver: None }));
        assert_eq!(named("minimal"), Some(Profile { features: Features::minimal(), driver: None }));
        for name in names() {
            let profile = named(name).unwrap();
            assert_eq!(profile.driver.is_some(), !["full", "minimal"].contains(&name), "{name}");
            assert_eq!(parse(&text(name, &profile)), Ok(profile));
        }
        assert_eq!(named("toaster"), None);
    }

    #[test]
    fn errors_contain_their_line() {
        assert_eq!(parse("int8\nint9"), Err("line 2: `int9`: there is no such feature".to_owned()));
        assert_eq!(
            parse("push_constant_size = 7"),
            Err("line 1: `push_constant_size = 7`: the size must be a multiple of 4, and at least 128"
                .to_owned())
        );
        assert!(parse("int8 = 3").is_err());
        assert_eq!(
            parse("written_images = many"),
            Err("line 1: `written_images = many`: a number is expected".to_owned())
        );
        assert_eq!(
            parse("driver = toaster"),
            Err("line 1: `driver = toaster`: a driver and its version are expected, such as `lavapipe 22.3.6`"
                .to_owned())
        );
        let mut features = Features::minimal();
        assert_eq!(apply(&mut features, "+fp64").and_then(|()| apply(&mut features, "-images")), Ok(()));
        assert!(features.fp64 && !features.images);
        assert!(apply(&mut features, "-fp65").is_err());
        assert_eq!(apply(&mut features, "+int64_local_atomics"), Ok(()));
        assert!(features.int64);
        assert_eq!(apply(&mut features, "-int64"), Ok(()));
        assert!(!features.int64_local_atomics);
    }
}
