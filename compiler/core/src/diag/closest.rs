//! Which known name a misspelt one was meant to be.

/// The candidate that is nearest to the name, if it is near enough to be meant: a third of the letters may be
/// wrong, missing, or swapped with their neighbour. Of equally near ones the first in alphabetical order.
pub(crate) fn closest<'c>(name: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<String> {
    let limit = name.chars().count().div_ceil(3).min(3);
    let mut best: Option<(usize, &str)> = None;
    for candidate in candidates {
        if candidate == name || candidate.len().abs_diff(name.len()) > limit {
            continue;
        }
        let found = (distance(name, candidate), candidate);
        if found.0 <= limit && best.is_none_or(|best| found < best) {
            best = Some(found);
        }
    }
    best.map(|(_, candidate)| candidate.to_owned())
}

/// How many insertions, deletions, replacements and swaps of neighbours lead from one to the other.
fn distance(left: &str, right: &str) -> usize {
    let (left, right): (Vec<char>, Vec<char>) = (left.chars().collect(), right.chars().collect());
    let mut before: Vec<usize> = vec![0; right.len() + 1];
    let mut above: Vec<usize> = (0..=right.len()).collect();
    for (i, &l) in left.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, &r) in right.iter().enumerate() {
            let mut least = (above[j] + usize::from(l != r)).min(above[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && l == right[j - 1] && left[i - 1] == r {
                least = least.min(before[j - 1] + 1);
            }
            row.push(least);
        }
        before = std::mem::replace(&mut above, row);
    }
    above[right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_found() {
        let names = ["cl_mem_fence_flags", "float4", "uint", "memory_order_acquire"];
        let closest = |name| closest(name, names);
        assert_eq!(closest("cl_mme_fence_flags").as_deref(), Some("cl_mem_fence_flags"));
        assert_eq!(closest("memory_order_aquire").as_deref(), Some("memory_order_acquire"));
        assert_eq!(closest("flaot4").as_deref(), Some("float4"));
        assert_eq!(closest("vec4"), None);
        assert_eq!(closest("x"), None);
    }

    #[test]
    fn swaps_count_once() {
        assert_eq!(distance("abcd", "abdc"), 1);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("kitten", "sitting"), 3);
    }
}
