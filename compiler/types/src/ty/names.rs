//! Type names that OpenCL C predeclares and reserves (OpenCL C 6.3.1–6.3.4).
//!
//! Defines their types and conditions, without the keywords of C (`int`, `double`). The parser has its own list of these
//! names, without their types.

use kiln_session::extensions::{Condition, Extension, Extensions, missing};
use kiln_vocabulary::opencl::LanguageVersion::{self, Cl12, Cl20};

use super::{Access, EnumId, ImageDim, ImageTy, Scalar, Ty, TyId, Types};

/// The meaning of a predeclared type name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeName {
    /// The type. An image is `read_only` unless it has a different access qualifier.
    pub ty: TyId,
    /// The conditions for its availability; one is sufficient.
    conditions: Vec<Condition>,
}

impl TypeName {
    /// The missing requirements for using it. `None` if it is available.
    pub fn missing(&self, version: LanguageVersion, extensions: Extensions) -> Option<Vec<String>> {
        missing(&self.conditions, version, extensions)
    }
}

impl Types {
    /// The meaning of a predeclared type name, in any version. `None` for other names.
    pub fn predeclared(&mut self, name: &str) -> Option<TypeName> {
        let (ty, conditions) = meaning(name)?;
        Some(TypeName { ty: self.intern(ty), conditions })
    }
}

impl Scalar {
    /// The type for a word, which may be a keyword or a predeclared name.
    pub fn parse(word: &str) -> Option<Self> {
        let aliased = match word {
            "size_t" | "uintptr_t" => Self::ULong,
            "ptrdiff_t" | "intptr_t" => Self::Long,
            _ => return Self::ALL.into_iter().find(|scalar| scalar.spelling() == word),
        };
        Some(aliased)
    }

    /// The condition for using the name of this type: `size_t` is available without `ulong` (OpenCL C 6.3.1).
    pub fn named_condition(self) -> Condition {
        match self {
            Self::Long | Self::ULong => Condition::ALWAYS.with(Extension::FeatureInt64),
            _ => self.condition(),
        }
    }

    /// The condition for objects of this type. Pointers to `half` need none (OpenCL C 6.3.1.1).
    pub fn condition(self) -> Condition {
        match self {
            Self::Half => Condition::ALWAYS.with(Extension::KhrFp16),
            Self::Double => Condition::ALWAYS.with(Extension::KhrFp64),
            _ => Condition::ALWAYS,
        }
    }
}

/// Parses the name of a vector type (OpenCL C 6.3.2).
pub fn parse_vector(name: &str) -> Option<(Scalar, u8)> {
    let digits = name.find(|c: char| c.is_ascii_digit())?;
    let element = Scalar::parse(&name[..digits]).filter(|scalar| *scalar != Scalar::Bool)?;
    // `size_t4` is not a type.
    let count = match &name[digits..] {
        "2" => 2,
        "3" => 3,
        "4" => 4,
        "8" => 8,
        "16" => 16,
        _ => return None,
    };
    (!name.contains('_')).then_some((element, count))
}

/// The meaning of a predeclared type name, with the conditions for its availability.
pub fn meaning(name: &str) -> Option<(Ty, Vec<Condition>)> {
    let always = || vec![Condition::ALWAYS];
    let enqueue = || vec![Condition::since(Cl20).with(Extension::DeviceEnqueue)];
    let found = match name {
        "sampler_t" => (Ty::Sampler, vec![Condition::ALWAYS.with(Extension::Images)]),
        "event_t" => (Ty::Event, always()),
        "queue_t" => (Ty::Queue, enqueue()),
        "clk_event_t" => (Ty::ClkEvent, enqueue()),
        "ndrange_t" => (Ty::NdRange, enqueue()),
        "reserve_id_t" => (Ty::ReserveId, vec![Condition::since(Cl20).with(Extension::Pipes)]),
        "cl_mem_fence_flags" => (Ty::Scalar(Scalar::UInt), always()),
        "kernel_enqueue_flags_t" | "clk_profiling_info" => {
            (Ty::Scalar(Scalar::Int), vec![Condition::since(Cl20)])
        }
        "memory_order" => (Ty::Enum(EnumId::MEMORY_ORDER), vec![Condition::since(Cl20)]),
        "memory_scope" => (Ty::Enum(EnumId::MEMORY_SCOPE), vec![Condition::since(Cl20)]),
        "atomic_flag" => (Ty::AtomicFlag, vec![Condition::since(Cl20)]),
        _ => {
            if let Some(scalar) = name.strip_prefix("atomic_").and_then(Scalar::parse) {
                return atomic(scalar);
            }
            if let Some(image) = image(name) {
                return Some((Ty::Image(image), image_conditions(image)));
            }
            if let Some((element, count)) = parse_vector(name) {
                return Some((Ty::Vector(element, count), vec![element.named_condition()]));
            }
            let scalar = Scalar::parse(name)?;
            let is_alias = name != scalar.spelling();
            let condition = if is_alias { Condition::ALWAYS } else { scalar.named_condition() };
            (Ty::Scalar(scalar), vec![condition])
        }
    };
    Some(found)
}

fn atomic(scalar: Scalar) -> Option<(Ty, Vec<Condition>)> {
    Some((Ty::Atomic(scalar), vec![atomic_condition(scalar)?]))
}

/// The condition for atomic objects of a type (OpenCL C 6.15.12.6): 64-bit ones need both extensions for 64-bit
/// atomics. `None` if there are no such objects.
pub fn atomic_condition(scalar: Scalar) -> Option<Condition> {
    let condition = Condition::since(Cl20);
    match scalar {
        Scalar::Int | Scalar::UInt | Scalar::Float => Some(condition),
        Scalar::Long | Scalar::ULong | Scalar::Double => {
            let wide = condition.with(Extension::KhrInt64Base).with(Extension::KhrInt64Extended);
            Some(if scalar == Scalar::Double { wide.with(Extension::KhrFp64) } else { wide })
        }
        Scalar::Half => Some(condition.with(Extension::ExtFloatAtomics).with(Extension::KhrFp16)),
        Scalar::Bool | Scalar::Char | Scalar::UChar | Scalar::Short | Scalar::UShort => None,
    }
}

/// Parses the name of an image type (OpenCL C 6.3.3).
pub fn image(name: &str) -> Option<ImageTy> {
    let mut rest = name.strip_prefix("image")?.strip_suffix("_t")?;
    let mut eat = |word: &str| match rest.strip_prefix(word) {
        Some(after) => {
            rest = after;
            true
        }
        None => false,
    };
    let dim = if eat("1d_buffer") {
        ImageDim::Buffer
    } else if eat("1d") {
        ImageDim::D1
    } else if eat("2d") {
        ImageDim::D2
    } else if eat("3d") {
        ImageDim::D3
    } else {
        return None;
    };
    let is_array = eat("_array");
    let is_msaa = eat("_msaa");
    let is_depth = eat("_depth");
    let exists = match dim {
        ImageDim::D2 => true,
        ImageDim::D1 => !is_msaa && !is_depth,
        ImageDim::Buffer | ImageDim::D3 => !is_array && !is_msaa && !is_depth,
    };
    let image = ImageTy { dim, is_array, is_depth, is_msaa, access: Access::ReadOnly };
    (rest.is_empty() && exists).then_some(image)
}

/// The conditions for an image type with its access qualifier.
pub fn image_conditions(image: ImageTy) -> Vec<Condition> {
    let mut images = Condition::ALWAYS.with(Extension::Images);
    if image.access == Access::ReadWrite {
        images = Condition { since: Some(Cl20), ..images.with(Extension::ReadWriteImages) };
    }
    let from = |version: LanguageVersion, condition: Condition| Condition {
        since: condition.since.max(Some(version)),
        ..condition
    };
    if image.is_msaa {
        vec![from(Cl12, images.with(Extension::KhrMsaa))]
    } else if image.is_depth {
        vec![from(Cl12, images.with(Extension::KhrDepthImages)), from(Cl20, images)]
    } else if image.is_array || matches!(image.dim, ImageDim::D1 | ImageDim::Buffer) {
        vec![from(Cl12, images)]
    } else {
        vec![images]
    }
}

/// Whether OpenCL C reserves the name without defining a type (OpenCL C 6.3.4).
pub fn is_reserved(name: &str) -> bool {
    if matches!(name, "quad" | "complex" | "imaginary") {
        return true;
    }
    let Some(digits) = name.find(|c: char| c.is_ascii_digit()) else { return false };
    let (base, width) = name.split_at(digits);
    let is_width = |text: &str| matches!(text, "2" | "3" | "4" | "8" | "16");
    if let Some((columns, rows)) = width.split_once('x') {
        return matches!(base, "float" | "double" | "half") && is_width(columns) && is_width(rows);
    }
    if width.len() > 2 || !width.bytes().all(|byte| byte.is_ascii_digit()) {
        return false;
    }
    match base {
        "bool" | "quad" => is_width(width),
        _ => Scalar::parse(base).is_some() && !base.contains('_') && !is_width(width),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kiln_vocabulary::opencl::LanguageVersion::Cl30;

    #[test]
    fn names_mean_types() {
        let mut types = Types::new();
        let mut meaning = |name: &str| {
            let ty = types.predeclared(name)?.ty;
            Some(types.get(ty).clone())
        };
        assert_eq!(meaning("uchar"), Some(Ty::Scalar(Scalar::UChar)));
        assert_eq!(meaning("size_t"), Some(Ty::Scalar(Scalar::ULong)));
        assert_eq!(meaning("half16"), Some(Ty::Vector(Scalar::Half, 16)));
        assert_eq!(meaning("atomic_intptr_t"), Some(Ty::Atomic(Scalar::Long)));
        assert_eq!(meaning("atomic_flag"), Some(Ty::AtomicFlag));
        for name in ["float5", "bool2", "size_t4", "atomic_char", "image3d_array_t", "image2d", "foo"] {
            assert_eq!(meaning(name), None, "{name}");
        }
    }

    /// Only the twelve images of the specification have names.
    #[test]
    fn image_names_round_trip() {
        let names = [
            "image1d_t",
            "image1d_array_t",
            "image1d_buffer_t",
            "image2d_t",
            "image2d_array_t",
            "image2d_depth_t",
            "image2d_array_depth_t",
            "image3d_t",
            "image2d_msaa_t",
            "image2d_array_msaa_t",
            "image2d_msaa_depth_t",
            "image2d_array_msaa_depth_t",
        ];
        for name in names {
            assert_eq!(image(name).unwrap().name(), name);
        }
    }

    #[test]
    fn conditions_of_names() {
        let mut types = Types::new();
        let mut missing = |name: &str, version| {
            let found = types.predeclared(name).unwrap();
            found.missing(version, Extensions::NONE.with(Extension::Images)).unwrap_or_default().join(" and ")
        };
        assert_eq!(missing("atomic_int", Cl12), "OpenCL C 2.0");
        assert_eq!(missing("atomic_int", Cl30), "");
        assert_eq!(
            missing("atomic_double", Cl20),
            "cl_khr_fp64 and cl_khr_int64_base_atomics and cl_khr_int64_extended_atomics"
        );
        assert_eq!(missing("image2d_depth_t", Cl12), "cl_khr_depth_images");
        assert_eq!(missing("image2d_depth_t", Cl20), "");
        assert_eq!(missing("queue_t", Cl30), "__opencl_c_device_enqueue");
        assert_eq!(missing("double4", Cl12), "cl_khr_fp64");
    }

    #[test]
    fn reserved_names_are_known() {
        for name in
            ["quad", "quad4", "bool2", "float2x4", "double16x16", "float5", "uint7", "complex", "char32"]
        {
            assert!(is_reserved(name), "{name}");
        }
        for name in ["float4", "float2x5", "quad5", "int128", "size_t2", "foo", "bool", "float4x"] {
            assert!(!is_reserved(name), "{name}");
        }
    }
}
