//! Rules for kernels (OpenCL C 6.9.1, 6.9.2, 6.11.a, b, l, m, r, s).

use super::{Sema, attributes::Attributes, declarator::Parameter, specifiers::Specified};
use kiln_session::diag::{Code, Diagnostic};
use kiln_types::ty::{QualTy, RecordId, Scalar, Ty, TyId};
use kiln_vocabulary::opencl::{AddressSpace, LanguageVersion, MAX_ARGUMENT_SIZE};

use crate::hir::{ArgumentInfo, FunctionId, Kernel};

/// Why a type is not allowed for a kernel argument.
struct Rejection {
    message: String,
    help: Option<&'static str>,
    note: &'static str,
    /// Whether a pointer lacks an address space.
    is_space: bool,
}

impl Sema<'_> {
    /// Makes a function with the `kernel` qualifier a kernel, with its attributes.
    pub(super) fn kernel_attributes(
        &mut self,
        id: FunctionId,
        specified: &Specified,
        attributes: &Attributes,
    ) {
        let Some(span) = specified.kernel else { return };
        if let Some(storage) = specified.storage
            && storage.node == kiln_syntax::ast::Storage::Static
        {
            self.report(
                Diagnostic::new(Code::StorageClass, storage.span, "a kernel cannot be `static`")
                    .help("leave `static` out: the host finds kernels by their name")
                    .remove(storage.span, "remove `static`")
                    .note("OpenCL C 6.10: `static` can only be used for non-kernel functions"),
            );
        }
        let result = self.module.functions[id].result;
        if result != TyId::VOID && result != TyId::ERROR {
            let shown = self.show(result);
            self.report(
                Diagnostic::new(Code::KernelResult, span, format!("a kernel returns `void`, not `{shown}`"))
                    .help("write the result through a pointer to global memory")
                    .note("OpenCL C 6.11.l: the return type of a kernel function must be void"),
            );
        }
        let name_span = self.module.functions[id].span;
        let kernel = self.module.functions[id].kernel.get_or_insert_with(Kernel::default);
        let mut conflicts = false;
        let mut merge_size = |known: &mut Option<[u32; 3]>, new: Option<[u32; 3]>| {
            conflicts |= known.is_some() && new.is_some() && *known != new;
            *known = new.or(*known);
        };
        merge_size(&mut kernel.required_size, attributes.required_size);
        merge_size(&mut kernel.size_hint, attributes.size_hint);
        kernel.vec_type_hint = attributes.vec_type_hint.or(kernel.vec_type_hint);
        if conflicts {
            self.report(
                Diagnostic::new(
                    Code::AttributeConflict,
                    span,
                    "another declaration of this kernel has a different size",
                )
                .also(name_span, "the other declaration"),
            );
        }
    }

    /// Checks the arguments of a kernel definition, and records information for the host. An invalid argument gets
    /// the error type, so that its uses are not reported.
    pub(super) fn check_kernel(&mut self, id: FunctionId, parameters: &[Parameter]) {
        let mut arguments = Vec::with_capacity(parameters.len());
        let locals = self.module.functions[id].parameters.clone();
        for (parameter, local) in parameters.iter().zip(locals) {
            if let Some(rejection) = self.reject_argument(parameter) {
                self.module.functions[id].locals[local].ty = TyId::ERROR.plain();
                let mut diagnostic = Diagnostic::new(Code::KernelArgument, parameter.span, rejection.message)
                    .note(rejection.note);
                if let Some(help) = rejection.help {
                    diagnostic = diagnostic.help(help);
                }
                if let Some(start) = parameter.space_insertion.filter(|_| rejection.is_space) {
                    diagnostic = diagnostic.fix(start, "write `global`", "global ");
                }
                self.report(diagnostic);
            }
            arguments.push(self.argument_info(parameter.ty));
        }
        if let Some(kernel) = &mut self.module.functions[id].kernel {
            kernel.arguments = arguments;
        }
    }

    /// The information for `clGetKernelArgInfo`: the type without the pointee's qualifiers.
    fn argument_info(&self, ty: QualTy) -> ArgumentInfo {
        if let Ty::Pointer(to) = *self.types.get(ty.ty) {
            let mut quals = to;
            quals.quals.is_restrict = ty.quals.is_restrict;
            return ArgumentInfo { type_name: format!("{}*", self.show(to.ty)), quals };
        }
        // The access of an image is reported separately from its type (OpenCL API 5.9.4).
        let shown = self.show(ty.ty);
        let type_name = match self.types.get(ty.ty) {
            Ty::Image(_) => shown.rsplit(' ').next().unwrap_or(&shown).to_owned(),
            _ => shown,
        };
        ArgumentInfo { type_name, quals: ty }
    }

    /// Why a kernel cannot take this argument. `None` if it can.
    fn reject_argument(&self, parameter: &Parameter) -> Option<Rejection> {
        const HOST_SIZE: &str = "OpenCL C 6.11.m: arguments of kernels, and their members, cannot be `bool`, `size_t`, `ptrdiff_t`, `intptr_t` or `uintptr_t`";
        let ty = parameter.ty.ty;
        let (message, help, note) = match self.types.get(ty) {
            Ty::Pointer(to) => return self.reject_pointer(*to),
            Ty::Event => (
                "a kernel cannot take an event".to_owned(),
                None,
                "OpenCL C 6.11.r: the event type cannot be used as the type of a kernel function argument",
            ),
            Ty::ClkEvent | Ty::NdRange | Ty::ReserveId => (
                format!("a kernel that the host enqueues cannot take `{}`", self.show(ty)),
                None,
                "OpenCL C 6.11.s: `clk_event_t`, `ndrange_t` and `reserve_id_t` cannot be arguments of such kernels",
            ),
            Ty::Scalar(Scalar::Bool) => {
                ("a kernel cannot take a `bool`".to_owned(), Some("use `int` or `uchar`"), HOST_SIZE)
            }
            Ty::Scalar(_) if parameter.typedef_properties.is_host_sized => (
                "a kernel cannot take a type of device-dependent size".to_owned(),
                Some("use `uint`, `ulong` or `long`"),
                HOST_SIZE,
            ),
            Ty::Record(id) if self.has_host_sized_member(*id) => (
                format!(
                    "a kernel cannot take `{}`, which has a member of device-dependent size",
                    self.show(ty)
                ),
                Some("use `int`, `ulong` or `long` for the member"),
                HOST_SIZE,
            ),
            Ty::Record(id) if self.options.std < LanguageVersion::Cl20 && self.has_pointer_member(*id) => (
                format!("a kernel cannot take `{}`, which has a pointer as a member", self.show(ty)),
                Some("pass the pointer as an argument of its own"),
                "OpenCL C 6.11.a: before OpenCL C 2.0 the host has no device addresses to store there",
            ),
            _ => {
                let size = self.types.size_of(ty).filter(|size| *size > MAX_ARGUMENT_SIZE)?;
                (
                    format!("an argument of {size} bytes is too large for a kernel"),
                    Some("pass a pointer to a buffer"),
                    "OpenCL API 4.2: CL_DEVICE_MAX_PARAMETER_SIZE is at least 1024 bytes; Kiln compiles at most 65536",
                )
            }
        };
        Some(Rejection { message, help, note, is_space: false })
    }

    /// Whether a record has a member, at any depth, whose size on the host is unknown (OpenCL C 6.11.m).
    fn has_host_sized_member(&self, id: RecordId) -> bool {
        self.tags.host_sized.contains(&id)
            || self.types.records[id].fields.iter().flatten().any(|field| {
                match *self.types.get(self.element_type(field.ty.ty)) {
                    Ty::Scalar(Scalar::Bool) => true,
                    Ty::Record(inner) => self.has_host_sized_member(inner),
                    _ => false,
                }
            })
    }

    /// Whether a record has a pointer member, at any depth.
    fn has_pointer_member(&self, id: RecordId) -> bool {
        self.has_member(id, &|ty| matches!(self.types.get(ty), Ty::Pointer(_)))
    }

    /// OpenCL C 6.11.a, 6.7.6: the address spaces allowed for pointers that the host passes.
    fn reject_pointer(&self, to: QualTy) -> Option<Rejection> {
        match to.quals.space {
            Some(AddressSpace::Global | AddressSpace::Constant | AddressSpace::Local) => {}
            _ => {
                return Some(Rejection {
                    message: "a pointer argument of a kernel must have a named address space".into(),
                    help: Some("write `global`, `local` or `constant` before the type that it points to"),
                    note: "OpenCL C 6.7.6, 6.11.a: it points to `global`, `local` or `constant`",
                    is_space: true,
                });
            }
        }
        let is_nested = matches!(self.types.get(to.ty), Ty::Pointer(_));
        (is_nested && self.options.std < LanguageVersion::Cl20).then(|| Rejection {
            message: "a kernel cannot take a pointer to a pointer".into(),
            help: None,
            note: "OpenCL C 6.11.a: not allowed before OpenCL C 2.0",
            is_space: false,
        })
    }
}
