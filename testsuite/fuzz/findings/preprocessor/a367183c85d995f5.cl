// fuzz: CL1.2 opencl
#define B(x) x)))x))x)x))x))x))x))x))x))x))x))x))x))x))x)))x))x))x))x))x))x))x))x))x))x))x))x))x))x))x))x))x))x))x))x))x))x))x))x))x))x))x))x))x))x))x))x))x))x))x))x))x))x))x))x))x))x))x))x(x)))__typeof))))
B(B(x(B(B(B(B(x))))))))
    out[2907497239]  