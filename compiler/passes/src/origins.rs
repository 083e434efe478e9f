//! Points-to analysis: for each pointer of a function, the objects without an address that it may point into, and
//! whether it may point to global memory or be null.
//!
//! Iterates over arithmetic, casts, selections, block parameters and construct results until a fixed point. A pointer
//! loaded from memory or made from an integer may be any pointer that was stored or converted. Runs after inlining.

use kiln_builtins::{self as builtins, Lowering};
use kiln_ir::{Const, Function, Inst, InstId, Op, Type, ValueDef, ValueId, VarId};
use kiln_vocabulary::opencl::AddressSpace;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// An object without an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Object {
    /// A local object of the module.
    Module(VarId),
    /// A private object of the function.
    Private(VarId),
    /// The pointee of a parameter, in this address space.
    Param(AddressSpace, u32),
}

impl Object {
    /// Its address space.
    pub(super) const fn space(self) -> AddressSpace {
        match self {
            Self::Module(_) => AddressSpace::Local,
            Self::Private(_) => AddressSpace::Private,
            Self::Param(space, _) => space,
        }
    }
}

/// The possible targets of a pointer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Origin {
    /// The objects that it may point into, sorted.
    pub(super) objects: SmallVec<[Object; 2]>,
    /// Whether it may point to global or constant memory.
    pub(super) is_global: bool,
    /// Whether it may be null.
    pub(super) is_null: bool,
}

impl Origin {
    fn object(object: Object) -> Self {
        Self { objects: SmallVec::from_slice(&[object]), ..Self::default() }
    }

    fn global() -> Self {
        Self { is_global: true, ..Self::default() }
    }

    /// Adds another origin. Returns whether that changed this one.
    fn join(&mut self, other: &Self) -> bool {
        let before = (self.objects.len(), self.is_global, self.is_null);
        for &object in &other.objects {
            if let Err(at) = self.objects.binary_search(&object) {
                self.objects.insert(at, object);
            }
        }
        self.is_global |= other.is_global;
        self.is_null |= other.is_null;
        before != (self.objects.len(), self.is_global, self.is_null)
    }

    /// The targets in this address space.
    fn in_space(&self, space: AddressSpace) -> Self {
        let mut kept = self.clone();
        if space != AddressSpace::Generic {
            kept.objects.retain(|object| object.space() == space);
            kept.is_global &= matches!(space, AddressSpace::Global | AddressSpace::Constant);
        }
        kept
    }

    /// The only object, if it can point nowhere else.
    pub(super) fn only_object(&self) -> Option<Object> {
        match self.objects[..] {
            [object] if !self.is_global && !self.is_null => Some(object),
            _ => None,
        }
    }

    /// The address space, if there is only one. A pointer that is always null may be treated as global.
    pub(super) fn space(&self) -> Option<AddressSpace> {
        let first = match self.objects.first() {
            Some(object) if !self.is_global => object.space(),
            Some(_) => return None,
            None => return Some(AddressSpace::Global),
        };
        self.objects.iter().all(|object| object.space() == first).then_some(first)
    }
}

/// The origins of a function's pointers.
pub(super) struct Origins {
    found: FxHashMap<ValueId, Origin>,
    /// The pointers that were stored to memory or converted to integers.
    escaped: Origin,
}

impl Origins {
    /// Analyzes a function.
    pub(super) fn find(function: &Function, space_of: &dyn Fn(VarId) -> AddressSpace) -> Self {
        let mut origins = Self { found: FxHashMap::default(), escaped: Origin::global() };
        origins.escaped.is_null = true;
        for (value, data) in function.values.entries() {
            if data.ty.is_pointer() && data.def == ValueDef::Const(Const::scalar(0)) {
                origins.found.insert(value, Origin { is_null: true, ..Origin::default() });
            }
        }
        for (number, &param) in (0..).zip(function.params()) {
            if let Type::Pointer(space) = function.ty(param) {
                let known = function.objects.iter().find(|(known, _)| *known == number);
                let origin = match (known, space) {
                    (Some((_, var)), _) => Origin::object(Object::Module(*var)),
                    (None, AddressSpace::Local | AddressSpace::Private) => {
                        Origin::object(Object::Param(space, number))
                    }
                    (None, _) => Origin { is_null: true, ..Origin::global() },
                };
                origins.found.insert(param, origin);
            }
        }
        let mut order = function.inst_order();
        order.retain(|&id| !function.insts[id].op.is_numeric());
        while order.iter().fold(false, |changed, &id| origins.visit_inst(function, space_of, id) | changed) {}
        origins
    }

    /// The origin of a pointer.
    pub(super) fn origin(&self, pointer: ValueId) -> Origin {
        self.found.get(&pointer).cloned().unwrap_or_default()
    }

    fn visit_inst(
        &mut self,
        function: &Function,
        space_of: &dyn Fn(VarId) -> AddressSpace,
        id: InstId,
    ) -> bool {
        let inst = &function.insts[id];
        match &inst.op {
            Op::ModuleVar(var) => {
                let origin = match space_of(*var) {
                    AddressSpace::Local => Origin::object(Object::Module(*var)),
                    _ => Origin::global(),
                };
                self.add_origin(function, inst.results[0], &origin)
            }
            Op::PrivateVar(var) => {
                self.add_origin(function, inst.results[0], &Origin::object(Object::Private(*var)))
            }
            Op::Offset { .. } | Op::PointerCast => self.copy_origin(function, inst.args[0], inst.results[0]),
            Op::Select => {
                self.copy_origin(function, inst.args[1], inst.results[0])
                    | self.copy_origin(function, inst.args[2], inst.results[0])
            }
            Op::Store(_) => self.record_escape(inst.args[1]),
            Op::PointerToInt => self.record_escape(inst.args[0]),
            _ if is_to_space(inst) => {
                let mut origin = self.origin(inst.args[0]);
                origin.is_null = true;
                self.add_origin(function, inst.results[0], &origin)
            }
            _ => match receivers(function, inst) {
                Some(receivers) => {
                    let pairs = inst.args.iter().zip(receivers);
                    pairs.fold(false, |changed, (&from, to)| self.copy_origin(function, from, to) | changed)
                }
                None if inst.op.is_construct() => false,
                None => {
                    let escaped = self.escaped.clone();
                    let results = inst.results.iter();
                    results.fold(false, |changed, &it| self.add_origin(function, it, &escaped) | changed)
                }
            },
        }
    }

    fn record_escape(&mut self, pointer: ValueId) -> bool {
        let origin = self.origin(pointer);
        self.escaped.join(&origin)
    }

    fn copy_origin(&mut self, function: &Function, from: ValueId, to: ValueId) -> bool {
        let origin = self.origin(from);
        self.add_origin(function, to, &origin)
    }

    fn add_origin(&mut self, function: &Function, value: ValueId, origin: &Origin) -> bool {
        let Type::Pointer(space) = function.ty(value) else { return false };
        let origin = origin.in_space(space);
        match self.found.get_mut(&value) {
            Some(known) => known.join(&origin),
            None => {
                self.found.insert(value, origin);
                true
            }
        }
    }
}

/// The offset of a constant index with this stride in bytes.
pub(super) fn constant_offset(function: &Function, index: ValueId, stride: u64) -> Option<i64> {
    let bits = function.constant_bits(index)?;
    let index = if function.ty(index) == Type::I64 { bits as i64 } else { i64::from(bits as i32) };
    index.checked_mul(i64::try_from(stride).ok()?)
}

/// The pointer without its constant offsets, and their sum in bytes.
pub(super) fn base_and_offset(function: &Function, mut pointer: ValueId) -> (ValueId, i64) {
    let mut bytes = 0i64;
    while let Some(inst) = function.def(pointer)
        && let Op::Offset { stride, .. } = inst.op
        && let Some(offset) = constant_offset(function, inst.args[1], stride)
        && let Some(sum) = bytes.checked_add(offset)
    {
        (pointer, bytes) = (inst.args[0], sum);
    }
    (pointer, bytes)
}

/// The pointer that arithmetic and casts start from.
pub(super) fn start(function: &Function, mut pointer: ValueId) -> ValueId {
    while let Some(Inst { op: Op::Offset { .. } | Op::PointerCast, args, .. }) = function.def(pointer) {
        pointer = args[0];
    }
    pointer
}

/// The base of a pointer after stripping casts and constant offsets, and the total offset in bytes. `None` if an
/// offset is not constant.
pub(super) fn base(function: &Function, mut pointer: ValueId) -> Option<(ValueId, i64)> {
    let mut bytes = 0i64;
    while let Some(inst) = function.def(pointer) {
        match inst.op {
            Op::PointerCast => {}
            Op::Offset { stride, .. } => {
                bytes = bytes.checked_add(constant_offset(function, inst.args[1], stride)?)?;
            }
            _ => break,
        }
        pointer = inst.args[0];
    }
    Some((pointer, bytes))
}

/// Whether it is `to_global` or a similar function (OpenCL C 6.15.10).
pub(super) fn is_to_space(inst: &Inst) -> bool {
    matches!(&inst.op, Op::Builtin(id, _) if matches!(builtins::row(*id).lowering, Lowering::ToSpace))
}

/// The block parameters or results that receive the arguments of a jump or loop, in order.
pub(super) fn receivers(function: &Function, inst: &Inst) -> Option<Vec<ValueId>> {
    let blocks = |target: InstId| match function.insts[target].op {
        Op::Loop { body, continuing, .. } => Some((body, continuing)),
        _ => None,
    };
    Some(match &inst.op {
        Op::Loop { body, .. } => function.blocks[*body].params.clone(),
        Op::Exit(target) => function.insts[*target].results.to_vec(),
        Op::Continue(target) => function.blocks[blocks(*target)?.1].params.clone(),
        Op::Next(target) => function.blocks[blocks(*target)?.0].params.clone(),
        _ => return None,
    })
}
