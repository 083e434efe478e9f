//! Negative tests of scopes and memory semantics.

use super::{
    OPENCL, VULKAN, accepts, assemble, fill, findings, opencl_rejects, rejects, verify, vulkan_rejects,
};
use kiln_vocabulary::{opencl::Environment, target::Target};

#[track_caller]
fn vulkan(rule: &str, instruction: &str) {
    vulkan_rejects(rule, &[("body", instruction)]);
}

#[track_caller]
fn opencl(rule: &str, instruction: &str) {
    opencl_rejects(rule, &[("body", instruction)]);
}

#[test]
fn valid_operations_are_accepted() {
    for body in [
        "OpAtomicStore %pointer #1 #0x2044 #1",
        "%x = OpAtomicLoad %uint %pointer #1 #0x4042",
        "%x = OpAtomicOr %uint %pointer #1 #0x6148 #0",
        "%x = OpAtomicIAdd %uint %shared #2 #0 #1",
        "%x = OpAtomicCompareExchange %uint %pointer #1 #0x6048 #0x4042 #1 #0",
        "%x = OpAtomicCompareExchange %uint %pointer #1 #0x8000 #0x8000 #1 #0",
        "%x = OpAtomicLoad %uint %pointer #4 #0",
        "OpMemoryBarrier #1 #0x6148",
        "OpControlBarrier #2 #2 #0x6108",
        "OpControlBarrier #2 #2 #0",
        "OpControlBarrier #3 #3 #0x6048",
    ] {
        accepts(&findings((1, 5), VULKAN, &[("body", body)]));
    }
    for body in [
        "OpAtomicStore %pointer #0 #0x310 #1",
        "%x = OpAtomicLoad %uint %pointer #1 #0x202",
        "OpMemoryBarrier #4 #0x808",
        "OpMemoryBarrier #1 #0",
        "OpControlBarrier #2 #1 #0x308",
        "%x = OpAtomicCompareExchange %uint %pointer #1 #0x310 #0x310 #1 #0",
    ] {
        accepts(&findings((1, 2), OPENCL, &[("body", body)]));
    }
}

#[test]
fn wrong_orders_are_rejected() {
    vulkan("VUID-StandaloneSpirv-MemorySemantics-10865", "%x = OpAtomicIAdd %uint %pointer #1 #0x604a #1");
    vulkan("VUID-StandaloneSpirv-MemorySemantics-10866", "%x = OpAtomicIAdd %uint %pointer #1 #0x50 #1");
    vulkan("VUID-StandaloneSpirv-MemorySemantics-10867", "OpAtomicStore %pointer #1 #0x42 #1");
    vulkan("VUID-StandaloneSpirv-MemorySemantics-10867", "OpAtomicStore %pointer #1 #0x48 #1");
    vulkan("VUID-StandaloneSpirv-MemorySemantics-10868", "%x = OpAtomicLoad %uint %pointer #1 #0x44");
    vulkan("VUID-StandaloneSpirv-MemorySemantics-10869", "OpMemoryBarrier #1 #0");
    opencl("SPIRV-MemorySemantics-order", "OpMemoryBarrier #1 #0x206");
    opencl("OpenCL-atomic-store-order", "OpAtomicStore %pointer #1 #0x202 #1");
    opencl("OpenCL-atomic-load-order", "%x = OpAtomicLoad %uint %pointer #1 #0x208");
}

#[test]
fn wrong_storage_classes_and_availability_are_rejected() {
    vulkan("VUID-StandaloneSpirv-MemorySemantics-10870", "%x = OpAtomicLoad %uint %pointer #1 #2");
    vulkan("VUID-StandaloneSpirv-MemorySemantics-10870", "OpMemoryBarrier #1 #0x208");
    vulkan("VUID-StandaloneSpirv-MemorySemantics-10871", "%x = OpAtomicLoad %uint %pointer #1 #0x40");
    vulkan("VUID-StandaloneSpirv-MemorySemantics-10871", "OpControlBarrier #2 #2 #0x100");
    vulkan("VUID-StandaloneSpirv-MemorySemantics-10872", "%x = OpAtomicLoad %uint %pointer #1 #0x2042");
    vulkan("VUID-StandaloneSpirv-MemorySemantics-10873", "OpAtomicStore %pointer #1 #0x4044 #1");
    vulkan("VUID-StandaloneSpirv-MemorySemantics-13551", "OpMemoryBarrier #1 #0x8048");
    vulkan("VUID-StandaloneSpirv-MemorySemantics-13551", "OpControlBarrier #2 #2 #0x8108");
    vulkan("SPIRV-MemorySemantics-bits", "OpMemoryBarrier #1 #0x10048");
    opencl("SPIRV-MemorySemantics-VulkanMemoryModel", "OpMemoryBarrier #1 #0x2204");
}

#[test]
fn wrong_compare_exchanges_are_rejected() {
    let exchange = |equal: &str, unequal: &str| {
        format!("%x = OpAtomicCompareExchange %uint %pointer #1 #{equal} #{unequal} #1 #0")
    };
    let name = |number: u32| format!("VUID-StandaloneSpirv-UnequalMemorySemantics-{number}");
    for (rule, equal, unequal) in [
        ("VUID-StandaloneSpirv-UnequalMemorySemantics-10875", "0x48", "0x44"),
        ("VUID-StandaloneSpirv-UnequalMemorySemantics-10877", "0x48", "0x142"),
        ("VUID-StandaloneSpirv-UnequalMemorySemantics-10878", "0x48", "0x4042"),
        ("VUID-StandaloneSpirv-UnequalMemorySemantics-10879", "0x8048", "0x42"),
    ] {
        vulkan(rule, &exchange(equal, unequal));
    }
    // The stronger order has a storage class that the weaker one lacks.
    let found = findings((1, 5), VULKAN, &[("body", &exchange("0", "0x42"))]);
    let rules: Vec<&str> = found.iter().map(|finding| finding.rule).collect();
    assert_eq!(rules, ["VUID-StandaloneSpirv-UnequalMemorySemantics-10876", &name(10877)]);
    opencl(
        "SPIRV-OpAtomicCompareExchange-Unequal-release",
        "%x = OpAtomicCompareExchange %uint %pointer #1 #0x208 #0x204 #1 #0",
    );
    opencl(
        "SPIRV-OpAtomicCompareExchange-Unequal-stronger",
        "%x = OpAtomicCompareExchange %uint %pointer #1 #0x208 #0x210 #1 #0",
    );
}

#[test]
fn wrong_scopes_are_rejected() {
    vulkan("VUID-StandaloneSpirv-None-04636", "OpControlBarrier #1 #2 #0x108");
    vulkan("VUID-StandaloneSpirv-None-04638", "OpMemoryBarrier #0 #0x48");
    vulkan("VUID-StandaloneSpirv-None-04641", "OpMemoryBarrier #4 #0x48");
    vulkan("VUID-StandaloneSpirv-None-04642", "%x = OpGroupNonUniformElect %bool #2");
    opencl("OpenCL-execution-scope", "OpControlBarrier #1 #2 #0x108");
    opencl("OpenCL-execution-scope", "%x = OpGroupAll %bool #1 %true");
    opencl("OpenCL-atomic-scope", "%x = OpAtomicLoad %uint %pointer #4 #0");
    opencl("OpenCL-memory-scope", "%x = OpAtomicLoad %uint %pointer #5 #0");
    opencl("OpenCL-memory-scope", "OpMemoryBarrier #5 #0x208");
    let events = [
        ("globals", "%event = OpTypeEvent\n%events = OpTypePointer Function %event"),
        ("body", "%list = OpVariable %events Function\nOpGroupWaitEvents #3 #1 %list"),
    ];
    opencl_rejects("OpenCL-async-scope", &events);
}

#[test]
fn scopes_without_their_capability_are_rejected() {
    let device = [
        ("OpCapability VulkanMemoryModelDeviceScope\n", ""),
        ("body", "%x = OpAtomicLoad %uint %pointer #1 #0"),
    ];
    vulkan_rejects("SPIRV-VulkanMemoryModelDeviceScope", &device);
    let subgroup = [("OpCapability GroupNonUniform\n", ""), ("body", "OpMemoryBarrier #3 #0x48")];
    vulkan_rejects("VUID-StandaloneSpirv-SubgroupVoteKHR-07951", &subgroup);
    let old_model = [
        ("OpCapability VulkanMemoryModel\nOpCapability VulkanMemoryModelDeviceScope\n", ""),
        ("PhysicalStorageBuffer64 Vulkan", "PhysicalStorageBuffer64 GLSL450"),
        ("body", "OpMemoryBarrier #5 #0x48"),
    ];
    vulkan_rejects("SPIRV-QueueFamily", &old_model);
}

#[test]
fn a_target_can_lack_the_device_scope() {
    let words = assemble((1, 5), &fill(VULKAN, &[("body", "OpMemoryBarrier #1 #0x48")]));
    let mut target = Target::full(Environment::Vulkan);
    accepts(&verify(&words, Some(&target)));
    target.features.device_scope = false;
    rejects("VUID-RuntimeSpirv-vulkanMemoryModel-06265", &verify(&words, Some(&target)));
}

#[test]
fn scopes_are_constants() {
    let scope = "%x = OpLoad %uint %private\nOpMemoryBarrier %x #0x48";
    vulkan("SPIRV-Scope-constant", scope);
    let specialized =
        [("globals", "%scope = OpSpecConstant %uint 2"), ("body", "OpMemoryBarrier %scope #0x48")];
    vulkan_rejects("SPIRV-Scope-constant", &specialized);
    vulkan("SPIRV-Scope-constant", "OpMemoryBarrier #1 %true");
    accepts(&findings((1, 2), OPENCL, &[("body", &scope.replace("0x48", "0x208"))]));
}

#[test]
fn barriers_before_spirv_1_3_are_for_compute() {
    let changes = [
        ("GLCompute", "Fragment"),
        ("%main \"main\" %push %shared", "%main \"main\""),
        ("OpExecutionMode %main LocalSize 1 1 1", "OpExecutionMode %main OriginUpperLeft"),
        ("body", "OpControlBarrier #3 #3 #0"),
    ];
    rejects("SPIRV-OpControlBarrier-1.3", &findings((1, 2), VULKAN, &changes));
}
