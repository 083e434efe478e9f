/* A sum over all work-groups in one launch: the last group to finish adds up the parts.
 *
 * kiln run --kernel sum --global 32 --local 8
 *     --arg buf:int[4]=0 --arg buf:int[1]=0 --arg buf:int[1]=0 --check total[0]=496
 *
 * kiln litmus --global 2 --local 1
 *     --arg buf:int[2]=0 --arg buf:int[1]=0 --arg buf:int[1]=0
 *     parts[0]=0 parts[1]=1 finished=2 total=1
 */
kernel void sum(global int *parts, global atomic_int *finished, global int *total) {
    if (get_local_id(0) != 0)
        return;

    int part = 0;
    for (uint item = 0; item < get_local_size(0); ++item)
        part += get_global_id(0) + item;
    parts[get_group_id(0)] = part;
    int groups = get_num_groups(0);
    if (atomic_fetch_add_explicit(finished, 1, memory_order_acq_rel,
                                  memory_scope_device) == groups - 1) {
        int sum = 0;
        for (int group = 0; group < groups; ++group)
            sum += parts[group];
        total[0] = sum;
    }
}
