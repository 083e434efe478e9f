// An OpenCL program that builds programs without kernels: an empty one, one of functions only, and one that is linked. They are
// executables (OpenCL API 5.8), which programs build to find out what a compiler supports.

#include "checks.h"

static cl_device_id device;

// The program is an executable and has no kernel.
static void has_no_kernel(cl_program program) {
    cl_build_status status;
    SUCCEEDS(clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_STATUS, sizeof status, &status, NULL));
    REQUIRE(status == CL_BUILD_SUCCESS);
    size_t count = 1;
    SUCCEEDS(clGetProgramInfo(program, CL_PROGRAM_NUM_KERNELS, sizeof count, &count, NULL));
    REQUIRE(count == 0);
    char names[8] = "none";
    SUCCEEDS(clGetProgramInfo(program, CL_PROGRAM_KERNEL_NAMES, sizeof names, names, NULL));
    REQUIRE(names[0] == 0);
    cl_uint kernels = 1;
    SUCCEEDS(clCreateKernelsInProgram(program, 0, NULL, &kernels));
    REQUIRE(kernels == 0);
    cl_int error;
    REQUIRE(clCreateKernel(program, "absent", &error) == NULL && error == CL_INVALID_KERNEL_NAME);
}

// The same program, from its binary.
static cl_program again(cl_program program) {
    size_t size;
    SUCCEEDS(clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, NULL));
    unsigned char *binary = malloc(size);
    SUCCEEDS(clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof binary, &binary, NULL));
    cl_int status, error;
    const unsigned char *bytes = binary;
    cl_program copy = clCreateProgramWithBinary(context, 1, &device, &size, &bytes, &status, &error);
    SUCCEEDS(error);
    SUCCEEDS(status);
    free(binary);
    SUCCEEDS(clBuildProgram(copy, 1, &device, "", NULL, NULL));
    return copy;
}

int main(void) {
    cl_int error;
    device = open_device();
    const char *sources[] = {"\n", "int twice(int number) { return 2 * number; }\n"};
    for (int i = 0; i < 2; i++) {
        cl_program program = of_source(sources[i]);
        SUCCEEDS(clBuildProgram(program, 1, &device, "", NULL, NULL));
        has_no_kernel(program);
        cl_program copy = again(program);
        has_no_kernel(copy);
        SUCCEEDS(clReleaseProgram(copy));
        SUCCEEDS(clCompileProgram(program, 1, &device, "", 0, NULL, NULL, NULL, NULL));
        cl_program linked = clLinkProgram(context, 1, &device, "", 1, &program, NULL, NULL, &error);
        SUCCEEDS(error);
        has_no_kernel(linked);
        SUCCEEDS(clReleaseProgram(linked));
        SUCCEEDS(clReleaseProgram(program));
    }
    cl_program wrong = of_source("int twice(int number) { return 2 * numbers; }\n");
    REQUIRE(clBuildProgram(wrong, 1, &device, "", NULL, NULL) == CL_BUILD_PROGRAM_FAILURE);
    SUCCEEDS(clReleaseProgram(wrong));
    SUCCEEDS(clReleaseContext(context));
    return 0;
}
