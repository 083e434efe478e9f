//! `kiln translate` and `kiln run` of kernel SPIR-V: control flow and values that OpenCL C cannot write, and malformed
//! modules.

use std::fs;

use crate::{folder, folder_with_module, kiln};

/// The declarations of all modules.
const DECLARATIONS: &str = "\
OpCapability Addresses
OpCapability Kernel
OpCapability Int64
OpMemoryModel Physical64 OpenCL
OpEntryPoint Kernel %k \"k\" %gid
%file = OpString \"far/away.cpp\"
OpName %out \"out\"
OpDecorate %gid BuiltIn GlobalInvocationId
OpDecorate %gid Constant
OpDecorate %spec SpecId 9
%void = OpTypeVoid
%bool = OpTypeBool
%uint = OpTypeInt 32 0
%ulong = OpTypeInt 64 0
%v3 = OpTypeVector %ulong 3
%in = OpTypePointer Input %v3
%gp = OpTypePointer CrossWorkgroup %uint
%fn = OpTypeFunction %void %gp
%n0 = OpConstant %uint 0
%n1 = OpConstant %uint 1
%n2 = OpConstant %uint 2
%n3 = OpConstant %uint 3
%n4 = OpConstant %uint 4
%n7 = OpConstant %uint 7
%n20 = OpConstant %uint 20
%n100 = OpConstant %uint 100
%n1000 = OpConstant %uint 1000
%spec = OpSpecConstant %uint 5
%two = OpConstant %ulong 2
%array = OpTypeArray %uint %two
%record = OpTypeStruct %uint %array
%change_fn = OpTypeFunction %record %record
%part = OpConstantComposite %array %n1 %n3
%whole = OpConstantComposite %record %n7 %part
%gid = OpVariable %in Input
";

/// The start of the kernel: the index `%i`, and whether it is odd.
const START: &str = "\
%k = OpFunction %void None %fn
%out = OpFunctionParameter %gp
%entry = OpLabel
OpLine %file 12 5
%id3 = OpLoad %v3 %gid
%id = OpCompositeExtract %ulong %id3 0
%i = OpUConvert %uint %id
%odd = OpBitwiseAnd %uint %i %n1
%is_odd = OpINotEqual %bool %odd %n0
";

/// A cycle with two entries, then a loop whose phis swap their values.
const FLOW: &str = "\
OpBranchConditional %is_odd %left %right
%left = OpLabel
%l = OpPhi %uint %i %entry %r1 %right
%l1 = OpIAdd %uint %l %n3
%l_end = OpUGreaterThan %bool %l1 %n20
OpBranchConditional %l_end %done %right
%right = OpLabel
%r = OpPhi %uint %i %entry %l1 %left
%r1 = OpIMul %uint %r %n2
%r_end = OpUGreaterThan %bool %r1 %n20
OpBranchConditional %r_end %done %left
%done = OpLabel
%x = OpPhi %uint %l1 %left %r1 %right
OpBranch %loop
%loop = OpLabel
%a = OpPhi %uint %x %done %b %loop
%b = OpPhi %uint %n7 %done %a %loop
%c = OpPhi %uint %n0 %done %c1 %loop
%c1 = OpIAdd %uint %c %n1
%again = OpULessThan %bool %c1 %n4
OpBranchConditional %again %loop %end
%end = OpLabel
%thousands = OpIMul %uint %a %n1000
%sum = OpIAdd %uint %thousands %b
%hundred = OpIMul %uint %odd %n100
%all = OpIAdd %uint %sum %hundred
%at = OpInBoundsPtrAccessChain %gp %out %id
OpStore %at %all Aligned 4
OpReturn
OpFunctionEnd
";

/// Structures as values: constants, phis, arguments and results.
const RECORDS: &str = "\
OpBranchConditional %is_odd %then %otherwise
%then = OpLabel
%inserted = OpCompositeInsert %record %i %whole 1 0
OpBranch %join
%otherwise = OpLabel
OpBranch %join
%join = OpLabel
%merged = OpPhi %record %inserted %then %whole %otherwise
%changed = OpFunctionCall %record %change %merged
%first = OpCompositeExtract %uint %changed 0
%inner = OpCompositeExtract %array %changed 1
%second = OpCompositeExtract %uint %inner 0
%old = OpCompositeExtract %uint %merged 0
%hundreds = OpIMul %uint %first %n100
%some = OpIAdd %uint %hundreds %second
%thousands = OpIMul %uint %old %n1000
%all = OpIAdd %uint %some %thousands
%at = OpInBoundsPtrAccessChain %gp %out %id
OpStore %at %all Aligned 4
OpReturn
OpFunctionEnd
%change = OpFunction %record None %change_fn
%given = OpFunctionParameter %record
%change_entry = OpLabel
%member = OpCompositeExtract %uint %given 0
%more = OpIAdd %uint %member %spec
%result = OpCompositeInsert %record %more %given 0
OpReturnValue %result
OpFunctionEnd
";

/// Vectors of one and of six components, in values and in memory.
const VECTORS: &str = "\
%v1 = OpTypeVector %uint 1
%v6 = OpTypeVector %uint 6
%p6 = OpTypePointer Function %v6
%seven = OpConstantComposite %v1 %n7
%six = OpConstantComposite %v6 %n0 %n1 %n2 %n3 %n4 %n7
%none = OpUndef %v1
%half = OpConstant %ulong 32
%k = OpFunction %void None %fn
%out = OpFunctionParameter %gp
%entry = OpLabel
%memory = OpVariable %p6 Function
%id3 = OpLoad %v3 %gid
%id = OpCompositeExtract %ulong %id3 0
%i = OpUConvert %uint %id
%odd = OpBitwiseAnd %uint %i %n1
%i1 = OpCompositeInsert %v1 %i %none 0
%picked = OpVectorShuffle %v6 %seven %i1 0 1 1 1 0 1
OpStore %memory %picked Aligned 32
%loaded = OpLoad %v6 %memory Aligned 32
%sums = OpIAdd %v6 %loaded %six
%pairs = OpBitcast %v3 %sums
%pair = OpCompositeExtract %ulong %pairs 1
%high = OpShiftRightLogical %ulong %pair %half
%third = OpUConvert %uint %high
%which = OpIAdd %uint %odd %n4
%late = OpVectorExtractDynamic %uint %sums %which
%hundreds = OpIMul %uint %late %n100
%all = OpIAdd %uint %hundreds %third
%at = OpInBoundsPtrAccessChain %gp %out %id
OpStore %at %all Aligned 4
OpReturn
OpFunctionEnd
";

/// Operations on specialization constants, whose default is 5, and the size of an object.
const CONSTANTS: &str = "\
%pair = OpTypeVector %uint 2
%bools = OpTypeVector %bool 2
%place = OpTypePointer Function %record
%true = OpConstantTrue %bool
%false = OpConstantFalse %bool
%conditions = OpConstantComposite %bools %false %true
%product = OpSpecConstantOp %uint IMul %spec %n7
%both = OpSpecConstantComposite %pair %spec %product
%swapped = OpSpecConstantOp %pair VectorShuffle %both %both 1 0
%inserted = OpSpecConstantOp %pair CompositeInsert %n100 %swapped 1
%chosen = OpSpecConstantOp %pair Select %conditions %inserted %both
";

const SIZES: &str = "\
%size = OpSizeOf %uint %object
%first = OpCompositeExtract %uint %chosen 0
%second = OpCompositeExtract %uint %chosen 1
%thousands = OpIMul %uint %size %n1000
%some = OpIAdd %uint %thousands %first
%more = OpIAdd %uint %some %second
%all = OpIAdd %uint %more %i
%at = OpInBoundsPtrAccessChain %gp %out %id
OpStore %at %all Aligned 4
OpReturn
OpFunctionEnd
";

/// What eight work-items of a kernel print.
fn printed(expected: impl Fn(u32) -> u32) -> String {
    let numbers: Vec<String> = (0..8).map(|index| expected(index).to_string()).collect();
    format!("out[0..8] = {}\n", numbers.join(" "))
}

/// Runs a module as it is on the reference device, and translated on the Vulkan reference device.
fn expect(text: &str, expected: impl Fn(u32) -> u32) {
    let folder = folder_with_module("spv1.2", text);
    for device in ["kiln reference", "vulkan-reference"] {
        let words = ["run", "k.spv", "--device", device, "--kernel", "k", "--global", "8"];
        let run = kiln(&folder, &[&words[..], &["--arg", "buf:uint[8]", "--print", "out"]].concat());
        assert_eq!((run.code(), run.text()), (Some(0), printed(&expected)), "{device}: {}", run.stderr);
    }
}

#[test]
fn control_flow_without_structure_is_translated() {
    expect(&[DECLARATIONS, START, FLOW].concat(), |i| {
        let (mut x, mut is_left) = (i, i % 2 == 1);
        loop {
            x = if is_left { x + 3 } else { x * 2 };
            if x > 20 {
                break;
            }
            is_left = !is_left;
        }
        7000 + x + i % 2 * 100
    });
}

/// LLVM forms vectors that OpenCL C lacks.
#[test]
fn vectors_of_all_lengths_are_translated() {
    let expected = |i| 100 * (if i % 2 == 1 { i + 7 } else { 11 }) + i + 3;
    expect(&[DECLARATIONS, VECTORS].concat(), expected);
    // llvm-spirv writes some constants before their operands, and declares Shader without structured control flow.
    let seven = "%seven = OpConstantComposite %v1 %n7\n";
    let text = [DECLARATIONS, VECTORS].concat().replace(seven, "").replace(
        "%half = ",
        &format!("%copy = OpSpecConstantOp %uint CompositeExtract %seven 0\n{seven}%half = "),
    );
    let branch = "OpBranchConditional %is_odd %x %y\n%x = OpLabel\nOpBranch %y\n%y = OpLabel\n%loaded = ";
    let text = text
        .replace("OpCapability Int64\n", "OpCapability Int64\nOpCapability Shader\n")
        .replace("%loaded = ", &format!("%is_odd = OpINotEqual %bool %odd %n0\n{branch}"))
        .replace("%late %n100", "%late %n100\n%add = OpISub %uint %copy %n7")
        .replace(
            "%all = OpIAdd %uint %hundreds %third",
            "%some = OpIAdd %uint %hundreds %third\n%all = OpIAdd %uint %some %add",
        );
    let folder = folder_with_module("spv1.2", &text);
    let words = ["run", "k.spv", "--device", "vulkan-reference", "--kernel", "k", "--global", "8"];
    let run = kiln(&folder, &[&words[..], &["--arg", "buf:uint[8]", "--print", "out"]].concat());
    assert_eq!((run.code(), run.text()), (Some(0), printed(expected)), "{}", run.stderr);
}

/// Old versions of llvm-spirv declare inputs as imported variables in UniformConstant.
#[test]
fn imported_inputs_are_translated() {
    let text = [DECLARATIONS, START, FLOW].concat();
    let mut changed = text.clone();
    for (from, to) in [
        ("OpCapability Int64\n", "OpCapability Int64\nOpCapability Linkage\n"),
        ("OpEntryPoint Kernel %k \"k\" %gid", "OpEntryPoint Kernel %k \"k\""),
        (
            "OpDecorate %gid Constant\n",
            "OpDecorate %gid Constant\nOpDecorate %gid LinkageAttributes \"global_id\" Import\n",
        ),
        ("%in = OpTypePointer Input %v3", "%in = OpTypePointer UniformConstant %v3"),
        ("%gid = OpVariable %in Input", "%gid = OpVariable %in UniformConstant"),
    ] {
        assert!(changed.contains(from), "{from}");
        changed = changed.replace(from, to);
    }
    let [imported, usual] = [changed, text].map(|text| {
        let folder = folder_with_module("spv1.2", &text);
        let words = ["run", "k.spv", "--device", "vulkan-reference", "--kernel", "k", "--global", "8"];
        let run = kiln(&folder, &[&words[..], &["--arg", "buf:uint[8]", "--print", "out"]].concat());
        assert_eq!(run.code(), Some(0), "{}", run.stderr);
        run.text()
    });
    assert_eq!(imported, usual);
}

#[test]
fn structures_as_values_are_translated() {
    let text = [DECLARATIONS, START, RECORDS].concat();
    let second = |i: u32| if i % 2 == 1 { i } else { 1 };
    expect(&text, |i| 7000 + 12 * 100 + second(i));
    let folder = folder_with_module("spv1.2", &text);
    let made = kiln(&folder, &["translate", "k.spv", "--spec", "9=1", "-o", "vulkan.spv"]);
    assert_eq!((made.code(), made.stderr.as_str()), (Some(0), ""));
    let words = ["run", "vulkan.spv", "--device", "vulkan-reference", "--kernel", "k", "--global", "8"];
    let run = kiln(&folder, &[&words[..], &["--arg", "buf:uint[8]", "--print", "out"]].concat());
    assert_eq!((run.code(), run.text()), (Some(0), printed(|i| 7000 + 800 + second(i))), "{}", run.stderr);
}

#[test]
fn operations_on_constants_and_sizes_are_translated() {
    let start =
        START.replace("%entry = OpLabel\n", "%entry = OpLabel\n%object = OpVariable %place Function\n");
    expect(&[DECLARATIONS, CONSTANTS, start.as_str(), SIZES].concat(), |i| 12_000 + 5 + 100 + i);
}

/// Each replacement in a module, and a part of the message. The verifier finds some mistakes, the reader others.
const MISTAKES: &[(&str, &str, &str)] = &[
    ("Physical64 OpenCL", "Physical32 OpenCL", "modules with 32-bit addresses are not supported"),
    ("OpCompositeExtract %ulong %id3 0", "OpCompositeExtract %ulong %id3 7", "OpCompositeExtract"),
    ("OpCompositeExtract %ulong %id3 0", "OpCompositeExtract %ulong %id3 0 0", "OpCompositeExtract"),
    ("%i %entry %r1 %right", "%i %entry", "its parents are not the predecessors of its block"),
    ("OpPhi %uint %n0 %done %c1 %loop", "OpPhi %uint %n0 %done %again %loop", "a value has a different type"),
    ("OpBranch %loop", "OpKill", "OpKill"),
    (
        "%at = OpInBoundsPtrAccessChain %gp %out %id",
        "%at = OpInBoundsPtrAccessChain %gp %i %id",
        "OpInBoundsPtrAccessChain",
    ),
    ("OpBranchConditional %again %loop %end", "OpBranchConditional %c1 %loop %end", "OpBranchConditional"),
    ("OpTypeInt 64 0", "OpTypeInt 24 0", "a literal has 24 bits"),
    ("%v3 = OpTypeVector %ulong 3", "%v3 = OpTypeVector %ulong 129", "vectors of 129 components"),
    ("BuiltIn GlobalInvocationId", "BuiltIn FragCoord", "FragCoord"),
];

#[test]
fn mistakes_in_modules_are_reported() {
    let text = [DECLARATIONS, START, FLOW].concat();
    for (from, to, message) in MISTAKES {
        assert!(text.contains(from), "{from}");
        let folder = folder_with_module("spv1.2", &text.replace(from, to));
        let made = kiln(&folder, &["translate", "k.spv", "-o", "vulkan.spv"]);
        assert_eq!(made.code(), Some(1), "{to}: {}", made.stderr);
        assert!(made.stderr.contains(message), "{to}: {}", made.stderr);
        assert!(!folder.path().join("vulkan.spv").exists(), "{to}: a module is written");
    }
}

/// The message for an instruction has its source position.
#[test]
fn mistakes_in_modules_have_a_source_position() {
    let text = [DECLARATIONS, START, FLOW].concat();
    let folder = folder_with_module(
        "spv1.2",
        &text.replace("OpCompositeExtract %ulong %id3 0", "OpCompositeExtract %ulong %id3 7"),
    );
    let made = kiln(&folder, &["translate", "k.spv", "-o", "vulkan.spv"]);
    assert!(made.stderr.contains("far/away.cpp:12:5: word "), "{}", made.stderr);
}

#[test]
fn files_other_than_modules_are_rejected() {
    let folder = folder(&[("k.spv", "text")]);
    fs::write(folder.path().join("half.spv"), [3, 2, 35, 7, 0, 0]).expect("a file");
    for name in ["k.spv", "half.spv", "missing.spv"] {
        let made = kiln(&folder, &["translate", name, "-o", "vulkan.spv"]);
        assert_ne!(made.code(), Some(0), "{name}");
        assert!(made.stderr.contains(name) && !made.stderr.contains("panicked"), "{}", made.stderr);
    }
}
