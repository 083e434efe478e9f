// Collective functions of work-groups (OpenCL C 6.15.16) by scans in local memory (Hillis and Steele 1986), for 256
// work-items at a time. The parameters after the value are the scratch memory, the work-item's number, and the number of
// work-items.
//
// Defines: work_group_all work_group_any work_group_broadcast
// Defines: work_group_reduce_add work_group_reduce_mul work_group_reduce_min work_group_reduce_max
// Defines: work_group_reduce_and work_group_reduce_or work_group_reduce_xor
// Defines: work_group_reduce_logical_and work_group_reduce_logical_or work_group_reduce_logical_xor
// Defines: work_group_scan_inclusive_add work_group_scan_inclusive_mul work_group_scan_inclusive_min
// Defines: work_group_scan_inclusive_max work_group_scan_inclusive_and work_group_scan_inclusive_or
// Defines: work_group_scan_inclusive_xor work_group_scan_inclusive_logical_and
// Defines: work_group_scan_inclusive_logical_or work_group_scan_inclusive_logical_xor
// Defines: work_group_scan_exclusive_add work_group_scan_exclusive_mul work_group_scan_exclusive_min
// Defines: work_group_scan_exclusive_max work_group_scan_exclusive_and work_group_scan_exclusive_or
// Defines: work_group_scan_exclusive_xor work_group_scan_exclusive_logical_and
// Defines: work_group_scan_exclusive_logical_or work_group_scan_exclusive_logical_xor

#define ITEMS 256
#define MEET() barrier(CLK_LOCAL_MEM_FENCE)

#define ADD(a, b) ((a) + (b))
#define MUL(a, b) ((a) * (b))
#define MIN(a, b) min(a, b)
#define MAX(a, b) max(a, b)
#define AND(a, b) ((a) & (b))
#define OR(a, b) ((a) | (b))
#define XOR(a, b) ((a) ^ (b))

// The results for all work-items before this one, for all up to it, and for all.
#define SCAN(NAME, T, IDENTITY, COMBINE)                                                                    \
    T scan_##NAME##_##T(T x, local T *scratch, uint id, uint size, T *before, T *total) {                    \
        T sum = IDENTITY, here = IDENTITY;                                                                   \
        *before = IDENTITY;                                                                                  \
        for (uint base = 0; base < size; base += ITEMS) {                                                    \
            uint slot = id - base, count = min(size - base, (uint)ITEMS);                                    \
            bool is_mine = slot < ITEMS;                                                                     \
            MEET();                                                                                          \
            if (is_mine) scratch[slot] = x;                                                                  \
            MEET();                                                                                          \
            for (uint distance = 1; distance < count; distance <<= 1) {                                      \
                bool is_added = is_mine && slot >= distance;                                                 \
                T other = IDENTITY;                                                                          \
                if (is_added) other = scratch[slot - distance];                                              \
                MEET();                                                                                      \
                if (is_added) scratch[slot] = COMBINE(other, scratch[slot]);                                 \
                MEET();                                                                                      \
            }                                                                                                \
            if (is_mine) {                                                                                   \
                here = COMBINE(sum, scratch[slot]);                                                          \
                *before = sum;                                                                               \
                if (slot > 0) *before = COMBINE(sum, scratch[slot - 1]);                                     \
            }                                                                                                \
            sum = COMBINE(sum, scratch[count - 1]);                                                          \
        }                                                                                                    \
        MEET();                                                                                              \
        *total = sum;                                                                                        \
        return here;                                                                                         \
    }                                                                                                        \
    T work_group_reduce_##NAME##_##T(T x, local T *scratch, uint id, uint size) {                            \
        T before, total;                                                                                     \
        scan_##NAME##_##T(x, scratch, id, size, &before, &total);                                            \
        return total;                                                                                        \
    }                                                                                                        \
    T work_group_scan_inclusive_##NAME##_##T(T x, local T *scratch, uint id, uint size) {                    \
        T before, total;                                                                                     \
        return scan_##NAME##_##T(x, scratch, id, size, &before, &total);                                     \
    }                                                                                                        \
    T work_group_scan_exclusive_##NAME##_##T(T x, local T *scratch, uint id, uint size) {                    \
        T before, total;                                                                                     \
        scan_##NAME##_##T(x, scratch, id, size, &before, &total);                                            \
        return before;                                                                                       \
    }
#define NUMBER(T, LEAST, MOST)   \
    SCAN(add, T, (T)0, ADD)      \
    SCAN(mul, T, (T)1, MUL)      \
    SCAN(min, T, MOST, MIN)      \
    SCAN(max, T, LEAST, MAX)     \
    T work_group_broadcast_##T(T x, local T *scratch, uint id, uint size, uint from) { \
        MEET();                                \
        if (id == from) scratch[0] = x;        \
        MEET();                                \
        T value = scratch[0];                  \
        MEET();                                \
        return value;                          \
    }
#define BITS(T)                  \
    SCAN(and, T, (T)~(T)0, AND)  \
    SCAN(or, T, (T)0, OR)        \
    SCAN(xor, T, (T)0, XOR)
NUMBER(int, INT_MIN, INT_MAX)
NUMBER(uint, 0u, UINT_MAX)
NUMBER(long, LONG_MIN, LONG_MAX)
NUMBER(ulong, 0ul, ULONG_MAX)
NUMBER(float, -INFINITY, INFINITY)
NUMBER(double, -(double)INFINITY, (double)INFINITY)
BITS(int)
BITS(uint)
BITS(long)
BITS(ulong)

#define LOGICAL(NAME)                                                                                       \
    int work_group_reduce_logical_##NAME##_int(int x, local int *scratch, uint id, uint size) {              \
        return work_group_reduce_##NAME##_int(x != 0, scratch, id, size) & 1;                                \
    }                                                                                                        \
    int work_group_scan_inclusive_logical_##NAME##_int(int x, local int *scratch, uint id, uint size) {      \
        return work_group_scan_inclusive_##NAME##_int(x != 0, scratch, id, size) & 1;                        \
    }                                                                                                        \
    int work_group_scan_exclusive_logical_##NAME##_int(int x, local int *scratch, uint id, uint size) {      \
        return work_group_scan_exclusive_##NAME##_int(x != 0, scratch, id, size) & 1;                        \
    }
LOGICAL(and)
LOGICAL(or)
LOGICAL(xor)

int work_group_all_int(int x, local int *scratch, uint id, uint size) {
    return work_group_reduce_logical_and_int(x, scratch, id, size);
}
int work_group_any_int(int x, local int *scratch, uint id, uint size) {
    return work_group_reduce_logical_or_int(x, scratch, id, size);
}
