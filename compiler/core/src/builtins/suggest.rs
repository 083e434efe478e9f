//! What a misspelt name may have meant.

use super::{Context, lookup, table};

/// The built-in function that the context has and whose name is nearest, if any is near.
pub fn suggest(name: &str, context: &Context) -> Option<&'static str> {
    // One mistake in short names, two in others; names of one or two letters mean anything.
    let limit = match name.len() {
        ..=2 => return None,
        3..=5 => 1,
        _ => 2,
    };
    let mut best: Option<(usize, &'static str)> = None;
    for candidate in table::names() {
        let Some(distance) = distance(name, candidate, limit) else { continue };
        // Of equally near names the first in the alphabet, so that the same mistake gets the same answer.
        let is_better = best.is_none_or(|best| (distance, candidate) < best);
        if is_better && lookup(candidate, context).is_some() {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, name)| name)
}

/// How many letters must be changed, added, removed or exchanged with the next, if at most `limit`.
fn distance(left: &str, right: &str, limit: usize) -> Option<usize> {
    let (left, right) = (left.as_bytes(), right.as_bytes());
    if left.len().abs_diff(right.len()) > limit {
        return None;
    }
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=right.len()).collect();
    for (i, a) in left.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, b) in right.iter().enumerate() {
            let mut cost = (last[j] + usize::from(a != b)).min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && *a == right[j - 1] && left[i - 1] == *b {
                cost = cost.min(before[j - 1] + 1);
            }
            row.push(cost);
        }
        before = std::mem::replace(&mut last, row);
    }
    Some(last[right.len()]).filter(|distance| *distance <= limit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{extensions::Extensions, opencl::LanguageVersion};

    #[test]
    fn near_names() {
        let version = LanguageVersion::Cl20;
        let context = Context { version, extensions: Extensions::all(version) };
        for (written, meant) in [
            ("get_gobal_id", Some("get_global_id")),
            ("get_global_di", Some("get_global_id")),
            ("sqr", Some("sqrt")),
            ("barier", Some("barrier")),
            ("foo", None),
            ("my_own_function", None),
        ] {
            assert_eq!(suggest(written, &context), meant, "{written}");
        }
    }

    #[test]
    fn distances() {
        assert_eq!(distance("abc", "acb", 2), Some(1));
        assert_eq!(distance("abc", "abcd", 2), Some(1));
        assert_eq!(distance("abc", "xyz", 2), None);
        assert_eq!(distance("", "ab", 2), Some(2));
    }
}
