// fuzz: CL3.0 opencl
#error.