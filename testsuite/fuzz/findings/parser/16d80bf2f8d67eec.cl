// fuzz: CL1.2 opencl
n(float//
){{}r(p,&t[(read_only r}