//! Device-side enqueue (OpenCL C 6.15.19). An enqueued block becomes a kernel that reads the block's captures from a
//! literal in memory.
//!
//! The literal has clang's layout: size, alignment, an unused pointer, then the captures.

use kiln_builtins::{self as builtins, BuiltinId, Enqueue};
use kiln_frontend::hir::{Expr, ExprKind, FunctionId};
use kiln_ir::{
    ArgumentKind, Builder, BuiltinParam, FuncId, Function, Handle, Kernel, Op, Type, ValueId, Var,
};
use kiln_syntax::Span;
use kiln_types::ty::{Ty, TyId};
use kiln_vocabulary::opencl::AddressSpace;

use super::{
    Lowering,
    access::{Address, load},
    body::Body,
};

const GENERIC: Type = Type::Pointer(AddressSpace::Generic);
/// The size of the literal's header in bytes.
const HEADER: u64 = ArgumentKind::CAPTURES;

/// The layout of a block literal.
struct Literal {
    /// The offset and type of each capture.
    captures: Vec<(u64, TyId)>,
    size: u64,
    align: u64,
}

impl Body<'_, '_> {
    /// Lowers a function of OpenCL C 6.15.19. A block is passed as four arguments: its kernel, its literal, and the
    /// size and alignment of the literal. Pointers to events are generic; pointers to index spaces are private.
    pub(super) fn enqueue(
        &mut self,
        builtin: BuiltinId,
        enqueue: Enqueue,
        arguments: &[Expr],
        call: &Expr,
    ) -> Option<ValueId> {
        let is_block = |argument: &&Expr| matches!(self.lowering.hir.types.get(argument.ty), Ty::Block(_));
        let fixed = arguments.iter().position(|it| is_block(&it)).map_or(arguments.len(), |at| at + 1);
        let (fixed, sizes) = arguments.split_at(fixed);
        let has_no_events = enqueue == Enqueue::Kernel && fixed.len() == 4;
        let mut values = Vec::new();
        for argument in fixed {
            match self.lowering.hir.types.get(argument.ty) {
                Ty::Block(_) => {
                    if has_no_events {
                        let null = self.builder.bits(GENERIC, 0);
                        values.extend([self.builder.i32(0), null, null]);
                    }
                    values.extend(self.block_arguments(argument)?);
                }
                Ty::NdRange => {
                    let copy = self.temporary_of(argument.ty);
                    self.aggregate_into(argument, &copy);
                    values.push(copy.pointer);
                }
                Ty::Pointer(to) if matches!(self.lowering.hir.types.get(to.ty), Ty::ClkEvent) => {
                    let pointer = self.value(argument);
                    values.push(self.pointer_cast(pointer, GENERIC));
                }
                _ => values.push(self.value(argument)),
            }
        }
        values.extend(self.local_sizes(sizes));
        let params = values.iter().map(|_| BuiltinParam::Other).collect();
        let result = self.lowering.value_type(call.ty);
        self.builtin_call(builtin, params, &values, result)
    }

    /// The local memory sizes of a block, as pointers: LLVM-based consumers expect them in an array of `size_t`.
    fn local_sizes(&mut self, sizes: &[Expr]) -> Vec<ValueId> {
        if sizes.is_empty() {
            return Vec::new();
        }
        let array = self.temporary(8 * sizes.len() as u64, 8);
        let store_size = |this: &mut Self, (index, size): (u64, &Expr)| {
            let size = this.value(size);
            let size = this.builder.resize(size, kiln_ir::Scalar::I64, false);
            let address = this.address_at_offset(&array, 8 * index);
            this.store(&address, size);
            address.pointer
        };
        (0..).zip(sizes).map(|size| store_size(self, size)).collect()
    }

    /// `ndrange_1D` and its variants (OpenCL C 6.15.19.9): stores the global size, local size and offset to memory.
    /// An omitted operand is zero, or null for a pointer.
    pub(super) fn index_space(&mut self, builtin: BuiltinId, arguments: &[Expr], target: &Address) {
        let zero = match builtins::row(builtin).name {
            "ndrange_1D" => self.builder.i64(0),
            _ => self.builder.bits(GENERIC, 0),
        };
        let given: Vec<ValueId> = arguments.iter().map(|argument| self.value(argument)).collect();
        let [global, local, offset] = match given[..] {
            [global] => [global, zero, zero],
            [global, local] => [global, local, zero],
            [offset, global, local] => [global, local, offset],
            _ => return,
        };
        let values = [target.pointer, global, local, offset];
        self.builtin_call(builtin, values.iter().map(|_| BuiltinParam::Other).collect(), &values, None);
    }

    /// The arguments for a block parameter. `None` if the block has been rejected.
    fn block_arguments(&mut self, mut block: &Expr) -> Option<[ValueId; 4]> {
        while let ExprKind::Comma(copy, rest) = &block.kind {
            self.effect(copy);
            block = rest;
        }
        let ExprKind::Block { function, captures } = &block.kind else {
            self.lowering.reject("blocks that are not known at compile time", block.span);
            return None;
        };
        let kernel = self.lowering.block_kernel(*function);
        let layout = self.lowering.literal_layout(*function);
        let literal = self.temporary(layout.size, layout.align);
        for (offset, word) in [(0, layout.size), (4, layout.align)] {
            let address = self.address_at_offset(&literal, offset);
            let word = self.builder.i32(word as i32);
            self.store(&address, word);
        }
        // On Vulkan, the literal is copied to memory word by word: its padding has values, too.
        let mut written = 8;
        let ends = layout.captures.iter().map(|&(offset, ty)| (offset, self.lowering.layout(ty).0));
        for (offset, size) in ends.chain([(layout.size, 0)]).collect::<Vec<_>>() {
            let address = self.address_at_offset(&literal, written);
            self.zero(&address, offset - written);
            written = offset + size;
        }
        for (capture, &(offset, ty)) in captures.iter().zip(&layout.captures) {
            let address = self.address_at_offset(&literal, offset);
            if self.lowering.is_aggregate(ty) {
                self.aggregate_into(capture, &address);
            } else {
                let value = self.value(capture);
                self.store(&address, value);
            }
        }
        let function = self.builder.value(Op::Function(kernel), &[], Type::Handle(Handle::Function));
        let pointer = self.pointer_cast(literal.pointer, GENERIC);
        let [size, align] = [layout.size, layout.align].map(|it| self.builder.i32(it as i32));
        Some([function, pointer, size, align])
    }
}

impl Lowering<'_> {
    /// The layout of a block literal. The captures are the parameters after the declared ones.
    fn literal_layout(&self, block: FunctionId) -> Literal {
        let block = &self.hir.functions[block];
        let (mut size, mut align) = (HEADER, 8);
        let mut captures = Vec::new();
        for &capture in &block.parameters[block.parameters.len() - block.captures..] {
            let ty = block.locals[capture].ty.ty;
            let (bytes, natural) = self.layout(ty);
            let offset = size.next_multiple_of(natural);
            captures.push((offset, ty));
            size = offset + bytes;
            align = align.max(natural);
        }
        Literal { captures, size: size.next_multiple_of(align), align }
    }

    /// The kernel for a block: takes the literal and pointers to local memory, and calls the block.
    fn block_kernel(&mut self, block: FunctionId) -> FuncId {
        if let Some(&kernel) = self.blocks.get(&block) {
            return kernel;
        }
        let callee = self.callee_id(block);
        let span = self.hir.functions[block].span;
        let literal = self.literal_layout(block);
        let declared = self.hir.functions[block].parameters.len() - literal.captures.len();
        let mut params = vec![GENERIC];
        params.extend(std::iter::repeat_n(Type::Pointer(AddressSpace::Local), declared));
        let name = format!("{}_kernel", self.names.text(self.hir.functions[block].name));
        let mut function = Function::new(name, &params, None, span);
        let Literal { size, align, .. } = literal;
        function.kernel = Some(Kernel::enqueued(size, align, declared));
        let params = function.params().to_vec();
        let mut values = params[1..].to_vec();
        for &(offset, ty) in &literal.captures {
            let value = self.load_capture(&mut function, params[0], (offset, ty), span);
            values.push(value);
        }
        let mut builder = Builder::new(&mut function);
        builder.at_end(builder.function.body);
        builder.call(callee, &values, None);
        builder.ret(None);
        let kernel = self.module.functions.push(function);
        self.blocks.insert(block, kernel);
        kernel
    }

    /// Loads a capture from the literal. An aggregate becomes a private copy.
    fn load_capture(
        &self,
        function: &mut Function,
        literal: ValueId,
        (offset, ty): (u64, TyId),
        span: Span,
    ) -> ValueId {
        let (size, align) = self.layout(ty);
        let private = Var::new("", AddressSpace::Private, (size, align), span);
        let copy = self.is_aggregate(ty).then(|| function.vars.push(private));
        let mut builder = Builder::new(function);
        builder.at_end(builder.function.body);
        builder.span = span;
        let from = builder.offset_bytes(literal, offset as i64);
        let address = Address::new(from, align);
        let Some(copy) = copy else {
            return load(&mut builder, &address, self.value_type(ty).unwrap_or(Type::I32));
        };
        let copy = builder.private_var(copy);
        builder.inst(Op::Copy { size, access: address.access() }, &[copy, from], &[]);
        copy
    }
}
