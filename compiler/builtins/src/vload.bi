# Vector data load and store (OpenCL C 6.15.7). The names determine rounding and alignment.
@family vload
@attributes pure
@T char uchar short ushort int uint long ulong half float double
@P readable
T2 vload2(size_t, const P T *) = load
T3 vload3(size_t, const P T *) = load
T4 vload4(size_t, const P T *) = load
T8 vload8(size_t, const P T *) = load
T16 vload16(size_t, const P T *) = load
@attributes
@P any
void vstore2(T2, size_t, P T *) = store
void vstore3(T3, size_t, P T *) = store
void vstore4(T4, size_t, P T *) = store
void vstore8(T8, size_t, P T *) = store
void vstore16(T16, size_t, P T *) = store

# With half in memory, which requires no support for half arithmetic.
@attributes pure
@P readable
float vload_half(size_t, const P half *) = load
float2 vload_half2|vloada_half2(size_t, const P half *) = load
float3 vload_half3|vloada_half3(size_t, const P half *) = load
float4 vload_half4|vloada_half4(size_t, const P half *) = load
float8 vload_half8|vloada_half8(size_t, const P half *) = load
float16 vload_half16|vloada_half16(size_t, const P half *) = load
@attributes
@T float double
@P any
void vstore_half|vstore_half_rte|vstore_half_rtz|vstore_half_rtp|vstore_half_rtn(T, size_t, P half *) = store
void vstore_half2|vstore_half2_rte|vstore_half2_rtz|vstore_half2_rtp|vstore_half2_rtn(T2, size_t, P half *) = store
void vstorea_half2|vstorea_half2_rte|vstorea_half2_rtz|vstorea_half2_rtp|vstorea_half2_rtn(T2, size_t, P half *) = store
void vstore_half3|vstore_half3_rte|vstore_half3_rtz|vstore_half3_rtp|vstore_half3_rtn(T3, size_t, P half *) = store
void vstorea_half3|vstorea_half3_rte|vstorea_half3_rtz|vstorea_half3_rtp|vstorea_half3_rtn(T3, size_t, P half *) = store
void vstore_half4|vstore_half4_rte|vstore_half4_rtz|vstore_half4_rtp|vstore_half4_rtn(T4, size_t, P half *) = store
void vstorea_half4|vstorea_half4_rte|vstorea_half4_rtz|vstorea_half4_rtp|vstorea_half4_rtn(T4, size_t, P half *) = store
void vstore_half8|vstore_half8_rte|vstore_half8_rtz|vstore_half8_rtp|vstore_half8_rtn(T8, size_t, P half *) = store
void vstorea_half8|vstorea_half8_rte|vstorea_half8_rtz|vstorea_half8_rtp|vstorea_half8_rtn(T8, size_t, P half *) = store
void vstore_half16|vstore_half16_rte|vstore_half16_rtz|vstore_half16_rtp|vstore_half16_rtn(T16, size_t, P half *) = store
void vstorea_half16|vstorea_half16_rte|vstorea_half16_rtz|vstorea_half16_rtp|vstorea_half16_rtn(T16, size_t, P half *) = store
