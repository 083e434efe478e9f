//! Macro expansion: C99 6.10.3 with the examples of 6.10.3.5, and constructs of real kernels.

use super::*;

#[test]
fn objects_and_functions() {
    assert_eq!(pp("#define N 4\nN N2 (N)"), "4 N2 ( 4 )");
    assert_eq!(
        pp("#define F(x, y) [x|y]\nF(1, 2) F (a b, (c, d)) F(,) F"),
        "[ 1 | 2 ] [ a b | ( c , d ) ] [ | ] F"
    );
    assert_eq!(pp("#define NONE() 7\nNONE() NONE ( ) NONE"), "7 7 NONE");
    assert_eq!(pp("#define F(x) <x>\nF\n(\n1\n)\nF"), "< 1 > F");
    assert_eq!(pp("#define EMPTY\n#define F(x) EMPTY x EMPTY\nF(EMPTY) EMPTY F(1)"), "1");
    assert_eq!(pp("#define G (1)\n#define F(x) x\nF G F(G)"), "F ( 1 ) ( 1 )");
}

/// C99 6.10.3.5, example 3.
#[test]
fn expansions_are_rescanned() {
    let text = "#define x 3\n#define f(a) f(x * (a))\n#undef x\n#define x 2\n#define g f\n#define z z[0]\n\
        #define h g(~\n#define m(a) a(w)\n#define w 0,1\n#define t(a) a\n#define p() int\n#define q(x) x\n\
        #define r(x,y) x ## y\n#define str(x) # x\n\
        f(y+1) + f(f(z)) % t(t(g)(0) + t)(1);\ng(x+(3,4)-w) | h 5) & m\n(f)^m(m);\n\
        p() i[q()] = { q(1), r(2,3), r(4,), r(,5), r(,) };\nchar c[2][6] = { str(hello), str() };";
    assert_eq!(
        pp(text),
        "f ( 2 * ( y + 1 ) ) + f ( 2 * ( f ( 2 * ( z [ 0 ] ) ) ) ) % f ( 2 * ( 0 ) ) + t ( 1 ) ; \
         f ( 2 * ( 2 + ( 3 , 4 ) - 0 , 1 ) ) | f ( 2 * ( ~ 5 ) ) & f ( 2 * ( 0 , 1 ) ) ^ m ( 0 , 1 ) ; \
         int i [ ] = { 1 , 23 , 4 , 5 , } ; char c [ 2 ] [ 6 ] = { \"hello\" , \"\" } ;"
    );
}

/// C99 6.10.3.5, example 4.
#[test]
fn strings_and_pasted_names() {
    let text = "#define str(s) # s\n#define xstr(s) str(s)\n#define INCFILE(n) vers ## n\n#define glue(a, b) a ## b\n\
        #define xglue(a, b) glue(a, b)\n#define HIGHLOW \"hello\"\n#define LOW LOW \", world\"\n\
        str(strncmp(\"abc\\0d\", \"abc\", '\\4') // gone\n == 0) str(: @\\n)\nxstr(INCFILE(2).h)\n\
        glue(HIGH, LOW); xglue(HIGH, LOW)";
    assert_eq!(
        pp(text),
        "\"strncmp(\\\"abc\\\\0d\\\", \\\"abc\\\", '\\\\4') == 0\" \": @\\n\" \"vers2.h\" \"hello\" ; \"hello\" \", world\""
    );
}

/// C99 6.10.3.5, examples 5 and 7; 6.10.3.3, example.
#[test]
fn empty_operands_and_variable_arguments() {
    let text = "#define t(x,y,z) x ## y ## z\nint j[] = { t(1,2,3), t(,4,5), t(6,,7), t(8,9,), t(10,,), t(,11,), t(,,12), t(,,) };";
    assert_eq!(pp(text), "int j [ ] = { 123 , 45 , 67 , 89 , 10 , 11 , 12 , } ;");
    // The operand of `__VA_OPT__` is expanded once.
    assert_eq!(pp("#define F(...) __VA_OPT__(a) __VA_ARGS__\nF(__COUNTER__) __COUNTER__"), "a 0 1");
    let text = "#define debug(...) fprintf(stderr, __VA_ARGS__)\n#define showlist(...) puts(#__VA_ARGS__)\n\
        #define report(test, ...) ((test)?puts(#test): printf(__VA_ARGS__))\n\
        debug(\"Flag\"); debug(\"X = %d\\n\", x); showlist(The first, second, and third items.); report(x>y, \"x is %d but y is %d\", x, y);";
    assert_eq!(
        pp(text),
        "fprintf ( stderr , \"Flag\" ) ; fprintf ( stderr , \"X = %d\\n\" , x ) ; \
         puts ( \"The first, second, and third items.\" ) ; \
         ( ( x > y ) ? puts ( \"x>y\" ) : printf ( \"x is %d but y is %d\" , x , y ) ) ;"
    );
    let text = "#define hash_hash # ## #\n#define mkstr(a) # a\n#define in_between(a) mkstr(a)\n\
        #define join(c, d) in_between(c hash_hash d)\nchar p[] = join(x, y);";
    assert_eq!(pp(text), "char p [ ] = \"x ## y\" ;");
}

#[test]
fn comma_before_empty_variadic_arguments() {
    let text = "#define P(f, ...) printf(f, ##__VA_ARGS__)\n#define Q(f, a...) printf(f, ##a)\n#define A B\n#define B 1\n";
    assert_eq!(pp(&format!("{text}P(x) P(x,) P(x,1,A)")), "printf ( x ) printf ( x ) printf ( x , 1 , 1 )");
    assert_eq!(
        pp(&format!("{text}Q(x) Q(x, 1, 2) Q(x, A)")),
        "printf ( x ) printf ( x , 1 , 2 ) printf ( x , 1 )"
    );
}

#[test]
fn hide_sets_prevent_recursion() {
    assert_eq!(pp("#define f(a) a*g\n#define g(a) f(a)\nf(2)(9)"), "2 * 9 * g");
    assert_eq!(pp("#define a b\n#define b a\na b"), "a b");
    assert_eq!(pp("#define NIL(x) x\n#define G0(a) NIL(G1)(a)\n#define G1(a) NIL(a)\nG0(42)"), "42");
    assert_eq!(pp("#define foo foo a bar\n#define bar foo 12\nfoo"), "foo a foo 12");
    assert_eq!(pp("#define f(x) x f\nf(1)(2)(3)"), "1 f ( 2 ) ( 3 )");
    assert_eq!(
        pp("#define E\n#define DEFER(x) x E\n#define A() 1\n#define EX(x) x\nDEFER(A)() EX(DEFER(A)())"),
        "A ( ) 1"
    );
    assert_eq!(pp("#define AA BB\n#define BB AA\n#define f(x) x\nf(AA) f(f)(BB)"), "AA f ( BB )");
}

#[test]
fn tokens_are_pasted() {
    assert_eq!(
        pp("#define C(a,b) a##b\nC(x,1) C(0x,1F) C(.,5) C(<,<=) C(L,'a') C(L,\"s\") C(%:,%:)"),
        "x1 0x1F .5 <<= L'a' L\"s\" ##"
    );
    assert_eq!(pp("#define C(a,b) a##b\n#define AB 1\n#define X A\nC(A,B) C(X,B) C(a b,c d)"), "1 XB a bc d");
    assert_eq!(
        pp("#define V(n) vload##n\n#define T(t,n) t##n\nV(4) T(float, 4) T(con,st)"),
        "vload4 float4 const"
    );
    assert_eq!(pp("#define O a ## b\n#define P(x) O ## x\nO P(1)"), "ab O1");
    assert_eq!(
        messages("#define C(a,b) a##b\nC(1,+) C(/,/) C(\",\")"),
        [
            "2:1 macro-paste: `1+`, made by `##`, is not a single token",
            "2:8 macro-paste: `//`, made by `##`, is not a single token",
            "2:15 macro-arguments: macro `C` takes 2 arguments but is given 1",
        ]
    );
}

#[test]
fn arguments_are_stringized() {
    assert_eq!(
        pp("#define S(x) #x\nS(  a  +\n\tb /* c */ c  ) S() S(\"\\\\\") S('\"') S(<: %:)"),
        "\"a + b c\" \"\" \"\\\"\\\\\\\\\\\"\" \"'\\\"'\" \"<: %:\""
    );
    assert_eq!(pp("#define S(x) #x\n#define N 4\n#define X(x) S(x)\nS(N) X(N) X(-N)"), "\"N\" \"4\" \"-4\"");
    assert_eq!(pp("#define S(...) #__VA_ARGS__\nS(a,b, c)"), "\"a,b, c\"");
    assert_eq!(pp("#define H # x\nH"), "# x");
}

#[test]
fn directives_between_arguments() {
    let text = "#define F(x) [x]\nF(\n#if 1\na\n#else\nb\n#endif\n) F(\n#define a 2\na)\n#undef a\na";
    assert_eq!(pp(text), "[ a ] [ 2 ] a");
}

#[test]
fn splices_digraphs_and_trigraphs() {
    assert_eq!(pp("#def\\\nine LONG_\\\nNAME 1 \\\n + 2\nLONG_NAME\nx"), "1 + 2 x");
    assert_eq!(pp("%:define A 1\nA <: :> <% %>"), "1 [ ] { }");
    assert_eq!(pp("??=define A ??(1??)\nA ??/\nB \"??/n\""), "[ 1 ] B \"\\n\"");
    assert_eq!(pp("// comment \\\nstill\nx"), "x");
}

#[test]
fn pragmas_are_tokens() {
    assert_eq!(
        pp(
            "a\n#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n  #  pragma unroll N\n#define N 8\n#pragma unroll (N)\nb"
        ),
        "a #pragma OPENCL EXTENSION cl_khr_fp64 : enable #pragma unroll N #pragma unroll (8) b"
    );
    assert_eq!(
        pp("#define DO(x) _Pragma(#x) for\nDO(unroll 4) _Pragma(\"OPENCL   FP_CONTRACT OFF\") x"),
        "#pragma unroll 4 for #pragma OPENCL FP_CONTRACT OFF x"
    );
}

#[test]
fn spans_of_expanded_tokens() {
    let options = Options { std: LanguageVersion::Cl30, ..Options::default() };
    let text = "#define INNER(q) q + bad\n#define OUTER(p) INNER(p)\nint x = OUTER(1 + y);";
    let run = Run::new(&options, text, &[]);
    let find = |name: &str| {
        let symbol = run.interner.get(name);
        let token = run.result.tokens.iter().find(|token| Some(token.kind) == symbol.map(TokenKind::Name));
        token.expect("a token").span
    };
    let shown = |span| run.map.text(&run.map.resolve(span).expect("a location")).to_owned();
    assert_eq!(shown(find("y")), "y");
    assert_eq!(shown(find("bad")), "OUTER(1 + y)");
    let trail = |span| -> Vec<String> {
        let steps = run.map.macro_trail(span);
        let text = |step: &kiln_session::source::MacroStep| {
            format!("{} {}", run.interner.text(step.name), run.map.text(&step.definition))
        };
        steps.iter().map(text).collect()
    };
    assert_eq!(trail(find("bad")), ["INNER bad", "OUTER INNER(p)"]);
    assert_eq!(trail(find("y")), ["INNER y", "OUTER y"]);
    assert_eq!(run.map.macro_name(find("bad").lo), run.interner.get("INNER"));
}

#[test]
fn printed_text_round_trips() {
    let text = "#define A -1\n#define EMPTY\n#define P(x) x##1\nint a = -A;\n  x = y+P(z) EMPTY+ +2;\n#pragma unroll\n__kernel void f();\n";
    let options = Options { std: LanguageVersion::Cl30, ..Options::default() };
    let run = Run::new(&options, text, &[]);
    let printed = print(&run.result.tokens, &run.map, &run.interner, LineMarkers::Print);
    assert!(printed.contains("\n  x = y+z1 + +2;\n#pragma unroll\n__kernel void f();\n"), "{printed}");
    assert!(printed.starts_with("# 4 \"dir/main.cl\"\nint a = - -1;\n"), "{printed}");
    let again = Run::new(&options, printed, &[]);
    assert_eq!(again.messages(), Vec::<String>::new());
    assert_eq!(again.text(), run.text());
}

#[test]
fn printed_functions_of_gnu_c_keep_their_names() {
    let text = "#define F __builtin_isnan\nF(F(x)) __builtin_printf (\"\", y) __builtin_inff() NAN\n";
    let (mut map, mut interner, mut sink) = (SourceMap::default(), Interner::new(), Sink::default());
    let source = Source { name: "a.cl".into(), text: text.into() };
    let options = Options::default();
    let printed =
        preprocess_to_print(&options, source, &kiln_session::NoFiles, &mut map, &mut interner, &mut sink);
    assert_eq!(
        print(&printed.tokens, &map, &interner, LineMarkers::Omit).trim(),
        "__builtin_isnan(__builtin_isnan(x)) __builtin_printf (\"\", y) __builtin_inff() \
         (__builtin_astype(0x7fc00000, float))"
    );
}

#[test]
fn printed_tokens_stay_separate() {
    let options = Options { std: LanguageVersion::Cl30, ..Options::default() };
    let text = "#define M(x) x\n#define E 0xE\n#define H #\n(1)__LINE__.w\nH 1 E+1 M(+)+ M(a)M(b) M(-)-1 M(.)5 M(<):\n";
    let run = Run::new(&options, text, &[]);
    let printed = print(&run.result.tokens, &run.map, &run.interner, LineMarkers::Omit);
    assert_eq!(Run::new(&options, printed.clone(), &[]).text(), run.text(), "{printed}");
    let run = Run::new(&options, "#define SQ(x) ((x)*(x) + y)\nint a = SQ(b)*SQ(1 - c);", &[]);
    let printed = print(&run.result.tokens, &run.map, &run.interner, LineMarkers::Omit);
    assert_eq!(printed.trim(), "int a = ((b)*(b) + y)*((1 - c)*(1 - c) + y);");
}
