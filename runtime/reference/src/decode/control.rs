//! Dispatches instructions to the submodules, and decodes jumps and calls.

use spirv::Op as Inst_;

use super::{
    body::{Body, Field},
    order,
};
use crate::{
    Invalid,
    code::{Call, Op, Switch},
    types::Ty,
    words::Inst,
};

impl Body<'_, '_> {
    pub(super) fn instruction(&mut self, inst: &Inst<'_>) -> Result<(), Invalid> {
        if self.memory(inst)? || self.composite(inst)? || self.arithmetic(inst)? || self.collective(inst)? {
            return Ok(());
        }
        if self.image(inst)? || self.pipe(inst)? || self.enqueue(inst)? {
            return Ok(());
        }
        match inst.op {
            Inst_::FunctionParameter
            | Inst_::Phi
            | Inst_::Line
            | Inst_::NoLine
            | Inst_::Nop
            | Inst_::SelectionMerge
            | Inst_::LoopMerge
            // A hint to unroll a loop.
            | Inst_::LoopControlINTEL => Ok(()),
            Inst_::Undef => {
                let to = self.define(inst)?;
                let count = self.decoder.types.slots(inst.word(0)?)?;
                self.emit(Op::Undefined { to, count });
                Ok(())
            }
            Inst_::Label => self.label(inst.word(0)?),
            Inst_::Branch => self.branch(inst.word(0)?),
            Inst_::BranchConditional => {
                let (condition, _, _) = self.lanes(inst.word(0)?)?;
                let targets = [(Field::Then, inst.word(1)?), (Field::Otherwise, inst.word(2)?)];
                self.jump(Op::Branch { condition, then: 0, otherwise: 0 }, &targets);
                Ok(())
            }
            Inst_::Switch => self.switch(inst),
            Inst_::Return => {
                self.emit(Op::Return);
                Ok(())
            }
            Inst_::ReturnValue => {
                let (from, ty) = self.value(inst.word(0)?)?;
                let count = self.decoder.types.slots(ty)?;
                if count != self.function.result {
                    return Err(Invalid::new("a function returns what it does not declare"));
                }
                self.emit(Op::ReturnValue { from, count });
                Ok(())
            }
            Inst_::Unreachable | Inst_::Kill => {
                self.emit(Op::Unreachable);
                Ok(())
            }
            Inst_::FunctionCall => self.call(inst),
            Inst_::ExtInst => self.library(inst),
            other => Err(Invalid::new(format!("{other:?} is not supported"))),
        }
    }

    fn switch(&mut self, inst: &Inst<'_>) -> Result<(), Invalid> {
        let (selector, scalar, _) = self.lanes(inst.word(0)?)?;
        let default = inst.word(1)?;
        let table = self.decoder.tables.switches.len() as u32;
        let mut cases = Vec::new();
        let mut targets = vec![(Field::Default(table), default)];
        for (number, (literal, label)) in order::cases(inst, scalar.size() == 8).enumerate() {
            targets.push((Field::Case(table, number), label));
            cases.push((crate::alu::truncated(scalar.size(), literal), 0));
        }
        self.decoder.tables.switches.push(Switch { selector, cases, default: 0 });
        self.jump(Op::Switch(table), &targets);
        Ok(())
    }

    fn call(&mut self, inst: &Inst<'_>) -> Result<(), Invalid> {
        let callee = inst.word(2)?;
        let unknown = || Invalid::new(format!("id {callee} is not a function"));
        let signature = self.decoder.signatures.get(&callee).cloned().ok_or_else(unknown)?;
        let mut arguments = Vec::new();
        for &argument in inst.from(3) {
            let (slot, ty) = self.value(argument)?;
            arguments.push((slot, self.decoder.types.slots(ty)?));
        }
        if signature.result != inst.word(0)? {
            return Err(Invalid::new("a call has a result that its function does not return"));
        }
        if let Some(&function) = self.decoder.inlinable.get(&callee) {
            return self.inline_call(inst, function);
        }
        let to = match self.decoder.types.get(signature.result)?.ty {
            Ty::Void => 0,
            _ => self.define(inst)?,
        };
        self.decoder.tables.calls.push(Call { function: signature.index, to, arguments });
        self.emit(Op::Call(self.decoder.tables.calls.len() as u32 - 1));
        Ok(())
    }
}
