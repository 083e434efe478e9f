//! Negative tests of explicit layouts.

use super::{VULKAN, accepts, findings, vulkan_rejects};

const TYPES: &str = "%float2 = OpTypeVector %float 2
%float3 = OpTypeVector %float 3
%matrix = OpTypeMatrix %float2 3
%row = OpTypeArray %float3 #4
%tail = OpTypeRuntimeArray %uint
%inner = OpTypeStruct %uint %ulong
%outer = OpTypeStruct %uint %row %inner %matrix %tail
%outer_pointer = OpTypePointer StorageBuffer %outer
%buffer = OpVariable %outer_pointer StorageBuffer";

const DECORATIONS: &str = "OpDecorate %buffer DescriptorSet 0
OpDecorate %buffer Binding 0
OpDecorate %outer Block
OpMemberDecorate %inner 0 Offset 0
OpMemberDecorate %inner 1 Offset 8
OpMemberDecorate %outer 0 Offset 0
OpMemberDecorate %outer 1 Offset 16
OpMemberDecorate %outer 2 Offset 80
OpMemberDecorate %outer 3 Offset 96
OpMemberDecorate %outer 3 ColMajor
OpMemberDecorate %outer 3 MatrixStride 8
OpMemberDecorate %outer 4 Offset 120
OpDecorate %row ArrayStride 16
OpDecorate %tail ArrayStride 4
";

/// Changes to a module with a storage buffer: replaces a decoration by another one, and adds types and instructions.
fn changes(from: &str, to: &str, types: &str, body: &str) -> [(&'static str, String); 4] {
    assert!(DECORATIONS.contains(from), "there is no {from:?}");
    [
        ("%push %shared\n", "%push %shared %buffer\n".to_owned()),
        ("OpDecorate %block Block\n", format!("OpDecorate %block Block\n{}", DECORATIONS.replace(from, to))),
        ("globals", format!("{TYPES}\n{types}")),
        ("body", body.to_owned()),
    ]
}

#[track_caller]
fn rejects_layout(rule: &str, from: &str, to: &str) {
    let changes = changes(from, to, "", "");
    vulkan_rejects(rule, &changes.each_ref().map(|(at, text)| (*at, text.as_str())));
}

#[track_caller]
fn accepts_layout(from: &str, to: &str, types: &str, body: &str) {
    let changes = changes(from, to, types, body);
    accepts(&findings((1, 5), VULKAN, &changes.each_ref().map(|(at, text)| (*at, text.as_str()))));
}

#[test]
fn missing_layout_decorations_are_rejected() {
    accepts_layout("", "", "", "");
    for missing in [
        "OpMemberDecorate %inner 1 Offset 8\n",
        "OpMemberDecorate %outer 0 Offset 0\n",
        "OpMemberDecorate %outer 3 ColMajor\n",
        "OpMemberDecorate %outer 3 MatrixStride 8\n",
        "OpDecorate %row ArrayStride 16\n",
        "OpDecorate %tail ArrayStride 4\n",
    ] {
        rejects_layout("SPIRV-explicit-layout", missing, "");
    }
}

#[test]
fn wrong_alignments_are_rejected() {
    for (from, to) in [
        ("%inner 1 Offset 8", "%inner 1 Offset 4"),
        ("%outer 2 Offset 80", "%outer 2 Offset 76"),
        ("%outer 4 Offset 120", "%outer 4 Offset 121"),
        ("%row ArrayStride 16", "%row ArrayStride 14"),
        ("MatrixStride 8", "MatrixStride 10"),
    ] {
        rejects_layout("VUID-StandaloneSpirv-None-10684", from, to);
    }
    // A vector needs the alignment of its components only, with `scalarBlockLayout`.
    accepts_layout("%outer 1 Offset 16", "%outer 1 Offset 4", "", "");
    accepts_layout("%row ArrayStride 16", "%row ArrayStride 12", "", "");
}

#[test]
fn overlapping_members_are_rejected() {
    for (from, to) in [
        ("%outer 1 Offset 16", "%outer 1 Offset 0"),
        ("%outer 2 Offset 80", "%outer 2 Offset 72"),
        ("%outer 4 Offset 120", "%outer 4 Offset 116"),
        // The runtime array has no end.
        ("%outer 4 Offset 120", "%outer 4 Offset 4"),
        (
            "ColMajor\nOpMemberDecorate %outer 3 MatrixStride 8",
            "RowMajor\nOpMemberDecorate %outer 3 MatrixStride 20",
        ),
    ] {
        rejects_layout("SPIRV-layout-overlap", from, to);
    }
    // Members can be in any order.
    accepts_layout(
        "OpMemberDecorate %inner 0 Offset 0\nOpMemberDecorate %inner 1 Offset 8",
        "OpMemberDecorate %inner 0 Offset 8\nOpMemberDecorate %inner 1 Offset 0",
        "",
        "",
    );
}

#[test]
fn strides_that_are_too_small_are_rejected() {
    for (from, to) in [
        ("%row ArrayStride 16", "%row ArrayStride 8"),
        ("%tail ArrayStride 4", "%tail ArrayStride 0"),
        ("MatrixStride 8", "MatrixStride 4"),
    ] {
        rejects_layout("SPIRV-layout-stride", from, to);
    }
}

#[test]
fn wrong_strides_of_pointers_are_rejected() {
    const POINTER: &str = "%element = OpTypePointer StorageBuffer %uint";
    const BODY: &str = "%first = OpAccessChain %element %buffer #4 #0
%second = OpPtrAccessChain %element %first #1";
    let with = |stride: &str| {
        let mut changes = changes("", "", POINTER, BODY);
        changes[1].1 += stride;
        let capability = "OpCapability Int64\nOpCapability VariablePointers\n".to_owned();
        changes.into_iter().chain([("OpCapability Int64\n", capability)]).collect::<Vec<_>>()
    };
    let without = with("");
    let texts: Vec<_> = without.iter().map(|(at, text)| (*at, text.as_str())).collect();
    vulkan_rejects("SPIRV-OpPtrAccessChain-ArrayStride", &texts);
    let decorated = with("OpDecorate %element ArrayStride 4\n");
    let texts: Vec<_> = decorated.iter().map(|(at, text)| (*at, text.as_str())).collect();
    accepts(&findings((1, 5), VULKAN, &texts));
}

/// Types of other memory need no layout, and arrays of descriptors no stride.
#[test]
fn types_without_a_layout_need_no_decorations() {
    const TYPES: &str = "%list = OpTypeArray %uint #4
%record = OpTypeStruct %list %uint
%local_record = OpTypePointer Workgroup %record
%local = OpVariable %local_record Workgroup
%many = OpTypeArray %outer #4
%many_pointer = OpTypePointer StorageBuffer %many
%buffers = OpVariable %many_pointer StorageBuffer";
    const BINDING: &str =
        "OpDecorate %buffers DescriptorSet 0\nOpDecorate %buffers Binding 1\nOpDecorate %outer Block\n";
    accepts_layout("OpDecorate %outer Block\n", BINDING, TYPES, "");
    // A physical pointer to the same structure requires one.
    let mut changes = changes("OpDecorate %outer Block\n", BINDING, TYPES, "");
    changes[2].1 += "\n%global_record = OpTypePointer PhysicalStorageBuffer %record";
    vulkan_rejects("SPIRV-explicit-layout", &changes.each_ref().map(|(at, text)| (*at, text.as_str())));
}
