// fuzz: CL3.0 opencl
ATOMIC_VAR_INIT NAN