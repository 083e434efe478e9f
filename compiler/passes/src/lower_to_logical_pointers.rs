//! Lowers pointers to local and private memory to logical addressing: chooses the element type of each object, and turns
//! pointers into indices.
//!
//! Local and private memory has no addresses. Each object is an array of one element type, chosen from its accesses, and an
//! access selects an element. Larger accesses are split, smaller ones extract a part of an element. Atomic operations need
//! elements of their own width and type. A local object whose atomic operations need several element types is split into
//! ranges that no access crosses; each range is a variable (`split.rs`). Operations that share a range with another element
//! type are emulated (`atomics.rs`). A pointer with only one possible object is an index. Any other pointer is an address
//! that contains the number of its object, and an access branches on that number (`pointers.rs`). A function with a pointer to
//! a private object gets the caller's variable as an argument (`passed.rs`). Local objects whose elements are exchanged to
//! change parts of them are zeroed first (`zero_objects.rs`).

mod access;
mod atomics;
mod defects;
mod passed;
mod pointers;
mod split;
mod zero_objects;

use std::cmp::Ordering;

use kiln_ir::{Data, FuncId, Function, Inst, Module, Op, Scalar, Type, Var, VarId};
use kiln_session::{Options, diag::Sink};
use kiln_types::index::{Id as _, Table};
use kiln_vocabulary::{driver_bugs::DriverBug, opencl::AddressSpace, target::Target};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use self::{
    atomics::{ElementRequirement, PartAccess},
    defects::Defects,
    passed::{PassedObjects, Shared},
    pointers::{Form, Forms},
    split::Split,
};
use crate::{
    legalize_atomics::LoopOrder,
    origins::{Object, Origins},
    ranges::Rebase,
    reach::{Indices, Reach},
};

/// The layout of an object or of a range.
#[derive(Clone, Debug)]
struct Layout {
    /// The element type.
    element: Scalar,
    /// The type that the variable has for each element: the same, or a wider integer.
    cell: Scalar,
    /// The number of bytes per index step, a power of two.
    unit: u64,
    /// The number of elements, if an access with an unknown index selects among all of them.
    selected: Option<u64>,
    /// Whether atomic operations on whole elements change parts of them: a work-item that reads a part must not race with one
    /// that changes the rest.
    has_atomic_parts: bool,
    /// Whether atomic operations on parts exchange whole elements. The program may not have written the other parts.
    exchanges_parts: bool,
    /// Its variable in the function.
    root: Object,
    /// The steps from the object to the range.
    steps: SmallVec<[Rebase; 2]>,
}

pub(super) fn lower_to_logical_pointers(module: &mut Module, options: &Options, _: &mut Sink) {
    let target = &options.target;
    let vars = &module.vars;
    let forms_of = |function| Forms::new(function, Origins::find(function, &|var| vars[var].space));
    let forms: Vec<Forms> = module.functions.iter().map(forms_of).collect();
    let defects = Defects(options.defect);
    let passed = PassedObjects::find(module, &forms, defects);
    let (surveys, mut shared) = survey_all(module, &forms, &passed);
    shared.values_mut().for_each(|usage| defects.change_usage(usage));
    // A bounds check keeps an access in its object, but not in its range.
    let split = if options.bounds_checks {
        FxHashMap::default()
    } else {
        split_mixed(module, &forms, &shared, (target, defects))
    };
    let widened = widened_objects(module, &shared, &split, target);
    let Module { functions, vars, .. } = module;
    let sizes: Vec<u64> = vars.iter().map(|var| var.size).collect();
    let mut zeroed = FxHashSet::default();
    let objects = Objects { passed, shared, split, widened, sizes, target, defects };
    for (index, (function, (forms, uses))) in functions.iter_mut().zip(forms.iter().zip(surveys)).enumerate()
    {
        let id = FuncId::from_index(index);
        let layouts = objects.lay_out(id, function, vars, uses);
        zeroed.extend(layouts.exchanged());
        pointers::apply(function, id, &objects.passed, forms, &layouts, defects);
    }
    zero_objects::zero_objects(module, &zeroed);
}

/// The uses of the objects in each function, and the joined uses of objects that several functions use. Those have one
/// layout, so all functions are surveyed before any is rewritten.
fn survey_all(
    module: &Module,
    forms: &[Forms],
    passed: &PassedObjects,
) -> (Vec<FxHashMap<Object, Usage>>, FxHashMap<Shared, Usage>) {
    let mut shared: FxHashMap<Shared, Usage> = FxHashMap::default();
    let mut surveys: Vec<FxHashMap<Object, Usage>> = Vec::new();
    for ((id, function), forms) in module.functions.entries().zip(forms) {
        let mut uses = survey(function, forms);
        for object in passed.dummy_objects(id) {
            uses.entry(object).or_default();
        }
        for (&object, usage) in &uses {
            if let Some(class) = passed.shared(id, object) {
                shared.entry(class).or_default().join(usage);
            }
        }
        surveys.push(uses);
    }
    (surveys, shared)
}

/// Splits the objects whose atomic operations need several element types.
fn split_mixed(
    module: &mut Module,
    forms: &[Forms],
    shared: &FxHashMap<Shared, Usage>,
    (target, defects): (&Target, Defects),
) -> FxHashMap<VarId, Split> {
    let mixed_var = |(class, usage): (&Shared, &Usage)| match class {
        Shared::Module(var) if usage.is_mixed() => Some(*var),
        _ => None,
    };
    let mut mixed: Vec<VarId> = shared.iter().filter_map(mixed_var).collect();
    mixed.sort_unstable();
    let mut split = FxHashMap::default();
    if !mixed.is_empty() {
        // The ranges of an object become variables, which must not be longer than the object.
        let reach = Reach::find(module, Indices::Any);
        for var in mixed {
            let strides = shared[&Shared::Module(var)].strides;
            if let Some(mut found) = Split::find(module, var, strides, (forms, &reach), target) {
                defects.change_split(&mut found);
                split.insert(var, found);
            }
        }
    }
    split
}

/// The facts about all objects of a module that layouts depend on.
struct Objects<'a> {
    passed: PassedObjects,
    shared: FxHashMap<Shared, Usage>,
    split: FxHashMap<VarId, Split>,
    widened: FxHashSet<VarId>,
    /// The sizes of the objects of the module in bytes.
    sizes: Vec<u64>,
    target: &'a Target,
    defects: Defects,
}

impl Objects<'_> {
    /// Chooses the layouts of the objects that a function uses, and sets the element types of their variables.
    fn lay_out(
        &self,
        id: FuncId,
        function: &mut Function,
        vars: &mut Table<VarId, Var>,
        uses: FxHashMap<Object, Usage>,
    ) -> pointers::Layouts {
        let (mut layouts, mut ranges) = (FxHashMap::default(), FxHashMap::default());
        let mut private = uses.iter().filter(|(object, _)| object.space() == AddressSpace::Private);
        // These two bugs were never seen in functions that move only whole words of private objects.
        let moves_parts = private.any(|(_, usage)| !usage.moves_whole_words());
        let works_around = |bug| moves_parts && self.target.workarounds.contains(bug);
        let initializes = works_around(DriverBug::InitializePrivateVariables);
        let selects = works_around(DriverBug::SelectPrivateElements);
        for (object, usage) in uses {
            if let Object::Module(var) = object
                && let Some(split) = self.split.get(&var)
            {
                layouts.insert(object, split.layouts[0].clone());
                let own = split.ranges.iter().filter(|((function, _), _)| *function == id);
                ranges.extend(own.map(|(&(_, inst), &range)| ((inst, object), split.layouts[range].clone())));
                continue;
            }
            let class = self.passed.shared(id, object);
            let is_joined = !self.defects.has_own_layouts() || object.space() != AddressSpace::Private;
            let joined = class.filter(|_| is_joined).and_then(|class| self.shared.get(&class));
            let usage = joined.unwrap_or(&usage);
            let root = match object {
                Object::Param(space, number) => {
                    let var = Var::new("", space, (0, 1), function.span);
                    Object::Private(function.vars.push(Var { parameter: Some(number), ..var }))
                }
                _ => object,
            };
            let mut layout = usage.layout(self.target, root, matches!(class, Some(Shared::Passed(_))));
            self.defects.change_layout(&mut layout);
            // Several functions can use an object of the module.
            let (var, size): (&mut Var, u64) = match root {
                Object::Module(id) => {
                    if self.widened.contains(&id) {
                        layout.cell = Scalar::I32;
                    }
                    (&mut vars[id], self.sizes[id.index()])
                }
                Object::Private(id) => {
                    let var = &mut function.vars[id];
                    let size = var.size;
                    (var, size)
                }
                Object::Param(..) => continue,
            };
            let size = class.and_then(|class| self.passed.size(class)).unwrap_or(size);
            let is_private = root.space() == AddressSpace::Private;
            if selects && is_private && class.is_none() {
                let count = size.div_ceil(layout.element.size());
                layout.selected = Some(count).filter(|count| (2..=MAX_SELECTED).contains(count));
            }
            var.element = Some(Type::Scalar(layout.cell));
            var.size = self.defects.changed_size(size.div_ceil(layout.element.size()) * layout.cell.size());
            if initializes && is_private && var.parameter.is_none() {
                var.init = Some(Data::default());
            }
            layouts.insert(object, layout);
        }
        pointers::Layouts {
            objects: layouts,
            ranges,
            loop_order: LoopOrder::for_target(self.target),
            states_no_wrap: self.target.workarounds.contains(DriverBug::WrappingIndices),
        }
    }
}

/// The maximum number of elements of a private array for `DriverBug::SelectPrivateElements`.
const MAX_SELECTED: u64 = 32;

/// The local memory that every Vulkan device has (Vulkan, Required Limits: maxComputeSharedMemorySize).
const LEAST_LOCAL_MEMORY: u64 = 16 * 1024;

/// The local objects with 8- or 16-bit elements that get a word for each element (`DriverBug::NarrowLoads`). The module's local
/// memory must still be small then. The launch decides the size of arguments, which stay as they are.
fn widened_objects(
    module: &Module,
    shared: &FxHashMap<Shared, Usage>,
    split: &FxHashMap<VarId, Split>,
    target: &Target,
) -> FxHashSet<VarId> {
    let mut widened = FxHashSet::default();
    if !target.workarounds.contains(DriverBug::NarrowLoads) {
        return widened;
    }
    let is_local = |(_, var): &(VarId, &Var)| var.space == AddressSpace::Local && var.argument.is_none();
    let locals: Vec<(VarId, &Var)> = module.vars.entries().filter(is_local).collect();
    let mut total: u64 = locals.iter().map(|(_, var)| var.size).sum();
    for (id, var) in locals {
        let Some(usage) = shared.get(&Shared::Module(id)).filter(|_| !split.contains_key(&id)) else {
            continue;
        };
        let element = usage.layout(target, Object::Module(id), false).element;
        if !matches!(element, Scalar::I8 | Scalar::I16) {
            continue;
        }
        let growth = var.size.div_ceil(element.size()) * Scalar::I32.size() - var.size;
        if total + growth <= LEAST_LOCAL_MEMORY {
            total += growth;
            widened.insert(id);
        }
    }
    widened
}

/// The number of scalar loads and stores.
#[derive(Clone, Copy, Debug, Default)]
struct AccessCounts {
    loads: u64,
    stores: u64,
}

/// The accesses to an object.
#[derive(Clone, Debug, Default)]
struct Usage {
    /// The number of accesses of each type with each known alignment.
    moved: FxHashMap<(Scalar, u64), AccessCounts>,
    /// The requirements of atomic operations for the element.
    atomic: FxHashSet<ElementRequirement>,
    /// The size of the smallest atomic operation that exchanges whole elements if it accesses a part of one.
    exchanged: Option<u64>,
    /// The offsets added to pointers into the object, combined by `or`: only the lowest set bit matters.
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
        self.exchanged = self.exchanged.into_iter().chain(other.exchanged).min();
        self.strides |= other.strides;
    }

    /// Whether several element types would suit the accesses better than one.
    fn is_mixed(&self) -> bool {
        let Some(widest) = self.atomic.iter().map(|requirement| requirement.size()).max() else {
            return false;
        };
        let is_narrow =
            |((_, piece), counts): (&(Scalar, u64), &AccessCounts)| *piece < widest && counts.stores > 0;
        self.atomic.iter().any(|requirement| requirement.size() < widest)
            || self.atomic.contains(&ElementRequirement::Float(widest))
                && self.atomic.contains(&ElementRequirement::Integer(widest))
            || self.moved.iter().any(is_narrow)
    }

    /// The size of the widest access.
    fn widest(&self) -> u64 {
        let pieces = self.moved.keys().map(|(_, piece)| *piece);
        pieces.chain(self.atomic.iter().map(|requirement| requirement.size())).max().unwrap_or(1)
    }

    /// Records a load, a store or an atomic operation on an object in this space. Returns the known alignment.
    fn record_access(&mut self, function: &Function, inst: &Inst, space: AddressSpace) -> Option<u64> {
        match &inst.op {
            Op::Load(access) => {
                self.record(function.ty(inst.results[0]), access.align, false);
                Some(access.align.into())
            }
            Op::Store(access) => {
                self.record(function.ty(inst.args[1]), access.align, true);
                Some(access.align.into())
            }
            Op::Atomic(atomic) => {
                // An atomic operation on a private object is a plain one.
                if space == AddressSpace::Local {
                    let size = atomic.ty.size();
                    self.atomic.insert(ElementRequirement::for_atomic(atomic));
                    if matches!(PartAccess::for_operation(atomic.op), PartAccess::Exchange) {
                        self.exchanged = Some(self.exchanged.map_or(size, |known| known.min(size)));
                    }
                } else {
                    let moves = self.moved.entry((atomic.ty, atomic.ty.size())).or_default();
                    moves.loads += 1;
                    moves.stores += 1;
                }
                Some(atomic.ty.size())
            }
            _ => None,
        }
    }

    fn record(&mut self, ty: Type, align: u32, is_store: bool) {
        let scalar = ty.scalar().unwrap_or(Scalar::I64);
        let moves = self.moved.entry((scalar, u64::from(align).min(scalar.size()))).or_default();
        *(if is_store { &mut moves.stores } else { &mut moves.loads }) += u64::from(ty.count());
        // The components of a vector are one component size apart.
        if ty.is_vector() {
            self.strides |= scalar.size();
        }
    }

    /// The approximate cost of all accesses with elements of this size: one operation per element, more for combining several
    /// elements, and even more for extracting or inserting a part.
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

    /// The layout of an object with these accesses. `is_passed`: whether it is an argument of calls.
    fn layout(&self, target: &Target, root: Object, is_passed: bool) -> Layout {
        let features = &target.features;
        let space = root.space();
        // Sizes without an integer type on the device use words: parts of one, or several.
        let fitting = |size| match size {
            1 if features.int8 => 1,
            2 if features.int16 => 2,
            8 if features.int64 => 8,
            _ => 4,
        };
        let has = |scalar: Scalar| scalar != Scalar::F16 || features.fp16;
        let pieces = || self.moved.keys().map(|(_, align)| *align);
        let is_local = space == AddressSpace::Local;
        let widest = self.atomic.iter().map(|requirement| requirement.size()).max();
        let size = match widest {
            Some(size) if is_local => size,
            // The rest of a larger element can belong to other work-items.
            _ if is_local => fitting(pieces().min().unwrap_or(4)),
            _ => {
                let is_mixed = pieces().any(|piece| piece < 8);
                let narrows =
                    is_mixed && !is_passed && target.workarounds.contains(DriverBug::NarrowPrivateElements);
                let sizes = pieces().map(fitting).filter(|&size| !narrows || size < 8);
                sizes.min_by_key(|&size| (self.cost(size), size)).unwrap_or(4)
            }
        };
        let has_parts = pieces().any(|piece| piece < size);
        let element = match self.float(size).filter(|&float| has(float) && !has_parts) {
            Some(float) => float,
            None => Scalar::int_of_size(size),
        };
        let stores_part =
            |((_, piece), counts): (&(Scalar, u64), &AccessCounts)| *piece < size && counts.stores > 0;
        // Loads of parts, mixed with atomic operations: a seq_cst load is a read-modify-write.
        let has_parts_and_atomics = has_parts && !self.atomic.is_empty();
        let has_atomic_parts = is_local
            && (has_parts_and_atomics
                || self.moved.iter().any(stores_part)
                || self.atomic.iter().any(|requirement| requirement.size() < size));
        let exchanges_parts = is_local && self.exchanged.is_some_and(|exchanged| exchanged < size);
        let unit = if self.strides == 0 { size } else { size.min(1 << self.strides.trailing_zeros()) };
        let is_private = space == AddressSpace::Private;
        let widens = is_private && target.workarounds.contains(DriverBug::WidenSmallIntegers);
        let cell = if widens && matches!(element, Scalar::I8 | Scalar::I16) { Scalar::I32 } else { element };
        Layout {
            element,
            cell,
            unit,
            selected: None,
            has_atomic_parts,
            exchanges_parts,
            root,
            steps: SmallVec::new(),
        }
    }

    /// Whether every access moves whole 32-bit elements.
    fn moves_whole_words(&self) -> bool {
        self.moved.keys().all(|(scalar, piece)| scalar.size() == 4 && *piece >= 4)
    }

    /// The floating-point type of this size that suits all accesses, if there is one.
    fn float(&self, size: u64) -> Option<Scalar> {
        let required: FxHashSet<ElementRequirement> = self
            .atomic
            .iter()
            .copied()
            .filter(|requirement| !matches!(requirement, ElementRequirement::Moved(_)))
            .collect();
        // An atomic floating-point operation determines the type; other accesses only move bits.
        if required.contains(&ElementRequirement::Float(size)) {
            return match (required.len(), size) {
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
        if let Some(Form::Index(object)) = forms.form(param) {
            uses.entry(object).or_default();
        }
    }
    for id in function.inst_order() {
        let inst = &function.insts[id];
        // Every referenced object has a layout, even without accesses.
        if let (Op::ModuleVar(_) | Op::PrivateVar(_), Some(Form::Index(object))) =
            (&inst.op, inst.results.first().and_then(|&it| forms.form(it)))
        {
            uses.entry(object).or_default();
        }
        let Some(&pointer) = inst.args.first() else { continue };
        let (objects, is_index) = match forms.form(pointer) {
            Some(Form::Index(object)) => (vec![object], true),
            Some(Form::Tagged) => (forms.objects(pointer), false),
            None => continue,
        };
        for object in objects {
            let usage = uses.entry(object).or_default();
            if let Some(certain) = usage.record_access(function, inst, object.space()) {
                if !is_index {
                    usage.strides |= certain;
                }
                continue;
            }
            match &inst.op {
                Op::Offset { stride, .. } if is_index => {
                    let known = function.constant_bits(inst.args[1]);
                    usage.strides |= known.map_or(*stride, |index| index.wrapping_mul(*stride));
                }
                // A tagged address that is converted to an index can have any byte offset.
                Op::PointerCast if !is_index && forms.form(inst.results[0]) == Some(Form::Index(object)) => {
                    usage.strides |= 1;
                }
                _ => {}
            }
        }
    }
    uses
}
