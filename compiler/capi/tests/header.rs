//! The header is the one that cbindgen makes of the exported functions. `KILN_BLESS=1` writes it.

use std::{env, fs, path::Path};

use cbindgen::{Builder, Config, EnumConfig, ExportConfig, Language, RenameRule, Style};

/// The C names of the types.
const NAMES: &[(&str, &str)] = &[
    ("Options", "kiln_options"),
    ("Compilation", "kiln_result"),
    ("Status", "kiln_status"),
    ("Language", "kiln_language"),
    ("Environment", "kiln_environment"),
    ("Optimization", "kiln_optimization"),
    ("SeqCst", "kiln_seq_cst"),
    ("Output", "kiln_output"),
    ("Format", "kiln_format"),
    ("Severity", "kiln_severity"),
    ("Location", "kiln_location"),
    ("Label", "kiln_label"),
    ("Fix", "kiln_fix"),
    ("Diagnostic", "kiln_diagnostic"),
    ("IncludedFile", "kiln_included_file"),
    ("IncludeFind", "kiln_include_find"),
    ("IncludeRelease", "kiln_include_release"),
];

/// The opening of the header.
fn opening() -> String {
    let part = |name: &str| env::var(name).expect("Cargo sets it");
    let mut text = "\n/* libkiln: compiles OpenCL C to SPIR-V. docs/c-api.md describes it.\n *\n".to_owned();
    text.push_str(
        " * Options and results are handles, and every function accepts NULL as a handle. Strings are UTF-8 and end with a\n \
         * zero; those that the library returns are valid until their result or their options are freed. Threads may use\n \
         * the same options concurrently while none of them changes them, and the same result always.\n *\n \
         * Generated from compiler/capi/src by `cargo xtask bless header`. */\n",
    );
    for name in ["MAJOR", "MINOR", "PATCH"] {
        let number = part(&format!("CARGO_PKG_VERSION_{name}"));
        text.push_str(&format!("\n#define KILN_VERSION_{name} {number}"));
    }
    text
}

fn generated() -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    // Callers pass these enumerations as numbers, because C allows any number, and an invalid value of a Rust
    // enumeration is undefined behavior.
    let numbers = ["Language", "Environment", "Optimization", "SeqCst", "Output", "Format"];
    let config = Config {
        language: Language::C,
        style: Style::Both,
        cpp_compat: true,
        no_includes: true,
        sys_includes: ["stdbool.h", "stddef.h", "stdint.h"].map(str::to_owned).to_vec(),
        usize_is_size_t: true,
        line_length: 110,
        include_guard: Some("KILN_H".to_owned()),
        after_includes: Some(opening()),
        documentation_style: cbindgen::DocumentationStyle::C99,
        enumeration: EnumConfig {
            rename_variants: RenameRule::QualifiedScreamingSnakeCase,
            ..EnumConfig::default()
        },
        export: ExportConfig {
            include: numbers.map(str::to_owned).to_vec(),
            rename: NAMES.iter().map(|(rust, c)| ((*rust).to_owned(), (*c).to_owned())).collect(),
            ..ExportConfig::default()
        },
        ..Config::default()
    };
    let files = ["data.rs", "options.rs", "compilation.rs", "ffi.rs"];
    let builder = files.iter().fold(Builder::new(), |builder, file| builder.with_src(folder.join(file)));
    let mut header = Vec::new();
    builder
        .with_config(config)
        .generate()
        .expect("the sources are those of a C interface")
        .write(&mut header);
    String::from_utf8(header).expect("text")
}

#[test]
fn the_header_is_current() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("include/kiln.h");
    let header = generated();
    if env::var_os("KILN_BLESS").is_some_and(|value| value == "1") {
        fs::write(&path, &header).expect("a file");
    }
    let found = fs::read_to_string(&path).unwrap_or_default();
    assert!(found == header, "include/kiln.h is not current; `cargo xtask bless header` writes it");
}
