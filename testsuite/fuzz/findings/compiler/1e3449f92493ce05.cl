// fuzz: CL1.2 opencl
kernel void k(global int*out){__attribute__((opencl_unroll_hint()))for(int i;;)out[i];}