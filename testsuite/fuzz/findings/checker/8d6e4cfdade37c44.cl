// fuzz: CL2.0 opencl
long l)("",-6*0xffffffff00000000);