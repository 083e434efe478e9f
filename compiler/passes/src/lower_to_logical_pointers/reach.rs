//! The bytes of an object that a pointer can point to: offsets from its start, as steps of known strides.

use kiln_ir::{Function, InstId, Op, ValueId};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::origins::{Object, Origins, constant_offset, is_to_space, receivers};

/// A set of byte offsets from the start of an object: `offset`, plus any number of steps of each term.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Extent {
    /// The minimum, unless a term has no limit.
    pub(super) offset: i64,
    /// The terms, sorted by stride; each stride occurs once.
    pub(super) terms: SmallVec<[Term; 2]>,
}

/// Steps of one length.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Term {
    /// The size of a step in bytes.
    pub(super) stride: u64,
    /// The number of steps is less than this. `None`: any number of steps, in either direction.
    pub(super) count: Option<u64>,
}

/// The maximum number of terms, beyond which a set becomes coarser.
const TERMS: usize = 6;
/// The maximum number of changes of a set, beyond which its terms lose their limits, so that the analysis ends.
const CHANGES: u32 = 4;

impl Extent {
    fn start() -> Self {
        Self { offset: 0, terms: SmallVec::new() }
    }

    /// The whole object.
    pub(super) fn anywhere() -> Self {
        Self { offset: 0, terms: SmallVec::from_slice(&[Term { stride: 1, count: None }]) }
    }

    /// The minimum and maximum offset, if there are limits.
    pub(super) fn limits(&self) -> Option<(i64, i64)> {
        let mut end = self.offset;
        for term in &self.terms {
            let steps = i64::try_from(term.stride.checked_mul(term.count?.saturating_sub(1))?).ok()?;
            end = end.checked_add(steps)?;
        }
        Some((self.offset, end))
    }

    /// The set moved by a number of bytes.
    fn moved(&self, bytes: i64) -> Self {
        match self.offset.checked_add(bytes) {
            Some(offset) => Self { offset, terms: self.terms.clone() }.normal(),
            None => Self::anywhere(),
        }
    }

    /// The set with an optional additional step.
    fn with(&self, term: Option<Term>) -> Self {
        term.map_or_else(|| self.clone(), |term| self.stepped(term))
    }

    /// The set with additional steps.
    fn stepped(&self, term: Term) -> Self {
        let mut extent = self.clone();
        extent.terms.push(term);
        extent.normal()
    }

    /// The union of two sets, or a superset.
    fn join(&self, other: &Self) -> Self {
        if self == other {
            return self.clone();
        }
        let mut terms = self.terms.clone();
        for term in &other.terms {
            match terms.iter_mut().find(|own| own.stride == term.stride) {
                Some(own) => own.count = own.count.zip(term.count).map(|(own, count)| own.max(count)),
                None => terms.push(*term),
            }
        }
        let distance = self.offset.abs_diff(other.offset);
        if distance > 0 {
            terms.push(Term { stride: distance, count: Some(2) });
        }
        Self { offset: self.offset.min(other.offset), terms }.normal()
    }

    /// The set without limits.
    fn widened(mut self) -> Self {
        for term in &mut self.terms {
            term.count = None;
        }
        self.normal()
    }

    /// The normal form: sorted terms, without those that another one covers.
    pub(super) fn normal(mut self) -> Self {
        let is_coarse = self.terms.len() > TERMS;
        let endless = self.terms.iter().filter(|term| is_coarse || term.count.is_none());
        let stride = endless.fold(0, |all, term| gcd(all, term.stride));
        let mut limited: SmallVec<[Term; 2]> = SmallVec::new();
        for term in self.terms {
            let Some(count) = term.count.filter(|&count| count > 1 && term.stride > 0) else { continue };
            if stride > 0 && term.stride.is_multiple_of(stride) {
                continue;
            }
            match limited.iter_mut().find(|known| known.stride == term.stride) {
                Some(known) => known.count = known.count.map(|known| known.saturating_add(count - 1)),
                None => limited.push(term),
            }
        }
        if stride > 0 {
            limited.push(Term { stride, count: None });
            self.offset = i64::try_from(stride).map_or(0, |stride| self.offset.rem_euclid(stride));
        }
        limited.sort_unstable();
        Self { offset: self.offset, terms: limited }
    }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// The offsets at which each pointer of a function can point into each object.
pub(super) struct Reach<'a> {
    function: &'a Function,
    origins: &'a Origins,
    /// The set, and the number of its changes.
    found: FxHashMap<(ValueId, Object), (Extent, u32)>,
}

impl<'a> Reach<'a> {
    pub(super) fn find(function: &'a Function, origins: &'a Origins) -> Self {
        let mut reach = Self { function, origins, found: FxHashMap::default() };
        for &param in function.params() {
            reach.anywhere(param);
        }
        let mut order = function.inst_order();
        order.retain(|&id| !function.insts[id].op.is_of_numbers());
        while order.iter().fold(false, |changed, &id| reach.flow(id) | changed) {}
        reach
    }

    /// The offsets at which a pointer can point into this object.
    pub(super) fn of(&self, pointer: ValueId, object: Object) -> Extent {
        self.found.get(&(pointer, object)).map_or_else(Extent::anywhere, |(extent, _)| extent.clone())
    }

    fn flow(&mut self, id: InstId) -> bool {
        let inst = &self.function.insts[id];
        match &inst.op {
            Op::ModuleVar(_) | Op::PrivateVar(_) => {
                let objects = self.origins.of(inst.results[0]).objects;
                let note = |changed, &object: &Object| {
                    self.note(inst.results[0], object, &Extent::start()) | changed
                };
                objects.iter().fold(false, note)
            }
            Op::Offset { stride, count } => match constant_offset(self.function, inst.args[1], *stride) {
                Some(bytes) => {
                    let end = self.array_end(inst.args[0]).filter(|_| bytes < 0);
                    self.pass(inst.args[0], inst.results[0], |extent| extent.with(end).moved(bytes))
                }
                None => {
                    let term = Term { stride: *stride, count: count.map(u64::from) };
                    let end = self.array_end(inst.args[0]).filter(|_| count.is_none());
                    self.pass(inst.args[0], inst.results[0], |extent| extent.with(end).stepped(term))
                }
            },
            Op::PointerCast => self.pass(inst.args[0], inst.results[0], Clone::clone),
            Op::Select => {
                self.pass(inst.args[1], inst.results[0], Clone::clone)
                    | self.pass(inst.args[2], inst.results[0], Clone::clone)
            }
            _ if is_to_space(inst) => self.pass(inst.args[0], inst.results[0], Clone::clone),
            _ => match receivers(self.function, inst) {
                Some(receivers) => {
                    let pairs = inst.args.iter().zip(receivers);
                    pairs.fold(false, |changed, (&from, to)| self.pass(from, to, Clone::clone) | changed)
                }
                None if inst.op.is_construct() => false,
                None => inst.results.iter().fold(false, |changed, &it| self.anywhere(it) | changed),
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

    /// Records a pointer without known offsets.
    fn anywhere(&mut self, pointer: ValueId) -> bool {
        let objects = self.origins.of(pointer).objects;
        objects
            .iter()
            .fold(false, |changed, &object| self.note(pointer, object, &Extent::anywhere()) | changed)
    }

    fn pass(&mut self, from: ValueId, to: ValueId, change: impl Fn(&Extent) -> Extent) -> bool {
        let objects = self.origins.of(to).objects;
        let mut changed = false;
        for &object in &objects {
            if let Some((extent, _)) = self.found.get(&(from, object)) {
                let extent = change(extent);
                changed |= self.note(to, object, &extent);
            }
        }
        changed
    }

    fn note(&mut self, pointer: ValueId, object: Object, extent: &Extent) -> bool {
        let Some((known, changes)) = self.found.get_mut(&(pointer, object)) else {
            self.found.insert((pointer, object), (extent.clone(), 0));
            return true;
        };
        let mut joined = known.join(extent);
        if joined == *known {
            return false;
        }
        *changes += 1;
        if *changes > CHANGES {
            joined = joined.widened();
        }
        let changed = joined != *known;
        *known = joined;
        changed
    }
}
