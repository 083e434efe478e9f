//! Promotes private variables to SSA values (LLVM: SROA and mem2reg).
//!
//! A variable needs no memory if all its uses are loads and stores at constant offsets, with one type per offset.
//! Each such slot becomes a value that is passed through block parameters and construct results. A structure or a
//! small array is split into several slots.

use std::collections::BTreeMap;

use kiln_ir::{BlockId, Builder, Function, InstId, Op, Replacements, Scalar, Type, ValueId, VarId};
use kiln_session::Options;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::{origins::constant_offset, simplify::fold::evaluate_binary};

pub(super) fn promote(function: &mut Function, options: &Options) {
    // A promoted pointer reveals its origin, which may allow promoting the variable it points to.
    while promote_once(function, options.keep_variables) {}
}

/// Runs one iteration. Returns whether another iteration could promote more.
fn promote_once(function: &mut Function, keeps_named: bool) -> bool {
    let slots = Slots::find(function, keeps_named);
    if slots.types.is_empty() {
        return false;
    }
    let leaves_some = slots.leaves_some;
    let stored = stored_slots(function, &slots);
    let mut walk = Walk {
        builder: Builder::new(function),
        state: vec![None; slots.types.len()],
        slots,
        stored,
        changes: Vec::new(),
        replaced: Replacements::default(),
    };
    let body = walk.builder.function.body;
    walk.block(body);
    let replaced = walk.replaced;
    function.replace_uses(&replaced);
    leaves_some
}

/// The slots of variables, by index into `types`.
struct Slots {
    types: Vec<Type>,
    /// The slot that each pointer refers to.
    pointers: FxHashMap<ValueId, usize>,
    /// Whether other variables remain in memory.
    leaves_some: bool,
}

/// The uses of private variables.
#[derive(Default)]
struct Uses {
    /// Pointers with a constant offset in a variable.
    addresses: FxHashMap<ValueId, (VarId, i64)>,
    /// The type of the accesses at each offset of a variable.
    accesses: BTreeMap<(VarId, i64), Type>,
    /// Variables that stay in memory.
    rejected: FxHashSet<VarId>,
}

impl Uses {
    fn find(function: &Function) -> Self {
        let mut uses = Self::default();
        for id in function.inst_order() {
            if !uses.record(function, id) {
                let args = function.insts[id].args.iter();
                uses.rejected.extend(args.filter_map(|arg| uses.addresses.get(arg)).map(|(var, _)| *var));
            }
        }
        reject_overlaps(&uses.accesses, &mut uses.rejected);
        uses
    }

    /// Records an instruction. Returns false if it uses the address of its operands in another way.
    fn record(&mut self, function: &Function, id: InstId) -> bool {
        let inst = &function.insts[id];
        let slot = |index: usize| inst.args.get(index).and_then(|arg| self.addresses.get(arg)).copied();
        match inst.op {
            // The caller can observe variables that it passes.
            Op::PrivateVar(var) if function.vars[var].parameter.is_none() => {
                self.addresses.insert(inst.results[0], (var, 0));
            }
            Op::Offset { stride, .. } => {
                let Some((var, offset)) = slot(0) else { return false };
                let bytes = constant_offset(function, inst.args[1], stride);
                self.record_address(var, inst.results[0], bytes.and_then(|it| offset.checked_add(it)));
            }
            Op::Element => {
                let Some((var, _)) = slot(0) else { return false };
                self.record_address(var, inst.results[0], element_offset(function, var, inst.args[1]));
            }
            Op::Load(access) if !access.is_volatile => {
                let Some(slot) = slot(0) else { return false };
                self.record_access(slot, function.ty(inst.results[0]));
            }
            Op::Store(access) if !access.is_volatile => {
                let Some(slot) = slot(0) else { return false };
                self.record_access(slot, function.ty(inst.args[1]));
                // A pointer that is stored escapes.
                if let Some((var, _)) = self.addresses.get(&inst.args[1]) {
                    self.rejected.insert(*var);
                }
            }
            _ => return inst.op.is_numeric(),
        }
        true
    }

    /// Records a pointer into a variable. The offset is `None` if it is not constant.
    fn record_address(&mut self, var: VarId, pointer: ValueId, offset: Option<i64>) {
        match offset {
            Some(offset) => drop(self.addresses.insert(pointer, (var, offset))),
            None => drop(self.rejected.insert(var)),
        }
    }

    fn record_access(&mut self, slot: (VarId, i64), ty: Type) {
        if *self.accesses.entry(slot).or_insert(ty) != ty {
            self.rejected.insert(slot.0);
        }
    }

    /// Keeps the variables of the source in memory.
    fn reject_named(&mut self, function: &Function) {
        // Handles, such as events, have no memory for a debugger to show.
        let is_data = |ty: &Type| matches!(ty, Type::Scalar(_) | Type::Vector(..) | Type::Pointer(_));
        let is_named = |var: VarId| !function.vars[var].name.is_empty();
        let named = self.accesses.iter().filter(|((var, _), ty)| is_named(*var) && is_data(ty));
        self.rejected.extend(named.map(|((var, _), _)| *var));
    }
}

impl Slots {
    fn find(function: &Function, keeps_named: bool) -> Self {
        let mut uses = Uses::find(function);
        if keeps_named {
            uses.reject_named(function);
        }
        let Uses { addresses, accesses, rejected } = uses;
        let slots: Vec<((VarId, i64), Type)> =
            accesses.into_iter().filter(|((var, _), _)| !rejected.contains(var)).collect();
        let numbers: FxHashMap<(VarId, i64), usize> =
            slots.iter().enumerate().map(|(number, (slot, _))| (*slot, number)).collect();
        let pointers = addresses
            .into_iter()
            .filter_map(|(pointer, slot)| numbers.get(&slot).map(|&number| (pointer, number)))
            .collect();
        Self {
            types: slots.into_iter().map(|(_, ty)| ty).collect(),
            pointers,
            leaves_some: !rejected.is_empty(),
        }
    }

    fn slot(&self, pointer: ValueId) -> Option<usize> {
        self.pointers.get(&pointer).copied()
    }

    /// The slot that an instruction accesses, and whether it stores.
    fn accessed(&self, function: &Function, id: InstId) -> Option<(usize, bool)> {
        let inst = &function.insts[id];
        match inst.op {
            Op::Load(_) => Some((self.slot(inst.args[0])?, false)),
            Op::Store(_) => Some((self.slot(inst.args[0])?, true)),
            _ => None,
        }
    }
}

fn element_offset(function: &Function, var: VarId, index: ValueId) -> Option<i64> {
    let size = function.vars[var].element?.size()?;
    // With a single element, any valid index is zero.
    if size >= function.vars[var].size {
        return Some(0);
    }
    i64::from(known_index(function, index, STEPS)? as i32).checked_mul(i64::try_from(size).ok()?)
}

/// The maximum number of operations to evaluate for a constant index.
const STEPS: u32 = 16;

/// A constant index. `lower_to_logical_pointers` emits operations on constants, and `simplify` folds them only later.
fn known_index(function: &Function, index: ValueId, steps: u32) -> Option<u32> {
    if let Some(bits) = function.constant_bits(index) {
        return Some(bits as u32);
    }
    let inst = function.def(index)?;
    let Op::Binary(op) = inst.op else { return None };
    let steps = steps.checked_sub(1)?;
    // The constant is the right operand.
    let right = known_index(function, inst.args[1], 0)?;
    let left = known_index(function, inst.args[0], steps)?;
    evaluate_binary(op, Scalar::I32, left.into(), right.into()).map(|bits| bits as u32)
}

/// Rejects variables with overlapping slots.
fn reject_overlaps(accesses: &BTreeMap<(VarId, i64), Type>, rejected: &mut FxHashSet<VarId>) {
    for ((&(var, offset), &ty), (&(next_var, next), _)) in accesses.iter().zip(accesses.iter().skip(1)) {
        let size = ty.size().unwrap_or(u64::MAX);
        if var == next_var && offset.saturating_add_unsigned(size) > next {
            rejected.insert(var);
        }
    }
}

/// For each construct, the slots that it stores to, in order. Excludes slots that are only used inside it and always
/// stored before they are loaded, such as the variables of an inlined function: their values do not enter or leave.
fn stored_slots(function: &Function, slots: &Slots) -> FxHashMap<InstId, Vec<usize>> {
    let mut total = vec![0; slots.types.len()];
    for id in function.inst_order() {
        if let Some((slot, _)) = slots.accessed(function, id) {
            total[slot] += 1;
        }
    }
    let mut search = Search { function, slots, total, found: FxHashMap::default() };
    search.block(function.body);
    search.found
}

/// The uses of a slot in a block and its nested blocks.
#[derive(Clone, Copy)]
struct Use {
    accesses: usize,
    is_stored: bool,
    /// Whether each loaded value is stored before in the same block.
    is_stored_first: bool,
}

struct Search<'f> {
    function: &'f Function,
    slots: &'f Slots,
    /// The number of accesses of each slot.
    total: Vec<usize>,
    found: FxHashMap<InstId, Vec<usize>>,
}

impl Search<'_> {
    fn block(&mut self, block: BlockId) -> FxHashMap<usize, Use> {
        let function = self.function;
        let mut uses: FxHashMap<usize, Use> = FxHashMap::default();
        for &id in &function.blocks[block].insts {
            if let Some((slot, is_stored)) = self.slots.accessed(function, id) {
                let first = Use { accesses: 0, is_stored, is_stored_first: is_stored };
                let slot = uses.entry(slot).or_insert(first);
                slot.accesses += 1;
                slot.is_stored |= is_stored;
            }
            if function.insts[id].op.is_construct() {
                for (slot, inside) in self.construct(id) {
                    let first = Use { accesses: 0, is_stored: false, is_stored_first: false };
                    let slot = uses.entry(slot).or_insert(first);
                    slot.accesses += inside.accesses;
                    slot.is_stored |= inside.is_stored;
                }
            }
        }
        uses
    }

    fn construct(&mut self, id: InstId) -> FxHashMap<usize, Use> {
        let mut all: FxHashMap<usize, Use> = FxHashMap::default();
        for nested in self.function.insts[id].op.blocks() {
            for (slot, inside) in self.block(nested) {
                let first = Use { accesses: 0, is_stored: false, is_stored_first: true };
                let slot = all.entry(slot).or_insert(first);
                slot.accesses += inside.accesses;
                slot.is_stored |= inside.is_stored;
                slot.is_stored_first &= inside.is_stored_first;
            }
        }
        // No construct outside uses these slots.
        all.retain(|&slot, it| !(it.is_stored_first && it.accesses == self.total[slot]));
        let crossing = all.iter().filter(|(_, it)| it.is_stored);
        let mut crossing: Vec<usize> = crossing.map(|(slot, _)| *slot).collect();
        crossing.sort_unstable();
        self.found.insert(id, crossing);
        all
    }
}

struct Walk<'f> {
    builder: Builder<'f>,
    slots: Slots,
    stored: FxHashMap<InstId, Vec<usize>>,
    /// The current value of each slot. `None` while it is undefined.
    state: Vec<Option<ValueId>>,
    /// The slots that were changed, with their values before, to restore the state after a nested block.
    changes: Vec<(usize, Option<ValueId>)>,
    replaced: Replacements,
}

impl Walk<'_> {
    /// Rewrites a block, given the slots' values at its start.
    fn block(&mut self, block: BlockId) {
        let insts = std::mem::take(&mut self.builder.function.blocks[block].insts);
        let mut kept = Vec::with_capacity(insts.len());
        for id in insts {
            let inst = &self.builder.function.insts[id];
            match inst.op {
                Op::Load(_) => {
                    if let Some(slot) = self.slots.slot(inst.args[0]) {
                        let result = inst.results[0];
                        let value = self.current_value(slot);
                        self.replaced.insert(result, value);
                        continue;
                    }
                }
                Op::Store(_) => {
                    if let Some(slot) = self.slots.slot(inst.args[0]) {
                        let value = self.replaced.resolve(inst.args[1]);
                        self.set_slot(slot, value);
                        continue;
                    }
                }
                Op::Exit(target) | Op::Next(target) | Op::Continue(target) => {
                    for slot in self.stored.get(&target).cloned().unwrap_or_default() {
                        let value = self.current_value(slot);
                        self.builder.function.insts[id].args.push(value);
                    }
                }
                _ if inst.op.is_construct() => self.construct(id),
                _ => {}
            }
            kept.push(id);
        }
        self.builder.function.blocks[block].insts = kept;
    }

    /// Rewrites a block of a construct, at whose start some slots have other values.
    fn rewrite_nested(&mut self, block: BlockId, params: &[(usize, ValueId)]) {
        let before = self.changes.len();
        for &(slot, param) in params {
            self.set_slot(slot, param);
        }
        self.block(block);
        for (slot, value) in self.changes.drain(before..).rev() {
            self.state[slot] = value;
        }
    }

    fn construct(&mut self, id: InstId) {
        let stored = self.stored.get(&id).cloned().unwrap_or_default();
        let op = &self.builder.function.insts[id].op;
        if let Op::Loop { body, continuing, .. } = *op {
            let mut params = [Vec::new(), Vec::new()];
            for &slot in &stored {
                let first = self.current_value(slot);
                self.builder.function.insts[id].args.push(first);
                for (block, params) in [body, continuing].into_iter().zip(&mut params) {
                    params.push((slot, self.builder.function.add_param(block, self.slots.types[slot])));
                }
            }
            let [in_body, in_continuing] = params;
            self.rewrite_nested(body, &in_body);
            self.rewrite_nested(continuing, &in_continuing);
        } else {
            for block in op.blocks() {
                self.rewrite_nested(block, &[]);
            }
        }
        for slot in stored {
            let result = self.builder.function.add_result(id, self.slots.types[slot]);
            self.set_slot(slot, result);
        }
    }

    fn set_slot(&mut self, slot: usize, value: ValueId) {
        let before = self.state[slot].replace(value);
        self.changes.push((slot, before));
    }

    fn current_value(&mut self, slot: usize) -> ValueId {
        match self.state[slot] {
            Some(value) => self.replaced.resolve(value),
            None => self.builder.undefined(self.slots.types[slot]),
        }
    }
}
