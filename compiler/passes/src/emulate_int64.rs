//! Lowers 64-bit integers to pairs of 32-bit integers, for devices without 64-bit integers.
//!
//! Every 64-bit value becomes two values, low and high, in block parameters, construct results and memory too. At
//! memory accesses, addresses become vectors of two words.

mod arithmetic;

use kiln_ir::{
    Access, BinaryOp, Builder, Case, Compare, CompareKind, Const, Convert, Function, Inst, InstId, Module,
    Op, Replacements, Scalar, Type, UnaryOp, ValueDef, ValueId,
};
use kiln_session::{
    Options,
    diag::{Code, Diagnostic, Sink},
};
use kiln_types::ops::CompareOp;
use kiln_vocabulary::target::Target;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use self::arithmetic::Pair;
use crate::reject_unsupported::with_profile;

pub(super) fn emulate_int64(module: &mut Module, options: &Options, sink: &mut Sink) {
    if options.target.features.int64 {
        return;
    }
    for function in module.functions.iter_mut() {
        emulate(function, &options.target, sink);
    }
}

fn emulate(function: &mut Function, target: &Target, sink: &mut Sink) {
    let blocks = function.block_order();
    let mut pairs = FxHashMap::default();
    for &block in &blocks {
        let params = std::mem::take(&mut function.blocks[block].params);
        for param in params {
            let ty = function.ty(param);
            if is_wide(ty) {
                let half = ty.with_scalar(Scalar::I32);
                let pair =
                    Pair { low: function.add_param(block, half), high: function.add_param(block, half) };
                pairs.insert(param, pair);
            } else {
                keep_param(function, block, param);
            }
        }
    }
    let mut emulation =
        Emulation { builder: Builder::new(function), pairs, replaced: Replacements::default(), target, sink };
    for block in blocks {
        let insts = std::mem::take(&mut emulation.builder.function.blocks[block].insts);
        emulation.builder.at_end(block);
        for inst in insts {
            emulation.builder.span = emulation.builder.function.insts[inst].span;
            emulation.inst(inst);
        }
    }
    let replaced = emulation.replaced;
    function.replace_uses(&replaced);
}

/// Appends a kept parameter to the new parameters of a block.
fn keep_param(function: &mut Function, block: kiln_ir::BlockId, param: ValueId) {
    let number = function.blocks[block].params.len() as u32;
    function.values[param].def = ValueDef::Param(block, number);
    function.blocks[block].params.push(param);
}

fn is_wide(ty: Type) -> bool {
    ty.scalar() == Some(Scalar::I64)
}

struct Emulation<'f, 's> {
    builder: Builder<'f>,
    target: &'s Target,
    pairs: FxHashMap<ValueId, Pair>,
    replaced: Replacements,
    sink: &'s mut Sink,
}

impl Emulation<'_, '_> {
    /// The halves of a value.
    fn pair(&mut self, value: ValueId) -> Pair {
        if let Some(&pair) = self.pairs.get(&value) {
            return pair;
        }
        let ty = self.builder.ty(value).with_scalar(Scalar::I32);
        let constant = self.builder.function.constant(value).cloned();
        let [low, high] = match constant {
            Some(Const::Bits(bits)) => [0, 32].map(|shift| {
                let half: SmallVec<[u64; 2]> =
                    bits.iter().map(|bits| (bits >> shift) & 0xffff_ffff).collect();
                self.builder.constant(ty, Const::Bits(half))
            }),
            _ => [self.builder.undefined(ty); 2],
        };
        let pair = Pair { low, high };
        self.pairs.insert(value, pair);
        pair
    }

    fn inst(&mut self, id: InstId) {
        let inst = self.builder.function.insts[id].clone();
        let wide_result = inst.results.iter().any(|&result| is_wide(self.builder.ty(result)));
        let wide_arg = inst.args.iter().any(|&arg| is_wide(self.builder.ty(arg)));
        if !wide_result && !wide_arg {
            return self.builder.insert(id);
        }
        if inst.op.is_construct() || inst.op.is_terminator() {
            return self.split_control_flow(id, &inst);
        }
        match &inst.op {
            Op::Load(access) => self.load(id, &inst, *access),
            Op::Store(access) => self.store(id, &inst, *access),
            Op::Atomic(atomic) if atomic.ty.size() != 8 => {
                let address = self.address(inst.args[0]);
                self.builder.function.insts[id].args[0] = address;
                self.builder.insert(id);
            }
            _ if wide_result => match self.lower_to_pair(&inst) {
                Some(pair) => drop(self.pairs.insert(inst.results[0], pair)),
                None => self.reject(&inst),
            },
            _ => match self.lower_from_pairs(&inst) {
                Some(value) => drop(self.replaced.insert(inst.results[0], value)),
                None => self.reject(&inst),
            },
        }
    }

    fn reject(&mut self, inst: &Inst) {
        let diagnostic = Diagnostic::new(
            Code::TargetFeature,
            inst.span,
            "this needs 64-bit integers, which the device lacks",
        )
        .help("use 32-bit types here, or choose a device with 64-bit integers");
        self.sink.report(with_profile(diagnostic, self.target));
        for &result in &inst.results {
            let ty = self.builder.ty(result);
            let nothing = self.builder.undefined(ty);
            self.replaced.insert(result, nothing);
        }
    }

    /// Passes both halves through constructs and jumps.
    fn split_control_flow(&mut self, id: InstId, inst: &Inst) {
        let chosen = match &inst.op {
            Op::Switch { cases, .. } if is_wide(self.builder.ty(inst.args[0])) => {
                Some(self.case_index(inst.args[0], cases))
            }
            _ => None,
        };
        let mut args = SmallVec::new();
        match chosen {
            Some(number) => {
                args.push(number);
                let Op::Switch { cases, .. } = &mut self.builder.function.insts[id].op else {
                    unreachable!("only a switch has cases")
                };
                for (case, number) in cases.iter_mut().zip(0..) {
                    case.values = vec![number];
                }
            }
            None => {
                for &arg in &inst.args {
                    if is_wide(self.builder.ty(arg)) {
                        let pair = self.pair(arg);
                        args.extend([pair.low, pair.high]);
                    } else {
                        args.push(arg);
                    }
                }
            }
        }
        let results = std::mem::take(&mut self.builder.function.insts[id].results);
        for result in results {
            let ty = self.builder.ty(result);
            if is_wide(ty) {
                let half = ty.with_scalar(Scalar::I32);
                let low = self.builder.function.add_result(id, half);
                let high = self.builder.function.add_result(id, half);
                self.pairs.insert(result, Pair { low, high });
            } else {
                let number = self.builder.function.insts[id].results.len() as u32;
                self.builder.function.values[result].def = ValueDef::Result(id, number);
                self.builder.function.insts[id].results.push(result);
            }
        }
        self.builder.function.insts[id].args = args;
        self.builder.insert(id);
    }

    /// The index of the switch case that a value belongs to. An unused number if there is none.
    fn case_index(&mut self, value: ValueId, cases: &[Case]) -> ValueId {
        let value = self.pair(value);
        let equal = Compare { op: CompareOp::Equal, kind: CompareKind::Unsigned };
        let none = self.builder.i32(cases.len() as i32);
        cases.iter().zip(0..).fold(none, |chosen, (case, number)| {
            case.values.iter().fold(chosen, |chosen, &bits| {
                let [low, high] =
                    [bits as u32, (bits >> 32) as u32].map(|half| self.builder.i32(half as i32));
                let is_it = arithmetic::compare(&mut self.builder, equal, value, Pair { low, high });
                let number = self.builder.i32(number);
                self.builder.select(is_it, number, chosen)
            })
        })
    }

    /// An operation with a 64-bit result.
    fn lower_to_pair(&mut self, inst: &Inst) -> Option<Pair> {
        let result = self.builder.ty(inst.results[0]);
        let half = result.with_scalar(Scalar::I32);
        Some(match &inst.op {
            Op::Binary(op) => {
                let (left, right) = (self.pair(inst.args[0]), self.pair(inst.args[1]));
                arithmetic::binary(&mut self.builder, *op, left, right)?
            }
            Op::Unary(UnaryOp::Not) => {
                let pair = self.pair(inst.args[0]);
                pair.map(|half| self.builder.unary(UnaryOp::Not, half))
            }
            Op::Unary(UnaryOp::Neg) => {
                let pair = self.pair(inst.args[0]);
                let zero = self.builder.bits(half, 0);
                arithmetic::binary(&mut self.builder, BinaryOp::Sub, Pair { low: zero, high: zero }, pair)?
            }
            Op::Select => {
                let (then, otherwise) = (self.pair(inst.args[1]), self.pair(inst.args[2]));
                let low = self.builder.select(inst.args[0], then.low, otherwise.low);
                let high = self.builder.select(inst.args[0], then.high, otherwise.high);
                Pair { low, high }
            }
            Op::Convert(Convert::SignExtend) => {
                let low = self.builder.resize(inst.args[0], Scalar::I32, true);
                Pair { low, high: self.builder.binary_bits(BinaryOp::AShr, low, 31) }
            }
            Op::Convert(Convert::ZeroExtend) => {
                let low = self.builder.resize(inst.args[0], Scalar::I32, false);
                Pair { low, high: self.builder.bits(half, 0) }
            }
            Op::Bitcast => {
                let ty = self.builder.ty(inst.args[0]);
                if ty.scalar() == Some(Scalar::F64) {
                    return None;
                }
                let words = self.builder.bitcast(inst.args[0], Type::Vector(Scalar::I32, 2 * result.count()));
                self.deinterleave_words(words, half)
            }
            // Componentwise moves apply to both halves.
            Op::Construct
            | Op::Extract(_)
            | Op::ExtractDynamic
            | Op::Insert(_)
            | Op::InsertDynamic
            | Op::Shuffle(_) => {
                let halves = [false, true].map(|is_high| {
                    let args: Vec<ValueId> = inst
                        .args
                        .iter()
                        .map(|&arg| {
                            if !is_wide(self.builder.ty(arg)) {
                                return arg;
                            }
                            let pair = self.pair(arg);
                            if is_high { pair.high } else { pair.low }
                        })
                        .collect();
                    self.builder.value(inst.op.clone(), &args, half)
                });
                Pair { low: halves[0], high: halves[1] }
            }
            _ => return None,
        })
    }

    /// An operation on 64-bit operands with another result.
    fn lower_from_pairs(&mut self, inst: &Inst) -> Option<ValueId> {
        let result = self.builder.ty(inst.results[0]);
        Some(match &inst.op {
            Op::Compare(compare) => {
                let (left, right) = (self.pair(inst.args[0]), self.pair(inst.args[1]));
                arithmetic::compare(&mut self.builder, *compare, left, right)
            }
            Op::Convert(Convert::Truncate) => {
                let low = self.pair(inst.args[0]).low;
                self.builder.resize(low, result.scalar()?, false)
            }
            Op::Bitcast => {
                if result.scalar() == Some(Scalar::F64) {
                    return None;
                }
                let pair = self.pair(inst.args[0]);
                let words = self.interleave_words(pair);
                self.builder.bitcast(words, result)
            }
            Op::ExtractDynamic => {
                let index = self.pair(inst.args[1]).low;
                self.builder.value(Op::ExtractDynamic, &[inst.args[0], index], result)
            }
            _ => return None,
        })
    }

    fn address(&mut self, value: ValueId) -> ValueId {
        if !is_wide(self.builder.ty(value)) {
            return value;
        }
        let pair = self.pair(value);
        self.interleave_words(pair)
    }

    fn load(&mut self, id: InstId, inst: &Inst, access: Access) {
        let ty = self.builder.ty(inst.results[0]);
        if !is_wide(ty) {
            let address = self.address(inst.args[0]);
            self.builder.function.insts[id].args[0] = address;
            return self.builder.insert(id);
        }
        let parts: Vec<Pair> = (0..ty.count())
            .map(|index| {
                let address = self.component_address(inst.args[0], index);
                let words = self.builder.load(address, Type::Vector(Scalar::I32, 2), access);
                self.deinterleave_words(words, Type::I32)
            })
            .collect();
        let half = ty.with_scalar(Scalar::I32);
        let [low, high] = [false, true].map(|is_high| {
            let halves: Vec<_> = parts.iter().map(|it| if is_high { it.high } else { it.low }).collect();
            if ty.is_vector() { self.builder.construct(&halves, half) } else { halves[0] }
        });
        self.pairs.insert(inst.results[0], Pair { low, high });
    }

    fn store(&mut self, id: InstId, inst: &Inst, access: Access) {
        let ty = self.builder.ty(inst.args[1]);
        if !is_wide(ty) {
            let address = self.address(inst.args[0]);
            self.builder.function.insts[id].args[0] = address;
            return self.builder.insert(id);
        }
        let value = self.pair(inst.args[1]);
        for index in 0..ty.count() {
            let part =
                if ty.is_vector() { value.map(|half| self.builder.extract(half, index)) } else { value };
            let words = self.interleave_words(part);
            let address = self.component_address(inst.args[0], index);
            self.builder.store(address, words, access);
        }
    }

    /// The address of a component of a vector of 64-bit integers.
    fn component_address(&mut self, base: ValueId, index: u8) -> ValueId {
        let base = self.pair(base);
        let low = self.builder.i32(8 * i32::from(index));
        let high = self.builder.i32(0);
        let sum = arithmetic::add(&mut self.builder, base, Pair { low, high });
        self.interleave_words(sum)
    }

    /// Interleaves low and high words.
    fn interleave_words(&mut self, pair: Pair) -> ValueId {
        let count = self.builder.ty(pair.low).count();
        if count == 1 {
            return self.builder.construct(&[pair.low, pair.high], Type::Vector(Scalar::I32, 2));
        }
        let order: Vec<u8> = (0..count).flat_map(|index| [index, count + index]).collect();
        self.builder.shuffle(pair.low, pair.high, &order)
    }

    fn deinterleave_words(&mut self, words: ValueId, half: Type) -> Pair {
        if !half.is_vector() {
            return Pair { low: self.builder.extract(words, 0), high: self.builder.extract(words, 1) };
        }
        let even: Vec<u8> = (0..half.count()).map(|index| 2 * index).collect();
        let odd: Vec<u8> = even.iter().map(|index| index + 1).collect();
        let low = self.builder.shuffle(words, words, &even);
        Pair { low, high: self.builder.shuffle(words, words, &odd) }
    }
}
