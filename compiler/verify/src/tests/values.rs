//! Rules on values of constants, before and after specialization.

use super::{VULKAN, ValueRules, accepts, assemble, examine, fill, vulkan_rejects};

/// The rules of the valid Vulkan module with these changes.
#[track_caller]
fn rules(changes: &[(&str, &str)]) -> ValueRules {
    let (findings, rules) = examine(&assemble((1, 5), &fill(VULKAN, changes)), None);
    accepts(&findings);
    rules
}

/// The rules that these values break.
fn broken(rules: &ValueRules, values: &[(u32, u32)]) -> Vec<String> {
    rules.violations(values).iter().map(|finding| format!("{}: {}", finding.rule, finding.message)).collect()
}

/// `%n` with SpecId 5 and a default of 4.
const SPECIALIZED: (&str, &str) =
    ("OpDecorate %block Block", "OpDecorate %block Block\nOpDecorate %n SpecId 5");

#[test]
fn wrong_lengths_are_rejected() {
    vulkan_rejects("SPIRV-OpTypeArray-length", &[("globals", "%a = OpTypeArray %uint #0")]);
    let real = "%one = OpConstant %float 0x3f800000\n%a = OpTypeArray %uint %one";
    vulkan_rejects("SPIRV-OpTypeArray-length", &[("globals", real)]);
    let negative =
        "%int = OpTypeInt 32 1\n%below = OpConstant %int 0xffffffff\n%a = OpTypeArray %uint %below";
    vulkan_rejects("SPIRV-OpTypeArray-length", &[("globals", negative)]);
    vulkan_rejects(
        "SPIRV-OpTypeArray-length",
        &[SPECIALIZED, ("globals", "%n = OpSpecConstant %uint 0\n%a = OpTypeArray %uint %n")],
    );
    let array = "%n = OpSpecConstant %uint 4\n%a = OpTypeArray %uint %n";
    let rules_of_one = rules(&[SPECIALIZED, ("globals", array)]);
    assert_eq!(broken(&rules_of_one, &[]), Vec::<String>::new());
    assert_eq!(broken(&rules_of_one, &[(5, 1), (6, 0)]), Vec::<String>::new());
    assert_eq!(broken(&rules_of_one, &[(5, 0)]), ["SPIRV-OpTypeArray-length: the value is 0"]);
    let fixed = rules(&[("globals", "%a = OpTypeArray %uint #3")]);
    assert_eq!(fixed, ValueRules::default());
}

/// Lengths that are computed from specialization constants.
#[test]
fn constant_operations_are_evaluated() {
    let length = |operation: &str| {
        let text = format!("%n = OpSpecConstant %uint 4\n{operation}\n%a = OpTypeArray %uint %length");
        rules(&[SPECIALIZED, ("globals", &text)])
    };
    let difference = length("%length = OpSpecConstantOp %uint ISub %n #2");
    for (value, wanted) in [(3, true), (2, false), (1, true)] {
        assert_eq!(broken(&difference, &[(5, value)]).is_empty(), wanted, "{value}");
    }
    let quotient = length("%length = OpSpecConstantOp %uint UDiv #8 %n");
    assert!(broken(&quotient, &[(5, 8)]).is_empty());
    assert_eq!(broken(&quotient, &[(5, 9)]), ["SPIRV-OpTypeArray-length: the value is 0"]);
    assert_eq!(
        broken(&quotient, &[(5, 0)]),
        ["SPIRV-OpTypeArray-length: the value is not an integer constant"]
    );
    let selected = length(
        "%is = OpSpecConstantOp %bool UGreaterThan %n #2\n%length = OpSpecConstantOp %uint Select %is #1 #0",
    );
    assert!(broken(&selected, &[(5, 3)]).is_empty());
    assert!(!broken(&selected, &[(5, 2)]).is_empty());
    let part = length(
        "%v2 = OpTypeVector %uint 2\n%pair = OpSpecConstantComposite %v2 #1 %n\n%length = OpSpecConstantOp %uint CompositeExtract %pair 1",
    );
    assert!(broken(&part, &[(5, 7)]).is_empty());
    assert!(!broken(&part, &[(5, 0)]).is_empty());
    let wide = length(
        "%wide_n = OpSpecConstantOp %ulong UConvert %n\n%length = OpSpecConstantOp %uint UConvert %wide_n",
    );
    assert!(!broken(&wide, &[(5, 0)]).is_empty());
}

#[test]
fn wrong_sizes_of_work_groups_are_rejected() {
    let mode = "LocalSize 1 1 1";
    vulkan_rejects("SPIRV-work-group-size", &[(mode, "LocalSize 1 0 1")]);
    let by_id = [
        SPECIALIZED,
        ("OpExecutionMode %main LocalSize 1 1 1", "OpExecutionModeId %main LocalSizeId #1 %n #1"),
        ("globals", "%n = OpSpecConstant %uint 4"),
    ];
    let words = assemble((1, 6), &fill(VULKAN, &by_id));
    let (findings, sizes) = examine(&words, None);
    accepts(&findings);
    assert!(broken(&sizes, &[(5, 64)]).is_empty());
    assert_eq!(broken(&sizes, &[(5, 0)]), ["SPIRV-work-group-size: the value is 0"]);
    let object = "%v3 = OpTypeVector %uint 3\n%n = OpSpecConstant %uint 4\n%size = OpSpecConstantComposite %v3 %n #1 #1";
    let decorated = format!("{}\nOpDecorate %size BuiltIn WorkgroupSize", SPECIALIZED.1);
    let sizes = rules(&[(SPECIALIZED.0, &decorated), ("globals", object)]);
    assert_eq!(broken(&sizes, &[(5, 0)]), ["SPIRV-work-group-size: the value is 0"]);
}

#[test]
fn wrong_sizes_of_clusters_are_rejected() {
    let capability = ("OpCapability GroupNonUniform\n", "OpCapability GroupNonUniformClustered\n");
    let sum = |size: &str| format!("%sum = OpGroupNonUniformIAdd %uint #3 3 #1 {size}");
    vulkan_rejects("SPIRV-ClusterSize", &[capability, ("body", &sum("#3"))]);
    vulkan_rejects("SPIRV-ClusterSize", &[capability, ("body", &sum("#0"))]);
    let body = sum("%n");
    let changes = [capability, SPECIALIZED, ("globals", "%n = OpSpecConstant %uint 4"), ("body", &body)];
    let sizes = rules(&changes);
    assert!(broken(&sizes, &[(5, 8)]).is_empty());
    assert_eq!(broken(&sizes, &[(5, 6)]), ["SPIRV-ClusterSize: the value is 6"]);
}
