//! `kiln check --fix`.

use std::fs;

use crate::{GOOD, command, folder, kiln, kiln_with, names};

#[test]
fn fixes_are_applied_to_the_source() {
    const MISTAKES: &str = "// é\r\nkernal void k(globl int *out, int n) {\r\n    int x = n + 1\r\n    out[0] = x and n;\r\n    out[1] = valeu;\r\n}\r\n";
    let fixed = MISTAKES
        .replace("kernal", "kernel")
        .replace("globl", "global")
        .replace("+ 1\r", "+ 1;\r")
        .replace("and", "&&");
    let folder = folder(&[("k.cl", MISTAKES), ("good.cl", GOOD)]);
    let finished = kiln(&folder, &["check", "--fix", "k.cl", "good.cl"]);
    assert_eq!(finished.status.code(), Some(1), "{}", finished.stderr);
    assert!(finished.stderr.contains("note: fixed 4 problems in `k.cl`"), "{}", finished.stderr);
    assert!(finished.stderr.contains("`valeu` is not declared"), "{}", finished.stderr);
    assert!(finished.stderr.contains("1 error\n"), "{}", finished.stderr);
    let read = |name: &str| fs::read_to_string(folder.path().join(name)).expect("a file");
    assert_eq!(read("k.cl"), fixed);
    assert_eq!(read("good.cl"), GOOD);
    assert_eq!(names(&folder), ["good.cl", "k.cl"]);
    let finished = kiln_with(&mut command(&folder, &["check", "--fix", "-"]), MISTAKES);
    assert_eq!(finished.text(), fixed);
}

#[test]
fn successive_mistakes_of_one_kind_are_fixed() {
    const MISTAKES: &str = "kernel void k(global int *out) { int a = 1\n int b = 2\n for (int i = 0, i < 2, i++) out[i] = a + b }\n";
    const FIXED: &str = "kernel void k(global int *out) { int a = 1;\n int b = 2;\n for (int i = 0; i < 2; i++) out[i] = a + b; }\n";
    let folder = folder(&[("k.cl", MISTAKES)]);
    let finished = kiln(&folder, &["check", "--fix", "k.cl"]);
    assert_eq!(finished.status.code(), Some(0), "{}", finished.stderr);
    assert_eq!(fs::read_to_string(folder.path().join("k.cl")).expect("a file"), FIXED);
}

#[test]
fn fixes_apply_to_more_errors_than_are_shown() {
    let mistakes = "void f(globl int *p);\n".repeat(50) + GOOD;
    let folder = folder(&[("k.cl", &mistakes)]);
    let finished = kiln(&folder, &["check", "--fix", "k.cl"]);
    assert_eq!(finished.status.code(), Some(0), "{}", finished.stderr);
    let fixed = fs::read_to_string(folder.path().join("k.cl")).expect("a file");
    assert_eq!(fixed, mistakes.replace("globl", "global"));
}

#[test]
fn fixes_of_sources_that_are_not_utf_8_are_not_applied() {
    let folder = folder(&[]);
    let source = folder.path().join("k.cl");
    fs::write(&source, b"// \xe9\nkernal void k(global int *out) { out[0] = 1; }\n").expect("a file");
    let before = fs::read(&source).expect("a file");
    let finished = kiln(&folder, &["check", "--fix", "k.cl"]);
    assert_eq!(finished.status.code(), Some(2), "{}", finished.stderr);
    assert!(finished.stderr.contains("is not UTF-8: its fixes are not applied"), "{}", finished.stderr);
    assert_eq!(fs::read(&source).expect("a file"), before);
}

#[cfg(unix)]
#[test]
fn files_that_are_rewritten_keep_their_mode_and_links() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let folder = folder(&[("k.cl", "kernal void k(global int *out) { out[0]=1; }\n")]);
    let path = |name: &str| folder.path().join(name);
    fs::set_permissions(path("k.cl"), fs::Permissions::from_mode(0o640)).expect("the mode is set");
    symlink("k.cl", path("link.cl")).expect("a link");
    for words in [&["check", "--fix", "link.cl"][..], &["fmt", "link.cl"]] {
        let before = fs::read(path("k.cl")).expect("a file");
        let finished = kiln(&folder, words);
        assert_eq!(finished.status.code(), Some(0), "{}", finished.stderr);
        assert_ne!(fs::read(path("k.cl")).expect("a file"), before);
        assert!(fs::symlink_metadata(path("link.cl")).expect("the link").is_symlink());
        let mode = fs::metadata(path("k.cl")).expect("a file").permissions().mode();
        assert_eq!(mode & 0o777, 0o640);
    }
}
