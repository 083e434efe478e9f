/* An object that its last user destroys.
 *
 * Every user releases its accesses when it decrements the counter. Only the last one acquires them, by a fence.
 *
 * kiln run --kernel use --global 4 --local 1
 *     --arg buf:int[1]=4 --arg buf:int[4]=7,7,7,7 --check users[0]=0 --check object[0..4]=-1,-1,-1,-1
 *
 * kiln litmus --global 2 --local 1
 *     --arg buf:int[1]=2 --arg buf:int[2]=7,7
 *     users=0 object[0]=4294967295 object[1]=4294967295
 */
kernel void use(global atomic_int *users, global int *object) {
    object[get_group_id(0)] += 1;

    if (atomic_fetch_sub_explicit(users, 1, memory_order_release, memory_scope_device) == 1) {
        atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acquire, memory_scope_device);
        for (uint part = 0; part < get_num_groups(0); ++part)
            object[part] = -1;
    }
}
