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
const FUNCTIONS: [(&str, &str); 37] = [
    ("__clz", "clz"),
    ("__cosf", "native_cos"),
    ("__expf", "native_exp"),
    ("__float_as_int", "as_int"),
    ("__float_as_uint", "as_uint"),
    ("__int_as_float", "as_float"),
    ("__logf", "native_log"),
    ("__mul24", "mul24"),
    ("__popc", "popcount"),
    ("__powf", "native_powr"),
    ("__sinf", "native_sin"),
    ("__syncthreads", "barrier(CLK_LOCAL_MEM_FENCE)"),
    ("__tanf", "native_tan"),
    ("__threadfence", "mem_fence(CLK_GLOBAL_MEM_FENCE)"),
    ("__threadfence_block", "mem_fence(CLK_LOCAL_MEM_FENCE)"),
    ("__uint_as_float", "as_float"),
    ("__umul24", "mul24"),
    ("atomicAdd", "atomic_add"),
    ("atomicAnd", "atomic_and"),
    ("atomicCAS", "atomic_cmpxchg"),
    ("atomicExch", "atomic_xchg"),
    ("atomicMax", "atomic_max"),
    ("atomicMin", "atomic_min"),
    ("atomicOr", "atomic_or"),
    ("atomicSub", "atomic_sub"),
    ("atomicXor", "atomic_xor"),
    ("inversesqrt", "rsqrt"),
    ("lerp", "mix"),
    ("make_float2", "(float2)"),
    ("make_float3", "(float3)"),
    ("make_float4", "(float4)"),
    ("make_int2", "(int2)"),
    ("make_int3", "(int3)"),
    ("make_int4", "(int4)"),
    ("make_uint2", "(uint2)"),
    ("make_uint3", "(uint3)"),
    ("make_uint4", "(uint4)"),
];

/// Functions of C and CUDA without a counterpart of the same arguments, and what to do instead.
const ADVICE: [(&str, &str); 8] = [
    ("__ldg", "read the element directly: `p[i]`; a `const` and `restrict` pointer has the same effect"),
    (
        "__shfl_down_sync",
        "use `sub_group_shuffle_down` of cl_khr_subgroup_shuffle_relative, without the mask",
    ),
    ("__shfl_sync", "use `sub_group_shuffle` of cl_khr_subgroup_shuffle, without the mask"),
    ("__shfl_up_sync", "use `sub_group_shuffle_up` of cl_khr_subgroup_shuffle_relative, without the mask"),
    ("__shfl_xor_sync", "use `sub_group_shuffle_xor` of cl_khr_subgroup_shuffle, without the mask"),
    ("calloc", "kernels cannot allocate memory; use an array, or a buffer of the host"),
    ("free", "kernels cannot allocate memory; use an array, or a buffer of the host"),
    ("malloc", "kernels cannot allocate memory; use an array, or a buffer of the host"),
];

/// What to do instead of calling an undeclared function.
pub(crate) fn advice(word: &str) -> Option<&'static str> {
    find(&ADVICE, word)
}

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
