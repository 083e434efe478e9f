//! Negative tests of the rules for variables and work-groups.

use super::{VULKAN, accepts, findings, vulkan_rejects};

/// The module as a vertex shader, without a work-group variable unless a change adds one.
const VERTEX: (&str, &str) = (
    "OpEntryPoint GLCompute %main \"main\" %push %shared\nOpExecutionMode %main LocalSize 1 1 1",
    "OpEntryPoint Vertex %main \"main\" %push",
);

#[test]
fn wrong_initializers_of_work_group_variables_are_rejected() {
    let with = |value: &'static str| [("%shared = OpVariable %local_uint Workgroup", value)];
    vulkan_rejects(
        "VUID-StandaloneSpirv-OpVariable-04734",
        &with("%shared = OpVariable %local_uint Workgroup #1"),
    );
    accepts(&findings(
        (1, 5),
        VULKAN,
        &with("%zero = OpConstantNull %uint\n%shared = OpVariable %local_uint Workgroup %zero"),
    ));
}

#[test]
fn wrong_blocks_are_rejected() {
    vulkan_rejects("VUID-StandaloneSpirv-PushConstant-06675", &[("OpDecorate %block Block\n", "")]);
    vulkan_rejects(
        "VUID-StandaloneSpirv-PushConstant-06808",
        &[
            ("OpDecorate %block Block\n", "OpDecorate %block Block\nOpDecorate %many ArrayStride 8\n"),
            (
                "%push_block = OpTypePointer PushConstant %block",
                "%many = OpTypeArray %block #1\n%push_block = OpTypePointer PushConstant %many",
            ),
            (
                "%argument = OpAccessChain %push_ulong %push #0",
                "%argument = OpAccessChain %push_ulong %push #0 #0",
            ),
        ],
    );
}

/// A uniform buffer that the function reads.
fn uniform(decorations: &str, body: &str) -> Vec<(&'static str, String)> {
    vec![
        ("OpDecorate %block Block\n", format!("OpDecorate %block Block\n{decorations}")),
        ("%push %shared", "%push %shared %buffer".to_owned()),
        (
            "globals",
            "%words = OpTypeStruct %ulong\n%words_pointer = OpTypePointer Uniform %words\n\
             %word_pointer = OpTypePointer Uniform %ulong\n%buffer = OpVariable %words_pointer Uniform"
                .to_owned(),
        ),
        ("body", format!("%word = OpAccessChain %word_pointer %buffer #0\n{body}")),
    ]
}

#[test]
fn wrong_uniform_buffers_are_rejected() {
    const BOUND: &str = "OpDecorate %buffer DescriptorSet 0\nOpDecorate %buffer Binding 0\n";
    const BLOCK: &str = "OpDecorate %words Block\nOpMemberDecorate %words 0 Offset 0\n";
    let whole = format!("{BOUND}{BLOCK}");
    for (rule, decorations, body) in [
        ("", whole.as_str(), ""),
        ("VUID-StandaloneSpirv-Uniform-06676", BOUND, ""),
        ("VUID-StandaloneSpirv-UniformConstant-06677", BLOCK, ""),
        ("VUID-StandaloneSpirv-Uniform-06925", &whole, "OpStore %word %address"),
    ] {
        let changes = uniform(decorations, body);
        let changes: Vec<_> = changes.iter().map(|(position, change)| (*position, change.as_str())).collect();
        match rule {
            "" => accepts(&findings((1, 5), VULKAN, &changes)),
            _ => vulkan_rejects(rule, &changes),
        }
    }
}

#[test]
fn wrong_built_ins_of_the_interface_are_rejected() {
    let of = |second: &'static str| {
        [
            ("%push %shared", "%push %shared %one %other"),
            ("OpDecorate %block Block\n", second),
            (
                "globals",
                "%in = OpTypePointer Input %uint\n%one = OpVariable %in Input\n%other = OpVariable %in Input",
            ),
        ]
    };
    const ONE: &str = "OpDecorate %block Block\nOpDecorate %one BuiltIn LocalInvocationIndex\nOpDecorate %other BuiltIn LocalInvocationIndex\n";
    vulkan_rejects("VUID-StandaloneSpirv-OpEntryPoint-09658", &of(ONE));
    const TWO: &str = "OpDecorate %block Block\nOpDecorate %one BuiltIn LocalInvocationIndex\nOpDecorate %other BuiltIn SubgroupLocalInvocationId\n";
    accepts(&findings((1, 5), VULKAN, &of(TWO)));
}

#[test]
fn rules_of_other_execution_models_are_checked() {
    vulkan_rejects("VUID-StandaloneSpirv-None-10685", &[("OpExecutionMode %main LocalSize 1 1 1\n", "")]);
    let rejects = |rule: &str, change: (&str, &str)| vulkan_rejects(rule, &[VERTEX, change]);
    accepts(&findings((1, 5), VULKAN, &[VERTEX]));
    vulkan_rejects(
        "VUID-StandaloneSpirv-None-04645",
        &[
            (VERTEX.0, "OpEntryPoint Vertex %main \"main\" %push %shared"),
            ("body", "%l = OpLoad %uint %shared"),
        ],
    );
    rejects("VUID-StandaloneSpirv-None-04637", ("body", "OpControlBarrier #2 #3 #0"));
    rejects("VUID-StandaloneSpirv-None-07321", ("body", "%a = OpAtomicLoad %uint %pointer #2 #0"));
}

#[test]
fn wrong_pointer_access_chains_are_rejected() {
    let chain = |base: &str, ty: &str| format!("%c = OpPtrAccessChain {ty} {base} #1");
    let local = chain("%shared", "%local_uint");
    let private = chain("%private", "%private_uint");
    vulkan_rejects(
        "VUID-StandaloneSpirv-Base-07650",
        &[
            ("OpCapability Int64\n", "OpCapability Int64\nOpCapability VariablePointers\n"),
            ("body", &private),
        ],
    );
    vulkan_rejects("VUID-StandaloneSpirv-Base-07651", &[("body", &local)]);
    accepts(&findings(
        (1, 5),
        VULKAN,
        &[("OpCapability Int64\n", "OpCapability Int64\nOpCapability VariablePointers\n"), ("body", &local)],
    ));
    let changes = [
        (
            "OpDecorate %block Block\n",
            "OpDecorate %block Block\nOpDecorate %words Block\nOpMemberDecorate %words 0 Offset 0\nOpDecorate %buffer DescriptorSet 0\nOpDecorate %buffer Binding 0\nOpDecorate %word_pointer ArrayStride 8\n",
        ),
        ("%push %shared", "%push %shared %buffer"),
        (
            "globals",
            "%words = OpTypeStruct %ulong\n%words_pointer = OpTypePointer StorageBuffer %words\n\
             %word_pointer = OpTypePointer StorageBuffer %ulong\n%buffer = OpVariable %words_pointer StorageBuffer",
        ),
        (
            "body",
            "%word = OpAccessChain %word_pointer %buffer #0\n%c = OpPtrAccessChain %word_pointer %word #1",
        ),
    ];
    vulkan_rejects("VUID-StandaloneSpirv-Base-07652", &changes);
}

#[test]
fn wrong_clocks_are_rejected() {
    let with = |body: &'static str| {
        [
            (
                "OpMemoryModel",
                "OpCapability ShaderClockKHR\nOpExtension \"SPV_KHR_shader_clock\"\nOpMemoryModel",
            ),
            ("body", body),
        ]
    };
    vulkan_rejects("VUID-StandaloneSpirv-OpReadClockKHR-04652", &with("%t = OpReadClockKHR %ulong #2"));
    accepts(&findings((1, 5), VULKAN, &with("%t = OpReadClockKHR %ulong #3")));
}
