//! Instructions for Cargo, which a build script prints to standard output.

/// Reruns the script when this file changes. A missing file would make Cargo rerun it every time.
pub(crate) fn rerun_if_changed(path: &str) {
    println!("cargo::rerun-if-changed={path}");
}

/// Prints a warning, which Cargo shows with the package's name.
pub(crate) fn warning(text: &str) {
    println!("cargo::warning={}", line(text, ": warning: "));
}

/// Prints an error, which Cargo shows as the build's error.
pub(crate) fn error(text: &str) {
    println!("cargo::error={}", line(text, ": error: "));
}

/// One line, without the severity, which Cargo writes before it.
fn line(text: &str, severity: &str) -> String {
    text.replacen(severity, ": ", 1).replace('\n', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_severity_is_removed_and_lines_are_joined() {
        assert_eq!(
            line("a.cl:1:2: error: `x` is not declared", ": error: "),
            "a.cl:1:2: `x` is not declared"
        );
        assert_eq!(line("a.cl:1:2: a\nb", ": error: "), "a.cl:1:2: a b");
    }
}
