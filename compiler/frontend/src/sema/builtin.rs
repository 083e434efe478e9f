//! Calls of built-in functions (OpenCL C 6.15). The table selects the overload; this file builds the node.
//!
//! Functions with their own nodes or checks are in `atomics`, `fences` and `printf`. Functions named by rule
//! (`convert_*`, `as_*`) are handled here.

use kiln_builtins::{
    self as builtins, ArgTy, Collective, Context, Failure, FailureKind, Lowering, Overload, Rule,
};
use kiln_session::{
    diag::{Code, Diagnostic, Piece},
    extensions::Extensions,
};
use kiln_syntax::{Span, ast};
use kiln_types::ty::{Access, Implicit, Pointee, QualTy, Scalar, Ty, TyId};
use smallvec::SmallVec;

use super::{Callee, Sema, convert::AssignContext, suggest::Suggestion};
use crate::hir::{Conversion, Expr, ExprKind, LocalId, Lvalue, LvalueKind, Stmt, StmtKind};

/// The maximum number of overloads to list in a message.
const MAX_FORMS: usize = 6;

/// A call, for messages.
pub(super) struct Call<'a> {
    /// The name of the function.
    pub(super) name: &'a str,
    /// The span of the name.
    pub(super) callee: Span,
    /// The span of the call.
    pub(super) span: Span,
}

impl Sema<'_> {
    /// The language version and extensions, which determine the available built-in functions.
    pub(crate) fn builtin_context(&self) -> Context {
        Context { version: self.options.std, extensions: self.extensions }
    }

    /// Whether any version has a built-in function with this name.
    pub(crate) fn is_builtin(&self, name: &str) -> bool {
        builtins::is_name(name)
    }

    /// Defines functions that the program declares exactly like a built-in function and does not define: their body
    /// calls the built-in one.
    pub(super) fn define_declared_builtins(&mut self) {
        let context = self.builtin_context();
        for id in self.module.functions.ids().collect::<Vec<_>>() {
            let function = &self.module.functions[id];
            if function.body.is_some() {
                continue;
            }
            let (result, span) = (function.result, function.span);
            let name = self.text(function.name).to_owned();
            let Some(set) = builtins::lookup(&name, &context) else { continue };
            let function = &self.module.functions[id];
            let parameters: Vec<(LocalId, QualTy)> =
                function.parameters.iter().map(|&local| (local, function.locals[local].ty)).collect();
            let types: Vec<ArgTy> =
                parameters.iter().map(|(_, ty)| ArgTy { ty: ty.ty, is_zero: false }).collect();
            let Ok(overload) = self.overload_cache.resolve(&set, &mut self.types, &types) else { continue };
            let declared = overload.parameters.iter().map(|parameter| parameter.ty);
            if overload.result != result || !declared.eq(types.iter().map(|argument| argument.ty)) {
                continue;
            }
            let arguments = parameters
                .into_iter()
                .map(|(local, ty)| {
                    let lvalue = Lvalue { kind: LvalueKind::Local(local), ty, span };
                    Expr { kind: ExprKind::Load(lvalue), ty: ty.ty, span }
                })
                .collect();
            let outer = self.body.function.replace(id);
            let call = Call { name: &name, callee: span, span };
            let value = self.builtin_node(&overload, arguments, &call);
            self.body.function = outer;
            let kind = if result == TyId::VOID {
                StmtKind::Expr(value)
            } else {
                StmtKind::Return(Some(Box::new(value)))
            };
            self.module.functions[id].body = Some(vec![Stmt { kind, span }]);
        }
    }

    /// `name(arguments)`
    pub(crate) fn call_builtin(
        &mut self,
        name: &str,
        callee: Span,
        arguments: &[ast::Expr],
        span: Span,
    ) -> Expr {
        let call = Call { name, callee, span };
        let context = self.builtin_context();
        let written = arguments;
        let first_is_pointer = name.starts_with("atomic_");
        let arguments: Vec<Expr> = arguments
            .iter()
            .enumerate()
            .map(|(index, argument)| match index == 0 && first_is_pointer {
                true => self.pointer_to_atomic(argument, name),
                false => self.value(argument),
            })
            .collect();
        if arguments.iter().any(|argument| argument.ty == TyId::ERROR) {
            return self.error_value(span);
        }
        let Ok((other, arguments)) = self.overflow_form(arguments, &call) else {
            return self.error_value(span);
        };
        let Some(set) = self.overload_cache.lookup(other.as_deref().unwrap_or(name), &context) else {
            if let Some(missing) = builtins::needs(name, &context) {
                self.report_missing(&format!("`{name}`"), &missing, callee);
                return self.error_value(span);
            }
            return match builtins::rule(name) {
                Some(rule) => self.call_by_rule(rule, arguments, &call),
                None => self.error_value(span),
            };
        };
        if self.reports_atomic_object(&set, &arguments, &call) {
            return self.error_value(span);
        }
        let types = self.argument_types(&arguments);
        match self.overload_cache.resolve(&set, &mut self.types, &types) {
            Ok(overload) => {
                if other.is_none() {
                    self.note_call(callee, written, || Callee::Builtin(Overload::clone(&overload)));
                }
                self.builtin_node(&overload, arguments, &call)
            }
            Err(failure) => {
                if !self.reports_missing_form(&arguments, &call) {
                    self.report_no_overload(failure, &set, &arguments, &call);
                }
                self.error_value(span)
            }
        }
    }

    pub(super) fn argument_types(&self, arguments: &[Expr]) -> SmallVec<[ArgTy; 4]> {
        let arg_ty = |argument: &Expr| ArgTy { ty: argument.ty, is_zero: self.is_null_constant(argument) };
        arguments.iter().map(arg_ty).collect()
    }

    /// Reports a call whose arguments fit only an overload that needs an unavailable extension or feature.
    fn reports_missing_form(&mut self, arguments: &[Expr], call: &Call) -> bool {
        let context = self.builtin_context();
        let everything = Context { extensions: Extensions::all(context.version), ..context };
        let types = self.argument_types(arguments);
        let Some(set) = builtins::lookup(call.name, &everything) else { return false };
        let Ok(overload) = builtins::OverloadCache::default().resolve(&set, &mut self.types, &types) else {
            return false;
        };
        let takes = |argument: &Expr, parameter: &QualTy| match self.types.implicit(argument.ty, parameter.ty)
        {
            Implicit::Pointer(change) => change.pointee == Pointee::Compatible,
            // A scalar for a vector: the coordinates were probably passed one by one.
            Implicit::Splat(_) => false,
            _ => true,
        };
        if !arguments.iter().zip(&overload.parameters).all(|(argument, parameter)| takes(argument, parameter))
        {
            return false;
        }
        let Some(missing) = builtins::row_needs(overload.builtin, &context) else { return false };
        let shown: Vec<String> = arguments.iter().map(|argument| self.show(argument.ty)).collect();
        self.report_missing(&format!("`{}` with ({})", call.name, shown.join(", ")), &missing, call.callee);
        true
    }

    /// Builds the node of a call after overload resolution.
    fn builtin_node(&mut self, overload: &Overload, arguments: Vec<Expr>, call: &Call) -> Expr {
        let lowering = builtins::row(overload.builtin).lowering;
        // For other functions, C's warning is sufficient: vectors are loaded from and stored to memory of any type.
        let moves_objects =
            matches!(lowering, Lowering::Atomic(_) | Lowering::AtomicInit | Lowering::Async(_));
        if moves_objects && self.reports_pointee(overload, &arguments, call) {
            return self.error_value(call.span);
        }
        match lowering {
            Lowering::Atomic(form) => return self.atomic_call(form, overload, arguments, call),
            Lowering::AtomicInit => return self.atomic_init_call(overload, arguments, call),
            Lowering::Fence(fence) => return self.fence_call(fence, overload, arguments, call),
            Lowering::Barrier(barrier) => return self.barrier_call(barrier, overload, arguments, call),
            Lowering::Printf => return self.printf_call(overload, arguments, call),
            Lowering::Trap => return self.trap_call(overload, arguments, call),
            _ => {}
        }
        if lowering == Lowering::Prefetch && !self.check_prefetch(&arguments) {
            return self.error_value(call.span);
        }
        let Some(mut arguments) = self.builtin_arguments(overload, arguments, call) else {
            return self.error_value(call.span);
        };
        if lowering == Lowering::Prefetch {
            return Expr { span: call.span, ..self.as_void(arguments.swap_remove(0)) };
        }
        if let Lowering::Enqueue(enqueue) = lowering {
            return self.enqueue_call(enqueue, overload, arguments, call);
        }
        if let Lowering::Collective(_, Collective::ClusteredReduce(_) | Collective::ClusteredRotate, _) =
            lowering
            && !self.check_cluster_size(&arguments)
        {
            return self.error_value(call.span);
        }
        let kind = ExprKind::Builtin { builtin: overload.builtin, arguments: arguments.into() };
        Expr { kind, ty: overload.result, span: call.span }
    }

    /// Converts the arguments to the parameter types of an overload.
    fn builtin_arguments(
        &mut self,
        overload: &Overload,
        arguments: Vec<Expr>,
        call: &Call,
    ) -> Option<Vec<Expr>> {
        let mut coordinates = self.one_vector(&arguments);
        let convert = |(index, value): (usize, Expr)| {
            // Arguments after the parameters are checked by the code for each function.
            let Some(parameter) = overload.parameters.get(index) else { return Some(value) };
            if self.is_vector(parameter.ty) && !self.is_vector(value.ty) {
                self.warn_widening(&value, parameter.ty, coordinates.take(), call);
            }
            let value = self.assign_convert(value, *parameter, AssignContext::Argument(index + 1));
            (value.ty != TyId::ERROR).then_some(value)
        };
        arguments.into_iter().enumerate().map(convert).collect()
    }

    /// Reports a pointer to a type that the function does not access, which C would accept with a warning.
    fn reports_pointee(&mut self, overload: &Overload, arguments: &[Expr], call: &Call) -> bool {
        for (index, (value, parameter)) in arguments.iter().zip(&overload.parameters).enumerate() {
            if let Implicit::Pointer(change) = self.types.implicit(value.ty, parameter.ty)
                && change.pointee != Pointee::Compatible
            {
                if self.reports_missing_form(arguments, call) {
                    return true;
                }
                let (shown, wanted) = (self.show(value.ty), self.show(*parameter));
                self.report(
                    Diagnostic::new(
                        Code::ArgumentType,
                        value.span,
                        format!("`{}` cannot take `{shown}` as argument {}", call.name, index + 1),
                    )
                    .help(format!("it takes `{wanted}`; cast the pointer if the memory holds that"))
                    .note(
                        "OpenCL C 6.15.11, 6.15.12: the object has the type that the function is declared for",
                    ),
                );
                return true;
            }
        }
        false
    }

    /// OpenCL C 6.15.20.2: the size of a cluster is a constant power of two.
    fn check_cluster_size(&mut self, arguments: &[Expr]) -> bool {
        let Some(size) = arguments.last() else { return true };
        match self.integer_constant_value(size, "the size of a cluster") {
            Some(count) if u32::try_from(count).is_ok_and(u32::is_power_of_two) => true,
            Some(count) => {
                self.report(
                    Diagnostic::new(
                        Code::ConstantExpression,
                        size.span,
                        format!("the size of a cluster is a power of two, not {count}"),
                    )
                    .note("OpenCL C 6.15.20.2"),
                );
                false
            }
            None => false,
        }
    }

    /// Warns about a scalar that is widened because no overload accepts a scalar. `coordinates` is the vector that its
    /// argument belongs to.
    fn warn_widening(&mut self, value: &Expr, vector: TyId, coordinates: Option<Suggestion>, call: &Call) {
        let (shown, vector, name) = (self.show(value.ty), self.show(vector), call.name);
        let message =
            format!("`{name}` takes `{vector}` here, so this `{shown}` is repeated in every component");
        let diagnostic = Diagnostic::new(Code::ImplicitWidening, value.span, message);
        let diagnostic = match coordinates {
            Some(Suggestion { help, fix }) => Diagnostic { fix, ..diagnostic.help(help) },
            None => diagnostic
                .help(format!("write `({vector})(…)` to make this explicit"))
                .prefix(value.span, &format!("({vector})")),
        };
        self.report(diagnostic);
    }

    /// `convert_type` and `as_type` (OpenCL C 6.4.3, 6.4.4.2).
    fn call_by_rule(&mut self, rule: Rule, arguments: Vec<Expr>, call: &Call) -> Expr {
        let given = arguments.len();
        let mut arguments = arguments.into_iter();
        let (Some(value), None) = (arguments.next(), arguments.next()) else {
            self.report(Diagnostic::new(
                Code::ArgumentCount,
                call.callee,
                format!("`{}` takes 1 argument, not {given}", call.name),
            ));
            return self.error_value(call.span);
        };
        match rule {
            Rule::As { element, count } => {
                let to = self.types.vector(element, count);
                self.reinterpret(value, to, call.span)
            }
            Rule::Convert { element, count, conversion } => {
                self.explicit_conversion(value, (element, count), conversion, call)
            }
        }
    }

    /// `convert_type`: componentwise, with the same number of components (OpenCL C 6.4.3).
    fn explicit_conversion(
        &mut self,
        value: Expr,
        (element, count): (Scalar, u8),
        conversion: Conversion,
        call: &Call,
    ) -> Expr {
        let to = self.types.vector(element, count);
        match self.types.components(value.ty) {
            Some((from, given)) if given == count => {
                if from == element && !matches!(self.types.get(value.ty), Ty::Enum(_)) {
                    return Expr { span: call.span, ..value };
                }
                Expr { kind: ExprKind::Convert(conversion, Box::new(value)), ty: to, span: call.span }
            }
            _ => {
                let (shown, to_shown) = (self.show(value.ty), self.show(to));
                let plural = if count == 1 { "a scalar" } else { "a vector of as many components" };
                self.report(
                    Diagnostic::new(
                        Code::ArgumentType,
                        value.span,
                        format!("`{}` cannot convert `{shown}` to `{to_shown}`", call.name),
                    )
                    .help(format!("it takes {plural}"))
                    .note("OpenCL C 6.4.3: source and destination have the same number of components"),
                );
                self.error_value(call.span)
            }
        }
    }

    /// Explains why no overload matches.
    fn report_no_overload(&mut self, failure: Failure, set: &builtins::Set, arguments: &[Expr], call: &Call) {
        let diagnostic = match &failure.kind {
            FailureKind::Reported => None,
            FailureKind::Count(counts) => self.wrong_count(counts, set, arguments, call),
            FailureKind::Argument(index) => self.wrong_argument(*index, set, arguments, call),
            FailureKind::Ambiguous => Some(self.ambiguous(set, arguments, call)),
        };
        let Some(diagnostic) = diagnostic else { return };
        // If the diagnostic is about one argument, the list of ambiguous overloads does not help.
        let is_explained = failure.kind == FailureKind::Ambiguous && diagnostic.code == Code::ArgumentType;
        let shown = failure.candidates.iter().take(if is_explained { 0 } else { MAX_FORMS });
        self.report(shown.fold(diagnostic, |diagnostic, form| diagnostic.note(format!("there is `{form}`"))));
    }

    /// `None` if another report explains it.
    fn wrong_count(
        &mut self,
        counts: &[usize],
        set: &builtins::Set,
        arguments: &[Expr],
        call: &Call,
    ) -> Option<Diagnostic> {
        let (name, given) = (call.name, arguments.len());
        let suggestion = self.suggestion(&FailureKind::Count(Vec::new()), set, arguments, call);
        if suggestion.is_none()
            && let Some(missing) = builtins::form_needs(name, given, &self.builtin_context())
        {
            let what = format!("`{name}` with {}", list_of_counts(&[given]));
            self.report_missing(&what, &missing, call.callee);
            return None;
        }
        let least = if set.is_variadic() { "at least " } else { "" };
        let wanted = format!("{least}{}", list_of_counts(counts));
        let message = format!("`{name}` takes {wanted}, not {given}");
        let diagnostic = Diagnostic::new(Code::ArgumentCount, call.callee, message);
        let diagnostic = match given == 0 && (name.ends_with("barrier") || name.ends_with("mem_fence")) {
            true => diagnostic
                .help("name the memory to order: CLK_LOCAL_MEM_FENCE, CLK_GLOBAL_MEM_FENCE or both with `|`"),
            false => diagnostic,
        };
        Some(with_suggestion(diagnostic, suggestion))
    }

    /// `None` if another report explains it.
    fn wrong_argument(
        &mut self,
        index: usize,
        set: &builtins::Set,
        arguments: &[Expr],
        call: &Call,
    ) -> Option<Diagnostic> {
        let argument = arguments.get(index)?;
        if let Some(help) = self.wrong_access(call.name, argument.ty) {
            self.report_access(argument, help, call);
            return None;
        }
        let (shown, number) = (self.show(argument.ty), index + 1);
        let all: Vec<String> = arguments.iter().map(|argument| self.show(argument.ty)).collect();
        let message = format!("`{}` cannot take `{shown}` as argument {number}", call.name);
        let diagnostic = Diagnostic::new(Code::ArgumentType, argument.span, message)
            .label(format!("called with ({})", all.join(", ")));
        if call.name == "printf" {
            return Some(self.missing_format(diagnostic, argument));
        }
        Some(match self.suggestion(&FailureKind::Argument(index), set, arguments, call) {
            None => self.with_accepted_types(diagnostic, set, arguments, index),
            suggestion => with_suggestion(diagnostic, suggestion),
        })
    }

    fn ambiguous(&mut self, set: &builtins::Set, arguments: &[Expr], call: &Call) -> Diagnostic {
        let suggestion = self.suggestion(&FailureKind::Ambiguous, set, arguments, call);
        if suggestion.is_none()
            && let Some(index) = self.mismatched_argument(set, arguments)
            && let Some(diagnostic) = self.wrong_argument(index, set, arguments, call)
        {
            return diagnostic;
        }
        let shown: Vec<String> = arguments.iter().map(|argument| self.show(argument.ty)).collect();
        let (name, shown) = (call.name, shown.join(", "));
        let message = format!("the call of `{name}` is ambiguous: several overloads take ({shown})");
        with_suggestion(Diagnostic::new(Code::AmbiguousCall, call.callee, message), suggestion)
    }

    /// A suggestion for an image or a pipe that only fails to match because of its access qualifier (OpenCL C 6.8).
    fn wrong_access(&self, name: &str, ty: TyId) -> Option<&'static str> {
        let image = match self.types.get(ty) {
            Ty::Image(image) => image,
            Ty::Pipe(_, Access::ReadOnly) if name.ends_with("write_pipe") => {
                return Some("declare it `write_only`; a pipe cannot be `read_write`");
            }
            Ty::Pipe(_, Access::WriteOnly) if name.ends_with("read_pipe") => {
                return Some("declare it `read_only`; a pipe cannot be `read_write`");
            }
            _ => return None,
        };
        match image.access {
            Access::ReadOnly if name.starts_with("write_image") => {
                Some("declare it `write_only`, or `read_write` if it is read too")
            }
            Access::WriteOnly if name.starts_with("read_image") => {
                Some("declare it `read_only`, or `read_write` if it is written too")
            }
            Access::ReadWrite if name.starts_with("read_image") => {
                Some("read it without a sampler, or declare it `read_only`")
            }
            _ => None,
        }
    }

    /// A call of `printf` that starts with a number: the fix inserts its format.
    fn missing_format(&self, diagnostic: Diagnostic, argument: &Expr) -> Diagnostic {
        if matches!(argument.kind, ExprKind::Const(_)) {
            return diagnostic
                .help("the first argument is the format, a string literal in double quotes (\")");
        }
        let diagnostic = diagnostic.help("the first argument is the format, a string literal");
        let Ty::Scalar(scalar) = *self.types.get(argument.ty) else { return diagnostic };
        let format = match scalar {
            Scalar::Long => "\"%ld\", ",
            Scalar::ULong => "\"%lu\", ",
            Scalar::Half | Scalar::Float | Scalar::Double => "\"%g\", ",
            Scalar::UInt => "\"%u\", ",
            _ => "\"%d\", ",
        };
        let pieces = [Piece::Text(format), Piece::Source(argument.span)];
        diagnostic.rewrite(argument.span, "insert the format", pieces)
    }

    fn report_access(&mut self, image: &Expr, help: &'static str, call: &Call) {
        let (name, shown) = (call.name, self.show(image.ty));
        self.report(
            Diagnostic::new(
                Code::ArgumentType,
                image.span,
                format!("`{name}` cannot access a `{shown}` with these arguments"),
            )
            .help(help)
            .note("OpenCL C 6.8: an image or a pipe is `read_only` if no access qualifier is declared"),
        );
    }
}

/// Adds a suggestion.
fn with_suggestion(diagnostic: Diagnostic, suggestion: Option<Suggestion>) -> Diagnostic {
    let Some(Suggestion { help, fix }) = suggestion else { return diagnostic };
    let mut diagnostic = diagnostic.help(help);
    diagnostic.fix = fix.or(diagnostic.fix);
    diagnostic
}

/// "1 argument", "2 or 3 arguments"
fn list_of_counts(counts: &[usize]) -> String {
    let numbers: Vec<String> = counts.iter().map(usize::to_string).collect();
    match numbers.as_slice() {
        [one] if one == "1" => "1 argument".into(),
        [init @ .., last] if !init.is_empty() => format!("{} or {last} arguments", init.join(", ")),
        _ => format!("{} arguments", numbers.join("")),
    }
}
