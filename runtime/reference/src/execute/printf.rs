//! `printf` (OpenCL C 6.15.14): the format is in memory, the result is text.
//!
//! Owns the reading of formats and values from memory; `kiln-printf` formats them. A format with more directives than
//! values prints what it can and returns -1 instead of failing.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use kiln_printf::Value;

use super::view::View;
use crate::{report::Access, types::Scalar};

/// `CL_DEVICE_PRINTF_BUFFER_SIZE`: the maximum size in bytes of all values that a launch prints.
const PRINTF_BUFFER_BYTES: u64 = 1 << 20;

/// The output of calls.
pub(crate) struct Printed<'a> {
    pub(crate) text: &'a mut Vec<u8>,
    /// The number of bytes used by the launch.
    pub(crate) used: &'a AtomicU64,
}

/// Longer strings are truncated.
const MAX_STRING_BYTES: u64 = 1 << 20;

/// Prints, and returns the result of `printf`.
pub(crate) fn print(
    view: &View<'_>,
    format: u64,
    values: &[(Scalar, Vec<u64>)],
    Printed { text: printed, used }: &mut Printed<'_>,
) -> i32 {
    let size = |(scalar, lanes): &(Scalar, Vec<u64>)| {
        (u64::from(scalar.size()) * lanes.len() as u64).next_multiple_of(4)
    };
    let taken = 4 + values.iter().map(size).sum::<u64>();
    if used.fetch_add(taken, Relaxed) + taken > PRINTF_BUFFER_BYTES - 4 {
        return -1;
    }
    let Some(format) = string(view, format) else { return -1 };
    let is_string = kiln_printf::strings(&format);
    let contents: Vec<Vec<u8>> = values
        .iter()
        .enumerate()
        .map(|(index, (scalar, lanes))| match lanes.first() {
            Some(&address) if is_string.get(index) == Some(&true) => {
                string(view, address).unwrap_or_else(|| b"(null)".to_vec())
            }
            _ => lanes
                .iter()
                .flat_map(|lane| lane.to_le_bytes().into_iter().take(scalar.size().into()))
                .collect(),
        })
        .collect();
    let kinds = is_string.iter().copied().chain(std::iter::repeat(false));
    let arguments: Vec<Value<'_>> = contents
        .iter()
        .zip(kinds)
        .map(|(content, is_string)| if is_string { Value::Text(content) } else { Value::Bytes(content) })
        .collect();
    kiln_printf::write(&format, &arguments, printed);
    if is_string.len() > values.len() { -1 } else { 0 }
}

/// The message of a trap, without the line terminator.
pub(crate) fn message(view: &View<'_>, format: u64) -> String {
    let mut text = Vec::new();
    kiln_printf::write(&string(view, format).unwrap_or_default(), &[], &mut text);
    String::from_utf8_lossy(&text).trim_end().to_owned()
}

fn string(view: &View<'_>, address: u64) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    for at in 0..MAX_STRING_BYTES {
        let (cells, offset) = view.locate(address.wrapping_add(at), 1, Access::Read).ok()?;
        match cells.load(offset, 1) as u8 {
            0 => break,
            byte => bytes.push(byte),
        }
    }
    Some(bytes)
}
