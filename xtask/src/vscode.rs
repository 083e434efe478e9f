//! `cargo xtask vscode`: builds the extension for VS Code as users get it. Run it by hand, because it needs the npm
//! registry; `testsuite/tests/editors/extension.rs` tests what does not need it.

use std::{fs, process::Command};

use crate::{Outcome, process, root};

/// Checks, bundles and packages.
pub(crate) fn vscode() -> Outcome {
    let source = root().join("compiler/lsp/editors/vscode");
    // Keeps npm's files out of the source tree.
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
