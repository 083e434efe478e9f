//! `docs/driver-bugs.md`, rendered from the table.

use std::fmt::Write as _;

use super::{DriverBug, Remedy};

const INTRODUCTION: &str = "\
# Driver bugs

This page is rendered from `compiler/vocabulary/src/driver_bugs.rs`. After a change there, `cargo xtask bless` renders it
again.

Some drivers miscompile valid modules. Kiln works around these bugs if it can, but only on these drivers: a module
compiled ahead of time contains no workaround unless the target requests it.

- `kiln run` compiles for the open device and applies the workarounds for its driver and version.
- `--device-profile` does the same for the driver that the profile names in its line `driver = NAME VERSION`.
- `--workarounds NAME,…` applies the named workarounds, `--workarounds all` all of them, for drivers that are unknown at
  compile time, and `--workarounds none` none. In a build script, `Builder::workarounds` does the same.

The kernel interface in the module records which workarounds were applied; `kiln reflect` prints them. The runtime warns
once if the open device has a bug that the compiler can work around and the module does not.

| bug | driver | symptom | workaround |
|---|---|---|---|
";

/// Renders the page.
pub fn render_markdown() -> String {
    let mut page = INTRODUCTION.to_owned();
    for bug in DriverBug::ALL {
        let row = bug.row();
        let drivers: Vec<String> =
            row.affected.iter().map(|(id, versions)| format!("{}, {versions}", id.title())).collect();
        let remedy = match row.remedy {
            Remedy::Pass(pass) => format!("the pass `{pass}`"),
            Remedy::Option(pass) => format!("other code from `{pass}`"),
            Remedy::Runtime(how) => format!("the runtime {how}"),
            Remedy::None => "none".to_owned(),
        };
        // Writing to a string does not fail.
        let _ = writeln!(page, "| `{}` | {} | {} | {remedy} |", row.name, drivers.join("; "), row.symptom);
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `KILN_BLESS=1`, which `cargo xtask bless` sets, rewrites the page.
    #[test]
    fn the_page_is_the_table() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/driver-bugs.md");
        let rendered = render_markdown();
        if std::env::var_os("KILN_BLESS").is_some_and(|value| value == "1") {
            std::fs::write(path, &rendered).expect("docs/driver-bugs.md can be written");
        }
        let committed = std::fs::read_to_string(path).unwrap_or_default();
        assert!(committed == rendered, "docs/driver-bugs.md is stale: run `cargo xtask bless`");
    }
}
