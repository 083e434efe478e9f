//! Options from the source itself: a comment with options, and names that only one language version has.

use kiln_vocabulary::opencl::LanguageVersion;

/// The number of lines at the start of a source that can contain the comment with options.
const MAGIC_LINES: usize = 20;

/// The options in a comment that starts with `kiln:`, near the start of the source.
pub(super) fn magic_comment(text: &str) -> Vec<String> {
    let line = text.lines().take(MAGIC_LINES).find_map(|line| {
        let comment = line.trim_start().trim_start_matches(['/', '*', ' ', '\t']);
        comment.strip_prefix("kiln:").filter(|_| comment.len() != line.len())
    });
    let flags = line.map(|line| line.split("*/").next().unwrap_or_default());
    flags.and_then(shlex::split).unwrap_or_default()
}

/// Names added by OpenCL C 3.0.
const NEW_IN_3_0: [&str; 5] = [
    "__opencl_c_",
    "memory_scope_all_devices",
    "CL_VERSION_3_0",
    "__OPENCL_C_VERSION__ >= 300",
    "__OPENCL_C_VERSION__ == 300",
];

/// The most likely language version of a source. Nearly every 1.x program is a valid 2.0 program, and a program that
/// needs 3.0 uses names that 3.0 added.
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
    fn names_of_a_later_version_select_it() {
        assert_eq!(by_content("#ifdef __opencl_c_fp64\n"), LanguageVersion::Cl30);
        assert_eq!(by_content("kernel void f() {}"), LanguageVersion::default());
    }
}
