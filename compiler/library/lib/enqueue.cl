// Device-side enqueue (OpenCL C 6.15.19). `device_queue.rs` of `kiln-vocabulary` describes the queue in global memory.
//
// The host reads records when the kernels have ended, and programs themselves order their uses of an event. So all atomic
// operations are relaxed: they only count.
//
// Defines: queue

#define CAPACITY 0
#define TAIL 1
#define EVENTS 2
#define TAKEN 3
#define FREE 4
#define LIST 5
#define SLOTS 6
#define RECORDS 7
#define DEFAULT 8
#define GROUP_SIZE 9
#define SUB_GROUP_SIZE 10
#define LOCAL_MEMORY 11
#define ITEM_SIZES 12
#define IS_UNIFORM 15

#define RECORD_WORDS 18
#define MAX_RECORD_BYTES 8192
#define PENDING 2
#define NO_LOCAL 0xffffffffu

#define WORD(queue, index) ((global atomic_uint *)&(queue)[index])
#define LOAD(queue, index) atomic_load_explicit(WORD(queue, index), memory_order_relaxed, memory_scope_device)
#define STORE(queue, index, value)                                                                           \
    atomic_store_explicit(WORD(queue, index), value, memory_order_relaxed, memory_scope_device)
#define ADD(queue, index, value)                                                                             \
    atomic_fetch_add_explicit(WORD(queue, index), value, memory_order_relaxed, memory_scope_device)
#define REFERENCES(queue, event) ((queue)[SLOTS] + 2 * ((uint)(event) - 1))
#define STATUS(queue, event) (REFERENCES(queue, event) + 1)
#define TIMES(queue, event) ((queue)[SLOTS] + 2 * (queue)[EVENTS] + 4 * ((uint)(event) - 1))

// Whether this is an event with references.
uint queue_has_event(global uint *queue, ulong event) {
    return event - 1 < queue[EVENTS] && (int)LOAD(queue, REFERENCES(queue, event)) > 0;
}

// A new event, or 0.
ulong queue_create_event(global uint *queue) {
    uint number = LOAD(queue, TAKEN), free = queue[FREE], list = queue[LIST];
    if (number < free) number = ADD(queue, TAKEN, 1);
    ulong event = 0;
    if (number < free) {
        event = (list == 0 ? number : queue[list + number]) + 1;
        STORE(queue, REFERENCES(queue, event), 1);
        STORE(queue, STATUS(queue, event), PENDING);
        *(global uint4 *)&queue[TIMES(queue, event)] = 0;
    }
    return event;
}
void queue_retain_event(global uint *queue, ulong event) {
    if (queue_has_event(queue, event)) ADD(queue, REFERENCES(queue, event), 1);
}
void queue_release_event(global uint *queue, ulong event) {
    if (queue_has_event(queue, event)) ADD(queue, REFERENCES(queue, event), -1);
}
void queue_set_status(global uint *queue, ulong event, int status) {
    if (queue_has_event(queue, event)) STORE(queue, STATUS(queue, event), status);
}

// The index of a new record, or 0.
uint queue_reserve(global uint *queue, uint bytes) {
    uint place = LOAD(queue, TAIL), capacity = queue[CAPACITY];
    if (place < capacity) place = ADD(queue, TAIL, bytes);
    uint record = queue[RECORDS] + place / 4;
    if (place < capacity && capacity - place < bytes) {
        queue[record] = 0;
        place = capacity;
    }
    return place < capacity ? record : 0;
}

// Whether a kernel can have an index space: dimensions, offset, local and global size.
uint queue_is_space(global uint *queue, private const ulong *space) {
    bool is_chosen = space[4] == 0 || space[5] == 0 || space[6] == 0, is_valid = space[0] - 1 < 3;
    ulong items = 1;
    for (uint d = 0; d < 3; d++) {
        ulong offset = space[1 + d], group = space[4 + d], size = space[7 + d];
        is_valid = is_valid && size != 0 && (offset | group | size) >> 32 == 0 && (offset + size - 1) >> 32 == 0;
        if (is_valid && !is_chosen) {
            items *= group;
            is_valid = group <= queue[ITEM_SIZES + d] && items <= queue[GROUP_SIZE];
            if (is_valid && queue[IS_UNIFORM] != 0) is_valid = (uint)size % (uint)group == 0;
        }
    }
    return is_valid;
}

// The total size of local memory after adding one parameter of a block.
uint queue_local_size(uint total, uint size) {
    return size == 0 || total == NO_LOCAL || total + size < total ? NO_LOCAL : total + size;
}

// CLK_INVALID_EVENT_WAIT_LIST, or 0.
int queue_check_waits(global uint *queue, uint count, const ulong *list) {
    bool is_valid = (count == 0) == (list == 0);
    for (uint i = 0; is_valid && i < count; i++) is_valid = queue_has_event(queue, list[i]) != 0;
    return is_valid ? 0 : -57;
}

// Writes the part of a record that all commands have, and the event. The result is a status, and the index of the words
// after the wait list.
uint2 queue_write(global uint *queue, uint kind, uint block, uint waits, const ulong *list, ulong *event,
                  uint command, uint locals, uint captures) {
    uint words = RECORD_WORDS + waits + locals;
    uint bytes = 4 * (words + (words & 1)) + ((captures + 7) & ~7u);
    int status = waits > MAX_RECORD_BYTES / 4 || bytes > MAX_RECORD_BYTES ? -5 : 0;
    ulong made = 0;
    if (status == 0 && event != 0) {
        made = queue_create_event(queue);
        status = made == 0 ? -100 : 0;
    }
    uint record = 0;
    if (status == 0) {
        record = queue_reserve(queue, bytes);
        status = record == 0 ? -161 : 0;
    }
    if (status == 0) {
        queue[record] = bytes;
        queue[record + 1] = kind;
        queue[record + 2] = block;
        queue[record + 3] = (uint)made;
        queue[record + 4] = waits;
        queue[record + 5] = locals;
        queue[record + 6] = captures;
        queue[record + 17] = command;
        for (uint i = 0; i < waits; i++) queue[record + RECORD_WORDS + i] = (uint)list[i];
        if (event != 0) *event = made;
    } else if (made != 0) {
        STORE(queue, REFERENCES(queue, made), 0);
    }
    return (uint2)(status, record);
}

// `enqueue_kernel`. The result is a status, and the index of the words for the sizes of local memory.
uint2 queue_kernel(global uint *queue, ulong on, private const ulong *space, uint waits, const ulong *list,
                   ulong *event, uint command, uint block, uint locals, uint local_size, uint captures) {
    int status = on == 0 ? -102 : 0;
    if (status == 0 && queue_is_space(queue, space) == 0) status = -160;
    if (status == 0 && local_size > queue[LOCAL_MEMORY]) status = -51;
    if (status == 0) status = queue_check_waits(queue, waits, list);
    uint2 written = (uint2)(status, 0);
    if (status == 0) written = queue_write(queue, 1, block, waits, list, event, command, locals, captures);
    if (written.x == 0) {
        uint record = written.y;
        for (uint i = 0; i < 10; i++) queue[record + 7 + i] = (uint)space[i];
        written.y += RECORD_WORDS + waits;
    }
    return written;
}

int queue_marker(global uint *queue, ulong on, uint waits, const ulong *list, ulong *event, uint command) {
    int status = on == 0 ? -102 : 0;
    if (status == 0) status = queue_check_waits(queue, waits, list);
    if (status == 0) status = queue_write(queue, 2, 0, waits, list, event, command, 0, 0).x;
    return status;
}

// `capture_event_profiling_info`: stores the times of a complete command, or has the host store them.
void queue_profile(global uint *queue, ulong event, global ulong *target, uint block) {
    bool has_event = queue_has_event(queue, event) != 0;
    uint times = has_event ? TIMES(queue, event) : 0;
    bool is_complete = has_event && (queue[times] | queue[times + 1]) != 0;
    if (is_complete) {
        target[0] = queue[times] | (ulong)queue[times + 1] << 32;
        target[1] = queue[times + 2] | (ulong)queue[times + 3] << 32;
    } else if (has_event) {
        ulong address = (ulong)target;
        uint2 written = queue_write(queue, 3, block, 0, 0, 0, 0, 0, 8);
        if (written.x == 0) {
            queue[written.y + 3] = (uint)event;
            queue[written.y + RECORD_WORDS] = (uint)address;
            queue[written.y + RECORD_WORDS + 1] = (uint)(address >> 32);
        }
    }
}

ulong queue_default(global uint *queue) { return queue[DEFAULT]; }
uint queue_group_size(global uint *queue) { return queue[GROUP_SIZE]; }
uint queue_sub_group_size(global uint *queue) { return queue[SUB_GROUP_SIZE]; }

// The size of work-groups that the runtime chooses in one dimension (`choose` of `ndrange.rs`).
uint queue_choose(uint size, uint most, uint multiple, uint is_uniform) {
    uint chosen = 0;
    for (uint divisor = most; divisor > 0; divisor--) {
        bool is_better = chosen == 0 || (chosen % multiple != 0 && divisor % multiple == 0);
        if (size % divisor == 0 && is_better) chosen = divisor;
    }
    return is_uniform == 0 && chosen < (most + 3) / 4 ? most : chosen;
}

// The number of sub-groups in a work-group of an index space; 0 if no kernel can have it.
uint queue_sub_group_count(global uint *queue, private const ulong *space) {
    uint size = queue[SUB_GROUP_SIZE], items = 0;
    if (queue_is_space(queue, space) != 0) {
        items = (uint)(space[4] * space[5] * space[6]);
        if (items == 0) {
            uint room = min(128u, queue[GROUP_SIZE]);
            items = 1;
            for (uint d = 0; d < 3; d++) {
                uint all = (uint)space[7 + d], most = max(min(room, min(queue[ITEM_SIZES + d], all)), 1u);
                uint chosen = queue_choose(all, most, d == 0 ? size : 1, queue[IS_UNIFORM]);
                room /= chosen;
                items *= chosen;
            }
        }
    }
    return (items + size - 1) / size;
}
