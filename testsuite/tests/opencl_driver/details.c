// An OpenCL program that does what the specification allows and few programs do, and passes wrong arguments. Exits with 0 if
// all results and error codes are right.

#include "checks.h"
#include <string.h>

static cl_device_id device;
static cl_command_queue queues[2];

static cl_mem buffer_of(size_t size) {
    cl_int error;
    cl_mem buffer = clCreateBuffer(context, 0, size, NULL, &error);
    SUCCEEDS(error);
    return buffer;
}

// A program can be built again after its kernels are released (OpenCL API 5.8.2), even if nothing was called on the queue of the
// last launch since.
static void build_again(void) {
    cl_program program = of_source("kernel void set(global int *to) { *to = VALUE; }\n");
    cl_mem buffer = buffer_of(sizeof(int));
    const size_t one = 1;
    for (int i = 0; i < 3; i++) {
        char options[20];
        sprintf(options, "-DVALUE=%d", i);
        SUCCEEDS(clBuildProgram(program, 1, &device, options, NULL, NULL));
        cl_int error, read;
        cl_event set;
        cl_kernel kernel = clCreateKernel(program, "set", &error);
        SUCCEEDS(error);
        REQUIRE(clBuildProgram(program, 1, &device, options, NULL, NULL) == CL_INVALID_OPERATION);
        SUCCEEDS(clSetKernelArg(kernel, 0, sizeof buffer, &buffer));
        SUCCEEDS(clEnqueueNDRangeKernel(queues[0], kernel, 1, NULL, &one, NULL, 0, NULL, &set));
        SUCCEEDS(clFlush(queues[0]));
        SUCCEEDS(clEnqueueReadBuffer(queues[1], buffer, CL_TRUE, 0, sizeof read, &read, 1, &set, NULL));
        REQUIRE(read == i);
        SUCCEEDS(clReleaseEvent(set));
        SUCCEEDS(clReleaseKernel(kernel));
    }
    REQUIRE(clBuildProgram(program, 1, &device, "-enable-link-options", NULL, NULL) == CL_INVALID_BUILD_OPTIONS);
    SUCCEEDS(clReleaseProgram(program));
    SUCCEEDS(clReleaseMemObject(buffer));
}

// A header includes another one by a path from its own folder. A source need not be UTF-8.
static void include_headers(void) {
    const char *text = "// caf\xe9\n#include \"shapes/round/circle.h\"\nint sides(void) { return CIRCLE; }\n";
    cl_program program = of_source(text);
    char source[200];
    SUCCEEDS(clGetProgramInfo(program, CL_PROGRAM_SOURCE, sizeof source, source, NULL));
    REQUIRE(strcmp(source, text) == 0);
    const cl_program headers[] = {of_source("#include \"../flat/./square.h\"\n#define CIRCLE SQUARE\n"),
                                  of_source("#define SQUARE 4\n")};
    const char *names[] = {"shapes/round/circle.h", "shapes/flat/square.h"};
    SUCCEEDS(clCompileProgram(program, 1, &device, "", 2, headers, names, NULL, NULL));
    REQUIRE(clCompileProgram(program, 1, &device, "", 1, headers, names, NULL, NULL) == CL_COMPILE_PROGRAM_FAILURE);
    for (int i = 0; i < 2; i++) SUCCEEDS(clReleaseProgram(headers[i]));
    SUCCEEDS(clReleaseProgram(program));
}

struct Arguments {
    int *first, *same, *none;
};

static void CL_CALLBACK count(void *block) {
    struct Arguments *arguments = block;
    REQUIRE(arguments->first == arguments->same && arguments->none == NULL);
    *arguments->first += 1;
    *arguments->same += 10;
}

// A native kernel can get a buffer twice, and null (OpenCL API 5.10).
static void run_native_kernel(void) {
    cl_mem buffer = buffer_of(sizeof(int));
    int number = 100;
    SUCCEEDS(clEnqueueWriteBuffer(queues[0], buffer, CL_TRUE, 0, sizeof number, &number, 0, NULL, NULL));
    struct Arguments arguments = {NULL, NULL, NULL};
    const cl_mem memories[] = {buffer, buffer, NULL};
    const void *places[] = {&arguments.first, &arguments.same, &arguments.none};
    SUCCEEDS(clEnqueueNativeKernel(queues[0], count, &arguments, sizeof arguments, 3, memories, places, 0, NULL, NULL));
    SUCCEEDS(clEnqueueReadBuffer(queues[0], buffer, CL_TRUE, 0, sizeof number, &number, 0, NULL, NULL));
    REQUIRE(number == 111);
    SUCCEEDS(clReleaseMemObject(buffer));
}

// Two mappings of memory of the application have one address. What it writes before either is unmapped is on the device.
static void map_twice(void) {
    cl_int error;
    static int memory[1024];
    cl_mem buffer = clCreateBuffer(context, CL_MEM_USE_HOST_PTR, sizeof memory, memory, &error), copy = buffer_of(8);
    SUCCEEDS(error);
    const cl_map_flags orders[2][2] = {{CL_MAP_READ, CL_MAP_WRITE}, {CL_MAP_WRITE, CL_MAP_READ}};
    for (int i = 0; i < 2; i++) {
        for (int k = 0; k < 2; k++) {
            void *mapped = clEnqueueMapBuffer(queues[0], buffer, CL_TRUE, orders[i][k], 0, 8, 0, NULL, NULL, &error);
            REQUIRE(error == CL_SUCCESS && mapped == memory);
        }
        for (int k = 0; k < 2; k++) {
            memory[k] = 10 * i + k + 1;
            SUCCEEDS(clEnqueueUnmapMemObject(queues[0], buffer, memory, 0, NULL, NULL));
        }
        int read[2];
        SUCCEEDS(clEnqueueCopyBuffer(queues[0], buffer, copy, 0, 0, 8, 0, NULL, NULL));
        SUCCEEDS(clEnqueueReadBuffer(queues[0], copy, CL_TRUE, 0, 8, read, 0, NULL, NULL));
        REQUIRE(read[0] == 10 * i + 1 && read[1] == 10 * i + 2);
    }
    SUCCEEDS(clReleaseMemObject(buffer));
    SUCCEEDS(clReleaseMemObject(copy));
}

static void CL_CALLBACK destroyed(cl_mem memory, void *flag) {
    (void)memory;
    *(int *)flag = 1;
}

// A released buffer is destroyed after its last command, also if the program only polls the command's event. Commands
// on no bytes do nothing.
static void poll_and_do_nothing(void) {
    cl_mem buffer = buffer_of(16), other = buffer_of(16);
    int is_destroyed = 0, zero = 0;
    SUCCEEDS(clEnqueueReadBuffer(queues[0], buffer, CL_TRUE, 16, 0, &zero, 0, NULL, NULL));
    SUCCEEDS(clEnqueueWriteBuffer(queues[0], buffer, CL_TRUE, 0, 0, &zero, 0, NULL, NULL));
    SUCCEEDS(clEnqueueCopyBuffer(queues[0], buffer, other, 0, 16, 0, 0, NULL, NULL));
    SUCCEEDS(clSetMemObjectDestructorCallback(buffer, destroyed, &is_destroyed));
    cl_event filled;
    SUCCEEDS(clEnqueueFillBuffer(queues[0], buffer, &zero, sizeof zero, 0, 16, 0, NULL, &filled));
    SUCCEEDS(clReleaseMemObject(buffer));
    cl_int status;
    do
        SUCCEEDS(clGetEventInfo(filled, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL));
    while (status != CL_COMPLETE);
    REQUIRE(is_destroyed);
    SUCCEEDS(clReleaseEvent(filled));
    SUCCEEDS(clReleaseMemObject(other));
}

static cl_mem image_of(cl_mem_object_type type, cl_channel_order order, cl_channel_type channel, cl_mem parent) {
    cl_int error;
    const cl_image_format format = {order, channel};
    cl_image_desc description = {.image_type = type, .image_width = 8};
    if (type == CL_MEM_OBJECT_IMAGE2D) description.image_height = 4;
    description.mem_object = parent;
    cl_mem image = clCreateImage(context, CL_MEM_READ_ONLY, &format, &description, NULL, &error);
    REQUIRE((image == NULL) == (error == CL_IMAGE_FORMAT_NOT_SUPPORTED));
    return image;
}

static void pass_wrong_images(void) {
    cl_mem image = image_of(CL_MEM_OBJECT_IMAGE2D, CL_RGBA, CL_UNSIGNED_INT8, NULL), buffer = buffer_of(256);
    cl_mem view = image_of(CL_MEM_OBJECT_IMAGE1D_BUFFER, CL_RGBA, CL_UNSIGNED_INT32, buffer);
    REQUIRE(image && view && !image_of(CL_MEM_OBJECT_IMAGE1D, CL_DEPTH, CL_FLOAT, NULL));
    const size_t origin[3] = {0, 0, 0}, region[3] = {8, 4, 1}, row[3] = {8, 1, 1};
    static cl_uchar texels[256];
    REQUIRE(clEnqueueReadImage(queues[0], image, CL_TRUE, origin, region, 0, 128, texels, 0, NULL, NULL) ==
            CL_INVALID_VALUE);
    REQUIRE(clEnqueueCopyImageToBuffer(queues[0], view, buffer, origin, row, 128, 0, NULL, NULL) ==
            CL_INVALID_MEM_OBJECT);
    cl_program program = of_source("kernel void read(read_only image2d_t i, read_only image3d_t k) {}\n");
    SUCCEEDS(clBuildProgram(program, 1, &device, "", NULL, NULL));
    cl_int error;
    cl_kernel kernel = clCreateKernel(program, "read", &error);
    SUCCEEDS(error);
    SUCCEEDS(clSetKernelArg(kernel, 0, sizeof image, &image));
    REQUIRE(clSetKernelArg(kernel, 0, sizeof image, NULL) == CL_INVALID_MEM_OBJECT);
    REQUIRE(clSetKernelArg(kernel, 1, sizeof image, &image) == CL_INVALID_MEM_OBJECT);
    const cl_mem all[] = {view, image, buffer};
    for (int i = 0; i < 3; i++) SUCCEEDS(clReleaseMemObject(all[i]));
    SUCCEEDS(clReleaseKernel(kernel));
    SUCCEEDS(clReleaseProgram(program));
}

static void pass_wrong_sizes(void) {
    cl_int error;
    cl_program program = of_source("kernel void set(global int *to) { *to = 1; }\n");
    SUCCEEDS(clBuildProgram(program, 1, &device, "", NULL, NULL));
    cl_kernel kernel = clCreateKernel(program, "set", &error);
    SUCCEEDS(error);
    const size_t huge[3] = {(size_t)1 << 40, (size_t)1 << 40, 1};
    size_t groups;
    SUCCEEDS(clGetKernelSubGroupInfo(kernel, device, CL_KERNEL_SUB_GROUP_COUNT_FOR_NDRANGE, sizeof huge, huge,
                                     sizeof groups, &groups, NULL));
    REQUIRE(clGetKernelSubGroupInfo(kernel, device, CL_KERNEL_SUB_GROUP_COUNT_FOR_NDRANGE, 12, huge, sizeof groups,
                                    &groups, NULL) == CL_INVALID_VALUE);
    cl_context other = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    SUCCEEDS(error);
    cl_mem foreign = clCreateBuffer(other, 0, 16, NULL, &error);
    SUCCEEDS(error);
    REQUIRE(clSetKernelArg(kernel, 0, sizeof foreign, &foreign) == CL_INVALID_CONTEXT);
    char *memory = clSVMAlloc(context, CL_MEM_READ_WRITE, 256, 0);
    if (memory) {
        const void *inside = memory + 1;
        const size_t most = (size_t)-1, none = 0;
        REQUIRE(clEnqueueSVMMigrateMem(queues[0], 1, &inside, &most, 0, 0, NULL, NULL) == CL_INVALID_VALUE);
        SUCCEEDS(clEnqueueSVMMigrateMem(queues[0], 1, &inside, &none, 0, 0, NULL, NULL));
        SUCCEEDS(clFinish(queues[0]));
        clSVMFree(context, memory);
    }
    cl_mem pipe = clCreatePipe(context, 0, 4, 4, NULL, &error);
    SUCCEEDS(error);
    REQUIRE(clEnqueueUnmapMemObject(queues[0], pipe, &groups, 0, NULL, NULL) == CL_INVALID_MEM_OBJECT);
    SUCCEEDS(clReleaseMemObject(pipe));
    SUCCEEDS(clReleaseMemObject(foreign));
    SUCCEEDS(clReleaseContext(other));
    SUCCEEDS(clReleaseKernel(kernel));
    SUCCEEDS(clReleaseProgram(program));
}

// `CL_PROFILING_COMMAND_COMPLETE` includes the kernels that a kernel enqueues, `CL_PROFILING_COMMAND_END` does not. The
// reference device runs them as a part of the launch.
static void time_children(void) {
    const cl_queue_properties profiled[] = {CL_QUEUE_PROPERTIES, CL_QUEUE_PROFILING_ENABLE, 0};
    const cl_queue_properties on_device[] = {
        CL_QUEUE_PROPERTIES, CL_QUEUE_ON_DEVICE | CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, 0};
    cl_int error, number;
    cl_command_queue host = clCreateCommandQueueWithProperties(context, device, profiled, &error);
    SUCCEEDS(error);
    cl_command_queue children = clCreateCommandQueueWithProperties(context, device, on_device, &error);
    SUCCEEDS(error);
    cl_program program = of_source(
        "kernel void parent(queue_t queue, global int *to) {\n"
        "    enqueue_kernel(queue, CLK_ENQUEUE_FLAGS_WAIT_KERNEL, ndrange_1D(1), ^{ *to = 7; });\n"
        "}\n");
    SUCCEEDS(clBuildProgram(program, 1, &device, "-cl-std=CL3.0", NULL, NULL));
    cl_kernel kernel = clCreateKernel(program, "parent", &error);
    SUCCEEDS(error);
    cl_mem buffer = buffer_of(sizeof number);
    SUCCEEDS(clSetKernelArg(kernel, 0, sizeof children, &children));
    SUCCEEDS(clSetKernelArg(kernel, 1, sizeof buffer, &buffer));
    const size_t one = 1;
    cl_event launched;
    SUCCEEDS(clEnqueueNDRangeKernel(host, kernel, 1, NULL, &one, NULL, 0, NULL, &launched));
    SUCCEEDS(clEnqueueReadBuffer(host, buffer, CL_TRUE, 0, sizeof number, &number, 0, NULL, NULL));
    REQUIRE(number == 7);
    cl_ulong times[3];
    const cl_profiling_info names[3] = {
        CL_PROFILING_COMMAND_START, CL_PROFILING_COMMAND_END, CL_PROFILING_COMMAND_COMPLETE};
    for (int i = 0; i < 3; i++) SUCCEEDS(clGetEventProfilingInfo(launched, names[i], sizeof times[i], &times[i], NULL));
    char name[100];
    SUCCEEDS(clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof name, name, NULL));
    const int is_reference = strstr(name, "reference") != NULL;
    REQUIRE(times[0] <= times[1] && (is_reference ? times[1] == times[2] : times[1] < times[2]));
    SUCCEEDS(clReleaseEvent(launched));
    SUCCEEDS(clReleaseMemObject(buffer));
    SUCCEEDS(clReleaseKernel(kernel));
    SUCCEEDS(clReleaseProgram(program));
    SUCCEEDS(clReleaseCommandQueue(host));
    SUCCEEDS(clReleaseCommandQueue(children));
}

int main(void) {
    cl_int error;
    device = open_device();
    for (int i = 0; i < 2; i++) {
        queues[i] = clCreateCommandQueueWithProperties(context, device, NULL, &error);
        SUCCEEDS(error);
    }
    build_again();
    include_headers();
    run_native_kernel();
    map_twice();
    poll_and_do_nothing();
    pass_wrong_images();
    pass_wrong_sizes();
    time_children();
    for (int i = 0; i < 2; i++) SUCCEEDS(clReleaseCommandQueue(queues[i]));
    SUCCEEDS(clReleaseContext(context));
    return 0;
}
