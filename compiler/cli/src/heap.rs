//! What the process asks of the C library's heap. A large source takes tens of megabytes: to be given them in ordinary pages,
//! one fault each, took a fifth of the time. Small ones never come to where the large pages begin.

/// The heap grows by so many bytes at a time.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const STEP: usize = 64 << 20;

/// Lets the heap have large pages, where the system gives them to who asks.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[expect(unsafe_code, reason = "the heap is the C library's")]
pub(crate) fn prepare() {
    const LARGE_PAGE: usize = 2 << 20;
    // SAFETY: these say when the heap grows and shrinks; they may be called at any time.
    unsafe {
        // Long lists stand in the heap as well, so that what comes after them finds its memory warm.
        libc::mallopt(libc::M_MMAP_THRESHOLD, 32 << 20);
        libc::mallopt(libc::M_TRIM_THRESHOLD, STEP as libc::c_int);
        libc::mallopt(libc::M_TOP_PAD, STEP as libc::c_int);
    }
    // More than the heap has, so that it grows: behind this block there is a step of memory that nobody has touched.
    let block = std::hint::black_box(Vec::<u8>::with_capacity(1 << 20));
    let begin = block.as_ptr().addr().next_multiple_of(LARGE_PAGE);
    // SAFETY: this chooses the size of pages, and changes nothing that stands in them.
    unsafe {
        libc::madvise(std::ptr::without_provenance_mut(begin), STEP - LARGE_PAGE, libc::MADV_HUGEPAGE);
    }
}

/// Other heaps are left as they are.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(crate) fn prepare() {}
