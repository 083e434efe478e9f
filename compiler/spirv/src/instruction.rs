//! Emits one instruction of the IR: selects the function for its operation.

use kiln_ir::{FuncId, Inst, InstId, Op as IrOp, barrier_sync, fence_sync};
use kiln_memory::Group;
use rspirv::{dr::Operand, spirv::Op};

use super::body::Body;

impl Body<'_, '_> {
    /// Emits an instruction.
    pub(super) fn instruction(&mut self, id: InstId, inst: &Inst) {
        match &inst.op {
            IrOp::Unary(op) => self.emit_unary(inst, *op),
            IrOp::Binary(op) => self.emit_binary(inst, *op),
            IrOp::Exact(op) => self.emit_exact(inst, *op),
            IrOp::Compare(compare) => self.emit_compare(inst, *compare),
            IrOp::Select => self.emit_select(inst),
            IrOp::Convert(convert) => self.emit_convert(inst, *convert),
            IrOp::Bitcast => self.emit_bitcast(inst),
            IrOp::Construct => self.emit_construct(inst),
            IrOp::Extract(index) => {
                let vector = self.value(inst.args[0]);
                let operands = vec![Operand::IdRef(vector), Operand::LiteralBit32((*index).into())];
                self.result(inst, Op::CompositeExtract, operands);
            }
            IrOp::ExtractDynamic => self.plain(inst, Op::VectorExtractDynamic),
            IrOp::Insert(index) => {
                let [vector, scalar] = [inst.args[0], inst.args[1]].map(|arg| self.value(arg));
                let operands = vec![
                    Operand::IdRef(scalar),
                    Operand::IdRef(vector),
                    Operand::LiteralBit32((*index).into()),
                ];
                self.result(inst, Op::CompositeInsert, operands);
            }
            IrOp::InsertDynamic => self.plain(inst, Op::VectorInsertDynamic),
            IrOp::Shuffle(components) => {
                let [a, b] = [inst.args[0], inst.args[1]].map(|arg| self.value(arg));
                let mut operands = vec![Operand::IdRef(a), Operand::IdRef(b)];
                operands.extend(components.iter().map(|&it| Operand::LiteralBit32(it.into())));
                self.result(inst, Op::VectorShuffle, operands);
            }
            IrOp::Any => self.plain(inst, Op::Any),
            IrOp::All => self.plain(inst, Op::All),

            IrOp::ModuleVar(var) => self.module_var(inst, *var),
            IrOp::PrivateVar(var) => self.private_var(inst, *var),
            IrOp::ElementCount(var) => {
                let word = self.emitter.argument_length(*var);
                self.define(inst.results[0], word);
            }
            IrOp::Offset { stride, count } => self.offset(inst, *stride, *count),
            IrOp::Element => self.element(inst),
            IrOp::LaunchWord(memory, word) => self.launch_word(inst, *memory, *word),
            IrOp::LaunchAddress(_) => {
                unreachable!("`bind_arguments` replaces the addresses that the launch passes")
            }
            // Accesses refer to the descriptor directly.
            IrOp::Descriptor(_) => {}
            IrOp::Image(action) => self.image_action(inst, *action),
            IrOp::Input(input) => self.input(inst, *input),
            IrOp::PointerCast => self.pointer_cast(inst),
            IrOp::PointerToInt => self.plain(inst, Op::ConvertPtrToU),
            IrOp::IntToPointer => self.plain(inst, Op::ConvertUToPtr),
            IrOp::Load(access) => self.load(inst, *access),
            IrOp::Store(access) => self.store(inst, *access),
            IrOp::Copy { size, access } => self.copy(inst, *size, *access),
            IrOp::Zero { size, access } => self.zero(inst, *size, *access),
            IrOp::Atomic(atomic) => self.atomic(inst, atomic),
            IrOp::Fence { flags, order, scope } => self.fence(fence_sync(*flags, *order, *scope)),
            IrOp::Barrier { execution, flags, scope } => {
                self.barrier(Group::from_scope(*execution), barrier_sync(*flags, *scope));
            }

            IrOp::Function(function) => {
                let word = self.emitter.globals.functions[function];
                self.define(inst.results[0], word);
            }
            IrOp::Call(callee) => self.emit_call(inst, *callee),
            IrOp::Builtin(builtin, params) => self.builtin(inst, *builtin, params),
            IrOp::WorkItem(query) => self.work_item(inst, *query),
            IrOp::Printf(format) => self.printf(inst, format),
            IrOp::Trap(message) => self.trap(message),

            IrOp::If { then, otherwise } => self.emit_if(id, inst, *then, *otherwise),
            IrOp::Loop { body, continuing, hints } => self.emit_loop(id, inst, (*body, *continuing), *hints),
            IrOp::Switch { cases, default } => self.emit_switch(id, inst, cases, *default),
            IrOp::Block(block) => self.emit_block(id, inst, *block),
            IrOp::Exit(target) => self.emit_exit(*target, inst),
            IrOp::Continue(target) => self.emit_continue(*target, inst),
            IrOp::Next(target) => self.emit_next(*target, inst),
            IrOp::Return => match inst.args.first() {
                Some(&value) => {
                    let value = self.value(value);
                    self.terminate(Op::ReturnValue, vec![Operand::IdRef(value)]);
                }
                None => self.terminate(Op::Return, Vec::new()),
            },
            IrOp::Unreachable => self.terminate(Op::Unreachable, Vec::new()),
        }
    }

    fn emit_call(&mut self, inst: &Inst, callee: FuncId) {
        let function = self.emitter.globals.functions[&callee];
        let mut operands = vec![Operand::IdRef(function)];
        operands.extend(inst.args.iter().map(|&arg| Operand::IdRef(self.value(arg))));
        if let Some(used) = self.emitter.globals.interfaces.get(&callee) {
            self.interface.extend(used.iter().copied());
        }
        match inst.results.first() {
            Some(_) => self.result(inst, Op::FunctionCall, operands),
            None => {
                let void = self.emitter.void();
                self.typed(Op::FunctionCall, void, operands);
            }
        }
    }
}
