// fuzz: CL2.0 opencl everything
void(a){__typeof__(a)*a;}