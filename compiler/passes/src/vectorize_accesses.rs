//! Combines neighboring loads, and neighboring stores, of global and constant memory into accesses of up to 16 bytes
//! (LLVM: LoadStoreVectorizer). Copies of structures and accesses to their members become few wide accesses.
//!
//! Accesses of one block are combined if they have the same base, constant offsets without gaps, and a known
//! alignment of at least the combined size. A combined load replaces the first of its loads, a combined store the
//! last of its stores. No instruction between them may access the same memory.

use std::{collections::BTreeMap, mem::take};

use kiln_ir::{
    Access, BlockId, Builder, Function, InstId, Op, Replacements, Scalar, Type, ValueId, align_at_offset,
};
use kiln_session::Options;
use kiln_vocabulary::opencl::AddressSpace;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::{origins::base_and_offset, rewrite::rewrite_only, split_vectors::bits::regroup};

/// The sizes of combined accesses in bytes, in order of preference. GPUs access at most 16 bytes at once.
const SIZES: [i64; 4] = [16, 8, 4, 2];

pub(super) fn vectorize_accesses(function: &mut Function, options: &Options) {
    if !options.optimize {
        return;
    }
    let mut combined = Vec::new();
    for block in function.block_order() {
        Search { function, open: FxHashMap::default(), stored: None, combined: &mut combined }.block(block);
    }
    if !combined.is_empty() {
        replace_accesses(function, &combined);
    }
}

/// An access at a constant offset from its base.
#[derive(Clone, Copy)]
struct Member {
    inst: InstId,
    offset: i64,
    ty: Type,
    access: Access,
}

impl Member {
    fn size(&self) -> i64 {
        self.ty.size().unwrap_or(1) as i64
    }

    fn end(&self) -> i64 {
        // A wrong module can have any offset.
        self.offset.saturating_add(self.size())
    }
}

/// Accesses that one access can replace, by offset.
struct Combined {
    base: ValueId,
    members: Vec<Member>,
    access: Access,
    /// The member that the new access replaces.
    at: InstId,
    is_store: bool,
}

/// The accesses with one base that no other access separates, in program order.
#[derive(Default)]
struct Run {
    loads: Vec<Member>,
    stores: Vec<Member>,
    /// The end of each store by its offset. They do not overlap.
    stored: BTreeMap<i64, i64>,
}

impl Run {
    fn add(&mut self, member: Member, is_store: bool) {
        if is_store {
            self.stores.push(member);
            self.stored.insert(member.offset, member.end());
        } else {
            self.loads.push(member);
        }
    }

    /// Whether a store is to the same bytes.
    fn stores_to(&self, member: &Member) -> bool {
        let before = self.stored.range(..member.end()).next_back();
        before.is_some_and(|(_, &end)| member.offset < end)
    }
}

struct Search<'f> {
    function: &'f Function,
    open: FxHashMap<ValueId, Run>,
    /// The only base whose run can have stores.
    stored: Option<ValueId>,
    combined: &'f mut Vec<Combined>,
}

impl Search<'_> {
    fn block(&mut self, block: BlockId) {
        let function = self.function;
        for &id in &function.blocks[block].insts {
            let inst = &function.insts[id];
            let (access, ty, is_store) = match inst.op {
                Op::Load(access) => (access, function.ty(inst.results[0]), false),
                Op::Store(access) => (access, function.ty(inst.args[1]), true),
                _ if inst.op.is_pure() => continue,
                _ => {
                    self.close_all();
                    continue;
                }
            };
            let Type::Pointer(AddressSpace::Global | AddressSpace::Constant | AddressSpace::Generic) =
                function.ty(inst.args[0])
            else {
                continue;
            };
            if access.is_volatile || ty.scalar().is_none() {
                self.close_all();
                continue;
            }
            let (base, offset) = base_and_offset(function, inst.args[0]);
            let member = Member { inst: id, offset, ty, access };
            self.close_separated_runs(base, is_store);
            // A load moves up and a store moves down. An earlier store to the same bytes must stay between.
            if self.open.get(&base).is_some_and(|run| run.stores_to(&member)) {
                self.close_run(base);
            }
            self.open.entry(base).or_default().add(member, is_store);
        }
        self.close_all();
    }

    /// Closes the runs that an access with this base separates: pointers with different bases may be equal.
    fn close_separated_runs(&mut self, base: ValueId, is_store: bool) {
        if is_store {
            let own = self.open.remove(&base);
            self.close_all();
            self.open.extend(own.map(|run| (base, run)));
            self.stored = Some(base);
        } else if let Some(other) = self.stored
            && other != base
            && self.open.get(&other).is_some_and(|run| !run.stores.is_empty())
        {
            self.close_run(other);
        }
    }

    fn close_run(&mut self, base: ValueId) {
        if let Some(run) = self.open.remove(&base) {
            combine_run(base, run, self.combined);
        }
    }

    fn close_all(&mut self) {
        if !self.open.is_empty() {
            for (base, run) in take(&mut self.open) {
                combine_run(base, run, self.combined);
            }
        }
    }
}

/// Combines the accesses of a run.
fn combine_run(base: ValueId, run: Run, combined: &mut Vec<Combined>) {
    // The strictest alignment implies the others.
    let Some(aligned) = run.loads.iter().chain(&run.stores).max_by_key(|member| member.access.align).copied()
    else {
        return;
    };
    for (mut members, is_store) in [(run.loads, false), (run.stores, true)] {
        if members.len() > 1 {
            combine_members(base, &mut members, &aligned, is_store, combined);
        }
    }
}

/// Finds the largest combinations of these accesses, which are in program order. The alignment follows from the access
/// of the run with the strictest one.
fn combine_members(
    base: ValueId,
    members: &mut [Member],
    aligned: &Member,
    is_store: bool,
    combined: &mut Vec<Combined>,
) {
    let order: FxHashMap<InstId, usize> =
        members.iter().enumerate().map(|(number, member)| (member.inst, number)).collect();
    members.sort_by_key(|member| member.offset);
    let mut rest = &*members;
    while let Some(first) = rest.first() {
        let align = known_align(aligned, first.offset);
        let found = SIZES.into_iter().filter(|size| align % size == 0).find_map(|size| {
            let count = covering_accesses(rest, size)?;
            Some((&rest[..count], size))
        });
        let Some((accesses, size)) = found else {
            rest = &rest[1..];
            continue;
        };
        let by_order = |member: &&Member| order[&member.inst];
        let at = if is_store {
            accesses.iter().max_by_key(by_order)
        } else {
            accesses.iter().min_by_key(by_order)
        };
        combined.extend(at.map(|at| Combined {
            base,
            members: accesses.to_vec(),
            access: Access {
                is_shared: accesses.iter().any(|member| member.access.is_shared),
                align: align.max(size) as u32,
                is_volatile: false,
            },
            at: at.inst,
            is_store,
        }));
        rest = &rest[accesses.len()..];
    }
}

/// The alignment of the base plus an offset that follows from an access.
fn known_align(aligned: &Member, offset: i64) -> i64 {
    align_at_offset(aligned.access.align.into(), offset.abs_diff(aligned.offset)) as i64
}

/// The number of accesses that cover this size without gaps and overlaps, if there are at least two.
fn covering_accesses(members: &[Member], size: i64) -> Option<usize> {
    let first = members.first()?.offset;
    let mut end = first;
    for (count, member) in (1..).zip(members) {
        // A combined access consists of whole components.
        if member.offset != end || !is_part_aligned(member, first) {
            return None;
        }
        end = member.end();
        if end - first == size {
            return (count > 1).then_some(count);
        }
    }
    None
}

/// Whether the components begin at multiples of their size in the combined access, or of 4 bytes if they are larger. Then
/// no component of less than 4 bytes crosses a word.
fn is_part_aligned(member: &Member, first: i64) -> bool {
    let size = member.ty.scalar().map_or(1, Scalar::size) as i64;
    (member.offset - first) % size.min(4) == 0
}

/// The type of a combined access: the common scalar of its members, or words.
fn joint_type(members: &[Member]) -> Type {
    let size: u64 = members.iter().filter_map(|member| member.ty.size()).sum();
    let scalar = members[0].ty.scalar().unwrap_or(Scalar::I32);
    let is_common = members.iter().all(|member| member.ty.scalar() == Some(scalar));
    let scalar =
        if is_common && size / scalar.size() <= 4 { scalar } else { Scalar::int_of_size(size.min(4)) };
    Type::vector(scalar, (size / scalar.size()) as u8)
}

fn replace_accesses(function: &mut Function, combined: &[Combined]) {
    let by_inst: FxHashMap<InstId, &Combined> = combined.iter().map(|it| (it.at, it)).collect();
    let gone: FxHashSet<InstId> =
        combined.iter().flat_map(|it| it.members.iter().map(|member| member.inst)).collect();
    rewrite_only(
        function,
        |op| matches!(op, Op::Load(_) | Op::Store(_)),
        |builder, id, replaced| match by_inst.get(&id) {
            Some(combined) if combined.is_store => replace_stores(builder, combined, replaced),
            Some(combined) => replace_loads(builder, combined, replaced),
            None if gone.contains(&id) => {}
            None => builder.insert(id),
        },
    );
}

fn replace_loads(builder: &mut Builder<'_>, combined: &Combined, replaced: &mut Replacements) {
    let ty = joint_type(&combined.members);
    let first = combined.members[0].offset;
    let pointer = builder.offset_bytes(combined.base, first);
    let joint = builder.load(pointer, ty, combined.access);
    let parts = components(builder, joint);
    let part_size = ty.scalar().map_or(1, Scalar::size) as i64;
    for member in &combined.members {
        let scalar = member.ty.scalar().unwrap_or(Scalar::I32);
        let (start, end) = (member.offset - first, member.end() - first);
        let covering = start / part_size..(end + part_size - 1) / part_size;
        let own = regroup(builder, &parts[covering.start as usize..covering.end as usize], scalar);
        let skipped = (start - covering.start * part_size) / scalar.size() as i64;
        let own = &own[skipped as usize..][..usize::from(member.ty.count())];
        let value = if member.ty.is_vector() { builder.construct(own, member.ty) } else { own[0] };
        let result = builder.function.result(member.inst);
        replaced.insert(result, value);
    }
}

fn replace_stores(builder: &mut Builder<'_>, combined: &Combined, replaced: &Replacements) {
    let ty = joint_type(&combined.members);
    let part = ty.scalar().unwrap_or(Scalar::I32);
    let mut parts = Vec::new();
    // The components that do not fill a part yet, and their total size.
    let (mut pending, mut size) = (Vec::new(), 0);
    for member in &combined.members {
        let value = replaced.resolve(builder.function.insts[member.inst].args[1]);
        for component in components(builder, value) {
            size += builder.ty(component).size().unwrap_or(1);
            pending.push(component);
            if size % part.size() == 0 {
                parts.extend(regroup_components(builder, &pending, part));
                (pending, size) = (Vec::new(), 0);
            }
        }
    }
    let joint = if ty.is_vector() { builder.construct(&parts, ty) } else { parts[0] };
    let pointer = builder.offset_bytes(combined.base, combined.members[0].offset);
    builder.store(pointer, joint, combined.access);
}

/// Regroups components, which may have different sizes, into components of this type.
fn regroup_components(builder: &mut Builder<'_>, components: &[ValueId], to: Scalar) -> Vec<ValueId> {
    if components.iter().all(|&it| builder.ty(it) == builder.ty(components[0])) {
        return regroup(builder, components, to);
    }
    let bytes: Vec<ValueId> = components.iter().flat_map(|&it| regroup(builder, &[it], Scalar::I8)).collect();
    regroup(builder, &bytes, to)
}

/// The components of a number.
fn components(builder: &mut Builder<'_>, value: ValueId) -> Vec<ValueId> {
    let ty = builder.ty(value);
    if !ty.is_vector() {
        return vec![value];
    }
    (0..ty.count()).map(|component| builder.extract(value, component)).collect()
}
