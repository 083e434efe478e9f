// assert (C99 7.2): if the condition is false, the work-item stops, and the launch fails with the condition and its source
// position. Can be included repeatedly, with or without NDEBUG.
#undef assert
#ifdef NDEBUG
#define assert(condition) ((void)0)
#else
#define assert(condition) ((condition) ? (void)0 : __builtin_verbose_trap("assertion failed", #condition))
#endif
