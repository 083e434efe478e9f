//! Local objects whose accesses need several element types: a variable for each range of elements.

use kiln_ir::{FuncId, Function, Inst, InstId, Module, Op, Scalar, Type, Var, VarId};
use kiln_vocabulary::{opencl::AddressSpace, target::Target};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::{Layout, Usage, pointers::Forms};
use crate::{
    origins::Object,
    ranges::{Range, Use},
    reach::Reach,
};

/// A local object that is split into several variables.
pub(super) struct Split {
    /// The layout of each range.
    pub(super) layouts: Vec<Layout>,
    /// The range of each access.
    pub(super) ranges: FxHashMap<(FuncId, InstId), usize>,
}

impl Split {
    /// Splits an object whose accesses need several element types, if possible, and creates the variables.
    pub(super) fn find(
        module: &mut Module,
        var: VarId,
        strides: u64,
        (forms, reach): (&[Forms], &Reach),
        target: &Target,
    ) -> Option<Self> {
        let object = Object::Module(var);
        let (mut uses, mut accesses) = (Vec::new(), Vec::new());
        for ((id, function), forms) in module.functions.entries().zip(forms) {
            let is_used = |inst: &Inst| {
                let pointer = inst.args.first();
                pointer.is_some_and(|&pointer| forms.may_point_into(pointer, object))
            };
            for inst in function.inst_order() {
                let mut usage = Usage::default();
                let data = &function.insts[inst];
                if !is_used(data) || usage.record_access(function, data, object.space()).is_none() {
                    continue;
                }
                let (size, widest) = (access_size(function, data), usage.widest());
                let offsets = reach.offsets(id, data.args[0], var);
                uses.push(Use { number: accesses.len(), offsets, size, widest });
                accesses.push(((id, inst), usage));
            }
        }
        let original = module.vars[var].clone();
        let size = original.argument.is_none().then_some(original.size);
        // All accesses to a range combined.
        let usage_of = |range: &Range| {
            let mut usage = Usage::default();
            range.uses.iter().for_each(|one| usage.join(&accesses[one.number].1));
            usage
        };
        // A range with an element that suits all accesses is not split further.
        let parts =
            Range { steps: SmallVec::new(), size, uses }.split(true, |range| usage_of(range).is_mixed());
        if parts.len() == 1 {
            return None;
        }
        let mut split = Self { layouts: Vec::new(), ranges: FxHashMap::default() };
        for (number, part) in parts.iter().enumerate() {
            split.ranges.extend(part.uses.iter().map(|one| (accesses[one.number].0, number)));
            let root = match number {
                // The launch sets the length of the original variable, so a range with a known length is a new one.
                0 if original.argument.is_none() || part.size.is_none() => var,
                _ => {
                    let name = format!("{}#{number}", original.name);
                    let var = Var::new(&name, AddressSpace::Local, (0, original.align), original.span);
                    module.vars.push(var)
                }
            };
            let usage = usage_of(part);
            let mut layout = usage.layout(target, Object::Module(root), false);
            layout.steps.clone_from(&part.steps);
            split.layouts.push(layout);
            let var = &mut module.vars[root];
            var.element = split.layouts.last().map(|layout| Type::Scalar(layout.element));
            var.size = part.size.unwrap_or(var.size);
        }
        // All ranges use the same index unit, because a pointer can point into any of them.
        let min = split.layouts.iter().map(|layout| layout.element.size()).min().unwrap_or(1);
        let unit = if strides == 0 { min } else { min.min(1 << strides.trailing_zeros()) };
        for layout in &mut split.layouts {
            layout.unit = unit;
        }
        Some(split)
    }
}

/// The size of an access in bytes.
fn access_size(function: &Function, inst: &Inst) -> u64 {
    let ty = match &inst.op {
        Op::Load(_) => function.ty(inst.results[0]),
        Op::Store(_) => function.ty(inst.args[1]),
        Op::Atomic(atomic) => return atomic.ty.size(),
        _ => return 0,
    };
    ty.scalar().map_or(8, Scalar::size) * u64::from(ty.count())
}
