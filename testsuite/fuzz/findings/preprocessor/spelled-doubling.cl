#define S(x) #x #x
#define T(x) S(x)
#define C(x) x##x
#define D(x) C(x)
T(T(T(T(T(T(T(T(T(T(T(T(T(T(T(T(T(T(T(T(T(T(T(T(T(T(T(T(T(T(T(T(T(T(T(T(T(T(T(T("\""))))))))))))))))))))))))))))))))))))))))
T(D(D(D(D(D(D(D(D(D(D(D(D(D(D(D(D(D(D(D(D(D(D(D(D(a)))))))))))))))))))))))))
