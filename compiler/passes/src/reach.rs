//! The bytes that a pointer can point to: objects with known roots, and offsets from their starts.
//!
//! Follows pointers through arithmetic, casts, selections, block parameters, construct results and calls until a fixed point.
//! A pointer loaded from memory or made from an integer can point anywhere. Runs after inlining, when no function calls
//! itself.

use kiln_ir::{FuncId, Function, Inst, InstId, Module, Op, Type, ValueId, VarId};
use kiln_types::index::Id as _;
use kiln_vocabulary::opencl::AddressSpace;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use crate::{
    limit::limit,
    offset_set::{Addend, OffsetSet, Term},
    origins::{constant_offset, is_to_space, receivers},
};

/// The object that a pointer points into.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Root {
    /// This object of the module.
    Module(VarId),
    /// This private object of the function.
    Private(VarId),
    /// The pointee of a parameter of a kernel, or of a private parameter.
    Param(FuncId, u32),
    /// Any object.
    Unknown,
}

/// Bytes that a pointer can point to.
#[derive(Clone, Debug)]
pub(super) struct Pointee {
    /// The object.
    pub(super) root: Root,
    /// The offsets in it.
    pub(super) offsets: OffsetSet,
    /// The number of changes during the analysis.
    changes: u32,
}

/// The pointees of one pointer; each root occurs once.
type Pointees = SmallVec<[Pointee; 1]>;

/// The maximum number of changes of a pointee, beyond which its terms lose their limits, so that the analysis ends.
const CHANGES: u32 = 4;

/// The pointees of all pointers of a module.
pub(super) struct Reach {
    functions: Vec<FxHashMap<ValueId, Pointees>>,
    /// The objects of the module whose addresses are stored, returned or converted to integers, so that unknown pointers can
    /// point into them.
    escaped: FxHashSet<VarId>,
}

/// The assumption about an index into memory that is not known to be an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Indices {
    /// It can be any number, negative ones too.
    Any,
    /// Its type and the operations that compute it limit it, although the object may be shorter.
    Limited,
}

impl Reach {
    /// Analyzes a module.
    pub(super) fn find(module: &Module, indices: Indices) -> Self {
        let functions = vec![FxHashMap::default(); module.functions.len()];
        let mut reach = Self { functions, escaped: FxHashSet::default() };
        // Callers first, so that the arguments of all calls are known.
        for id in module.callees_first().into_iter().rev() {
            let function = &module.functions[id];
            let mut flow =
                Flow { function, indices, found: std::mem::take(&mut reach.functions[id.index()]) };
            flow.visit_params(id);
            let mut order = function.inst_order();
            order.retain(|&inst| !function.insts[inst].op.is_numeric());
            while order.iter().fold(false, |changed, &inst| flow.visit_inst(inst) | changed) {}
            let found = flow.found;
            for inst in order {
                reach.record_escapes(module, &function.insts[inst], &found);
            }
            reach.functions[id.index()] = found;
        }
        reach
    }

    /// Records the pointers that an instruction passes to another function, or stores or converts.
    fn record_escapes(&mut self, module: &Module, inst: &Inst, found: &FxHashMap<ValueId, Pointees>) {
        let escaping = match inst.op {
            Op::Call(callee) => {
                for (arg, &param) in inst.args.iter().zip(module.functions[callee].params()) {
                    let known = self.functions[callee.index()].entry(param).or_default();
                    for pointee in found.get(arg).into_iter().flatten() {
                        add_bytes(known, pointee.root, &pointee.offsets);
                    }
                }
                return;
            }
            Op::Store(_) => &inst.args[1..],
            Op::PointerToInt | Op::Return => &inst.args[..],
            _ => return,
        };
        for pointee in escaping.iter().filter_map(|value| found.get(value)).flatten() {
            if let Root::Module(var) = pointee.root {
                self.escaped.insert(var);
            }
        }
    }

    /// The pointees of a pointer. Empty if it is null or undefined.
    pub(super) fn pointees(&self, function: FuncId, pointer: ValueId) -> &[Pointee] {
        self.functions[function.index()].get(&pointer).map_or(&[], SmallVec::as_slice)
    }

    /// The offsets at which a pointer can point into this object of the module.
    pub(super) fn offsets(&self, function: FuncId, pointer: ValueId, var: VarId) -> OffsetSet {
        let pointees = self.pointees(function, pointer);
        let pointee = pointees.iter().find(|pointee| pointee.root == Root::Module(var));
        let is_unknown =
            self.escaped.contains(&var) && pointees.iter().any(|pointee| pointee.root == Root::Unknown);
        match pointee {
            Some(pointee) if !is_unknown => pointee.offsets.clone(),
            _ => OffsetSet::anywhere(),
        }
    }
}

/// The analysis of one function.
struct Flow<'a> {
    function: &'a Function,
    indices: Indices,
    found: FxHashMap<ValueId, Pointees>,
}

impl Flow<'_> {
    /// Records the parameters. Calls have recorded their arguments for local and global pointers.
    fn visit_params(&mut self, id: FuncId) {
        let is_kernel = self.function.kernel.is_some();
        for (number, &param) in (0..).zip(self.function.params()) {
            let Type::Pointer(space) = self.function.ty(param) else { continue };
            let object = self.function.objects.iter().find(|(known, _)| *known == number);
            let is_passed = self.found.contains_key(&param);
            let (root, offsets) = match (object, space) {
                (Some((_, var)), _) if is_kernel => (Root::Module(*var), OffsetSet::start()),
                (Some((_, var)), _) if !is_passed => (Root::Module(*var), OffsetSet::anywhere()),
                (_, AddressSpace::Private) => {
                    self.found.remove(&param);
                    (Root::Param(id, number), OffsetSet::start())
                }
                (None, _) if is_kernel => (Root::Param(id, number), OffsetSet::start()),
                (None, _) if !is_passed => (Root::Unknown, OffsetSet::anywhere()),
                _ => continue,
            };
            self.add_pointee(param, root, &offsets);
        }
    }

    fn visit_inst(&mut self, id: InstId) -> bool {
        let inst = &self.function.insts[id];
        match &inst.op {
            Op::ModuleVar(var) => self.add_pointee(inst.results[0], Root::Module(*var), &OffsetSet::start()),
            Op::PrivateVar(var) => {
                self.add_pointee(inst.results[0], Root::Private(*var), &OffsetSet::start())
            }
            Op::Offset { stride, count } => {
                let step = match constant_offset(self.function, inst.args[1], *stride) {
                    Some(bytes) => Addend::Bytes(bytes),
                    None => {
                        // An index that is not negative only moves forward.
                        let limit = || match self.indices {
                            Indices::Any => None,
                            Indices::Limited => limit(self.function, inst.args[1]),
                        };
                        Addend::Index(Term { stride: *stride, count: count.map(u64::from).or_else(limit) })
                    }
                };
                let past_end = self.array_end(inst.args[0]);
                self.copy_pointees(inst.args[0], inst.results[0], |offsets| offsets.advanced(step, past_end))
            }
            Op::PointerCast => self.copy_pointees(inst.args[0], inst.results[0], Clone::clone),
            Op::Select => {
                self.copy_pointees(inst.args[1], inst.results[0], Clone::clone)
                    | self.copy_pointees(inst.args[2], inst.results[0], Clone::clone)
            }
            _ if is_to_space(inst) => self.copy_pointees(inst.args[0], inst.results[0], Clone::clone),
            _ => match receivers(self.function, inst) {
                Some(receivers) => {
                    let pairs = inst.args.iter().zip(receivers);
                    pairs.fold(false, |changed, (&from, to)| {
                        self.copy_pointees(from, to, Clone::clone) | changed
                    })
                }
                None if inst.op.is_construct() => false,
                None => inst.results.iter().fold(false, |changed, &it| {
                    self.add_pointee(it, Root::Unknown, &OffsetSet::anywhere()) | changed
                }),
            },
        }
    }

    /// The step past the last element of an array, where a pointer can point without being accessed (C99 6.5.6).
    fn array_end(&self, pointer: ValueId) -> Option<Term> {
        match self.function.def(pointer)?.op {
            Op::Offset { stride, count: Some(_) } => Some(Term { stride, count: Some(2) }),
            _ => None,
        }
    }

    fn copy_pointees(
        &mut self,
        from: ValueId,
        to: ValueId,
        change: impl Fn(&OffsetSet) -> OffsetSet,
    ) -> bool {
        let Some(pointees) = self.found.get(&from).cloned() else { return false };
        pointees.iter().fold(false, |changed, pointee| {
            self.add_pointee(to, pointee.root, &change(&pointee.offsets)) | changed
        })
    }

    fn add_pointee(&mut self, pointer: ValueId, root: Root, offsets: &OffsetSet) -> bool {
        if !self.function.ty(pointer).is_pointer() {
            return false;
        }
        add_bytes(self.found.entry(pointer).or_default(), root, offsets)
    }
}

/// Adds bytes to the pointees of a pointer. Returns whether that changed them.
fn add_bytes(pointees: &mut Pointees, root: Root, offsets: &OffsetSet) -> bool {
    let Some(known) = pointees.iter_mut().find(|pointee| pointee.root == root) else {
        pointees.push(Pointee { root, offsets: offsets.clone(), changes: 0 });
        return true;
    };
    let mut joined = known.offsets.join(offsets);
    if joined == known.offsets {
        return false;
    }
    known.changes += 1;
    if known.changes > CHANGES {
        joined = joined.widened();
    }
    let changed = joined != known.offsets;
    known.offsets = joined;
    changed
}
