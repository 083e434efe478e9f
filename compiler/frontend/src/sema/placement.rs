//! Address spaces of objects: explicit ones, inferred ones, and where each may be declared (OpenCL C 6.7.6, 6.7.8,
//! 6.10, 6.11).

use kiln_session::diag::{Code, Diagnostic};
use kiln_syntax::{Span, Spanned, ast::Storage};
use kiln_types::ty::{QualTy, Ty, TyId};
use kiln_vocabulary::opencl::AddressSpace;

use super::Sema;

/// A variable declaration.
#[derive(Clone, Copy)]
pub(crate) struct Variable<'n> {
    pub(crate) name: &'n str,
    pub(crate) ty: QualTy,
    pub(crate) storage: Option<Spanned<Storage>>,
    pub(crate) span: Span,
}

impl Sema<'_> {
    /// The address space of a variable at program scope, or of a `static` or `extern` variable of a function: global
    /// or constant (OpenCL C 6.7.6, 6.10). Reports an invalid declaration and returns `None`.
    pub(crate) fn static_address_space(&mut self, variable: Variable<'_>) -> Option<AddressSpace> {
        let context =
            if self.scopes.at_program_scope() { "at program scope" } else { "with this storage class" };
        match variable.ty.quals.space {
            Some(AddressSpace::Constant) => Some(AddressSpace::Constant),
            Some(AddressSpace::Global) if self.has_program_scope_variables() => Some(AddressSpace::Global),
            Some(space @ (AddressSpace::Local | AddressSpace::Private | AddressSpace::Generic)) => {
                let word = space.spelling();
                let mut diagnostic = Diagnostic::new(
                    Code::AddressSpacePlacement,
                    variable.span,
                    format!("`{}` cannot be `{word}` {context}", variable.name),
                )
                .note("OpenCL C 6.7.6, 6.10: objects that live as long as the program are `constant` or `global`");
                if space == AddressSpace::Local {
                    diagnostic = diagnostic.help(
                        "declare it in the outermost block of a kernel, or take a pointer whose size the host sets",
                    );
                }
                self.report(diagnostic);
                None
            }
            None if self.has_no_space(variable.ty.ty) => Some(AddressSpace::Constant),
            None if self.has_program_scope_variables() => Some(AddressSpace::Global),
            None | Some(AddressSpace::Global) => {
                self.report(
                    Diagnostic::new(
                        Code::AddressSpaceRequired,
                        variable.span,
                        format!("`{}` must be `constant` {context}", variable.name),
                    )
                    .help("write `constant` before its type")
                    .note("OpenCL C 6.7.6: variables in global memory need OpenCL C 2.0 or `__opencl_c_program_scope_global_variables`"),
                );
                None
            }
        }
    }

    /// The address space of a variable of a function (OpenCL C 6.7.6). Reports an invalid declaration and returns
    /// `None`.
    pub(crate) fn automatic_address_space(&mut self, variable: Variable<'_>) -> Option<AddressSpace> {
        let (name, span) = (variable.name, variable.span);
        let space = match variable.ty.quals.space {
            None | Some(AddressSpace::Private) => return Some(AddressSpace::Private),
            Some(space) => space,
        };
        let word = space.spelling();
        if space == AddressSpace::Global {
            self.report(
                Diagnostic::new(
                    Code::AddressSpacePlacement,
                    span,
                    format!("`{name}` cannot be `global` in a function unless it is `static` or `extern`"),
                )
                .help("add `static`, or declare it at program scope")
                .note("OpenCL C 6.7.6, 6.10: variables in global memory live as long as the program"),
            );
            return None;
        }
        if space == AddressSpace::Generic {
            self.report(
                Diagnostic::new(
                    Code::AddressSpacePlacement,
                    span,
                    format!("`{name}` is an object, and an object cannot be in the generic address space"),
                )
                .help("only what a pointer points to can be generic")
                .note("OpenCL C 6.7.5: the generic address space overlaps the named ones"),
            );
            return None;
        }
        if self.body.is_outermost_of_kernel(self.scopes.depth()) {
            return Some(space);
        }
        let mut diagnostic = Diagnostic::new(
            Code::AddressSpacePlacement,
            span,
            format!("`{name}` can only be `{word}` in the outermost block of a kernel"),
        )
        .note("OpenCL C 6.7.6: `local` and `constant` variables are declared in the outermost compound statement of a kernel");
        diagnostic = match space {
            AddressSpace::Local if self.body.is_kernel => {
                diagnostic.help("move it to the beginning of the kernel")
            }
            AddressSpace::Local => diagnostic.help("declare it in the kernel and pass a `local` pointer"),
            _ => diagnostic.help("add `static`, or declare it at program scope"),
        };
        self.report(diagnostic);
        None
    }

    /// Whether objects of this type have no address space.
    fn has_no_space(&self, ty: TyId) -> bool {
        matches!(self.types.get(ty), Ty::Sampler | Ty::Block(_) | Ty::Error)
    }

    /// Whether the type is one of the Other Built-in Data Types (OpenCL C 6.3.3), or a block.
    pub(crate) fn is_opaque(&self, ty: TyId) -> bool {
        matches!(
            self.types.get(ty),
            Ty::Image(_)
                | Ty::Pipe(..)
                | Ty::Sampler
                | Ty::Event
                | Ty::Queue
                | Ty::ClkEvent
                | Ty::ReserveId
                | Ty::NdRange
                | Ty::Block(_)
        )
    }

    /// Reports a variable with a type that is not allowed here (OpenCL C 6.11.b, r, s, w; 6.14.5; 6.15.18.1).
    pub(crate) fn check_variable_type(&mut self, variable: Variable<'_>) -> bool {
        let is_static = self.scopes.at_program_scope() || variable.storage.is_some();
        let element = self.element_type(variable.ty.ty);
        let space = variable.ty.quals.space.filter(|space| *space != AddressSpace::Private);
        let note = match self.types.get(element) {
            Ty::Error => return false,
            Ty::Void => {
                self.report(
                    Diagnostic::new(
                        Code::IncompleteType,
                        variable.span,
                        "a variable cannot have type `void`",
                    )
                    .note("C99 6.7"),
                );
                return false;
            }
            Ty::Image(_) => {
                "OpenCL C 6.11.b: an image type can only be used as the type of a function argument"
            }
            Ty::Pipe(..) => "OpenCL C 6.15.18.1: a pipe can only be an argument of a function",
            Ty::Event if is_static => {
                "OpenCL C 6.11.r: the event type cannot be used to declare a program scope variable"
            }
            Ty::Event if space.is_some() => {
                "OpenCL C 6.11.r: the event type cannot be used with the `local`, `constant` and `global` address spaces"
            }
            Ty::ClkEvent | Ty::ReserveId if is_static => {
                "OpenCL C 6.11.s: `clk_event_t` and `reserve_id_t` cannot be declared in program scope"
            }
            Ty::Queue | Ty::NdRange if is_static => {
                "OpenCL C 6.11.w: program scope variables cannot have the other built-in data types"
            }
            Ty::Sampler if space.is_some_and(|space| space != AddressSpace::Constant) => {
                "OpenCL C 6.11.b: the sampler type cannot be used with the `local` and `global` address spaces"
            }
            Ty::Sampler
                if space.is_none() && self.scopes.at_program_scope() && !variable.ty.quals.is_const =>
            {
                self.report(
                    Diagnostic::new(
                        Code::OpaqueTypeUse,
                        variable.span,
                        format!(
                            "the sampler `{}` at program scope is neither `const` nor `constant`",
                            variable.name
                        ),
                    )
                    .help("make it `constant`")
                    .fix(variable.span, "make it `constant`", format!("constant {}", variable.name))
                    .note("OpenCL C 6.15.15.1: samplers can be declared as global constants"),
                );
                return false;
            }
            _ => return self.check_half(variable),
        };
        let shown = self.show(element);
        let what = match space {
            Some(space) => format!("a `{}` variable", space.spelling()),
            None if is_static => "a variable that lives as long as the program".to_owned(),
            None => "a variable".to_owned(),
        };
        self.report(
            Diagnostic::new(Code::OpaqueTypeUse, variable.span, format!("{what} cannot have type `{shown}`"))
                .note(note),
        );
        false
    }

    fn check_half(&mut self, variable: Variable<'_>) -> bool {
        let element = self.element_type(variable.ty.ty);
        if self.is_storage_only(element) {
            self.report_half("a variable", variable.span);
            return false;
        }
        self.warn_half_not_enabled(element, variable.span);
        true
    }
}
