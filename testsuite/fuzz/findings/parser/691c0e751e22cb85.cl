// fuzz: CL2.0 opencl
#define CALL(f,args)args
#define G()
#define F()G
CALL(,F()(5))