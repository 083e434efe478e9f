// fuzz: CL3.0 opencl
float l)(-6*/**/0xffffffff00000000);