//! What a source says of itself: a comment with options for Kiln, and names that only one version of the language has.

use kiln_compiler::opencl::LanguageVersion;

/// The comment with options stands in one of so many lines.
const MAGIC_LINES: usize = 20;

/// The options in a comment near the beginning that begins with `kiln:`.
pub(super) fn magic_comment(text: &str) -> Vec<String> {
    let line = text.lines().take(MAGIC_LINES).find_map(|line| {
        let comment = line.trim_start().trim_start_matches(['/', '*', ' ', '\t']);
        comment.strip_prefix("kiln:").filter(|_| comment.len() != line.len())
    });
    let flags = line.map(|line| line.split("*/").next().unwrap_or_default());
    flags.and_then(shlex::split).unwrap_or_default()
}

/// Names that OpenCL C 3.0 brought.
const NEW_IN_3_0: [&str; 5] = [
    "__opencl_c_",
    "memory_scope_all_devices",
    "CL_VERSION_3_0",
    "__OPENCL_C_VERSION__ >= 300",
    "__OPENCL_C_VERSION__ == 300",
];

/// The version that a source is most likely written for. Nearly every program of 1.x is one of 2.0, and all that 3.0 has besides shows
/// by its names.
pub(super) fn by_content(text: &str) -> LanguageVersion {
    if NEW_IN_3_0.iter().any(|name| text.contains(name)) {
        LanguageVersion::Cl30
    } else {
        LanguageVersion::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comment_may_have_options() {
        assert_eq!(
            magic_comment("// words\n// kiln: -cl-std=CL3.0 -D 'A=1 2'\n"),
            ["-cl-std=CL3.0", "-D", "A=1 2"]
        );
        assert_eq!(magic_comment("/* kiln: -DX */ int a;"), ["-DX"]);
        assert!(magic_comment("kiln: -DX").is_empty(), "no comment");
    }

    #[test]
    fn names_of_a_later_version_tell_it() {
        assert_eq!(by_content("#ifdef __opencl_c_fp64\n"), LanguageVersion::Cl30);
        assert_eq!(by_content("kernel void f() {}"), LanguageVersion::default());
    }
}
