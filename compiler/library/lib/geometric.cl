// Geometric functions of float (OpenCL C 6.15.5), with lengths without intermediate overflow or underflow.
//
// Defines: length distance normalize cross
#include "exact.cl"
#include "pow.cl"

// A power of two that scales a number of this magnitude close to one.
float scale_to_one(float size) { return size > 0x1p60f ? 0x1p-80f : size < 0x1p-50f ? 0x1p80f : 1.0f; }

float scale_back(float size) { return size > 0x1p60f ? 0x1p80f : size < 0x1p-50f ? 0x1p-80f : 1.0f; }

float sum_float2(float2 v) { return v.x + v.y; }
float sum_float3(float3 v) { return v.x + v.y + v.z; }
float sum_float4(float4 v) { return (v.x + v.y) + (v.z + v.w); }
float largest_float2(float2 v) { return fmax(v.x, v.y); }
float largest_float3(float3 v) { return fmax(fmax(v.x, v.y), v.z); }
float largest_float4(float4 v) { return fmax(fmax(v.x, v.y), fmax(v.z, v.w)); }

#define GEOMETRIC(T)                                                                                        \
    float length_##T(T v) {                                                                                  \
        float size = largest_##T(fabs(v));                                                                   \
        if (size == as_float(INFINITE)) return size;                                                         \
        float scale = scale_to_one(size);                                                                    \
        v *= scale;                                                                                          \
        return sqrt_float(sum_##T(v * v)) * scale_back(size);                                                \
    }                                                                                                        \
    float distance_##T(T a, T b) { return length_##T(a - b); }                                               \
    T normalize_##T(T v) {                                                                                   \
        float size = largest_##T(fabs(v));                                                                   \
        if (size == 0.0f) return v;                                                                          \
        if (size == as_float(INFINITE)) {                                                                    \
            v = select((T)0.0f, (T)1.0f, isinf(v)) * select((T)1.0f, (T)-1.0f, v < (T)0.0f);                 \
            size = 1.0f;                                                                                     \
        }                                                                                                    \
        /* The small components of a large vector keep their bits. */                                        \
        bool is_large = size > 0x1p60f;                                                                      \
        float scale = scale_to_one(size);                                                                    \
        T scaled = v * scale;                                                                                \
        float inverse = native_rsqrt(sum_##T(scaled * scaled));                                              \
        return v * (is_large ? 0x1p-20f : scale) * (is_large ? inverse * 0x1p-60f : inverse);                \
    }
GEOMETRIC(float2)
GEOMETRIC(float3)
GEOMETRIC(float4)

float length_float(float v) { return fabs(v); }
float distance_float(float a, float b) { return fabs(a - b); }
float normalize_float(float v) { return isnan(v) || v == 0.0f ? v : copysign_float(1.0f, v); }

float3 cross_float3(float3 a, float3 b) { return a.yzx * b.zxy - a.zxy * b.yzx; }
float4 cross_float4(float4 a, float4 b) { return (float4)(a.yzx * b.zxy - a.zxy * b.yzx, 0.0f); }
