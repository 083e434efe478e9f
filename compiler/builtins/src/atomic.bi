# Atomic functions (OpenCL C 6.15.12.7). `parse` adds the requirements for the default order and scope, which depend
# on the form. Operands are converted to the type of the object, even where C11 uses ptrdiff_t.
@family atomic
@when 2.0
@T int uint long ulong float double
@P atomic
void atomic_init(volatile P atomicT *, T) = atomic_init
void atomic_store(volatile P atomicT *, T) = atomic
void atomic_store_explicit(volatile P atomicT *, T, memory_order) = atomic
void atomic_store_explicit(volatile P atomicT *, T, memory_order, memory_scope) = atomic
T atomic_load(volatile P atomicT *) = atomic
T atomic_load_explicit(volatile P atomicT *, memory_order) = atomic
T atomic_load_explicit(volatile P atomicT *, memory_order, memory_scope) = atomic
T atomic_exchange(volatile P atomicT *, T) = atomic
T atomic_exchange_explicit(volatile P atomicT *, T, memory_order) = atomic
T atomic_exchange_explicit(volatile P atomicT *, T, memory_order, memory_scope) = atomic
@when 2.0 __opencl_c_generic_address_space
bool atomic_compare_exchange_strong|atomic_compare_exchange_weak(volatile generic atomicT *, generic T *, T) = atomic
bool atomic_compare_exchange_strong_explicit|atomic_compare_exchange_weak_explicit(volatile generic atomicT *, generic T *, T, memory_order, memory_order) = atomic
bool atomic_compare_exchange_strong_explicit|atomic_compare_exchange_weak_explicit(volatile generic atomicT *, generic T *, T, memory_order, memory_order, memory_scope) = atomic
@when 3.0
@P shared
@Q named
bool atomic_compare_exchange_strong|atomic_compare_exchange_weak(volatile P atomicT *, Q T *, T) = atomic
bool atomic_compare_exchange_strong_explicit|atomic_compare_exchange_weak_explicit(volatile P atomicT *, Q T *, T, memory_order, memory_order) = atomic
bool atomic_compare_exchange_strong_explicit|atomic_compare_exchange_weak_explicit(volatile P atomicT *, Q T *, T, memory_order, memory_order, memory_scope) = atomic
@when 2.0
@P atomic
@T int uint long ulong
T atomic_fetch_add|atomic_fetch_sub|atomic_fetch_or|atomic_fetch_xor|atomic_fetch_and|atomic_fetch_min|atomic_fetch_max(volatile P atomicT *, T) = atomic
T atomic_fetch_add_explicit|atomic_fetch_sub_explicit|atomic_fetch_or_explicit|atomic_fetch_xor_explicit|atomic_fetch_and_explicit|atomic_fetch_min_explicit|atomic_fetch_max_explicit(volatile P atomicT *, T, memory_order) = atomic
T atomic_fetch_add_explicit|atomic_fetch_sub_explicit|atomic_fetch_or_explicit|atomic_fetch_xor_explicit|atomic_fetch_and_explicit|atomic_fetch_min_explicit|atomic_fetch_max_explicit(volatile P atomicT *, T, memory_order, memory_scope) = atomic
bool atomic_flag_test_and_set(volatile P atomic_flag *) = atomic
bool atomic_flag_test_and_set_explicit(volatile P atomic_flag *, memory_order) = atomic
bool atomic_flag_test_and_set_explicit(volatile P atomic_flag *, memory_order, memory_scope) = atomic
void atomic_flag_clear(volatile P atomic_flag *) = atomic
void atomic_flag_clear_explicit(volatile P atomic_flag *, memory_order) = atomic
void atomic_flag_clear_explicit(volatile P atomic_flag *, memory_order, memory_scope) = atomic

# cl_ext_float_atomics
@T half
@when 2.0 cl_ext_float_atomics __opencl_c_ext_fp16_global_atomic_load_store
void atomic_store(volatile global atomicT *, T) = atomic
void atomic_store_explicit(volatile global atomicT *, T, memory_order) = atomic
void atomic_store_explicit(volatile global atomicT *, T, memory_order, memory_scope) = atomic
T atomic_load(volatile global atomicT *) = atomic
T atomic_load_explicit(volatile global atomicT *, memory_order) = atomic
T atomic_load_explicit(volatile global atomicT *, memory_order, memory_scope) = atomic
T atomic_exchange(volatile global atomicT *, T) = atomic
T atomic_exchange_explicit(volatile global atomicT *, T, memory_order) = atomic
T atomic_exchange_explicit(volatile global atomicT *, T, memory_order, memory_scope) = atomic
@when 2.0 cl_ext_float_atomics __opencl_c_ext_fp16_local_atomic_load_store
void atomic_store(volatile local atomicT *, T) = atomic
void atomic_store_explicit(volatile local atomicT *, T, memory_order) = atomic
void atomic_store_explicit(volatile local atomicT *, T, memory_order, memory_scope) = atomic
T atomic_load(volatile local atomicT *) = atomic
T atomic_load_explicit(volatile local atomicT *, memory_order) = atomic
T atomic_load_explicit(volatile local atomicT *, memory_order, memory_scope) = atomic
T atomic_exchange(volatile local atomicT *, T) = atomic
T atomic_exchange_explicit(volatile local atomicT *, T, memory_order) = atomic
T atomic_exchange_explicit(volatile local atomicT *, T, memory_order, memory_scope) = atomic
@when 2.0 cl_ext_float_atomics __opencl_c_ext_fp16_global_atomic_load_store __opencl_c_ext_fp16_local_atomic_load_store __opencl_c_generic_address_space
void atomic_store(volatile generic atomicT *, T) = atomic
void atomic_store_explicit(volatile generic atomicT *, T, memory_order) = atomic
void atomic_store_explicit(volatile generic atomicT *, T, memory_order, memory_scope) = atomic
T atomic_load(volatile generic atomicT *) = atomic
T atomic_load_explicit(volatile generic atomicT *, memory_order) = atomic
T atomic_load_explicit(volatile generic atomicT *, memory_order, memory_scope) = atomic
T atomic_exchange(volatile generic atomicT *, T) = atomic
T atomic_exchange_explicit(volatile generic atomicT *, T, memory_order) = atomic
T atomic_exchange_explicit(volatile generic atomicT *, T, memory_order, memory_scope) = atomic
@when 2.0 cl_ext_float_atomics __opencl_c_ext_fp16_global_atomic_add
T atomic_fetch_add|atomic_fetch_sub(volatile global atomicT *, T) = atomic
T atomic_fetch_add_explicit|atomic_fetch_sub_explicit(volatile global atomicT *, T, memory_order) = atomic
T atomic_fetch_add_explicit|atomic_fetch_sub_explicit(volatile global atomicT *, T, memory_order, memory_scope) = atomic
@when 2.0 cl_ext_float_atomics __opencl_c_ext_fp16_local_atomic_add
T atomic_fetch_add|atomic_fetch_sub(volatile local atomicT *, T) = atomic
T atomic_fetch_add_explicit|atomic_fetch_sub_explicit(volatile local atomicT *, T, memory_order) = atomic
T atomic_fetch_add_explicit|atomic_fetch_sub_explicit(volatile local atomicT *, T, memory_order, memory_scope) = atomic
@when 2.0 cl_ext_float_atomics __opencl_c_ext_fp16_global_atomic_add __opencl_c_ext_fp16_local_atomic_add __opencl_c_generic_address_space
T atomic_fetch_add|atomic_fetch_sub(volatile generic atomicT *, T) = atomic
T atomic_fetch_add_explicit|atomic_fetch_sub_explicit(volatile generic atomicT *, T, memory_order) = atomic
T atomic_fetch_add_explicit|atomic_fetch_sub_explicit(volatile generic atomicT *, T, memory_order, memory_scope) = atomic
@when 2.0 cl_ext_float_atomics __opencl_c_ext_fp16_global_atomic_min_max
T atomic_fetch_min|atomic_fetch_max(volatile global atomicT *, T) = atomic
T atomic_fetch_min_explicit|atomic_fetch_max_explicit(volatile global atomicT *, T, memory_order) = atomic
T atomic_fetch_min_explicit|atomic_fetch_max_explicit(volatile global atomicT *, T, memory_order, memory_scope) = atomic
@when 2.0 cl_ext_float_atomics __opencl_c_ext_fp16_local_atomic_min_max
T atomic_fetch_min|atomic_fetch_max(volatile local atomicT *, T) = atomic
T atomic_fetch_min_explicit|atomic_fetch_max_explicit(volatile local atomicT *, T, memory_order) = atomic
T atomic_fetch_min_explicit|atomic_fetch_max_explicit(volatile local atomicT *, T, memory_order, memory_scope) = atomic
@when 2.0 cl_ext_float_atomics __opencl_c_ext_fp16_global_atomic_min_max __opencl_c_ext_fp16_local_atomic_min_max __opencl_c_generic_address_space
T atomic_fetch_min|atomic_fetch_max(volatile generic atomicT *, T) = atomic
T atomic_fetch_min_explicit|atomic_fetch_max_explicit(volatile generic atomicT *, T, memory_order) = atomic
T atomic_fetch_min_explicit|atomic_fetch_max_explicit(volatile generic atomicT *, T, memory_order, memory_scope) = atomic
@T float
@when 2.0 cl_ext_float_atomics __opencl_c_ext_fp32_global_atomic_add
T atomic_fetch_add|atomic_fetch_sub(volatile global atomicT *, T) = atomic
T atomic_fetch_add_explicit|atomic_fetch_sub_explicit(volatile global atomicT *, T, memory_order) = atomic
T atomic_fetch_add_explicit|atomic_fetch_sub_explicit(volatile global atomicT *, T, memory_order, memory_scope) = atomic
@when 2.0 cl_ext_float_atomics __opencl_c_ext_fp32_local_atomic_add
T atomic_fetch_add|atomic_fetch_sub(volatile local atomicT *, T) = atomic
T atomic_fetch_add_explicit|atomic_fetch_sub_explicit(volatile local atomicT *, T, memory_order) = atomic
T atomic_fetch_add_explicit|atomic_fetch_sub_explicit(volatile local atomicT *, T, memory_order, memory_scope) = atomic
@when 2.0 cl_ext_float_atomics __opencl_c_ext_fp32_global_atomic_add __opencl_c_ext_fp32_local_atomic_add __opencl_c_generic_address_space
T atomic_fetch_add|atomic_fetch_sub(volatile generic atomicT *, T) = atomic
T atomic_fetch_add_explicit|atomic_fetch_sub_explicit(volatile generic atomicT *, T, memory_order) = atomic
T atomic_fetch_add_explicit|atomic_fetch_sub_explicit(volatile generic atomicT *, T, memory_order, memory_scope) = atomic
@when 2.0 cl_ext_float_atomics __opencl_c_ext_fp32_global_atomic_min_max
T atomic_fetch_min|atomic_fetch_max(volatile global atomicT *, T) = atomic
T atomic_fetch_min_explicit|atomic_fetch_max_explicit(volatile global atomicT *, T, memory_order) = atomic
T atomic_fetch_min_explicit|atomic_fetch_max_explicit(volatile global atomicT *, T, memory_order, memory_scope) = atomic
@when 2.0 cl_ext_float_atomics __opencl_c_ext_fp32_local_atomic_min_max
T atomic_fetch_min|atomic_fetch_max(volatile local atomicT *, T) = atomic
T atomic_fetch_min_explicit|atomic_fetch_max_explicit(volatile local atomicT *, T, memory_order) = atomic
T atomic_fetch_min_explicit|atomic_fetch_max_explicit(volatile local atomicT *, T, memory_order, memory_scope) = atomic
@when 2.0 cl_ext_float_atomics __opencl_c_ext_fp32_global_atomic_min_max __opencl_c_ext_fp32_local_atomic_min_max __opencl_c_generic_address_space
T atomic_fetch_min|atomic_fetch_max(volatile generic atomicT *, T) = atomic
T atomic_fetch_min_explicit|atomic_fetch_max_explicit(volatile generic atomicT *, T, memory_order) = atomic
T atomic_fetch_min_explicit|atomic_fetch_max_explicit(volatile generic atomicT *, T, memory_order, memory_scope) = atomic
@T double
@when 2.0 cl_ext_float_atomics __opencl_c_ext_fp64_global_atomic_add
T atomic_fetch_add|atomic_fetch_sub(volatile global atomicT *, T) = atomic
T atomic_fetch_add_explicit|atomic_fetch_sub_explicit(volatile global atomicT *, T, memory_order) = atomic
T atomic_fetch_add_explicit|atomic_fetch_sub_explicit(volatile global atomicT *, T, memory_order, memory_scope) = atomic
@when 2.0 cl_ext_float_atomics __opencl_c_ext_fp64_local_atomic_add
T atomic_fetch_add|atomic_fetch_sub(volatile local atomicT *, T) = atomic
T atomic_fetch_add_explicit|atomic_fetch_sub_explicit(volatile local atomicT *, T, memory_order) = atomic
T atomic_fetch_add_explicit|atomic_fetch_sub_explicit(volatile local atomicT *, T, memory_order, memory_scope) = atomic
@when 2.0 cl_ext_float_atomics __opencl_c_ext_fp64_global_atomic_add __opencl_c_ext_fp64_local_atomic_add __opencl_c_generic_address_space
T atomic_fetch_add|atomic_fetch_sub(volatile generic atomicT *, T) = atomic
T atomic_fetch_add_explicit|atomic_fetch_sub_explicit(volatile generic atomicT *, T, memory_order) = atomic
T atomic_fetch_add_explicit|atomic_fetch_sub_explicit(volatile generic atomicT *, T, memory_order, memory_scope) = atomic
@when 2.0 cl_ext_float_atomics __opencl_c_ext_fp64_global_atomic_min_max
T atomic_fetch_min|atomic_fetch_max(volatile global atomicT *, T) = atomic
T atomic_fetch_min_explicit|atomic_fetch_max_explicit(volatile global atomicT *, T, memory_order) = atomic
T atomic_fetch_min_explicit|atomic_fetch_max_explicit(volatile global atomicT *, T, memory_order, memory_scope) = atomic
@when 2.0 cl_ext_float_atomics __opencl_c_ext_fp64_local_atomic_min_max
T atomic_fetch_min|atomic_fetch_max(volatile local atomicT *, T) = atomic
T atomic_fetch_min_explicit|atomic_fetch_max_explicit(volatile local atomicT *, T, memory_order) = atomic
T atomic_fetch_min_explicit|atomic_fetch_max_explicit(volatile local atomicT *, T, memory_order, memory_scope) = atomic
@when 2.0 cl_ext_float_atomics __opencl_c_ext_fp64_global_atomic_min_max __opencl_c_ext_fp64_local_atomic_min_max __opencl_c_generic_address_space
T atomic_fetch_min|atomic_fetch_max(volatile generic atomicT *, T) = atomic
T atomic_fetch_min_explicit|atomic_fetch_max_explicit(volatile generic atomicT *, T, memory_order) = atomic
T atomic_fetch_min_explicit|atomic_fetch_max_explicit(volatile generic atomicT *, T, memory_order, memory_scope) = atomic

# Atomic functions of OpenCL C 1.x (6.15.12.8): relaxed, on plain integers.
@family legacy_atomic
@T int uint
@P shared
T atomic_add|atomic_sub|atomic_min|atomic_max|atomic_and|atomic_or|atomic_xor|atomic_xchg(volatile P T *, T) = legacy
T atomic_inc|atomic_dec(volatile P T *) = legacy
T atomic_cmpxchg(volatile P T *, T, T) = legacy
float atomic_xchg(volatile P float *, float) = legacy

# cl_khr_global_int32_base_atomics, cl_khr_global_int32_extended_atomics
@T int uint
@when cl_khr_global_int32_base_atomics
T atom_add|atom_sub|atom_xchg(volatile global T *, T) = legacy
T atom_inc|atom_dec(volatile global T *) = legacy
T atom_cmpxchg(volatile global T *, T, T) = legacy
@when cl_khr_global_int32_extended_atomics
T atom_min|atom_max|atom_and|atom_or|atom_xor(volatile global T *, T) = legacy

# cl_khr_local_int32_base_atomics, cl_khr_local_int32_extended_atomics
@T int uint
@when cl_khr_local_int32_base_atomics
T atom_add|atom_sub|atom_xchg(volatile local T *, T) = legacy
T atom_inc|atom_dec(volatile local T *) = legacy
T atom_cmpxchg(volatile local T *, T, T) = legacy
@when cl_khr_local_int32_extended_atomics
T atom_min|atom_max|atom_and|atom_or|atom_xor(volatile local T *, T) = legacy

# cl_khr_int64_base_atomics, cl_khr_int64_extended_atomics
@T long ulong
@P shared
@when cl_khr_int64_base_atomics
T atom_add|atom_sub|atom_xchg(volatile P T *, T) = legacy
T atom_inc|atom_dec(volatile P T *) = legacy
T atom_cmpxchg(volatile P T *, T, T) = legacy
@when cl_khr_int64_extended_atomics
T atom_min|atom_max|atom_and|atom_or|atom_xor(volatile P T *, T) = legacy
