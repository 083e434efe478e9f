//! Negative tests of declarations.

use super::{VULKAN, accepts, findings, vulkan_rejects};

#[track_caller]
fn rejects_globals(rule: &str, globals: &str) {
    vulkan_rejects(rule, &[("globals", globals)]);
}

#[test]
fn wrong_types_are_rejected() {
    for ty in [
        "%a = OpTypeVector %block 2",
        "%a = OpTypeArray %void #1",
        "%a = OpTypeArray #1 #1",
        "%a = OpTypeStruct %uint #1",
        "%a = OpTypeStruct %void",
        "%a = OpTypePointer Function #1",
        "%a = OpTypeFunction %uint %void",
        "%a = OpTypeInt 64 2",
        "%a = OpTypeFloat 48",
    ] {
        rejects_globals("SPIRV-type", ty);
    }
    for ty in ["%a = OpTypeVector %uint 1", "%a = OpTypeVector %uint 5", "%a = OpTypeVector %uint 8"] {
        rejects_globals("SPIRV-vector-size", ty);
    }
    let vector = "%a = OpTypeVector %uint 16\n%b = OpTypeArray %a #2\n%c = OpTypeStruct %b %a";
    let capability =
        ("OpCapability Int64\n", "OpCapability Int64\nOpCapability Kernel\nOpCapability Vector16\n");
    accepts(&findings((1, 5), VULKAN, &[capability, ("globals", vector)]));
}

#[test]
fn literals_of_narrow_numbers() {
    let narrow = [("OpCapability Int64\n", "OpCapability Int64\nOpCapability Int16\nOpCapability Float16\n")];
    for (ty, right, wrong) in [
        ("OpTypeInt 16 0", "0xfff0", "0xfffffff0"),
        ("OpTypeInt 16 1", "0xfffffff0", "0xfff0"),
        ("OpTypeFloat 16", "0x3c00", "0x10003c00"),
    ] {
        let with = |value| format!("%narrow = {ty}\n%a = OpConstant %narrow {value}");
        accepts(&findings((1, 5), VULKAN, &[narrow[0], ("globals", &with(right))]));
        vulkan_rejects("SPIRV-literal-bits", &[narrow[0], ("globals", &with(wrong))]);
    }
}

#[test]
fn wrong_constants_are_rejected() {
    for constant in [
        "%a = OpConstantTrue %uint",
        "%a = OpConstant %bool 1",
        "%a = OpConstant %block 1",
        "%a = OpConstantComposite %uint #1",
        "%a = OpConstantComposite %block #1",
        "%a = OpConstantComposite %block",
        "%v = OpTypeVector %uint 2\n%a = OpConstantComposite %v #1 #1 #1",
        "%v = OpTypeVector %uint 2\n%a = OpSpecConstantComposite %v #1 %true",
    ] {
        rejects_globals("SPIRV-constant", constant);
    }
}

#[test]
fn wrong_variables_are_rejected() {
    for variable in [
        "%a = OpVariable %private_uint Private",
        "%a = OpVariable %uint Private",
        "%p = OpTypePointer Private %uint\n%a = OpVariable %p Private %true",
        "%p = OpTypePointer Private %uint\n%a = OpVariable %p Private %uint",
    ] {
        rejects_globals("SPIRV-OpVariable", variable);
    }
    let valid = "%p = OpTypePointer Private %uint\n%a = OpVariable %p Private #1";
    accepts(&findings((1, 5), VULKAN, &[("globals", valid)]));
}

#[test]
fn wrong_entry_points_are_rejected() {
    let mode = "OpExecutionMode %main LocalSize 1 1 1\n";
    vulkan_rejects(
        "SPIRV-OpEntryPoint",
        &[(mode, &format!("{mode}OpExecutionMode %void LocalSize 1 1 1\n"))],
    );
    let point = "OpEntryPoint GLCompute %main \"main\" %push %shared";
    let found = findings((1, 5), VULKAN, &[(point, "OpEntryPoint GLCompute %uint \"main\" %push %shared")]);
    assert!(found.iter().any(|finding| finding.rule == "SPIRV-OpEntryPoint"), "{found:?}");
}

#[test]
fn wrong_targets_of_decorations_are_rejected() {
    let block = "OpDecorate %block Block\n";
    for decoration in [
        "OpDecorate %uint SpecId 3",
        "OpDecorate %true SpecId 3",
        "OpDecorate %uint Block",
        "OpDecorate %uint ArrayStride 4",
        "OpDecorate %uint DescriptorSet 0",
        "OpDecorate %uint BuiltIn LocalInvocationId",
        "OpDecorate %block Offset 8",
        "OpDecorate %block MatrixStride 16",
        "OpDecorate %block RowMajor",
        "OpDecorate %block ColMajor",
        "OpMemberDecorate %block 1 Offset 8",
        "OpMemberDecorate %uint 0 Offset 8",
    ] {
        vulkan_rejects("SPIRV-decoration-target", &[(block, &format!("{block}{decoration}\n"))]);
    }
}
