/* Every fetch operation, on int and on uint, in local memory.
 *
 * `running_minimum` computes the minimum of a work-group: each work-item contributes a value and receives the
 * previous minimum. The operations have no explicit order, so they are sequentially consistent. `every_operation`
 * combines the local ids with each operation.
 *
 * kiln run --kernel running_minimum --global 256 --local 64
 *     --arg buf:int[256]=1000-iota*3 --arg buf:int[4]=0 --arg buf:int[4]=0
 *     --print lowest[0..4] --check lowest[0..4]=811,619,427,235 --check improved[0..4]>=1
 *
 * kiln run --kernel every_operation --global 64 --local 64
 *     --arg buf:int[7]=0 --arg buf:uint[7]=0
 *     --print signed_results[0..7] --print unsigned_results[0..7]
 *     --check signed_results[0..7]=2016,-2016,63,0,-64,-64,63
 *     --check unsigned_results[0..7]=2016,4294965280,63,0,4294967232,0,4294967295
 */
kernel void running_minimum(global const int *values, global int *lowest, global int *improved) {
    local atomic_int cur_min;
    local atomic_int improvements;

    if (get_local_id(0) == 0) {
        atomic_init(&cur_min, INT_MAX);
        atomic_init(&improvements, 0);
    }
    work_group_barrier(CLK_LOCAL_MEM_FENCE);

    int mine = values[get_global_id(0)];
    int old = atomic_fetch_min(&cur_min, mine);
    if (mine < old)
        atomic_fetch_add(&improvements, 1);
    work_group_barrier(CLK_LOCAL_MEM_FENCE);

    if (get_local_id(0) == 0) {
        lowest[get_group_id(0)] = atomic_load(&cur_min);
        improved[get_group_id(0)] = atomic_load(&improvements);
    }
}

kernel void every_operation(global int *signed_results, global uint *unsigned_results) {
    local atomic_int s[7];
    local atomic_uint u[7];
    int lid = get_local_id(0);

    if (lid == 0) {
        for (int i = 0; i < 7; ++i) {
            atomic_init(&s[i], i == 4 ? -1 : 0);
            atomic_init(&u[i], i == 4 || i == 5 ? UINT_MAX : 0u);
        }
    }
    work_group_barrier(CLK_LOCAL_MEM_FENCE);

    atomic_fetch_add(&s[0], lid);
    atomic_fetch_sub(&s[1], lid);
    atomic_fetch_or(&s[2], lid);
    atomic_fetch_xor(&s[3], lid);
    atomic_fetch_and(&s[4], ~lid);
    atomic_fetch_min(&s[5], -lid - 1);
    atomic_fetch_max(&s[6], lid);

    atomic_fetch_add(&u[0], (uint)lid);
    atomic_fetch_sub(&u[1], (uint)lid);
    atomic_fetch_or(&u[2], (uint)lid);
    atomic_fetch_xor(&u[3], (uint)lid);
    atomic_fetch_and(&u[4], ~(uint)lid);
    atomic_fetch_min(&u[5], (uint)lid);
    atomic_fetch_max(&u[6], UINT_MAX - (uint)lid);
    work_group_barrier(CLK_LOCAL_MEM_FENCE);

    if (lid < 7) {
        signed_results[lid] = atomic_load(&s[lid]);
        unsigned_results[lid] = atomic_load(&u[lid]);
    }
}
