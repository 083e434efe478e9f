# Relational functions (OpenCL C 6.15.6). Scalars return 0 or 1; vectors return 0 or -1 in each component.
@family relational
@attributes const
@T half float double
int isequal|isnotequal|isgreater|isgreaterequal|isless|islessequal|islessgreater(T, T) = core
int isordered|isunordered(T, T) = core
int isfinite|isinf|isnan|isnormal|signbit(T) = core
@n 2 3 4 8 16
In isequal|isnotequal|isgreater|isgreaterequal|isless|islessequal|islessgreater(Tn, Tn) = core
In isordered|isunordered(Tn, Tn) = core
In isfinite|isinf|isnan|isnormal|signbit(Tn) = core
@T char short int long
@n 1 2 3 4 8 16
int any|all(Tn) = core
@T char uchar short ushort int uint long ulong half float double
Tn bitselect(Tn, Tn, Tn) = std * core
Tn select(Tn, Tn, In) = std * core
Tn select(Tn, Tn, Un) = std * core
