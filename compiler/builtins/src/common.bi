# Common functions (OpenCL C 6.15.4).
@family common
@attributes const
@T half float double
@n 1 2 3 4 8 16
Tn clamp(Tn, Tn, Tn) = std fclamp glsl NClamp
Tn degrees(Tn) = std * glsl32 Degrees
Tn radians(Tn) = std * glsl32 Radians
Tn max(Tn, Tn) = std fmax_common glsl NMax
Tn min(Tn, Tn) = std fmin_common glsl NMin
Tn mix(Tn, Tn, Tn) = std * glsl FMix
Tn step(Tn, Tn) = std * own
Tn smoothstep(Tn, Tn, Tn) = std * glsl SmoothStep
Tn sign(Tn) = std * own
@n 2 3 4 8 16
Tn clamp(Tn, T, T) = std fclamp glsl NClamp
Tn max(Tn, T) = std fmax_common glsl NMax
Tn min(Tn, T) = std fmin_common glsl NMin
Tn mix(Tn, Tn, T) = std * glsl FMix
Tn step(T, Tn) = std * own
Tn smoothstep(T, T, Tn) = std * glsl SmoothStep

# Geometric functions (OpenCL C 6.15.5).
@family geometric
@attributes const
@T half float double
@n 1 2 3 4
T dot(Tn, Tn) = core
T distance(Tn, Tn) = std * own
T length(Tn) = std * own
Tn normalize(Tn) = std * own
@n 3 4
Tn cross(Tn, Tn) = std * own
@T float
@n 1 2 3 4
T fast_distance(Tn, Tn) = std * glsl Distance
T fast_length(Tn) = std * glsl Length
Tn fast_normalize(Tn) = std * glsl Normalize
