// A sum over work-groups, a scan within one, and a queue of work between them.
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

typedef ulong Sum;
typedef struct Queue Queue;
struct Queue {
    atomic_uint head;
    atomic_uint tail;
    uint __attribute__((aligned(16))) slots[256];
} __attribute__((packed));

Sum total(local Sum *scratch, Sum mine)
{
    uint lid = get_local_id(0);
    scratch[lid] = mine;
    for (uint half_size = get_local_size(0) >> 1; half_size > 0; half_size >>= 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lid < half_size) {
            scratch[lid] += scratch[lid + half_size];
        } else {
            continue;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    return scratch[0];
}

bool enqueue(global Queue *queue, uint item)
{
    uint slot = atomic_fetch_add_explicit(&queue->tail, 1u, memory_order_relaxed, memory_scope_device);
    if (slot - atomic_load(&queue->head) >= 256u) {
        return false;
    }
    queue->slots[slot & 255] = item;
    atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_release, memory_scope_device);
    return true;
}

kernel void reduce(global const uint *in, global Sum *out, local Sum *scratch, uint n)
{
    Sum sum = 0;
    size_t stride = get_global_size(0);
    for (size_t i = get_global_id(0); i < n; i += stride)
        sum += in[i];
    Sum all = total(scratch, sum);
    if (get_local_id(0) == 0)
        out[get_group_id(0)] = all;
}

kernel void scan(global int *data)
{
    local int lines[2][128];
    int lid = get_local_id(0), from = 0, to = 1;
    lines[from][lid] = data[lid];
    int step = 1;
    while (step < 128) {
        work_group_barrier(CLK_LOCAL_MEM_FENCE);
        lines[to][lid] = lid >= step ? lines[from][lid] + lines[from][lid - step] : lines[from][lid];
        from ^= 1, to ^= 1;
        step *= 2;
    }
    do {
        data[lid] = lines[from][lid];
    } while (0);
}
