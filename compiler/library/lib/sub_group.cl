// Sub-group functions (OpenCL C 6.15.20) for types and forms without an instruction on the target: every work-item
// iterates over the values of all active work-items.
//
// Defines: sub_group_reduce_add sub_group_reduce_mul sub_group_reduce_min sub_group_reduce_max
// Defines: sub_group_reduce_and sub_group_reduce_or sub_group_reduce_xor
// Defines: sub_group_scan_inclusive_add sub_group_scan_inclusive_mul sub_group_scan_inclusive_min
// Defines: sub_group_scan_inclusive_max sub_group_scan_inclusive_and sub_group_scan_inclusive_or
// Defines: sub_group_scan_inclusive_xor
// Defines: sub_group_scan_exclusive_add sub_group_scan_exclusive_mul sub_group_scan_exclusive_min
// Defines: sub_group_scan_exclusive_max sub_group_scan_exclusive_and sub_group_scan_exclusive_or
// Defines: sub_group_scan_exclusive_xor
// Defines: sub_group_clustered_reduce_add sub_group_clustered_reduce_mul sub_group_clustered_reduce_min
// Defines: sub_group_clustered_reduce_max sub_group_clustered_reduce_and sub_group_clustered_reduce_or
// Defines: sub_group_clustered_reduce_xor sub_group_clustered_reduce_logical_and
// Defines: sub_group_clustered_reduce_logical_or sub_group_clustered_reduce_logical_xor
// Defines: get_sub_group_eq_mask get_sub_group_ge_mask get_sub_group_gt_mask get_sub_group_le_mask
// Defines: get_sub_group_lt_mask

#define ADD(a, b) ((a) + (b))
#define MUL(a, b) ((a) * (b))
#define MIN(a, b) min(a, b)
#define MAX(a, b) max(a, b)
#define FMIN(a, b) fmin(a, b)
#define FMAX(a, b) fmax(a, b)
#define AND(a, b) ((a) & (b))
#define OR(a, b) ((a) | (b))
#define XOR(a, b) ((a) ^ (b))

uint word_of(uint4 mask, uint index) {
    return index == 0 ? mask.x : index == 1 ? mask.y : index == 2 ? mask.z : mask.w;
}
bool is_active(uint4 active, uint lane) { return (word_of(active, lane >> 5) >> (lane & 31) & 1) != 0; }

// Combines up to `count` values from `first` on, before `end`.
#define FOLD(NAME, T, IDENTITY, COMBINE)                                                                    \
    T fold_##NAME##_##T(T x, uint first, uint count, uint end) {                                             \
        uint4 active = sub_group_ballot(1);                                                                  \
        T sum = IDENTITY;                                                                                    \
        for (uint lane = 0; lane < count; lane++) {                                                          \
            T other = sub_group_shuffle(x, first + lane);                                                    \
            if (first + lane < end && is_active(active, first + lane)) sum = (T)COMBINE(sum, other);         \
        }                                                                                                    \
        return sum;                                                                                          \
    }                                                                                                        \
    T sub_group_reduce_##NAME##_##T(T x) {                                                                   \
        return fold_##NAME##_##T(x, 0, get_max_sub_group_size(), get_max_sub_group_size());                  \
    }                                                                                                        \
    T sub_group_scan_inclusive_##NAME##_##T(T x) {                                                           \
        return fold_##NAME##_##T(x, 0, get_max_sub_group_size(), get_sub_group_local_id() + 1);              \
    }                                                                                                        \
    T sub_group_scan_exclusive_##NAME##_##T(T x) {                                                           \
        return fold_##NAME##_##T(x, 0, get_max_sub_group_size(), get_sub_group_local_id());                  \
    }                                                                                                        \
    T sub_group_clustered_reduce_##NAME##_##T(T x, uint size) {                                              \
        uint first = get_sub_group_local_id() & ~(size - 1);                                                 \
        return fold_##NAME##_##T(x, first, size, first + size);                                              \
    }
#define NUMBER(T, LEAST, MOST)    \
    FOLD(add, T, (T)0, ADD)       \
    FOLD(mul, T, (T)1, MUL)       \
    FOLD(min, T, MOST, MIN)       \
    FOLD(max, T, LEAST, MAX)      \
    FOLD(and, T, (T)~(T)0, AND)   \
    FOLD(or, T, (T)0, OR)         \
    FOLD(xor, T, (T)0, XOR)
NUMBER(char, CHAR_MIN, CHAR_MAX)
NUMBER(uchar, (uchar)0, UCHAR_MAX)
NUMBER(short, SHRT_MIN, SHRT_MAX)
NUMBER(ushort, (ushort)0, USHRT_MAX)
NUMBER(int, INT_MIN, INT_MAX)
NUMBER(uint, 0u, UINT_MAX)
NUMBER(long, LONG_MIN, LONG_MAX)
NUMBER(ulong, 0ul, ULONG_MAX)

#define FLOATING(T)                   \
    FOLD(add, T, (T)0, ADD)           \
    FOLD(mul, T, (T)1, MUL)           \
    FOLD(min, T, (T)INFINITY, FMIN)   \
    FOLD(max, T, (T)-INFINITY, FMAX)
FLOATING(float)
FLOATING(double)

#define LOGICAL(NAME)                                                                                       \
    int sub_group_clustered_reduce_logical_##NAME##_int(int x, uint size) {                                  \
        return sub_group_clustered_reduce_##NAME##_int(x != 0, size) & 1;                                    \
    }
LOGICAL(and)
LOGICAL(or)
LOGICAL(xor)

// A bit for each of 32 work-items from `first` that is below `end`.
uint bits_below(uint end, uint first) {
    return end <= first ? 0 : end - first >= 32 ? ~0u : (1u << (end - first)) - 1;
}
uint4 below(uint end) {
    return (uint4)(bits_below(end, 0), bits_below(end, 32), bits_below(end, 64), bits_below(end, 96));
}
uint4 get_sub_group_lt_mask_(void) { return below(get_sub_group_local_id()); }
uint4 get_sub_group_le_mask_(void) { return below(get_sub_group_local_id() + 1); }
uint4 get_sub_group_eq_mask_(void) { return get_sub_group_le_mask_() & ~get_sub_group_lt_mask_(); }
uint4 get_sub_group_ge_mask_(void) { return below(get_max_sub_group_size()) & ~get_sub_group_lt_mask_(); }
uint4 get_sub_group_gt_mask_(void) { return below(get_max_sub_group_size()) & ~get_sub_group_le_mask_(); }
