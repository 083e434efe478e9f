// An OpenCL program whose commands form a graph: two out-of-order queues, parts of one buffer, a user event, a native
// kernel, a mapped region and rectangles with different pitches. Exits with 0 if all contents and times are right.

#include "checks.h"

enum { COUNT = 4096, PARTS = 4, BYTES = COUNT * sizeof(int) };

static const char *source =
    "kernel void add(global int *data, int by) { data[get_global_id(0)] += by; }\n"
    "kernel void sum(global const int *a, global const int *b, global int *to) {\n"
    "    size_t i = get_global_id(0);\n"
    "    to[i] = a[i] + b[i];\n"
    "}\n";

static cl_device_id device;
static cl_command_queue queues[2];
static cl_mem whole, parts[PARTS];

static void create(void) {
    cl_int error;
    device = open_device();
    const cl_queue_properties properties[] = {
        CL_QUEUE_PROPERTIES, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE, 0};
    for (int i = 0; i < 2; i++) {
        queues[i] = clCreateCommandQueueWithProperties(context, device, properties, &error);
        SUCCEEDS(error);
    }
    static int numbers[PARTS * COUNT];
    for (int i = 0; i < PARTS * COUNT; i++) numbers[i] = i;
    whole = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, sizeof numbers, numbers, &error);
    SUCCEEDS(error);
    for (size_t i = 0; i < PARTS; i++) {
        const cl_buffer_region region = {i * BYTES, BYTES};
        parts[i] = clCreateSubBuffer(whole, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &error);
        SUCCEEDS(error);
    }
}

static cl_ulong time_of(cl_event event, cl_profiling_info which) {
    cl_ulong time;
    SUCCEEDS(clGetEventProfilingInfo(event, which, sizeof time, &time, NULL));
    return time;
}

// Parts 0 and 1 change on different queues after a user event; their sum goes to part 2.
static void launch_graph(cl_program program) {
    cl_int error;
    cl_kernel add = clCreateKernel(program, "add", &error), sum = clCreateKernel(program, "sum", &error);
    SUCCEEDS(error);
    cl_event user = clCreateUserEvent(context, &error), added[2], summed, read;
    SUCCEEDS(error);
    const size_t size = COUNT;
    for (cl_uint i = 0; i < 2; i++) {
        const cl_int by = 10 * (i + 1);
        SUCCEEDS(clSetKernelArg(add, 0, sizeof(cl_mem), &parts[i]));
        SUCCEEDS(clSetKernelArg(add, 1, sizeof by, &by));
        SUCCEEDS(clEnqueueNDRangeKernel(queues[i], add, 1, NULL, &size, NULL, 1, &user, &added[i]));
    }
    for (cl_uint i = 0; i < 3; i++) SUCCEEDS(clSetKernelArg(sum, i, sizeof(cl_mem), &parts[i]));
    SUCCEEDS(clEnqueueNDRangeKernel(queues[0], sum, 1, NULL, &size, NULL, 2, added, &summed));
    static int numbers[COUNT];
    SUCCEEDS(clEnqueueReadBuffer(queues[1], parts[2], CL_FALSE, 0, BYTES, numbers, 1, &summed, &read));
    for (int i = 0; i < 2; i++) SUCCEEDS(clFlush(queues[i]));
    SUCCEEDS(clSetUserEventStatus(user, CL_COMPLETE));
    SUCCEEDS(clWaitForEvents(1, &read));
    for (int i = 0; i < COUNT; i++) REQUIRE(numbers[i] == 2 * i + COUNT + 30);

    // Times of different queues can be compared.
    const cl_event pairs[][2] = {{added[0], summed}, {added[1], summed}, {summed, read}};
    for (int i = 0; i < 3; i++) {
        const cl_ulong end = time_of(pairs[i][0], CL_PROFILING_COMMAND_END);
        REQUIRE(end <= time_of(pairs[i][1], CL_PROFILING_COMMAND_START));
    }
    const cl_event all[] = {user, added[0], added[1], summed, read};
    for (int i = 0; i < 5; i++) SUCCEEDS(clReleaseEvent(all[i]));
    SUCCEEDS(clReleaseKernel(add));
    SUCCEEDS(clReleaseKernel(sum));
}

static void CL_CALLBACK triple(void *arguments) {
    int **memory = arguments;
    for (int i = 0; i < COUNT; i++) memory[1][i] = 3 * memory[0][i];
}

// A native kernel writes part 1, and the host changes it in a mapping.
static void use_host(void) {
    int *memory[2] = {NULL, NULL};
    const void *places[] = {&memory[0], &memory[1]};
    cl_event written, mapped, unmapped;
    cl_int error;
    SUCCEEDS(clEnqueueNativeKernel(
        queues[0], triple, memory, sizeof memory, 2, parts, places, 0, NULL, &written));
    const cl_map_flags flags = CL_MAP_READ | CL_MAP_WRITE;
    int *numbers =
        clEnqueueMapBuffer(queues[1], whole, CL_FALSE, flags, BYTES, BYTES, 1, &written, &mapped, &error);
    SUCCEEDS(error);
    SUCCEEDS(clWaitForEvents(1, &mapped));
    for (int i = 0; i < COUNT; i++) {
        REQUIRE(numbers[i] == 3 * (i + 10));
        numbers[i] = -i;
    }
    SUCCEEDS(clEnqueueUnmapMemObject(queues[1], whole, numbers, 0, NULL, &unmapped));
    static int read[COUNT];
    SUCCEEDS(clEnqueueReadBuffer(queues[0], parts[1], CL_TRUE, 0, BYTES, read, 1, &unmapped, NULL));
    for (int i = 0; i < COUNT; i++) REQUIRE(read[i] == -i);
    const cl_event all[] = {written, mapped, unmapped};
    for (int i = 0; i < 3; i++) SUCCEEDS(clReleaseEvent(all[i]));
}

// Parts of one buffer are different objects, so the pitches of two rectangles may differ (OpenCL API 5.2.3).
static void copy_rectangles(void) {
    const size_t from[3] = {4, 2, 0}, to[3] = {8, 1, 1}, region[3] = {20, 3, 2}, start[3] = {0, 0, 0};
    const cl_uchar seven = 7;
    cl_uchar copied[120];
    SUCCEEDS(clEnqueueFillBuffer(queues[0], parts[2], &seven, 1, 0, 1024, 0, NULL, NULL));
    SUCCEEDS(clFinish(queues[0]));
    const size_t row[2] = {64, 48}, slice[2] = {640, 480};
    SUCCEEDS(clEnqueueCopyBufferRect(queues[0], parts[2], parts[3], from, to, region, row[0], slice[0], row[1],
                                     slice[1], 0, NULL, NULL));
    SUCCEEDS(clFinish(queues[0]));
    SUCCEEDS(clEnqueueReadBufferRect(queues[0], parts[3], CL_TRUE, to, start, region, row[1], slice[1], 20, 60,
                                     copied, 0, NULL, NULL));
    for (int i = 0; i < 120; i++) REQUIRE(copied[i] == 7);
    const cl_int same = clEnqueueCopyBufferRect(queues[0], parts[2], parts[2], from, to, region, row[0], slice[0],
                                                row[1], slice[1], 0, NULL, NULL);
    REQUIRE(same == CL_INVALID_VALUE);
}

int main(void) {
    create();
    cl_program program = of_source(source);
    SUCCEEDS(clBuildProgram(program, 1, &device, "", NULL, NULL));
    launch_graph(program);
    use_host();
    copy_rectangles();
    for (int i = 0; i < 2; i++) SUCCEEDS(clReleaseCommandQueue(queues[i]));
    for (int i = 0; i < PARTS; i++) SUCCEEDS(clReleaseMemObject(parts[i]));
    SUCCEEDS(clReleaseMemObject(whole));
    SUCCEEDS(clReleaseProgram(program));
    SUCCEEDS(clReleaseContext(context));
    return 0;
}
