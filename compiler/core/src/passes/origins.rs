//! Where pointers come from: for each pointer of a function, the object or at least the space it points into.
//!
//! Follows arithmetic, casts, selections and the parameters and results of constructs until nothing changes. A
//! pointer out of memory or from a call has an unknown origin.

use rustc_hash::FxHashMap;

use crate::{
    ir::{Function, InstId, Op, Type, ValueId, VarId},
    opencl::AddressSpace,
};

/// An object without an address of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Object {
    /// A local object of the module.
    Module(VarId),
    /// A private object of the function.
    Private(VarId),
}

/// What is known of a pointer's origin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Origin {
    /// The space, if it is one and not generic.
    pub(super) space: Option<AddressSpace>,
    /// The object, if it is one.
    pub(super) object: Option<Object>,
}

impl Origin {
    fn join(self, other: Self) -> Self {
        Self {
            space: self.space.filter(|_| self.space == other.space),
            object: self.object.filter(|_| self.object == other.object),
        }
    }
}

/// The origin of every pointer that has one; null pointers and undefined ones go with every origin.
pub(super) fn origins(
    function: &Function,
    space_of: &dyn Fn(VarId) -> AddressSpace,
) -> FxHashMap<ValueId, Origin> {
    let mut found = FxHashMap::default();
    let order = function.inst_order();
    for &param in function.params() {
        note_unknown(function, &mut found, param);
    }
    loop {
        let mut changed = false;
        for &id in &order {
            changed |= flow(function, space_of, id, &mut found);
        }
        if !changed {
            return found;
        }
    }
}

fn flow(
    function: &Function,
    space_of: &dyn Fn(VarId) -> AddressSpace,
    id: InstId,
    found: &mut FxHashMap<ValueId, Origin>,
) -> bool {
    let inst = &function.insts[id];
    let results = &inst.results;
    match &inst.op {
        Op::ModuleVar(var) => {
            let space = space_of(*var);
            let object = (space == AddressSpace::Local).then_some(Object::Module(*var));
            note(found, results[0], Origin { space: Some(space), object })
        }
        Op::PrivateVar(var) => {
            let object = Some(Object::Private(*var));
            note(found, results[0], Origin { space: Some(AddressSpace::Private), object })
        }
        Op::Offset { .. } => pass(found, inst.args[0], results[0]),
        Op::PointerCast => match (function.ty(inst.args[0]), function.ty(results[0])) {
            // The source asserts the space; the object is what it was.
            (Type::Pointer(AddressSpace::Generic), Type::Pointer(space))
                if space != AddressSpace::Generic =>
            {
                let Some(origin) = found.get(&inst.args[0]).copied() else { return false };
                note(found, results[0], Origin { space: Some(space), ..origin })
            }
            _ => pass(found, inst.args[0], results[0]),
        },
        Op::Select if function.ty(results[0]).is_pointer() => {
            pass(found, inst.args[1], results[0]) | pass(found, inst.args[2], results[0])
        }
        Op::Loop { body, .. } => pass_all(function, found, &inst.args, &function.blocks[*body].params),
        Op::Exit(target) => pass_all(function, found, &inst.args, &function.insts[*target].results),
        Op::Continue(target) => match function.insts[*target].op {
            Op::Loop { continuing, .. } => {
                pass_all(function, found, &inst.args, &function.blocks[continuing].params)
            }
            _ => false,
        },
        Op::Next(target) => match function.insts[*target].op {
            Op::Loop { body, .. } => pass_all(function, found, &inst.args, &function.blocks[body].params),
            _ => false,
        },
        Op::If { .. } | Op::Switch { .. } | Op::Block(_) => false,
        _ => {
            let mut changed = false;
            for &result in results {
                changed |= note_unknown(function, found, result);
            }
            changed
        }
    }
}

/// A pointer of which only the type tells.
fn note_unknown(function: &Function, found: &mut FxHashMap<ValueId, Origin>, value: ValueId) -> bool {
    let Type::Pointer(space) = function.ty(value) else { return false };
    let space = (space != AddressSpace::Generic).then_some(space);
    note(found, value, Origin { space, object: None })
}

fn pass_all(
    function: &Function,
    found: &mut FxHashMap<ValueId, Origin>,
    from: &[ValueId],
    to: &[ValueId],
) -> bool {
    let mut changed = false;
    for (&from, &to) in from.iter().zip(to) {
        changed |= function.ty(to).is_pointer() && pass(found, from, to);
    }
    changed
}

fn pass(found: &mut FxHashMap<ValueId, Origin>, from: ValueId, to: ValueId) -> bool {
    // What has no origin yet may get one in the next round; a null pointer never does.
    let origin = found.get(&from).copied();
    origin.is_some_and(|origin| note(found, to, origin))
}

fn note(found: &mut FxHashMap<ValueId, Origin>, value: ValueId, origin: Origin) -> bool {
    let old = found.get(&value).copied();
    let new = old.map_or(origin, |old| old.join(origin));
    found.insert(value, new);
    old != Some(new)
}
