//! The seeds of inputs: every program of this repository, and words.

use std::{fs, path::Path};

use kiln_syntax::token::{Keyword, Punct};

use crate::root;

/// Longer programs are skipped, because small inputs run faster.
const MAX_PROGRAM_BYTES: usize = 2500;

/// The programs in source files, and in code blocks of Markdown files.
pub(super) fn programs() -> Vec<String> {
    let mut programs = Vec::new();
    for folder in ["testsuite/fuzz/seeds", "testsuite/programs", "testsuite/cases", "examples", "docs"] {
        collect(&root().join(folder), &mut programs);
    }
    // Programs that expand exponentially take a second each and would dominate the run time.
    programs.retain(|text| text.len() <= MAX_PROGRAM_BYTES && !text.contains("[macro-limit]"));
    programs.sort();
    programs.dedup();
    programs
}

fn collect(folder: &Path, programs: &mut Vec<String>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            collect(&path, programs);
            continue;
        }
        match path.extension().and_then(|ending| ending.to_str()) {
            Some("cl") => programs.push(fs::read_to_string(&path).expect("a program")),
            Some("md") => {
                let text = fs::read_to_string(&path).expect("a page");
                let sections = crate::markdown::parse(&text).expect("fences are closed");
                let blocks = sections.into_iter().flat_map(|section| section.blocks);
                programs.extend(blocks.filter(|block| block.language == "cl").map(|block| block.text));
            }
            _ => {}
        }
    }
}

/// Words of the language.
pub(super) fn words() -> Vec<String> {
    let keywords = Keyword::ALL.iter().map(|(spelling, _)| *spelling);
    let marks = Punct::ALL.iter().map(|(spelling, _)| *spelling);
    keywords.chain(marks).chain(WORDS.iter().copied()).map(str::to_owned).collect()
}

const WORDS: &[&str] = &[
    "0",
    "1",
    "-1",
    "2147483648",
    "4294967296",
    "18446744073709551615",
    "18446744073709551616",
    "0x1p-200",
    "1e400",
    "1.0f",
    "0.5h",
    "1e-400",
    "0x",
    "08",
    "1u",
    "1ul",
    "'a'",
    "'\\377'",
    "'\\x'",
    "\"\"",
    "\"%d %v4f\\n\"",
    "NULL",
    "(int4)(1)",
    "(float3)(0)",
    "(float4)(1, 2, 3, 4)",
    "image2d_t",
    "image1d_buffer_t",
    "event_t",
    "sampler_t",
    "queue_t",
    "bool",
    "half",
    "double",
    "long4",
    "uchar16",
    "size_t",
    "uintptr_t",
    "[0]",
    "[-1]",
    "[1 << 30]",
    "[999999999999]",
    ".x",
    ".s0123",
    ".lo.even",
    ".xyzw.wzyx",
    "->",
    "atomic_int",
    "atomic_flag",
    "atomic_double",
    "struct S",
    "struct S { struct S *next; }",
    "__attribute__((packed))",
    "__attribute__((aligned(1 << 20)))",
    "__attribute__((reqd_work_group_size(0, 1, 4294967295)))",
    "__attribute__((opencl_unroll_hint(3)))",
    "##",
    "#",
    "\n#define A A A\n",
    "\n#define A(x) x A(x) #x\n",
    "\n#define B(x, ...) x ## __VA_ARGS__\n",
    "\n#undef A\n",
    "A(",
    "A",
    "B(1, 2)",
    "\n#if 1\n",
    "\n#ifdef A\n",
    "\n#elif 0\n",
    "\n#else\n",
    "\n#endif\n",
    "\n#include \"a.h\"\n",
    "\n#include \"b.h\"\n",
    "\n#include \"self.h\"\n",
    "\n#include \"bad.h\"\n",
    "\n#include A\n",
    "\n#line 7 \"x\"\n",
    "\n#pragma OPENCL EXTENSION all : disable\n",
    "\n#pragma unroll\n",
    "_Pragma(\"once\")",
    "\n#error\n",
    "__LINE__",
    "__FILE__",
    "__VA_ARGS__",
    "defined(A)",
    "1 / 0",
    "1 % 0",
    "1 << 64",
    "-2147483648 / -1",
    "0.0 / 0.0",
    "get_global_id(0)",
    "barrier(CLK_LOCAL_MEM_FENCE)",
    "printf(\"%s\", \"x\")",
    "as_float4",
    "convert_uchar4_sat_rte",
    "vload4(0, p)",
    "atomic_fetch_add_explicit(p, 1, memory_order_relaxed)",
    "atomic_work_item_fence",
    "^{ }",
    "^(int x) { return x; }",
    "({ 1; })",
    "sizeof(int[n])",
    "typeof",
    "goto l;",
    "l:",
    "case 1 ... 3:",
    "case 1:",
    "\\\n",
    "\\",
    "\u{e9}",
    "\u{201c}",
    "\0",
    "/*",
    "*/",
    "//",
    "\"",
    "'",
    "??=",
    "<:",
    "%:%:",
    "\r",
    "\t",
    "$",
];
