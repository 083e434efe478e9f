//! Files, options and predefined macros.

use super::*;
use kiln_session::MathOptions;
use kiln_vocabulary::{opencl::Environment, target::Target};

fn cl30() -> Options {
    Options { std: LanguageVersion::Cl30, ..Options::default() }
}

#[test]
fn includes_are_searched_in_order() {
    let options = Options { include_dirs: vec!["inc".into(), "lib/".into()], ..cl30() };
    let files = [
        ("dir/a.h", "own #include_is_no_directive_here"),
        ("inc/a.h", "inc_a"),
        ("lib/b.h", "#include \"c.h\"\n#include <c.h>"),
        ("lib/c.h", "lib_c"),
        ("inc/c.h", "inc_c"),
        ("/abs.h", "abs"),
    ];
    let text = |source: &str| {
        let run = Run::new(&options, source, &files);
        assert_eq!(run.messages(), Vec::<String>::new(), "{source}");
        run.text()
    };
    assert_eq!(text("#include <a.h>\nx"), "inc_a x");
    assert!(text("#include \"a.h\"").starts_with("own"));
    assert_eq!(text("#include \"b.h\" // comment"), "lib_c inc_c");
    assert_eq!(text("#include \"/abs.h\""), "abs");
    assert_eq!(
        text("#define NAME <a.h>\n#include NAME\n#define N2 \"b.h\"\n#include N2"),
        "inc_a lib_c inc_c"
    );
    assert_eq!(
        text("#if __has_include(<a.h>) && !__has_include(\"no.h\") && defined __has_include\n1\n#endif"),
        "1"
    );
}

#[test]
fn files_that_are_included_once() {
    let files = [
        ("dir/once.h", "#pragma once\no"),
        ("dir/guard.h", "#ifndef G\n#define G\ng\n#endif"),
        ("dir/twice.h", "t"),
    ];
    let source = "#include \"once.h\"\n#include \"./once.h\"\n#include \"sub/../once.h\"\n#include \"guard.h\"\n\
        #include \"guard.h\"\n#include \"twice.h\"\n#include \"twice.h\"";
    let files: Vec<_> =
        files.into_iter().chain([("dir/./once.h", "#pragma once\no"), ("dir/sub/../once.h", "no")]).collect();
    let run = Run::new(&cl30(), source, &files);
    assert_eq!(run.messages(), Vec::<String>::new());
    assert_eq!(run.text(), "o g t t");
    assert_eq!(run.result.dependencies, ["dir/once.h", "dir/guard.h", "dir/twice.h"]);
}

#[test]
fn repeated_includes_give_the_same_tokens() {
    let list = "ITEM(a,\n1)\n#ifdef MORE\nITEM(b, __LINE__)\n#endif\n";
    let source = "#define ITEM(x, y) x = y\n#include \"list.h\"\n#include \"list.h\"\n#define MORE\n#include \"list.h\"\nend";
    let run = Run::new(&cl30(), source, &[("dir/list.h", list)]);
    assert_eq!(run.messages(), Vec::<String>::new());
    assert_eq!(run.text(), "a = 1 a = 1 a = 1 b = 4 end");
}

#[test]
fn wrong_includes_are_reported() {
    let run = Run::new(
        &cl30(),
        "#include \"no.h\"\n#include <stdio.h>\n#include <stdint.h>\n#include x\n#include",
        &[],
    );
    assert_eq!(
        run.messages(),
        [
            "1:10 include: cannot find `no.h`",
            "2:10 include: `stdio.h` is not available in OpenCL C",
            "3:10 include: cannot find `stdint.h`",
            "4:10 include: the name of a file in quotes or angle brackets must follow `#include`",
            "5:1 include: the name of a file in quotes or angle brackets must follow `#include`",
        ]
    );
    assert_eq!(run.diagnostics[0].notes, ["looked for `dir/no.h`"]);
    let run = Run::new(
        &cl30(),
        "#include \"self.h\"\n",
        &[("dir/self.h", "#include \"self.h\"\n#include \"self.h\"\n")],
    );
    assert_eq!(run.messages(), ["1:1 include-depth: files are included more than 200 deep"]);
    let run = Run::new(&cl30(), "#define F(x) x\nF(\n#include \"a.h\"\n)", &[("dir/a.h", "")]);
    assert_eq!(run.messages(), ["3:10 include: `#include` is not allowed in the arguments of a macro"]);
}

#[test]
fn messages_have_include_trails() {
    let files = [("dir/a.h", "\n#include \"b.h\"\n"), ("dir/b.h", "\n\n @")];
    let run = Run::new(&cl30(), "#include \"a.h\"", &files);
    let location = run.map.resolve(run.diagnostics[0].span).expect("a location");
    assert_eq!(&*run.map.file(location.file).name, "dir/b.h");
    let lines: Vec<_> = run
        .map
        .include_trail(location.file)
        .iter()
        .map(|step| {
            let at = run.map.position(step.directive.file, step.directive.range.start);
            (run.map.file(step.directive.file).name.to_string(), at.line)
        })
        .collect();
    assert_eq!(lines, [("dir/a.h".to_owned(), 2), ("dir/main.cl".to_owned(), 1)]);
}

#[test]
fn options_define_macros() {
    let define = |text: &str| MacroOption::Define(text.to_owned());
    let options = Options {
        macros: vec![
            define("A"),
            define("B=2 + 3"),
            define("F(x,y)=x-y"),
            define("GONE=1"),
            MacroOption::Undefine("GONE".to_owned()),
            define("E="),
        ],
        forced_includes: vec!["pre.h".to_owned(), "post.h".to_owned()],
        ..cl30()
    };
    let files = [("dir/pre.h", "#define PRE A\n"), ("dir/post.h", "PRE __INCLUDE_LEVEL__\n")];
    let run = Run::new(&options, "A B F(1,2) GONE [E]", &files);
    assert_eq!(run.messages(), Vec::<String>::new());
    assert_eq!(run.text(), "1 0 1 2 + 3 1 - 2 GONE [ ]");
    let beside = Options { forced_includes: vec!["pre.h".to_owned()], ..cl30() };
    let run = Run::new(&beside, "PRE", &[("pre.h", "#define PRE working\n"), ("dir/pre.h", "")]);
    assert_eq!(run.text(), "working");
    let run = Run::new(&Options { macros: vec![define("1x")], ..cl30() }, "", &[]);
    assert_eq!(run.messages(), ["1:9 macro-definition: a macro's name must be an identifier"]);
}

#[test]
fn lines_and_files() {
    assert_eq!(
        pp("__LINE__\n\n__LINE__ __FILE__\n#line 100 \"o.cl\"\n__LINE__ __FILE__\n__LINE__"),
        "1 3 \"dir/main.cl\" 100 \"o.cl\" 101"
    );
    assert_eq!(pp("#define L __LINE__\n#define F(x) x L\n\nF(\n1)"), "1 5");
    assert_eq!(
        pp("#define N 7\n#line N\n__LINE__ __FILE__\n# 33 \"m.cl\" 1 3\n__LINE__ __FILE__"),
        "7 \"dir/main.cl\" 33 \"m.cl\""
    );
    assert_eq!(pp("__COUNTER__ __COUNTER__"), "0 1");
    assert_eq!(messages("#line 0\n#line x\n#line 1 2\n#line 99999999999\n").len(), 4);
}

#[test]
fn predefined_macros_have_values() {
    let text = |options: &Options, source: &str| {
        let run = Run::new(options, source, &[]);
        assert_eq!(run.messages(), Vec::<String>::new(), "{source}");
        run.text()
    };
    let at = |std| Options { std, ..Options::default() };
    let version = "__OPENCL_C_VERSION__ CL_VERSION_1_2 CL_VERSION_2_0 CL_VERSION_3_0";
    assert_eq!(text(&at(LanguageVersion::Cl12), version), "120 120 CL_VERSION_2_0 CL_VERSION_3_0");
    assert_eq!(text(&at(LanguageVersion::Cl20), version), "200 120 200 CL_VERSION_3_0");
    assert_eq!(text(&at(LanguageVersion::Cl30), version), "300 120 200 300");
    assert_eq!(text(&at(LanguageVersion::Cl31), "__OPENCL_C_VERSION__ CL_VERSION_3_1"), "310 310");
    assert_eq!(text(&cl30(), "CHAR_MIN INT_MAX __ENDIAN_LITTLE__"), "( - 127 - 1 ) 2147483647 1");
    assert_eq!(text(&cl30(), "ATOMIC_VAR_INIT(3)"), "( 3 )");
    assert_eq!(text(&at(LanguageVersion::Cl12), "CLK_IMAGE_MEM_FENCE"), "CLK_IMAGE_MEM_FENCE");
    let relaxed = MathOptions { fast_relaxed: true, ..MathOptions::default() };
    assert_eq!(text(&Options { math: relaxed, ..cl30() }, "__FAST_RELAXED_MATH__"), "1");
    assert_eq!(text(&cl30(), "__FAST_RELAXED_MATH__"), "__FAST_RELAXED_MATH__");
    let minimal = Options { target: Target::minimal(Environment::Vulkan), ..cl30() };
    assert_eq!(
        text(&minimal, "cl_khr_fp64 __opencl_c_fp64 cl_khr_fp16 HALF_MAX"),
        "cl_khr_fp64 __opencl_c_fp64 cl_khr_fp16 HALF_MAX"
    );
    assert_eq!(text(&cl30(), "cl_khr_fp64 __opencl_c_fp64"), "1 1");
    let expected = "kernel __attribute__ ( ( work_group_size_hint ( 64 , 1 , 1 ) ) ) __attribute__ ( ( vec_type_hint ( float4 ) ) )";
    assert_eq!(text(&cl30(), "__kernel_exec(64, float4)"), expected);
    assert_eq!(text(&cl30(), "#undef INT_MAX\nINT_MAX\n#define INT_MAX 3\nINT_MAX"), "INT_MAX 3");
}

#[test]
fn keywords_by_version() {
    let kinds = |std, text: &str| -> Vec<bool> {
        let run = Run::new(&Options { std, ..Options::default() }, text, &[]);
        run.result.tokens.iter().map(|token| matches!(token.kind, TokenKind::Keyword(_))).collect()
    };
    let words = "pipe generic uniform read_write asm __asm__ typeof bool __global vec_step float4 size_t";
    let expected = |pipe| [pipe, true, false, true, false, true, false, true, true, true, false, false];
    assert_eq!(kinds(LanguageVersion::Cl12, words), expected(false));
    assert_eq!(kinds(LanguageVersion::Cl20, words), expected(true));
}
