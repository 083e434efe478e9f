//! Removes loads of global and constant memory whose value is known from an earlier access (LLVM: EarlyCSE), and stores that a
//! later store overwrites before any load (LLVM: DeadStoreElimination).
//!
//! Runs only for drivers that do not overlap loads themselves (`Tuning::overlaps_few_loads`), where its benefit was measured.
//!
//! `addresses` compares accesses. Accesses with different bases may overlap, except that nothing changes constant memory. Every
//! other operation on memory (an atomic operation, a fence, a barrier, a call) discards the known values. Between such
//! operations, a work-item without data races sees only its own writes (OpenCL C 6.15.12.3). Volatile accesses stay.

use std::rc::Rc;

use kiln_ir::{BlockId, Function, InstId, Op, Replacements, Type, ValueId};
use kiln_session::Options;
use kiln_types::index::Id as _;
use kiln_vocabulary::opencl::AddressSpace;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::addresses::{Addresses, Effect, Range};

/// The maximum number of accesses that are known at a time.
const KNOWN: usize = 256;
/// The maximum number of stores in a construct that are compared one by one.
const STORES: usize = 16;

pub(super) fn remove_redundant_accesses(function: &mut Function, options: &Options) {
    let is_access = |op: &Op| matches!(op, Op::Load(_) | Op::Store(_));
    if !options.optimize || !options.target.tuning.overlaps_few_loads || !function.may_contain(is_access) {
        return;
    }
    let blocks = function.block_order();
    let mut addresses = Addresses::default();
    let effects = effects_of_constructs(function, &blocks, &mut addresses);
    let mut search = Search {
        function,
        addresses,
        effects,
        entries: FxHashMap::default(),
        known: Vec::new(),
        overwritable: Vec::new(),
        replaced: Replacements::default(),
        removed: FxHashSet::default(),
    };
    for &block in &blocks {
        search.block(block);
    }
    let Search { replaced, removed, .. } = search;
    if !removed.is_empty() {
        for block in blocks {
            function.blocks[block].insts.retain(|id| !removed.contains(id));
        }
        function.replace_uses(&replaced);
    }
}

/// A known value in memory.
#[derive(Clone, Copy)]
struct Known {
    range: Range,
    ty: Type,
    value: ValueId,
    is_constant: bool,
}

/// The stores in a construct; `None` if it does more, or there are too many.
type Stores = Option<Vec<Range>>;

/// The effects of each construct, by the index of its instruction. Empty for other instructions.
fn effects_of_constructs(function: &Function, blocks: &[BlockId], addresses: &mut Addresses) -> Vec<Stores> {
    let mut found: Vec<Stores> = vec![Some(Vec::new()); function.insts.len()];
    let mut of_block: Vec<Stores> = vec![Some(Vec::new()); function.blocks.len()];
    let join = |into: &mut Stores, other: &Stores| {
        *into = match (into.take(), other) {
            (Some(mut stores), Some(other)) if stores.len() + other.len() <= STORES => {
                stores.extend(other);
                Some(stores)
            }
            _ => None,
        };
    };
    // Nested blocks follow the blocks around them.
    for &block in blocks.iter().rev() {
        let mut own = Some(Vec::new());
        for &id in &function.blocks[block].insts {
            let inst = &function.insts[id];
            if inst.op.is_construct() {
                let mut inside = Some(Vec::new());
                for nested in inst.op.blocks() {
                    join(&mut inside, &of_block[nested.index()]);
                }
                join(&mut own, &inside);
                found[id.index()] = inside;
                continue;
            }
            match addresses.effect(function, inst) {
                Effect::None | Effect::Load(_) => {}
                Effect::Store(range) => join(&mut own, &Some(vec![range])),
                Effect::Any => own = None,
            }
        }
        of_block[block.index()] = own;
    }
    found
}

struct Search<'f> {
    function: &'f Function,
    addresses: Addresses,
    effects: Vec<Stores>,
    /// What is known at the start of blocks that follow.
    entries: FxHashMap<BlockId, Rc<[Known]>>,
    known: Vec<Known>,
    /// Stores of the block that no instruction since may have read.
    overwritable: Vec<(InstId, Range)>,
    replaced: Replacements,
    removed: FxHashSet<InstId>,
}

impl Search<'_> {
    fn block(&mut self, block: BlockId) {
        self.known = self.entries.remove(&block).map(|known| known.to_vec()).unwrap_or_default();
        self.overwritable.clear();
        let function = self.function;
        for &id in &function.blocks[block].insts {
            let inst = &function.insts[id];
            if inst.op.is_construct() {
                self.construct(id);
                continue;
            }
            match self.addresses.effect(function, inst) {
                Effect::None => {}
                Effect::Load(range) => self.load(id, range),
                Effect::Store(range) => self.store(id, range),
                Effect::Any => self.forget(&None),
            }
        }
    }

    fn construct(&mut self, id: InstId) {
        let stores = std::mem::take(&mut self.effects[id.index()]);
        let op = &self.function.insts[id].op;
        // A loop starts again after its own stores.
        let is_loop = matches!(op, Op::Loop { .. });
        if is_loop {
            self.forget(&stores);
        }
        if !self.known.is_empty() {
            let known: Rc<[Known]> = self.known.as_slice().into();
            self.entries.extend(op.blocks().into_iter().map(|nested| (nested, known.clone())));
        }
        if !is_loop {
            self.forget(&stores);
        }
        self.overwritable.clear();
    }

    fn load(&mut self, id: InstId, range: Range) {
        let inst = &self.function.insts[id];
        let (ty, value) = (self.function.ty(inst.results[0]), inst.results[0]);
        if let Some(known) = self.known.iter().find(|it| it.range == range && it.ty == ty) {
            self.replaced.insert(value, known.value);
            self.removed.insert(id);
            return;
        }
        let is_constant = self.function.ty(inst.args[0]) == Type::Pointer(AddressSpace::Constant);
        self.overwritable.retain(|(_, stored)| stored.is_apart(&range));
        self.remember(Known { range, ty, value, is_constant });
    }

    fn store(&mut self, id: InstId, range: Range) {
        let removed = &mut self.removed;
        self.overwritable.retain(|(earlier, stored)| {
            let is_overwritten = range.contains(stored);
            if is_overwritten {
                removed.insert(*earlier);
            }
            !is_overwritten
        });
        self.overwritable.push((id, range));
        self.known.retain(|it| it.is_constant || it.range.is_apart(&range));
        let value = self.function.insts[id].args[1];
        self.remember(Known { range, ty: self.function.ty(value), value, is_constant: false });
    }

    fn remember(&mut self, known: Known) {
        if self.known.len() == KNOWN {
            self.known.drain(..KNOWN / 2);
        }
        self.known.push(known);
    }

    /// Removes what these stores, or any operation, may change.
    fn forget(&mut self, stores: &Stores) {
        match stores {
            Some(stores) => {
                self.known.retain(|it| it.is_constant || stores.iter().all(|range| it.range.is_apart(range)));
            }
            None => {
                self.known.retain(|it| it.is_constant);
                self.overwritable.clear();
            }
        }
    }
}
