// Runs kernels/heat.cl with OpenCL, on the first device of the first platform.
#include <stdio.h>
#include <stdlib.h>

#include "settings.h"

#define SIZE 64
#define STEPS 100

static void check(cl_int error, const char *what)
{
    if (error != CL_SUCCESS) {
        fprintf(stderr, "%s: error %d\n", what, error);
        exit(1);
    }
}

// The text of a file.
static char *text_of(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL || fseek(file, 0, SEEK_END) != 0) {
        fprintf(stderr, "cannot read %s\n", path);
        exit(1);
    }
    long length = ftell(file);
    rewind(file);
    char *text = calloc(1, (size_t)length + 1);
    if (text == NULL || fread(text, 1, (size_t)length, file) != (size_t)length)
        exit(1);
    fclose(file);
    return text;
}

int main(void)
{
    cl_int error;
    cl_platform_id platform;
    cl_device_id device;
    check(clGetPlatformIDs(1, &platform, NULL), "no platform");
    check(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL), "no device");
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &error);
    check(error, "no context");
    cl_command_queue queue = clCreateCommandQueueWithProperties(context, device, NULL, &error);
    check(error, "no queue");

    char *text = text_of(KERNELS "/heat.cl");
    cl_program program = clCreateProgramWithSource(context, 1, (const char **)&text, NULL, &error);
    check(error, "no program");
    if (clBuildProgram(program, 1, &device, "-I " KERNELS, NULL, NULL) != CL_SUCCESS) {
        char log[16384] = "";
        clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL);
        fprintf(stderr, "%s\n", log);
        return 1;
    }
    cl_kernel kernel = clCreateKernel(program, "spread", &error);
    check(error, "no kernel");

    static cl_float field[SIZE * SIZE];
    field[SIZE / 2 * SIZE + SIZE / 2] = 1000;
    cl_mem fields[2];
    for (int i = 0; i < 2; i++) {
        fields[i] = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof field, field, &error);
        check(error, "no buffer");
    }
    settings with = {SIZE, 0.2f};
    const size_t global[2] = {SIZE, SIZE};
    for (int step = 0; step < STEPS; step++) {
        check(clSetKernelArg(kernel, 0, sizeof(cl_mem), &fields[step % 2]), "argument 0");
        check(clSetKernelArg(kernel, 1, sizeof(cl_mem), &fields[(step + 1) % 2]), "argument 1");
        check(clSetKernelArg(kernel, 2, sizeof with, &with), "argument 2");
        check(clEnqueueNDRangeKernel(queue, kernel, 2, NULL, global, NULL, 0, NULL, NULL), "launch");
    }
    check(clEnqueueReadBuffer(queue, fields[STEPS % 2], CL_TRUE, 0, sizeof field, field, 0, NULL, NULL), "read");
    printf("%.4f in the middle after %d steps\n", field[SIZE / 2 * SIZE + SIZE / 2], STEPS);
    free(text);
    return 0;
}
