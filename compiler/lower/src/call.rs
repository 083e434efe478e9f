//! Calls of program functions. Aggregates are passed as private pointers to copies.

use super::{access::Address, body::Body};
use kiln_frontend::hir::{Expr, FunctionId};
use kiln_ir::ValueId;

impl Body<'_, '_> {
    /// Lowers a call whose result is a value or `void`.
    pub(super) fn call(&mut self, function: FunctionId, arguments: &[Expr]) -> Option<ValueId> {
        let arguments = self.lower_arguments(arguments);
        self.call_values(function, &arguments)
    }

    /// Lowers a call that stores its aggregate result to private memory.
    pub(super) fn call_into(&mut self, function: FunctionId, arguments: &[Expr], target: &Address) {
        let mut values = vec![target.pointer];
        values.extend(self.lower_arguments(arguments));
        self.call_values(function, &values);
    }

    fn call_values(&mut self, function: FunctionId, arguments: &[ValueId]) -> Option<ValueId> {
        let callee = self.lowering.callee_id(function);
        let result = self.lowering.value_type(self.lowering.hir.functions[function].result);
        self.builder.call(callee, arguments, result)
    }

    fn lower_arguments(&mut self, arguments: &[Expr]) -> Vec<ValueId> {
        arguments
            .iter()
            .map(|argument| {
                if self.lowering.is_aggregate(argument.ty) {
                    let copy = self.temporary_of(argument.ty);
                    self.aggregate_into(argument, &copy);
                    copy.pointer
                } else {
                    self.value(argument)
                }
            })
            .collect()
    }
}
