//! Programs that detect the mistakes that no litmus test detects.

/// The name of a program, its work-items and those of a group, which of its objects are local, and the kernel.
type Row = (&'static str, [u32; 2], &'static [bool], &'static str);

#[rustfmt::skip]
pub(super) const PROGRAMS: &[Row] = &[
    ("a plain load mixed with a seq_cst load", [2, 1], &[false],
     "kernel void test(global int *result, global int *d) {
        if (get_global_id(0) == 0) {
            result[0] = atomic_load_explicit((global atomic_int *)d, memory_order_seq_cst, memory_scope_device);
        }
        if (get_global_id(0) == 1) {
            result[1] = *d;
        }
    }"),
    ("seq_cst stores to local objects, and a flag in global memory", [2, 2], &[true, true, false],
     "kernel void test(global int *result, local atomic_int *x, local atomic_int *y, global atomic_int *z) {
        if (get_global_id(0) == 0) {
            result[0] = atomic_load_explicit(y, memory_order_acquire, memory_scope_work_group);
            atomic_store_explicit(x, 1, memory_order_seq_cst, memory_scope_work_group);
            atomic_store_explicit(z, 1, memory_order_release, memory_scope_work_group);
        }
        if (get_global_id(0) == 1) {
            if (atomic_load_explicit(z, memory_order_acquire, memory_scope_work_group) == 1) {
                atomic_store_explicit(y, 2, memory_order_seq_cst, memory_scope_work_group);
            }
        }
    }"),
    ("seq_cst stores to local objects, and fences for global memory", [2, 2], &[true, true, false],
     "kernel void test(global int *result, local atomic_int *x, local atomic_int *y, global atomic_int *z) {
        if (get_global_id(0) == 0) {
            result[0] = atomic_load_explicit(y, memory_order_acquire, memory_scope_work_group);
            atomic_store_explicit(x, 1, memory_order_seq_cst, memory_scope_work_group);
            atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_release, memory_scope_work_group);
            atomic_store_explicit(z, 1, memory_order_relaxed, memory_scope_work_group);
        }
        if (get_global_id(0) == 1) {
            if (atomic_load_explicit(z, memory_order_relaxed, memory_scope_work_group) == 1) {
                atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acquire, memory_scope_work_group);
                atomic_store_explicit(y, 2, memory_order_seq_cst, memory_scope_work_group);
            }
        }
    }"),
    ("seq_cst stores to local objects, and a barrier for global memory", [2, 2], &[true, true],
     "kernel void test(global int *result, local atomic_int *x, local atomic_int *y) {
        if (get_global_id(0) == 0) {
            result[0] = atomic_load_explicit(y, memory_order_acquire, memory_scope_work_group);
            atomic_store_explicit(x, 1, memory_order_seq_cst, memory_scope_work_group);
        }
        work_group_barrier(CLK_GLOBAL_MEM_FENCE);
        if (get_global_id(0) == 0) {
        }
        if (get_global_id(0) == 1) {
            atomic_store_explicit(y, 2, memory_order_seq_cst, memory_scope_work_group);
        }
    }"),
    ("seq_cst stores to global objects, and a flag in local memory", [2, 2], &[false, false, true],
     "kernel void test(global int *result, global atomic_int *x, global atomic_int *y, local atomic_int *z) {
        if (get_global_id(0) == 0) {
            result[0] = atomic_load_explicit(y, memory_order_acquire, memory_scope_device);
            atomic_store_explicit(x, 1, memory_order_seq_cst, memory_scope_device);
            atomic_store_explicit(z, 1, memory_order_release, memory_scope_work_group);
        }
        if (get_global_id(0) == 1) {
            if (atomic_load_explicit(z, memory_order_acquire, memory_scope_work_group) == 1) {
                atomic_store_explicit(y, 2, memory_order_seq_cst, memory_scope_device);
            }
        }
    }"),
    ("seq_cst stores to global objects, and a barrier for local memory", [2, 2], &[false, false],
     "kernel void test(global int *result, global atomic_int *x, global atomic_int *y) {
        if (get_global_id(0) == 0) {
            result[0] = atomic_load_explicit(y, memory_order_acquire, memory_scope_device);
            atomic_store_explicit(x, 1, memory_order_seq_cst, memory_scope_device);
        }
        work_group_barrier(CLK_LOCAL_MEM_FENCE);
        if (get_global_id(0) == 0) {
        }
        if (get_global_id(0) == 1) {
            atomic_store_explicit(y, 2, memory_order_seq_cst, memory_scope_device);
        }
    }"),
    ("a message by acq_rel fences", [2, 2], &[false, false],
     "kernel void test(global int *result, global atomic_int *x, global int *d) {
        if (get_global_id(0) == 0) {
            *d = 1;
            atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acq_rel, memory_scope_device);
            atomic_store_explicit(x, 1, memory_order_relaxed, memory_scope_device);
        }
        if (get_global_id(0) == 1) {
            if (atomic_load_explicit(x, memory_order_relaxed, memory_scope_device) == 1) {
                atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acq_rel, memory_scope_device);
                result[0] = *d;
            }
        }
    }"),
    ("a message through a barrier", [2, 2], &[false],
     "kernel void test(global int *result, global int *d) {
        if (get_global_id(0) == 0) {
            *d = 1;
        }
        work_group_barrier(CLK_GLOBAL_MEM_FENCE);
        if (get_global_id(0) == 0) {
        }
        if (get_global_id(0) == 1) {
            result[0] = *d;
        }
    }"),
    ("store buffering by additions", [2, 1], &[false, false],
     "kernel void test(global int *result, global atomic_int *x, global atomic_int *y) {
        if (get_global_id(0) == 0) {
            atomic_fetch_add_explicit(x, 1, memory_order_seq_cst, memory_scope_device);
            result[0] = atomic_fetch_add_explicit(y, 1, memory_order_seq_cst, memory_scope_device);
        }
        if (get_global_id(0) == 1) {
            atomic_fetch_add_explicit(y, 1, memory_order_seq_cst, memory_scope_device);
            result[1] = atomic_fetch_add_explicit(x, 1, memory_order_seq_cst, memory_scope_device);
        }
    }"),
    ("a message by acq_rel additions", [2, 1], &[false, false],
     "kernel void test(global int *result, global atomic_int *x, global int *d) {
        if (get_global_id(0) == 0) {
            *d = 1;
            atomic_fetch_add_explicit(x, 1, memory_order_acq_rel, memory_scope_device);
        }
        if (get_global_id(0) == 1) {
            if (atomic_fetch_add_explicit(x, 1, memory_order_acq_rel, memory_scope_device) == 1) result[0] = *d;
        }
    }"),
    ("store buffering by compare-exchanges that succeed", [2, 1], &[false, false],
     "kernel void test(global int *result, global atomic_int *x, global atomic_int *y) {
        if (get_global_id(0) == 0) {
            int r = 0;
            atomic_compare_exchange_strong_explicit(x, &r, 2, memory_order_seq_cst, memory_order_seq_cst, memory_scope_device);
            {
                int r = 0;
                atomic_compare_exchange_strong_explicit(y, &r, 2, memory_order_seq_cst, memory_order_seq_cst, memory_scope_device);
                result[0] = r;
            }
        }
        if (get_global_id(0) == 1) {
            int r = 0;
            atomic_compare_exchange_strong_explicit(y, &r, 2, memory_order_seq_cst, memory_order_seq_cst, memory_scope_device);
            {
                int r = 0;
                atomic_compare_exchange_strong_explicit(x, &r, 2, memory_order_seq_cst, memory_order_seq_cst, memory_scope_device);
                result[1] = r;
            }
        }
    }"),
    ("a message to a compare-exchange that succeeds", [2, 1], &[false, false],
     "kernel void test(global int *result, global atomic_int *x, global int *d) {
        if (get_global_id(0) == 0) {
            *d = 1;
            atomic_store_explicit(x, 1, memory_order_release, memory_scope_device);
        }
        if (get_global_id(0) == 1) {
            int r = 1;
            atomic_compare_exchange_strong_explicit(x, &r, 2, memory_order_seq_cst, memory_order_seq_cst, memory_scope_device);
            if (r == 1) result[1] = *d;
        }
    }"),
    ("a release store between two seq_cst operations", [4, 1], &[false, false],
     "kernel void test(global int *result, global atomic_int *x, global atomic_int *y) {
        if (get_global_id(0) == 0) {
            result[0] = atomic_exchange_explicit(x, 1, memory_order_seq_cst, memory_scope_device);
            atomic_store_explicit(y, 1, memory_order_seq_cst, memory_scope_device);
        }
        if (get_global_id(0) == 1) {
            result[1] = atomic_exchange_explicit(y, 2, memory_order_seq_cst, memory_scope_device);
            atomic_store_explicit(x, 2, memory_order_seq_cst, memory_scope_device);
        }
        if (get_global_id(0) == 2) {
            atomic_store_explicit(x, 3, memory_order_release, memory_scope_device);
        }
        if (get_global_id(0) == 3) {
            atomic_store_explicit(y, 3, memory_order_release, memory_scope_device);
        }
    }"),
];
