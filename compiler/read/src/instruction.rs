//! The instructions of a function: each family is a function that returns whether it read the instruction.

use kiln_ir::{Op as IrOp, Type};
use kiln_vocabulary::opencl::AddressSpace;
use rspirv::spirv::Op;

use crate::{
    body::{Body, access},
    functions::{Param, ReturnKind},
    problem::{Outcome, Problem},
    words::Instruction,
};

impl<'w> Body<'_, 'w, '_> {
    /// Reads an instruction that does not end a block.
    pub(crate) fn instruction(&mut self, inst: &Instruction<'w>) -> Outcome<()> {
        if Self::is_ignored(inst.op) {
            return Ok(());
        }
        let is_read = self.memory(inst)?
            || self.address_instruction(inst)?
            || self.composite(inst)?
            || self.call(inst)?
            || self.enqueue(inst)?
            || self.computed(inst)?;
        if is_read { Ok(()) } else { Err(Problem::new(format!("Op{} is not supported", inst.name()))) }
    }

    /// OpFunctionCall. Returns whether it is one.
    fn call(&mut self, inst: &Instruction<'_>) -> Outcome<bool> {
        if inst.op != Op::FunctionCall {
            return Ok(false);
        }
        let callee = inst.word(0)?;
        let signature = self.reader.signatures.get(&callee).cloned();
        let signature = signature.ok_or_else(|| Problem::new(format!("%{callee} cannot be called")))?;
        let (ids, params) = (inst.words(1), &signature.params);
        if ids.len() != params.len() {
            return Err(Problem::new(format!(
                "it has {} arguments, and its function {}",
                ids.len(),
                params.len()
            )));
        }
        let mut arguments = Vec::new();
        let mut object = None;
        if let ReturnKind::Memory { size, align } = signature.result {
            let to = self.object((size, align));
            object = Some(to);
            arguments.push(self.builder.private_var(to));
        }
        for (&id, &param) in ids.iter().zip(params) {
            arguments.push(match param {
                Param::Value(ty) => self.value_of(id, ty)?,
                Param::Copy { size, align } => self.copied_argument(id, size, align)?,
            });
        }
        let returned = match signature.result {
            ReturnKind::Value(ty) => Some(ty),
            _ => None,
        };
        let value = self.builder.call(signature.function, &arguments, returned);
        match (object, value) {
            (Some(object), _) => self.define_object(inst, object)?,
            (_, Some(value)) => self.define(inst, value)?,
            _ => {}
        }
        Ok(true)
    }

    /// A private pointer to the bytes of an argument, which the callee does not change.
    fn copied_argument(&mut self, id: u32, size: u64, align: u64) -> Outcome<kiln_ir::ValueId> {
        let pointer = if self.is_aggregate(id) {
            let (found, _) = self.reader.types.layout(self.type_of(id)?)?;
            if found != size {
                return Err(Problem::new(format!("%{id} has a different type from the parameter")));
            }
            self.aggregate(id)?
        } else {
            self.pointer(id)?
        };
        if self.builder.ty(pointer) == Type::Pointer(AddressSpace::Private) {
            return Ok(pointer);
        }
        let object = self.object((size, align));
        let to = self.builder.private_var(object);
        self.builder.inst(IrOp::Copy { size, access: access(align) }, &[to, pointer], &[]);
        Ok(to)
    }
}
