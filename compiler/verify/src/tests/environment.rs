//! Negative tests of the environments' rules for whole modules, and of capabilities.

use super::{
    OPENCL, VULKAN, accepts, assemble, fill, findings, opencl_rejects, rejects, verify, vulkan_rejects,
};
use kiln_vocabulary::{opencl::Environment, target::Target};

/// A function that the body can call.
const FUNCTION: (&str, &str) = (
    "functions",
    "%f = OpFunction %void 0 %procedure\n%f_entry = OpLabel\n%r = OpFunctionCall %void %f\nOpReturn\nOpFunctionEnd",
);

#[test]
fn wrong_memory_models_are_rejected() {
    vulkan_rejects(
        "VUID-StandaloneSpirv-None-04635",
        &[
            ("PhysicalStorageBuffer64 Vulkan", "Physical64 Vulkan"),
            ("OpCapability Int64\n", "OpCapability Int64\nOpCapability Addresses\n"),
        ],
    );
    opencl_rejects("OpenCL-addressing-model", &[("Physical64 OpenCL", "Logical OpenCL")]);
    vulkan_rejects(
        "SPIRV-VulkanMemoryModel",
        &[("PhysicalStorageBuffer64 Vulkan", "PhysicalStorageBuffer64 GLSL450")],
    );
    opencl_rejects(
        "SPIRV-OpMemoryModel",
        &[(
            "OpMemoryModel Physical64 OpenCL",
            "OpMemoryModel Physical64 OpenCL\nOpMemoryModel Physical64 OpenCL",
        )],
    );
    opencl_rejects(
        "OpenCL-execution-model",
        &[
            ("OpEntryPoint Kernel", "OpEntryPoint GLCompute"),
            ("OpCapability Kernel", "OpCapability Shader\nOpCapability Kernel"),
        ],
    );
    let words = assemble((1, 5), &fill(VULKAN, &[]));
    rejects("Kiln-environment", &verify(&words, Some(&Target::full(Environment::OpenCl))));
}

#[test]
fn wrong_entry_points_are_rejected() {
    vulkan_rejects(
        "VUID-StandaloneSpirv-None-04633",
        &[
            ("%procedure = OpTypeFunction %void", "%procedure = OpTypeFunction %uint"),
            (
                "%procedure = OpTypeFunction %uint\n%bool = OpTypeBool\n%uint = OpTypeInt 32 0\n",
                "%bool = OpTypeBool\n%uint = OpTypeInt 32 0\n%procedure = OpTypeFunction %uint\n",
            ),
            ("%main = OpFunction %void", "%main = OpFunction %uint"),
            ("OpReturn", "OpReturnValue #1"),
        ],
    );
    vulkan_rejects("VUID-StandaloneSpirv-None-04634", &[("body", "%c = OpFunctionCall %void %f"), FUNCTION]);
    accepts(&findings((1, 5), VULKAN, &[FUNCTION]));
    let opencl_function = "%f = OpFunction %void 0 %plain\n%f_entry = OpLabel\n%r = OpFunctionCall %void %f\nOpReturn\nOpFunctionEnd";
    opencl_rejects(
        "OpenCL-recursion",
        &[
            ("globals", "%plain = OpTypeFunction %void"),
            ("body", "%c = OpFunctionCall %void %f"),
            ("functions", opencl_function),
        ],
    );
    let caller = "%f = OpFunction %void 0 %plain\n%f_entry = OpLabel\n%r = OpFunctionCall %void %main %p %w\nOpReturn\nOpFunctionEnd";
    opencl_rejects(
        "OpenCL-entry-point-call",
        &[
            (
                "globals",
                "%plain = OpTypeFunction %void\n%p = OpConstantNull %global_uint\n%w = OpConstantNull %global_ulong",
            ),
            ("functions", caller),
        ],
    );
}

#[test]
fn wrong_interfaces_are_rejected() {
    let name = "%main \"main\" %push %shared";
    vulkan_rejects("SPIRV-OpEntryPoint-interface", &[(name, "%main \"main\" %shared")]);
    vulkan_rejects("SPIRV-OpEntryPoint-interface", &[(name, "%main \"main\" %push %shared %block")]);
    rejects("SPIRV-OpEntryPoint-interface", &findings((1, 3), VULKAN, &[]));
    let second = "%second = OpVariable %push_block PushConstant";
    vulkan_rejects(
        "VUID-StandaloneSpirv-OpVariable-06673",
        &[(name, "%main \"main\" %push %shared %second"), ("globals", second)],
    );
    // SPIR-V 1.3 lists only inputs and outputs, so there a second push constant breaks no other rule.
    let used = [
        (name, "%main \"main\""),
        ("globals", second),
        ("body", "%other = OpAccessChain %push_ulong %second #0"),
    ];
    rejects("VUID-StandaloneSpirv-OpEntryPoint-06674", &findings((1, 3), VULKAN, &used));
    vulkan_rejects(
        "VUID-StandaloneSpirv-None-04644",
        &[
            (name, "%main \"main\" %push %shared %out"),
            ("globals", "%outs = OpTypePointer Output %uint\n%out = OpVariable %outs Output"),
        ],
    );
}

#[test]
fn wrong_storage_classes_are_rejected() {
    vulkan_rejects(
        "VUID-StandaloneSpirv-None-04643",
        &[("globals", "%far = OpTypePointer CrossWorkgroup %uint")],
    );
    vulkan_rejects(
        "VUID-StandaloneSpirv-OpTypeForwardPointer-04711",
        &[
            ("OpCapability Int64\n", "OpCapability Int64\nOpCapability Addresses\n"),
            ("globals", "OpTypeForwardPointer %node Workgroup\n%node = OpTypePointer Workgroup %uint"),
        ],
    );
    vulkan_rejects(
        "VUID-StandaloneSpirv-OpVariable-04651",
        &[("globals", "%ins = OpTypePointer Input %uint\n%in = OpVariable %ins Input #0")],
    );
}

#[test]
fn wrong_types_for_opencl_are_rejected() {
    opencl_rejects("OpenCL-OpTypeInt", &[("globals", "%int = OpTypeInt 32 1")]);
    let image = |text: &str| {
        opencl_rejects("OpenCL-OpTypeImage", &[("globals", text)]);
    };
    image("%image = OpTypeImage %uint Dim2D 0 0 0 0 Unknown ReadOnly");
    image("%image = OpTypeImage %void Dim2D 0 0 0 1 Unknown ReadOnly");
    image("%image = OpTypeImage %void Dim2D 0 0 0 0 Unknown");
    accepts(&findings(
        (1, 2),
        OPENCL,
        &[("globals", "%image = OpTypeImage %void Dim2D 0 1 0 0 Unknown ReadOnly")],
    ));
}

#[test]
fn wrong_capabilities_are_rejected() {
    vulkan_rejects("SPIRV-capability-instruction", &[("body", "%x = OpGroupNonUniformAll %bool #3 %true")]);
    vulkan_rejects(
        "SPIRV-capability-operand",
        &[("OpDecorate %block Block\n", "OpDecorate %block Block\nOpDecorate %shared Patch\n")],
    );
    vulkan_rejects("SPIRV-capability-width", &[("globals", "%double = OpTypeFloat 64")]);
    vulkan_rejects("SPIRV-capability-width", &[("globals", "%uchar = OpTypeInt 8 0")]);
}
