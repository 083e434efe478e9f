// fuzz: CL2.0
#0
l