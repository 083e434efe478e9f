// Settings that the kernel and its C hosts share.
#ifdef __OPENCL_C_VERSION__
typedef int host_int;
typedef float host_float;
#else
#include <CL/cl.h>
typedef cl_int host_int;
typedef cl_float host_float;
#endif

typedef struct settings {
    host_int size;      // of the square field
    host_float rate;    // the part of the difference to its neighbors that a cell takes over
} settings;
