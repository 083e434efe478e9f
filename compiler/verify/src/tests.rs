//! Negative tests: each rule rejects a modified module, and no rule rejects the original ones.

mod accesses;
mod assembler;
mod atomics;
mod builtins;
mod composites;
mod control_flow;
mod declarations;
mod environment;
mod extended;
mod images;
mod layouts;
mod limits;
mod numbers;
mod reading;
mod signatures;
mod structure;
mod synchronization;
mod values;
mod variables;

use super::*;
use assembler::assemble;

/// A compute shader of the Vulkan environment with an instruction for each rule to check.
const VULKAN: &str = "
OpCapability Shader
OpCapability VulkanMemoryModel
OpCapability VulkanMemoryModelDeviceScope
OpCapability PhysicalStorageBufferAddresses
OpCapability GroupNonUniform
OpCapability Int64
OpCapability Int64Atomics
OpMemoryModel PhysicalStorageBuffer64 Vulkan
OpEntryPoint GLCompute %main \"main\" %push %shared
OpExecutionMode %main LocalSize 1 1 1
OpName %main \"main\"
OpDecorate %block Block
OpMemberDecorate %block 0 Offset 0
%void = OpTypeVoid
%procedure = OpTypeFunction %void
%bool = OpTypeBool
%uint = OpTypeInt 32 0
%ulong = OpTypeInt 64 0
%float = OpTypeFloat 32
constants
%true = OpConstantTrue %bool
%block = OpTypeStruct %ulong
%push_block = OpTypePointer PushConstant %block
%push_ulong = OpTypePointer PushConstant %ulong
%global_uint = OpTypePointer PhysicalStorageBuffer %uint
%global_ulong = OpTypePointer PhysicalStorageBuffer %ulong
%global_float = OpTypePointer PhysicalStorageBuffer %float
%local_uint = OpTypePointer Workgroup %uint
%private_uint = OpTypePointer Function %uint
%push = OpVariable %push_block PushConstant
%shared = OpVariable %local_uint Workgroup
globals
%main = OpFunction %void 0 %procedure
%entry = OpLabel
%private = OpVariable %private_uint Function
%argument = OpAccessChain %push_ulong %push #0
%address = OpLoad %ulong %argument
%pointer = OpConvertUToPtr %global_uint %address
%wide = OpConvertUToPtr %global_ulong %address
%real = OpConvertUToPtr %global_float %address
body
OpReturn
OpFunctionEnd
functions
";

/// A kernel of the OpenCL environment.
const OPENCL: &str = "
OpCapability Kernel
OpCapability Addresses
OpCapability Int64
OpCapability Groups
OpCapability GenericPointer
OpMemoryModel Physical64 OpenCL
OpEntryPoint Kernel %main \"main\"
%void = OpTypeVoid
%uint = OpTypeInt 32 0
%ulong = OpTypeInt 64 0
%bool = OpTypeBool
constants
%true = OpConstantTrue %bool
%global_uint = OpTypePointer CrossWorkgroup %uint
%global_ulong = OpTypePointer CrossWorkgroup %ulong
%private_uint = OpTypePointer Function %uint
%kernel = OpTypeFunction %void %global_uint %global_ulong
globals
%main = OpFunction %void 0 %kernel
%pointer = OpFunctionParameter %global_uint
%wide = OpFunctionParameter %global_ulong
%entry = OpLabel
%private = OpVariable %private_uint Function
body
OpReturn
OpFunctionEnd
functions
";

/// A template with text in place of some of its lines: `constants`, `globals`, `body`, `functions`, or any other.
fn fill(template: &str, changes: &[(&str, &str)]) -> String {
    let mut text = template.to_owned();
    for (position, change) in changes {
        assert!(text.contains(position), "there is no {position:?}");
        text = text.replacen(position, change, 1);
    }
    for position in ["globals\n", "body\n", "functions\n"] {
        text = text.replace(position, "");
    }
    text
}

fn findings(version: (u8, u8), template: &str, changes: &[(&str, &str)]) -> Vec<Finding> {
    verify(&assemble(version, &fill(template, changes)), None)
}

/// The Vulkan module with these changes breaks this rule, and no other.
#[track_caller]
fn vulkan_rejects(rule: &str, changes: &[(&str, &str)]) {
    rejects(rule, &findings((1, 5), VULKAN, changes));
}

/// The OpenCL module with these changes breaks this rule, and no other.
#[track_caller]
fn opencl_rejects(rule: &str, changes: &[(&str, &str)]) {
    rejects(rule, &findings((1, 2), OPENCL, changes));
}

#[track_caller]
fn rejects(rule: &str, findings: &[Finding]) {
    assert!(!findings.is_empty(), "no rule is violated");
    for finding in findings {
        assert_eq!(finding.rule, rule, "{finding}");
    }
}

#[track_caller]
fn accepts(findings: &[Finding]) {
    assert!(findings.is_empty(), "{}", findings[0]);
}

#[test]
fn the_unmodified_modules_are_valid() {
    accepts(&findings((1, 5), VULKAN, &[]));
    accepts(&findings((1, 2), OPENCL, &[]));
}

#[test]
fn each_rule_has_a_test_and_a_unique_id() {
    let tests = concat!(
        include_str!("tests/accesses.rs"),
        include_str!("tests/atomics.rs"),
        include_str!("tests/builtins.rs"),
        include_str!("tests/composites.rs"),
        include_str!("tests/control_flow.rs"),
        include_str!("tests/declarations.rs"),
        include_str!("tests/environment.rs"),
        include_str!("tests/extended.rs"),
        include_str!("tests/images.rs"),
        include_str!("tests/layouts.rs"),
        include_str!("tests/limits.rs"),
        include_str!("tests/numbers.rs"),
        include_str!("tests/reading.rs"),
        include_str!("tests/signatures.rs"),
        include_str!("tests/structure.rs"),
        include_str!("tests/synchronization.rs"),
        include_str!("tests/values.rs"),
        include_str!("tests/variables.rs"),
    );
    let mut seen = std::collections::HashSet::new();
    for rule in rules() {
        assert!(seen.insert(rule.id), "{} is listed twice", rule.id);
        assert!(tests.contains(&format!("\"{}\"", rule.id)), "{} has no negative test", rule.id);
    }
}

#[test]
fn the_documented_rules_are_those_that_are_checked() {
    let text = include_str!("lib.rs");
    let listed: Vec<(&str, &str)> =
        text.lines().filter_map(|line| line.strip_prefix("//! - `")?.split_once("`: ")).collect();
    let enforced: Vec<(&str, &str)> = rules().map(|rule| (rule.id, rule.text)).collect();
    assert_eq!(listed, enforced);
}

/// llvm-spirv breaks these rules, and consumers of kernels do not rely on them.
#[test]
fn warnings_of_kernel_modules() {
    let late = [("body", "OpStore %private #1\n%late = OpVariable %private_uint Function")];
    let [finding] = &findings((1, 2), OPENCL, &late)[..] else { panic!("one finding") };
    assert_eq!((finding.rule, finding.severity), ("SPIRV-OpVariable-function", Severity::Warning));
    let [finding] = &findings((1, 5), VULKAN, &late)[..] else { panic!("one finding") };
    assert_eq!((finding.rule, finding.severity), ("SPIRV-OpVariable-function", Severity::Error));
    for rule in TOLERATED_IN_KERNELS {
        assert!(rules().any(|known| known.id == rule), "{rule}");
    }
}
