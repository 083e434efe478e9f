//! Device profiles: sets of features as text, so that a module can be made for a device that is not here.
//!
//! A line is `name` for a feature that is there, `name = N` for a number, or a comment after `#`; what is not named is not
//! there. `kiln devices --profile` writes such a text from a device. It knows no files.

use std::fmt::Write as _;

use super::Features;

/// The only one of the features that is a number.
const PUSH_CONSTANT_SIZE: &str = "push_constant_size";

/// The profiles that have a name, in the order of their features.
const NAMED: &[(&str, &str)] = &[
    ("minimal", include_str!("profiles/minimal.profile")),
    ("swiftshader", include_str!("profiles/swiftshader.profile")),
    ("lavapipe", include_str!("profiles/lavapipe.profile")),
    ("nvidia", include_str!("profiles/nvidia.profile")),
    ("full", include_str!("profiles/full.profile")),
];

/// The names of the profiles that have one.
pub fn names() -> impl Iterator<Item = &'static str> {
    NAMED.iter().map(|(name, _)| *name)
}

/// The features of a profile by name.
pub fn named(name: &str) -> Option<Features> {
    let (_, text) = NAMED.iter().find(|(known, _)| *known == name)?;
    Some(parse(text).unwrap_or_else(|error| panic!("the profile `{name}` is ours: {error}")))
}

/// The features that a text says; a sentence if it is none.
pub fn parse(text: &str) -> Result<Features, String> {
    let mut features = Features::all(false);
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.split('#').next().unwrap_or_default().trim();
        let outcome = match line.split_once('=') {
            _ if line.is_empty() => Ok(()),
            Some((name, value)) if name.trim() == PUSH_CONSTANT_SIZE => {
                let size = value.trim().parse().ok().filter(|size| *size >= 128 && size % 4 == 0);
                size.map(|size| features.push_constant_size = size)
                    .ok_or("its size is a multiple of 4 from 128")
            }
            Some(_) => Err("only push_constant_size has a number"),
            None => switch(&mut features, line, true),
        };
        outcome.map_err(|why| format!("line {number}: `{line}`: {why}"))?;
    }
    Ok(features)
}

/// Changes features as `+name` and `-name` say.
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
    Ok(())
}

/// The text of a profile.
pub fn text(device: &str, features: &Features) -> String {
    let mut text = format!("# {device}\n");
    for (name, what, _) in features.named().filter(|(.., is_there)| *is_there) {
        let _ = writeln!(text, "{name:<34} # {what}");
    }
    let _ = writeln!(text, "{PUSH_CONSTANT_SIZE} = {}", features.push_constant_size);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn profiles_are_what_they_are_called() {
        assert_eq!(named("full"), Some(Features::full()));
        assert_eq!(named("minimal"), Some(Features::minimal()));
        for name in names() {
            let features = named(name).unwrap();
            assert_eq!(parse(&text(name, &features)), Ok(features));
        }
        assert_eq!(named("toaster"), None);
    }

    #[test]
    fn mistakes_are_told_with_their_line() {
        assert_eq!(parse("int8\nint9"), Err("line 2: `int9`: there is no such feature".to_owned()));
        assert_eq!(
            parse("push_constant_size = 7"),
            Err("line 1: `push_constant_size = 7`: its size is a multiple of 4 from 128".to_owned())
        );
        assert!(parse("int8 = 3").is_err());
        let mut features = Features::minimal();
        assert_eq!(apply(&mut features, "+fp64").and_then(|()| apply(&mut features, "-images")), Ok(()));
        assert!(features.fp64 && !features.images);
        assert!(apply(&mut features, "-fp65").is_err());
    }
}
