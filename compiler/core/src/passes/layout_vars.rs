//! Chooses what local and private objects are arrays of, and gives pointers into them a form.
//!
//! The target has no addresses there: an object is an array of one element type, chosen from how it is accessed,
//! and every access names an element of it. What is larger than an element is taken in pieces, what is smaller is
//! cut out of one. A pointer that points into one object for certain is an index; any other is an address that
//! carries the number of its object, and an access through it branches on that (`pointers.rs`). A function that is handed
//! a private object has it as a variable that its caller owns (`handed.rs`).

mod access;
mod atomics;
mod handed;
mod pointers;

use std::cmp::Ordering;

use rustc_hash::{FxHashMap, FxHashSet};

use self::{
    atomics::Demand,
    handed::{Handed, Shared},
    pointers::{Form, Forms},
};
use crate::{
    diag::Sink,
    index::Id as _,
    ir::{FuncId, Function, Module, Op, Scalar, Type, Var},
    opencl::AddressSpace,
    passes::origins::{Object, Origins},
    session::Options,
    target::Features,
};

/// How an object is laid out.
#[derive(Clone, Copy, Debug)]
struct Layout {
    /// What it is an array of.
    element: Scalar,
    /// Bytes that one step of an index into it means: a power of two.
    unit: u64,
    /// Whether parts of elements are changed by atomic operations on the whole: a work-item that reads a part may not race
    /// with one that changes the rest.
    has_atomic_parts: bool,
    /// The variable that its function knows it by.
    root: Object,
}

pub(super) fn layout_vars(module: &mut Module, options: &Options, _: &mut Sink) {
    let features = &options.target.features;
    let vars = &module.vars;
    let forms_of = |function| Forms::new(function, Origins::find(function, &|var| vars[var].space));
    let forms: Vec<Forms> = module.functions.iter().map(forms_of).collect();
    let handed = Handed::find(module, &forms);
    // What several functions use is laid out once, so that all of them have a say before any is rewritten.
    let mut shared: FxHashMap<Shared, Usage> = FxHashMap::default();
    let mut surveys: Vec<FxHashMap<Object, Usage>> = Vec::new();
    for ((id, function), forms) in module.functions.entries().zip(&forms) {
        let mut uses = survey(function, forms);
        for object in handed.nothings(id) {
            uses.entry(object).or_default();
        }
        for (&object, usage) in &uses {
            if let Some(class) = handed.shared(id, object) {
                shared.entry(class).or_default().join(usage);
            }
        }
        surveys.push(uses);
    }
    let Module { functions, vars, .. } = module;
    for (index, (function, (forms, uses))) in functions.iter_mut().zip(forms.iter().zip(surveys)).enumerate()
    {
        let id = FuncId::from_index(index);
        let mut layouts = FxHashMap::default();
        for (object, usage) in uses {
            let class = handed.shared(id, object);
            let usage = class.and_then(|class| shared.get(&class)).unwrap_or(&usage);
            let root = match object {
                Object::Param(space, number) => {
                    let var = Var::new("", space, (0, 1), function.span);
                    Object::Private(function.vars.push(Var { parameter: Some(number), ..var }))
                }
                _ => object,
            };
            let layout = usage.layout(features, root);
            let var: &mut Var = match root {
                Object::Module(var) => &mut vars[var],
                Object::Private(var) => &mut function.vars[var],
                Object::Param(..) => continue,
            };
            var.element = Some(Type::Scalar(layout.element));
            var.size = class.and_then(|class| handed.size(class)).unwrap_or(var.size);
            layouts.insert(object, layout);
        }
        pointers::apply(function, id, &handed, forms, &layouts);
    }
}

/// How many loads and stores there are, of scalars.
#[derive(Clone, Copy, Default)]
struct Moves {
    loads: u64,
    stores: u64,
}

/// How an object is used.
#[derive(Default)]
struct Usage {
    /// How often each type is moved whole, with the alignment that is certain.
    moved: FxHashMap<(Scalar, u64), Moves>,
    /// What atomic operations ask of the element.
    atomic: FxHashSet<Demand>,
    /// Distances that pointers into it move by; their lowest set bits, together.
    strides: u64,
}

impl Usage {
    fn join(&mut self, other: &Self) {
        for (&what, moves) in &other.moved {
            let own = self.moved.entry(what).or_default();
            own.loads += moves.loads;
            own.stores += moves.stores;
        }
        self.atomic.extend(&other.atomic);
        self.strides |= other.strides;
    }

    fn note(&mut self, ty: Type, align: u32, is_store: bool) {
        let scalar = ty.scalar().unwrap_or(Scalar::I64);
        let moves = self.moved.entry((scalar, u64::from(align).min(scalar.size()))).or_default();
        *(if is_store { &mut moves.stores } else { &mut moves.loads }) += u64::from(ty.count());
        // The components of a vector lie a component apart.
        if ty.is_vector() {
            self.strides |= scalar.size();
        }
    }

    /// About how many operations all accesses take if elements have this size: one for each element, more to put
    /// several together, and more again to cut a part out of one or to put it in.
    fn cost(&self, size: u64) -> u64 {
        let costs = self.moved.iter().map(|((scalar, align), moves)| {
            let (load, store) = match align.cmp(&size) {
                Ordering::Equal if scalar.size() == size => (1, 1),
                Ordering::Less => (4, 8),
                Ordering::Equal | Ordering::Greater => (3 * align / size, 2 * align / size),
            };
            scalar.size() / align * (load * moves.loads + store * moves.stores)
        });
        costs.sum()
    }

    fn layout(&self, features: &Features, root: Object) -> Layout {
        let space = root.space();
        // What the device has no integers for is cut out of words, or is several.
        let fitting = |size| match size {
            1 if features.int8 => 1,
            2 if features.int16 => 2,
            8 if features.int64 => 8,
            _ => 4,
        };
        let has = |scalar: Scalar| scalar != Scalar::F16 || features.fp16;
        let pieces = || self.moved.keys().map(|(_, align)| *align);
        let is_local = space == AddressSpace::Local;
        let widest = self.atomic.iter().map(|demand| demand.size()).max();
        let size = match widest {
            Some(size) if is_local => size,
            // Other work-items may own the rest of a larger element.
            _ if is_local => fitting(pieces().min().unwrap_or(4)),
            _ => pieces().map(fitting).min_by_key(|&size| (self.cost(size), size)).unwrap_or(4),
        };
        let has_parts = pieces().any(|piece| piece < size);
        let element = match self.float(size).filter(|&float| has(float) && !has_parts) {
            Some(float) => float,
            None => Scalar::int_of_size(size),
        };
        let stores_part = |((_, piece), moves): (&(Scalar, u64), &Moves)| *piece < size && moves.stores > 0;
        let has_atomic_parts = is_local
            && (self.moved.iter().any(stores_part) || self.atomic.iter().any(|demand| demand.size() < size));
        let unit = if self.strides == 0 { size } else { size.min(1 << self.strides.trailing_zeros()) };
        Layout { element, unit, has_atomic_parts, root }
    }

    /// The float of this size that suits all accesses, if there is one.
    fn float(&self, size: u64) -> Option<Scalar> {
        let demanded: FxHashSet<Demand> =
            self.atomic.iter().copied().filter(|demand| !matches!(demand, Demand::Moved(_))).collect();
        // An atomic operation of floats decides; what is moved beside it is the same bits.
        if demanded.contains(&Demand::Float(size)) {
            return match (demanded.len(), size) {
                (1, 4) => Some(Scalar::F32),
                (1, 8) => Some(Scalar::F64),
                _ => None,
            };
        }
        let mut scalars = self.moved.keys().map(|(scalar, _)| *scalar);
        let first = scalars.next().filter(|first| first.is_float() && first.size() == size)?;
        (scalars.all(|it| it == first) && self.atomic.is_empty()).then_some(first)
    }
}

fn survey(function: &Function, forms: &Forms) -> FxHashMap<Object, Usage> {
    let mut uses: FxHashMap<Object, Usage> = FxHashMap::default();
    for &param in function.params() {
        if let Some(Form::Index(object)) = forms.of(param) {
            uses.entry(object).or_default();
        }
    }
    for id in function.inst_order() {
        let inst = &function.insts[id];
        // Every object that is named has a layout, even if nothing is done with it.
        if let (Op::ModuleVar(_) | Op::PrivateVar(_), Some(Form::Index(object))) =
            (&inst.op, inst.results.first().and_then(|&it| forms.of(it)))
        {
            uses.entry(object).or_default();
        }
        let Some(&pointer) = inst.args.first() else { continue };
        let (objects, is_index) = match forms.of(pointer) {
            Some(Form::Index(object)) => (vec![object], true),
            Some(Form::Tagged) => (forms.objects(pointer), false),
            None => continue,
        };
        for object in objects {
            let usage = uses.entry(object).or_default();
            let certain = match &inst.op {
                Op::Load(access) => {
                    usage.note(function.ty(inst.results[0]), access.align, false);
                    u64::from(access.align)
                }
                Op::Store(access) => {
                    usage.note(function.ty(inst.args[1]), access.align, true);
                    u64::from(access.align)
                }
                Op::Atomic(atomic) => {
                    // On a private object the operation is a plain one.
                    if object.space() == AddressSpace::Local {
                        usage.atomic.insert(Demand::of(atomic));
                    } else {
                        let moves = usage.moved.entry((atomic.ty, atomic.ty.size())).or_default();
                        moves.loads += 1;
                        moves.stores += 1;
                    }
                    atomic.ty.size()
                }
                Op::Offset { stride } if is_index => {
                    let known = function.constant_bits(inst.args[1]);
                    usage.strides |= known.map_or(*stride, |index| index.wrapping_mul(*stride));
                    continue;
                }
                // An address that turns out to be in this object may be at any byte.
                Op::PointerCast if !is_index && forms.of(inst.results[0]) == Some(Form::Index(object)) => 1,
                _ => continue,
            };
            if !is_index {
                usage.strides |= certain;
            }
        }
    }
    uses
}
