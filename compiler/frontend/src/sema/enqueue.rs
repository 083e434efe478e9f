//! `enqueue_kernel` and queries about the kernel of a block (OpenCL C 6.15.19.1, 6.15.19.6): checks on block
//! arguments that the table of built-in functions cannot express.

use super::{Sema, builtin::Call};
use kiln_builtins::{Enqueue, Overload};
use kiln_session::diag::{Code, Diagnostic};
use kiln_types::ty::{FunctionTy, Ty, TyId};
use kiln_vocabulary::opencl::AddressSpace;

use crate::hir::{Const, Expr, ExprKind};

impl Sema<'_> {
    /// Checks a call of a function that takes a block. `arguments` are converted, except for those after the
    /// parameters.
    pub(super) fn enqueue_call(
        &mut self,
        enqueue: Enqueue,
        overload: &Overload,
        mut arguments: Vec<Expr>,
        call: &Call,
    ) -> Expr {
        let at = overload.parameters.len().saturating_sub(1);
        let sizes = arguments.split_off(overload.parameters.len().min(arguments.len()));
        if let Some(block) = arguments.get_mut(at)
            && let Ty::Block(ty) = self.types.get(block.ty).clone()
        {
            if !self.check_enqueued_block(&ty, block, call) {
                return self.error_value(call.span);
            }
            if enqueue == Enqueue::Kernel && !self.check_sizes(&ty, &sizes, block, call) {
                return self.error_value(call.span);
            }
            self.resolve_block(block);
        }
        for size in sizes {
            let size = self.convert(size, TyId::UINT);
            arguments.push(size);
        }
        let kind = ExprKind::Builtin { builtin: overload.builtin, arguments: arguments.into() };
        Expr { kind, ty: overload.result, span: call.span }
    }

    /// OpenCL C 6.15.19.1, 6.15.19.2: the block returns `void` and its parameters are pointers to local memory.
    fn check_enqueued_block(&mut self, ty: &FunctionTy, block: &Expr, call: &Call) -> bool {
        let is_local = |sema: &Self, parameter: TyId| {
            matches!(sema.types.get(parameter), Ty::Pointer(to)
                if to.ty == TyId::VOID && to.quals.space == Some(AddressSpace::Local))
        };
        let is_other_local = |sema: &Self, parameter: TyId| matches!(sema.types.get(parameter), Ty::Pointer(to) if to.quals.space == Some(AddressSpace::Local));
        let captures =
            || format!("the block of `{}` can use variables of the enclosing function instead", call.name);
        let (problem, help) = if ty.result.ty != TyId::VOID {
            ("a block that is enqueued returns nothing", captures())
        } else if !ty.parameters.iter().all(|parameter| is_local(self, parameter.ty)) {
            let help = match ty.parameters.iter().all(|parameter| is_other_local(self, parameter.ty)) {
                true => "declare the parameter as `local void *`, and convert it in the block".to_owned(),
                false => captures(),
            };
            ("a block that is enqueued takes only parameters of type `local void *`", help)
        } else {
            return true;
        };
        let shown = self.show(block.ty);
        self.report(
            Diagnostic::new(Code::EnqueuedBlock, block.span, problem)
                .label(format!("`{shown}`"))
                .help(help)
                .note("OpenCL C 6.15.19.1, 6.15.19.2"),
        );
        false
    }

    /// Checks the local memory sizes for the parameters of the block.
    fn check_sizes(&mut self, ty: &FunctionTy, sizes: &[Expr], block: &Expr, call: &Call) -> bool {
        if sizes.len() != ty.parameters.len() {
            let (wanted, given) = (ty.parameters.len(), sizes.len());
            self.report(
                Diagnostic::new(
                    Code::ArgumentCount,
                    sizes.get(wanted).map_or(block.span, |size| size.span),
                    format!(
                        "`{}` takes one size for each of the block's {wanted} parameters, not {given}",
                        call.name
                    ),
                )
                .note("OpenCL C 6.15.19.2"),
            );
            return false;
        }
        for size in sizes {
            if !self.is_integer(size.ty) {
                let shown = self.show(size.ty);
                self.report(
                    Diagnostic::new(
                        Code::ArgumentType,
                        size.span,
                        format!("a size is an integer, not `{shown}`"),
                    )
                    .note("OpenCL C 6.15.19.2: each size is a uint"),
                );
                return false;
            }
            if matches!(self.constant(size), Some(Const::Int(0))) {
                self.report(
                    Diagnostic::new(
                        Code::EnqueuedLocalSize,
                        size.span,
                        "the size of local memory cannot be 0",
                    )
                    .note("OpenCL C 6.15.19.1: enqueue_kernel returns CLK_INVALID_ARG_SIZE for the size 0"),
                );
            }
        }
        true
    }

    /// Replaces a block variable with its block, and checks the captures.
    fn resolve_block(&mut self, block: &mut Expr) {
        if matches!(block.kind, ExprKind::Load(_))
            && let Some(known) = self.known_block(block)
        {
            block.kind = known.into_kind();
        }
        let mut value = &*block;
        while let ExprKind::Comma(_, last) = &value.kind {
            value = last;
        }
        let ExprKind::Block { captures, .. } = &value.kind else { return };
        let dangling = captures.iter().find_map(|capture| match self.types.get(capture.ty) {
            Ty::Pointer(to) => {
                to.quals.space.filter(|space| matches!(space, AddressSpace::Local | AddressSpace::Private))
            }
            _ => None,
        });
        if let Some(space) = dangling {
            self.report(
                Diagnostic::new(
                    Code::EnqueuedCapture,
                    block.span,
                    format!("this block uses a pointer to {} memory, whose lifetime ends before the block runs", space.spelling()),
                )
                .help("pass global memory, or give the block a parameter of type `local void *`")
                .note("OpenCL C 6.15.19.1: blocks passed to enqueue_kernel cannot use pointers to local or private memory of the enclosing scope"),
            );
        }
    }
}
