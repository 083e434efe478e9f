//! Decodes a function body: values, blocks, and edges with their phi values.

use std::collections::HashMap;

use spirv::Op as Inst_;

use super::{
    Constant, Decoder,
    fold::{Folded, Uses},
    order,
};
use crate::{
    Invalid, Statements,
    code::{Function, Line, Object, Op, Position, Slot},
    types::{Scalar, Ty, TypeId},
    words::Inst,
};

/// A function being decoded.
pub(super) struct Body<'d, 'w> {
    pub(super) decoder: &'d mut Decoder<'w>,
    pub(super) function: Function,
    values: HashMap<u32, (Slot, TypeId)>,
    /// The first operation of each block.
    blocks: HashMap<u32, Position>,
    phis: HashMap<u32, Vec<Phi>>,
    edges: Vec<Edge>,
    /// The current block.
    block: u32,
    /// Jumps may land up to this position, so only later operations can be merged.
    fence: usize,
    pub(super) line: Line,
    /// The file and line of the last statement that was marked in this block.
    marked: Option<(u32, u32)>,
    pub(super) insts: &'d [Inst<'w>],
    pub(super) uses: Uses,
    /// Index computations folded into address chains.
    pub(super) folded: HashMap<u32, Folded>,
}

/// A phi instruction.
#[derive(Clone)]
struct Phi {
    to: Slot,
    count: u32,
    /// Pairs of value and predecessor.
    sources: Vec<(u32, u32)>,
}

/// A jump whose target is resolved at the end.
struct Edge {
    position: usize,
    field: Field,
    from: u32,
    to: u32,
    line: Line,
}

/// A target field of an operation.
#[derive(Clone, Copy)]
pub(super) enum Field {
    Only,
    Then,
    Otherwise,
    /// A case of a switch: the table and the index in it.
    Case(u32, usize),
    Default(u32),
}

/// Decodes a function, given from `OpFunction` up to its end.
pub(super) fn decode<'d, 'w>(
    decoder: &'d mut Decoder<'w>,
    insts: &'d [Inst<'w>],
) -> Result<Function, Invalid> {
    let Some((head, insts)) = insts.split_first().filter(|(head, _)| head.op == Inst_::Function) else {
        return Err(Invalid::new("an instruction is between functions"));
    };
    let name = decoder.name(head.word(1)?);
    let mut body = Body {
        decoder,
        function: Function { name, ..Function::default() },
        values: HashMap::new(),
        blocks: HashMap::new(),
        phis: HashMap::new(),
        edges: Vec::new(),
        block: 0,
        fence: 0,
        line: Line { position: 0, file: 0, line: 0 },
        marked: None,
        insts,
        uses: Uses::new(insts),
        folded: HashMap::new(),
    };
    let result = head.word(0)?;
    if body.decoder.types.get(result)?.ty != Ty::Void {
        body.function.result = body.decoder.types.slots(result)?;
    }
    body.parameters_and_phis(insts)?;
    body.copies()?;
    for block in order::in_order(body.decoder, insts)? {
        body.line.line = 0;
        for inst in block {
            body.note_line(inst)?;
            body.instruction(inst)?;
        }
    }
    body.finish()
}

impl Body<'_, '_> {
    /// Copies arguments that are passed by value through a pointer.
    fn copies(&mut self) -> Result<(), Invalid> {
        let parameters: Vec<(u32, Slot, TypeId)> =
            self.values.iter().map(|(&id, &(slot, ty))| (id, slot, ty)).collect();
        for (id, from, ty) in parameters {
            if !self.decoder.decorations.get(&id).is_some_and(|it| it.by_value) {
                continue;
            }
            let (_, pointee) = self.decoder.pointee(ty)?;
            let found = self.decoder.types.get(pointee)?;
            let (size, align) = (found.size, found.align);
            self.function.objects.push(Object { name: self.decoder.name(id), size, align });
            let object = self.function.objects.len() as u32 - 1;
            let to = self.allocate_registers(1)?;
            let size = self.literal(size)?;
            self.emit(Op::Variable { to, object });
            self.emit(Op::CopyMemory { to, from, size, align: 1 });
            self.values.insert(id, (to, ty));
        }
        Ok(())
    }

    fn parameters_and_phis(&mut self, insts: &[Inst<'_>]) -> Result<(), Invalid> {
        for inst in insts.iter().filter(|inst| inst.op == Inst_::FunctionParameter) {
            self.define(inst)?;
            let parts = self.decoder.types.parts(inst.word(0)?)?;
            self.function.parameters.push(parts);
        }
        let mut block = 0;
        for inst in insts {
            match inst.op {
                Inst_::Label => block = inst.word(0)?,
                Inst_::Phi => {
                    let to = self.define(inst)?;
                    let count = self.decoder.types.slots(inst.word(0)?)?;
                    let (pairs, _) = inst.from(2).as_chunks::<2>();
                    let sources = pairs.iter().map(|&[value, block]| (value, block)).collect();
                    self.phis.entry(block).or_default().push(Phi { to, count, sources });
                }
                _ => {}
            }
        }
        Ok(())
    }

    pub(super) fn note_line(&mut self, inst: &Inst<'_>) -> Result<(), Invalid> {
        match inst.op {
            Inst_::Line => {
                let string = inst.word(0)?;
                let decoder = &mut *self.decoder;
                let next = decoder.files.len() as u32;
                let file = *decoder.file_ids.entry(string).or_insert(next);
                if file == next {
                    decoder.files.push(decoder.strings.get(&string).cloned().unwrap_or_default());
                }
                self.line = Line { position: 0, file, line: inst.word(1)? };
            }
            Inst_::NoLine | Inst_::FunctionEnd => self.line.line = 0,
            _ => {}
        }
        Ok(())
    }

    pub(super) fn emit(&mut self, op: Op) {
        self.mark();
        let position = self.function.code.len() as Position;
        let same = |last: &Line| (last.file, last.line) == (self.line.file, self.line.line);
        if !self.function.lines.last().is_some_and(same) {
            self.function.lines.push(Line { position, ..self.line });
        }
        self.function.code.push(op);
    }

    /// Marks the beginning of a statement for a debugger: another line, or another block.
    fn mark(&mut self) {
        let here = (self.line.file, self.line.line);
        if self.decoder.statements == Statements::Unmarked || self.line.line == 0 || self.marked == Some(here)
        {
            return;
        }
        self.marked = Some(here);
        self.emit(Op::Statement);
    }

    /// Allocates registers.
    pub(super) fn allocate_registers(&mut self, count: u32) -> Result<Slot, Invalid> {
        let slot = self.function.slots;
        let slots = slot.checked_add(count).filter(|slots| *slots < 1 << 22);
        self.function.slots = slots.ok_or_else(|| Invalid::new("a function has too many values"))?;
        Ok(slot)
    }

    /// Allocates the registers of an instruction's result.
    pub(super) fn define(&mut self, inst: &Inst<'_>) -> Result<Slot, Invalid> {
        let (ty, id) = (inst.word(0)?, inst.word(1)?);
        if let Some(&(slot, known)) = self.values.get(&id) {
            // The registers of a phi are allocated in advance.
            return if known == ty {
                Ok(slot)
            } else {
                Err(Invalid::new(format!("id {id} is defined twice")))
            };
        }
        let slot = self.allocate_registers(self.decoder.types.slots(ty)?)?;
        self.values.insert(id, (slot, ty));
        Ok(slot)
    }

    /// Assigns existing registers to an instruction's result.
    pub(super) fn alias(&mut self, inst: &Inst<'_>, slot: Slot) -> Result<(), Invalid> {
        let (ty, id) = (inst.word(0)?, inst.word(1)?);
        self.decoder.types.slots(ty)?;
        self.values.insert(id, (slot, ty));
        Ok(())
    }

    /// Assigns existing registers to an id.
    pub(super) fn name(&mut self, id: u32, slot: Slot, ty: TypeId) -> Result<(), Invalid> {
        match self.values.insert(id, (slot, ty)) {
            None => Ok(()),
            Some(_) => Err(Invalid::new(format!("id {id} is defined twice"))),
        }
    }

    /// Removes the registers of these ids.
    pub(super) fn forget(&mut self, ids: &[u32]) {
        for id in ids {
            self.values.remove(id);
        }
    }

    /// The scalar type of a value that is defined in this function.
    pub(super) fn scalar_of(&self, id: u32) -> Option<Scalar> {
        let &(_, ty) = self.values.get(&id)?;
        self.decoder.types.lanes(ty).ok().filter(|lanes| lanes.1 == 1).map(|lanes| lanes.0)
    }

    /// The registers and the type of a value.
    pub(super) fn value(&mut self, id: u32) -> Result<(Slot, TypeId), Invalid> {
        if let Some(&known) = self.values.get(&id) {
            return Ok(known);
        }
        let Some(&(ty, ref constant)) = self.decoder.constant(id) else {
            return Err(Invalid::new(format!("id {id} is used, but is not a value here")));
        };
        let is_undefined = matches!(constant, Constant::Undefined);
        let count = self.decoder.types.slots(ty)?;
        let slots = self.decoder.slots_of(id)?;
        let slot = self.allocate_registers(count)?;
        self.function.presets.extend((slot..).zip(slots));
        if is_undefined {
            self.function.undefined.push((slot, count));
        }
        self.values.insert(id, (slot, ty));
        Ok((slot, ty))
    }

    /// The registers, scalar type and component count of a scalar or vector value.
    pub(super) fn lanes(&mut self, id: u32) -> Result<(Slot, Scalar, u16), Invalid> {
        let (slot, ty) = self.value(id)?;
        let (scalar, count) = self.decoder.types.lanes(ty)?;
        Ok((slot, scalar, count as u16))
    }

    /// A register with a constant value.
    pub(super) fn literal(&mut self, value: u64) -> Result<Slot, Invalid> {
        let slot = self.allocate_registers(1)?;
        self.function.presets.push((slot, value));
        Ok(slot)
    }

    pub(super) fn copy(&mut self, to: Slot, from: Slot, count: u32) {
        if count == 0 {
            return;
        }
        if self.function.code.len() > self.fence
            && let Some(Op::Copy { to: last_to, from: last_from, count: last }) =
                self.function.code.last_mut()
            && *last_to + *last == to
            && *last_from + *last == from
            && !(*last_from..from + count).contains(last_to)
        {
            *last += count;
            return;
        }
        self.emit(Op::Copy { to, from, count });
    }

    /// Starts a block.
    pub(super) fn label(&mut self, id: u32) -> Result<(), Invalid> {
        self.block = id;
        self.marked = None;
        self.fence = self.function.code.len();
        if self.blocks.insert(id, self.fence as Position).is_some() {
            return Err(Invalid::new("two blocks have one id"));
        }
        Ok(())
    }

    /// Emits a jump; its targets are resolved later.
    pub(super) fn jump(&mut self, op: Op, targets: &[(Field, u32)]) {
        self.emit(op);
        let position = self.function.code.len() - 1;
        for &(field, to) in targets {
            self.edges.push(Edge { position, field, from: self.block, to, line: self.line });
        }
    }

    /// Emits an unconditional jump. Copies the phi values here, if they are defined already.
    pub(super) fn branch(&mut self, to: u32) -> Result<(), Invalid> {
        let known = self.phis.get(&to).is_some_and(|phis| {
            let value = |phi: &Phi| phi.sources.iter().find(|source| source.1 == self.block).map(|it| it.0);
            phis.iter().all(|phi| {
                value(phi)
                    .is_some_and(|id| self.values.contains_key(&id) || self.decoder.constant(id).is_some())
            })
        });
        if !known {
            self.jump(Op::Jump(0), &[(Field::Only, to)]);
            return Ok(());
        }
        self.copy_phi_values(self.block, to)?;
        self.emit(Op::Jump(0));
        let position = self.function.code.len() - 1;
        // The phi values are copied, so the edge goes to the block itself.
        self.edges.push(Edge { position, field: Field::Only, from: NOWHERE, to, line: self.line });
        Ok(())
    }

    /// Copies a block's phi values for one predecessor in parallel.
    fn copy_phi_values(&mut self, from: u32, to: u32) -> Result<(), Invalid> {
        let Some(phis) = self.phis.get(&to).cloned() else { return Ok(()) };
        let mut moves = Vec::with_capacity(phis.len());
        for phi in phis {
            let source = phi.sources.iter().find(|source| source.1 == from);
            let (value, _) = *source.ok_or_else(|| Invalid::new("a phi does not name a block before it"))?;
            let (slot, ty) = self.value(value)?;
            if self.decoder.types.slots(ty)? != phi.count {
                return Err(Invalid::new("a phi has values of several types"));
            }
            if slot != phi.to {
                moves.push((phi.to, slot, phi.count));
            }
        }
        let overlaps = |a: (Slot, u32), b: (Slot, u32)| a.0 < b.0 + b.1 && b.0 < a.0 + a.1;
        let conflict = moves
            .iter()
            .any(|&(_, from, count)| moves.iter().any(|&(to, _, size)| overlaps((from, count), (to, size))));
        self.fence = self.function.code.len();
        if conflict {
            for (_, from, count) in &mut moves {
                let between = self.allocate_registers(*count)?;
                self.copy(between, *from, *count);
                *from = between;
            }
        }
        for (to, from, count) in moves {
            self.copy(to, from, count);
        }
        self.fence = self.function.code.len();
        Ok(())
    }

    /// Resolves the targets of jumps.
    fn finish(mut self) -> Result<Function, Invalid> {
        self.line.line = 0;
        self.function.is_import = self.blocks.is_empty();
        // Guarantees that execution never runs past the last operation.
        self.emit(Op::Unreachable);
        let mut stubs: HashMap<(u32, u32), Position> = HashMap::new();
        for Edge { position, field, from, to, line } in std::mem::take(&mut self.edges) {
            let block =
                *self.blocks.get(&to).ok_or_else(|| Invalid::new(format!("block {to} is not there")))?;
            let target = if from == NOWHERE || !self.phis.contains_key(&to) {
                block
            } else if let Some(&stub) = stubs.get(&(from, to)) {
                stub
            } else {
                let stub = self.function.code.len() as Position;
                self.fence = self.function.code.len();
                self.line = line;
                self.marked = Some((line.file, line.line));
                self.copy_phi_values(from, to)?;
                self.emit(Op::Jump(block));
                stubs.insert((from, to), stub);
                stub
            };
            match (field, &mut self.function.code[position]) {
                (Field::Only, Op::Jump(known)) | (Field::Then, Op::Branch { then: known, .. }) => {
                    *known = target;
                }
                (Field::Otherwise, Op::Branch { otherwise, .. }) => *otherwise = target,
                (Field::Case(table, case), _) => {
                    self.decoder.tables.switches[table as usize].cases[case].1 = target;
                }
                (Field::Default(table), _) => {
                    self.decoder.tables.switches[table as usize].default = target;
                }
                _ => return Err(Invalid::new("a jump has no such target")),
            }
        }
        Ok(self.function)
    }
}

/// The predecessor of edges whose phi values are already copied; 0 is not a valid id.
const NOWHERE: u32 = 0;
