// An OpenCL program with a context of two devices, a CPU and a custom device. Only events order their commands. Exits with 0
// if both devices always see the newest contents of the buffers that they share.

#include "checks.h"

enum { COUNT = 64, BYTES = COUNT * sizeof(int) };

static const char *source =
    "kernel void add(global const int *from, global int *to, int by) {\n"
    "    size_t i = get_global_id(0);\n"
    "    to[i] = from[i] + by;\n"
    "}\n"
    "kernel void increment(global int *data) { data[get_global_id(0)]++; }\n";

static cl_device_id devices[2];
static cl_command_queue queues[2];
static cl_kernel add, increment;

// A context with this device first.
static void create(int first) {
    cl_platform_id platform;
    cl_int error;
    SUCCEEDS(clGetPlatformIDs(1, &platform, NULL));
    SUCCEEDS(clGetDeviceIDs(platform, CL_DEVICE_TYPE_CPU, 1, &devices[0], NULL));
    SUCCEEDS(clGetDeviceIDs(platform, CL_DEVICE_TYPE_CUSTOM, 1, &devices[1], NULL));
    const cl_device_id order[2] = {devices[first], devices[1 - first]};
    context = clCreateContext(NULL, 2, order, NULL, NULL, &error);
    SUCCEEDS(error);
    for (int i = 0; i < 2; i++) {
        queues[i] = clCreateCommandQueueWithProperties(context, devices[i], NULL, &error);
        SUCCEEDS(error);
    }
    cl_program program = of_source(source);
    SUCCEEDS(clBuildProgram(program, 0, NULL, "", NULL, NULL));
    add = clCreateKernel(program, "add", &error);
    SUCCEEDS(error);
    increment = clCreateKernel(program, "increment", &error);
    SUCCEEDS(error);
}

// A buffer with the numbers 0, 1, 2, …
static cl_mem numbers(void) {
    cl_int error;
    int contents[COUNT];
    for (int i = 0; i < COUNT; i++) contents[i] = i;
    cl_mem buffer = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, BYTES, contents, &error);
    SUCCEEDS(error);
    return buffer;
}

static cl_event enqueue_add(int device, cl_mem from, cl_mem to, int by, cl_event after) {
    const size_t size = COUNT;
    cl_event event;
    SUCCEEDS(clSetKernelArg(add, 0, sizeof from, &from));
    SUCCEEDS(clSetKernelArg(add, 1, sizeof to, &to));
    SUCCEEDS(clSetKernelArg(add, 2, sizeof by, &by));
    SUCCEEDS(clEnqueueNDRangeKernel(queues[device], add, 1, NULL, &size, NULL, after != NULL,
                                    after ? &after : NULL, &event));
    SUCCEEDS(clFlush(queues[device]));
    return event;
}

static void enqueue_increment(int device, cl_mem data, size_t count, cl_event after, cl_event *event) {
    SUCCEEDS(clSetKernelArg(increment, 0, sizeof data, &data));
    SUCCEEDS(clEnqueueNDRangeKernel(queues[device], increment, 1, NULL, &count, NULL, after != NULL,
                                    after ? &after : NULL, event));
}

// The buffer has the numbers of `numbers`, each larger by this.
static void has_numbers(int device, cl_mem buffer, int by) {
    int read[COUNT];
    SUCCEEDS(clEnqueueReadBuffer(queues[device], buffer, CL_TRUE, 0, BYTES, read, 0, NULL, NULL));
    for (int i = 0; i < COUNT; i++) REQUIRE(read[i] == i + by);
}

// Both devices read one buffer, and a user event holds back one of them.
static void share_input(void) {
    cl_int error;
    cl_mem input = numbers(), results[2] = {numbers(), numbers()};
    cl_event user = clCreateUserEvent(context, &error), held;
    SUCCEEDS(error);
    held = enqueue_add(1, input, results[1], 1, user);
    SUCCEEDS(clReleaseEvent(enqueue_add(0, input, results[0], 2, NULL)));
    has_numbers(0, results[0], 2);
    SUCCEEDS(clSetUserEventStatus(user, CL_COMPLETE));
    SUCCEEDS(clWaitForEvents(1, &held));
    has_numbers(1, results[1], 1);
    for (int i = 0; i < 20; i++) SUCCEEDS(clReleaseEvent(enqueue_add(i % 2, input, results[i % 2], i, NULL)));
    for (int i = 0; i < 2; i++) has_numbers(i, results[i], 18 + i);
    const cl_mem all[] = {input, results[0], results[1]};
    for (int i = 0; i < 3; i++) SUCCEEDS(clReleaseMemObject(all[i]));
    SUCCEEDS(clReleaseEvent(user));
    SUCCEEDS(clReleaseEvent(held));
}

// Each device writes its own half of a buffer, at the same time (OpenCL API 5.2.1).
static void write_halves(void) {
    cl_int error;
    cl_mem whole = numbers(), halves[2];
    for (size_t i = 0; i < 2; i++) {
        const cl_buffer_region region = {i * BYTES / 2, BYTES / 2};
        halves[i] = clCreateSubBuffer(whole, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &error);
        SUCCEEDS(error);
    }
    for (int i = 0; i < 10; i++) enqueue_increment(i % 2, halves[i % 2], COUNT / 2, NULL, NULL);
    for (int i = 0; i < 2; i++) SUCCEEDS(clFinish(queues[i]));
    for (int i = 0; i < 2; i++) has_numbers(i, whole, 5);
    for (int i = 0; i < 2; i++) SUCCEEDS(clReleaseMemObject(halves[i]));
    SUCCEEDS(clReleaseMemObject(whole));
}

// A command that writes is enqueued first and runs last: the host reads the buffer on the other device before it lets the
// command run.
static void write_late(void) {
    cl_int error;
    cl_mem buffer = numbers();
    for (int writer = 0; writer < 2; writer++) {
        cl_event user = clCreateUserEvent(context, &error), written;
        SUCCEEDS(error);
        enqueue_increment(writer, buffer, COUNT, user, &written);
        has_numbers(1 - writer, buffer, writer);
        SUCCEEDS(clSetUserEventStatus(user, CL_COMPLETE));
        SUCCEEDS(clWaitForEvents(1, &written));
        has_numbers(1 - writer, buffer, writer + 1);
        SUCCEEDS(clReleaseEvent(user));
        SUCCEEDS(clReleaseEvent(written));
    }
    // The devices in turn, each after the other.
    cl_event last = NULL, next;
    for (int i = 0; i < 10; i++) {
        enqueue_increment(i % 2, buffer, COUNT, last, &next);
        if (last) SUCCEEDS(clReleaseEvent(last));
        last = next;
    }
    SUCCEEDS(clWaitForEvents(1, &last));
    for (int i = 0; i < 2; i++) has_numbers(i, buffer, 12);
    SUCCEEDS(clReleaseEvent(last));
    SUCCEEDS(clReleaseMemObject(buffer));
}

// Only one of the devices has shared virtual memory. Both use a buffer in it.
static void share_memory(void) {
    cl_int error;
    cl_device_svm_capabilities has[2];
    for (int i = 0; i < 2; i++)
        SUCCEEDS(clGetDeviceInfo(devices[i], CL_DEVICE_SVM_CAPABILITIES, sizeof has[i], &has[i], NULL));
    REQUIRE(has[0] != 0 && has[1] == 0);
    int *memory = clSVMAlloc(context, CL_MEM_READ_WRITE, BYTES, 0);
    REQUIRE(memory != NULL);
    const size_t size = COUNT;
    SUCCEEDS(clSetKernelArgSVMPointer(increment, 0, memory));
    REQUIRE(clEnqueueNDRangeKernel(queues[1], increment, 1, NULL, &size, NULL, 0, NULL, NULL) ==
            CL_INVALID_OPERATION);
    SUCCEEDS(clEnqueueSVMMap(queues[0], CL_TRUE, CL_MAP_WRITE, memory, BYTES, 0, NULL, NULL));
    for (int i = 0; i < COUNT; i++) memory[i] = i;
    SUCCEEDS(clEnqueueSVMUnmap(queues[0], memory, 0, NULL, NULL));
    cl_mem buffer = clCreateBuffer(context, CL_MEM_USE_HOST_PTR, BYTES, memory, &error);
    SUCCEEDS(error);
    for (int i = 0; i < 4; i++) {
        enqueue_increment(i % 2, buffer, COUNT, NULL, NULL);
        SUCCEEDS(clFinish(queues[i % 2]));
        void *mapped = clEnqueueMapBuffer(queues[i / 2], buffer, CL_TRUE, CL_MAP_READ, 0, BYTES, 0, NULL, NULL, &error);
        REQUIRE(error == CL_SUCCESS && mapped == memory);
        for (int k = 0; k < COUNT; k++) REQUIRE(memory[k] == k + i + 1);
        SUCCEEDS(clEnqueueUnmapMemObject(queues[i / 2], buffer, mapped, 0, NULL, NULL));
        SUCCEEDS(clFinish(queues[i / 2]));
    }
    SUCCEEDS(clReleaseMemObject(buffer));
    clSVMFree(context, memory);
}

int main(void) {
    for (int first = 0; first < 2; first++) {
        create(first);
        share_input();
        write_halves();
        write_late();
        share_memory();
    }
    return 0;
}
