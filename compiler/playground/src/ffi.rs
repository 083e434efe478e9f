//! The functions that JavaScript calls. A text is passed as its address and its length in WebAssembly's memory.
//!
//! Contains all unsafe code of the package.

use std::alloc::{Layout, alloc, dealloc};

/// Allocates memory for a text.
#[unsafe(no_mangle)]
#[allow(unsafe_code, reason = "the caller frees it with `kiln_free`")]
pub(crate) extern "C" fn kiln_allocate(length: usize) -> *mut u8 {
    match Layout::array::<u8>(length.max(1)) {
        // SAFETY: the size is not zero.
        Ok(layout) => unsafe { alloc(layout) },
        Err(_) => std::ptr::null_mut(),
    }
}

/// Frees memory of `kiln_allocate`, or an answer with the four bytes before it.
///
/// # Safety
/// `text` is an address that `kiln_allocate` returned for this length, and is not used later.
#[unsafe(no_mangle)]
#[allow(unsafe_code, reason = "a function for JavaScript")]
pub(crate) unsafe extern "C" fn kiln_free(text: *mut u8, length: usize) {
    if let (false, Ok(layout)) = (text.is_null(), Layout::array::<u8>(length.max(1))) {
        // SAFETY: the caller guarantees that the memory was allocated with this layout.
        unsafe { dealloc(text, layout) };
    }
}

/// Answers a request. The answer is a length of four bytes, then the text; free it with `kiln_free(answer, 4 + length)`.
///
/// # Safety
/// `request` is the address of this many bytes, which are initialized.
#[unsafe(no_mangle)]
#[allow(unsafe_code, reason = "a function for JavaScript")]
pub(crate) unsafe extern "C" fn kiln_answer(request: *const u8, length: usize) -> *mut u8 {
    // SAFETY: the caller guarantees that the bytes exist.
    let request = unsafe { std::slice::from_raw_parts(request, length) };
    let answer = super::answer(&String::from_utf8_lossy(request));
    let bytes = [&(answer.len() as u32).to_le_bytes(), answer.as_bytes()].concat();
    let target = kiln_allocate(bytes.len());
    if !target.is_null() {
        // SAFETY: `target` has room for these bytes, and does not overlap them.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), target, bytes.len()) };
    }
    target
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[allow(unsafe_code, reason = "as JavaScript calls")]
    fn texts_are_passed_in_both_directions() {
        let request = br#"{"action":"format","source":"int a ;"}"#;
        // SAFETY: the request has this length, and the answer has its own.
        unsafe {
            let answer = kiln_answer(request.as_ptr(), request.len());
            let length = u32::from_le_bytes(*answer.cast::<[u8; 4]>()) as usize;
            let text = std::slice::from_raw_parts(answer.add(4), length);
            assert_eq!(text, br#"{"text":"int a;\n"}"#);
            kiln_free(answer, 4 + length);
        }
    }
}
