//! Dat3M's tests in herd's formats for C11 and OpenCL, by `kiln litmus --thin-air`: neither the text of the specification nor Dat3M's
//! model excludes values out of thin air.

use std::{path::Path, process::Command};

use super::{Question, Verdict};

/// The verdict of `kiln litmus`.
pub(super) fn verdict(kiln: &Path, test: &Path, question: Question) -> Result<Verdict, String> {
    let output = Command::new(kiln)
        .args(["litmus", "--thin-air"])
        .arg(test)
        .output()
        .map_err(|e| format!("{}: {e}", kiln.display()))?;
    let shown = String::from_utf8_lossy(&output.stdout);
    if !shown.contains("Consistent executions:") {
        let reason = String::from_utf8_lossy(&output.stderr);
        return Err(reason.lines().next().unwrap_or("no reason").to_owned());
    }
    if question == Question::NoRace {
        return Ok(Verdict { holds: !shown.contains("data race: ") });
    }
    let holds = shown.lines().find_map(|line| line.strip_prefix("The condition is ")?.split(' ').next());
    match holds {
        Some("true") => Ok(Verdict { holds: true }),
        Some("false") => Ok(Verdict { holds: false }),
        _ => Err("the condition is not understood".to_owned()),
    }
}
