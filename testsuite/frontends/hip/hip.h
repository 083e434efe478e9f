// What the programs need of HIP's own headers. Functions named `__spirv_` become instructions of SPIR-V.

#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __constant__ __attribute__((constant))
#define __shared__ __attribute__((shared))

typedef unsigned int uint;
typedef unsigned long ulong;

__device__ ulong __spirv_BuiltInLocalInvocationId(int);
__device__ ulong __spirv_BuiltInWorkgroupSize(int);
__device__ ulong __spirv_BuiltInWorkgroupId(int);
__device__ ulong __spirv_BuiltInNumWorkgroups(int);
__device__ __attribute__((convergent)) void __spirv_ControlBarrier(int, int, int);
__device__ void __spirv_MemoryBarrier(int, int);

template <ulong (*get)(int)>
struct Index {
    template <int dimension>
    struct Component {
        __device__ operator uint() const { return get(dimension); }
    };
    Component<0> x;
    Component<1> y;
    Component<2> z;
};

#define threadIdx (Index<__spirv_BuiltInLocalInvocationId>())
#define blockDim (Index<__spirv_BuiltInWorkgroupSize>())
#define blockIdx (Index<__spirv_BuiltInWorkgroupId>())
#define gridDim (Index<__spirv_BuiltInNumWorkgroups>())

// Scopes of SPIR-V, and masks of its memory semantics: AcquireRelease or SequentiallyConsistent of all memory.
constexpr int DEVICE = 1, BLOCK = 2, RELAXED = 0, ORDERED = 0x308, SEQUENTIAL = 0x310;

__device__ inline void __syncthreads() { __spirv_ControlBarrier(BLOCK, BLOCK, ORDERED); }
__device__ inline void __threadfence() { __spirv_MemoryBarrier(DEVICE, SEQUENTIAL); }

__device__ int __spirv_AtomicIAdd(int *, int, int, int);
__device__ uint __spirv_AtomicIAdd(uint *, int, int, uint);
__device__ int __spirv_AtomicSMax(int *, int, int, int);
__device__ uint __spirv_AtomicUMin(uint *, int, int, uint);
__device__ uint __spirv_AtomicXor(uint *, int, int, uint);
__device__ uint __spirv_AtomicExchange(uint *, int, int, uint);
__device__ uint __spirv_AtomicCompareExchange(uint *, int, int, int, uint, uint);

template <class T>
__device__ T atomicAdd(T *to, T value) { return __spirv_AtomicIAdd(to, DEVICE, RELAXED, value); }
template <class T>
__device__ T atomicAdd_block(T *to, T value) { return __spirv_AtomicIAdd(to, BLOCK, RELAXED, value); }
__device__ inline int atomicMax(int *to, int value) { return __spirv_AtomicSMax(to, DEVICE, RELAXED, value); }
__device__ inline uint atomicMin(uint *to, uint value) { return __spirv_AtomicUMin(to, DEVICE, RELAXED, value); }
__device__ inline uint atomicXor(uint *to, uint value) { return __spirv_AtomicXor(to, DEVICE, RELAXED, value); }
__device__ inline uint atomicExch(uint *to, uint value) { return __spirv_AtomicExchange(to, DEVICE, RELAXED, value); }
__device__ inline uint atomicCAS(uint *to, uint expected, uint desired) {
    return __spirv_AtomicCompareExchange(to, DEVICE, RELAXED, RELAXED, desired, expected);
}

__device__ float __spirv_ocl_sqrt(float);
__device__ float __spirv_ocl_fma(float, float, float);
__device__ float __spirv_ocl_fmax(float, float);
__device__ int __spirv_ocl_s_abs(int);
__device__ int __spirv_ocl_popcount(int);
__device__ inline float sqrtf(float x) { return __spirv_ocl_sqrt(x); }
__device__ inline float fmaf(float x, float y, float z) { return __spirv_ocl_fma(x, y, z); }
__device__ inline float fmaxf(float x, float y) { return __spirv_ocl_fmax(x, y); }
__device__ inline int abs(int x) { return __spirv_ocl_s_abs(x); }
__device__ inline int __popc(int x) { return __spirv_ocl_popcount(x); }
