//! The documents `testsuite/undefined/*.md`: behavior that the Vulkan environment leaves undefined, one section for
//! each case, and the page `docs/undefined-behavior.md` that is rendered from them.
//!
//! A section has a heading, a list of properties, the instructions in SPIR-V assembly, their inputs, and a kernel in
//! OpenCL C that Kiln translates to defined instructions.

use std::{fmt::Write as _, fs};

use crate::root;

/// The number of words that a kernel reads.
pub const INPUT_WORDS: usize = 16;
/// The number of words that a kernel writes. The results of the work-items come first.
pub const OUTPUT_WORDS: usize = 64;

/// A case of undefined behavior.
pub struct Row {
    /// The document's name, without extension.
    pub document: String,
    /// The heading.
    pub title: String,
    /// The instructions, as `OpSRem` or `GLSL.std.450 Sqrt`, each in backquotes.
    instructions: String,
    undefined: String,
    rule: String,
    guard: String,
    /// The body of a SPIR-V kernel, which defines `%result`.
    body: String,
    /// Additional capabilities, modes, decorations, types and variables.
    declarations: String,
    /// The number of work-items, in one work-group.
    pub items: u32,
    /// The kind of report, and the first input words that trigger it.
    pub reported: (String, Vec<u32>),
    /// The first input words of a run without undefined behavior.
    pub defined: Vec<u32>,
    /// A kernel in OpenCL C, and its inputs with the first results; `None` if OpenCL C leaves the same undefined.
    pub guarded: Option<Guarded>,
}

/// A kernel in which Kiln must avoid the undefined behavior.
pub struct Guarded {
    /// `kernel void k(global int *in, global int *out)`
    pub source: String,
    /// Inputs, each with the expected results.
    pub runs: Vec<(Vec<u32>, Vec<u32>)>,
}

impl Row {
    /// All cases, by document.
    pub fn all() -> Vec<Self> {
        let folder = fs::read_dir(root().join("testsuite/undefined")).into_iter().flatten();
        let mut files: Vec<_> = folder.filter_map(Result::ok).map(|entry| entry.path()).collect();
        files.retain(|file| file.file_name().is_some_and(|name| name != INSTRUCTIONS));
        files.sort();
        let mut rows = Vec::new();
        for file in files {
            let text = fs::read_to_string(&file).expect("a document can be read");
            let document = file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            for section in text.split("\n# ").map(|section| section.trim_start_matches("# ")) {
                let row = Self::read(&document, section);
                rows.push(row.unwrap_or_else(|reason| panic!("{}: {reason}:\n{section}", file.display())));
            }
        }
        rows
    }

    fn read(document: &str, section: &str) -> Result<Self, String> {
        let fact = |name: &str| {
            let begin = format!("- {name}: ");
            let found = section.lines().find_map(|line| line.strip_prefix(&begin));
            found.map(str::to_owned).ok_or(format!("there is no fact `{name}`"))
        };
        let block = |fence: &str| {
            let (_, rest) = section.split_once(&format!("```{fence}\n"))?;
            rest.split_once("```").map(|(text, _)| text.to_owned())
        };
        let runs = block("inputs").ok_or("there are no inputs")?;
        let lines = || runs.lines().filter_map(|line| line.split_once(": "));
        let mut items = 1;
        let (mut reported, mut defined, mut guarded) = (None, None, Vec::new());
        for (name, rest) in lines() {
            match name {
                "items" => items = rest.trim().parse().map_err(|e| format!("{rest}: {e}"))?,
                "defined" => defined = Some(words(rest)?),
                "guarded" => {
                    let (input, output) = rest.split_once('=').ok_or("a guarded run has no results")?;
                    guarded.push((words(input)?, words(output)?));
                }
                kind => reported = Some((kind.to_owned(), words(rest)?)),
            }
        }
        let guarded = block("cl").map(|source| Guarded { source, runs: guarded });
        if guarded.as_ref().is_some_and(|it| it.runs.is_empty()) {
            return Err("the kernel in OpenCL C is never run".to_owned());
        }
        Ok(Self {
            document: document.to_owned(),
            title: section.lines().next().unwrap_or_default().trim().to_owned(),
            instructions: fact("instructions")?,
            undefined: fact("undefined")?,
            rule: fact("rule")?,
            guard: fact("guard")?,
            body: block("spirv").ok_or("there are no instructions")?,
            declarations: block("declarations").unwrap_or_default(),
            items,
            reported: reported.ok_or("nothing is to be reported")?,
            defined: defined.ok_or("no input is defined")?,
            guarded,
        })
    }

    /// The heading in lower case with hyphens.
    pub fn name(&self) -> String {
        let words = self.title.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        words.collect::<Vec<_>>().join("-").to_lowercase()
    }

    /// The module in assembly: a kernel `k` that gets the addresses of its input and output. `%a` to `%d` are the
    /// first words of the input, `%fa` to `%fd` the same as floats, and `%item` is the index of the work-item.
    pub fn assembly(&self) -> String {
        let lines = |begins: &[&str]| {
            let lines = self.declarations.lines();
            let chosen = lines.filter(|line| begins.iter().any(|begin| line.starts_with(begin)));
            chosen.fold(String::new(), |text, line| text + line + "\n")
        };
        let (capabilities, modes) = (lines(&["OpCapability "]), lines(&["OpExecutionMode "]));
        let (decorations, types) = (lines(&["OpDecorate ", "OpMemberDecorate "]), lines(&["%"]));
        let variables: String = self
            .declarations
            .lines()
            .filter(|line| line.contains("= OpVariable"))
            .filter_map(|line| line.split_whitespace().next())
            .fold(String::new(), |text, id| text + id + " ");
        let numbers: String = (0..65).map(|n| format!("%n{n} = OpConstant %uint {n}\n")).collect();
        let loads: String =
            ["a", "b", "c", "d"].iter().enumerate().fold(String::new(), |text, (at, name)| {
                text + &format!("%at_{name} = OpPtrAccessChain %ptr_uint %in %n{at}\n")
                    + &format!("%{name} = OpLoad %uint %at_{name} Aligned 4\n")
                    + &format!("%f{name} = OpBitcast %float %{name}\n")
            });
        let items = self.items;
        let size = format!("OpExecutionMode %main LocalSize {items} 1 1\n");
        let required = format!(
            "%size = OpExtInst %void %reflect PropertyRequiredWorkgroupSize %kernel %n{items} %n1 %n1\n"
        );
        let head =
            [CAPABILITIES, &capabilities, HEAD, &variables, "\n", &size, &modes, STRINGS, &decorations];
        let body = [TYPES, &numbers, CONSTANTS, &types, BEGIN, &loads, &self.body, END, &required];
        head.concat() + &body.concat()
    }
}

/// The kernel accesses buffers by address, as Kiln's modules do.
const CAPABILITIES: &str = "
OpCapability Shader
OpCapability Int8
OpCapability Int16
OpCapability Int64
OpCapability Float16
OpCapability Float64
OpCapability VulkanMemoryModel
OpCapability VulkanMemoryModelDeviceScope
OpCapability PhysicalStorageBufferAddresses
OpCapability SignedZeroInfNanPreserve
OpCapability GroupNonUniform
OpCapability GroupNonUniformVote
OpCapability GroupNonUniformArithmetic
OpCapability GroupNonUniformBallot
OpCapability GroupNonUniformShuffle
OpCapability GroupNonUniformShuffleRelative
OpCapability GroupNonUniformClustered
";
const HEAD: &str = r#"
OpExtension "SPV_KHR_non_semantic_info"
%glsl = OpExtInstImport "GLSL.std.450"
%reflect = OpExtInstImport "NonSemantic.ClspvReflection.5"
OpMemoryModel PhysicalStorageBuffer64 Vulkan
OpEntryPoint GLCompute %main "k" %push %local_id %tile "#;
const STRINGS: &str = r#"
%name_k = OpString "k"
%empty = OpString ""
OpDecorate %local_id BuiltIn LocalInvocationId
OpDecorate %push_block Block
OpMemberDecorate %push_block 0 Offset 0
OpMemberDecorate %push_block 1 Offset 8
OpDecorate %ptr_uint ArrayStride 4
"#;
const TYPES: &str = "
%void = OpTypeVoid
%bool = OpTypeBool
%uint = OpTypeInt 32 0
%ushort = OpTypeInt 16 0
%ulong = OpTypeInt 64 0
%float = OpTypeFloat 32
%half = OpTypeFloat 16
%double = OpTypeFloat 64
%uint2 = OpTypeVector %uint 2
%uint3 = OpTypeVector %uint 3
%uint4 = OpTypeVector %uint 4
%float2 = OpTypeVector %float 2
%function = OpTypeFunction %void
";
const CONSTANTS: &str = "
%true = OpConstantTrue %bool
%f0 = OpConstant %float 0
%f1 = OpConstant %float 1
%acq_rel_local = OpConstant %uint 24840
%push_block = OpTypeStruct %uint2 %uint2
%ptr_push = OpTypePointer PushConstant %push_block
%ptr_push_address = OpTypePointer PushConstant %uint2
%ptr_in3 = OpTypePointer Input %uint3
%ptr_uint = OpTypePointer PhysicalStorageBuffer %uint
%words = OpTypeArray %uint %n64
%ptr_tile = OpTypePointer Workgroup %words
%ptr_local = OpTypePointer Workgroup %uint
%four = OpTypeArray %uint %n4
%ptr_four = OpTypePointer Function %four
%ptr_private = OpTypePointer Function %uint
%push = OpVariable %ptr_push PushConstant
%local_id = OpVariable %ptr_in3 Input
%tile = OpVariable %ptr_tile Workgroup
";
const BEGIN: &str = "
%main = OpFunction %void None %function
%entry = OpLabel
%array = OpVariable %ptr_four Function
%variable = OpVariable %ptr_private Function
%ids = OpLoad %uint3 %local_id
%item = OpCompositeExtract %uint %ids 0
%at_in = OpAccessChain %ptr_push_address %push %n0
%at_out = OpAccessChain %ptr_push_address %push %n1
%in_bits = OpLoad %uint2 %at_in
%out_bits = OpLoad %uint2 %at_out
%in = OpBitcast %ptr_uint %in_bits
%out = OpBitcast %ptr_uint %out_bits
";
const END: &str = "
%to = OpPtrAccessChain %ptr_uint %out %item
OpStore %to %result Aligned 4
OpReturn
OpFunctionEnd
%kernel = OpExtInst %void %reflect Kernel %main %name_k %n2 %n0 %empty
%r0 = OpExtInst %void %reflect ArgumentPointerPushConstant %kernel %n0 %n0 %n8
%r1 = OpExtInst %void %reflect ArgumentPointerPushConstant %kernel %n1 %n8 %n8
";

/// Parses numbers as words: integers, floats such as `1.5f`, `nan`, `inf`.
fn words(text: &str) -> Result<Vec<u32>, String> {
    let word = |text: &str| match text {
        "nan" => Ok(f32::NAN.to_bits()),
        "inf" => Ok(f32::INFINITY.to_bits()),
        "-inf" => Ok(f32::NEG_INFINITY.to_bits()),
        _ => {
            let wrong = || format!("`{text}` is not a number");
            if let Some(digits) = text.strip_prefix("0x") {
                return u32::from_str_radix(digits, 16).map_err(|_| wrong());
            }
            match text.strip_suffix('f') {
                Some(float) => float.parse::<f32>().map(f32::to_bits).map_err(|_| wrong()),
                None => text.parse::<i64>().map(|number| number as u32).map_err(|_| wrong()),
            }
        }
    };
    text.split_whitespace().map(word).collect()
}

/// The document that classifies all other instructions in lists under headings.
const INSTRUCTIONS: &str = "instructions.md";

/// The text of that document.
fn instructions() -> String {
    fs::read_to_string(root().join("testsuite/undefined").join(INSTRUCTIONS)).expect("the document is there")
}

/// The names in backquotes.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// All instructions that the documents name, such as `OpSRem` or `GLSL.std.450 Sqrt`.
pub fn classified() -> Vec<String> {
    let rows = Row::all();
    let of_rows = rows.iter().flat_map(|row| quoted(&row.instructions)).map(str::to_owned);
    let text = instructions();
    of_rows.chain(quoted(&text).map(str::to_owned)).collect()
}

/// Renders `docs/undefined-behavior.md`.
pub fn page() -> String {
    let mut page = String::from(HEADING);
    for row in Row::all() {
        let Row { instructions, undefined, rule, guard, .. } = &row;
        let (kind, document) = (&row.reported.0, &row.document);
        let case = format!("[{}](../testsuite/undefined/{document}.md)", row.title);
        writeln!(page, "| {instructions} | {undefined} ({rule}) | {guard} | `{kind}` | {case} |")
            .expect("a string takes text");
    }
    page + "\n" + &instructions()
}

const HEADING: &str = "\
# What Vulkan leaves undefined

This page is rendered from `testsuite/undefined`. After a change there, `cargo xtask bless` renders it again.

OpenCL C defines results that the Vulkan environment of SPIR-V leaves undefined. Kiln must not depend on what a driver happens
to do. Either a guard keeps the operands of such an instruction in its domain, or Kiln does not use the instruction. The
reference device for Vulkan (`vulkan-reference`) executes modules strictly by the specifications. It ends a launch that
depends on an undefined value or has undefined behavior. All cases of the test suite run on it.

The test program `undefined` runs two kernels for each row of the table. The first is SPIR-V without the guard; its launch must
end with the report in the fourth column. The second is OpenCL C with the same input, and must give the correct result. If
OpenCL C leaves the same behavior undefined, there is only the first kernel.

| instruction | what is undefined | guard | report | case |
| --- | --- | --- | --- | --- |
";
