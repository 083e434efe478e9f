// Spin locks in global or local memory: a word that is 0 when the lock is free.
//
// A work-item that holds a lock makes progress only if its device runs the work-items of a sub-group independently. On
// other devices, two work-items of one sub-group must not wait for the same lock: let one work-item of each sub-group take it, or
// use `kiln_try_lock` in a loop whose body has the critical section:
//
//   for (bool done = false; !done;)
//       if (kiln_try_lock(lock)) {
//           ...                                   // what others wrote under the lock is visible here
//           kiln_unlock(lock);
//           done = true;
//       }
//
// This loop works on every device. The lock acquires and releases at device scope.
#ifndef KILN_LOCK_H
#define KILN_LOCK_H

// Takes the lock if it is free. Returns whether it did.
inline bool kiln_try_lock(volatile atomic_uint *lock)
{
    uint expected = 0;
    return atomic_compare_exchange_strong_explicit(lock, &expected, 1u, memory_order_acquire, memory_order_relaxed,
                                                   memory_scope_device);
}

// Waits for the lock and takes it.
inline void kiln_lock(volatile atomic_uint *lock)
{
    while (!kiln_try_lock(lock))
        // Read until the lock seems free: a read is cheaper than an attempt.
        while (atomic_load_explicit(lock, memory_order_relaxed, memory_scope_device) != 0)
            ;
}

// Frees the lock.
inline void kiln_unlock(volatile atomic_uint *lock)
{
    atomic_store_explicit(lock, 0u, memory_order_release, memory_scope_device);
}

#endif
