//! Blocks (OpenCL C 6.14). A block literal becomes a function whose last parameters are its captures. A call of a
//! block becomes a call of that function, because block variables never change.

use kiln_session::{
    diag::{Code, Diagnostic},
    extensions::Extension,
};
use kiln_syntax::{Span, ast};
use kiln_types::ty::{FunctionTy, QualTy, Ty, TyId};
use kiln_vocabulary::opencl::{AddressSpace, LanguageVersion};
use rustc_hash::FxHashMap;

use super::{Sema, constant::Object, expr::Operand, function::Returns};
use crate::hir::{Assign, Expr, ExprKind, Function, FunctionId, Local, LocalId, Lvalue, LvalueKind};

/// A block literal being checked.
struct OpenBlock {
    function: FunctionId,
    /// The enclosing function or block. `None` at program scope.
    parent: Option<FunctionId>,
    captures: Vec<Capture>,
}

/// A captured variable of an enclosing function.
struct Capture {
    /// The variable in the enclosing function.
    outer: LocalId,
    /// The parameter with its value, or with its address for an array or a `local` variable.
    inner: LocalId,
}

/// The block that a variable refers to.
#[derive(Clone)]
pub(crate) struct KnownBlock {
    function: FunctionId,
    captures: Vec<Expr>,
}

impl KnownBlock {
    /// Converts it to an expression.
    pub(super) fn into_kind(self) -> ExprKind {
        ExprKind::Block { function: self.function, captures: self.captures.into() }
    }
}

/// The block literals of a program.
#[derive(Default)]
pub(crate) struct Blocks {
    /// The blocks that variables refer to.
    known: FxHashMap<Object, KnownBlock>,
    /// The literals being checked, outermost first.
    open: Vec<OpenBlock>,
    /// The number of literals so far.
    count: usize,
}

impl Sema<'_> {
    /// `^(parameters) { … }` (OpenCL C 6.14.3)
    pub(crate) fn block_literal(&mut self, block: &ast::BlockLiteral, span: Span) -> Expr {
        if !self.has_blocks(span) {
            return self.error_value(span);
        }
        let parameters = block.parameters.as_ref().map(|list| self.parameters(list)).unwrap_or_default();
        let returns = match &block.result {
            Some(name) => Returns::Type(self.type_name(name).ty),
            None => Returns::Inferred(None),
        };
        // Use clang's naming scheme. The names must be unique, because consumers of modules identify functions by
        // name.
        self.blocks.count += 1;
        let around = self
            .body
            .function
            .map_or("", |function| self.interner.text(self.module.functions[function].name));
        let name = format!("__{around}_block_invoke_{}", self.blocks.count);
        let name = self.interner.intern(&name);
        let function = self.module.functions.push(Function::new(name, TyId::VOID, span));
        self.set_parameters(function, &parameters);
        self.blocks.open.push(OpenBlock { function, parent: self.body.function, captures: Vec::new() });
        self.note_scope(span);
        let (stmts, returns) = self.body(function, &parameters, returns, block.body.items);
        let open = self.blocks.open.pop();
        let result = match returns {
            Returns::Type(ty) => ty,
            Returns::Inferred(ty) => ty.unwrap_or(TyId::VOID),
        };
        self.check_missing_return("this block", result, &stmts, block.body.span);
        let made = &mut self.module.functions[function];
        made.result = result;
        made.body = Some(stmts);
        if result == TyId::ERROR {
            return self.error_value(span);
        }
        let ty = FunctionTy {
            result: result.plain(),
            parameters: parameters.iter().map(|parameter| parameter.ty.ty.plain()).collect(),
            is_variadic: false,
        };
        let ty = self.types.intern(Ty::Block(ty));
        self.with_captures(function, open.map(|open| open.captures).unwrap_or_default(), ty, span)
    }

    /// OpenCL C 6.14: blocks were added in 2.0 and are part of device-side enqueue in 3.0. Reports an error if they
    /// are not supported.
    pub(super) fn has_blocks(&mut self, span: Span) -> bool {
        let missing = match self.options.std {
            LanguageVersion::Cl20 => return true,
            version if version < LanguageVersion::Cl20 => "OpenCL C 2.0",
            _ if self.extensions.has(Extension::DeviceEnqueue) => return true,
            _ => Extension::DeviceEnqueue.name(),
        };
        self.report_missing("a block", &[missing.to_owned()], span);
        false
    }

    /// The literal as a value. Captures are copied when it is evaluated (OpenCL C 6.14.3).
    fn with_captures(&mut self, function: FunctionId, captures: Vec<Capture>, ty: TyId, span: Span) -> Expr {
        let mut copies = Vec::new();
        let mut values = Vec::new();
        for capture in captures {
            let Some(parent) = self.body.function else { continue };
            let outer_ty = self.module.functions[parent].locals[capture.outer].ty;
            let outer = Lvalue { kind: LvalueKind::Local(capture.outer), ty: outer_ty, span };
            let value = if self.is_captured_by_address(outer_ty) {
                self.address_of_lvalue(outer)
            } else {
                self.load(outer)
            };
            let copy = self.temporary_lvalue(value.ty, span);
            let stored = ExprKind::Assign(Box::new(Assign { lvalue: copy.clone(), value }));
            copies.push(Expr { kind: stored, ty: copy.ty.ty, span });
            values.push(self.load(copy));
        }
        let block = Expr { kind: ExprKind::Block { function, captures: values.into() }, ty, span };
        copies.into_iter().rev().fold(block, |rest, copy| Expr {
            kind: ExprKind::Comma(Box::new(copy), Box::new(rest)),
            ty,
            span,
        })
    }

    /// A variable of an enclosing function (OpenCL C 6.14.3): a constant copy of it.
    pub(crate) fn captured(&mut self, function: FunctionId, local: LocalId, span: Span) -> Operand {
        let ty = self.module.functions[function].locals[local].ty;
        let problem = match self.types.get(ty.ty) {
            Ty::Error => return Operand::Value(self.error_value(span)),
            Ty::Block(_) => Some("a block cannot use a block variable of the enclosing function"),
            _ => None,
        };
        if let Some(problem) = problem {
            self.report(
                Diagnostic::new(Code::BlockCapture, span, problem)
                    .help("pass it as an argument, or declare it inside the block")
                    .note("OpenCL C 6.14.5"),
            );
            return Operand::Value(self.error_value(span));
        }
        let level = self.blocks.open.iter().rposition(|open| Some(open.function) == self.body.function);
        let Some(inner) = level.and_then(|level| self.capture(level, function, local)) else {
            return Operand::Value(self.error_value(span));
        };
        let owner = self.body.function.unwrap_or(function);
        let inner_ty = self.module.functions[owner].locals[inner].ty;
        let lvalue = Lvalue { kind: LvalueKind::Local(inner), ty: inner_ty, span };
        if !self.is_captured_by_address(ty) {
            return Operand::Lvalue(lvalue);
        }
        let pointer = self.load(lvalue);
        Operand::Lvalue(Lvalue { kind: LvalueKind::Deref(Box::new(pointer)), ty, span })
    }

    /// OpenCL C 6.14.5: arrays are captured by reference. `local` variables belong to the work-group in any case.
    fn is_captured_by_address(&self, ty: QualTy) -> bool {
        ty.quals.space == Some(AddressSpace::Local) || matches!(self.types.get(ty.ty), Ty::Array(..))
    }

    /// The parameter of the open block at this level for a variable of an outer function. Intermediate blocks capture
    /// it too.
    fn capture(&mut self, level: usize, function: FunctionId, local: LocalId) -> Option<LocalId> {
        let (block, parent) = (self.blocks.open[level].function, self.blocks.open[level].parent?);
        let outer = if parent == function {
            local
        } else {
            let around = self.blocks.open[..level].iter().rposition(|open| open.function == parent)?;
            self.capture(around, function, local)?
        };
        if let Some(known) = self.blocks.open[level].captures.iter().find(|capture| capture.outer == outer) {
            return Some(known.inner);
        }
        let variable = self.module.functions[parent].locals[outer].clone();
        let ty = if self.is_captured_by_address(variable.ty) {
            self.types.pointer(variable.ty).plain()
        } else {
            variable.ty.constant()
        };
        let ty = ty.in_space(AddressSpace::Private);
        let made = &mut self.module.functions[block];
        let inner = made.locals.push(Local { ty, ..variable });
        made.parameters.push(inner);
        made.captures += 1;
        self.blocks.open[level].captures.push(Capture { outer, inner });
        if let Some(value) = self.constants.objects.get(&Object::Local(parent, outer)).cloned() {
            self.constants.objects.insert(Object::Local(block, inner), value);
        }
        Some(inner)
    }

    /// Records the block that a variable is initialized with.
    pub(super) fn remember_block(&mut self, object: Object, value: &Expr) {
        if let Some(block) = self.known_block(value) {
            self.blocks.known.insert(object, block);
        }
    }

    /// The block that a value refers to.
    pub(super) fn known_block(&self, value: &Expr) -> Option<KnownBlock> {
        match &value.kind {
            ExprKind::Block { function, captures } => {
                Some(KnownBlock { function: *function, captures: captures.to_vec() })
            }
            ExprKind::Comma(_, last) => self.known_block(last),
            ExprKind::Load(lvalue) => {
                let object = match lvalue.kind {
                    LvalueKind::Local(local) => Object::Local(self.body.function?, local),
                    LvalueKind::Global(global) => Object::Global(global),
                    _ => return None,
                };
                self.blocks.known.get(&object).cloned()
            }
            _ => None,
        }
    }

    /// `block(arguments)` (OpenCL C 6.14.1)
    pub(crate) fn call_block(&mut self, block: Expr, arguments: &[ast::Expr], span: Span) -> Expr {
        let Ty::Block(ty) = self.types.get(block.ty).clone() else { return self.error_value(span) };
        let parameters: Vec<QualTy> = ty.parameters;
        let Some(mut arguments) = self.arguments(None, &parameters, arguments, block.span, None) else {
            return self.error_value(span);
        };
        let Some(known) = self.known_block(&block) else {
            self.report(
                Diagnostic::new(Code::BlockValue, block.span, "this block is not known at compile time")
                    .help("call a block variable, or a block literal")
                    .note("OpenCL C 6.14.5: block variables are initialized where they are declared and never change"),
            );
            return self.error_value(span);
        };
        arguments.extend(known.captures);
        let kind = ExprKind::Call { function: known.function, arguments: arguments.into() };
        let call = Expr { kind, ty: ty.result.ty, span };
        // A literal that is called immediately still copies its captures.
        let mut copies = Vec::new();
        let mut rest = block;
        while let ExprKind::Comma(copy, last) = rest.kind {
            copies.push(*copy);
            rest = *last;
        }
        copies.into_iter().rev().fold(call, |rest, copy| Expr {
            ty: rest.ty,
            kind: ExprKind::Comma(Box::new(copy), Box::new(rest)),
            span,
        })
    }
}
