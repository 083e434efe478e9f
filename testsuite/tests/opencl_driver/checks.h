// What the programs share: the checks, the context, and programs from sources.

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

static cl_program of_source(const char *text) {
    cl_int error;
    cl_program program = clCreateProgramWithSource(context, 1, &text, NULL, &error);
    SUCCEEDS(error);
    return program;
}
