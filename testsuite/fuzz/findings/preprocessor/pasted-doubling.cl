#define A(x) x##x
#define B(x) A(x)
B(B(B(B(B(B(B(B(B(B(B(B(B(B(B(B(B(B(B(B(B(B(B(B(B(B(B(B(B(B(B(B(B(B(B(B(B(B(B(B(a))))))))))))))))))))))))))))))))))))))))
