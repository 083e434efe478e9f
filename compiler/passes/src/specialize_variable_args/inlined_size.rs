//! The number of instructions that inlining a call adds, computed before code is copied: calls below an inlined one can
//! double their number at each level.
//!
//! Functions with pointers to objects store and load no such pointers, so what the pointers of a call can point to follows from
//! what the caller's parameters can point to. `Summary` contains this for one function; `Sizes` combines the summaries.

use std::rc::Rc;

use kiln_ir::{FuncId, Function, Module, Op, Type, ValueId, VarId};
use kiln_types::index::Id as _;
use kiln_vocabulary::opencl::AddressSpace;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::{Kind, Kinds, SMALL, specialize};
use crate::{
    inline_calls::{MAX_INSTRUCTIONS, may_point_to_object},
    origins::{Object, Origin, Origins},
};

/// The number of nested calls to follow.
const MAX_DEPTH: u32 = 128;

/// The number of arguments and targets to examine. Functions could pass ever new combinations of objects.
const MAX_WORK: usize = 1_000_000;

/// The minimum number of instructions that select the object of an access (`lower_to_logical_pointers`): a comparison, a branch,
/// and an access to each object.
const SELECTION_SIZE: usize = 8;

/// An object of an inlined call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Item {
    /// A local object of the module.
    Module(VarId),
    /// A private object, by its order in the arguments of the call.
    Private(u32),
    /// Global memory.
    Global,
    /// No object.
    Null,
}

/// The possible targets of a pointer that may point to objects, sorted. Empty if they are unknown.
type Items = SmallVec<[Item; 2]>;

/// The possible targets of the arguments of a call.
pub(super) type Targets = Vec<Items>;

/// What a function passes to the functions that it calls.
struct Summary {
    size: usize,
    calls: Vec<Call>,
    /// The parameters that each comparison compares with each other.
    compared: Vec<SmallVec<[u32; 2]>>,
}

struct Call {
    callee: FuncId,
    /// For each argument, its type and origin in the caller.
    args: Vec<(Type, Origin)>,
}

/// The sizes of inlined calls.
pub(super) struct Sizes<'a> {
    /// For each function, whether it has pointers to objects.
    is_template: &'a [bool],
    has_wide: bool,
    summaries: FxHashMap<FuncId, Rc<Summary>>,
    known: FxHashMap<(FuncId, Targets), usize>,
    /// The number of arguments and targets that were examined.
    work: usize,
}

impl<'a> Sizes<'a> {
    pub(super) fn new(is_template: &'a [bool], has_wide: bool) -> Self {
        let (summaries, known) = (FxHashMap::default(), FxHashMap::default());
        Self { is_template, has_wide, summaries, known, work: 0 }
    }

    /// A lower bound of the instructions that inlining a call adds, with the calls that are inlined in turn.
    pub(super) fn call_size(&mut self, module: &Module, callee: FuncId, targets: Targets) -> usize {
        self.nested_call_size(module, callee, targets, MAX_DEPTH)
    }

    fn nested_call_size(&mut self, module: &Module, callee: FuncId, targets: Targets, depth: u32) -> usize {
        let key = (callee, targets);
        if let Some(&size) = self.known.get(&key) {
            return size;
        }
        let summary = self.summary(module, callee);
        let mut size = summary.size;
        for call in &summary.calls {
            if depth == 0 || self.work > MAX_WORK || size > MAX_INSTRUCTIONS {
                break;
            }
            let targets =
                renumbered(call.args.iter().map(|(ty, origin)| argument_targets(*ty, origin, &key.1)));
            self.work += targets.iter().map(|items| 1 + items.len()).sum::<usize>();
            if self.is_ambiguous(call, &targets)
                || self.summary(module, call.callee).compares_objects(&targets)
            {
                size = size.saturating_add(self.nested_call_size(module, call.callee, targets, depth - 1));
            }
        }
        self.known.insert(key, size);
        size
    }

    /// Whether an argument does not point into one object, nor to global memory.
    fn is_ambiguous(&self, call: &Call, targets: &Targets) -> bool {
        let has_global = |ty: Type| self.has_wide && ty == Type::Pointer(AddressSpace::Generic);
        call.args.iter().zip(targets).any(|((ty, _), items)| match items[..] {
            [] | [Item::Module(_) | Item::Private(_)] => false,
            _ => items.iter().any(|item| item.is_object()) || !has_global(*ty),
        })
    }

    fn summary(&mut self, module: &Module, id: FuncId) -> Rc<Summary> {
        let is_template = self.is_template;
        Rc::clone(self.summaries.entry(id).or_insert_with(|| {
            let is_template = |callee: FuncId| is_template.get(callee.index()) == Some(&true);
            Rc::new(Summary::find(module, id, is_template))
        }))
    }
}

impl Summary {
    fn find(module: &Module, id: FuncId, is_template: impl Fn(FuncId) -> bool) -> Self {
        let template = &module.functions[id];
        // Private pointers instead of generic ones: their origin is the parameter.
        let params = template.params().iter();
        let kinds: Kinds = params
            .map(|&param| may_point_to_object(template.ty(param)).then_some(Kind::Private(SMALL)))
            .collect();
        let function = &specialize(template, &kinds);
        let origins = Origins::find(function, &|var| module.vars[var].space);
        let (mut size, mut calls, mut compared) = (template.insts.len(), Vec::new(), Vec::new());
        for inst in function.inst_order().into_iter().map(|inst| &function.insts[inst]) {
            match inst.op {
                Op::Call(callee) if is_template(callee) => {
                    let args = inst.args.iter().map(|&arg| (function.ty(arg), origins.origin(arg)));
                    calls.push(Call { callee, args: args.collect() });
                }
                Op::Compare(_) => compared.extend(compared_params(&inst.args, &origins)),
                Op::Load(_) | Op::Store(_) | Op::Atomic(_) => {
                    let is_selected = may_point_to_object(function.ty(inst.args[0]));
                    size += usize::from(is_selected) * SELECTION_SIZE;
                }
                _ => {}
            }
        }
        Self { size, calls, compared }
    }

    /// Whether the function compares pointers into different private objects, so that its calls are inlined.
    fn compares_objects(&self, targets: &Targets) -> bool {
        let is_private = |&&number: &&u32| matches!(targets[number as usize][..], [Item::Private(_)]);
        self.compared.iter().any(|params| params.iter().filter(is_private).count() > 1)
    }
}

/// The parameters whose pointees a comparison compares, if there are several.
pub(super) fn compared_params(args: &[ValueId], origins: &Origins) -> Option<SmallVec<[u32; 2]>> {
    let objects = args.iter().flat_map(|&arg| origins.origin(arg).objects);
    let mut params: SmallVec<[u32; 2]> = objects
        .filter_map(|object| match object {
            Object::Param(_, number) => Some(number),
            _ => None,
        })
        .collect();
    params.sort_unstable();
    params.dedup();
    (params.len() > 1).then_some(params)
}

/// The targets of the arguments of a call in a function.
pub(super) fn targets_of_arguments(function: &Function, origins: &Origins, args: &[ValueId]) -> Targets {
    // Private objects of the function, then those of its parameters.
    renumbered(args.iter().map(|&arg| {
        targets_of_origin(function.ty(arg), &origins.origin(arg), |object| {
            Items::from_slice(&[match object {
                Object::Module(var) => Item::Module(var),
                Object::Private(var) => Item::Private(2 * var.index() as u32),
                Object::Param(_, number) => Item::Private(2 * number + 1),
            }])
        })
    }))
}

/// The targets of an argument in a function whose parameters have these targets.
fn argument_targets(ty: Type, origin: &Origin, params: &Targets) -> Items {
    targets_of_origin(ty, origin, |object| match object {
        Object::Module(var) => Items::from_slice(&[Item::Module(var)]),
        // The callee's own objects follow those of its caller.
        Object::Private(var) => Items::from_slice(&[Item::Private(OWN + var.index() as u32)]),
        Object::Param(_, number) => params[number as usize].clone(),
    })
}

/// More than the private objects that the arguments of a call can point to.
const OWN: u32 = u32::MAX / 2;

/// The targets of a pointer with this origin.
fn targets_of_origin(ty: Type, origin: &Origin, of_object: impl Fn(Object) -> Items) -> Items {
    let (Type::Pointer(space), true) = (ty, may_point_to_object(ty)) else { return Items::new() };
    let mut items: Items = origin.objects.iter().flat_map(|&object| of_object(object)).collect();
    items.extend(origin.is_global.then_some(Item::Global));
    items.extend(origin.is_null.then_some(Item::Null));
    items.retain(|item| item.can_be_in(space));
    items.sort_unstable();
    items.dedup();
    items
}

impl Item {
    const fn is_object(self) -> bool {
        matches!(self, Self::Module(_) | Self::Private(_))
    }

    const fn can_be_in(self, space: AddressSpace) -> bool {
        match self {
            Self::Module(_) => matches!(space, AddressSpace::Local | AddressSpace::Generic),
            Self::Private(_) => matches!(space, AddressSpace::Private | AddressSpace::Generic),
            Self::Global => matches!(space, AddressSpace::Generic),
            Self::Null => true,
        }
    }
}

/// Numbers the private objects in the order of the arguments, so that calls with the same relations have the same size.
fn renumbered(targets: impl Iterator<Item = Items>) -> Targets {
    let mut numbers: FxHashMap<u32, u32> = FxHashMap::default();
    targets
        .map(|mut items| {
            for item in &mut items {
                if let Item::Private(number) = item {
                    let next = numbers.len() as u32;
                    *number = *numbers.entry(*number).or_insert(next);
                }
            }
            items.sort_unstable();
            items
        })
        .collect()
}
