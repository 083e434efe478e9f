//! Bounds checks: the table that a checked program reads before it accesses memory, and the violation that it records
//! there.
//!
//! Owns the table's format, which `interface.rs` describes. Must not depend on how accesses are checked.

use crate::buffer::Buffer;
use crate::error::{Error, Result};
use crate::interface::{BoundsSite, BoundsTable};
use crate::kernel::{ArgValue, Kernel};

/// The size of the table before the ranges.
pub(crate) const HEADER: usize = 24;

/// The table for a launch: the buffers and pipes passed as arguments, the memory declared as reached, and the program's
/// variables.
pub(crate) fn table(kernel: &Kernel, bounds: &BoundsTable) -> Result<Vec<u8>> {
    let program = &kernel.program.inner;
    let passed = kernel.arguments.iter().flatten().chain(&kernel.reached);
    let mut ranges: Vec<(u64, u64)> = passed
        .filter_map(|value| match value {
            ArgValue::Buffer(buffer) => Some((buffer.address(), buffer.address() + buffer.bytes())),
            ArgValue::Pipe(pipe) => pipe.memory().map(|ring| (ring.address(), ring.address() + ring.bytes())),
            _ => None,
        })
        .collect();
    for buffer in [&program.variables, &program.constants].into_iter().flatten() {
        ranges.push((buffer.address(), buffer.address() + buffer.bytes()));
    }
    if let Some(variables) = &program.variables {
        // Excludes the table itself, which is the end of the last range or inside it.
        let (start, end) = table_range(variables, bounds)?;
        ranges = ranges.into_iter().flat_map(|range| subtract_range(range, (start, end))).collect();
    }
    if ranges.len() > bounds.ranges as usize {
        return Err(Error::Launch {
            kernel: kernel.name().to_owned(),
            reason: format!(
                "it accesses {} objects, and bounds checks support {}; launch it without checks",
                ranges.len(),
                bounds.ranges
            ),
        });
    }
    let mut bytes = vec![0; HEADER];
    bytes[..4].copy_from_slice(&(ranges.len() as u32).to_le_bytes());
    for (start, end) in ranges {
        bytes.extend(start.to_le_bytes());
        bytes.extend(end.to_le_bytes());
    }
    bytes.resize(argument_sizes_offset(bounds), 0);
    for argument in kernel.arguments.iter().take(bounds.arguments as usize) {
        let local = match argument {
            Some(ArgValue::Local(bytes)) => u32::try_from(*bytes).unwrap_or(u32::MAX),
            _ => 0,
        };
        bytes.extend(local.to_le_bytes());
    }
    Ok(bytes)
}

/// The offset in the table at which argument sizes start.
fn argument_sizes_offset(bounds: &BoundsTable) -> usize {
    HEADER + 16 * bounds.ranges as usize
}

/// The address range of the table.
fn table_range(variables: &Buffer, bounds: &BoundsTable) -> Result<(u64, u64)> {
    let start = u64::from(bounds.offset);
    let end = start + argument_sizes_offset(bounds) as u64 + 4 * u64::from(bounds.arguments);
    if end > variables.bytes() {
        return Err(Error::BadModule { reason: "its bounds table is outside its variables".to_owned() });
    }
    Ok((variables.address() + start, variables.address() + end))
}

/// A range minus another.
fn subtract_range((start, end): (u64, u64), (from, to): (u64, u64)) -> impl Iterator<Item = (u64, u64)> {
    let parts = if to <= start || end <= from {
        [(start, end), (0, 0)]
    } else {
        [(start, from.max(start)), (to.min(end), end)]
    };
    parts.into_iter().filter(|(start, end)| start < end)
}

/// Fails with the violation that the program recorded, if any.
pub(crate) fn check_recorded_violation(
    kernel: &Kernel,
    bounds: &BoundsTable,
    header: [u8; HEADER],
) -> Result<()> {
    let word = |at: usize| u32::from_le_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]);
    if word(4) == 0 {
        return Ok(());
    }
    let site = bounds.sites.get(word(20) as usize).cloned().unwrap_or_default();
    let address = u64::from(word(8)) | u64::from(word(12)) << 32;
    let (kernel, bytes, BoundsSite { location: site, objects }) = (kernel.name().to_owned(), word(16), site);
    Err(match objects.as_str() {
        "" => Error::OutsideBuffers { kernel, site, address, bytes },
        _ => Error::OutsideObject { kernel, site, objects, distance: address as i64, bytes },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_ranges_is_excluded() {
        let left = |range, hole| subtract_range(range, hole).collect::<Vec<_>>();
        assert_eq!(left((10, 20), (12, 15)), [(10, 12), (15, 20)]);
        assert_eq!(left((10, 20), (10, 20)), []);
        assert_eq!(left((10, 20), (15, 30)), [(10, 15)]);
        assert_eq!(left((10, 20), (20, 30)), [(10, 20)]);
        assert_eq!(left((10, 20), (0, 10)), [(10, 20)]);
    }
}
