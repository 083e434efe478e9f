//! `cargo xtask vscode`: the extension for VS Code as its users get it. By hand, because it takes the npm registry; what can be
//! judged without is a test (`testsuite/tests/editors/extension.rs`).

use std::{fs, process::Command};

use crate::{Outcome, process, root};

/// Checks, bundles and packages.
pub(crate) fn vscode() -> Outcome {
    let source = root().join("compiler/lsp/editors/vscode");
    // What npm brings stays out of the sources.
    let folder = process::target_dir().join("vscode");
    fs::create_dir_all(&folder).map_err(|e| format!("cannot make `{}`: {e}", folder.display()))?;
    process::run(Command::new("cp").arg("-rT").arg(&source).arg(&folder))?;
    for words in
        [&["ci", "--no-audit", "--no-fund"][..], &["run", "check"], &["run", "bundle"], &["run", "package"]]
    {
        process::run(Command::new("npm").current_dir(&folder).args(words))?;
    }
    println!("{}", folder.display());
    Ok(())
}
