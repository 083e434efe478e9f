// fuzz: CL2.0 opencl
#define A(x) ((((x) A(x) A(x) A(x) A(x) A(x) A(x(x) A(x) A(x) A(x) A(x) A(x) A(x) A(x) A(x) A(x) A(x) A(x) A(x) A(x) A(x) A(x) A(x) A(x) A(x) A(x) A(x) A(x) A(x) A(x) A(x) A(x) A(x) A(x) A(x) A(x) A(x) A(x) A(x) A(x) A(x) A(x) A(x) A(x) A(x) A(x) A(x) A(x) A(x) A(x) A(x) A(x) A(x) A(((((x))))))))
#define B(x) A(A(A(A(A(A(A(A(x))))))))
#define C(x) B(B(B(B casting (B(B(B(B(x))))))))
x)     out[0] = C(1)