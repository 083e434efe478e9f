//! Capabilities: each instruction and operand has one of the capabilities in its grammar row.
//!
//! The rows are rspirv's, which are generated from the SPIR-V grammar.

use rspirv::spirv::{Capability, MemoryModel, Op};

use super::{Context, Finding, Rule};
use kiln_vocabulary::opencl::Environment;

pub(super) const RULES: &[Rule] = &[INSTRUCTION, OPERAND, MODEL, WIDTH];

const INSTRUCTION: Rule = Rule {
    id: "SPIRV-capability-instruction",
    text: "a capability that enables the instruction is declared or implied",
};
const OPERAND: Rule = Rule {
    id: "SPIRV-capability-operand",
    text: "a capability that enables the operand is declared or implied",
};
const MODEL: Rule = Rule {
    id: "SPIRV-VulkanMemoryModel",
    text: "the VulkanMemoryModel capability is declared if and only if the memory model is Vulkan",
};
const WIDTH: Rule = Rule {
    id: "SPIRV-capability-width",
    text: "integers and floats of 8, 16 and 64 bits need the capability for their width, or at least a \
           storage capability for it",
};

pub(super) fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    let module = context.module;
    let any = |needed: &[Capability]| needed.is_empty() || needed.iter().any(|one| module.has(*one));
    for entry in &module.entries {
        if !any(entry.class.capabilities) {
            let needed = entry.class.capabilities;
            findings.push(entry.finding(&INSTRUCTION, format!("it needs one of {needed:?}")));
        }
        if matches!(entry.op(), Op::TypeInt | Op::TypeFloat)
            && let Some(width) = entry.literal(0)
            && !any(widths(entry.op(), width))
        {
            let needed = widths(entry.op(), width);
            findings.push(entry.finding(&WIDTH, format!("{width} bits need one of {needed:?}")));
        }
    }
    let is_enabled: Vec<bool> = module.enumerants.iter().map(|it| any(&it.capabilities)).collect();
    for (entry, enumerant) in module.needs.iter().map(|(entry, row)| (*entry as usize, *row as usize)) {
        if !is_enabled[enumerant] {
            let row = &module.enumerants[enumerant];
            let message = format!("{:?} needs one of {:?}", row.shown, row.capabilities);
            findings.push(module.entries[entry].finding(&OPERAND, message));
        }
    }
    let vulkan = module.memory_model().is_some_and(|(_, model)| model == MemoryModel::Vulkan);
    if context.environment == Environment::Vulkan && vulkan != module.has(Capability::VulkanMemoryModel) {
        findings.push(Finding::of_module(&MODEL, "the capability and the memory model do not match"));
    }
}

fn widths(op: Op, width: u32) -> &'static [Capability] {
    use Capability::*;
    match (op, width) {
        (Op::TypeInt, 8) => &[
            Int8,
            Kernel,
            StorageBuffer8BitAccess,
            UniformAndStorageBuffer8BitAccess,
            StoragePushConstant8,
            WorkgroupMemoryExplicitLayout8BitAccessKHR,
        ],
        (Op::TypeInt, 16) => &[
            Int16,
            StorageBuffer16BitAccess,
            UniformAndStorageBuffer16BitAccess,
            StoragePushConstant16,
            StorageInputOutput16,
            WorkgroupMemoryExplicitLayout16BitAccessKHR,
        ],
        (Op::TypeFloat, 16) => &[
            Float16,
            Float16Buffer,
            StorageBuffer16BitAccess,
            UniformAndStorageBuffer16BitAccess,
            StoragePushConstant16,
            StorageInputOutput16,
            WorkgroupMemoryExplicitLayout16BitAccessKHR,
        ],
        (Op::TypeInt, 64) => &[Int64],
        (Op::TypeFloat, 64) => &[Float64],
        _ => &[],
    }
}
