//! Conditional groups and their expressions (C99 6.10.1).

use super::*;

fn holds(expression: &str) -> bool {
    match pp(&format!("#if {expression}\nyes\n#else\nno\n#endif")).as_str() {
        "yes" => true,
        "no" => false,
        other => panic!("{expression}: {other}"),
    }
}

#[test]
fn conditions_are_evaluated() {
    for expression in [
        "1 + 2 * 3 == 7",
        "(1 + 2) * 3 == 9",
        "-1 < 0",
        "-1 > 0u",
        "-1 >> 1 == -1",
        "1 << 63 < 0",
        "1u << 63 > 0",
        "0x7fffffffffffffff + 1 < 0",
        "18446744073709551615u == -1",
        "7 % -4 == 3",
        "-7 / 2 == -3",
        "~0 == -1 && !0 && !!5",
        "'A' == 65 && '\\n' == 10",
        "1 ? 2 : 0",
        "(0 ? -1 : 0u) == 0 && (1 ? -1 : 0u) > 0",
        "1 ? 0, 3 : 0",
        "0 || 0 || 1",
        "5 & 3 ^ 8 | 16",
        "1 == 1 != 0",
        "undefined_name == 0",
        "true && !false",
        "for == 0",
        "-(-(-1)) == -1",
        "0b101 == 5 && 010 == 8 && 10ULL == 10",
    ] {
        assert!(holds(expression), "{expression}");
    }
}

#[test]
fn unevaluated_operands_may_be_invalid() {
    for expression in ["0 && 1 / 0", "1 || 1 % 0", "1 ? 1 : 1 / 0", "0 ? 1 / 0 : 1", "0 && (1 || 1 / 0) || 1"]
    {
        holds(expression);
    }
    assert_eq!(messages("#if 1 / 0\n#endif"), ["1:7 conditional: a conditional divides by zero"]);
    assert_eq!(messages("#if 0 || 2 % 0\n#endif"), ["1:12 conditional: a conditional divides by zero"]);
}

#[test]
fn defined_is_an_operator() {
    let text = "#define A\n#define HAS defined(A)\n#define NOT !defined B\n#define F(x) x\n";
    for expression in
        ["defined A", "defined(A)", "!defined B", "HAS", "NOT", "F(defined A)", "defined(__FILE__)"]
    {
        assert_eq!(pp(&format!("{text}#if {expression}\n1\n#endif")), "1", "{expression}");
    }
    for expression in ["defined", "defined(", "defined(A", "defined 1", "defined()"] {
        assert_eq!(messages(&format!("{text}#if {expression}\n#endif")).len(), 1, "{expression}");
    }
}

#[test]
fn queries_of_clang_are_answered() {
    assert!(holds("__has_extension(cl_khr_fp64) && !__has_builtin(__builtin_nothing)"));
    assert!(holds("__has_builtin(__builtin_shufflevector) && __has_builtin(__builtin_popcount)"));
    assert!(holds("__has_builtin(__builtin_fabsf) && __has_builtin(fabs)"));
    assert!(holds("defined __has_builtin && defined(__has_attribute)"));
    assert_eq!(
        messages("#if __has_builtin\n#endif\n#if unknown(1)\n#endif"),
        [
            "1:5 conditional: a name in parentheses must follow `__has_builtin`",
            "3:5 conditional: there is no macro `unknown` that takes arguments",
        ]
    );
}

#[test]
fn one_group_of_several() {
    let chain = |a: u8| {
        pp(&format!(
            "#define A {a}\n#if A == 1\none\n#elif A == 2\ntwo\n#elif A == 3\nthree\n#else\nother\n#endif"
        ))
    };
    assert_eq!([chain(1), chain(2), chain(3), chain(4)], ["one", "two", "three", "other"]);
    assert_eq!(pp("#if 0\n#if 1\n#else\n#endif\na\n#elif 1\nb\n#elif 1/0\nc\n#else\nd\n#endif"), "b");
    assert_eq!(pp("#ifdef X\na\n#else\n#ifndef X\nb\n#endif\n#endif\n#ifdef __LINE__\nc\n#endif"), "b c");
    assert_eq!(pp("#if 0\ndon't \"look # at\n@ this\n#nonsense\n#include nothing\n#else\nx\n#endif"), "x");
}

#[test]
fn wrong_conditionals_are_reported() {
    assert_eq!(
        messages("x\n#ifdef A\ny\n#if 1\n#endif\n"),
        ["2:1 conditional: this conditional has no `#endif`"]
    );
    assert_eq!(
        messages("#endif\n#else\n#elif 1\n"),
        [
            "1:1 conditional: this `#endif` has no matching `#if`",
            "2:1 conditional: this `#else` has no matching `#if`",
            "3:1 conditional: this `#elif` has no matching `#if`",
        ]
    );
    assert_eq!(
        messages("#if 1\n#else\n#else\n#elif 1\n#endif\n#if 0\n#else\n#else\n#endif"),
        [
            "3:1 conditional: `#else` cannot follow `#else`",
            "4:1 conditional: `#elif` cannot follow `#else`",
            "8:1 conditional: `#else` cannot follow `#else`",
        ]
    );
    assert_eq!(messages("#if\n#endif"), ["1:1 conditional: this conditional has no expression"]);
    assert_eq!(
        messages("#if 1 +\n#endif"),
        ["1:7 conditional: an operand is missing at the end of a conditional"]
    );
    assert_eq!(messages("#if 1 2\n#endif"), ["1:7 conditional: `2` is not allowed in a conditional"]);
    assert_eq!(messages("#if (1\n#endif"), ["1:5 conditional: this `(` has no `)`"]);
    assert_eq!(messages("#if \"a\"\n#endif"), ["1:5 conditional: `\"a\"` is not allowed in a conditional"]);
    assert_eq!(messages("#if 1.0\n#endif"), ["1:5 conditional: a conditional needs an integer, not `1.0`"]);
    assert_eq!(messages("#if 0\n#endif x"), ["2:8 extra-tokens: extra text after `#endif` is ignored"]);
}
