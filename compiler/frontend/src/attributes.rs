//! The names of attributes, for suggestions and for messages about syntax errors.

/// Whether this is an attribute with an effect.
pub(crate) fn is_attribute(name: &str) -> bool {
    NAMES.contains(&name)
}

/// The attributes with an effect, for suggestions.
pub(crate) const NAMES: &[&str] = &[
    "aligned",
    "packed",
    "endian",
    "nosvm",
    "reqd_work_group_size",
    "work_group_size_hint",
    "vec_type_hint",
    "opencl_unroll_hint",
    "unused",
];
