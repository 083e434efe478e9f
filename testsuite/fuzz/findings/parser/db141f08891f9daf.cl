// fuzz: CL2.0 opencl
#0""
"