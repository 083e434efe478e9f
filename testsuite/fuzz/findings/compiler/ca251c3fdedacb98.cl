// fuzz: CL2.0
atomic_int table[2383905415];kernel void c(global int*){atomic_store(&table[2],5);}