//! Words of C's headers and of related languages, and what OpenCL C has instead.

/// Types, and the type that means the same.
const TYPES: [(&str, &str); 27] = [
    ("__half", "half"),
    ("byte", "uchar"),
    ("f32", "float"),
    ("f64", "double"),
    ("float32_t", "float"),
    ("float64_t", "double"),
    ("i16", "short"),
    ("i32", "int"),
    ("i64", "long"),
    ("i8", "char"),
    ("int16_t", "short"),
    ("int32_t", "int"),
    ("int64_t", "long"),
    ("int8_t", "char"),
    ("ivec2", "int2"),
    ("ivec4", "int4"),
    ("u16", "ushort"),
    ("u32", "uint"),
    ("u64", "ulong"),
    ("u8", "uchar"),
    ("uint16_t", "ushort"),
    ("uint32_t", "uint"),
    ("uint64_t", "ulong"),
    ("uint8_t", "uchar"),
    ("vec2", "float2"),
    ("vec3", "float3"),
    ("vec4", "float4"),
];

/// Names, and the expression that means the same. The second part of a CUDA variable selects the dimension.
const NAMES: [(&str, &str); 6] = [
    ("blockDim", "get_local_size(0)"),
    ("blockIdx", "get_group_id(0)"),
    ("gridDim", "get_num_groups(0)"),
    ("nullptr", "NULL"),
    ("threadIdx", "get_local_id(0)"),
    ("warpSize", "get_max_sub_group_size()"),
];

/// Functions, and the call or the name that means the same.
const FUNCTIONS: [(&str, &str); 13] = [
    ("__syncthreads", "barrier(CLK_LOCAL_MEM_FENCE)"),
    ("__threadfence", "mem_fence(CLK_GLOBAL_MEM_FENCE)"),
    ("__threadfence_block", "mem_fence(CLK_LOCAL_MEM_FENCE)"),
    ("atomicAdd", "atomic_add"),
    ("atomicAnd", "atomic_and"),
    ("atomicCAS", "atomic_cmpxchg"),
    ("atomicExch", "atomic_xchg"),
    ("atomicMax", "atomic_max"),
    ("atomicMin", "atomic_min"),
    ("atomicOr", "atomic_or"),
    ("atomicSub", "atomic_sub"),
    ("inversesqrt", "rsqrt"),
    ("lerp", "mix"),
];

/// Words that start declarations in C++.
const CPP: [&str; 6] = ["class", "constexpr", "namespace", "template", "typename", "using"];

/// The explanation for a word of C++.
pub(crate) fn note(word: &str) -> Option<String> {
    CPP.contains(&word).then(|| format!("`{word}` is C++; OpenCL C is based on C99"))
}

fn find(table: &[(&'static str, &'static str)], word: &str) -> Option<&'static str> {
    table.iter().find(|(known, _)| *known == word).map(|(_, meant)| *meant)
}

/// The type that means the same.
pub(crate) fn type_for(word: &str) -> Option<&'static str> {
    find(&TYPES, word)
}

/// The expression that means the same as an undeclared name.
pub(crate) fn value_for(word: &str) -> Option<&'static str> {
    find(&NAMES, word)
}

/// What means the same as an undeclared function. C's functions for `float`, such as `sqrtf`, are those without the
/// `f`, if `is_builtin` knows them.
pub(crate) fn function_for(word: &str, is_builtin: impl Fn(&str) -> bool) -> Option<&str> {
    find(&FUNCTIONS, word)
        .or_else(|| word.strip_suffix('f').filter(|name| name.len() > 2 && is_builtin(name)))
}
