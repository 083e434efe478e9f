//! Diagnostics, and valid sources without any.

use super::*;

#[test]
fn wrong_definitions_are_reported() {
    assert_eq!(
        messages(
            "#define\n#define 1\n#define defined\n#define F(\n#define F(a\n#define F(a b)\n#define F(a,)\n#define F(a,a)\n#define F(..., a)"
        ),
        [
            "1:1 macro-definition: the name of a macro is missing",
            "2:9 macro-definition: a macro's name must be an identifier",
            "3:9 macro-definition: `defined` cannot be a macro",
            "4:10 macro-definition: expected a parameter's name or `...`",
            "5:11 macro-definition: `,` or `)` must follow a parameter",
            "6:13 macro-definition: `,` or `)` must follow a parameter",
            "7:13 macro-definition: expected a parameter's name or `...`",
            "8:13 macro-definition: two parameters have the name `a`",
            "9:14 macro-definition: `)` must follow the variable arguments",
        ]
    );
    assert_eq!(
        messages(
            "#define A ## b\n#define A b ##\n#define F(x) #y\n#define G() # x\n#define H(__VA_ARGS__)\n#define I __VA_ARGS__"
        ),
        [
            "1:11 macro-definition: `##` cannot be at the beginning or end of a macro's replacement",
            "2:13 macro-definition: `##` cannot be at the beginning or end of a macro's replacement",
            "3:14 macro-definition: `#` is not followed by a parameter",
            "4:13 macro-definition: `#` is not followed by a parameter",
            "5:11 macro-definition: `__VA_ARGS__` cannot be a parameter",
            "6:11 macro-definition: `__VA_ARGS__` is allowed only in a macro with `...`",
        ]
    );
}

#[test]
fn redefinitions_are_reported() {
    assert_eq!(
        messages("#define A 1 + x\n#define A   1  /* */ +\tx\n#define F(a) a\n#define F( a )  a\n"),
        Vec::<String>::new()
    );
    assert_eq!(
        messages(
            "#define A 1\n#define A 2\n#define B 1+2\n#define B 1 + 2\n#define F(a) a\n#define F(b) b\n#define F 1"
        ),
        [
            "2:9 macro-redefined: `A` is defined again with another meaning",
            "4:9 macro-redefined: `B` is defined again with another meaning",
            "6:9 macro-redefined: `F` is defined again with another meaning",
            "7:9 macro-redefined: `F` is defined again with another meaning",
        ]
    );
    assert_eq!(messages("#define INT_MAX 7\n#undef __LINE__\n#define __FILE__ 1\n").len(), 3);
}

#[test]
fn wrong_calls_are_reported() {
    assert_eq!(
        messages("#define F(a, b) a b\nF(1) F(1,2,3) F()\n#define Z() z\nZ(1)\n#define V(a,...) a\nV() V(1)"),
        [
            "2:1 macro-arguments: macro `F` takes 2 arguments but is given 1",
            "2:6 macro-arguments: macro `F` takes 2 arguments but is given 3",
            "2:15 macro-arguments: macro `F` takes 2 arguments but is given 1",
            "4:1 macro-arguments: macro `Z` takes 0 arguments but is given 1",
        ]
    );
    assert_eq!(
        messages("#define F(a) a\nx F(1\ny"),
        ["2:3 macro-arguments: the call of macro `F` has no `)`"]
    );
    let run = Run::new(&Options::default(), "#define F(a) a\n#include \"a.h\"\n)", &[("dir/a.h", "F(1")]);
    assert_eq!(run.messages(), ["1:1 macro-arguments: the call of macro `F` has no `)`"]);
}

#[test]
fn variadic_macros_before_3() {
    let run = Run::new(&Options::default(), "#define F(...) __VA_ARGS__\nF(1,2)", &[]);
    assert_eq!(run.messages(), ["1:11 variadic-macro: variadic macros are not part of OpenCL C before 3.0"]);
    assert_eq!(run.text(), "1 , 2");
}

#[test]
fn wrong_directives_are_reported() {
    assert_eq!(
        messages(
            "#inclde \"a\"\n#foo\n#\n#!\n#error  stop   \"here\" don't // c\n#warning w\n#undef A B\n#define A+1"
        ),
        [
            "1:1 directive: `#inclde` is not a directive",
            "2:1 directive: `#foo` is not a directive",
            "4:2 directive: the name of a directive must follow `#`",
            "5:1 user-error: stop   \"here\" don't // c",
            "6:1 user-warning: w",
            "7:10 extra-tokens: extra text after `#undef` is ignored",
            "8:10 macro-space: there is no space between `A` and its replacement",
        ]
    );
    let run = Run::new(&Options::default(), "#inclde \"a\"", &[]);
    assert_eq!(run.diagnostics[0].help, ["did you mean `#include`?"]);
}

#[test]
fn characters_and_literals() {
    assert_eq!(
        messages("a @ b\n'x\n\"y\n“z”\n/* no end"),
        [
            "1:3 unknown-character: the character `@` is not allowed here",
            "2:1 unterminated-literal: the closing `'` is missing on this line",
            "3:1 unterminated-literal: the closing `\"` is missing on this line",
            "4:1 unknown-character: the character `“` is not allowed here",
            "5:1 unterminated-comment: this comment has no end",
        ]
    );
    let run = Run::new(&Options::default(), b"/* \xFC */ \"\xFC\" \xFC\n\xC3\xA9t\xC3\xA9".to_vec(), &[]);
    assert_eq!(
        run.messages(),
        [
            "1:9 not-utf8: this literal has bytes that are not UTF-8, which are lost",
            "1:13 unknown-character: this byte is not UTF-8",
        ]
    );
}

/// One error, not one for each byte.
#[test]
fn sources_in_other_encodings() {
    let one = |bytes: &[u8]| Run::new(&Options::default(), bytes.to_vec(), &[]).messages();
    let bytes_of =
        |text: &str, encode: fn(char) -> Vec<u8>| text.chars().flat_map(encode).collect::<Vec<u8>>();
    let narrow = |c: char| (c as u32 as u16).to_le_bytes().to_vec();
    let wide = |c: char| (c as u32).to_be_bytes().to_vec();
    for (name, encode) in [("UTF-16", narrow as fn(char) -> Vec<u8>), ("UTF-32", wide)] {
        for text in ["int a;", "\u{FEFF}int a;"] {
            let messages = one(&bytes_of(text, encode));
            let expected = format!("1:1 unknown-character: `dir/main.cl` is encoded in {name}");
            assert_eq!(messages, [expected]);
        }
    }
}

#[test]
fn wrong_pragmas_are_reported() {
    assert_eq!(
        messages(
            "#pragma OPENCL EXTENSION all : enable\n#pragma OPENCL EXTENSION cl_khr_none : enable\n\
             #pragma OPENCL EXTENSION cl_amd_nothing : enable\n#pragma OPENCL EXTENSION cl_khr_none : disable\n\
             #pragma OPENCL EXTENSION cl_khr_fp64 enable\n#pragma OPENCL FP_CONTRACT maybe\n#pragma vendor x\n\
             #pragma\n_Pragma(1)\n#pragma OPENCL EXTENSION all : disable\n#pragma OPENCL SELECT_ROUNDING_MODE rtz"
        ),
        [
            "1:1 unsupported-extension: extensions cannot be enabled all at once",
            "2:1 unsupported-extension: extension `cl_khr_none` is not supported",
            "3:1 extension-pragma: extension `cl_amd_nothing` is not supported",
            "4:1 extension-pragma: extension `cl_khr_none` is not supported",
            "5:1 extension-pragma: `:` must follow the name of the extension",
            "6:1 extension-pragma: `ON`, `OFF` or `DEFAULT` must follow `FP_CONTRACT`",
            "7:1 unknown-pragmas: the pragma `vendor` is unknown and has no effect",
            "9:1 directive: a string in parentheses must follow `_Pragma`",
            "11:1 extension-pragma: `SELECT_ROUNDING_MODE` needs `cl_khr_select_fprounding_mode`, which is not supported",
        ]
    );
}
