//! Built-in functions that are one instruction of the target's library, by the row of the table.

use rspirv::{dr::Operand, spirv::Op};

use super::body::Body;
use crate::{builtins::BuiltinId, ir::Inst};

impl Body<'_, '_> {
    pub(super) fn builtin(&mut self, inst: &Inst, builtin: BuiltinId) {
        let _ = builtin;
        self.plain(inst, Op::ExtInst);
    }

    /// `printf` of the OpenCL environment.
    pub(super) fn printf(&mut self, inst: &Inst, format: &[u8]) {
        let _ = (inst, format, Operand::IdRef(0));
    }
}
