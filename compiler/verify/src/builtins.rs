//! Vulkan's rules for the built-in variables of compute shaders: their storage classes and types.

use rspirv::spirv::{BuiltIn, Decoration, Op, StorageClass, Word};

use super::{
    Context, Finding, Rule,
    module::Module,
    numeric_type::{Kind, NumericType},
    operand::Operand,
};
use kiln_vocabulary::opencl::Environment;

/// A rule for the storage class and a rule for the type of each built-in variable, in the order of `VARIABLES`; then those of
/// WorkgroupSize.
pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "VUID-GlobalInvocationId-GlobalInvocationId-04237",
        text: "GlobalInvocationId is an Input variable",
    },
    Rule {
        id: "VUID-GlobalInvocationId-GlobalInvocationId-04238",
        text: "GlobalInvocationId is a vector of 3 32-bit integers",
    },
    Rule {
        id: "VUID-LocalInvocationId-LocalInvocationId-04282",
        text: "LocalInvocationId is an Input variable",
    },
    Rule {
        id: "VUID-LocalInvocationId-LocalInvocationId-04283",
        text: "LocalInvocationId is a vector of 3 32-bit integers",
    },
    Rule {
        id: "VUID-LocalInvocationIndex-LocalInvocationIndex-04285",
        text: "LocalInvocationIndex is an Input variable",
    },
    Rule {
        id: "VUID-LocalInvocationIndex-LocalInvocationIndex-04286",
        text: "LocalInvocationIndex is a 32-bit integer",
    },
    Rule { id: "VUID-NumWorkgroups-NumWorkgroups-04297", text: "NumWorkgroups is an Input variable" },
    Rule {
        id: "VUID-NumWorkgroups-NumWorkgroups-04298",
        text: "NumWorkgroups is a vector of 3 32-bit integers",
    },
    Rule { id: "VUID-WorkgroupId-WorkgroupId-04423", text: "WorkgroupId is an Input variable" },
    Rule { id: "VUID-WorkgroupId-WorkgroupId-04424", text: "WorkgroupId is a vector of 3 32-bit integers" },
    Rule { id: "VUID-NumSubgroups-NumSubgroups-04294", text: "NumSubgroups is an Input variable" },
    Rule { id: "VUID-NumSubgroups-NumSubgroups-04295", text: "NumSubgroups is a 32-bit integer" },
    Rule { id: "VUID-SubgroupId-SubgroupId-04368", text: "SubgroupId is an Input variable" },
    Rule { id: "VUID-SubgroupId-SubgroupId-04369", text: "SubgroupId is a 32-bit integer" },
    Rule {
        id: "VUID-SubgroupLocalInvocationId-SubgroupLocalInvocationId-04380",
        text: "SubgroupLocalInvocationId is an Input variable",
    },
    Rule {
        id: "VUID-SubgroupLocalInvocationId-SubgroupLocalInvocationId-04381",
        text: "SubgroupLocalInvocationId is a 32-bit integer",
    },
    Rule { id: "VUID-SubgroupSize-SubgroupSize-04382", text: "SubgroupSize is an Input variable" },
    Rule { id: "VUID-SubgroupSize-SubgroupSize-04383", text: "SubgroupSize is a 32-bit integer" },
    Rule { id: "VUID-SubgroupEqMask-SubgroupEqMask-04370", text: "SubgroupEqMask is an Input variable" },
    Rule {
        id: "VUID-SubgroupEqMask-SubgroupEqMask-04371",
        text: "SubgroupEqMask is a vector of 4 32-bit integers",
    },
    Rule { id: "VUID-SubgroupGeMask-SubgroupGeMask-04372", text: "SubgroupGeMask is an Input variable" },
    Rule {
        id: "VUID-SubgroupGeMask-SubgroupGeMask-04373",
        text: "SubgroupGeMask is a vector of 4 32-bit integers",
    },
    Rule { id: "VUID-SubgroupGtMask-SubgroupGtMask-04374", text: "SubgroupGtMask is an Input variable" },
    Rule {
        id: "VUID-SubgroupGtMask-SubgroupGtMask-04375",
        text: "SubgroupGtMask is a vector of 4 32-bit integers",
    },
    Rule { id: "VUID-SubgroupLeMask-SubgroupLeMask-04376", text: "SubgroupLeMask is an Input variable" },
    Rule {
        id: "VUID-SubgroupLeMask-SubgroupLeMask-04377",
        text: "SubgroupLeMask is a vector of 4 32-bit integers",
    },
    Rule { id: "VUID-SubgroupLtMask-SubgroupLtMask-04378", text: "SubgroupLtMask is an Input variable" },
    Rule {
        id: "VUID-SubgroupLtMask-SubgroupLtMask-04379",
        text: "SubgroupLtMask is a vector of 4 32-bit integers",
    },
    Rule { id: "VUID-WorkgroupSize-WorkgroupSize-04426", text: "WorkgroupSize is a constant" },
    Rule {
        id: "VUID-WorkgroupSize-WorkgroupSize-04427",
        text: "WorkgroupSize is a vector of 3 32-bit integers",
    },
];

/// The number of components of each built-in variable.
const VARIABLES: &[(BuiltIn, u32)] = &[
    (BuiltIn::GlobalInvocationId, 3),
    (BuiltIn::LocalInvocationId, 3),
    (BuiltIn::LocalInvocationIndex, 1),
    (BuiltIn::NumWorkgroups, 3),
    (BuiltIn::WorkgroupId, 3),
    (BuiltIn::NumSubgroups, 1),
    (BuiltIn::SubgroupId, 1),
    (BuiltIn::SubgroupLocalInvocationId, 1),
    (BuiltIn::SubgroupSize, 1),
    (BuiltIn::SubgroupEqMask, 4),
    (BuiltIn::SubgroupGeMask, 4),
    (BuiltIn::SubgroupGtMask, 4),
    (BuiltIn::SubgroupLeMask, 4),
    (BuiltIn::SubgroupLtMask, 4),
];

pub(super) fn check(context: &Context<'_>, findings: &mut Vec<Finding>) {
    if context.environment != Environment::Vulkan {
        return;
    }
    let module = context.module;
    for entry in module.preamble().iter().filter(|entry| entry.op() == Op::Decorate) {
        let [Operand::IdRef(id), Operand::Decoration(Decoration::BuiltIn), Operand::BuiltIn(builtin)] =
            entry.operands()
        else {
            continue;
        };
        let Some(target) = module.definition(*id) else { continue };
        let row = VARIABLES.iter().position(|(known, _)| known == builtin);
        let (first, count) = match row {
            Some(row) => (2 * row, VARIABLES[row].1),
            None if *builtin == BuiltIn::WorkgroupSize => (2 * VARIABLES.len(), 3),
            None => continue,
        };
        let name = target.class.opname;
        let is_variable = target.op() == Op::Variable;
        // `declarations` rejects other targets.
        if !is_variable && !name.starts_with("Constant") && !name.starts_with("SpecConstant") {
            continue;
        }
        let (is_kind, ty) = match row {
            Some(_) => {
                let pointer = target.result_type.and_then(|ty| module.pointer(ty));
                let is_input = pointer.is_some_and(|(class, _)| class == StorageClass::Input);
                (is_variable && is_input, pointer.map(|(_, ty)| ty))
            }
            None => (!is_variable, target.result_type),
        };
        if !is_kind {
            findings.push(entry.finding(&RULES[first], format!("{} is not", module.name(*id))));
        } else if !is_integers(module, ty, count) {
            findings.push(entry.finding(&RULES[first + 1], format!("{} has another type", module.name(*id))));
        }
    }
}

fn is_integers(module: &Module<'_>, ty: Option<Word>, count: u32) -> bool {
    ty.and_then(|ty| NumericType::of_type(module, ty))
        == Some(NumericType { kind: Kind::Int, bits: 32, count })
}
