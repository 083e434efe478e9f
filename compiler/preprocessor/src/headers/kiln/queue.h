// A bounded queue of 32-bit values for many writers and many readers, in global memory (Vyukov's algorithm). No work-item
// waits for another: pushing to a full queue fails, and so does popping from an empty one.
//
//   global uint *queue                                  // KILN_QUEUE_WORDS(capacity) words
//   kiln_queue_clear(queue, capacity, i)                // one work-item for each i < capacity, in an earlier launch
//   bool fits = kiln_queue_push(queue, capacity, value)
//   bool any = kiln_queue_pop(queue, capacity, &value)
//
// The capacity is a power of two, at least 2: the ticket of a single slot would not tell a full queue from an empty one. Writes before
// a push are visible to the work-item that pops the value.
#ifndef KILN_QUEUE_H
#define KILN_QUEUE_H

// Two counters, each on its own cache line, then a ticket and a value for each slot.
#define KILN_QUEUE_WORDS(capacity) (64 + 2 * (capacity))

inline volatile global atomic_uint *kiln_queue_word(global uint *queue, uint index)
{
    return (volatile global atomic_uint *)(queue + index);
}

// Clears the slot `index`.
inline void kiln_queue_clear(global uint *queue, uint capacity, uint index)
{
    if (index == 0)
        queue[0] = queue[32] = 0;
    if (index < capacity)
        queue[64 + 2 * index] = index;
}

// Appends a value. Returns whether there was room.
inline bool kiln_queue_push(global uint *queue, uint capacity, uint value)
{
    volatile global atomic_uint *tail = kiln_queue_word(queue, 0);
    uint position = atomic_load_explicit(tail, memory_order_relaxed, memory_scope_device);
    bool fits = false, is_full = false;
    while (!fits && !is_full) {
        uint slot = 64 + 2 * (position & (capacity - 1));
        int ahead = (int)(atomic_load_explicit(kiln_queue_word(queue, slot), memory_order_acquire, memory_scope_device) - position);
        is_full = ahead < 0;
        if (ahead == 0) {
            fits = atomic_compare_exchange_strong_explicit(tail, &position, position + 1, memory_order_relaxed, memory_order_relaxed,
                                                           memory_scope_device);
            if (fits) {
                queue[slot + 1] = value;
                atomic_store_explicit(kiln_queue_word(queue, slot), position + 1, memory_order_release, memory_scope_device);
            }
        } else if (ahead > 0) {
            position = atomic_load_explicit(tail, memory_order_relaxed, memory_scope_device);
        }
    }
    return fits;
}

// Takes the oldest value. Returns whether there was one.
inline bool kiln_queue_pop(global uint *queue, uint capacity, uint *value)
{
    volatile global atomic_uint *head = kiln_queue_word(queue, 32);
    uint position = atomic_load_explicit(head, memory_order_relaxed, memory_scope_device);
    bool any = false, is_empty = false;
    while (!any && !is_empty) {
        uint slot = 64 + 2 * (position & (capacity - 1));
        uint ticket = atomic_load_explicit(kiln_queue_word(queue, slot), memory_order_acquire, memory_scope_device);
        int ahead = (int)(ticket - (position + 1));
        is_empty = ahead < 0;
        if (ahead == 0) {
            any = atomic_compare_exchange_strong_explicit(head, &position, position + 1, memory_order_relaxed, memory_order_relaxed,
                                                          memory_scope_device);
            if (any) {
                *value = queue[slot + 1];
                atomic_store_explicit(kiln_queue_word(queue, slot), position + capacity, memory_order_release,
                                      memory_scope_device);
            }
        } else if (ahead > 0) {
            position = atomic_load_explicit(head, memory_order_relaxed, memory_scope_device);
        }
    }
    return any;
}

#endif
