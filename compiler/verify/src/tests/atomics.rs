//! Negative tests of the objects of atomics.

use super::{VULKAN, accepts, findings, opencl_rejects, vulkan_rejects};

#[test]
fn atomics_in_wrong_storage_classes_are_rejected() {
    vulkan_rejects(
        "VUID-StandaloneSpirv-None-04686",
        &[("body", "%x = OpAtomicIAdd %uint %private #2 #0 #1")],
    );
    opencl_rejects("OpenCL-atomic-storage-class", &[("body", "%x = OpAtomicIAdd %uint %private #2 #0 #1")]);
    vulkan_rejects("SPIRV-atomic-pointer", &[("body", "%x = OpAtomicIAdd %uint %address #2 #0 #1")]);
}

#[test]
fn atomics_of_wrong_types_are_rejected() {
    vulkan_rejects(
        "SPIRV-atomic-type",
        &[("body", "%x = OpAtomicIAdd %float %real #2 #0 %f"), ("globals", "%f = OpConstant %float 0")],
    );
    accepts(&findings((1, 5), VULKAN, &[("body", "%x = OpAtomicLoad %float %real #2 #0")]));
    vulkan_rejects("SPIRV-atomic-match", &[("body", "%x = OpAtomicIAdd %uint %pointer #2 #0 %address")]);
    vulkan_rejects(
        "SPIRV-Int64Atomics",
        &[("OpCapability Int64Atomics\n", ""), ("body", "%x = OpAtomicIAdd %ulong %wide #1 #0 %address")],
    );
    opencl_rejects("SPIRV-Int64Atomics", &[("body", "%x = OpAtomicLoad %ulong %wide #1 #0")]);
    vulkan_rejects(
        "SPIRV-narrow-atomics",
        &[
            ("OpCapability Int64\n", "OpCapability Int64\nOpCapability Int16\n"),
            ("globals", "%ushort = OpTypeInt 16 0\n%shorts = OpTypePointer PhysicalStorageBuffer %ushort"),
            ("body", "%s = OpConvertUToPtr %shorts %address\n%x = OpAtomicLoad %ushort %s #1 #0"),
        ],
    );
    let float_add = [
        ("OpCapability Int64\n", "OpCapability Int64\nOpCapability AtomicFloat64AddEXT\n"),
        ("globals", "%f = OpConstant %float 0"),
        ("body", "%x = OpAtomicFAddEXT %float %real #1 #0 %f"),
    ];
    vulkan_rejects("SPIRV-float-atomics", &float_add);
    opencl_rejects("SPIRV-OpAtomicFlag", &[("body", "%x = OpAtomicFlagTestAndSet %bool %wide #1 #0")]);
}
