//! Splits vectors of 8 and 16 components into vectors of 4, for targets without wide vectors. Before that, splits vectors
//! whose number of components OpenCL C does not have: LLVM forms them, and modules of other compilers contain them.
//!
//! Splits values, block parameters and construct results. Memory accesses of 8 and 16 components have already been split by
//! `expand_memory`.

pub(super) mod bits;

use kiln_ir::{
    BinaryOp, BlockId, Builder, BuiltinParam, CompareKind, Const, Function, Inst, InstId, Op, Scalar, Type,
    ValueDef, ValueId,
};
use kiln_session::Options;
use kiln_types::ops::CompareOp;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::rewrite::rewrite;

/// The number of components of a part.
const PART: u8 = 4;

/// The parts of a value, in order.
type Parts = SmallVec<[ValueId; 4]>;

pub(super) fn split_vectors(function: &mut Function, _: &Options) {
    split(function, is_wide);
}

pub(super) fn split_unusual_vectors(function: &mut Function, _: &Options) {
    split(function, |ty| !matches!(ty.count(), 1..=4 | 8 | 16));
}

/// Whether a type is a vector of more than four components.
pub(super) const fn is_wide(ty: Type) -> bool {
    ty.count() > PART
}

fn split(function: &mut Function, is_split: fn(Type) -> bool) {
    if !function.values.iter().any(|value| is_split(value.ty)) {
        return;
    }
    let mut split = Split { parts: FxHashMap::default(), is_split };
    for block in function.block_order() {
        split.params(function, block);
    }
    rewrite(function, |builder, id, replaced| {
        if let Some(value) = split.inst(builder, id) {
            replaced.insert(builder.function.insts[id].results[0], value);
        }
    });
}

/// The types of the parts of a vector: vectors of four components, and the rest.
fn part_types(ty: Type) -> impl Iterator<Item = Type> {
    let width = move |first: u8| ty.with_count(PART.min(ty.count() - first));
    (0..ty.count()).step_by(PART.into()).map(width)
}

struct Split {
    parts: FxHashMap<ValueId, Parts>,
    /// Whether values of this type are split.
    is_split: fn(Type) -> bool,
}

impl Split {
    fn params(&mut self, function: &mut Function, block: BlockId) {
        for param in std::mem::take(&mut function.blocks[block].params) {
            let ty = function.ty(param);
            if (self.is_split)(ty) {
                let own = part_types(ty).map(|ty| function.add_param(block, ty)).collect();
                self.parts.insert(param, own);
            } else {
                let number = function.blocks[block].params.len() as u32;
                function.values[param].def = ValueDef::Param(block, number);
                function.blocks[block].params.push(param);
            }
        }
    }

    /// The parts of a value. A value that is not split is its only part.
    fn parts(&mut self, builder: &mut Builder<'_>, value: ValueId) -> Parts {
        if let Some(parts) = self.parts.get(&value) {
            return parts.clone();
        }
        let ty = builder.ty(value);
        if !(self.is_split)(ty) {
            return SmallVec::from_slice(&[value]);
        }
        let constant = builder.function.constant(value).cloned();
        let parts: Parts = match constant {
            Some(Const::Bits(bits)) => bits
                .chunks(PART.into())
                .map(|part| builder.constant(ty.with_count(part.len() as u8), Const::Bits(part.into())))
                .collect(),
            _ => part_types(ty).map(|ty| builder.undefined(ty)).collect(),
        };
        self.parts.insert(value, parts.clone());
        parts
    }

    /// Inserts the replacement of an instruction. Returns the replacement of a result that is not split.
    fn inst(&mut self, builder: &mut Builder<'_>, id: InstId) -> Option<ValueId> {
        let inst = builder.function.insts[id].clone();
        let is_any_split = inst.args.iter().chain(&inst.results).any(|&it| (self.is_split)(builder.ty(it)));
        if !is_any_split {
            builder.insert(id);
            return None;
        }
        if inst.op.is_construct() || inst.op.is_terminator() {
            self.control(builder, id, &inst);
            return None;
        }
        if let Op::Store(access) = inst.op {
            for (offset, part) in self.parts_in_memory(builder, inst.args[1]) {
                let address = builder.offset_bytes(inst.args[0], offset);
                builder.store(address, part, access.at_offset(offset as u64));
            }
            return None;
        }
        let ty = builder.ty(*inst.results.first()?);
        let parts = self.compute(builder, &inst, ty);
        if (self.is_split)(ty) {
            self.parts.insert(inst.results[0], parts);
            return None;
        }
        parts.first().copied()
    }

    /// The parts of a value, with the byte offset of each.
    fn parts_in_memory(&mut self, builder: &mut Builder<'_>, value: ValueId) -> Vec<(i64, ValueId)> {
        let size = builder.ty(value).scalar().map_or(0, Scalar::size) * u64::from(PART);
        self.parts(builder, value).into_iter().zip(0..).map(|(part, at)| (size as i64 * at, part)).collect()
    }

    /// Passes all parts through constructs and jumps.
    fn control(&mut self, builder: &mut Builder<'_>, id: InstId, inst: &Inst) {
        let mut args = SmallVec::new();
        for &arg in &inst.args {
            args.extend(self.parts(builder, arg));
        }
        let function = &mut *builder.function;
        for result in std::mem::take(&mut function.insts[id].results) {
            let ty = function.ty(result);
            if (self.is_split)(ty) {
                let parts = part_types(ty).map(|ty| function.add_result(id, ty)).collect();
                self.parts.insert(result, parts);
            } else {
                let number = function.insts[id].results.len() as u32;
                function.values[result].def = ValueDef::Result(id, number);
                function.insts[id].results.push(result);
            }
        }
        function.insts[id].args = args;
        builder.insert(id);
    }

    /// Computes the parts of a result.
    fn compute(&mut self, builder: &mut Builder<'_>, inst: &Inst, ty: Type) -> Parts {
        let arg = |index: usize| inst.args[index];
        let is_split = self.is_split;
        match &inst.op {
            Op::Load(access) => {
                let size = ty.scalar().map_or(0, Scalar::size) * u64::from(PART);
                let load = |(part, at)| {
                    let address = builder.offset_bytes(arg(0), (size * at) as i64);
                    builder.load(address, part, access.at_offset(size * at))
                };
                part_types(ty).zip(0..).map(load).collect()
            }
            Op::Construct => {
                let all: Vec<Component> =
                    inst.args.iter().flat_map(|&arg| self.components(builder, arg)).collect();
                join_parts(builder, &all, ty, is_split)
            }
            Op::Shuffle(components) => {
                let mut all = self.components(builder, arg(0));
                all.extend(self.components(builder, arg(1)));
                let chosen: Vec<Component> = components.iter().map(|&it| all[usize::from(it)]).collect();
                join_parts(builder, &chosen, ty, is_split)
            }
            Op::Extract(component) => {
                let all = self.components(builder, arg(0));
                SmallVec::from_slice(&[all[usize::from(*component)].get(builder)])
            }
            Op::Insert(component) => {
                let mut parts = self.parts(builder, arg(0));
                let part = &mut parts[usize::from(component / PART)];
                *part = match builder.ty(*part).is_vector() {
                    true => builder.insert_component(*part, arg(1), component % PART),
                    false => arg(1),
                };
                parts
            }
            Op::ExtractDynamic => self.extract_dynamic(builder, arg(0), arg(1), ty),
            Op::InsertDynamic => self.insert_dynamic(builder, arg(0), arg(1), arg(2)),
            Op::Any | Op::All => {
                let join = if inst.op == Op::Any { BinaryOp::Or } else { BinaryOp::And };
                let parts = self.parts(builder, arg(0));
                let reduce = |&part: &ValueId| match builder.ty(part).is_vector() {
                    true => builder.value(inst.op.clone(), &[part], ty),
                    false => part,
                };
                let each: Vec<ValueId> = parts.iter().map(reduce).collect();
                let joined = each.into_iter().reduce(|left, right| builder.binary(join, left, right));
                joined.into_iter().collect()
            }
            Op::Bitcast => self.bitcast(builder, arg(0), ty),
            // All other operations are componentwise.
            op => {
                let args: Vec<Parts> = inst.args.iter().map(|&arg| self.parts(builder, arg)).collect();
                part_types(ty)
                    .enumerate()
                    .map(|(number, part_ty)| {
                        let own: SmallVec<[ValueId; 4]> =
                            args.iter().map(|parts| *parts.get(number).unwrap_or(&parts[0])).collect();
                        builder.value(op_for_part(op, part_ty.count()), &own, part_ty)
                    })
                    .collect()
            }
        }
    }

    /// Extracts the element from each part, and selects that of the part that the index is in.
    fn extract_dynamic(
        &mut self,
        builder: &mut Builder<'_>,
        vector: ValueId,
        index: ValueId,
        ty: Type,
    ) -> Parts {
        let parts = self.parts(builder, vector);
        let index = part_index(builder, index);
        let mut found = None;
        for (number, &part) in parts.iter().enumerate() {
            let inside = index_in_part(builder, part, number, index);
            let own = match builder.ty(part).is_vector() {
                true => builder.value(Op::ExtractDynamic, &[part, inside], ty),
                false => part,
            };
            found = Some(match found {
                None => own,
                Some(others) => {
                    let is_here = is_part(builder, index.0, number);
                    builder.select(is_here, own, others)
                }
            });
        }
        found.into_iter().collect()
    }

    /// Inserts the element into each part, and keeps that of the part that the index is in.
    fn insert_dynamic(
        &mut self,
        builder: &mut Builder<'_>,
        vector: ValueId,
        element: ValueId,
        index: ValueId,
    ) -> Parts {
        let parts = self.parts(builder, vector);
        let index = part_index(builder, index);
        let insert = |(number, part): (usize, ValueId)| {
            let own_ty = builder.ty(part);
            let inside = index_in_part(builder, part, number, index);
            let changed = match own_ty.is_vector() {
                true => builder.value(Op::InsertDynamic, &[part, element, inside], own_ty),
                false => element,
            };
            let is_here = is_part(builder, index.0, number);
            builder.select(is_here, changed, part)
        };
        parts.into_iter().enumerate().map(insert).collect()
    }

    /// Reinterprets a vector. If the number of components changes, their bits are regrouped.
    fn bitcast(&mut self, builder: &mut Builder<'_>, vector: ValueId, ty: Type) -> Parts {
        let source: Vec<Component> = self.components(builder, vector);
        let from = builder.ty(vector);
        if from.count() == ty.count() {
            let parts = self.parts(builder, vector);
            let cast = |&part: &ValueId| {
                let count = builder.ty(part).count();
                builder.bitcast(part, ty.with_count(count))
            };
            return parts.iter().map(cast).collect();
        }
        let components: Vec<ValueId> = source.iter().map(|one| one.get(builder)).collect();
        let components = bits::regroup(builder, &components, ty.scalar().unwrap_or(Scalar::I32));
        let all: Vec<Component> = components.into_iter().map(Component::Scalar).collect();
        join_parts(builder, &all, ty, self.is_split)
    }

    /// The components of a value.
    fn components(&mut self, builder: &mut Builder<'_>, value: ValueId) -> Vec<Component> {
        let parts = self.parts(builder, value);
        parts
            .into_iter()
            .flat_map(|part| {
                let ty = builder.ty(part);
                (0..ty.count()).map(move |component| match ty.is_vector() {
                    true => Component::Of(part, component, ty.count()),
                    false => Component::Scalar(part),
                })
            })
            .collect()
    }
}

/// The location of a component: a scalar, or an element of a vector of this length.
#[derive(Clone, Copy, PartialEq)]
enum Component {
    Scalar(ValueId),
    Of(ValueId, u8, u8),
}

impl Component {
    fn get(self, builder: &mut Builder<'_>) -> ValueId {
        match self {
            Self::Scalar(value) => value,
            Self::Of(vector, component, _) => builder.extract(vector, component),
        }
    }
}

/// Builds the parts of a value from its components, or the value itself if it is not split.
fn join_parts(builder: &mut Builder<'_>, all: &[Component], ty: Type, is_split: fn(Type) -> bool) -> Parts {
    let width = if is_split(ty) { PART } else { ty.count() };
    let join = |all: &[Component]| join_components(builder, all, ty.with_count(all.len() as u8));
    all.chunks(width.into()).map(join).collect()
}

fn join_components(builder: &mut Builder<'_>, all: &[Component], ty: Type) -> ValueId {
    let mut vectors: SmallVec<[(ValueId, u8); 4]> = SmallVec::new();
    for one in all {
        let Component::Of(vector, _, count) = *one else {
            let scalars: Vec<ValueId> = all.iter().map(|one| one.get(builder)).collect();
            return if ty.is_vector() { builder.construct(&scalars, ty) } else { scalars[0] };
        };
        if !vectors.contains(&(vector, count)) {
            vectors.push((vector, count));
        }
    }
    if !ty.is_vector() {
        return all[0].get(builder);
    }
    let numbers = |first: ValueId, offset: u8| {
        let number = |one: &Component| match *one {
            Component::Of(vector, component, _) if vector == first => component,
            Component::Of(_, component, _) => offset + component,
            Component::Scalar(_) => 0,
        };
        all.iter().map(number).collect::<Vec<u8>>()
    };
    match vectors[..] {
        [(only, count)] => {
            let numbers = numbers(only, 0);
            if count == ty.count() && numbers.iter().copied().eq(0..count) {
                return only;
            }
            builder.shuffle(only, only, &numbers)
        }
        [(left, count), (right, _)] => {
            let numbers = numbers(left, count);
            builder.shuffle(left, right, &numbers)
        }
        _ => {
            let scalars: Vec<ValueId> = all.iter().map(|one| one.get(builder)).collect();
            builder.construct(&scalars, ty)
        }
    }
}

/// The part and the component in it that an index selects.
fn part_index(builder: &mut Builder<'_>, index: ValueId) -> (ValueId, ValueId) {
    let index = builder.resize(index, Scalar::I32, false);
    let which = builder.binary_bits(BinaryOp::LShr, index, PART.trailing_zeros().into());
    (which, builder.binary_bits(BinaryOp::And, index, u64::from(PART - 1)))
}

fn is_part(builder: &mut Builder<'_>, which: ValueId, number: usize) -> ValueId {
    let number = builder.bits(Type::I32, number as u64);
    builder.compare(CompareOp::Equal, CompareKind::Unsigned, which, number)
}

/// The index of the component in this part. In a shorter part, the index into another part could be out of bounds, and is 0.
fn index_in_part(
    builder: &mut Builder<'_>,
    part: ValueId,
    number: usize,
    (which, inside): (ValueId, ValueId),
) -> ValueId {
    if matches!(builder.ty(part).count(), 1 | PART) {
        return inside;
    }
    let is_here = is_part(builder, which, number);
    let zero = builder.bits(Type::I32, 0);
    builder.select(is_here, inside, zero)
}

/// The operation for parts of this many components.
fn op_for_part(op: &Op, width: u8) -> Op {
    let Op::Builtin(builtin, params) = op else { return op.clone() };
    let narrow = |param: &BuiltinParam| match *param {
        BuiltinParam::Value(scalar, count) => BuiltinParam::Value(scalar, count.min(width)),
        BuiltinParam::Pointer(scalar, count) => BuiltinParam::Pointer(scalar, count.min(width)),
        BuiltinParam::Other => BuiltinParam::Other,
    };
    Op::Builtin(*builtin, params.iter().map(narrow).collect())
}
