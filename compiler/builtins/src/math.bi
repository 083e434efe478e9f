# Math functions (OpenCL C 6.15.2). A function of Kiln's library is followed by the instruction to use if lower
# accuracy is allowed (OpenCL C 7.4, unsafe math optimizations). Functions lowered to `glsl` meet the error bounds of
# OpenCL C 7.4, given those of Vulkan (Precision and Operation of SPIR-V Instructions).
@family math
@attributes const
@T half float double
@n 1 2 3 4 8 16
Tn ceil(Tn) = std * glsl Ceil
Tn fabs(Tn) = std * glsl FAbs
Tn floor(Tn) = std * glsl Floor
Tn rint(Tn) = std * glsl RoundEven
Tn trunc(Tn) = std * glsl Trunc
Tn acos(Tn) = std * own Acos
Tn acosh(Tn) = std * own Acosh
Tn asin(Tn) = std * own Asin
Tn asinh(Tn) = std * own Asinh
Tn atan(Tn) = std * own Atan
Tn atanh(Tn) = std * own Atanh
Tn cos(Tn) = std * own Cos
Tn cosh(Tn) = std * own Cosh
Tn exp(Tn) = std * own Exp
Tn exp2(Tn) = std * own Exp2
Tn log(Tn) = std * own Log
Tn log2(Tn) = std * own Log2
Tn sin(Tn) = std * own Sin
Tn sinh(Tn) = std * own Sinh
Tn sqrt(Tn) = std * own Sqrt
Tn tan(Tn) = std * own Tan
Tn tanh(Tn) = std * own Tanh
Tn acospi|asinpi|atanpi|cbrt|cospi|erf|erfc|exp10|expm1|lgamma|log10|log1p|logb(Tn) = std * own
Tn round|sinpi|tanpi|tgamma(Tn) = std * own
Tn atan2(Tn, Tn) = std * own Atan2
Tn atan2pi|copysign|fdim|fmod|hypot|maxmag|minmag|nextafter|pow|powr|remainder(Tn, Tn) = std * own
Tn fma(Tn, Tn, Tn) = std * fused Fma
Tn mad(Tn, Tn, Tn) = std * glsl Fma
Tn fmax(Tn, Tn) = std * glsl NMax
Tn fmin(Tn, Tn) = std * glsl NMin
intn ilogb(Tn) = std * own
Tn ldexp|pown|rootn(Tn, intn) = std * own
Tn nan(Un) = std * own
@n 2 3 4 8 16
Tn fmax(Tn, T) = std * glsl NMax
Tn fmin(Tn, T) = std * glsl NMin
Tn ldexp(Tn, int) = std * own

# With results through pointers.
@attributes
@n 1 2 3 4 8 16
@P any
Tn fract|modf|sincos(Tn, P Tn *) = std * own
Tn frexp|lgamma_r(Tn, P intn *) = std * own
Tn remquo(Tn, Tn, P intn *) = std * own

# Accurate to two ulp, which is sufficient for float only (OpenCL C 7.4, cl_khr_fp16).
@attributes const
@T float
Tn rsqrt(Tn) = std * own InverseSqrt
@T half double
Tn rsqrt(Tn) = std * own

# Lower accuracy (OpenCL C 6.15.2): half_ allows 8192 ulp for arguments up to 2^16. Vulkan does not guarantee this
# accuracy for sines near zero and logarithms near one. The accuracy of native_ is implementation-defined.
@T float
Tn half_exp(Tn) = std * own Exp
Tn half_exp2(Tn) = std * own Exp2
Tn half_rsqrt(Tn) = std * own InverseSqrt
Tn half_sqrt(Tn) = std * own Sqrt
Tn native_exp(Tn) = std * glsl Exp
Tn native_exp2(Tn) = std * glsl Exp2
Tn native_rsqrt(Tn) = std * glsl InverseSqrt
Tn native_sqrt(Tn) = std * glsl Sqrt
Tn native_cos(Tn) = std * glsl Cos
Tn native_log(Tn) = std * glsl Log
Tn native_log2(Tn) = std * glsl Log2
Tn native_sin(Tn) = std * glsl Sin
Tn native_tan(Tn) = std * glsl Tan
Tn native_powr(Tn, Tn) = std * glsl Pow
Tn half_cos|half_sin|half_tan|half_log|half_log2|half_log10|half_exp10|half_recip(Tn) = std * own
Tn native_exp10|native_log10|native_recip(Tn) = std * own
Tn half_powr|half_divide|native_divide(Tn, Tn) = std * own
