//! Instructions of the families in `ops`: finds their operands, and defines their results.

use std::sync::LazyLock;

use kiln_ir::{Op as IrOp, Type, ValueId};
use rspirv::{
    grammar::{INSTRUCTION_TABLE, OperandKind, OperandQuantifier},
    spirv::{Decoration, ExecutionMode, Op, OpenclStd100Op},
};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::{
    body::Body,
    ops::{self, Decorations, Lowered, Operation},
    problem::{Outcome, Problem},
    types::{Member, Ty},
    words::Instruction,
};

/// The name of the extended instruction set of OpenCL.
const OPENCL: &str = "OpenCL.std";

/// The name of a `printf` that is a trap.
const TRAP: &str = "kiln.trap";

/// The kind of an operand.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Value,
    Literal,
    /// A mask of image operands, followed by values.
    Mask,
}

/// The kinds of the operands after the result, and whether the last one repeats.
type OperandKinds = (Vec<Kind>, bool);

/// The operands of each instruction.
static OPERANDS: LazyLock<FxHashMap<u32, OperandKinds>> = LazyLock::new(|| {
    let kinds = |row: &rspirv::grammar::Instruction<'_>| -> OperandKinds {
        let rest = row
            .operands
            .iter()
            .filter(|operand| !matches!(operand.kind, OperandKind::IdResultType | OperandKind::IdResult));
        let each = rest.clone().map(|operand| match operand.kind {
            OperandKind::IdRef | OperandKind::IdScope | OperandKind::IdMemorySemantics => Kind::Value,
            OperandKind::ImageOperands => Kind::Mask,
            _ => Kind::Literal,
        });
        let repeats =
            rest.clone().next_back().is_some_and(|it| it.quantifier == OperandQuantifier::ZeroOrMore);
        (each.collect(), repeats)
    };
    INSTRUCTION_TABLE.iter().map(|row| (row.opcode as u32, kinds(row))).collect()
});

impl<'w> Body<'_, 'w, '_> {
    /// Reads an instruction, if it belongs to one of the families. Returns whether it does.
    pub(crate) fn computed(&mut self, inst: &Instruction<'w>) -> Outcome<bool> {
        if matches!(inst.op, Op::SampledImage) {
            // The instructions that sample read its image and its sampler.
            return Ok(true);
        }
        if inst.op == Op::ExtInst {
            return self.extended(inst).map(|()| true);
        }
        let operation = match self.operation(inst) {
            Ok(operation) => operation,
            Err(_) if !ops::is_supported(inst.op) => return Ok(false),
            Err(problem) => return Err(problem),
        };
        let Some(lowered) = ops::lower(&mut self.builder, &operation) else { return Ok(false) };
        self.finish(inst, lowered)?;
        Ok(true)
    }

    /// The operation with its operands.
    fn operation(&mut self, inst: &Instruction<'w>) -> Outcome<Operation> {
        let mut operation = self.without_operands(inst)?;
        let Some((kinds, repeats)) = OPERANDS.get(&(inst.op as u32)) else { return Ok(operation) };
        let mut is_behind_mask = false;
        for (index, &word) in inst.operands.iter().enumerate() {
            let kind = match kinds.get(index).or(kinds.last().filter(|_| *repeats)) {
                _ if is_behind_mask => Kind::Value,
                Some(kind) => *kind,
                None => Kind::Value,
            };
            is_behind_mask |= kind == Kind::Mask;
            match kind {
                Kind::Value => self.operand(&mut operation, word)?,
                Kind::Literal | Kind::Mask => operation.literals.push(word),
            }
        }
        Ok(operation)
    }

    /// An operation without operands.
    fn without_operands(&self, inst: &Instruction<'w>) -> Outcome<Operation> {
        let result = match inst.ty {
            None => None,
            Some(ty) => match self.reader.types.get(ty)? {
                Ty::Void => None,
                Ty::Struct { .. } => match self.reader.types.member(ty, 0)? {
                    (Member::Type(member), _) => Some(self.reader.types.value(member)?),
                    (Member::Component(ty), _) => Some(ty),
                },
                _ => Some(self.reader.types.value(ty)?),
            },
        };
        Ok(Operation {
            op: inst.op,
            args: SmallVec::new(),
            pointees: SmallVec::new(),
            literals: SmallVec::new(),
            result,
            decorations: self.decorations(inst)?,
        })
    }

    fn decorations(&self, inst: &Instruction<'w>) -> Outcome<Decorations> {
        let mut all = Decorations { no_contraction: self.is_contraction_off(), ..Decorations::default() };
        let Some(id) = inst.id else { return Ok(all) };
        for decorated in self.reader.words.decorations(id) {
            match decorated.kind {
                Decoration::FPRoundingMode => {
                    let mode = decorated.operands.first().copied().unwrap_or(u32::MAX);
                    all.rounding = Some(ops::rounding(mode).map_err(Problem::new)?);
                }
                Decoration::SaturatedConversion => all.saturates = true,
                Decoration::NoContraction => all.no_contraction = true,
                _ => {}
            }
        }
        Ok(all)
    }

    /// Whether an entry point forbids contraction. Functions may be shared, so it holds for all.
    fn is_contraction_off(&self) -> bool {
        let off = ExecutionMode::ContractionOff as u32;
        let mut preamble = self.reader.words.preamble().iter();
        preamble.any(|inst| inst.op == Op::ExecutionMode && inst.operands.get(1) == Some(&off))
    }

    /// Adds the operand with this id. A sampled image is its image and its sampler.
    fn operand(&mut self, operation: &mut Operation, id: u32) -> Outcome<()> {
        let words = self.reader.words;
        if let Ok(source) = words.definition(id)
            && source.op == Op::SampledImage
        {
            for part in [source.word(0)?, source.word(1)?] {
                self.operand(operation, part)?;
            }
            return Ok(());
        }
        let value = self.value(id)?;
        operation.args.push(value);
        operation.pointees.push(self.numeric_pointee(id));
        Ok(())
    }

    /// The pointee of a pointer, if it is a number or a vector.
    fn numeric_pointee(&self, id: u32) -> Option<Type> {
        let pointee = self.reader.types.pointee(self.type_of(id).ok()?).ok()?;
        match self.reader.types.get(pointee).ok()? {
            Ty::Value(ty @ (Type::Scalar(_) | Type::Vector(..))) => Some(*ty),
            _ => None,
        }
    }

    /// Defines the result: one value, or one value for each member of its structure.
    fn finish(&mut self, inst: &Instruction<'w>, lowered: Lowered) -> Outcome<()> {
        let values = lowered.map_err(Problem::new)?;
        let Some(ty) = inst.ty.filter(|_| inst.id.is_some()) else { return Ok(()) };
        match (self.reader.types.get(ty)?, values.as_slice()) {
            (Ty::Void, _) => Ok(()),
            (Ty::Struct { .. }, values) => self.structure(inst, ty, values),
            (_, &[value]) => self.define(inst, value),
            _ => Err(Problem::new("it has no value of its result type")),
        }
    }

    fn structure(&mut self, inst: &Instruction<'w>, ty: u32, values: &[ValueId]) -> Outcome<()> {
        let object = self.result_object(inst)?;
        for (index, &value) in (0..).zip(values) {
            let (_, offset) = self.reader.types.member(ty, index)?;
            let align = self.builder.ty(value).size().unwrap_or(1).next_power_of_two();
            let start = self.builder.private_var(object);
            let pointer = self.builder.offset_bytes(start, offset as i64);
            self.store(pointer, value, crate::body::access(align));
        }
        self.define_object(inst, object)
    }

    /// An extended instruction.
    fn extended(&mut self, inst: &Instruction<'w>) -> Outcome<()> {
        let (set, number) = (inst.word(0)?, inst.word(1)?);
        let set = self.reader.sets.get(&set).map_or("", String::as_str);
        let is_debug = matches!(set, "OpenCL.DebugInfo.100" | "DebugInfo" | "SPIRV.debug");
        if is_debug || set.starts_with("NonSemantic.") {
            return Ok(());
        }
        if set != OPENCL {
            return Err(Problem::new(format!("the extended instruction set `{set}` is not supported")));
        }
        let mut operation = self.without_operands(inst)?;
        if number == OpenclStd100Op::printf as u32 {
            let format = self.format(inst.word(2)?)?;
            if inst.id.is_some_and(|id| self.reader.words.name(id) == TRAP) {
                return self.trap(inst, &format);
            }
            for &id in inst.words(3) {
                self.operand(&mut operation, id)?;
            }
            let printed = ops::print(&mut self.builder, &format, &operation.args, operation.result);
            return self.finish(inst, printed);
        }
        let literal = literal_index(number);
        for (index, &word) in inst.words(2).iter().enumerate() {
            if literal == Some(index) {
                operation.literals.push(word);
            } else {
                self.operand(&mut operation, word)?;
            }
        }
        let lowered = ops::extended(&mut self.builder, &operation, number);
        self.finish(inst, lowered)
    }

    /// A trap, which the emitter writes as `printf` of its message.
    fn trap(&mut self, inst: &Instruction<'w>, format: &[u8]) -> Outcome<()> {
        let mut message = Vec::with_capacity(format.len());
        let mut bytes = format.strip_suffix(b"\n").unwrap_or(format).iter().peekable();
        while let Some(&byte) = bytes.next() {
            bytes.next_if(|&&next| byte == b'%' && next == b'%');
            message.push(byte);
        }
        self.builder.inst(IrOp::Trap(message.into()), &[], &[]);
        let ty = self.result_type(inst)?;
        let printed = self.builder.bits(ty, 0);
        self.define(inst, printed)
    }

    /// The text of `printf`'s format: the bytes of an object in constant memory, up to a zero.
    fn format(&mut self, id: u32) -> Outcome<Vec<u8>> {
        let unknown = || Problem::new("the format of `printf` is not a constant string");
        let mut pointer = self.value(id)?;
        let mut offset = 0_i64;
        let var = loop {
            let function = &*self.builder.function;
            let inst = function.def(pointer).ok_or_else(unknown)?;
            match (&inst.op, inst.args.as_slice()) {
                (IrOp::ModuleVar(var), _) => break *var,
                (IrOp::PointerCast, &[from]) => pointer = from,
                (IrOp::Offset { stride, .. }, &[from, index]) => {
                    let index = function.constant_bits(index).ok_or_else(unknown)? as i64;
                    offset = offset.wrapping_add(index.wrapping_mul(*stride as i64));
                    pointer = from;
                }
                _ => return Err(unknown()),
            }
        };
        let bytes = self.reader.module.vars[var].init.as_ref().map_or(&[][..], |data| &data.bytes);
        let bytes =
            usize::try_from(offset).ok().and_then(|offset| bytes.get(offset..)).ok_or_else(unknown)?;
        Ok(bytes.iter().copied().take_while(|byte| *byte != 0).collect())
    }
}

/// The index of the literal operand of an extended instruction, counted after its number.
fn literal_index(number: u32) -> Option<usize> {
    use OpenclStd100Op as Std;
    match Std::from_u32(number) {
        Some(Std::vloadn | Std::vload_halfn | Std::vloada_halfn) => Some(2),
        Some(Std::vstore_half_r | Std::vstore_halfn_r | Std::vstorea_halfn_r) => Some(3),
        _ => None,
    }
}
