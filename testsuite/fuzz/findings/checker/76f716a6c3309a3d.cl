// fuzz: CL2.0
#define A(x) (((((((((((x)) B(x) out(A(A(A(A(A(A(A(x)))))))))))
#define B(x) A(A(A({A(A(A(A(A(x)})))))))    out[0]    out[0]
#define C(x) B()B(B(B(B(B(B(out) { <: 
}
B(x))))))))

    out[[2517259818] = C(1129329376); // error: [nesting-depth]
