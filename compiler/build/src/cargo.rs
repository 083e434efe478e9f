//! What a build script tells cargo, on standard output.

/// Cargo is to rerun the script when this file changes. One that is not there would make it rerun each time.
pub(crate) fn rerun_if_changed(path: &str) {
    println!("cargo::rerun-if-changed={path}");
}

/// Shown after the build, with the package's name.
pub(crate) fn warning(text: &str) {
    println!("cargo::warning={}", text.replace('\n', " "));
}

/// Shown as the build's error.
pub(crate) fn error(text: &str) {
    println!("cargo::error={}", text.replace('\n', " "));
}
