//! Rules on the values of constants. Specialization changes values, so a launch checks the rules again: [`ValueRules`]
//! has those that specialization constants can break, without the module.

mod evaluate;

use rspirv::spirv::{BuiltIn, Decoration, ExecutionMode, Op, Word};
use rustc_hash::FxHashMap;

use super::{
    Context, Finding, Position, Rule, Severity,
    module::{Entry, Module},
    operand::Operand,
};
use evaluate::Constants;

pub(super) const RULES: &[Rule] = &[LENGTH, SIZE, CLUSTER];

const LENGTH: Rule = Rule {
    id: "SPIRV-OpTypeArray-length",
    text: "the length of an array is an integer constant of at least 1",
};
const SIZE: Rule = Rule {
    id: "SPIRV-work-group-size",
    text: "each dimension of LocalSize, LocalSizeId and WorkgroupSize is at least 1",
};
const CLUSTER: Rule =
    Rule { id: "SPIRV-ClusterSize", text: "the size of a cluster is a constant power of two" };

/// The rules that the values of a module's specialization constants must follow.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ValueRules {
    constants: Constants,
    demands: Vec<Demand>,
}

/// A rule about one constant.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Demand {
    rule: &'static Rule,
    position: Position,
    /// The index in the constants.
    constant: usize,
}

impl ValueRules {
    /// The rules that these values break, by `SpecId`. The other constants have their defaults.
    pub fn violations(&self, values: &[(u32, u32)]) -> Vec<Finding> {
        if self.demands.is_empty() {
            return Vec::new();
        }
        let evaluated = self.constants.evaluate(values);
        let broken = self.demands.iter().filter_map(|demand| {
            let value = evaluated[demand.constant];
            violation(demand.rule, value).map(|message| Finding {
                rule: demand.rule.id,
                message,
                position: Some(demand.position.clone()),
                severity: Severity::Error,
            })
        });
        broken.collect()
    }
}

/// Returns the problem with a value. `None` is a value that is not an integer constant.
fn violation(rule: &Rule, value: Option<i128>) -> Option<String> {
    let Some(value) = value else { return Some("the value is not an integer constant".to_owned()) };
    let is_valid = match rule.id == CLUSTER.id {
        true => value > 0 && value & (value - 1) == 0,
        false => value > 0,
    };
    (!is_valid).then(|| format!("the value is {value}"))
}

/// Checks the values that constants have without specialization. Returns the rules that specialization can break.
pub(super) fn check(context: &Context<'_>, findings: &mut Vec<Finding>) -> ValueRules {
    let module = context.module;
    let constants = Constants::of_specialization(module);
    let mut demands = Vec::new();
    let mut demand = |rule: &'static Rule, entry: &Entry<'_>, id: Word, findings: &mut Vec<Finding>| {
        match constants.index(id) {
            Some(constant) => demands.push(Demand { rule, position: entry.position(), constant }),
            // A value without specialization.
            None => {
                let value = evaluate::fixed_value(module, id);
                findings.extend(violation(rule, value).map(|message| entry.finding(rule, message)));
            }
        }
    };
    for entry in module.preamble() {
        match (entry.op(), entry.operands()) {
            (Op::TypeArray, [_, Operand::IdRef(length)]) => demand(&LENGTH, entry, *length, findings),
            (Op::ExecutionModeId, [_, Operand::ExecutionMode(ExecutionMode::LocalSizeId), sizes @ ..]) => {
                for id in sizes.iter().filter_map(Operand::id) {
                    demand(&SIZE, entry, id, findings);
                }
            }
            (Op::ExecutionMode, [_, Operand::ExecutionMode(ExecutionMode::LocalSize), sizes @ ..])
                if sizes.contains(&Operand::LiteralBit32(0)) =>
            {
                findings.push(entry.finding(&SIZE, "a dimension is 0"));
            }
            (Op::Decorate, [Operand::IdRef(id), Operand::Decoration(Decoration::BuiltIn), builtin])
                if *builtin == Operand::BuiltIn(BuiltIn::WorkgroupSize) =>
            {
                let whole =
                    module.definition(*id).filter(|it| it.class.opname.ends_with("ConstantComposite"));
                let Some(whole) = whole else { continue };
                for part in whole.operands().iter().filter_map(Operand::id) {
                    demand(&SIZE, whole, part, findings);
                }
            }
            _ => {}
        }
    }
    let functions = module.functions.iter().flat_map(|function| module.body(function));
    for entry in functions.filter(|entry| entry.class.opname.starts_with("GroupNonUniform")) {
        if let Some(size) = cluster_size(entry) {
            demand(&CLUSTER, entry, size, findings);
        }
    }
    let rules = ValueRules { constants, demands };
    findings.extend(rules.violations(&[]));
    rules
}

/// The operand after the scope, the operation or the value, and the value or the delta.
fn cluster_size(entry: &Entry<'_>) -> Option<Word> {
    let takes_one = entry.op() == Op::GroupNonUniformRotateKHR
        || matches!(entry.operands().get(1), Some(Operand::Enumerant));
    entry.id(3).filter(|_| takes_one)
}
