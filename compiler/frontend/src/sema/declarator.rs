//! Declarators: derive the type of a name from the type of the specifiers (C99 6.7.5).
//!
//! Pointee address spaces are determined here (OpenCL C 6.7.8). `placement` determines the address space of the
//! declared object.

use kiln_session::{
    diag::{Code, Diagnostic},
    extensions::Extension,
};
use kiln_syntax::{
    Span,
    ast::{self, ArraySize, DerivationKind, Ident},
};
use kiln_types::ty::{FunctionTy, QualTy, Scalar, Ty, TyId};
use kiln_vocabulary::opencl::AddressSpace;

use super::{Entity, Sema, TypedefProperties, attributes::Target};
use crate::hir::{Const, Local};

/// The result of a declarator.
#[derive(Clone, Debug)]
pub(crate) struct Declared {
    /// The name. `None` if abstract.
    pub(crate) name: Option<Ident>,
    /// The type. Has an address space only if one was written.
    pub(crate) ty: QualTy,
    /// The parameters, if this is a function declarator with its own parameter list.
    pub(crate) parameters: Option<Vec<Parameter>>,
    /// The span of the name, or of the declarator if abstract.
    pub(crate) span: Span,
}

/// A parameter of a function or a block.
#[derive(Clone, Debug)]
pub(crate) struct Parameter {
    /// Its name.
    pub(crate) name: Option<Ident>,
    /// Its type after adjustment (C99 6.7.5.3), with its qualifiers.
    pub(crate) ty: QualTy,
    /// Requested alignment.
    pub(crate) align: Option<u64>,
    /// Whether it may be unused.
    pub(crate) is_unused: bool,
    /// Properties of the specifiers beyond the type.
    pub(crate) typedef_properties: TypedefProperties,
    /// For a pointer whose pointee has no written address space: the start of the specifiers, where a fix can insert
    /// one.
    pub(crate) space_insertion: Option<Span>,
    /// Its span.
    pub(crate) span: Span,
}

impl Parameter {
    /// A parameter with only a name and a type.
    pub(crate) fn plain(name: Option<Ident>, ty: QualTy, span: Span) -> Self {
        let span = name.map_or(span, |name| name.span);
        Self {
            name,
            ty,
            align: None,
            is_unused: false,
            typedef_properties: TypedefProperties::default(),
            space_insertion: None,
            span,
        }
    }
}

/// The maximum size of an object. Sizes and offsets can be added without overflow.
const LARGEST_OBJECT: u64 = 1 << 47;

impl Sema<'_> {
    /// Applies a declarator to a base type.
    pub(crate) fn declarator(&mut self, base: QualTy, declarator: &ast::Declarator) -> Declared {
        if let Some(ast::Derivation { kind: DerivationKind::Array(array), span }) =
            declarator.derivations.first()
        {
            self.check_no_qualifiers(array, *span);
        }
        self.declared(base, declarator)
    }

    /// Like `declarator`, but the outermost brackets may contain pointer qualifiers, as in a parameter.
    fn declared(&mut self, base: QualTy, declarator: &ast::Declarator) -> Declared {
        let mut ty = base;
        let mut parameters = None;
        let mut of_block = None;
        for (index, derivation) in declarator.derivations.iter().enumerate().rev() {
            parameters = None;
            ty = match &derivation.kind {
                DerivationKind::Pointer(qualifiers, attributes) => {
                    self.attributes(*attributes, Target::TypeName);
                    let found = self.qualifiers(qualifiers);
                    let pointer = self.pointer_type(ty, derivation.span);
                    self.qualify(pointer, found)
                }
                DerivationKind::Block(qualifiers) => {
                    let found = self.qualifiers(qualifiers);
                    let mut block = self.block_to(ty, derivation.span);
                    block.quals.space = of_block.take();
                    self.qualify(block, found)
                }
                DerivationKind::Array(array) => {
                    let is_outermost = declarator.derivations[..index]
                        .iter()
                        .all(|derivation| !matches!(derivation.kind, DerivationKind::Array(_)));
                    if index != 0 {
                        self.check_no_qualifiers(array, derivation.span);
                    }
                    self.array_of(ty, array, is_outermost, derivation.span)
                }
                DerivationKind::Function(function) => {
                    let taken = self.parameters(function);
                    // In `constant int (^block)(int)`, the address space applies to the block (OpenCL C 6.14), not to
                    // its result.
                    let outer = declarator.derivations[..index].last();
                    if outer.is_some_and(|outer| matches!(outer.kind, DerivationKind::Block(_))) {
                        of_block = ty.quals.space.take();
                    }
                    let made = self.function_type(ty, &taken, derivation.span);
                    parameters = Some(taken);
                    // The parameters are not all known, so calls cannot be checked.
                    let is_wrong = function.variadic.is_some() || !function.old_style.is_empty();
                    if is_wrong { TyId::ERROR.plain() } else { made }
                }
            };
            ty = self.bounded(ty, derivation.span);
        }
        let span = declarator.name.map_or(declarator.span, |name| name.span);
        Declared { name: declarator.name, ty, parameters, span }
    }

    /// `*` (C99 6.7.5.1): not to functions, images, samplers, pipes or blocks (OpenCL C 6.11.a, 6.11.b, 6.15.18.1).
    fn pointer_type(&mut self, mut to: QualTy, span: Span) -> QualTy {
        let rejected = match self.types.get(to.ty) {
            Ty::Error => return to,
            Ty::Function(_) => {
                self.report(
                    Diagnostic::new(Code::FunctionPointer, span, "pointers to functions are not supported")
                        .help("choose with `switch` or `if` and call the functions by name")
                        .note("OpenCL C 6.11.a: pointers to functions are not allowed"),
                );
                return TyId::ERROR.plain();
            }
            Ty::Image(_) => {
                Some("OpenCL C 6.11.b: an image type cannot be used to declare a pointer to an image")
            }
            Ty::Sampler => Some("OpenCL C 6.11.b: the sampler type cannot be used to declare a pointer"),
            Ty::Pipe(..) => Some("OpenCL C 6.15.18.1: a pointer to a pipe is not allowed"),
            Ty::Block(_) => Some("OpenCL C 6.14.5: pointers to blocks are not allowed"),
            _ => None,
        };
        if let Some(note) = rejected {
            let shown = self.show(to.ty);
            self.report(
                Diagnostic::new(Code::OpaqueTypeUse, span, format!("there are no pointers to `{shown}`"))
                    .help("pass it by value")
                    .note(note),
            );
            return TyId::ERROR.plain();
        }
        if let (
            Ty::Event,
            Some(space @ (AddressSpace::Local | AddressSpace::Global | AddressSpace::Constant)),
        ) = (self.types.get(to.ty), to.quals.space)
        {
            self.report(
                Diagnostic::new(Code::OpaqueTypeUse, span, format!("an event cannot be in `{}` memory", space.spelling()))
                    .note("OpenCL C 6.11.r: the event type cannot be used with the `local`, `constant` and `global` address spaces"),
            );
            return TyId::ERROR.plain();
        }
        if to.quals.space.is_none() {
            to.quals.space = Some(self.default_pointee_space());
        }
        self.types.pointer(to).plain()
    }

    /// `^` (OpenCL C 6.14): a block is derived from a function type.
    fn block_to(&mut self, to: QualTy, span: Span) -> QualTy {
        if !self.has_blocks(span) {
            return TyId::ERROR.plain();
        }
        match self.types.get(to.ty) {
            Ty::Error => to,
            Ty::Function(function) => {
                let function = function.clone();
                self.types.intern(Ty::Block(function)).plain()
            }
            _ => {
                self.report(
                    Diagnostic::new(Code::BlockType, span, "a block is declared like a function")
                        .help("write the parameters, as in `int (^name)(int)`")
                        .note("OpenCL C 6.14.2"),
                );
                TyId::ERROR.plain()
            }
        }
    }

    /// `[…]` (C99 6.7.5.2).
    fn array_of(
        &mut self,
        element: QualTy,
        array: &ast::ArrayDerivation,
        is_outermost: bool,
        span: Span,
    ) -> QualTy {
        let count = match &array.size {
            ArraySize::Unspecified => Some(None),
            ArraySize::Star => {
                self.report_variable_length(span);
                None
            }
            ArraySize::Expr(expr) => self.array_length(expr).map(Some),
        };
        if !self.check_element(element, span) {
            return TyId::ERROR.plain();
        }
        let Some(count) = count else { return TyId::ERROR.plain() };
        if count.is_none() && !is_outermost {
            self.report(
                Diagnostic::new(Code::ArraySize, span, "only the first length of an array can be left out")
                    .note("C99 6.7.5.2: the elements of an array have complete types"),
            );
            return TyId::ERROR.plain();
        }
        let size = self.types.size_of(element.ty).unwrap_or(1);
        if count.is_some_and(|count| count.checked_mul(size).is_none_or(|size| size > LARGEST_OBJECT)) {
            self.report(Diagnostic::new(Code::ArraySize, span, "this array is too large"));
            return TyId::ERROR.plain();
        }
        let space = element.quals.space;
        let mut element = element;
        element.quals.space = None;
        let mut ty = self.types.intern(Ty::Array(element, count)).plain();
        ty.quals.space = space;
        ty
    }

    /// C99 6.7.5.2: qualifiers and `static` are only allowed in the outermost brackets of a parameter.
    fn check_no_qualifiers(&mut self, array: &ast::ArrayDerivation, span: Span) {
        let qualifier = array.qualifiers.first().map(|qualifier| qualifier.span);
        if let Some(span) = qualifier.or_else(|| array.is_static.then_some(span)) {
            self.report(
                Diagnostic::new(
                    Code::QualifierTarget,
                    span,
                    "only parameters can have qualifiers in brackets",
                )
                .note(
                    "C99 6.7.5.2: qualifiers and `static` appear only in the outermost array of a parameter",
                ),
            );
        }
    }

    /// Whether a type can be an array element (C99 6.7.5.2, OpenCL C 6.11.b, 6.14.5).
    fn check_element(&mut self, element: QualTy, span: Span) -> bool {
        let note = match self.types.get(element.ty) {
            Ty::Error => return false,
            Ty::Image(_) => "OpenCL C 6.11.b: an image type cannot be used to declare an array of images",
            Ty::Sampler => "OpenCL C 6.11.b: the sampler type cannot be used to declare an array of samplers",
            Ty::Pipe(..) => "OpenCL C 6.15.18.1: a pipe can only be an argument of a function",
            Ty::Block(_) => "OpenCL C 6.14.5: arrays of blocks are not supported",
            Ty::Void | Ty::Function(_) => "C99 6.7.5.2: the elements of an array have an object type",
            _ if !self.types.is_complete(element.ty) => {
                "C99 6.7.5.2: the elements of an array have complete types"
            }
            _ => return true,
        };
        if matches!(self.types.get(element.ty), Ty::Array(_, None)) {
            self.report(
                Diagnostic::new(Code::ArraySize, span, "only the first length of an array can be left out")
                    .note(note),
            );
            return false;
        }
        let shown = self.show(element.ty);
        self.report(
            Diagnostic::new(Code::ArrayElement, span, format!("there are no arrays of `{shown}`")).note(note),
        );
        false
    }

    /// The length of an array. Must be constant: there are no variable-length arrays (OpenCL C 6.11.d).
    fn array_length(&mut self, expr: &ast::Expr) -> Option<u64> {
        let value = self.value(expr);
        if value.ty == TyId::ERROR {
            return None;
        }
        let signed = match self.types.components(value.ty) {
            Some((scalar, 1)) if !scalar.is_float() => scalar.is_signed(),
            _ => {
                let shown = self.show(value.ty);
                self.report(
                    Diagnostic::new(
                        Code::ArraySize,
                        expr.span,
                        format!("the length of an array is an integer, not `{shown}`"),
                    )
                    .note("C99 6.7.5.2"),
                );
                return None;
            }
        };
        let Some(Const::Int(length)) = self.constant(&value) else {
            self.report_variable_length(expr.span);
            return None;
        };
        if signed && (length as i64) < 0 {
            self.report(
                Diagnostic::new(
                    Code::ArraySize,
                    expr.span,
                    format!("the length of an array cannot be {}", length as i64),
                )
                .note("C99 6.7.5.2: the length is greater than zero"),
            );
            return None;
        }
        if length == 0 {
            self.report_zero_size(expr.span);
        }
        Some(length)
    }

    pub(super) fn report_zero_size(&mut self, span: Span) {
        self.report(
            Diagnostic::new(Code::ZeroSizeArray, span, "this array has no elements")
                .note("C99 6.7.5.2: the length is greater than zero"),
        );
    }

    fn report_variable_length(&mut self, span: Span) {
        self.report(
            Diagnostic::new(Code::VariableLengthArray, span, "the length of an array must be a constant")
                .help("use a macro, an enumerator or a number; the host can choose the size of a `local` pointer argument")
                .note("OpenCL C 6.11.d: variable length arrays are not supported"),
        );
    }

    /// The parameters of a function declarator (C99 6.7.5.3), in their own scope.
    pub(crate) fn parameters(&mut self, function: &ast::FunctionDerivation) -> Vec<Parameter> {
        if let Some(span) = function.variadic {
            self.report(
                Diagnostic::new(
                    Code::VariadicFunction,
                    span,
                    "a function cannot have variable arguments",
                )
                .help("declare the parameters, or use a macro with `...` and `__VA_ARGS__`")
                .note(
                    "OpenCL C 6.11.e: variadic functions are not supported, with the exception of `printf`",
                ),
            );
        }
        if let Some(name) = function.old_style.first() {
            self.report(
                Diagnostic::new(Code::OldStyleFunction, name.span, "this parameter has no type")
                    .help("write the type before the name")
                    .note("OpenCL C 6.11.g: functions have prototypes"),
            );
        }
        self.scopes.push();
        let mut parameters: Vec<Parameter> = Vec::with_capacity(function.parameters.len());
        for parameter in function.parameters {
            if has_computed_length(&parameter.declarator) {
                self.name_in_lengths(&parameters);
            }
            if let Some(parameter) = self.parameter(parameter, function.parameters.len() == 1) {
                parameters.push(parameter);
            }
        }
        self.scopes.pop();
        parameters
    }

    /// Declares parameters for use in the array lengths of later ones (C99 6.2.1). Their values are never read there,
    /// so they do not belong to a function.
    fn name_in_lengths(&mut self, parameters: &[Parameter]) {
        for parameter in parameters {
            let Some(name) = parameter.name else { continue };
            if self.scopes.lookup_innermost(name.node).is_none() {
                let (ty, align, span) = (parameter.ty, parameter.align, parameter.span);
                let (function, local) = self.local_here(Local { name: Some(name.node), ty, align, span });
                self.scopes.declare(name.node, Entity::Local(function, local), name.span);
            }
        }
    }

    /// A parameter. `None` for `(void)`.
    fn parameter(&mut self, parameter: &ast::Parameter, is_only: bool) -> Option<Parameter> {
        let specified = self.specifiers(&parameter.specifiers);
        self.no_storage(&specified, "a parameter");
        let declared = self.declared(specified.ty, &parameter.declarator);
        let all = parameter.specifiers.attributes.iter().chain(parameter.declarator.attributes);
        let typedef_properties = specified.typedef_properties_of(&parameter.declarator);
        let attributes = self.attributes(all, Target::Parameter(declared.ty.ty));
        let span = declared.name.map_or(parameter.span, |name| name.span);
        let is_pointer = matches!(parameter.declarator.derivations, [only] if matches!(only.kind, DerivationKind::Pointer(..) | DerivationKind::Array(_)));
        let start = parameter.specifiers.span.lo;
        let space_insertion =
            (is_pointer && specified.ty.quals.space.is_none()).then(|| Span::new(start, start));
        let made = |ty| Parameter {
            name: declared.name,
            ty,
            align: attributes.aligned.or(typedef_properties.align),
            is_unused: attributes.is_unused,
            typedef_properties,
            space_insertion,
            span,
        };
        let mut ty = declared.ty;
        match *self.types.get(ty.ty) {
            Ty::Void if is_only && declared.name.is_none() && ty.quals.is_empty() => return None,
            Ty::Void => {
                self.report(
                    Diagnostic::new(
                        Code::IncompleteType,
                        parameter.span,
                        "a parameter cannot have type `void`",
                    )
                    .note("C99 6.7.5.3"),
                );
                return Some(made(TyId::ERROR.plain()));
            }
            // C99 6.7.5.3: an array becomes a pointer to its element, qualified as in the brackets.
            Ty::Array(mut element, _) => {
                element.quals.space = ty.quals.space;
                ty = self.pointer_type(element, parameter.span);
                if let Some(derivation) = parameter.declarator.derivations.first()
                    && let DerivationKind::Array(array) = &derivation.kind
                {
                    let found = self.qualifiers(array.qualifiers);
                    ty = self.qualify(ty, found);
                }
            }
            Ty::Function(_) => ty = self.pointer_type(ty, parameter.span),
            _ => {}
        }
        if !self.check_parameter(ty, parameter.span) {
            return Some(made(TyId::ERROR.plain()));
        }
        if !self.check_parameter_space(ty, parameter.span) {
            return Some(made(TyId::ERROR.plain()));
        }
        Some(made(ty.in_space(AddressSpace::Private)))
    }

    /// Checks the address space of a parameter. Returns whether the parameter can have it.
    fn check_parameter_space(&mut self, ty: QualTy, span: Span) -> bool {
        let Some(space) = ty.quals.space else { return true };
        if space == AddressSpace::Private {
            if matches!(self.types.get(ty.ty), Ty::Image(_)) {
                self.report(
                    Diagnostic::new(Code::AddressSpacePlacement, span, "an image cannot be `private`")
                        .help("leave `private` out")
                        .note(
                            "OpenCL C 6.11.b: an image type cannot be used with an address space qualifier",
                        ),
                );
            }
            return true;
        }
        let word = space.spelling();
        self.report(
            Diagnostic::new(
                Code::AddressSpacePlacement,
                span,
                format!("a parameter is in private memory and cannot be `{word}`"),
            )
            .help(format!(
                "if a pointer is meant, write `{word}` before the type that it points to and a `*`"
            ))
            .note("OpenCL C 6.7: address spaces cannot be used with a function parameter"),
        );
        false
    }

    /// Checks that a parameter can have a type: not `half` without its extension, and not a block.
    fn check_parameter(&mut self, ty: QualTy, span: Span) -> bool {
        if self.is_storage_only(ty.ty) {
            self.report_half("a parameter", span);
            return false;
        }
        self.warn_half_not_enabled(ty.ty, span);
        if let Ty::Block(_) = self.types.get(ty.ty) {
            self.report(
                Diagnostic::new(Code::BlockType, span, "a block cannot be a parameter of a function")
                    .note("OpenCL C 6.14.5: a block cannot be a return value or a parameter of a function"),
            );
            return false;
        }
        true
    }

    /// OpenCL C 6.11.n: `half` is only a storage format.
    pub(crate) fn report_half(&mut self, what: &str, span: Span) {
        self.report(
            Diagnostic::new(Code::HalfStorage, span, format!("{what} cannot have type `half`"))
                .help("use `float`, and `vload_half` and `vstore_half` for memory")
                .note("OpenCL C 6.3.1.2: without `cl_khr_fp16`, `half` can only be pointed to"),
        );
    }

    /// The type of a function with these parameters (C99 6.7.5.3).
    fn function_type(&mut self, result: QualTy, parameters: &[Parameter], span: Span) -> QualTy {
        let result = self.function_result(result, span);
        let parameters = parameters.iter().map(|parameter| parameter.ty.ty.plain()).collect();
        self.types.intern(Ty::Function(FunctionTy { result, parameters, is_variadic: false })).plain()
    }

    /// Checks the result type of a function (C99 6.7.5.3; OpenCL C 6.7, 6.11.b, 6.14.5).
    fn function_result(&mut self, mut result: QualTy, span: Span) -> QualTy {
        if let Some(space) = result.quals.space.take()
            && result.ty != TyId::ERROR
        {
            let word = space.spelling();
            self.report(
                Diagnostic::new(
                    Code::AddressSpacePlacement,
                    span,
                    format!("the result of a function has no address space and cannot be `{word}`"),
                )
                .help(format!("leave `{word}` out, or return a pointer"))
                .note("OpenCL C 6.7: address spaces cannot be used with a return type"),
            );
        }
        let note = match self.types.get(result.ty) {
            Ty::Array(..) | Ty::Function(_) => {
                "C99 6.7.5.3: a function returns neither an array nor a function"
            }
            Ty::Image(_) => "OpenCL C 6.11.b: an image type cannot be the return type of a function",
            Ty::Sampler => "OpenCL C 6.11.b: the sampler type cannot be the return type of a function",
            Ty::Pipe(..) => "OpenCL C 6.15.18.1: a pipe can only be an argument of a function",
            Ty::Block(_) => "OpenCL C 6.14.5: a block cannot be a return value of a function",
            Ty::Scalar(Scalar::Half) if self.is_storage_only(result.ty) => {
                self.report_half("the result of a function", span);
                return TyId::ERROR.plain();
            }
            _ => {
                self.warn_half_not_enabled(result.ty, span);
                return result.ty.plain();
            }
        };
        let shown = self.show(result.ty);
        self.report(
            Diagnostic::new(Code::FunctionResult, span, format!("a function cannot return `{shown}`"))
                .note(note),
        );
        TyId::ERROR.plain()
    }

    /// Whether pointers without an address space are generic (OpenCL C 6.7.5).
    pub(crate) fn has_generic(&self) -> bool {
        self.extensions.has(Extension::GenericAddressSpace)
    }

    /// Whether variables at program scope can be in the global address space (OpenCL C 6.7.6).
    pub(crate) fn has_program_scope_variables(&self) -> bool {
        self.extensions.has(Extension::ProgramScopeVariables)
    }
}

/// Whether the length of an array is more than a literal.
fn has_computed_length(declarator: &ast::Declarator) -> bool {
    declarator.derivations.iter().any(|derivation| match &derivation.kind {
        DerivationKind::Array(array) => {
            matches!(&array.size, ArraySize::Expr(size) if !matches!(size.kind, ast::ExprKind::Integer(_)))
        }
        _ => false,
    })
}
