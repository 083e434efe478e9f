//! Instructions for Cargo, which a build script prints to standard output.

/// Reruns the script when this file changes. A missing file would make Cargo rerun it every time.
pub(crate) fn rerun_if_changed(path: &str) {
    println!("cargo::rerun-if-changed={path}");
}

/// Prints a warning, which Cargo shows with the package's name.
pub(crate) fn warning(text: &str) {
    println!("cargo::warning={}", text.replace('\n', " "));
}

/// Prints an error, which Cargo shows as the build's error.
pub(crate) fn error(text: &str) {
    println!("cargo::error={}", text.replace('\n', " "));
}
