//! The parsed constructs, printed with all groupings in parentheses.

use crate::support::read;

/// Prints a valid source.
fn printed(text: &str) -> String {
    let (parsed, printed, _) = read(text);
    assert_eq!(parsed.errors, [], "{text}");
    let (again, same, _) = read(&printed);
    assert_eq!(again.errors, [], "{printed}");
    assert_eq!(printed, same, "printing is a fixed point");
    printed
}

/// Checks that the text prints as itself.
#[track_caller]
fn same(text: &str) {
    assert_eq!(printed(text).trim_end(), text);
}

/// Prints the statements of a function on one line.
fn body(text: &str) -> String {
    let printed = printed(&format!("void f(int a, int b, int c) {{ {text} }}"));
    let inside = printed.trim_end().strip_prefix("void f(int a, int b, int c)\n{").unwrap();
    let inside = inside.strip_suffix('}').unwrap();
    inside.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn operators_group_by_precedence() {
    for (text, grouped) in [
        ("a = b + c * a - b;", "a = (b + (c * a)) - b;"),
        ("a = a << b + c & a;", "a = (a << (b + c)) & a;"),
        ("a = a | b ^ c & a == b < c;", "a = a | (b ^ (c & (a == (b < c))));"),
        ("a = a || b && c || a;", "a = (a || (b && c)) || a;"),
        ("a = b = c += a;", "a = (b = (c += a));"),
        ("a = b ? c : a ? b : c;", "a = b ? c : (a ? b : c);"),
        ("a = b ? c, a : b;", "a = b ? (c, a) : b;"),
        ("a = -b * !c + ~a;", "a = ((-b) * (!c)) + (~a);"),
        ("a = b ?: c;", "a = b ?: c;"),
        ("a = b, b = c;", "(a = b), (b = c);"),
        ("*a++ = -b[c].x->y(1)--;", "(*a++) = -b[c].x->y(1)--;"),
        (
            "a = sizeof b + sizeof(int) * sizeof (a) - sizeof -b;",
            "a = ((sizeof b) + (sizeof(int) * (sizeof (a)))) - (sizeof (-b));",
        ),
        ("a = (int) -b - (c) - a;", "a = (((int)(-b)) - (c)) - a;"),
        ("a = (b) + (int) + c;", "a = (b) + ((int)(+c));"),
        ("a = vec_step(float4) + vec_step(a);", "a = vec_step(float4) + (vec_step (a));"),
        ("a = b ^^ c;", "a = b ^^ c;"),
    ] {
        assert_eq!(body(text), grouped);
    }
}

#[test]
fn vector_literals_are_primary() {
    for (text, grouped) in [
        ("x = (float4)(a, b, c, a).xy;", "x = ((float4)(a, b, c, a)).xy;"),
        ("x = -(float4)(1.0f).x;", "x = -((float4)(1.0f)).x;"),
        ("x = (const private int2)(a, b).yx.x++;", "x = ((const private int2)(a, b)).yx.x++;"),
        ("x = (int2)(a, b)[0];", "x = ((int2)(a, b))[0];"),
        ("x = (float4)(int4)(a, b, c, a).xyzw;", "x = (float4)(((int4)(a, b, c, a)).xyzw);"),
        ("x = (int)(v).x;", "x = (int)((v).x);"),
        ("x = (float4)v.xyzw;", "x = (float4)(v.xyzw);"),
        ("x = (float4)-(v).xyzw;", "x = (float4)(-(v).xyzw);"),
        ("x = (float4)(g)(a);", "x = (float4)((g)(a));"),
        ("x = (float4 *)(v).x;", "x = (float4 *)((v).x);"),
        ("typedef int2 P; x = (P)(a, b).x;", "typedef int2 P; x = ((P)(a, b)).x;"),
        ("typedef int2 *P; x = (P)(v).x;", "typedef int2 *P; x = (P)((v).x);"),
        ("typedef struct S int2; x = (int2)(v).x;", "typedef struct S int2; x = (int2)((v).x);"),
        (
            "typedef float V __attribute__((ext_vector_type(4))); x = (V)(a, b, c, a).x;",
            "typedef float V __attribute__((ext_vector_type(4))); x = ((V)(a, b, c, a)).x;",
        ),
    ] {
        assert_eq!(body(text), grouped);
    }
}

#[test]
fn scopes_distinguish_types_and_values() {
    same("typedef int T;\nvoid f(int T)\n{\n    T = 1;\n}\nT x;");
    same("typedef int T;\nvoid f(T T)\n{\n    T * T;\n}\nT *x;");
    same("typedef int T;\nvoid f(void)\n{\n    T *x;\n    T T = sizeof (T);\n}");
    for (text, understood) in [
        (
            "typedef int T; T (x), *y; (T)(a); { int T; (T)(a); T * a; } T * z;",
            "typedef int T; T x, *y; (T)(a); { int T; (T)(a); T * a; } T *z;",
        ),
        (
            "typedef int T; T: for (T T = 0; T < a; T++) T * a; T x; goto T;",
            "typedef int T; T: for (T T = 0; T < a; T++) T * a; T x; goto T;",
        ),
        ("typedef int T; enum { T, U = T }; a = T * U;", "typedef int T; enum { T, U = T }; a = T * U;"),
        (
            "typedef int T; struct { T T; int U; } s; T x; s.T = s.U;",
            "typedef int T; struct { T T; int U; } s; T x; s.T = s.U;",
        ),
        (
            "typedef int T; struct T { int x; }; struct T t = { .x = 1 }; T y;",
            "typedef int T; struct T { int x; }; struct T t = { .x = 1 }; T y;",
        ),
        (
            "typedef int T; int g(int (T), int T); int h(T (*)(T), T(T)); T x;",
            "typedef int T; int g(int (T), int T); int h(T (*)(T), T (T)); T x;",
        ),
        (
            "typedef int T; int g(int T, int (*p)[T * a]); T x;",
            "typedef int T; int g(int T, int (*p)[T * a]); T x;",
        ),
        (
            "typedef int T; void (^k)(int) = ^(int T) { T * a; }; T x;",
            "typedef int T; void (^k)(int) = ^(int T) { T * a; }; T x;",
        ),
        ("typedef int T; unsigned T; T * a;", "typedef int T; unsigned T; T * a;"),
        (
            "typedef int T; const T x; T const volatile y; a = (const T)b;",
            "typedef int T; const T x; const volatile T y; a = (const T)b;",
        ),
        (
            "int uint = 1, float4 = uint; a = uint * float4;",
            "int uint = 1, float4 = uint; a = uint * float4;",
        ),
        ("typedef unsigned int uint; uint x;", "typedef unsigned int uint; uint x;"),
        ("typedef int T, *U, V[sizeof(T)]; U x; V y;", "typedef int T, *U, V[sizeof(T)]; U x; V y;"),
        (
            "typedef int T; int x = sizeof(T), T = sizeof(T), y = T;",
            "typedef int T; int x = sizeof(T), T = sizeof (T), y = T;",
        ),
    ] {
        assert_eq!(body(text), understood);
    }
}

#[test]
fn declarators_are_parsed() {
    for (text, understood) in [
        ("int *a[3], (*b)[3], *(*c)(int), (*d[2])(void);", "int *a[3], (*b)[3], *(*c)(int), (*d[2])(void);"),
        (
            "int f(int [], int [*], int [static 3], int a[const restrict 5]);",
            "int f(int [], int [*], int [static 3], int a[const restrict 5]);",
        ),
        ("int *const *volatile restrict p;", "int *const *volatile restrict p;"),
        ("int (((x)));", "int x;"),
        ("int f(int (x), int (*)(int), int (int), ...);", "int f(int x, int (*)(int), int (int), ...);"),
        ("void (^const k[2])(local void *, ...);", "void (^const k[2])(local void *, ...);"),
        ("int f(), g(void);", "int f(void), g(void);"),
        (
            "int __attribute__((a)) *__attribute__((b)) const x __attribute__((c(1, float4, \"s\"))), y;",
            "__attribute__((a)) int *const __attribute__((b)) x __attribute__((c(1, float4, \"s\"))), y;",
        ),
        (
            "kernel void f(read_only pipe int p, write_only image2d_t i, constant uchar *c);",
            "kernel void f(read_only pipe int p, write_only image2d_t i, constant uchar *c);",
        ),
        (
            "static inline long unsigned int const extern x;",
            "static extern inline const long unsigned int x;",
        ),
        (
            "struct __attribute__((packed)) S { int a : 3, : 2, *b; union { int c; }; ; } __attribute__((aligned(4))) const s;",
            "const struct __attribute__((packed, aligned(4))) S { int a : 3,  : 2, *b; union { int c; }; } s;",
        ),
        (
            "enum E { A, B = 2, } e; enum { C } __attribute__((x)); enum E f;",
            "enum E { A, B = 2 } e;\nenum __attribute__((x)) { C };\nenum E f;",
        ),
        (
            "_Atomic(int) x; _Atomic int y; typeof(x) z; typeof(int *) w;",
            "_Atomic(int) x;\n_Atomic int y;\n__typeof__(x) z;\n__typeof__(int *) w;",
        ),
        ("int x asm(\"y\") __attribute__((z)); asm(\"nop\"); ;", "int x __attribute__((z));\n__asm__();\n;"),
        (
            "int a, __attribute__((x)) *b __attribute__((y)) = 0, __attribute__((z)) c;",
            "int a, *b __attribute__((x, y)) = 0, c __attribute__((z));",
        ),
        (
            "_Static_assert(1, \"one\" \"two\"); _Static_assert(1 + 1);",
            "_Static_assert(1, \"one\" \"two\");\n_Static_assert((1 + 1));",
        ),
        (
            "__extension__ typedef struct { int a[2]; } S; S s = { .a[1] = 2, { 3 }, }, t = {}, u = { a: { [0 ... 1] = 1 } };",
            "typedef struct { int a[2]; } S;\nS s = { .a[1] = 2, { 3 } }, t = { }, u = { .a = { [0 ... 1] = 1 } };",
        ),
    ] {
        assert_eq!(printed(text).trim_end(), understood);
    }
}

#[test]
fn functions_and_their_attributes() {
    for text in [
        "__attribute__((a)) kernel void f(void)\n{\n}",
        "kernel __attribute__((a)) void f(void)\n{\n}",
        "kernel void __attribute__((a)) f(void)\n{\n}",
        "void kernel __attribute__((a, b(1))) f(void)\n{\n}",
    ] {
        let attribute = if text.contains("b(1)") { "a, b(1)" } else { "a" };
        assert_eq!(printed(text), format!("kernel __attribute__(({attribute})) void f(void)\n{{\n}}\n"));
    }
    same("kernel void f(global int *p __attribute__((a))) __attribute__((b))\n{\n}");
    same("int f(a, b)\n    int a;\n    float *b;\n{\n    return a;\n}");
    same("void f(void)\n{\n    void g(int x)\n    {\n        x;\n    }\n    g(1);\n}");
    same("int (*f(int x))(float)\n{\n    return x;\n}");
}

#[test]
fn statements_are_parsed() {
    for (text, understood) in [
        ("if (a) if (b) a; else b; else c;", "if (a) if (b) a; else b; else c;"),
        ("if (a) while (b) if (c) a; else b;", "if (a) while (b) if (c) a; else b;"),
        ("do if (a) b; while (c);", "do if (a) b; while (c);"),
        (
            "for (;;) for (a = 1, b = 2; a < b; a++, b--) ;",
            "for (;;) for ((a = 1), (b = 2); a < b; a++, b--) ;",
        ),
        (
            "switch (a) { case 1: case 2 ... 3: b; default: l: c; }",
            "switch (a) { case 1: case 2 ... 3: b; default: l: c; }",
        ),
        (
            "__attribute__((opencl_unroll_hint(2))) for (;;) break;",
            "__attribute__((opencl_unroll_hint(2))) for (;;) break;",
        ),
        (
            "if (a) __attribute__((x)) while (b) continue; else return;",
            "if (a) __attribute__((x)) while (b) continue; else return;",
        ),
        (
            "l: __attribute__((x)); __attribute__((y)) int z;",
            "l: __attribute__((x)) ; __attribute__((y)) int z;",
        ),
        ("asm volatile(\"nop\" : \"=r\"(a) : : \"memory\"); a;", "__asm__(); a;"),
        ("a = ({ int x = b; x; }) + c;", "a = ({ int x = b; x; }) + c;"),
        (
            "a = (int[]){ 1, 2 }[b] + (struct S){ .x = 1 }.x;",
            "a = (int[]){ 1, 2 }[b] + (struct S){ .x = 1 }.x;",
        ),
        (
            "a = ^{ return 1; }() + ^int *(int x) { return &x; }(b)[0];",
            "a = ^{ return 1; }() + ^int *(int x) { return &x; }(b)[0];",
        ),
        ("return __builtin_astype(a, float);", "return __builtin_astype(a, float);"),
    ] {
        assert_eq!(body(text), understood.replace("(int[])", "(int [])"));
    }
}

#[test]
fn pragmas_move_to_the_next_item() {
    same("#pragma first\nvoid f(int a)\n{\n    #pragma second\n    a;\n    #pragma third\n}\n#pragma last");
    for (text, understood) in [
        ("for (;;)\n#pragma unroll\nfor (;;) ;\na;", "for (;;) for (;;) ; #pragma unroll a;"),
        ("if (a) { }\n#pragma x\nelse { }\nb;", "if (a) { } else { #pragma x } b;"),
        ("int x[] = {\n#pragma x\n1 };\n*a;", "int x[] = { 1 }; #pragma x *a;"),
        ("for (a;\n#pragma x\nb; c) { }\n++a;", "for (a; b; c) { #pragma x } ++a;"),
    ] {
        assert_eq!(body(text), understood);
    }
    assert_eq!(printed("struct S {\n#pragma x\nint a;\n#pragma y\n};"), "struct S { int a; };\n");
}

#[test]
fn spans_cover_their_construct() {
    let text = "int x = (float4)(1, 2).xy + a;";
    let (parsed, ..) = read(text);
    let kiln_syntax::ast::Item::Declaration(declaration) = &parsed.unit.items[0] else { panic!() };
    let kiln_syntax::ast::Initializer::Expr(sum) = declaration.declarators[0].init.as_ref().unwrap() else {
        panic!()
    };
    let kiln_syntax::ast::ExprKind::Binary(operation) = &sum.kind else { panic!() };
    let kiln_syntax::ast::ExprKind::Member(member) = &operation.left.kind else { panic!() };
    let text_at = |span: kiln_syntax::Span| &text[span.lo as usize..span.hi as usize];
    assert_eq!(text_at(declaration.span), text);
    assert_eq!(text_at(sum.span), "(float4)(1, 2).xy + a");
    assert_eq!(text_at(operation.left.span), "(float4)(1, 2).xy");
    assert_eq!(text_at(member.base.span), "(float4)(1, 2)");
    assert_eq!(text_at(declaration.declarators[0].declarator.span), "x");
}
