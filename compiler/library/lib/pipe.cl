// Pipes (OpenCL C 6.15.18) in global memory. `pipe.rs` of `kiln-vocabulary` describes the ring: words 0 and 1 are the
// maximum number of packets and the number of slots - 1, words 2 and 3 the next packets to write and to read. Packets
// are numbered in the order of their reservation, modulo 2^32.
//
// A slot's state relates to the lap of its packet around the ring: 0 before the packet is written, 1 after that, and the
// number of slots after it was read, which is 0 for the next packet in the slot.
//
// Nothing waits for other work-items: an operation repeats only if another one has succeeded. The operations in loops are
// relaxed. Fences outside the loops, which all work-items execute, order the accesses: lavapipe before 25.0 does not
// support other fences (`early_group_end` of `driver_bugs.rs`).
//
// Defines: pipe

#define MOST(ring) (ring)[0]
#define MASK(ring) (ring)[1]
#define NEXT_WRITE 2
#define NEXT_READ 3
#define STATES 8

#define WORD(ring, index) ((global atomic_uint *)&(ring)[index])
#define LOAD(ring, index) atomic_load_explicit(WORD(ring, index), memory_order_relaxed, memory_scope_device)
#define STORE(ring, index, value)                                                                            \
    atomic_store_explicit(WORD(ring, index), value, memory_order_relaxed, memory_scope_device)
#define EXCHANGE(ring, index, expected, desired)                                                             \
    atomic_compare_exchange_strong_explicit(WORD(ring, index), expected, desired, memory_order_relaxed,      \
                                            memory_order_relaxed, memory_scope_device)
#define ORDER(order) atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_##order, memory_scope_device)

bool pipe_is(global uint *ring, uint packet, uint state) {
    uint mask = MASK(ring);
    return LOAD(ring, STATES + (packet & mask)) == (packet & ~mask) + state;
}

// Packet w can be written when packet w - MOST and the packet before it in its slot have been read. Every slot is tested
// itself, because the acquire fence that follows orders it after the release fence before its state was stored.
bool pipe_can_write(global uint *ring, uint packet) {
    return pipe_is(ring, packet - MOST(ring), MASK(ring) + 1) && pipe_is(ring, packet, 0);
}
bool pipe_can_read(global uint *ring, uint packet) { return pipe_is(ring, packet, 1); }

// The states that `publish` stores.
uint pipe_after_write(global uint *ring) { return 1; }
uint pipe_after_read(global uint *ring) { return MASK(ring) + 1; }

// `claim` reserves packets: the first one and their number, which is 0 if there are too few. `publish` commits every
// `step`th of them. An acquire fence follows `take`, the part of `claim` that one work-item does for a group.
#define END(NAME, NEXT)                                                                                      \
    uint2 pipe_take_##NAME(global uint *ring, uint count) {                                                  \
        uint2 taken = (uint2)(0, 0);                                                                         \
        uint first = LOAD(ring, NEXT), ready = 0;                                                            \
        bool is_open = count - 1 < MOST(ring);                                                               \
        while (is_open) {                                                                                    \
            ready = 0;                                                                                       \
            while (ready < count && pipe_can_##NAME(ring, first + ready)) ready++;                           \
            uint before = first;                                                                             \
            if (ready < count) {                                                                             \
                first = LOAD(ring, NEXT);                                                                    \
                is_open = first != before;                                                                   \
            } else if (EXCHANGE(ring, NEXT, &first, first + count)) {                                        \
                taken = (uint2)(before, count);                                                              \
                is_open = false;                                                                             \
            }                                                                                                \
        }                                                                                                    \
        return taken;                                                                                        \
    }                                                                                                        \
    uint2 pipe_claim_##NAME(global uint *ring, uint count) {                                                 \
        uint2 taken = pipe_take_##NAME(ring, count);                                                         \
        ORDER(acquire);                                                                                      \
        return taken;                                                                                        \
    }                                                                                                        \
    void pipe_publish_##NAME(global uint *ring, uint2 claim, uint index, uint step) {                        \
        uint mask = MASK(ring), state = pipe_after_##NAME(ring);                                             \
        ORDER(release);                                                                                      \
        for (; index < claim.y; index += step) {                                                             \
            uint packet = claim.x + index;                                                                   \
            STORE(ring, STATES + (packet & mask), (packet & ~mask) + state);                                 \
        }                                                                                                    \
    }                                                                                                        \
    ulong pipe_reserve_##NAME(global uint *ring, uint count) {                                               \
        return as_ulong(pipe_claim_##NAME(ring, count));                                                     \
    }                                                                                                        \
    void pipe_commit_##NAME(global uint *ring, ulong id) {                                                   \
        pipe_publish_##NAME(ring, as_uint2(id), 0, 1);                                                       \
    }                                                                                                        \
    ulong pipe_work_group_reserve_##NAME(global uint *ring, uint count, local ulong *scratch, uint item) {   \
        if (item == 0) scratch[0] = as_ulong(pipe_take_##NAME(ring, count));                                 \
        ORDER(acquire);                                                                                      \
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);                                                 \
        ulong id = scratch[0];                                                                               \
        barrier(CLK_LOCAL_MEM_FENCE);                                                                        \
        return id;                                                                                           \
    }                                                                                                        \
    void pipe_work_group_commit_##NAME(global uint *ring, ulong id, uint item, uint items) {                 \
        barrier(CLK_GLOBAL_MEM_FENCE);                                                                       \
        pipe_publish_##NAME(ring, as_uint2(id), item, items);                                                \
    }                                                                                                        \
    ulong pipe_sub_group_reserve_##NAME(global uint *ring, uint count) {                                     \
        uint2 taken = (uint2)(0, 0);                                                                         \
        if (get_sub_group_local_id() == 0) taken = pipe_take_##NAME(ring, count);                            \
        ORDER(acquire);                                                                                      \
        sub_group_barrier(CLK_GLOBAL_MEM_FENCE);                                                             \
        taken.x = sub_group_broadcast(taken.x, 0);                                                           \
        taken.y = sub_group_broadcast(taken.y, 0);                                                           \
        return as_ulong(taken);                                                                              \
    }                                                                                                        \
    void pipe_sub_group_commit_##NAME(global uint *ring, ulong id) {                                         \
        sub_group_barrier(CLK_GLOBAL_MEM_FENCE);                                                             \
        pipe_publish_##NAME(ring, as_uint2(id), get_sub_group_local_id(), get_sub_group_size());             \
    }
END(write, NEXT_WRITE)
END(read, NEXT_READ)

// The packets before the first one that is not yet committed.
uint pipe_num_packets(global uint *ring) {
    uint first = LOAD(ring, NEXT_READ), reserved = LOAD(ring, NEXT_WRITE) - first, count = 0;
    uint most = min(reserved, MOST(ring));
    while (count < most && pipe_can_read(ring, first + count)) count++;
    return count;
}
uint pipe_max_packets(global uint *ring) { return MOST(ring); }
// The slot of a packet, and the offset of the first slot in bytes.
uint2 pipe_place(global uint *ring, uint packet) { return (uint2)(packet & MASK(ring), ring[6]); }
