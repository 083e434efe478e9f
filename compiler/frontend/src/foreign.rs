//! Words of C's headers and of related languages, and their replacements in OpenCL C.

/// Types, and the equivalent type.
const TYPES: [(&str, &str); 34] = [
    ("__half", "half"),
    ("boolean", "bool"),
    ("byte", "uchar"),
    ("f32", "float"),
    ("f64", "double"),
    ("float32", "float"),
    ("float32_t", "float"),
    ("float64", "double"),
    ("float64_t", "double"),
    ("i16", "short"),
    ("i32", "int"),
    ("i64", "long"),
    ("i8", "char"),
    ("int16_t", "short"),
    ("int32", "int"),
    ("int32_t", "int"),
    ("int64", "long"),
    ("int64_t", "long"),
    ("int8_t", "char"),
    ("ivec2", "int2"),
    ("ivec4", "int4"),
    ("u16", "ushort"),
    ("u32", "uint"),
    ("u64", "ulong"),
    ("u8", "uchar"),
    ("uint16_t", "ushort"),
    ("uint32", "uint"),
    ("uint32_t", "uint"),
    ("uint64", "ulong"),
    ("uint64_t", "ulong"),
    ("uint8_t", "uchar"),
    ("vec2", "float2"),
    ("vec3", "float3"),
    ("vec4", "float4"),
];

/// Names, and the equivalent expression. The second part of a CUDA variable selects the dimension.
const NAMES: [(&str, &str); 57] = [
    ("CLK_GLOBAL", "CLK_GLOBAL_MEM_FENCE"),
    ("CLK_GLOBAL_FENCE", "CLK_GLOBAL_MEM_FENCE"),
    ("CLK_GLOBAL_MEMFENCE", "CLK_GLOBAL_MEM_FENCE"),
    ("CLK_LOCAL", "CLK_LOCAL_MEM_FENCE"),
    ("CLK_LOCAL_FENCE", "CLK_LOCAL_MEM_FENCE"),
    ("CLK_LOCAL_MEMFENCE", "CLK_LOCAL_MEM_FENCE"),
    ("CL_FALSE", "false"),
    ("CL_TRUE", "true"),
    ("FALSE", "false"),
    ("FLT_EPS", "FLT_EPSILON"),
    ("False", "false"),
    ("GLOBAL_MEM_FENCE", "CLK_GLOBAL_MEM_FENCE"),
    ("INT16_MAX", "SHRT_MAX"),
    ("INT16_MIN", "SHRT_MIN"),
    ("INT32_MAX", "INT_MAX"),
    ("INT32_MIN", "INT_MIN"),
    ("INT64_MAX", "LONG_MAX"),
    ("INT64_MIN", "LONG_MIN"),
    ("INT8_MAX", "SCHAR_MAX"),
    ("INT8_MIN", "SCHAR_MIN"),
    ("LLONG_MAX", "LONG_MAX"),
    ("LOCAL_MEM_FENCE", "CLK_LOCAL_MEM_FENCE"),
    ("TRUE", "true"),
    ("True", "true"),
    ("UCHAR_MIN", "0"),
    ("UINT16_MAX", "USHRT_MAX"),
    ("UINT32_MAX", "UINT_MAX"),
    ("UINT64_MAX", "ULONG_MAX"),
    ("UINT8_MAX", "UCHAR_MAX"),
    ("UINT_MIN", "0"),
    ("ULLONG_MAX", "ULONG_MAX"),
    ("ULONG_MIN", "0"),
    ("USHRT_MIN", "0"),
    ("acq_rel", "memory_order_acq_rel"),
    ("acquire", "memory_order_acquire"),
    ("blockDim", "get_local_size(0)"),
    ("blockIdx", "get_group_id(0)"),
    ("gl_GlobalInvocationID", "get_global_id(0)"),
    ("gl_LocalInvocationID", "get_local_id(0)"),
    ("gl_LocalInvocationIndex", "get_local_linear_id()"),
    ("gl_NumWorkGroups", "get_num_groups(0)"),
    ("gl_WorkGroupID", "get_group_id(0)"),
    ("gl_WorkGroupSize", "get_local_size(0)"),
    ("gridDim", "get_num_groups(0)"),
    ("memory_scope_global", "memory_scope_device"),
    ("memory_scope_local", "memory_scope_work_group"),
    ("memory_scope_subgroup", "memory_scope_sub_group"),
    ("memory_scope_system", "memory_scope_all_svm_devices"),
    ("memory_scope_workgroup", "memory_scope_work_group"),
    ("nil", "NULL"),
    ("null", "NULL"),
    ("nullptr", "NULL"),
    ("relaxed", "memory_order_relaxed"),
    ("release", "memory_order_release"),
    ("seq_cst", "memory_order_seq_cst"),
    ("threadIdx", "get_local_id(0)"),
    ("warpSize", "get_max_sub_group_size()"),
];

/// Names that programs may also declare themselves, and their meaning in other languages.
const LIKELY: [(&str, &str); 10] = [
    ("GLOBAL", "CLK_GLOBAL_MEM_FENCE"),
    ("INF", "INFINITY"),
    ("Infinity", "INFINITY"),
    ("LOCAL", "CLK_LOCAL_MEM_FENCE"),
    ("NaN", "NAN"),
    ("PI", "M_PI_F"),
    ("device", "memory_scope_device"),
    ("inf", "INFINITY"),
    ("pi", "M_PI_F"),
    ("work_group", "memory_scope_work_group"),
];

/// Functions, and the equivalent call or name.
const FUNCTIONS: [(&str, &str); 79] = [
    ("GroupMemoryBarrierWithGroupSync", "barrier(CLK_LOCAL_MEM_FENCE)"),
    ("__clz", "clz"),
    ("__cosf", "native_cos"),
    ("__expf", "native_exp"),
    ("__fdividef", "native_divide"),
    ("__float2int_rn", "convert_int_rte"),
    ("__float2int_rz", "convert_int"),
    ("__float_as_int", "as_int"),
    ("__float_as_uint", "as_uint"),
    ("__fmaf_rn", "fma"),
    ("__int2float_rn", "convert_float"),
    ("__int_as_float", "as_float"),
    ("__logf", "native_log"),
    ("__mul24", "mul24"),
    ("__popc", "popcount"),
    ("__powf", "native_powr"),
    ("__sinf", "native_sin"),
    ("__sync_fetch_and_add", "atomic_add"),
    ("__sync_fetch_and_and", "atomic_and"),
    ("__sync_fetch_and_or", "atomic_or"),
    ("__sync_fetch_and_sub", "atomic_sub"),
    ("__sync_fetch_and_xor", "atomic_xor"),
    ("__sync_val_compare_and_swap", "atomic_cmpxchg"),
    ("__syncthreads", "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)"),
    ("__syncwarp", "sub_group_barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)"),
    ("__tanf", "native_tan"),
    (
        "__threadfence",
        "atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acq_rel, memory_scope_device)",
    ),
    ("__threadfence_block", "mem_fence(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)"),
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
    ("atomic_add_explicit", "atomic_fetch_add_explicit"),
    ("atomic_and_explicit", "atomic_fetch_and_explicit"),
    ("atomic_cmpxchg_explicit", "atomic_compare_exchange_strong_explicit"),
    ("atomic_max_explicit", "atomic_fetch_max_explicit"),
    ("atomic_min_explicit", "atomic_fetch_min_explicit"),
    ("atomic_or_explicit", "atomic_fetch_or_explicit"),
    ("atomic_sub_explicit", "atomic_fetch_sub_explicit"),
    ("atomic_xchg_explicit", "atomic_exchange_explicit"),
    ("atomic_xor_explicit", "atomic_fetch_xor_explicit"),
    ("global_id", "get_global_id"),
    ("global_size", "get_global_size"),
    ("group_id", "get_group_id"),
    ("inversesqrt", "rsqrt"),
    ("isInf", "isinf"),
    ("isNaN", "isnan"),
    ("isNan", "isnan"),
    ("ivec2", "(int2)"),
    ("ivec3", "(int3)"),
    ("ivec4", "(int4)"),
    ("lerp", "mix"),
    ("local_id", "get_local_id"),
    ("local_size", "get_local_size"),
    ("make_float2", "(float2)"),
    ("make_float3", "(float3)"),
    ("make_float4", "(float4)"),
    ("make_int2", "(int2)"),
    ("make_int3", "(int3)"),
    ("make_int4", "(int4)"),
    ("make_uint2", "(uint2)"),
    ("make_uint3", "(uint3)"),
    ("make_uint4", "(uint4)"),
    ("num_groups", "get_num_groups"),
    ("powi", "pown"),
    ("sub_group_reduce", "sub_group_reduce_add"),
    ("sub_group_reduce_sum", "sub_group_reduce_add"),
    ("vec2", "(float2)"),
    ("vec3", "(float3)"),
    ("vec4", "(float4)"),
    ("work_group_reduce", "work_group_reduce_add"),
    ("work_group_reduce_sum", "work_group_reduce_add"),
];

/// Functions of C and CUDA without an equivalent that takes the same arguments, and advice.
const ADVICE: [(&str, &str); 47] = [
    ("InterlockedAdd", "use `atomic_add`, which takes a pointer and returns the old value"),
    ("__activemask", "use `sub_group_ballot(1)` of cl_khr_subgroup_ballot"),
    ("__all_sync", "use `sub_group_all`, without the mask"),
    ("__any_sync", "use `sub_group_any`, without the mask"),
    ("__ballot_sync", "use `sub_group_ballot` of cl_khr_subgroup_ballot, without the mask"),
    ("__ffs", "use `ctz(x) + 1` for an `x` that is not 0"),
    ("__ldg", "read the element directly: `p[i]`; a `const` and `restrict` pointer has the same effect"),
    ("__saturatef", SATURATE),
    (
        "__shfl_down_sync",
        "use `sub_group_shuffle_down` of cl_khr_subgroup_shuffle_relative, without the mask",
    ),
    ("__shfl_sync", "use `sub_group_shuffle` of cl_khr_subgroup_shuffle, without the mask"),
    ("__shfl_up_sync", "use `sub_group_shuffle_up` of cl_khr_subgroup_shuffle_relative, without the mask"),
    ("__shfl_xor_sync", "use `sub_group_shuffle_xor` of cl_khr_subgroup_shuffle, without the mask"),
    ("abort", "end a kernel with `return`, for each work-item"),
    ("assert", "include `<kiln/assert.h>`"),
    ("atomic_dec_explicit", "use `atomic_fetch_sub_explicit`, with 1 after the object"),
    ("atomic_inc_explicit", "use `atomic_fetch_add_explicit`, with 1 after the object"),
    (
        "atomic_thread_fence",
        "use `atomic_work_item_fence`, whose first argument is the memory: `CLK_GLOBAL_MEM_FENCE`, `CLK_LOCAL_MEM_FENCE`",
    ),
    ("calloc", "kernels cannot allocate memory; use an array, or a buffer of the host"),
    ("clock", "kernels have no clock; measure launches on the host, as `kiln bench` does"),
    ("clock64", "kernels have no clock; measure launches on the host, as `kiln bench` does"),
    ("dFdx", "kernels have no derivatives; compute the difference to the neighbor"),
    ("ddx", "kernels have no derivatives; compute the difference to the neighbor"),
    ("exit", "end a kernel with `return`, for each work-item"),
    ("ffs", "use `ctz(x) + 1`, and test for 0 first"),
    ("fprintf", "use `printf`, without the file"),
    ("frac", "use `x - floor(x)`; `fract` also returns the integer part through a pointer"),
    ("free", "kernels cannot allocate memory; use an array, or a buffer of the host"),
    ("imageLoad", "use `read_imagef`, `read_imagei` or `read_imageui`"),
    ("imageStore", "use `write_imagef`, `write_imagei` or `write_imageui`"),
    ("malloc", "kernels cannot allocate memory; use an array, or a buffer of the host"),
    ("memcpy", "assign the elements in a loop, or the whole struct"),
    ("memmove", "assign the elements in a loop, or the whole struct"),
    ("memset", "assign the elements in a loop"),
    ("mod", "use `fmod`, whose result has the sign of the first argument"),
    ("print", "use `printf`"),
    ("println", "use `printf`"),
    ("puts", "use `printf`"),
    ("rand", "kernels have no random numbers; compute them from a seed and `get_global_id(0)`"),
    ("random", "kernels have no random numbers; compute them from a seed and `get_global_id(0)`"),
    ("saturate", SATURATE),
    ("sprintf", "kernels have no functions for strings; `printf` prints"),
    ("strcmp", "kernels have no functions for strings"),
    ("strlen", "kernels have no functions for strings"),
    ("swap", "assign through a temporary variable"),
    ("tex2D", "declare a `read_only image2d_t` and read it with `read_imagef`"),
    ("texture", "declare a `read_only image2d_t` and read it with `read_imagef`"),
    ("texture2D", "declare a `read_only image2d_t` and read it with `read_imagef`"),
];

/// Functions that clamp their argument to the range from 0 to 1.
pub(crate) const SATURATE: &str = "use `clamp` with the bounds 0 and 1";

/// Advice for a call of an undeclared function.
pub(crate) fn advice(word: &str) -> Option<&'static str> {
    const HOST: &str = "functions of the CUDA runtime are called by the host; OpenCL's are in `CL/cl.h`";
    find(&ADVICE, word).or_else(|| word.starts_with("cuda").then_some(HOST))
}

/// Words that start declarations in C++.
const CPP: [&str; 9] =
    ["class", "constexpr", "delete", "friend", "namespace", "template", "typename", "using", "virtual"];

/// Words that start declarations in other languages.
const OTHERS: [&str; 7] = ["def", "fn", "func", "function", "let", "val", "var"];

/// The explanation for a word that starts declarations in another language.
pub(crate) fn explain_word(word: &str) -> Option<String> {
    if CPP.contains(&word) {
        return Some(format!("`{word}` is C++; OpenCL C is based on C99"));
    }
    match word {
        "bool2" | "bool3" | "bool4" | "bool8" | "bool16" => {
            Some("OpenCL C 6.5.4: comparisons of vectors give vectors of integers, such as `int4`".to_owned())
        }
        "dim3" => Some("the host sets the sizes of a launch; three sizes are a `uint3`".to_owned()),
        "import" => Some("OpenCL C has `#include \"file\"` instead".to_owned()),
        "string" => {
            Some("a string literal is a `constant char` array; there are no other strings".to_owned())
        }
        _ => OTHERS.contains(&word).then(|| format!("a declaration begins with a type, not with `{word}`")),
    }
}

fn find(table: &[(&'static str, &'static str)], word: &str) -> Option<&'static str> {
    table.iter().find(|(known, _)| *known == word).map(|(_, meant)| *meant)
}

/// The equivalent type.
pub(crate) fn type_for(word: &str) -> Option<&'static str> {
    find(&TYPES, word)
}

/// The equivalent of an undeclared name.
pub(crate) fn value_for(word: &str) -> Option<&'static str> {
    find(&NAMES, word)
}

/// The probable equivalent of an undeclared name. Use it only if the program has no similar name.
pub(crate) fn likely_value_for(word: &str) -> Option<&'static str> {
    find(&LIKELY, word)
}

/// The equivalent of an undeclared function. C's functions for `float`, such as `sqrtf`, are those without the
/// `f`, if `is_builtin` accepts them.
pub(crate) fn function_for(word: &str, is_builtin: impl Fn(&str) -> bool) -> Option<&str> {
    find(&FUNCTIONS, word)
        .or_else(|| word.strip_suffix('f').filter(|name| name.len() > 2 && is_builtin(name)))
}
