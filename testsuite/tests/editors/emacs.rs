//! Emacs with eglot and the configuration from docs/editors.md. Only with `--nightly`, which installs Emacs.

use std::{fs, process::Command, time::Duration};

use kiln_testsuite::{kiln, markdown, nightly, process, root};

const LIMIT: Duration = Duration::from_secs(120);

const SOURCE: &str = "kernel void k(global int *out) {
    out[0] = missing;
    out[1] = get_gl
}
";

#[test]
fn emacs_shows_diagnostics_and_completions() {
    if !nightly::tests_all("0 of 1 session of Emacs") {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let page = fs::read_to_string(root().join("docs/editors.md")).expect("the page");
    let set_up = markdown::fenced(&page, "elisp").into_iter().next().expect("a snippet");
    fs::write(folder.path().join("setup.el"), set_up).expect("a file");
    fs::write(folder.path().join("a.cl"), SOURCE).expect("a file");
    let binary = kiln::binary();
    let mut command = Command::new("emacs");
    command.args(["--no-init-file", "--batch", "--load"]);
    command.arg(root().join("testsuite/tests/editors/emacs.el"));
    command.current_dir(folder.path()).env("HOME", folder.path());
    command.env("PATH", process::path_with(binary.parent().expect("a folder")));
    let finished = process::finish(&mut command, LIMIT);
    let has = |line: &str| assert!(finished.stderr.contains(line), "no `{line}` in\n{}", finished.stderr);
    has("diagnostic 2: kiln [undeclared-name]: `missing` is not declared");
    has("diagnostic 3: kiln [syntax]: expected `;`");
    has("completion get_global_id");
}
