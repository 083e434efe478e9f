//! Negative tests of loads and stores.

use super::{VULKAN, accepts, findings, vulkan_rejects};

#[test]
fn valid_accesses_are_accepted() {
    for body in [
        "%x = OpLoad %uint %pointer 0x22 4",
        "OpStore %wide %address 0x2a 16 #1",
        "%x = OpLoad %uint %shared 0x20",
        "OpCopyMemory %shared %pointer 2 4",
    ] {
        accepts(&findings((1, 5), VULKAN, &[("body", body)]));
    }
}

#[test]
fn wrong_alignments_of_physical_accesses_are_rejected() {
    let aligned = "VUID-StandaloneSpirv-PhysicalStorageBuffer64-04708";
    vulkan_rejects(aligned, &[("body", "%x = OpLoad %uint %pointer")]);
    vulkan_rejects(aligned, &[("body", "OpStore %pointer #1 0x20")]);
    vulkan_rejects(
        "VUID-StandaloneSpirv-PhysicalStorageBuffer64-06314",
        &[("body", "%x = OpLoad %ulong %wide 2 4")],
    );
    vulkan_rejects("SPIRV-Aligned", &[("body", "%x = OpLoad %uint %shared 2 3")]);
    vulkan_rejects(
        "VUID-StandaloneSpirv-PhysicalStorageBuffer64-04710",
        &[("body", "%x = OpConvertPtrToU %uint %pointer")],
    );
}

#[test]
fn accesses_that_violate_the_vulkan_memory_model_are_rejected() {
    vulkan_rejects("SPIRV-MemoryAccess-NonPrivatePointer", &[("body", "%x = OpLoad %uint %shared 0x10 #2")]);
    vulkan_rejects("SPIRV-MemoryAccess-direction", &[("body", "%x = OpLoad %uint %shared 0x28 #2")]);
    vulkan_rejects("SPIRV-MemoryAccess-direction", &[("body", "OpStore %shared #1 0x30 #2")]);
    vulkan_rejects(
        "SPIRV-Coherent-VulkanMemoryModel",
        &[("OpDecorate %block Block\n", "OpDecorate %block Block\nOpDecorate %shared Coherent\n")],
    );
    // rspirv's table requires the capability of the operand, too.
    let old_model = [
        ("OpCapability VulkanMemoryModel\nOpCapability VulkanMemoryModelDeviceScope\n", ""),
        ("PhysicalStorageBuffer64 Vulkan", "PhysicalStorageBuffer64 GLSL450"),
        ("body", "%x = OpLoad %uint %shared 0x20"),
    ];
    let found = findings((1, 5), VULKAN, &old_model);
    assert!(found.iter().any(|finding| finding.rule == "SPIRV-MemoryAccess-VulkanMemoryModel"));
}

#[test]
fn accesses_with_wrong_types_are_rejected() {
    vulkan_rejects("SPIRV-access-type", &[("body", "%x = OpLoad %ulong %shared")]);
    vulkan_rejects("SPIRV-access-type", &[("body", "OpStore %shared %address")]);
}
