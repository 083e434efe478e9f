// A hash table of 32-bit keys and values in global memory, with open addressing. It does not grow, and keys are not removed.
//
//   global uint *table                                  // KILN_HASH_TABLE_WORDS(capacity) words
//   kiln_hash_clear(table, capacity, i)                 // one work-item for each i < capacity, in an earlier launch
//   kiln_hash_insert(table, capacity, key, value)       // the last value of a key remains; false if the table is full
//   kiln_hash_count(table, capacity, key, 1)            // adds to the value of a key, which starts at 0
//   bool is_known = kiln_hash_find(table, capacity, key, &value)
//
// The capacity is a power of two, preferably twice the number of keys. The key 0xffffffff is not allowed. All operations are atomic and
// relaxed: a work-item can find a key whose value is not set yet.
#ifndef KILN_HASH_TABLE_H
#define KILN_HASH_TABLE_H

#define KILN_HASH_TABLE_WORDS(capacity) (2 * (capacity))
#define KILN_HASH_EMPTY 0xffffffffu

// The finalizer of MurmurHash3, in which every bit of the key changes half of the bits.
inline uint kiln_hash(uint key)
{
    key = (key ^ key >> 16) * 0x85ebca6bu;
    key = (key ^ key >> 13) * 0xc2b2ae35u;
    return key ^ key >> 16;
}

// Clears the slot `index`.
inline void kiln_hash_clear(global uint *table, uint capacity, uint index)
{
    if (index < capacity) {
        table[2 * index] = KILN_HASH_EMPTY;
        table[2 * index + 1] = 0;
    }
}

// Returns the slot of a key, and enters a new key. Returns the capacity if the table is full.
inline uint kiln_hash_slot(global uint *table, uint capacity, uint key)
{
    uint slot = kiln_hash(key) & (capacity - 1);
    for (uint probes = 0; probes < capacity; probes++) {
        volatile global atomic_uint *known = (volatile global atomic_uint *)(table + 2 * slot);
        uint found = atomic_load_explicit(known, memory_order_relaxed, memory_scope_device);
        if (found == KILN_HASH_EMPTY
            && atomic_compare_exchange_strong_explicit(known, &found, key, memory_order_relaxed, memory_order_relaxed,
                                                       memory_scope_device))
            return slot;
        if (found == key)
            return slot;
        slot = (slot + 1) & (capacity - 1);
    }
    return capacity;
}

// Sets the value of a key.
inline bool kiln_hash_insert(global uint *table, uint capacity, uint key, uint value)
{
    uint slot = kiln_hash_slot(table, capacity, key);
    if (slot == capacity)
        return false;
    atomic_store_explicit((volatile global atomic_uint *)(table + 2 * slot + 1), value, memory_order_relaxed,
                          memory_scope_device);
    return true;
}

// Adds to the value of a key.
inline bool kiln_hash_count(global uint *table, uint capacity, uint key, uint count)
{
    uint slot = kiln_hash_slot(table, capacity, key);
    if (slot == capacity)
        return false;
    atomic_fetch_add_explicit((volatile global atomic_uint *)(table + 2 * slot + 1), count, memory_order_relaxed,
                              memory_scope_device);
    return true;
}

// Finds the value of a key.
inline bool kiln_hash_find(global uint *table, uint capacity, uint key, uint *value)
{
    uint slot = kiln_hash(key) & (capacity - 1);
    for (uint probes = 0; probes < capacity; probes++) {
        volatile global atomic_uint *known = (volatile global atomic_uint *)(table + 2 * slot);
        uint found = atomic_load_explicit(known, memory_order_relaxed, memory_scope_device);
        if (found == key) {
            *value = atomic_load_explicit(known + 1, memory_order_relaxed, memory_scope_device);
            return true;
        }
        if (found == KILN_HASH_EMPTY)
            return false;
        slot = (slot + 1) & (capacity - 1);
    }
    return false;
}

#endif
