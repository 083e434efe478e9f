/* Two phases in a work-group, through global memory.
 *
 * In the first phase each work-item writes its cell; in the second it reads its neighbor's cell. The barrier with
 * CLK_GLOBAL_MEM_FENCE makes the writes visible to the whole group. memory_scope_device makes them visible to
 * the whole device. This exchange does not need device scope; a later reader in another group would.
 *
 * kiln run --kernel exchange --global 256 --local 64
 *     --arg buf:int[256]=0 --arg buf:int[256]=0
 *     --print neighbors[60..68] --check neighbors[0..4]=10,20,30,40 --check neighbors[62..66]=630,0,650,660
 */
kernel void exchange(global int *cells, global int *neighbors) {
    int gid = get_global_id(0);
    int lid = get_local_id(0);
    int size = get_local_size(0);
    int first = gid - lid;

    cells[gid] = gid * 10;
    work_group_barrier(CLK_GLOBAL_MEM_FENCE, memory_scope_device);

    neighbors[gid] = cells[first + (lid + 1) % size] - (lid + 1 == size ? first * 10 : 0);
}
