// assert (C99 7.2): where the condition is false, the work-item stops and the launch fails with the condition and its place.
// It may be included again, with NDEBUG defined or not.
#undef assert
#ifdef NDEBUG
#define assert(condition) ((void)0)
#else
#define assert(condition) ((condition) ? (void)0 : __builtin_verbose_trap("assertion failed", #condition))
#endif
