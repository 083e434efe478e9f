//! Scopes and memory semantics of a module's instructions: finds the constants, and checks them with `masks`. Also checks
//! that they are constants, and that their capabilities are declared.

use rspirv::spirv::{Capability, Op, Scope};

use super::{
    Context, Finding, Rule,
    masks::{self, Execution, Kind},
    module::Entry,
    operand::Operand,
};
use kiln_vocabulary::opencl::Environment;

pub(super) const RULES: &[Rule] = &[CONSTANT, DEVICE, DEVICE_FEATURE, QUEUE_FAMILY, SUBGROUP, BARRIER_MODEL];

const CONSTANT: Rule = Rule {
    id: "SPIRV-Scope-constant",
    text: "with the Shader capability, scopes and memory semantics are 32-bit constants, but not specialization constants",
};
const DEVICE: Rule = Rule {
    id: "SPIRV-VulkanMemoryModelDeviceScope",
    text: "under the Vulkan memory model, Device scope needs the VulkanMemoryModelDeviceScope capability",
};
const DEVICE_FEATURE: Rule = Rule {
    id: "VUID-RuntimeSpirv-vulkanMemoryModel-06265",
    text: "no Device scope if the device lacks vulkanMemoryModelDeviceScope",
};
const QUEUE_FAMILY: Rule =
    Rule { id: "SPIRV-QueueFamily", text: "QueueFamily scope needs the VulkanMemoryModel capability" };
const SUBGROUP: Rule = Rule {
    id: "VUID-StandaloneSpirv-SubgroupVoteKHR-07951",
    text: "Subgroup memory scope needs GroupNonUniform, SubgroupBallotKHR or SubgroupVoteKHR",
};
const BARRIER_MODEL: Rule = Rule {
    id: "SPIRV-OpControlBarrier-1.3",
    text: "before SPIR-V 1.3, only TessellationControl, GLCompute and Kernel entry points use OpControlBarrier",
};

/// The kind of a memory instruction, the index of its scope operand, and the number of semantics operands that follow.
fn memory_operands(op: Op) -> Option<(Kind, usize, usize)> {
    use Op::*;
    Some(match op {
        AtomicLoad => (Kind::AtomicLoad, 1, 1),
        AtomicStore | AtomicFlagClear => (Kind::AtomicStore, 1, 1),
        AtomicExchange | AtomicIIncrement | AtomicIDecrement | AtomicIAdd | AtomicISub | AtomicSMin
        | AtomicUMin | AtomicSMax | AtomicUMax | AtomicAnd | AtomicOr | AtomicXor | AtomicFlagTestAndSet
        | AtomicFAddEXT | AtomicFMinEXT | AtomicFMaxEXT => (Kind::AtomicModify, 1, 1),
        AtomicCompareExchange | AtomicCompareExchangeWeak => (Kind::AtomicModify, 1, 2),
        MemoryBarrier => (Kind::MemoryBarrier, 0, 1),
        MemoryNamedBarrier => (Kind::MemoryBarrier, 1, 1),
        ControlBarrier => (Kind::ControlBarrier, 1, 1),
        _ => return None,
    })
}

pub(super) fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    for entry in &context.module.entries {
        let mut check = Check { context, entry, findings };
        if let Some((kind, scope, masks)) = memory_operands(entry.op()) {
            check.memory(kind, scope, masks);
        }
        check.execution();
        check.available_and_visible();
    }
}

struct Check<'a, 'm> {
    context: &'a Context<'m>,
    entry: &'a Entry<'a>,
    findings: &'a mut Vec<Finding>,
}

impl Check<'_, '_> {
    fn report(&mut self, rule: &Rule, message: impl Into<String>) {
        self.findings.push(self.entry.finding(rule, message));
    }

    fn all(&mut self, broken: &[&'static Rule], what: &str) {
        for rule in broken {
            self.report(rule, format!("{what}: {}", rule.text));
        }
    }

    fn memory(&mut self, kind: Kind, at: usize, masks: usize) {
        let environment = self.context.environment;
        let vulkan_model = self.context.module.has(Capability::VulkanMemoryModel);
        let values: Vec<Option<u32>> = (0..masks).map(|index| self.constant(at + 1 + index)).collect();
        for mask in values.iter().copied().flatten() {
            self.all(
                &masks::violated_by_mask(environment, vulkan_model, kind, mask),
                &format!("semantics {mask:#x}"),
            );
        }
        if let [Some(equal), Some(unequal)] = values[..] {
            self.all(
                &masks::violated_by_pair(environment, equal, unequal),
                &format!("semantics {equal:#x} and {unequal:#x}"),
            );
        }
        let known: Vec<u32> = values.into_iter().flatten().collect();
        if let Some(scope) = self.constant(at) {
            self.memory_scope(kind, scope, &known);
        }
    }

    fn memory_scope(&mut self, kind: Kind, scope: u32, masks: &[u32]) {
        self.all(
            &masks::violated_by_memory_scope(self.context.environment, kind, scope, masks),
            &format!("memory scope {scope}"),
        );
        let module = self.context.module;
        let vulkan_model = module.has(Capability::VulkanMemoryModel);
        match Scope::from_u32(scope) {
            Some(Scope::Device) if vulkan_model => {
                if !module.has(Capability::VulkanMemoryModelDeviceScope) {
                    self.report(&DEVICE, "Device scope without the VulkanMemoryModelDeviceScope capability");
                }
                if self.context.target.is_some_and(|target| !target.features.device_scope) {
                    self.report(&DEVICE_FEATURE, "Device scope on a target without it");
                }
            }
            Some(Scope::QueueFamily) if !vulkan_model && self.context.environment == Environment::Vulkan => {
                self.report(&QUEUE_FAMILY, "QueueFamily scope without the VulkanMemoryModel capability");
            }
            Some(Scope::Subgroup) if self.context.environment == Environment::Vulkan => {
                let capabilities =
                    [Capability::GroupNonUniform, Capability::SubgroupBallotKHR, Capability::SubgroupVoteKHR];
                if !capabilities.into_iter().any(|capability| module.has(capability)) {
                    self.report(&SUBGROUP, "Subgroup memory scope without a sub-group capability");
                }
            }
            Some(
                Scope::CrossDevice
                | Scope::Device
                | Scope::Workgroup
                | Scope::Subgroup
                | Scope::Invocation
                | Scope::QueueFamily
                | Scope::ShaderCallKHR,
            )
            | None => {}
        }
    }

    /// The execution scope of barriers, group operations and asynchronous copies is their first operand.
    fn execution(&mut self) {
        let op = self.entry.op();
        let execution = match op {
            Op::ControlBarrier => Execution::Barrier,
            Op::GroupAsyncCopy | Op::GroupWaitEvents => Execution::Async,
            _ if matches!(self.entry.operands().first(), Some(Operand::IdScope(_)))
                && self.entry.class.opname.starts_with("Group") =>
            {
                Execution::Group
            }
            _ => return,
        };
        if let Some(scope) = self.constant(0) {
            let broken = masks::violated_by_execution_scope(self.context.environment, execution, scope);
            self.all(&broken, &format!("execution scope {scope}"));
        }
        if op == Op::ControlBarrier && self.context.module.version < (1, 3) && !self.context.only_compute {
            self.report(&BARRIER_MODEL, "OpControlBarrier in a module with other execution models");
        }
    }

    /// The scopes of MakePointerAvailable and MakePointerVisible are memory scopes too.
    fn available_and_visible(&mut self) {
        let operands = self.entry.operands();
        let Some(first) = operands.iter().position(|operand| matches!(operand, Operand::MemoryAccess(_)))
        else {
            return;
        };
        for index in first..operands.len() {
            if matches!(self.entry.operands()[index], Operand::IdScope(_))
                && let Some(scope) = self.constant(index)
            {
                self.memory_scope(Kind::AtomicModify, scope, &[]);
            }
        }
    }

    /// The constant of this operand; for a specialization constant, its default. Shader modules require constants that
    /// cannot be specialized.
    fn constant(&mut self, index: usize) -> Option<u32> {
        let id = self.entry.id(index)?;
        let module = self.context.module;
        let is_int = module
            .type_of(id)
            .and_then(|ty| module.definition(ty))
            .is_some_and(|ty| ty.op() == Op::TypeInt && ty.literal(0) == Some(32));
        let value = module.constant(id).filter(|_| is_int);
        let is_fixed =
            module.definition(id).is_some_and(|it| matches!(it.op(), Op::Constant | Op::ConstantNull));
        if !is_int || module.has(Capability::Shader) && !is_fixed {
            self.report(&CONSTANT, format!("{} is not a 32-bit constant", module.name(id)));
        }
        value
    }
}
