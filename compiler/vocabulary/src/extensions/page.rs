//! `docs/features.md`, rendered from the table.

use std::fmt::Write as _;

use super::{Extension, Extensions, Support};
use crate::{
    opencl::{Environment, LanguageVersion},
    target::{Features, profile},
};

const INTRODUCTION: &str = "\
# Extensions and features

This page is rendered from `compiler/vocabulary/src/extensions.rs`. After a change there, `cargo xtask bless` renders it
again.

The tables list every extension and optional feature of OpenCL C that Kiln supports, with the first language version and the
devices that support it. The compiler defines a macro with its name only for these devices. `kiln devices` lists the
extensions and features of the machine's devices. `testsuite/tests/features.rs` compares the macros, the compiler and the devices
with the table.

`on request` means that no device reports the extension. The option `-cl-ext=+NAME` enables it in the compiler, which rejects
functions that the target cannot execute. The OpenCL driver requests and reports `cl_khr_srgb_image_writes`: with it, each
`write_imagef` on Vulkan tests the channel order of the image.

OpenCL C 2.0 includes the features that OpenCL C 3.0 makes optional, but has no macros for them. If a device lacks such a feature,
the compiler rejects its uses in 2.0, too. The column `OpenCL` applies to modules for OpenCL (`--env opencl`) and to the reference
device; the other columns are device profiles for Vulkan.
";

/// Renders the page.
pub fn render_markdown() -> String {
    let mut page = INTRODUCTION.to_owned();
    let is_feature = |extension: &&Extension| extension.is_feature();
    for (title, is_wanted) in [("Optional features of OpenCL C 3.0", true), ("Extensions", false)] {
        let rows = Extension::ALL.iter().filter(|it| is_feature(it) == is_wanted);
        table(&mut page, title, rows);
    }
    page
}

fn table<'a>(page: &mut String, title: &str, rows: impl Iterator<Item = &'a Extension>) {
    let profiles: Vec<(&str, Extensions)> = profile::names()
        .filter_map(|name| Some((name, profile::named(name)?)))
        .map(|(name, profile)| (name, Extensions::offered(Environment::Vulkan, &profile.features)))
        .chain([("OpenCL", Extensions::offered(Environment::OpenCl, &Features::full()))])
        .collect();
    // Writing to a string does not fail.
    let names: String = profiles.iter().map(|(name, _)| format!(" {name} |")).collect();
    let _ = writeln!(page, "\n## {title}\n\n| name | since |{names}");
    let _ = writeln!(page, "|---|---|{}", "---|".repeat(profiles.len()));
    for &extension in rows {
        let cells: String = profiles
            .iter()
            .map(|(_, offered)| match (offered.has(extension), extension.support()) {
                (true, _) => " yes |",
                (false, Support::OnRequest | Support::OnRequestOnVulkan) => " on request |",
                (false, _) => " |",
            })
            .collect();
        let _ = writeln!(page, "| `{}` | {} |{cells}", extension.name(), version(extension.since()));
    }
}

const fn version(version: LanguageVersion) -> &'static str {
    match version {
        LanguageVersion::Cl10 => "1.0",
        LanguageVersion::Cl11 => "1.1",
        LanguageVersion::Cl12 => "1.2",
        LanguageVersion::Cl20 => "2.0",
        LanguageVersion::Cl30 => "3.0",
        LanguageVersion::Cl31 => "3.1",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `KILN_BLESS=1`, which `cargo xtask bless` sets, rewrites the page.
    #[test]
    fn the_page_is_the_table() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/features.md");
        let rendered = render_markdown();
        if std::env::var_os("KILN_BLESS").is_some_and(|value| value == "1") {
            std::fs::write(path, &rendered).expect("docs/features.md can be written");
        }
        let committed = std::fs::read_to_string(path).unwrap_or_default();
        assert!(committed == rendered, "docs/features.md is stale: run `cargo xtask bless`");
    }
}
