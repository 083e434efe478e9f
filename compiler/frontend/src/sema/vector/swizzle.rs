//! Parses the words that name vector components (OpenCL C 6.3.7). Independent of types.

use smallvec::SmallVec;

use crate::hir::Components;

/// The components that a word names.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Named {
    /// Their indices, in the order named.
    pub(super) components: Components,
    /// Whether they are named r, g, b, a.
    pub(super) is_rgba: bool,
}

/// Why a word does not name components.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Problem {
    /// It is not a component name.
    Unknown,
    /// It names this component, which does not exist.
    OutOfRange(String),
    /// It names this number of components, for which there is no vector type.
    Count(usize),
    /// It mixes xyzw with rgba.
    Mixed,
}

/// Parses a word after `.`, for a vector of `count` components.
pub(super) fn parse(text: &str, count: u8) -> Result<Named, Problem> {
    let components = match half(text, count) {
        Some(components) => components,
        None => named(text, count)?,
    };
    match components.len() {
        1 | 2 | 3 | 4 | 8 | 16 => {
            let is_rgba = "rgba".contains(text.chars().next().unwrap_or('x'));
            Ok(Named { components, is_rgba })
        }
        named => Err(Problem::Count(named)),
    }
}

/// `lo`, `hi`, `even`, `odd`. A vector of three components has the same ones as a vector of four, so they may name
/// component 3, which has no value.
fn half(text: &str, count: u8) -> Option<Components> {
    let whole = count.next_power_of_two();
    Some(match text {
        "lo" => (0..whole / 2).collect(),
        "hi" => (whole / 2..whole).collect(),
        "even" => (0..whole).step_by(2).collect(),
        "odd" => (1..whole).step_by(2).collect(),
        _ => return None,
    })
}

fn named(text: &str, count: u8) -> Result<Components, Problem> {
    let in_range = |component: u8, prefix: &str, c: char| {
        if component < count { Ok(component) } else { Err(Problem::OutOfRange(format!("{prefix}{c}"))) }
    };
    if let Some(digits) = text.strip_prefix(['s', 'S'])
        && !digits.is_empty()
        && digits.chars().all(|c| c.is_ascii_hexdigit())
    {
        return digits.chars().map(|c| in_range(c.to_digit(16).unwrap_or_default() as u8, "s", c)).collect();
    }
    let index_in = |names: &str, c: char| names.find(c).map(|at| at as u8);
    let (mut is_xyzw, mut is_rgba) = (false, false);
    let mut components: SmallVec<[(u8, char); 16]> = SmallVec::new();
    for c in text.chars() {
        let component = if let Some(component) = index_in("xyzw", c) {
            is_xyzw = true;
            component
        } else if let Some(component) = index_in("rgba", c) {
            is_rgba = true;
            component
        } else {
            return Err(Problem::Unknown);
        };
        components.push((component, c));
    }
    if is_xyzw && is_rgba {
        return Err(Problem::Mixed);
    }
    components.into_iter().map(|(component, c)| in_range(component, "", c)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn components(text: &str, count: u8) -> Result<Vec<u8>, Problem> {
        parse(text, count).map(|named| named.components.to_vec())
    }

    #[test]
    fn swizzles_are_parsed() {
        assert_eq!(components("wzyx", 4), Ok(vec![3, 2, 1, 0]));
        assert_eq!(components("s0F", 16), Ok(vec![0, 15]));
        assert_eq!(components("Sab", 16), Ok(vec![10, 11]));
        assert_eq!(components("hi", 8), Ok(vec![4, 5, 6, 7]));
        assert_eq!(components("odd", 4), Ok(vec![1, 3]));
        assert_eq!(components("lo", 2), Ok(vec![0]));
        assert_eq!(components("xx", 2), Ok(vec![0, 0]));
        assert!(parse("rgba", 4).unwrap().is_rgba);
        assert!(!parse("x", 4).unwrap().is_rgba);
    }

    #[test]
    fn wrong_swizzles_have_problems() {
        assert_eq!(components("w", 3), Err(Problem::OutOfRange("w".into())));
        assert_eq!(components("s8", 8), Err(Problem::OutOfRange("s8".into())));
        assert_eq!(components("xg", 4), Err(Problem::Mixed));
        assert_eq!(components("0", 4), Err(Problem::Unknown));
        assert_eq!(components("xyzwx", 4), Err(Problem::Count(5)));
        assert_eq!(components("s01234", 8), Err(Problem::Count(5)));
    }
}
