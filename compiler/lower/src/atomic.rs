//! Atomic operations, fences and barriers: their operands, including those that are only known at run time.

use super::{access::Address, body::Body};
use kiln_frontend::hir::{self, CompareOp, Expr, ExprKind};
use kiln_ir::{self as ir, CompareKind, Known, Op, Scalar, Type, ValueId};
use kiln_types::ty::Ty;
use kiln_vocabulary::opencl::{AtomicOp, FenceFlags, Order, Scope};

impl Body<'_, '_> {
    /// Lowers an operation on an atomic object (OpenCL C 6.15.12.7).
    pub(super) fn atomic(&mut self, atomic: &hir::Atomic) -> Option<ValueId> {
        let element = self.lowering.element(atomic.value_ty);
        let object = Address {
            pointer: self.pointer_to_access(&atomic.object),
            align: element.size(),
            is_volatile: self.is_volatile_pointee(&atomic.object),
        };
        let operand = atomic.operand.as_ref().map(|operand| self.value(operand));
        let expected = atomic.expected.as_ref().map(|expected| self.value(expected));
        let mut work = Operation {
            atomic,
            object,
            ty: Scalar::from(element),
            is_signed: element.is_signed(),
            args: Vec::new(),
        };
        match atomic.op {
            AtomicOp::CompareExchangeStrong | AtomicOp::CompareExchangeWeak => {
                self.compare_exchange(&mut work, operand?, expected?)
            }
            _ => {
                // `atomic_inc` and similar functions have no value operand.
                if !matches!(atomic.op, AtomicOp::Load | AtomicOp::FlagTestAndSet | AtomicOp::FlagClear) {
                    let ty = Type::Scalar(work.ty);
                    work.args.push(operand.unwrap_or_else(|| self.builder.bits(ty, 1)));
                }
                self.lower_operation(&work)
            }
        }
    }

    /// Compares the bits. The expected value is an object that receives the old value on failure, or for OpenCL 1.x a
    /// value (OpenCL C 6.15.12.7.4).
    fn compare_exchange(
        &mut self,
        work: &mut Operation<'_>,
        desired: ValueId,
        expected: ValueId,
    ) -> Option<ValueId> {
        let value_ty = Type::Scalar(work.ty);
        work.ty = Scalar::int_of_size(work.ty.size());
        let bits = Type::Scalar(work.ty);
        let desired = self.builder.bitcast(desired, bits);
        if work.atomic.is_legacy {
            let expected = self.builder.bitcast(expected, bits);
            work.args = vec![desired, expected];
            let old = self.lower_operation(work)?;
            return Some(self.builder.bitcast(old, value_ty));
        }
        let expected_address = Address { pointer: expected, align: work.ty.size(), is_volatile: false };
        let expected = self.load(&expected_address, bits);
        work.args = vec![desired, expected];
        let old = self.lower_operation(work)?;
        let succeeds = self.builder.compare(CompareOp::Equal, CompareKind::Unsigned, old, expected);
        let block = self.builder.insertion_point().0;
        let open = self.builder.open_if(succeeds, &[]);
        self.builder.at_end(open.then);
        self.builder.exit(open.inst, &[]);
        self.builder.at_end(open.otherwise);
        self.store(&expected_address, old);
        self.builder.exit(open.inst, &[]);
        self.builder.at_end(block);
        Some(succeeds)
    }

    fn lower_operation(&mut self, work: &Operation<'_>) -> Option<ValueId> {
        let atomic = work.atomic;
        let mut args = vec![work.object.pointer];
        args.extend(&work.args);
        let order = self.lower_known(&atomic.order, &mut args);
        let failure = atomic.failure.as_ref().map(|failure| self.lower_known(failure, &mut args));
        let scope = self.lower_known(&atomic.scope, &mut args);
        let result = match atomic.op {
            AtomicOp::Store | AtomicOp::FlagClear => None,
            AtomicOp::FlagTestAndSet => Some(Type::BOOL),
            _ => Some(Type::Scalar(work.ty)),
        };
        let op = Op::Atomic(ir::Atomic {
            op: atomic.op,
            ty: work.ty,
            is_signed: work.is_signed,
            order,
            failure,
            scope,
            spaces: None,
            is_volatile: work.object.is_volatile,
        });
        let inst = self.builder.inst(op, &args, result.as_slice());
        self.builder.function.insts[inst].results.first().copied()
    }

    /// `atomic_work_item_fence` and similar functions (OpenCL C 6.15.12.5, 6.15.9).
    pub(super) fn fence(
        &mut self,
        flags: &hir::Known<FenceFlags>,
        order: &hir::Known<Order>,
        scope: &hir::Known<Scope>,
    ) {
        let mut args = Vec::new();
        let flags = self.lower_known(flags, &mut args);
        let order = self.lower_known(order, &mut args);
        let scope = self.lower_known(scope, &mut args);
        self.builder.inst(Op::Fence { flags, order, scope }, &args, &[]);
    }

    /// `work_group_barrier` and similar functions (OpenCL C 6.15.8).
    pub(super) fn barrier(
        &mut self,
        execution: Scope,
        flags: &hir::Known<FenceFlags>,
        scope: &hir::Known<Scope>,
    ) {
        let mut args = Vec::new();
        let flags = self.lower_known(flags, &mut args);
        let scope = self.lower_known(scope, &mut args);
        self.builder.inst(Op::Barrier { execution, flags, scope }, &args, &[]);
    }

    /// A constant operand, or a dynamic one, which is added to the arguments.
    fn lower_known<T: Copy>(&mut self, known: &hir::Known<T>, args: &mut Vec<ValueId>) -> Known<T> {
        match known {
            hir::Known::Constant(value) => Known::Constant(*value),
            hir::Known::Dynamic(expr) => {
                let is_signed = self.lowering.element(expr.ty).is_signed();
                let value = self.value(expr);
                args.push(self.builder.resize(value, Scalar::I32, is_signed));
                Known::Dynamic
            }
        }
    }

    /// Whether the object is volatile, according to the argument: all parameters of atomic functions are pointers to
    /// volatile.
    fn is_volatile_pointee(&self, pointer: &Expr) -> bool {
        let pointer = match &pointer.kind {
            ExprKind::PointerCast(inner) => inner,
            _ => pointer,
        };
        matches!(self.lowering.hir.types.get(pointer.ty), Ty::Pointer(to) if to.quals.is_volatile)
    }
}

/// An operation with evaluated operands.
struct Operation<'h> {
    atomic: &'h hir::Atomic,
    object: Address,
    ty: Scalar,
    is_signed: bool,
    args: Vec<ValueId>,
}
