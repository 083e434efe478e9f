//! `__attribute__`: the meaning of each attribute, and where it is allowed (OpenCL C 6.9.2, 6.13).
//!
//! Converts attributes to data and reports misplaced ones. The callers implement their effects.

use kiln_session::diag::{Code, Diagnostic, Piece};
use kiln_syntax::{
    Span,
    ast::{self, Argument},
};
use kiln_types::ty::{Scalar, Ty, TyId};
use kiln_vocabulary::opencl::{AddressSpace, MAX_TYPE_ALIGNMENT};

use super::Sema;

/// The rule for the attributes that make vectors.
const VECTOR_LENGTHS: &str = "OpenCL C 6.3.2: vectors have 2, 3, 4, 8 or 16 components";

/// The construct that an attribute applies to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    /// A type name, outside a declaration.
    TypeName,
    /// The definition of a `struct` or `union`.
    Record,
    /// An `enum`.
    Enum,
    /// A member of this type.
    Member(TyId),
    /// A parameter of this type.
    Parameter(TyId),
    /// A variable of this type.
    Variable(TyId),
    /// A typedef.
    Typedef,
    /// A function other than a kernel.
    Function,
    /// A kernel.
    Kernel,
    /// A loop.
    Loop,
    /// Any other statement.
    Statement,
}

/// The attributes of one construct.
#[derive(Clone, Debug, Default)]
pub(crate) struct Attributes {
    /// `aligned`, in bytes.
    pub(crate) aligned: Option<u64>,
    /// `packed`
    pub(crate) packed: Option<Span>,
    /// `reqd_work_group_size`
    pub(crate) required_size: Option<[u32; 3]>,
    /// `work_group_size_hint`
    pub(crate) size_hint: Option<[u32; 3]>,
    /// `vec_type_hint`
    pub(crate) vec_type_hint: Option<TyId>,
    /// `opencl_unroll_hint`: `Some(0)` without a number.
    pub(crate) unroll: Option<u32>,
    /// `ext_vector_type(n)` of clang.
    pub(crate) vector_length: Option<u8>,
    /// `vector_size(bytes)` of GNU C, with its position.
    pub(crate) vector_bytes: Option<(i128, Span)>,
    /// clang's `overloadable`: other functions may have the same name.
    pub(crate) is_overloadable: bool,
    /// `unused`: do not warn if it is unused.
    pub(crate) is_unused: bool,
}

/// The largest alignment that can be requested.
const ALIGNMENT_LIMIT: i128 = 1 << 20;

/// Attributes of GNU C and vendors that real kernels use and that have no effect here.
const HARMLESS: &[&str] = &[
    "always_inline",
    "amdgpu_flat_work_group_size",
    "amdgpu_num_sgpr",
    "amdgpu_num_vgpr",
    "amdgpu_waves_per_eu",
    "artificial",
    "cold",
    "const",
    "convergent",
    "deprecated",
    "fallthrough",
    "flatten",
    "gnu_inline",
    "hot",
    "inline",
    "leaf",
    "malloc",
    "may_alias",
    "max_global_work_dim",
    "minsize",
    "noclone",
    "nodebug",
    "noduplicate",
    "noinline",
    "nonnull",
    "nothrow",
    "opencl_accelerator",
    "optnone",
    "pure",
    "returns_nonnull",
    "used",
    "visibility",
    "warn_unused_result",
    "weak",
];

impl Sema<'_> {
    /// Checks the attributes of a construct.
    pub(crate) fn attributes<'t>(
        &mut self,
        list: impl IntoIterator<Item = &'t ast::Attribute<'t>>,
        target: Target,
    ) -> Attributes {
        let mut found = Attributes::default();
        for attribute in list {
            self.attribute(attribute, target, &mut found);
        }
        found
    }

    fn attribute(&mut self, attribute: &ast::Attribute, target: Target, found: &mut Attributes) {
        let name = self.text(attribute.name.node).to_owned();
        let name = name.strip_prefix("__").and_then(|name| name.strip_suffix("__")).unwrap_or(&name);
        match name {
            "aligned" => self.aligned(attribute, target, found),
            "_Alignas" => {
                self.report_c11("`_Alignas`", attribute.span);
                self.aligned(attribute, target, found);
            }
            "packed" => self.packed(attribute, target, found),
            "endian" => self.endian(attribute, target),
            "nosvm" => self.nosvm(attribute, target),
            "reqd_work_group_size" if self.is_for_kernels(attribute, target) => {
                let size = self.work_group_size(attribute);
                self.set_once(&mut found.required_size, size, attribute);
            }
            "work_group_size_hint" if self.is_for_kernels(attribute, target) => {
                let size = self.work_group_size(attribute);
                self.set_once(&mut found.size_hint, size, attribute);
            }
            "vec_type_hint" if self.is_for_kernels(attribute, target) => {
                let ty = self.vec_type_hint(attribute);
                self.set_once(&mut found.vec_type_hint, ty, attribute);
            }
            "reqd_work_group_size" | "work_group_size_hint" | "vec_type_hint" => {}
            "opencl_unroll_hint" => self.unroll_hint(attribute, target, found),
            "ext_vector_type" if target == Target::Typedef => self.vector_length(attribute, found),
            "vector_size" => self.vector_bytes(attribute, target, found),
            "overloadable" if matches!(target, Target::Function | Target::Kernel) => {
                found.is_overloadable = true;
            }
            "unused" => found.is_unused = true,
            "intel_reqd_sub_group_size" => self.report(
                Diagnostic::new(
                    Code::UnknownAttribute,
                    attribute.span,
                    format!("the attribute `{name}` is ignored: sub-groups have the size of the device"),
                )
                .note("it needs `cl_intel_required_subgroup_size`, which the target does not support"),
            ),
            _ if HARMLESS.contains(&name) => self.report(Diagnostic::new(
                Code::IgnoredAttribute,
                attribute.span,
                format!("the attribute `{name}` has no effect"),
            )),
            _ => {
                let mut diagnostic = Diagnostic::new(
                    Code::UnknownAttribute,
                    attribute.span,
                    format!("there is no attribute `{name}`; it is ignored"),
                )
                .note("OpenCL C 6.13 lists the attributes");
                if let Some(similar) = similar(name) {
                    diagnostic = diagnostic
                        .help(format!("did you mean `{similar}`?"))
                        .replace(attribute.name.span, similar);
                }
                self.report(diagnostic);
            }
        }
    }

    fn report_target(&mut self, attribute: &ast::Attribute, what: &str, note: &str) {
        self.report(Diagnostic::new(Code::AttributeTarget, attribute.span, what).note(note));
    }

    fn report_argument(&mut self, attribute: &ast::Attribute, what: impl Into<String>, note: &str) {
        self.report(Diagnostic::new(Code::AttributeArgument, attribute.span, what).note(note));
    }

    /// Sets an attribute that is allowed once. Reports a conflicting repetition.
    fn set_once<T: Copy + PartialEq>(
        &mut self,
        recorded: &mut Option<T>,
        value: Option<T>,
        at: &ast::Attribute,
    ) {
        if let (Some(first), Some(second)) = (*recorded, value)
            && first != second
        {
            self.report(
                Diagnostic::new(
                    Code::AttributeConflict,
                    at.span,
                    "this attribute was given before, with another value",
                )
                .help("keep one of them"),
            );
            return;
        }
        *recorded = recorded.or(value);
    }

    /// `aligned`, `aligned(n)` (OpenCL C 6.13.1, 6.13.3).
    fn aligned(&mut self, attribute: &ast::Attribute, target: Target, found: &mut Attributes) {
        const NOTE: &str = "OpenCL C 6.13.1: the alignment is a power of two";
        if matches!(target, Target::Loop | Target::Statement) {
            return self.report_target(attribute, "a statement has no alignment", NOTE);
        }
        let align = match attribute.arguments {
            [] => MAX_TYPE_ALIGNMENT,
            [Argument::Expr(expr)] => {
                let Some(value) = self.integer_constant(expr, "an alignment") else { return };
                match u64::try_from(value) {
                    Ok(align) if align.is_power_of_two() && value <= ALIGNMENT_LIMIT => align,
                    _ => {
                        return self.report_argument(
                            attribute,
                            format!("{value} is not a valid alignment"),
                            NOTE,
                        );
                    }
                }
            }
            [Argument::Type(name)] => {
                let ty = self.type_name(name).ty;
                self.types.align_of(ty).unwrap_or(1)
            }
            _ => return self.report_argument(attribute, "`aligned` takes one number", NOTE),
        };
        found.aligned = Some(found.aligned.map_or(align, |first| first.max(align)));
    }

    /// `packed` (OpenCL C 6.13.1, 6.13.3).
    fn packed(&mut self, attribute: &ast::Attribute, target: Target, found: &mut Attributes) {
        if !attribute.arguments.is_empty() {
            const NOTE: &str = "OpenCL C 6.13.1: `packed` has no arguments";
            return self.report_argument(attribute, "`packed` takes no arguments", NOTE);
        }
        match target {
            Target::Record | Target::Enum | Target::Member(_) | Target::Variable(_) => {
                found.packed = Some(attribute.span);
            }
            _ => self.report(
                Diagnostic::new(Code::MisplacedAttribute, attribute.span, "`packed` has no effect here")
                    .help("put it between the word `struct` and the tag of the definition, or after its closing brace")
                    .note("OpenCL C 6.13.1: `packed` applies only to the definition of an enum, struct or union"),
            ),
        }
    }

    /// clang's `ext_vector_type(n)`, which its headers use to declare vector types.
    fn vector_length(&mut self, attribute: &ast::Attribute, found: &mut Attributes) {
        let [Argument::Expr(expr)] = attribute.arguments else {
            return self.report_argument(attribute, "`ext_vector_type` takes one number", VECTOR_LENGTHS);
        };
        match self.integer_constant(expr, "the length of a vector") {
            Some(length @ (2 | 3 | 4 | 8 | 16)) => found.vector_length = u8::try_from(length).ok(),
            Some(length) => self.report_argument(
                attribute,
                format!("a vector cannot have {length} components"),
                VECTOR_LENGTHS,
            ),
            None => {}
        }
    }

    /// GNU C's `vector_size(bytes)`. Ignoring it would make a scalar of the vector.
    fn vector_bytes(&mut self, attribute: &ast::Attribute, target: Target, found: &mut Attributes) {
        let [Argument::Expr(expr)] = attribute.arguments else {
            return self.report_argument(attribute, "`vector_size` takes a number of bytes", VECTOR_LENGTHS);
        };
        if target != Target::Typedef {
            let message =
                "`vector_size` is only for a typedef here; declare this with a vector type such as `int4`";
            return self.report_argument(attribute, message, VECTOR_LENGTHS);
        }
        let bytes = self.integer_constant(expr, "the size of a vector");
        found.vector_bytes = bytes.map(|bytes| (bytes, attribute.span));
    }

    /// The type of a typedef with the attributes found: a vector, if they say so.
    pub(crate) fn vector_of(&mut self, ty: TyId, found: &Attributes) -> TyId {
        let element = match *self.types.get(ty) {
            Ty::Scalar(element) if element != Scalar::Bool => Some(element),
            _ => None,
        };
        match (element, found.vector_length, found.vector_bytes) {
            (Some(element), Some(length), _) => self.types.vector(element, length),
            (Some(element), None, Some((bytes, span))) => {
                let length = [2, 4, 8, 16]
                    .into_iter()
                    .find(|length| i128::from(element.size()) * i128::from(*length) == bytes);
                let Some(length) = length else {
                    let (shown, size) = (self.show(ty), element.size());
                    let message =
                        format!("no vector of `{shown}`, which has {size} bytes, has {bytes} bytes");
                    self.report(Diagnostic::new(Code::AttributeArgument, span, message).note(VECTOR_LENGTHS));
                    return TyId::ERROR;
                };
                self.types.vector(element, length)
            }
            (None, None, Some((_, span))) if ty != TyId::ERROR => {
                let message = format!("`{}` cannot be the component of a vector", self.show(ty));
                self.report(Diagnostic::new(Code::AttributeArgument, span, message).note(VECTOR_LENGTHS));
                TyId::ERROR
            }
            _ => ty,
        }
    }

    /// `endian(host)`, `endian(device)` (OpenCL C 6.13.3). Both are little-endian here.
    fn endian(&mut self, attribute: &ast::Attribute, target: Target) {
        const NOTE: &str = "OpenCL C 6.13.3: `endian` takes `host` or `device` and is only for pointer types that are in the global or constant address space";
        let applies = match target {
            Target::Variable(ty) | Target::Parameter(ty) | Target::Member(ty) => match self.types.get(ty) {
                Ty::Error => true,
                Ty::Pointer(to) => {
                    !matches!(to.quals.space, Some(AddressSpace::Local | AddressSpace::Private))
                }
                _ => false,
            },
            _ => false,
        };
        if !applies {
            // Other compilers accept it everywhere.
            let text = "`endian` has no effect here";
            self.report(Diagnostic::new(Code::MisplacedAttribute, attribute.span, text).note(NOTE));
            return;
        }
        let word = match attribute.arguments {
            [Argument::Expr(ast::Expr { kind: ast::ExprKind::Name(name), .. })] => self.text(*name),
            _ => "",
        };
        if word != "host" && word != "device" {
            self.report_argument(attribute, "`endian` takes `host` or `device`", NOTE);
        }
    }

    /// `nosvm` (OpenCL C 6.13.3), deprecated and without effect.
    fn nosvm(&mut self, attribute: &ast::Attribute, target: Target) {
        let (Target::Variable(ty) | Target::Parameter(ty) | Target::Member(ty)) = target else {
            return self.warn_nosvm(attribute);
        };
        if !matches!(self.types.get(ty), Ty::Error | Ty::Pointer(_)) {
            self.warn_nosvm(attribute);
        }
    }

    fn warn_nosvm(&mut self, attribute: &ast::Attribute) {
        self.report(
            Diagnostic::new(Code::MisplacedAttribute, attribute.span, "`nosvm` has no effect here")
                .note("OpenCL C 6.13.3: `nosvm` can be used with a pointer variable"),
        );
    }

    /// OpenCL C 6.9.2: these attributes apply to kernels only.
    fn is_for_kernels(&mut self, attribute: &ast::Attribute, target: Target) -> bool {
        if target != Target::Kernel {
            let name = self.text(attribute.name.node).to_owned();
            self.report_target(
                attribute,
                &format!("`{name}` applies only to kernels"),
                "OpenCL C 6.9.2: the attribute declares additional information about a `kernel` function",
            );
        }
        target == Target::Kernel
    }

    /// The sizes in `reqd_work_group_size(x, y, z)` and `work_group_size_hint(x, y, z)`.
    fn work_group_size(&mut self, attribute: &ast::Attribute) -> Option<[u32; 3]> {
        const NOTE: &str = "OpenCL C 6.9.2";
        let mut size = [1; 3];
        if attribute.arguments.len() != 3 {
            let message = "a work-group size has three numbers";
            let mut diagnostic = Diagnostic::new(Code::AttributeArgument, attribute.span, message).note(NOTE);
            let missing = match attribute.arguments.len() {
                1 => Some(", 1, 1"),
                2 => Some(", 1"),
                _ => None,
            };
            if let (Some(missing), Some(Argument::Expr(last))) = (missing, attribute.arguments.last()) {
                let help = "write 1 for each dimension without a size";
                let pieces = [Piece::Source(last.span), Piece::Text(missing)];
                diagnostic = diagnostic.help(help).rewrite(last.span, help, pieces);
            }
            self.report(diagnostic);
            return None;
        }
        for (length, argument) in size.iter_mut().zip(attribute.arguments) {
            let Argument::Expr(expr) = argument else {
                self.report_argument(attribute, "a work-group size has three numbers", NOTE);
                return None;
            };
            let value = self.integer_constant(expr, "a work-group size")?;
            match u32::try_from(value) {
                Ok(value) if value > 0 => *length = value,
                _ => {
                    self.report_argument(attribute, format!("a work-group size cannot be {value}"), NOTE);
                    return None;
                }
            }
        }
        Some(size)
    }

    /// `vec_type_hint(type)`: a vector type or the type of its elements (OpenCL C 6.9.2).
    fn vec_type_hint(&mut self, attribute: &ast::Attribute) -> Option<TyId> {
        const NOTE: &str = "OpenCL C 6.9.2: the type is one of the built-in vector types or the constituent scalar element types";
        let name = match attribute.arguments {
            [Argument::Type(name)] => name,
            // An undeclared name is probably a misspelled type.
            [Argument::Expr(ast::Expr { kind: ast::ExprKind::Name(name), span })]
                if self.scopes.lookup(*name).is_none() =>
            {
                self.report_unknown_type(*name, *span);
                return None;
            }
            _ => {
                self.report_argument(attribute, "`vec_type_hint` takes one type", NOTE);
                return None;
            }
        };
        let ty = self.type_name(name).ty;
        match *self.types.get(ty) {
            Ty::Error => None,
            Ty::Vector(..) => Some(ty),
            Ty::Scalar(scalar) if scalar != Scalar::Bool => Some(ty),
            _ => {
                let shown = self.show(ty);
                self.report_argument(
                    attribute,
                    format!("`{shown}` is neither a vector nor an element of one"),
                    NOTE,
                );
                None
            }
        }
    }

    /// `opencl_unroll_hint`, `opencl_unroll_hint(n)` (OpenCL C 6.13.5).
    fn unroll_hint(&mut self, attribute: &ast::Attribute, target: Target, found: &mut Attributes) {
        const NOTE: &str =
            "OpenCL C 6.13.5: the factor is a positive integral compile time constant, and a loop follows";
        if target != Target::Loop {
            return self.report_target(
                attribute,
                "`opencl_unroll_hint` must be immediately before a loop",
                NOTE,
            );
        }
        let factor = match attribute.arguments {
            [] => 0,
            [Argument::Expr(expr)] => {
                let Some(value) = self.integer_constant(expr, "an unroll factor") else { return };
                match u32::try_from(value) {
                    Ok(value) if value > 0 => value,
                    _ => {
                        return self.report_argument(
                            attribute,
                            format!("a loop cannot be unrolled {value} times"),
                            NOTE,
                        );
                    }
                }
            }
            _ => return self.report_argument(attribute, "`opencl_unroll_hint` takes one number", NOTE),
        };
        self.set_once(&mut found.unroll, Some(factor), attribute);
    }
}

/// A known attribute whose name resembles this one, or contains it.
fn similar(name: &str) -> Option<String> {
    const LENGTH: usize = 6;
    let names = || crate::attributes::NAMES.iter().copied();
    kiln_session::diag::closest(name, names()).or_else(|| {
        let contains = |known: &&str| name.len() >= LENGTH && known.contains(name);
        names().find(contains).map(str::to_owned)
    })
}
