//! Negative tests of the structure of a module.

use super::{OPENCL, VULKAN, accepts, assemble, fill, findings, rejects, verify, vulkan_rejects};

#[test]
fn wrong_ids_are_rejected() {
    let mut words = assemble((1, 5), &fill(VULKAN, &[]));
    words[3] -= 1;
    rejects("SPIRV-id-bound", &verify(&words, None));
    vulkan_rejects("SPIRV-id-once", &[("body", "%address = OpLoad %ulong %argument")]);
    vulkan_rejects("SPIRV-id-defined", &[("body", "%x = OpIAdd %uint %nothing #1")]);
    vulkan_rejects("SPIRV-id-defined", &[("body", "%x = OpIAdd %uint %y #1\n%y = OpIAdd %uint #1 #1")]);
    vulkan_rejects("SPIRV-id-defined", &[("body", "%x = OpIAdd %nothing #1 #1")]);
    vulkan_rejects("SPIRV-result-type", &[("body", "%x = OpIAdd %true #1 #1")]);
    for body in [
        "OpStore %private %uint",
        "OpStore %private %entry",
        "OpStore %private %main",
        "%x = OpIAdd %uint #1 %entry",
        "%x = OpFunctionCall %void %entry",
    ] {
        let broken = findings((1, 5), VULKAN, &[("body", body)]);
        assert!(broken.iter().any(|finding| finding.rule == "SPIRV-operand"), "{body}: {broken:?}");
    }
    vulkan_rejects("SPIRV-type-once", &[("globals", "%again = OpTypeInt 32 0")]);
}

#[test]
fn wrong_orders_of_sections_are_rejected() {
    let late = "OpTypeFloat";
    assert!(VULKAN.contains(late));
    vulkan_rejects(
        "SPIRV-layout",
        &[
            ("functions", "%late = OpTypeFloat 16"),
            ("OpCapability Int64\n", "OpCapability Int64\nOpCapability Float16\n"),
        ],
    );
    vulkan_rejects("SPIRV-layout", &[("globals", "OpName %block \"b\"")]);
    vulkan_rejects("SPIRV-layout", &[("OpCapability Shader\n", "OpFunctionEnd\nOpCapability Shader\n")]);
    vulkan_rejects("SPIRV-layout", &[("functions", "%loose = OpIAdd %uint #1 #1")]);
}

/// Declarations of SPV_INTEL_memory_access_aliasing are among the types, where llvm-spirv writes them.
#[test]
fn alias_scopes_are_accepted() {
    let declared = "%domain = OpAliasDomainDeclINTEL\n%scope = OpAliasScopeDeclINTEL %domain\n%list = OpAliasScopeListDeclINTEL %scope";
    let model = "OpMemoryModel";
    let enabled = "OpCapability MemoryAccessAliasingINTEL\nOpExtension \"SPV_INTEL_memory_access_aliasing\"\nOpMemoryModel";
    assert!(OPENCL.contains(model));
    let edits = [(model, enabled), ("globals", declared)];
    accepts(&findings((1, 4), OPENCL, &edits));
}

#[test]
fn wrong_functions_and_blocks_are_rejected() {
    vulkan_rejects("SPIRV-block", &[("OpReturn\n", "")]);
    vulkan_rejects(
        "SPIRV-block",
        &[("body", "OpReturn\n%x = OpIAdd %uint #1 #1"), ("OpReturn\nOpFunctionEnd", "OpFunctionEnd")],
    );
    vulkan_rejects("SPIRV-block", &[("body", "%next = OpLabel")]);
    vulkan_rejects(
        "SPIRV-function",
        &[("%procedure = OpTypeFunction %void", "%procedure = OpTypeFunction %void %void")],
    );
    vulkan_rejects("SPIRV-function", &[("OpReturn\nOpFunctionEnd", "OpReturn")]);
    vulkan_rejects("SPIRV-OpVariable-function", &[("body", "%late = OpVariable %private_uint Function")]);
}

#[test]
fn wrong_branches_are_rejected() {
    vulkan_rejects("SPIRV-branch", &[("OpReturn", "OpBranch %entry")]);
    vulkan_rejects("SPIRV-branch", &[("OpReturn", "OpBranch %main")]);
    let body = "OpSelectionMerge %done 0\nOpBranch %done\n%done = OpLabel";
    let merge = "OpSelectionMerge %main 0\nOpBranchConditional %true %done %done\n%done = OpLabel";
    vulkan_rejects("SPIRV-branch", &[("body", merge)]);
    vulkan_rejects("SPIRV-merge", &[("body", body)]);
    let both = "OpSelectionMerge %done 3\nOpBranchConditional %true %done %done\n%done = OpLabel";
    vulkan_rejects("SPIRV-merge-control", &[("body", both)]);
    let both = "OpBranch %head\n%head = OpLabel\nOpLoopMerge %done %next 3\nOpBranchConditional %true %done %next\n\
                %next = OpLabel\nOpBranch %head\n%done = OpLabel";
    vulkan_rejects("SPIRV-merge-control", &[("body", both)]);
}
