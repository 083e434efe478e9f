//! Configures glibc's heap to use huge pages. Large sources need tens of megabytes. This saves 8 % of the processor time of
//! a source of 190 KB and 2 % of one of 47 KB. Small sources never reach the huge pages.

/// The heap grows in steps of this many bytes.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const STEP: usize = 64 << 20;

/// Makes glibc use huge pages for the heap, if the system supports them.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[expect(unsafe_code, reason = "the heap is the C library's")]
pub(crate) fn prepare() {
    const LARGE_PAGE: usize = 2 << 20;
    // SAFETY: these options control when the heap grows and shrinks; they may be set at any time.
    unsafe {
        // Keeps large allocations in the heap too, so that later allocations reuse memory that is already mapped.
        libc::mallopt(libc::M_MMAP_THRESHOLD, 32 << 20);
        libc::mallopt(libc::M_TRIM_THRESHOLD, STEP as libc::c_int);
        libc::mallopt(libc::M_TOP_PAD, STEP as libc::c_int);
    }
    // Larger than the current heap, which forces it to grow: a step of untouched memory follows this block.
    let block = std::hint::black_box(Vec::<u8>::with_capacity(1 << 20));
    let begin = block.as_ptr().addr().next_multiple_of(LARGE_PAGE);
    // SAFETY: this selects the page size, and does not change the contents of memory.
    unsafe {
        libc::madvise(std::ptr::without_provenance_mut(begin), STEP - LARGE_PAGE, libc::MADV_HUGEPAGE);
    }
}

/// Other allocators are left unchanged.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(crate) fn prepare() {}
