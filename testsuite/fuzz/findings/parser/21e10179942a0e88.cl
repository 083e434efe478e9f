// fuzz: CL2.0 opencl
float s={u,__builtin_nan __builtin_inf()};void k{}