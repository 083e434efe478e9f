// An OpenCL program that maps buffers, and passes pointers into mappings to reads and writes. Exits with 0 if all contents are right.

#include "checks.h"

#include <stdint.h>
#include <string.h>

static cl_device_id device;
static cl_command_queue queue;
static cl_kernel twice;

// More than what a transfer through staging memory has in flight.
#define LARGE (5 << 20)

static cl_mem of_flags(cl_mem_flags flags, size_t words) {
    cl_int error;
    cl_mem buffer = clCreateBuffer(context, flags, 4 * words, NULL, &error);
    SUCCEEDS(error);
    return buffer;
}

static uint32_t *map(cl_mem buffer, cl_map_flags flags, size_t first, size_t words) {
    cl_int error;
    uint32_t *mapped = clEnqueueMapBuffer(queue, buffer, CL_TRUE, flags, 4 * first, 4 * words, 0, NULL, NULL, &error);
    SUCCEEDS(error);
    return mapped;
}

static void unmap(cl_mem buffer, void *mapped) {
    SUCCEEDS(clEnqueueUnmapMemObject(queue, buffer, mapped, 0, NULL, NULL));
}

// Fills the buffer with `start`, `start + 1`, ….
static void count_from(cl_mem buffer, uint32_t start, size_t words) {
    uint32_t *numbers = malloc(4 * words);
    for (size_t i = 0; i < words; i++) numbers[i] = start + i;
    SUCCEEDS(clEnqueueWriteBuffer(queue, buffer, CL_TRUE, 0, 4 * words, numbers, 0, NULL, NULL));
    free(numbers);
}

static void counts(const uint32_t *numbers, uint32_t start, size_t words) {
    for (size_t i = 0; i < words; i++) REQUIRE(numbers[i] == start + i);
}

static void contains(cl_mem buffer, size_t at, uint32_t start, size_t words) {
    uint32_t *numbers = malloc(4 * words);
    SUCCEEDS(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 4 * at, 4 * words, numbers, 0, NULL, NULL));
    counts(numbers, start, words);
    free(numbers);
}

static void double_all(cl_mem buffer, size_t words) {
    SUCCEEDS(clSetKernelArg(twice, 0, sizeof buffer, &buffer));
    SUCCEEDS(clEnqueueNDRangeKernel(queue, twice, 1, NULL, &words, NULL, 0, NULL, NULL));
}

// Maps of parts, which can overlap if one at most writes.
static void parts(cl_mem_flags flags) {
    cl_mem buffer = of_flags(flags, 1000);
    count_from(buffer, 100, 1000);
    uint32_t *first = map(buffer, CL_MAP_READ, 0, 600), *second = map(buffer, CL_MAP_READ, 300, 700);
    counts(first, 100, 600);
    counts(second, 400, 700);
    unmap(buffer, first);
    counts(second, 400, 700);
    unmap(buffer, second);
    uint32_t *odd = map(buffer, CL_MAP_WRITE, 7, 3);
    counts(odd, 107, 3);
    for (int i = 0; i < 3; i++) odd[i] = i;
    cl_int error;
    clEnqueueMapBuffer(queue, buffer, CL_TRUE, CL_MAP_WRITE, 32, 4, 0, NULL, NULL, &error);
    REQUIRE(error == CL_INVALID_OPERATION);
    uint32_t *after = map(buffer, CL_MAP_WRITE_INVALIDATE_REGION, 10, 990);
    for (int i = 0; i < 990; i++) after[i] = 3 + i;
    unmap(buffer, after);
    unmap(buffer, odd);
    contains(buffer, 0, 100, 7);
    contains(buffer, 7, 0, 993);
    SUCCEEDS(clReleaseMemObject(buffer));
}

static void kernels_between(cl_mem_flags flags, size_t words) {
    cl_mem buffer = of_flags(flags, words);
    count_from(buffer, 0, words);
    void *addresses[4];
    for (int round = 0; round < 4; round++) {
        double_all(buffer, words);
        uint32_t *mapped = map(buffer, CL_MAP_READ | CL_MAP_WRITE, 0, words);
        addresses[round] = mapped;
        for (size_t i = 0; i < words; i++) {
            REQUIRE(mapped[i] == 2 * i);
            mapped[i] = i;
        }
        unmap(buffer, mapped);
        if (round == 1) SUCCEEDS(clFinish(queue));
    }
    // The memory of a mapping is kept.
    const char *host_buffers = getenv("KILN_HOST_BUFFERS");
    if (flags & CL_MEM_ALLOC_HOST_PTR && host_buffers && *host_buffers == '0')
        REQUIRE(addresses[2] == addresses[0] || addresses[2] == addresses[1]);
    contains(buffer, 0, 0, words);
    SUCCEEDS(clReleaseMemObject(buffer));
}

// Reads to and writes from the memory of a mapping.
static void pointers_into_mappings(size_t words) {
    cl_mem pinned = of_flags(CL_MEM_ALLOC_HOST_PTR, words + 10), buffer = of_flags(0, words), copy = of_flags(0, words);
    count_from(pinned, 0, words + 10);
    uint32_t *mapped = map(pinned, CL_MAP_WRITE, 0, words + 10);
    size_t bytes = 4 * words;
    SUCCEEDS(clEnqueueWriteBuffer(queue, buffer, CL_FALSE, 0, bytes, mapped + 10, 0, NULL, NULL));
    double_all(buffer, words);
    SUCCEEDS(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, bytes, mapped, 0, NULL, NULL));
    for (size_t i = 0; i < words; i++) REQUIRE(mapped[i] == 2 * (i + 10));
    counts(mapped + words, words, 10);
    // A blocking write leaves the memory to the program.
    for (size_t i = 0; i < words; i++) mapped[i] = i;
    SUCCEEDS(clEnqueueWriteBuffer(queue, buffer, CL_TRUE, 0, bytes, mapped, 0, NULL, NULL));
    memset(mapped, 255, bytes);
    contains(buffer, 0, 0, words);
    // Commands of all kinds see what the earlier ones left in the memory, and the last one delays them all.
    cl_int error;
    cl_event gate = clCreateUserEvent(context, &error), written;
    SUCCEEDS(error);
    size_t origin[3] = {0, 0, 0}, region[3] = {8, words / 2, 1};
    SUCCEEDS(clEnqueueReadBuffer(queue, buffer, CL_FALSE, 0, bytes, mapped, 1, &gate, NULL));
    SUCCEEDS(clEnqueueWriteBufferRect(queue, copy, CL_FALSE, origin, origin, region, 8, 0, 8, 0, mapped, 0, NULL, NULL));
    double_all(copy, words);
    SUCCEEDS(clEnqueueReadBufferRect(queue, copy, CL_FALSE, origin, origin, region, 8, 0, 8, 0, mapped, 0, NULL, NULL));
    SUCCEEDS(clEnqueueWriteBuffer(queue, buffer, CL_FALSE, 0, bytes, mapped, 0, NULL, &written));
    REQUIRE(mapped[1] == UINT32_MAX);
    SUCCEEDS(clSetUserEventStatus(gate, CL_COMPLETE));
    SUCCEEDS(clWaitForEvents(1, &written));
    for (size_t i = 0; i < words / 2 * 2; i++) REQUIRE(mapped[i] == 2 * i);
    // A pointer to the buffer's own mapping.
    SUCCEEDS(clEnqueueReadBuffer(queue, pinned, CL_TRUE, 4, 8, mapped, 0, NULL, NULL));
    unmap(pinned, mapped);
    SUCCEEDS(clFinish(queue));
    mapped = map(buffer, CL_MAP_READ, 0, 4);
    REQUIRE(mapped[0] == 0 && mapped[3] == 6);
    unmap(buffer, mapped);
    cl_event events[] = {gate, written};
    for (int i = 0; i < 2; i++) SUCCEEDS(clReleaseEvent(events[i]));
    cl_mem buffers[] = {pinned, buffer, copy};
    for (int i = 0; i < 3; i++) SUCCEEDS(clReleaseMemObject(buffers[i]));
}

// Texels from and to the memory of a mapping, aligned and unaligned, with and without bytes between rows.
static void texels_in_mappings(void) {
    cl_int error;
    cl_bool has_images;
    SUCCEEDS(clGetDeviceInfo(device, CL_DEVICE_IMAGE_SUPPORT, sizeof has_images, &has_images, NULL));
    if (!has_images) return;
    cl_image_format format = {CL_RGBA, CL_UNSIGNED_INT8};
    cl_image_desc desc = {.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 16, .image_height = 8};
    cl_mem image = clCreateImage(context, 0, &format, &desc, NULL, &error), pinned = of_flags(CL_MEM_ALLOC_HOST_PTR, 4096);
    SUCCEEDS(error);
    unsigned char *mapped = (void *)map(pinned, CL_MAP_WRITE, 0, 4096);
    size_t origin[3] = {0, 0, 0}, region[3] = {16, 8, 1};
    for (int pitch = 0; pitch <= 80; pitch += 80)
        for (int at = 0; at < 9; at++) {
            size_t row = pitch ? pitch : 64;
            for (int i = 0; i < 4096; i++) mapped[i] = i * 7 + at;
            SUCCEEDS(clEnqueueWriteImage(queue, image, CL_FALSE, origin, region, pitch, 0, mapped + at, 0, NULL, NULL));
            SUCCEEDS(clEnqueueReadImage(queue, image, CL_TRUE, origin, region, pitch, 0, mapped + 2048 + at, 0, NULL, NULL));
            for (size_t y = 0; y < 8; y++) REQUIRE(!memcmp(mapped + at + y * row, mapped + 2048 + at + y * row, 64));
            REQUIRE(mapped[2047 + at] == (unsigned char)(2047 * 7 + at * 8));
        }
    unmap(pinned, mapped);
    SUCCEEDS(clReleaseMemObject(image));
    SUCCEEDS(clReleaseMemObject(pinned));
}

// A map that does not block, of a part that is a buffer itself, in a queue without an order.
static void parts_without_order(void) {
    cl_mem whole = of_flags(CL_MEM_ALLOC_HOST_PTR, 1024);
    count_from(whole, 0, 1024);
    cl_int error;
    cl_buffer_region region = {2048, 1024};
    cl_mem part = clCreateSubBuffer(whole, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &error);
    SUCCEEDS(error);
    cl_queue_properties bits = CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE;
    cl_queue_properties properties[] = {CL_QUEUE_PROPERTIES, bits, 0};
    cl_command_queue unordered = clCreateCommandQueueWithProperties(context, device, properties, &error);
    SUCCEEDS(error);
    cl_event gate = clCreateUserEvent(context, &error), mapped, unmapped;
    uint32_t *numbers = clEnqueueMapBuffer(unordered, part, CL_FALSE, CL_MAP_READ | CL_MAP_WRITE, 64, 128, 1, &gate, &mapped, &error);
    SUCCEEDS(error);
    cl_int status;
    SUCCEEDS(clGetEventInfo(mapped, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL));
    REQUIRE(status > CL_COMPLETE);
    SUCCEEDS(clSetUserEventStatus(gate, CL_COMPLETE));
    SUCCEEDS(clWaitForEvents(1, &mapped));
    counts(numbers, 528, 32);
    for (int i = 0; i < 32; i++) numbers[i] = i;
    SUCCEEDS(clEnqueueUnmapMemObject(unordered, part, numbers, 1, &mapped, &unmapped));
    SUCCEEDS(clWaitForEvents(1, &unmapped));
    cl_ulong times[4];
    cl_event events[] = {mapped, unmapped, gate};
    for (int i = 0; i < 2; i++) {
        for (int k = 0; k < 4; k++)
            SUCCEEDS(clGetEventProfilingInfo(events[i], CL_PROFILING_COMMAND_QUEUED + k, 8, &times[k], NULL));
        REQUIRE(times[0] <= times[1] && times[1] <= times[2] && times[2] <= times[3]);
    }
    contains(whole, 0, 0, 528);
    contains(whole, 528, 0, 32);
    contains(whole, 560, 560, 464);
    for (int i = 0; i < 3; i++) SUCCEEDS(clReleaseEvent(events[i]));
    SUCCEEDS(clReleaseCommandQueue(unordered));
    SUCCEEDS(clReleaseMemObject(part));
    SUCCEEDS(clReleaseMemObject(whole));
}

int main(void) {
    cl_int error;
    device = open_device();
    queue = clCreateCommandQueueWithProperties(context, device, NULL, &error);
    SUCCEEDS(error);
    cl_program program = of_source("kernel void twice(global uint *p) { p[get_global_id(0)] *= 2; }\n");
    SUCCEEDS(clBuildProgram(program, 1, &device, "", NULL, NULL));
    twice = clCreateKernel(program, "twice", &error);
    SUCCEEDS(error);
    char name[256];
    SUCCEEDS(clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof name, name, NULL));
    // The reference device is slow.
    size_t large = strstr(name, "reference") ? 10000 : LARGE;
    cl_mem_flags flags[] = {0, CL_MEM_ALLOC_HOST_PTR};
    for (int i = 0; i < 2; i++) {
        parts(flags[i]);
        kernels_between(flags[i], 1);
        kernels_between(flags[i], large);
    }
    pointers_into_mappings(100);
    pointers_into_mappings(large);
    texels_in_mappings();
    parts_without_order();
    SUCCEEDS(clReleaseKernel(twice));
    SUCCEEDS(clReleaseProgram(program));
    SUCCEEDS(clReleaseCommandQueue(queue));
    SUCCEEDS(clReleaseContext(context));
    return 0;
}
