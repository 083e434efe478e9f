//! The two forms of pointers to local and private memory, and the operations on pointers in these forms.
//!
//! An index counts units of its object's layout. An address has 64 bits: a real address of global memory, or a tag above
//! bit 48 for one of the function's objects, with the byte offset below. No device uses the tags in its addresses.

use kiln_builtins::{self as builtins, Lowering};
use kiln_ir::{
    Access, BinaryOp, Builder, Compare, CompareKind, Const, FuncId, Function, Inst, InstId, Op, Replacements,
    Scalar, Type, Value, ValueDef, ValueId, VarId,
};
use kiln_types::ops::CompareOp;
use kiln_vocabulary::opencl::{AddressSpace, FenceFlags};
use rustc_hash::{FxHashMap, FxHashSet};

use super::{
    Layout,
    access::{Accessor, variable},
    defects::Defects,
    passed::PassedObjects,
};
use crate::{
    legalize_atomics::{LoopOrder, unshared},
    origins::{Object, Origins, receivers},
    rewrite::rewrite_only,
};

/// The position of the tag in an address.
const TAG_SHIFT: u64 = 48;
/// The tag of the first object. The upper bits of real addresses are all equal; those of a tag are not.
const FIRST_TAG: u64 = 1 << 14;

/// The form of a pointer that is not a plain global one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// An I32: units from the start of this object.
    Index(Object),
    /// An I64.
    Tagged,
}

/// The form of each pointer of a function.
pub(super) struct Forms {
    forms: FxHashMap<ValueId, Form>,
    origins: Origins,
}

impl Forms {
    pub(super) fn new(function: &Function, origins: Origins) -> Self {
        let mut forms = FxHashMap::default();
        for (value, data) in function.values.entries() {
            let Type::Pointer(AddressSpace::Local | AddressSpace::Private | AddressSpace::Generic) = data.ty
            else {
                continue;
            };
            forms.insert(value, origins.origin(value).only_object().map_or(Form::Tagged, Form::Index));
        }
        Self { forms, origins }
    }

    /// The form of a value, if it is a pointer that has one.
    pub(super) fn form(&self, value: ValueId) -> Option<Form> {
        self.forms.get(&value).copied()
    }

    /// Whether a pointer can point into this object.
    pub(super) fn may_point_into(&self, value: ValueId, object: Object) -> bool {
        match self.form(value) {
            Some(Form::Index(only)) => only == object,
            Some(Form::Tagged) => self.origins.origin(value).objects.contains(&object),
            None => false,
        }
    }

    /// The objects that a pointer can point into.
    pub(super) fn objects(&self, value: ValueId) -> Vec<Object> {
        self.origins.origin(value).objects.to_vec()
    }
}

/// The layouts of the objects of a function.
pub(super) struct Layouts {
    /// The layout of each object; the first range of an object with several.
    pub(super) objects: FxHashMap<Object, Layout>,
    /// The layout of each access to an object with several ranges.
    pub(super) ranges: FxHashMap<(InstId, Object), Layout>,
    /// How compare-exchange loops are ordered.
    pub(super) loop_order: LoopOrder,
    /// Whether the module declares that indices which are compared do not wrap around (`DriverBug::WrappingIndices`).
    pub(super) states_no_wrap: bool,
}

impl Layouts {
    /// The objects of the module whose elements are exchanged to change parts of them.
    pub(super) fn exchanged(&self) -> impl Iterator<Item = VarId> {
        let layouts = self.objects.values().chain(self.ranges.values());
        layouts.filter(|layout| layout.exchanges_parts).filter_map(|layout| match layout.root {
            Object::Module(var) => Some(var),
            Object::Private(_) | Object::Param(..) => None,
        })
    }
}

/// Rewrites a function: pointers become indices or addresses, and accesses become accesses of elements.
pub(super) fn apply(
    function: &mut Function,
    id: FuncId,
    passed: &PassedObjects,
    forms: &Forms,
    layouts: &Layouts,
    defects: Defects,
) {
    let known = take_objects(function, id, passed, &layouts.objects);
    for (&value, form) in &forms.forms {
        if function.constant(value).is_none() {
            function.values[value].ty = match form {
                Form::Index(_) => Type::I32,
                Form::Tagged => Type::I64,
            };
        }
    }
    let mut tags: Vec<Object> = layouts.objects.keys().copied().collect();
    tags.sort_unstable();
    defects.change_tags(&mut tags);
    let bounded =
        if layouts.states_no_wrap { compared_objects(function, forms) } else { FxHashSet::default() };
    let pointers = Pointers { id, passed, forms, layouts, bounded, tags, defects };
    rewrite_only(
        function,
        |op| !op.is_numeric(),
        |builder, id, replaced| {
            if let Some(value) = pointers.inst(builder, id) {
                replaced.insert(builder.function.insts[id].results[0], value);
            }
        },
    );
    function.replace_uses(&known);
}

/// Replaces parameters that point to private objects by the objects, and appends parameters for the indices. Returns the
/// replacements of pointers with a known index.
fn take_objects(
    function: &mut Function,
    id: FuncId,
    passed: &PassedObjects,
    layouts: &FxHashMap<Object, Layout>,
) -> Replacements {
    let mut known = Replacements::default();
    let body = function.body;
    for &number in passed.params(id) {
        let pointer = function.params()[number as usize];
        let ty = Type::Pointer(AddressSpace::Private);
        let object = function.values.push(Value { ty, def: ValueDef::Param(body, number) });
        function.blocks[body].params[number as usize] = object;
        match passed.start(id, number) {
            Some(bytes) => {
                let unit = layouts[&Object::Param(AddressSpace::Private, number)].unit as i64;
                let index = Builder::new(function).i32((bytes / unit) as i32);
                known.insert(pointer, index);
            }
            None => {
                let last = function.params().len() as u32;
                function.values[pointer].def = ValueDef::Param(body, last);
                function.blocks[body].params.push(pointer);
            }
        }
    }
    known
}

struct Pointers<'a> {
    id: FuncId,
    passed: &'a PassedObjects,
    forms: &'a Forms,
    layouts: &'a Layouts,
    /// The objects whose indices the module declares not to wrap around.
    bounded: FxHashSet<Object>,
    /// The objects in the order of their tags.
    tags: Vec<Object>,
    defects: Defects,
}

impl Pointers<'_> {
    /// Inserts the replacement of an instruction. Returns the replacement of its result.
    fn inst(&self, builder: &mut Builder<'_>, id: InstId) -> Option<ValueId> {
        self.convert_operands(builder, id);
        let inst = builder.function.insts[id].clone();
        let form = inst.args.first().and_then(|&it| self.forms.form(it));
        let result = inst.results.first().copied();
        let result_form = result.and_then(|it| self.forms.form(it));
        match (&inst.op, form) {
            (Op::ModuleVar(_) | Op::PrivateVar(_), _) if result_form.is_some() => {
                return Some(builder.i32(0));
            }
            (Op::Offset { stride, .. }, Some(Form::Index(object))) => {
                return Some(self.offset_index(builder, &inst.args, *stride, object));
            }
            (Op::Offset { stride, .. }, Some(Form::Tagged)) => {
                let base = self.to_tagged_address(builder, inst.args[0]);
                let index = builder.resize(inst.args[1], Scalar::I64, true);
                let bytes = builder.binary_bits(BinaryOp::Mul, index, *stride);
                return Some(builder.binary(BinaryOp::Add, base, bytes));
            }
            (Op::PointerCast, _) if form.is_some() || result_form.is_some() => {
                return Some(match (form, result_form) {
                    (_, Some(Form::Tagged)) => self.to_tagged_address(builder, inst.args[0]),
                    (Some(Form::Tagged), Some(Form::Index(object))) => {
                        let address = self.to_tagged_address(builder, inst.args[0]);
                        Self::index_from_address(builder, address, self.layouts.objects[&object].unit)
                    }
                    (_, Some(Form::Index(_))) => inst.args[0],
                    (_, None) => {
                        let address = self.to_tagged_address(builder, inst.args[0]);
                        let ty = builder.ty(inst.results[0]);
                        builder.value(Op::IntToPointer, &[address], ty)
                    }
                });
            }
            (Op::Call(callee), _) => self.call(builder, id, *callee),
            (Op::PointerToInt, Some(_)) => return Some(self.to_tagged_address(builder, inst.args[0])),
            (Op::IntToPointer, _) if result_form.is_some() => return Some(inst.args[0]),
            (Op::Load(access), Some(form)) => return Some(self.load(builder, id, *access, form)),
            (Op::Store(access), Some(form)) => {
                self.store(builder, id, *access, form);
                return None;
            }
            (Op::Atomic(_), Some(form)) => return self.atomic(builder, id, form),
            (Op::Builtin(builtin, _), Some(Form::Tagged)) => match builtins::row(*builtin).lowering {
                Lowering::ToSpace => return Some(self.to_space(builder, &inst)),
                Lowering::GetFence => {
                    let is_local = self.is_in(builder, inst.args[0], AddressSpace::Local);
                    let [local, global] = [FenceFlags::LOCAL, FenceFlags::GLOBAL]
                        .map(|flags| builder.bits(Type::I32, flags.bits().into()));
                    return Some(builder.select(is_local, local, global));
                }
                _ => {}
            },
            _ => {}
        }
        builder.insert(id);
        None
    }

    /// Passes objects instead of pointers into them, and appends the indices.
    fn call(&self, builder: &mut Builder<'_>, id: InstId, callee: FuncId) {
        let locals = self.passed.locals(callee);
        let mut indices = Vec::with_capacity(locals.len());
        for &(number, var) in locals {
            let arg = builder.function.insts[id].args[number as usize];
            indices.push(self.convert_to_form(builder, arg, Form::Index(Object::Module(var))));
        }
        self.defects.change_indices(builder, &mut indices);
        for (&(number, _), index) in locals.iter().zip(indices) {
            builder.function.insts[id].args[number as usize] = index;
        }
        let mut indices = Vec::new();
        for &number in self.passed.params(callee) {
            let arg = builder.function.insts[id].args[number as usize];
            let (object, index) = match (self.passed.dummy_object(self.id, id, number), self.forms.form(arg))
            {
                (None, Some(Form::Index(object))) => (object, arg),
                (dummy, _) => {
                    let dummy = dummy.unwrap_or_else(|| unreachable!("every argument is one object"));
                    (dummy, builder.i32(0))
                }
            };
            let variable = variable(builder, &self.layouts.objects[&object]);
            builder.function.insts[id].args[number as usize] = variable;
            if self.passed.start(callee, number).is_none() {
                indices.push(index);
            }
        }
        self.defects.change_indices(builder, &mut indices);
        builder.function.insts[id].args.extend(indices);
    }

    /// The index of the element that `args` and `stride` give as in `Op::Offset`.
    fn offset_index(
        &self,
        builder: &mut Builder<'_>,
        args: &[ValueId],
        stride: u64,
        object: Object,
    ) -> ValueId {
        let (base, index, unit) = (args[0], args[1], self.layouts.objects[&object].unit);
        if let Some(known) = builder.function.constant_bits(index) {
            let known = if builder.ty(index) == Type::I64 { known as i64 } else { i64::from(known as i32) };
            let steps = known.wrapping_mul(stride as i64) / unit as i64;
            if steps == 0 {
                return base;
            }
            let steps = builder.i32(steps as i32);
            // Pointer arithmetic stays in the object or one element after it (OpenCL C 3.0, 6.1; C99, 6.5.6).
            return if self.bounded.contains(&object) && !is_constant(builder, base) {
                builder.value(Op::Exact(BinaryOp::Add), &[base, steps], Type::I32)
            } else {
                builder.binary(BinaryOp::Add, base, steps)
            };
        }
        let mut steps = builder.resize(index, Scalar::I32, true);
        if stride != unit {
            steps = builder.binary_bits(BinaryOp::Mul, steps, stride / unit);
        }
        builder.binary(BinaryOp::Add, base, steps)
    }

    /// Converts the arguments of selections, comparisons, jumps and stores to the required form.
    fn convert_operands(&self, builder: &mut Builder<'_>, id: InstId) {
        let inst = builder.function.insts[id].clone();
        let form = |value: ValueId| self.forms.form(value);
        let wanted: Vec<Option<Form>> = match &inst.op {
            Op::Select => vec![None, form(inst.results[0]), form(inst.results[0])],
            Op::Compare(compare) => match [form(inst.args[0]), form(inst.args[1])] {
                [None, None] => return,
                [left, right] if left == right && left != Some(Form::Tagged) => {
                    // A loop that counts down ends before the object. Real addresses never wrap around there, so indices are signed.
                    let compare = Compare { kind: CompareKind::Signed, ..*compare };
                    builder.function.insts[id].op = Op::Compare(compare);
                    return;
                }
                _ => vec![Some(Form::Tagged); 2],
            },
            // In memory, every pointer is an address.
            Op::Store(_) if form(inst.args[1]).is_some() || builder.ty(inst.args[1]).is_pointer() => {
                vec![None, Some(Form::Tagged)]
            }
            _ => receivers(builder.function, &inst).unwrap_or_default().into_iter().map(form).collect(),
        };
        for (index, wanted) in wanted.into_iter().enumerate() {
            if let Some(wanted) = wanted {
                let arg = self.convert_to_form(builder, inst.args[index], wanted);
                builder.function.insts[id].args[index] = arg;
            }
        }
    }

    fn convert_to_form(&self, builder: &mut Builder<'_>, value: ValueId, wanted: Form) -> ValueId {
        match wanted {
            Form::Tagged => self.to_tagged_address(builder, value),
            Form::Index(_) if self.forms.form(value) == Some(wanted) && !is_constant(builder, value) => value,
            Form::Index(_) => builder.undefined(Type::I32),
        }
    }

    /// Converts a pointer to an address.
    fn to_tagged_address(&self, builder: &mut Builder<'_>, value: ValueId) -> ValueId {
        match builder.function.constant(value) {
            Some(Const::Undefined) => return builder.undefined(Type::I64),
            Some(Const::Bits(bits)) => {
                let bits = bits[0];
                return builder.bits(Type::I64, bits);
            }
            None => {}
        }
        match self.forms.form(value) {
            Some(Form::Index(object)) => {
                let bytes = builder.binary_bits(BinaryOp::Mul, value, self.layouts.objects[&object].unit);
                let bytes = builder.resize(bytes, Scalar::I64, true);
                builder.binary_bits(BinaryOp::Add, bytes, self.tag_of_object(object) << TAG_SHIFT)
            }
            Some(Form::Tagged) => value,
            None if builder.ty(value).is_pointer() => builder.value(Op::PointerToInt, &[value], Type::I64),
            None => value,
        }
    }

    /// Converts an address in an object to an index.
    fn index_from_address(builder: &mut Builder<'_>, address: ValueId, unit: u64) -> ValueId {
        let bytes = builder.resize(address, Scalar::I32, false);
        match unit {
            1 => bytes,
            unit => builder.binary_bits(BinaryOp::AShr, bytes, unit.trailing_zeros().into()),
        }
    }

    fn tag_of_object(&self, object: Object) -> u64 {
        let number = self.tags.binary_search(&object).unwrap_or_default();
        FIRST_TAG + number as u64
    }

    /// The tag of an address, as an I32.
    fn tag_of(&self, builder: &mut Builder<'_>, pointer: ValueId) -> ValueId {
        let address = self.to_tagged_address(builder, pointer);
        let tag = builder.binary_bits(BinaryOp::LShr, address, TAG_SHIFT);
        builder.resize(tag, Scalar::I32, false)
    }

    /// Whether an address is in one of the pointer's objects of this space.
    fn is_in(&self, builder: &mut Builder<'_>, pointer: ValueId, space: AddressSpace) -> ValueId {
        let tag = self.tag_of(builder, pointer);
        let mut is_in = builder.bool(false);
        for object in self.forms.objects(pointer).into_iter().filter(|object| object.space() == space) {
            let own = builder.bits(Type::I32, self.tag_of_object(object));
            let is_own = builder.compare(CompareOp::Equal, CompareKind::Unsigned, tag, own);
            is_in = builder.binary(BinaryOp::Or, is_in, is_own);
        }
        is_in
    }

    /// `to_global`, `to_local`, `to_private` (OpenCL C 6.15.10): the pointer, or null if it points elsewhere.
    fn to_space(&self, builder: &mut Builder<'_>, inst: &Inst) -> ValueId {
        let (pointer, result) = (inst.args[0], inst.results[0]);
        let address = self.to_tagged_address(builder, pointer);
        let null = builder.i64(0);
        let ty = builder.ty(result);
        if ty != Type::I64 {
            let tag = self.tag_of(builder, pointer);
            let tag = builder.binary_bits(BinaryOp::LShr, tag, FIRST_TAG.trailing_zeros().into());
            let one = builder.i32(1);
            let is_object = builder.compare(CompareOp::Equal, CompareKind::Unsigned, tag, one);
            let address = builder.select(is_object, null, address);
            return builder.value(Op::IntToPointer, &[address], ty);
        }
        let first = self.forms.objects(result).first().map(|object| object.space());
        let is_in = match first {
            Some(space) => self.is_in(builder, pointer, space),
            None => builder.bool(false),
        };
        builder.select(is_in, address, null)
    }

    fn load(&self, builder: &mut Builder<'_>, id: InstId, access: Access, form: Form) -> ValueId {
        let inst = builder.function.insts[id].clone();
        let ty = builder.ty(inst.results[0]);
        let moved = if ty.is_pointer() { Type::I64 } else { ty };
        let value = self.each_object(builder, (id, inst.args[0]), form, Some(moved), |builder, target| {
            Some(match target {
                Target::Global(pointer) => builder.load(pointer, moved, access),
                Target::Object(object, layout, position) => {
                    Accessor { builder, layout, access: unshare_private(access, object) }
                        .load(position, moved)
                }
            })
        });
        let value = value.unwrap_or_else(|| builder.undefined(moved));
        if ty.is_pointer() { builder.value(Op::IntToPointer, &[value], ty) } else { value }
    }

    fn store(&self, builder: &mut Builder<'_>, id: InstId, access: Access, form: Form) {
        let inst = builder.function.insts[id].clone();
        let value = inst.args[1];
        self.each_object(builder, (id, inst.args[0]), form, None, |builder, target| {
            match target {
                Target::Global(pointer) => builder.store(pointer, value, access),
                Target::Object(object, layout, position) => {
                    Accessor { builder, layout, access: unshare_private(access, object) }
                        .store(position, value);
                }
            }
            None
        });
    }

    fn atomic(&self, builder: &mut Builder<'_>, id: InstId, form: Form) -> Option<ValueId> {
        let inst = builder.function.insts[id].clone();
        let Op::Atomic(atomic) = &inst.op else { return None };
        let result = inst.results.first().map(|&it| builder.ty(it));
        let ty = Type::Scalar(atomic.ty);
        let align = atomic.ty.size() as u32;
        let access = Access { is_shared: true, align, is_volatile: atomic.is_volatile };
        self.each_object(builder, (id, inst.args[0]), form, result, |builder, target| {
            let (object, layout, position) = match target {
                Target::Object(object, layout, position) => (object, layout, position),
                Target::Global(pointer) => {
                    let args: Vec<ValueId> =
                        std::iter::once(pointer).chain(inst.args[1..].iter().copied()).collect();
                    let made = builder.inst(inst.op.clone(), &args, result.as_slice());
                    return builder.function.insts[made].results.first().copied();
                }
            };
            let access = unshare_private(access, object);
            let mut accessor = Accessor { builder, layout, access };
            if object.space() == AddressSpace::Local {
                let made =
                    accessor.atomic(position, atomic, &inst.args[1..], result, self.layouts.loop_order);
                return made.filter(|_| result.is_some());
            }
            let old = accessor.load(position, ty);
            let (new, result) = unshared::modified(accessor.builder, atomic, &inst.args[1..], old);
            if let Some(new) = new {
                accessor.store(position, new);
            }
            result
        })
    }

    /// The layout of the object, or of the range that contains the access.
    fn layout(&self, id: InstId, object: Object) -> &Layout {
        self.layouts.ranges.get(&(id, object)).unwrap_or_else(|| &self.layouts.objects[&object])
    }

    /// Builds code for the object that a pointer points into. If there are several, the code branches on the tag.
    fn each_object(
        &self,
        builder: &mut Builder<'_>,
        (id, pointer): (InstId, ValueId),
        form: Form,
        result: Option<Type>,
        mut act: impl FnMut(&mut Builder<'_>, Target<'_>) -> Option<ValueId>,
    ) -> Option<ValueId> {
        if let Form::Index(object) = form {
            return act(builder, Target::Object(object, self.layout(id, object), pointer));
        }
        let origin = self.forms.origins.origin(pointer);
        let address = self.to_tagged_address(builder, pointer);
        let mut act_on = |builder: &mut Builder<'_>, object: Option<Object>| match object {
            Some(object) => {
                let layout = self.layout(id, object);
                let position = Self::index_from_address(builder, address, layout.unit);
                act(builder, Target::Object(object, layout, position))
            }
            None => {
                let ty = Type::Pointer(AddressSpace::Global);
                let pointer = builder.value(Op::IntToPointer, &[address], ty);
                act(builder, Target::Global(pointer))
            }
        };
        let mut objects: Vec<Option<Object>> = origin.objects.iter().copied().map(Some).collect();
        objects.extend(origin.is_global.then_some(None));
        // A pointer without objects is never accessed.
        let Some(last) = objects.pop() else { return result.map(|ty| builder.undefined(ty)) };
        if objects.is_empty() {
            return act_on(builder, last);
        }
        let tag = self.tag_of(builder, pointer);
        let cases = objects.iter().flatten().map(|&object| vec![self.tag_of_object(object)]).collect();
        let open = builder.open_switch(tag, cases, result.as_slice());
        let after = builder.insertion_point();
        for (block, object) in open.cases.iter().copied().zip(objects).chain([(open.default, last)]) {
            builder.at_end(block);
            let value = act_on(builder, object);
            builder.exit(open.inst, value.as_slice());
        }
        builder.at(after.0, after.1);
        builder.function.insts[open.inst].results.first().copied()
    }
}

/// The target of an access.
enum Target<'a> {
    /// A pointer to global memory.
    Global(ValueId),
    /// An index into an object.
    Object(Object, &'a Layout, ValueId),
}

/// Accesses to private objects are not shared.
fn unshare_private(access: Access, object: Object) -> Access {
    Access { is_shared: access.is_shared && object.space() != AddressSpace::Private, ..access }
}

/// The local objects with pointers that a function compares by order, as a loop from one pointer to another does.
fn compared_objects(function: &Function, forms: &Forms) -> FxHashSet<Object> {
    let insts = function.inst_order().into_iter().map(|id| &function.insts[id]);
    let compared = insts.filter(|inst| matches!(&inst.op, Op::Compare(it) if !matches!(it.op, CompareOp::Equal | CompareOp::NotEqual)));
    compared
        .filter_map(|inst| match forms.form(inst.args[0])? {
            Form::Index(object) => Some(object).filter(|object| object.space() == AddressSpace::Local),
            Form::Tagged => None,
        })
        .collect()
}

fn is_constant(builder: &Builder<'_>, value: ValueId) -> bool {
    builder.function.constant(value).is_some()
}
