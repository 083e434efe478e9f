// What the programs share: the checks, the context and its device, and programs from sources.

#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <stdio.h>
#include <stdlib.h>

static cl_context context;

static void require(int holds, const char *what, int line) {
    if (!holds) {
        printf("line %d: %s\n", line, what);
        exit(1);
    }
}
#define REQUIRE(condition) require(condition, #condition, __LINE__)
#define SUCCEEDS(call) REQUIRE((call) == CL_SUCCESS)

// Creates the context of the default device. Not all programs use it.
static inline cl_device_id open_device(void) {
    cl_platform_id platform;
    cl_device_id device;
    cl_int error;
    SUCCEEDS(clGetPlatformIDs(1, &platform, NULL));
    SUCCEEDS(clGetDeviceIDs(platform, CL_DEVICE_TYPE_DEFAULT, 1, &device, NULL));
    context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    SUCCEEDS(error);
    return device;
}

static cl_program of_source(const char *text) {
    cl_int error;
    cl_program program = clCreateProgramWithSource(context, 1, &text, NULL, &error);
    SUCCEEDS(error);
    return program;
}
