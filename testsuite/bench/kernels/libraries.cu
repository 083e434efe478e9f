// The operations of libraries.cl by CUDA's libraries, CUB and cuRAND. Prints the milliseconds of each run.
// Arguments: the operation, the number of elements, the milliseconds of unmeasured runs, and the number of measured ones.
#include <cub/cub.cuh>
#include <curand_kernel.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <string>
#include <vector>

static void check(cudaError_t error)
{
    if (error != cudaSuccess) {
        std::fprintf(stderr, "%s\n", cudaGetErrorString(error));
        std::exit(1);
    }
}

static uint32_t *allocate(size_t words)
{
    uint32_t *memory;
    check(cudaMalloc(&memory, 4 * words));
    return memory;
}

__global__ void philox(uint4 *out)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = curand_Philox4x32_10(make_uint4(i, 0, 0, 0), make_uint2(0, 0));
}

int main(int, char **arguments)
{
    std::string what = arguments[1];
    size_t n = std::strtoull(arguments[2], nullptr, 10);
    std::chrono::milliseconds warm_up(std::atoi(arguments[3]));
    int rounds = std::atoi(arguments[4]);

    // The numbers of `noise` in kernels.rs.
    std::vector<uint32_t> numbers(n);
    uint64_t state = 0x9e3779b97f4a7c15u;
    for (uint32_t &number : numbers) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        number = uint32_t(state >> 32);
    }
    uint32_t *in = allocate(n), *out = allocate(n), *values = allocate(n), *sorted_values = allocate(n);
    check(cudaMemcpy(in, numbers.data(), 4 * n, cudaMemcpyHostToDevice));
    check(cudaMemcpy(values, numbers.data(), 4 * n, cudaMemcpyHostToDevice));

    void *scratch = nullptr;
    size_t bytes = 0;
    auto run = [&]() -> cudaError_t {
        if (what == "copy")
            return cudaMemcpyAsync(out, in, 4 * n, cudaMemcpyDeviceToDevice);
        if (what == "scan")
            return cub::DeviceScan::InclusiveSum(scratch, bytes, in, out, n);
        if (what == "reduction")
            return cub::DeviceReduce::Sum(scratch, bytes, in, out, n);
        if (what == "sort of keys")
            return cub::DeviceRadixSort::SortKeys(scratch, bytes, in, out, n);
        if (what == "sort of pairs")
            return cub::DeviceRadixSort::SortPairs(scratch, bytes, in, out, values, sorted_values, n);
        if (what == "histogram")
            return cub::DeviceHistogram::HistogramEven(scratch, bytes, (const uint8_t *)in, out, 257, 0, 256, 4 * n);
        philox<<<n / 4 / 256, 256>>>((uint4 *)out);
        return cudaGetLastError();
    };
    // The first call of CUB's functions asks for the size of their memory.
    if (what != "copy" && what != "random numbers") {
        check(run());
        check(cudaMalloc(&scratch, bytes));
    }
    cudaEvent_t begin, end;
    check(cudaEventCreate(&begin));
    check(cudaEventCreate(&end));
    std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
    for (int round = 0; round < rounds;) {
        bool is_warm = std::chrono::steady_clock::now() - start > warm_up;
        check(cudaEventRecord(begin));
        check(run());
        check(cudaEventRecord(end));
        check(cudaEventSynchronize(end));
        float milliseconds;
        check(cudaEventElapsedTime(&milliseconds, begin, end));
        if (is_warm) {
            std::printf("%.6f\n", milliseconds);
            round++;
        }
    }

    std::vector<uint32_t> result(n);
    check(cudaMemcpy(result.data(), out, 4 * n, cudaMemcpyDeviceToHost));
    bool is_right = true;
    if (what == "scan")
        is_right = result.back() == std::accumulate(numbers.begin(), numbers.end(), 0u);
    if (what == "sort of keys" || what == "sort of pairs")
        is_right = std::is_sorted(result.begin(), result.end());
    if (what == "random numbers")
        is_right = result[0] == 0x6627e8d5;
    if (!is_right)
        std::fprintf(stderr, "the result of the %s is wrong\n", what.c_str());
    return !is_right;
}
