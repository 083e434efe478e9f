//! Chooses what local and private objects are arrays of, and turns pointers into them into indices.
//!
//! The target has no addresses there: an object is an array of one element type, chosen from how it is accessed,
//! and every access names an element of it. What is larger than an element is taken in pieces, what is smaller is
//! cut out of one.

mod access;

use rustc_hash::{FxHashMap, FxHashSet};

use self::access::Accessor;
use crate::{
    diag::{Code, Diagnostic, Sink},
    hir::CompareOp,
    ir::{BinaryOp, Builder, Function, InstId, Module, Op, Scalar, Type, ValueId, Var},
    opencl::AddressSpace,
    passes::{
        origins::{Object, Origin, origins},
        rewrite::rewrite,
    },
    session::Options,
};

/// How an object is laid out.
#[derive(Clone, Copy, Debug)]
struct Layout {
    /// What it is an array of.
    element: Scalar,
    /// Bytes that one step of an index into it means.
    unit: u64,
    space: AddressSpace,
}

pub(super) fn layout_vars(module: &mut Module, options: &Options, sink: &mut Sink) {
    let features = &options.target.features;
    let smallest = match (features.int8, features.int16) {
        (true, _) => 1,
        (false, true) => 2,
        (false, false) => 4,
    };
    let largest = if features.int64 { 8 } else { 4 };
    let Module { functions, vars, .. } = module;
    for function in functions.iter_mut() {
        let origins = origins(function, &|var| vars[var].space);
        let uses = survey(function, &origins, sink);
        if sink.has_errors() {
            return;
        }
        let mut layouts = FxHashMap::default();
        for (&object, usage) in &uses {
            let var: &mut Var = match object {
                Object::Module(var) => &mut vars[var],
                Object::Private(var) => &mut function.vars[var],
            };
            let layout = usage.layout(smallest, largest, var.space);
            var.element = Some(Type::Scalar(layout.element));
            layouts.insert(object, layout);
        }
        apply(function, &origins, &layouts);
    }
}

/// How an object is used.
#[derive(Default)]
struct Usage {
    /// Types that are moved whole, and the alignment that is certain.
    moved: FxHashSet<(Scalar, u64)>,
    /// Types of atomic operations: they name one element exactly.
    atomic: FxHashSet<Scalar>,
    /// Distances that pointers into it move by; their lowest set bits, together.
    strides: u64,
}

impl Usage {
    fn layout(&self, smallest: u64, largest: u64, space: AddressSpace) -> Layout {
        let pieces = self.moved.iter().map(|(scalar, align)| scalar.size().min(*align));
        let size = match self.atomic.iter().map(|scalar| scalar.size()).max() {
            Some(size) => size,
            None => pieces.min().unwrap_or(4).max(smallest).min(largest),
        };
        let floats: FxHashSet<Scalar> =
            self.moved.iter().map(|(scalar, _)| *scalar).chain(self.atomic.iter().copied()).collect();
        let element = match floats.iter().next() {
            Some(&only) if floats.len() == 1 && only.is_float() && only.size() == size => only,
            _ => Scalar::int_of_size(size),
        };
        let unit = if self.strides == 0 { size } else { size.min(1 << self.strides.trailing_zeros()) };
        Layout { element, unit, space }
    }
}

fn survey(
    function: &Function,
    origins: &FxHashMap<ValueId, Origin>,
    sink: &mut Sink,
) -> FxHashMap<Object, Usage> {
    let mut uses: FxHashMap<Object, Usage> = FxHashMap::default();
    for id in function.inst_order() {
        let inst = &function.insts[id];
        let accessed = match &inst.op {
            Op::Load(_) | Op::Store(_) | Op::Atomic(_) | Op::Offset { .. } => inst.args[0],
            _ => continue,
        };
        let Type::Pointer(space) = function.ty(accessed) else { continue };
        let Some(object) = origins.get(&accessed).and_then(|origin| origin.object) else {
            let is_access = !matches!(inst.op, Op::Offset { .. });
            if is_access && !matches!(space, AddressSpace::Global | AddressSpace::Constant) {
                sink.report(several_objects(function, id, space));
            }
            continue;
        };
        let usage = uses.entry(object).or_default();
        match &inst.op {
            Op::Load(access) => note(usage, function.ty(inst.results[0]), access.align),
            Op::Store(access) => note(usage, function.ty(inst.args[1]), access.align),
            Op::Atomic(atomic) => drop(usage.atomic.insert(atomic.ty)),
            Op::Offset { stride } => {
                let known = function.constant_bits(inst.args[1]);
                usage.strides |= known.map_or(*stride, |index| index.wrapping_mul(*stride));
            }
            _ => {}
        }
    }
    uses
}

fn note(usage: &mut Usage, ty: Type, align: u32) {
    let scalar = ty.scalar().unwrap_or(Scalar::I64);
    usage.moved.insert((scalar, u64::from(align).min(scalar.size())));
    // The components of a vector lie a component apart.
    if ty.is_vector() {
        usage.strides |= scalar.size();
    }
}

fn several_objects(function: &Function, id: InstId, space: AddressSpace) -> Diagnostic {
    let span = function.insts[id].span;
    let space = space.spelling();
    Diagnostic::new(Code::TargetPointer, span, format!("this {space} pointer may point into several objects"))
        .help("access each object through a pointer of its own, or index one array")
        .note("Vulkan has no addresses of local and private memory; `--env opencl` has")
}

/// Turns pointers into indices, and accesses into accesses of elements.
fn apply(function: &mut Function, origins: &FxHashMap<ValueId, Origin>, layouts: &FxHashMap<Object, Layout>) {
    let object_of = |value: &ValueId| origins.get(value).and_then(|origin| origin.object);
    for &value in origins.keys().filter(|value| object_of(value).is_some()) {
        function.values[value].ty = Type::I32;
    }
    null_pointers(function, origins);
    rewrite(function, |builder, id, replaced| {
        let inst = builder.function.insts[id].clone();
        let object = inst.args.first().and_then(object_of);
        let layout = object.and_then(|object| layouts.get(&object).copied());
        match (&inst.op, object, layout) {
            (Op::ModuleVar(_) | Op::PrivateVar(_), ..) if object_of(&inst.results[0]).is_some() => {
                let start = builder.i32(0);
                replaced.insert(inst.results[0], start);
            }
            (Op::Offset { stride }, Some(_), Some(layout)) => {
                let place = offset(builder, &inst.args, *stride, layout);
                replaced.insert(inst.results[0], place);
            }
            (Op::PointerCast, Some(_), _) => drop(replaced.insert(inst.results[0], inst.args[0])),
            (Op::PointerToInt, Some(_), _) => {
                let bytes = builder.binary_bits(BinaryOp::Mul, inst.args[0], layout.map_or(1, |it| it.unit));
                let wide = builder.resize(bytes, Scalar::I64, false);
                replaced.insert(inst.results[0], wide);
            }
            (Op::Compare(compare), Some(left), _)
                if object_of(&inst.args[1]).is_some_and(|right| right != left) =>
            {
                // Pointers to different objects are never equal; their order is unspecified.
                let differs = builder.bool(compare.op == CompareOp::NotEqual);
                replaced.insert(inst.results[0], differs);
            }
            (Op::Load(access), Some(object), Some(layout)) => {
                let ty = builder.ty(inst.results[0]);
                let mut accessor = Accessor { builder, object, layout, access: *access };
                let value = accessor.load(inst.args[0], ty);
                replaced.insert(inst.results[0], value);
            }
            (Op::Store(access), Some(object), Some(layout)) => {
                let mut accessor = Accessor { builder, object, layout, access: *access };
                accessor.store(inst.args[0], inst.args[1]);
            }
            (Op::Atomic(atomic), Some(object), Some(layout)) => {
                let access = crate::ir::Access { is_shared: true, align: 4, is_volatile: atomic.is_volatile };
                let mut accessor = Accessor { builder, object, layout, access };
                let element = accessor.whole_element(inst.args[0]);
                let inst = &mut builder.function.insts[id];
                inst.args[0] = element;
                // The emitter reads the element's type off the operation.
                builder.insert(id);
            }
            _ => builder.insert(id),
        }
    });
}

/// A null pointer that meets pointers into an object becomes an index that no element has.
fn null_pointers(function: &mut Function, origins: &FxHashMap<ValueId, Origin>) {
    let is_index = |function: &Function, value: ValueId| {
        origins.get(&value).is_some_and(|origin| origin.object.is_some()) && function.ty(value) == Type::I32
    };
    for id in function.inst_order() {
        let inst = &function.insts[id];
        let partners: Vec<ValueId> = match &inst.op {
            Op::Loop { body, .. } => function.blocks[*body].params.clone(),
            Op::Exit(target) => function.insts[*target].results.to_vec(),
            Op::Continue(target) | Op::Next(target) => match (&inst.op, &function.insts[*target].op) {
                (Op::Continue(_), Op::Loop { continuing, .. }) => function.blocks[*continuing].params.clone(),
                (_, Op::Loop { body, .. }) => function.blocks[*body].params.clone(),
                _ => continue,
            },
            Op::Select => vec![inst.args[0], inst.results[0], inst.results[0]],
            Op::Compare(_) => vec![inst.args[1], inst.args[0]],
            _ => continue,
        };
        for (index, &partner) in partners.iter().enumerate() {
            let Some(&arg) = function.insts[id].args.get(index) else { break };
            if function.constant(arg).is_some()
                && function.ty(arg).is_pointer()
                && is_index(function, partner)
            {
                let mut builder = Builder::new(function);
                let nowhere = builder.i32(-1);
                function.insts[id].args[index] = nowhere;
            }
        }
    }
}

fn offset(builder: &mut Builder<'_>, args: &[ValueId], stride: u64, layout: Layout) -> ValueId {
    let (base, index) = (args[0], args[1]);
    if let Some(known) = builder.function.constant_bits(index) {
        let known = if builder.ty(index) == Type::I64 { known as i64 } else { i64::from(known as i32) };
        let steps = known.wrapping_mul(stride as i64) / layout.unit as i64;
        return if steps == 0 {
            base
        } else {
            let steps = builder.i32(steps as i32);
            builder.binary(BinaryOp::Add, base, steps)
        };
    }
    let mut steps = builder.resize(index, Scalar::I32, true);
    if stride != layout.unit {
        steps = builder.binary_bits(BinaryOp::Mul, steps, stride / layout.unit);
    }
    builder.binary(BinaryOp::Add, base, steps)
}
