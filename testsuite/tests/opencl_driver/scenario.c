// An OpenCL program that uses objects of all kinds while one Vulkan call after another fails (faults.c).
//
// scenario LAYER memory [NUMBER]   Each call fails once, or only this one: the program gets error codes, nothing leaks,
//                                  and the same commands succeed after that.
// scenario LAYER lost NUMBER       The device is lost at this call. Exits with 3 if there are fewer calls.

#define _POSIX_C_SOURCE 199309L
#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { OUT_OF_HOST_MEMORY = -1, OUT_OF_DEVICE_MEMORY = -2, DEVICE_LOST = -4, COUNT = 64 };

static void (*faults_set)(long long, int);
static long long (*faults_calls)(void);
static const char *(*faults_failed)(void);
static long long (*faults_live)(void);

static const char *source =
    "kernel void add(global int *data, int by, local int *group, global atomic_int *sum) {\n"
    "    size_t i = get_global_id(0), l = get_local_id(0);\n"
    "    group[l] = data[i] + by;\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    data[i] = group[l];\n"
    "    atomic_fetch_add(sum, 1);\n"
    "}\n"
    "kernel void shade(write_only image2d_t to, read_only image2d_t from, sampler_t how) {\n"
    "    int2 at = (int2)(get_global_id(0), get_global_id(1));\n"
    "    write_imagef(to, at, read_imagef(from, how, (float2)(at.x, at.y)));\n"
    "}\n"
    "kernel void send(write_only pipe int to) { int i = 7; write_pipe(to, &i); }\n"
    "kernel void say(global int *out) { out[0] = printf(\"\"); }\n";

// What a run has created.
struct objects {
    cl_context context;
    cl_command_queue queue, unordered;
    cl_program program;
    cl_kernel kernels[4];
    cl_mem buffers[4], images[3], pipe;
    cl_sampler sampler;
    cl_event events[4];
    void *shared;
};

static cl_device_id device;

// Leaves the run with an error code.
#define TRY(CALL)                                                                                            \
    do {                                                                                                     \
        cl_int code = (CALL);                                                                                \
        if (code != CL_SUCCESS) {                                                                            \
            *where = __LINE__;                                                                               \
            return code;                                                                                     \
        }                                                                                                    \
    } while (0)

// The same for functions that return an object.
#define MAKE(OBJECT, CALL)                                                                                   \
    do {                                                                                                     \
        cl_int code = CL_SUCCESS;                                                                            \
        (OBJECT) = (CALL);                                                                                   \
        if (code != CL_SUCCESS) {                                                                            \
            *where = __LINE__;                                                                               \
            return code;                                                                                     \
        }                                                                                                    \
    } while (0)

static void check(int holds, const char *what) {
    if (!holds) {
        fprintf(stderr, "wrong: %s, after the failure of %s\n", what, faults_failed() ? faults_failed() : "nothing");
        exit(1);
    }
}

static cl_int prepare(struct objects *made, int *where) {
    MAKE(made->context, clCreateContext(NULL, 1, &device, NULL, NULL, &code));
    cl_queue_properties properties[] = {CL_QUEUE_PROPERTIES, CL_QUEUE_PROFILING_ENABLE, 0};
    MAKE(made->queue, clCreateCommandQueueWithProperties(made->context, device, properties, &code));
    properties[1] = CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;
    MAKE(made->unordered, clCreateCommandQueueWithProperties(made->context, device, properties, &code));
    MAKE(made->program, clCreateProgramWithSource(made->context, 1, &source, NULL, &code));
    TRY(clBuildProgram(made->program, 1, &device, "-cl-std=CL3.0", NULL, NULL));
    static const char *names[] = {"add", "shade", "send", "say"};
    for (int at = 0; at < 4; at++) {
        MAKE(made->kernels[at], clCreateKernel(made->program, names[at], &code));
    }
    return CL_SUCCESS;
}

// Buffers, and a kernel that uses them.
static cl_int compute(struct objects *made, int *where) {
    int data[COUNT], zero = 0, by = 3;
    for (int at = 0; at < COUNT; at++) {
        data[at] = at;
    }
    cl_mem *buffers = made->buffers;
    MAKE(buffers[0], clCreateBuffer(made->context, CL_MEM_COPY_HOST_PTR, sizeof data, data, &code));
    MAKE(buffers[1], clCreateBuffer(made->context, CL_MEM_ALLOC_HOST_PTR, sizeof zero, NULL, &code));
    MAKE(buffers[2], clCreateBuffer(made->context, CL_MEM_READ_WRITE, 1 << 20, NULL, &code));
    cl_buffer_region region = {4096, sizeof data};
    MAKE(buffers[3], clCreateSubBuffer(buffers[2], 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &code));
    TRY(clEnqueueFillBuffer(made->queue, buffers[1], &zero, sizeof zero, 0, sizeof zero, 0, NULL, NULL));
    TRY(clSetKernelArg(made->kernels[0], 0, sizeof *buffers, &buffers[0]));
    TRY(clSetKernelArg(made->kernels[0], 1, sizeof by, &by));
    TRY(clSetKernelArg(made->kernels[0], 2, 16 * sizeof(int), NULL));
    TRY(clSetKernelArg(made->kernels[0], 3, sizeof *buffers, &buffers[1]));
    size_t global = COUNT, local = 16;
    TRY(clEnqueueNDRangeKernel(made->queue, made->kernels[0], 1, NULL, &global, &local, 0, NULL,
                               &made->events[0]));
    TRY(clEnqueueCopyBuffer(made->unordered, buffers[0], buffers[3], 0, 0, sizeof data, 1, made->events,
                            &made->events[1]));
    int *mapped;
    MAKE(mapped, clEnqueueMapBuffer(made->queue, buffers[3], CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, 0,
                                    sizeof data, 1, &made->events[1], NULL, &code));
    check(mapped[5] == 8, "the mapped value");
    mapped[5] = 100;
    TRY(clEnqueueUnmapMemObject(made->queue, buffers[3], mapped, 0, NULL, NULL));
    TRY(clEnqueueReadBuffer(made->queue, buffers[3], CL_TRUE, 0, sizeof data, data, 0, NULL, NULL));
    check(data[5] == 100 && data[6] == 9, "the unmapped values");
    cl_ulong start;
    TRY(clGetEventProfilingInfo(made->events[0], CL_PROFILING_COMMAND_START, sizeof start, &start, NULL));
    TRY(clEnqueueReadBuffer(made->queue, buffers[1], CL_TRUE, 0, sizeof zero, &zero, 0, NULL, NULL));
    check(zero == COUNT, "the sum");
    return CL_SUCCESS;
}

// Images, and a kernel that copies one to another.
static cl_int shade(struct objects *made, int *where) {
    cl_image_format format = {CL_RGBA, CL_UNORM_INT8};
    cl_image_desc desc = {.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 8, .image_height = 8};
    unsigned char texels[8 * 8 * 4], back[sizeof texels];
    for (size_t at = 0; at < sizeof texels; at++) {
        texels[at] = at;
    }
    cl_mem *images = made->images;
    MAKE(images[0], clCreateImage(made->context, CL_MEM_COPY_HOST_PTR, &format, &desc, texels, &code));
    MAKE(images[1], clCreateImage(made->context, CL_MEM_READ_WRITE, &format, &desc, NULL, &code));
    cl_sampler_properties how[] = {CL_SAMPLER_NORMALIZED_COORDS, CL_FALSE, CL_SAMPLER_FILTER_MODE,
                                   CL_FILTER_NEAREST, 0};
    MAKE(made->sampler, clCreateSamplerWithProperties(made->context, how, &code));
    TRY(clSetKernelArg(made->kernels[1], 0, sizeof *images, &images[1]));
    TRY(clSetKernelArg(made->kernels[1], 1, sizeof *images, &images[0]));
    TRY(clSetKernelArg(made->kernels[1], 2, sizeof made->sampler, &made->sampler));
    size_t origin[3] = {0}, size[3] = {8, 8, 1};
    TRY(clEnqueueNDRangeKernel(made->queue, made->kernels[1], 2, NULL, size, NULL, 0, NULL, NULL));
    TRY(clEnqueueCopyImage(made->queue, images[1], images[0], origin, origin, size, 0, NULL, NULL));
    TRY(clEnqueueReadImage(made->queue, images[0], CL_TRUE, origin, size, 0, 0, back, 0, NULL, NULL));
    check(!memcmp(texels, back, sizeof texels), "the texels");
    cl_image_desc view = {.image_type = CL_MEM_OBJECT_IMAGE1D_BUFFER, .image_width = 16,
                          .buffer = made->buffers[2]};
    MAKE(images[2], clCreateImage(made->context, CL_MEM_READ_ONLY, &format, &view, NULL, &code));
    size_t pitch;
    unsigned char *mapped;
    MAKE(mapped, clEnqueueMapImage(made->queue, images[0], CL_TRUE, CL_MAP_READ, origin, size, &pitch, NULL,
                                   0, NULL, NULL, &code));
    check(mapped[pitch] == texels[32], "the mapped texel");
    TRY(clEnqueueUnmapMemObject(made->queue, images[0], mapped, 0, NULL, NULL));
    return CL_SUCCESS;
}

// Pipes, printf, and shared virtual memory.
static cl_int others(struct objects *made, int *where) {
    MAKE(made->pipe, clCreatePipe(made->context, 0, 4, 8, NULL, &code));
    TRY(clSetKernelArg(made->kernels[2], 0, sizeof made->pipe, &made->pipe));
    TRY(clSetKernelArg(made->kernels[3], 0, sizeof *made->buffers, &made->buffers[0]));
    size_t one = 1;
    TRY(clEnqueueNDRangeKernel(made->queue, made->kernels[2], 1, NULL, &one, NULL, 0, NULL, NULL));
    TRY(clEnqueueNDRangeKernel(made->queue, made->kernels[3], 1, NULL, &one, NULL, 0, NULL, NULL));
    made->shared = clSVMAlloc(made->context, CL_MEM_READ_WRITE, 4096, 0);
    if (!made->shared) {
        *where = __LINE__;
        return CL_OUT_OF_RESOURCES;
    }
    int word = 42;
    // Commands without an event can fail unnoticed.
    TRY(clEnqueueSVMMemFill(made->queue, made->shared, &word, sizeof word, 4096, 0, NULL, &made->events[2]));
    TRY(clEnqueueSVMMap(made->queue, CL_TRUE, CL_MAP_READ, made->shared, 4096, 1, &made->events[2], NULL));
    check(((int *)made->shared)[1023] == 42, "the shared memory");
    TRY(clEnqueueSVMUnmap(made->queue, made->shared, 0, NULL, NULL));
    TRY(clEnqueueMarkerWithWaitList(made->unordered, 0, NULL, &made->events[3]));
    TRY(clFinish(made->queue));
    TRY(clWaitForEvents(1, &made->events[3]));
    return CL_SUCCESS;
}

#define RELEASE(KIND, OBJECT)                                                                                \
    do {                                                                                                     \
        if (OBJECT) {                                                                                        \
            check(clRelease##KIND(OBJECT) == CL_SUCCESS, "a release");                                       \
        }                                                                                                    \
    } while (0)

static void release(struct objects *made) {
    // Nothing uses the shared memory after these.
    if (made->queue) {
        clFinish(made->queue);
        clFinish(made->unordered);
    }
    if (made->shared) {
        clSVMFree(made->context, made->shared);
    }
    for (int at = 0; at < 3; at++) {
        RELEASE(MemObject, made->images[at]);
    }
    for (int at = 3; at >= 0; at--) {
        RELEASE(Event, made->events[at]);
        RELEASE(Kernel, made->kernels[at]);
        RELEASE(MemObject, made->buffers[at]);
    }
    RELEASE(MemObject, made->pipe);
    RELEASE(Sampler, made->sampler);
    RELEASE(Program, made->program);
    RELEASE(CommandQueue, made->queue);
    RELEASE(CommandQueue, made->unordered);
    RELEASE(Context, made->context);
}

static cl_int run(int *where) {
    struct objects made = {0};
    cl_int code = prepare(&made, where);
    cl_int (*const parts[])(struct objects *, int *) = {compute, shade, others};
    for (int at = 0; at < 3 && code == CL_SUCCESS; at++) {
        code = parts[at](&made, where);
    }
    release(&made);
    return code;
}

// The codes of failed Vulkan calls. CL_OUT_OF_HOST_MEMORY means a panic in the driver.
static int is_expected(cl_int code, int is_lost) {
    switch (code) {
    case CL_OUT_OF_RESOURCES:
    case CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST:
    case CL_PROFILING_INFO_NOT_AVAILABLE:
    case CL_BUILD_PROGRAM_FAILURE:
        return 1;
    case CL_MEM_OBJECT_ALLOCATION_FAILURE:
        return !is_lost;
    case CL_DEVICE_NOT_AVAILABLE:
        return is_lost;
    default:
        return 0;
    }
}

// The call with this number fails. Returns whether there are so many calls.
static int fail(long long number, int result) {
    int where = 0, is_lost = result == DEVICE_LOST;
    faults_set(number, result);
    cl_int code = run(&where);
    const char *failed = faults_failed();
    if (!is_lost) {
        faults_set(-1, result);
    }
    if (code != CL_SUCCESS) {
        printf("call %lld, %s: line %d: error %d\n", number, failed ? failed : "none", where, code);
        check(failed != NULL, "an error without a failure");
        check(is_expected(code, is_lost), "the error code");
    } else if (failed) {
        printf("call %lld, %s: no error\n", number, failed);
    }
    fflush(stdout);
    if (is_lost) {
        cl_bool available;
        clGetDeviceInfo(device, CL_DEVICE_AVAILABLE, sizeof available, &available, NULL);
        check(!failed || !available, "a lost device is available");
    }
    return failed != NULL;
}

int main(int count, char **arguments) {
    check(count >= 3, "arguments");
    void *layer = dlopen(arguments[1], RTLD_NOW);
    check(layer != NULL, "the layer");
    *(void **)&faults_set = dlsym(layer, "faults_set");
    *(void **)&faults_calls = dlsym(layer, "faults_calls");
    *(void **)&faults_failed = dlsym(layer, "faults_failed");
    *(void **)&faults_live = dlsym(layer, "faults_live");
    cl_platform_id platform;
    check(clGetPlatformIDs(1, &platform, NULL) == CL_SUCCESS, "no platform");
    check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL) == CL_SUCCESS, "no device");
    int where = 0;
    if (!strcmp(arguments[2], "lost")) {
        return fail(count > 3 ? atoll(arguments[3]) : 0, DEVICE_LOST) ? 0 : 3;
    }
    long long first = count > 3 ? atoll(arguments[3]) : 0, last = count > 3 ? first : 1 << 20, number = first;
    // Opens the device, and fills its pools.
    for (int at = 0; at < 2; at++) {
        check(run(&where) == CL_SUCCESS, "the first runs");
    }
    faults_calls();
    check(run(&where) == CL_SUCCESS, "the third run");
    printf("%lld calls can fail\n", faults_calls());
    int happened = 1;
    for (; number <= last && happened; number += happened) {
        // A failure can leave objects in the pools, but the same failure does not add more.
        long long live[2];
        for (int at = 0; at < 2 && happened; at++) {
            happened = fail(number, number % 2 ? OUT_OF_HOST_MEMORY : OUT_OF_DEVICE_MEMORY);
            check(run(&where) == CL_SUCCESS, "the run after a failure");
            live[at] = faults_live();
        }
        // Callbacks on other threads can have the last references.
        for (int at = 0; at < 1000 && happened && live[1] > live[0]; at++) {
            nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
            live[1] = faults_live();
        }
        check(!happened || live[1] <= live[0], "a leak");
    }
    printf("%lld calls failed, %lld objects\n", number - first, faults_live());
    return 0;
}
