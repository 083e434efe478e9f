//! Generic types, and the overloads instantiated from them.
//!
//! A signature has variables: `T` for an element type, `n` and `m` for vector widths, `P` and `Q` for address spaces,
//! `X` for an image type. Each available combination is an overload. Types are small values here; only those of the
//! selected overload are interned.

use kiln_session::extensions::{Condition, Extension, missing};
use kiln_types::ty::{
    Access, EnumId, ImageTy, QualTy, Quals, Scalar, Ty, TyId, Types, atomic_condition, image_conditions,
};
use kiln_vocabulary::opencl::{
    AddressSpace,
    LanguageVersion::{Cl20, Cl30},
};
use smallvec::SmallVec;

use super::Context;

/// The overloads of a row.
#[derive(Clone, Debug, Default)]
pub(super) struct Signature {
    pub(super) result: Pattern,
    pub(super) parameters: SmallVec<[Pattern; 4]>,
    pub(super) is_variadic: bool,
    /// The range of `T`. Empty if it does not occur.
    pub(super) elements: SmallVec<[Scalar; 12]>,
    /// The range of `n`.
    pub(super) widths: SmallVec<[u8; 6]>,
    /// The range of `m`.
    pub(super) masks: SmallVec<[u8; 6]>,
    /// The range of `P`.
    pub(super) spaces: SpaceSet,
    /// The range of `Q`.
    pub(super) other_spaces: SpaceSet,
    /// The range of `X`.
    pub(super) images: Vec<ImageTy>,
    /// The alternative conditions for the row.
    pub(super) conditions: Vec<Condition>,
}

/// A type with variables.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Pattern {
    pub(super) base: Base,
    /// Set for a pointer to the base.
    pub(super) pointer: Option<PointerPattern>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Base {
    #[default]
    Void,
    /// A type without variables.
    Fixed(ConcreteType),
    Number(Element, Width),
    /// An atomic type of `T`.
    Atomic,
    /// `X`
    Image,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Element {
    Fixed(Scalar),
    /// `T`
    T,
    /// `I`: the signed integer type of the size of `T`.
    Signed,
    /// `U`: the unsigned integer type of the size of `T`.
    Unsigned,
    /// `W`: the integer type of twice the size of `T` and its signedness.
    Wide,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Width {
    Fixed(u8),
    N,
    M,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PointerPattern {
    pub(super) is_const: bool,
    pub(super) is_volatile: bool,
    pub(super) space: SpacePattern,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SpacePattern {
    Fixed(AddressSpace),
    P,
    Q,
}

/// Sets of address spaces, which depend on the context.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum SpaceSet {
    /// The variable does not occur.
    #[default]
    Unused,
    /// `any`: generic, or global, local and private if generic is not available (OpenCL C 6.15, "overloaded for").
    Any,
    /// `readable`: like `any`, and constant.
    Readable,
    /// `default`: the default address space of pointers: generic, or private if generic is not available.
    Default,
    /// `shared`: global and local.
    Shared,
    /// `named`: global, local and private.
    Named,
    /// `atomic`: generic in 2.0; in 3.0 also global and local (OpenCL C 6.15.12.7).
    Atomic,
}

/// A type without variables, other than a pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ConcreteType {
    Void,
    Number(Scalar, u8),
    Atomic(Scalar),
    AtomicFlag,
    Image(ImageTy),
    Sampler,
    Event,
    Queue,
    ClkEvent,
    ReserveId,
    NdRange,
    Enum(EnumId),
    /// A pipe of any packet type.
    Pipe(Access),
    /// A block of any type.
    Block,
    /// The pointee of a pointer to any type.
    Any,
}

/// A parameter or result of an overload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Param {
    pub(super) base: ConcreteType,
    /// Set for a pointer: the qualifiers and address space of the pointee.
    pub(super) pointer: Option<Quals>,
}

/// An overload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Candidate {
    pub(super) parameters: SmallVec<[Param; 5]>,
    pub(super) result: Param,
}

/// A value for each variable.
#[derive(Clone, Copy)]
struct Choice {
    element: Scalar,
    width: u8,
    mask: u8,
    space: AddressSpace,
    other_space: AddressSpace,
    image: ImageTy,
}

/// Placeholders for variables that do not occur.
const NO_CHOICE: Choice = Choice {
    element: Scalar::Int,
    width: 1,
    mask: 1,
    space: AddressSpace::Private,
    other_space: AddressSpace::Private,
    image: ImageTy {
        dim: kiln_types::ty::ImageDim::D2,
        is_array: false,
        is_depth: false,
        is_msaa: false,
        access: Access::ReadOnly,
    },
};

impl Signature {
    /// Whether any overload is available.
    pub(super) fn exists(&self, context: &Context) -> bool {
        let holds = |condition: &Condition| condition.holds(context.version, context.extensions);
        self.conditions.iter().any(holds)
            && (self.elements.is_empty()
                || self.elements.iter().any(|element| holds(&self.element_condition(*element))))
            && (self.images.is_empty() || self.images.iter().any(|image| has_image(*image, context)))
            && self.spaces.exists(context)
            && self.other_spaces.exists(context)
    }

    /// The missing requirements for an overload. `None` if one is available.
    pub(super) fn missing(&self, context: &Context) -> Option<Vec<String>> {
        let missing = |conditions: &[Condition]| missing(conditions, context.version, context.extensions);
        let elements: Vec<_> = self.elements.iter().map(|element| self.element_condition(*element)).collect();
        let images: Vec<_> = self.images.iter().flat_map(|image| image_conditions(*image)).collect();
        let generic = [Condition::since(Cl20).with(Extension::GenericAddressSpace)];
        let parts = [
            missing(&self.conditions),
            (!elements.is_empty()).then(|| missing(&elements)).flatten(),
            (!images.is_empty()).then(|| missing(&images)).flatten(),
            (!self.spaces.exists(context)).then(|| missing(&generic)).flatten(),
        ];
        let mut all: Vec<String> = parts.into_iter().flatten().flatten().collect();
        all.dedup();
        (!all.is_empty()).then_some(all)
    }

    /// All available overloads, if the conditions of the row hold.
    pub(super) fn candidates(&self, context: &Context, visit: &mut dyn FnMut(Candidate)) {
        self.matching(context, &mut |_, _| true, visit);
    }

    /// The overloads whose parameters all match `fits`, by index.
    pub(super) fn matching(
        &self,
        context: &Context,
        fits: &mut dyn FnMut(usize, &Param) -> bool,
        visit: &mut dyn FnMut(Candidate),
    ) {
        let holds = |condition: Condition| condition.holds(context.version, context.extensions);
        let elements: SmallVec<[Scalar; 12]> =
            self.elements.iter().copied().filter(|element| holds(self.element_condition(*element))).collect();
        let images: Vec<ImageTy> =
            self.images.iter().copied().filter(|image| has_image(*image, context)).collect();
        for &element in one_or(&elements, self.elements.is_empty(), &NO_CHOICE.element) {
            for &width in one_or(&self.widths, self.widths.is_empty(), &1) {
                for &mask in one_or(&self.masks, self.masks.is_empty(), &1) {
                    for &space in self.spaces.members(context) {
                        for &other_space in self.other_spaces.members(context) {
                            for &image in one_or(&images, self.images.is_empty(), &NO_CHOICE.image) {
                                let choice = Choice { element, width, mask, space, other_space, image };
                                if let Some(candidate) = self.candidate(&choice, context, fits) {
                                    visit(candidate);
                                }
                            }
                        }
                    }
                }
            }
        }
    }

    /// The condition for an element type. Atomic objects of it may require more.
    fn element_condition(&self, element: Scalar) -> Condition {
        let is_atomic = self.parameters.iter().any(|parameter| parameter.base == Base::Atomic);
        let atomic = is_atomic.then(|| atomic_condition(element)).flatten();
        atomic.unwrap_or_else(|| element.condition())
    }

    fn candidate(
        &self,
        choice: &Choice,
        context: &Context,
        fits: &mut dyn FnMut(usize, &Param) -> bool,
    ) -> Option<Candidate> {
        let mut parameters = SmallVec::new();
        for (index, pattern) in self.parameters.iter().enumerate() {
            let parameter = pattern.param(choice, context)?;
            if !fits(index, &parameter) {
                return None;
            }
            parameters.push(parameter);
        }
        Some(Candidate { parameters, result: self.result.param(choice, context)? })
    }
}

/// The range of a variable, or a placeholder if it does not occur.
fn one_or<'a, T>(choices: &'a [T], is_unused: bool, unused: &'a T) -> &'a [T] {
    if is_unused { std::slice::from_ref(unused) } else { choices }
}

fn has_image(image: ImageTy, context: &Context) -> bool {
    image_conditions(image).iter().any(|condition| condition.holds(context.version, context.extensions))
}

impl Pattern {
    /// Substitutes the values of the variables. `None` if the type does not exist, or is not available in the context.
    fn param(&self, choice: &Choice, context: &Context) -> Option<Param> {
        let base = match self.base {
            Base::Void => ConcreteType::Void,
            Base::Fixed(concrete) => concrete,
            Base::Number(element, width) => {
                let element = match element {
                    Element::Fixed(scalar) => scalar,
                    Element::T => choice.element,
                    Element::Signed => choice.element.signed_of_size(),
                    Element::Unsigned => choice.element.unsigned_of_size(),
                    Element::Wide => wide(choice.element)?,
                };
                let width = match width {
                    Width::Fixed(count) => count,
                    Width::N => choice.width,
                    Width::M => choice.mask,
                };
                ConcreteType::Number(element, width)
            }
            Base::Atomic => ConcreteType::Atomic(choice.element),
            Base::Image => ConcreteType::Image(choice.image),
        };
        let holds = |condition: Condition| condition.holds(context.version, context.extensions);
        let exists = match (base, self.pointer) {
            // A pointer to `half` does not require support for `half` (OpenCL C 6.3.1.1).
            (ConcreteType::Number(..), Some(_)) => true,
            (ConcreteType::Number(scalar, _), None) => holds(scalar.condition()),
            (ConcreteType::Image(image), _) => has_image(image, context),
            _ => true,
        };
        let pointer = self.pointer.map(|pointer| Quals {
            is_const: pointer.is_const,
            is_volatile: pointer.is_volatile,
            is_restrict: false,
            space: Some(match pointer.space {
                SpacePattern::Fixed(space) => space,
                SpacePattern::P => choice.space,
                SpacePattern::Q => choice.other_space,
            }),
        });
        exists.then_some(Param { base, pointer })
    }
}

impl SpaceSet {
    fn exists(self, context: &Context) -> bool {
        !self.members(context).is_empty()
    }

    fn members(self, context: &Context) -> &'static [AddressSpace] {
        use AddressSpace::{Constant, Generic, Global, Local, Private};
        let has_generic = context.version >= Cl20 && context.extensions.has(Extension::GenericAddressSpace);
        match (self, has_generic) {
            (Self::Unused, _) => &[Private],
            (Self::Any | Self::Default, true) => &[Generic],
            (Self::Any | Self::Named, _) => &[Global, Local, Private],
            (Self::Default, false) => &[Private],
            (Self::Readable, true) => &[Constant, Generic],
            (Self::Readable, false) => &[Constant, Global, Local, Private],
            (Self::Shared, _) => &[Global, Local],
            (Self::Atomic, true) if context.version >= Cl30 => &[Generic, Global, Local],
            (Self::Atomic, true) => &[Generic],
            (Self::Atomic, false) => &[Global, Local],
        }
    }
}

/// The integer type of twice the size.
const fn wide(scalar: Scalar) -> Option<Scalar> {
    match scalar {
        Scalar::Char => Some(Scalar::Short),
        Scalar::UChar => Some(Scalar::UShort),
        Scalar::Short => Some(Scalar::Int),
        Scalar::UShort => Some(Scalar::UInt),
        Scalar::Int => Some(Scalar::Long),
        Scalar::UInt => Some(Scalar::ULong),
        _ => None,
    }
}

impl Param {
    /// The interned type.
    pub(super) fn ty(self, types: &mut Types) -> TyId {
        let base = types.intern(self.base.ty());
        match self.pointer {
            Some(quals) => types.pointer(QualTy { ty: base, quals }),
            None => base,
        }
    }
}

impl ConcreteType {
    pub(super) fn ty(self) -> Ty {
        match self {
            Self::Void => Ty::Void,
            Self::Number(scalar, 1) => Ty::Scalar(scalar),
            Self::Number(scalar, count) => Ty::Vector(scalar, count),
            Self::Atomic(scalar) => Ty::Atomic(scalar),
            Self::AtomicFlag => Ty::AtomicFlag,
            Self::Image(image) => Ty::Image(image),
            Self::Sampler => Ty::Sampler,
            Self::Event => Ty::Event,
            Self::Queue => Ty::Queue,
            Self::ClkEvent => Ty::ClkEvent,
            Self::ReserveId => Ty::ReserveId,
            Self::NdRange => Ty::NdRange,
            Self::Enum(id) => Ty::Enum(id),
            // A pipe of any type has no packet type without an argument.
            Self::Pipe(access) => Ty::Pipe(TyId::VOID, access),
            Self::Block | Self::Any => Ty::Void,
        }
    }

    /// The concrete type that a type is. `None` if there is none.
    pub(super) fn from_ty(ty: &Ty) -> Option<Self> {
        Some(match *ty {
            Ty::Void => Self::Void,
            Ty::Scalar(scalar) => Self::Number(scalar, 1),
            Ty::Vector(scalar, count) => Self::Number(scalar, count),
            Ty::Atomic(scalar) => Self::Atomic(scalar),
            Ty::AtomicFlag => Self::AtomicFlag,
            Ty::Image(image) => Self::Image(image),
            Ty::Sampler => Self::Sampler,
            Ty::Event => Self::Event,
            Ty::Queue => Self::Queue,
            Ty::ClkEvent => Self::ClkEvent,
            Ty::ReserveId => Self::ReserveId,
            Ty::NdRange => Self::NdRange,
            Ty::Enum(id) => Self::Enum(id),
            Ty::Pipe(_, access) => Self::Pipe(access),
            Ty::Block(_) => Self::Block,
            Ty::Error | Ty::Pointer(_) | Ty::Array(..) | Ty::Function(_) | Ty::Record(_) => return None,
        })
    }
}
