//! Sizes and ranges in the launch language: `64,64` and `out[0..16]`.

use std::ops::Range;

use kiln_runtime::Sizes;

use crate::exit::{Failure, failure};

/// One to three sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ParsedSizes {
    count: u32,
    sizes: [usize; 3],
}

impl Sizes for ParsedSizes {
    fn sizes(self) -> (u32, [usize; 3]) {
        (self.count, self.sizes)
    }
}

/// Parses one to three sizes.
pub(super) fn sizes(text: &str) -> Result<ParsedSizes, Failure> {
    let mut parsed = ParsedSizes { count: 0, sizes: [1; 3] };
    for size in text.split([',', 'x']) {
        match (parsed.sizes.get_mut(parsed.count as usize), size.trim().parse()) {
            (Some(entry), Ok(size)) => *entry = size,
            _ => return failure(format!("`{text}` is not one to three sizes such as `1024` or `64,64`")),
        }
        parsed.count += 1;
    }
    Ok(parsed)
}

/// A range of a buffer.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct BufferRange<'t> {
    /// The parameter's name.
    pub(super) name: &'t str,
    /// The elements; `None` for all.
    pub(super) range: Option<Range<usize>>,
    /// The text after the bracket.
    pub(super) rest: &'t str,
}

/// Parses `out[0..16]…`, `out[3]…`, `out[..]…`, or `out…`, up to a comparison.
pub(super) fn buffer_range(text: &str) -> Result<BufferRange<'_>, Failure> {
    let end = text.find(['[', '=', '<', '>', '!']).unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    let name = name.trim();
    let wrong = || Failure(format!("`{text}` is not a part of a buffer such as `out[0..16]`"));
    if name.is_empty() {
        return Err(wrong());
    }
    let Some(inside) = rest.strip_prefix('[') else { return Ok(BufferRange { name, range: None, rest }) };
    let (inside, rest) = inside.split_once(']').ok_or_else(wrong)?;
    let number = |text: &str| text.trim().parse::<usize>().map_err(|_| wrong());
    let range = match inside.split_once("..") {
        Some(("", "")) => None,
        Some((first, last)) => Some(number(first)?..number(last)?),
        None => {
            let index = number(inside)?;
            Some(index..index + 1)
        }
    };
    Ok(BufferRange { name, range, rest })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_parsed() {
        let read = |text| {
            buffer_range(text)
                .map(|buffer_range| (buffer_range.name, buffer_range.range, buffer_range.rest))
                .map_err(|e| e.0)
        };
        assert_eq!(read("out[0..16]"), Ok(("out", Some(0..16), "")));
        assert_eq!(read("out[3]=1"), Ok(("out", Some(3..4), "=1")));
        assert_eq!(read("out>=1"), Ok(("out", None, ">=1")));
        assert_eq!(read("out[..]<2"), Ok(("out", None, "<2")));
        assert!(read("[0]").is_err());
        assert!(read("out[a..b]").is_err());
    }

    #[test]
    fn sizes_are_parsed() {
        assert_eq!(sizes("64,8").ok(), Some(ParsedSizes { count: 2, sizes: [64, 8, 1] }));
        assert!(sizes("").is_err());
        assert!(sizes("1,2,3,4").is_err());
    }
}
