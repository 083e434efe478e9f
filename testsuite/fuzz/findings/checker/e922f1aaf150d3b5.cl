// fuzz: CL2.0 opencl everything
#define M(...)__VA_OPT__)