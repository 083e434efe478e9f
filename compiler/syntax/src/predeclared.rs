//! The type names that OpenCL C predeclares or reserves (OpenCL C 6.3). They are ordinary names in an outermost
//! scope, so programs can shadow them. Independent of versions and features.

/// Type names other than vectors.
const SCALARS_AND_OBJECTS: &[&str] = &[
    // 6.3.1 scalars; the others are keywords.
    "uchar",
    "ushort",
    "uint",
    "ulong",
    "size_t",
    "ptrdiff_t",
    "intptr_t",
    "uintptr_t",
    // 6.3.3 other built-in types
    "image1d_t",
    "image1d_buffer_t",
    "image1d_array_t",
    "image2d_t",
    "image2d_array_t",
    "image2d_depth_t",
    "image2d_array_depth_t",
    "image3d_t",
    // cl_khr_gl_msaa_sharing
    "image2d_msaa_t",
    "image2d_array_msaa_t",
    "image2d_msaa_depth_t",
    "image2d_array_msaa_depth_t",
    "sampler_t",
    "event_t",
    "queue_t",
    "ndrange_t",
    "clk_event_t",
    "reserve_id_t",
    "cl_mem_fence_flags",
    // 6.3.4 reserved
    "quad",
    // 6.15.19 enqueuing kernels
    "kernel_enqueue_flags_t",
    "clk_profiling_info",
    // 6.15.12 atomics
    "memory_order",
    "memory_scope",
    "atomic_flag",
    "atomic_bool",
    "atomic_int",
    "atomic_uint",
    "atomic_long",
    "atomic_ulong",
    "atomic_half",
    "atomic_float",
    "atomic_double",
    "atomic_size_t",
    "atomic_ptrdiff_t",
    "atomic_intptr_t",
    "atomic_uintptr_t",
];

/// Element types of vectors: 6.3.2, and reserved ones of 6.3.4.
macro_rules! vectors {
    ($length:literal) => {
        [
            concat!("char", $length),
            concat!("uchar", $length),
            concat!("short", $length),
            concat!("ushort", $length),
            concat!("int", $length),
            concat!("uint", $length),
            concat!("long", $length),
            concat!("ulong", $length),
            concat!("float", $length),
            concat!("double", $length),
            concat!("half", $length),
            concat!("bool", $length),
            concat!("quad", $length),
        ]
    };
}

/// Element types of reserved matrices, whose names contain two lengths with an `x` in between (6.3.4).
macro_rules! matrices {
    ($length:literal) => {
        [
            concat!("float2x", $length),
            concat!("float3x", $length),
            concat!("float4x", $length),
            concat!("float8x", $length),
            concat!("float16x", $length),
            concat!("double2x", $length),
            concat!("double3x", $length),
            concat!("double4x", $length),
            concat!("double8x", $length),
            concat!("double16x", $length),
        ]
    };
}

/// The vectors and matrices for each length.
const OF_LENGTHS: [([&str; 13], [&str; 10]); 5] = [
    (vectors!("2"), matrices!("2")),
    (vectors!("3"), matrices!("3")),
    (vectors!("4"), matrices!("4")),
    (vectors!("8"), matrices!("8")),
    (vectors!("16"), matrices!("16")),
];

/// Calls `visit` for every predeclared type name. The argument `true` marks vectors.
pub fn each(mut visit: impl FnMut(&'static str, bool)) {
    for name in SCALARS_AND_OBJECTS {
        visit(name, false);
    }
    for (vectors, matrices) in &OF_LENGTHS {
        vectors.iter().for_each(|name| visit(name, true));
        matrices.iter().for_each(|name| visit(name, false));
    }
}

/// Attributes that turn a scalar type into a vector type, as in compilers' headers.
pub(crate) const VECTOR_ATTRIBUTES: [&str; 4] =
    ["ext_vector_type", "__ext_vector_type__", "vector_size", "__vector_size__"];

#[cfg(test)]
mod tests {
    #[test]
    fn names_are_unique() {
        let mut names = vec![];
        super::each(|name, vector| names.push((name.to_owned(), vector)));
        let unique: std::collections::HashSet<_> = names.iter().map(|(name, _)| name).collect();
        assert_eq!(unique.len(), names.len());
        for (name, vector) in [("half16", true), ("uint", false), ("double4x16", false), ("bool2", true)] {
            assert!(names.contains(&(name.to_owned(), vector)), "{name}");
        }
    }
}
