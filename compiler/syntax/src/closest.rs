//! Spelling suggestions.

/// The candidate that is nearest to the name, if it is near enough. Of equally near candidates, the first in
/// alphabetical order.
pub fn closest<'c>(name: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<String> {
    let near = candidates.into_iter().filter_map(|candidate| Some((distance(name, candidate)?, candidate)));
    near.min().map(|(_, candidate)| candidate.to_owned())
}

/// Whether the candidate is near enough to suggest it for the name.
pub fn is_near(name: &str, candidate: &str) -> bool {
    distance(name, candidate).is_some()
}

/// The edit distance between two names (insertions, deletions, replacements and transpositions of adjacent letters),
/// if it is at most a third of the letters.
fn distance(name: &str, other: &str) -> Option<usize> {
    let (left, right) = (name.as_bytes(), other.as_bytes());
    // All short names are near each other, so only the case may differ.
    let limit = match left.len() {
        0..=2 => usize::from(name.eq_ignore_ascii_case(other)),
        length => (length / 3).min(3),
    };
    if name == other || left.len().abs_diff(right.len()) > limit {
        return None;
    }
    // The rows of the table for the last two letters and for the current one.
    let mut before = vec![0; right.len() + 1];
    let mut above: Vec<usize> = (0..=right.len()).collect();
    let mut row = before.clone();
    for (i, &l) in left.iter().enumerate() {
        row[0] = i + 1;
        let mut least_of_row = row[0];
        for (j, &r) in right.iter().enumerate() {
            let mut min = (above[j] + usize::from(l != r)).min(above[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && l == right[j - 1] && left[i - 1] == r {
                min = min.min(before[j - 1] + 1);
            }
            row[j + 1] = min;
            least_of_row = least_of_row.min(min);
        }
        // A transposition may still lower the distance by one.
        if least_of_row > limit + 1 {
            return None;
        }
        (before, above, row) = (above, row, before);
    }
    Some(above[right.len()]).filter(|&distance| distance <= limit)
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
        assert_eq!(super::closest("N", ["k", "a"]), None);
        assert_eq!(super::closest("N", ["k", "n"]).as_deref(), Some("n"));
    }

    #[test]
    fn swaps_count_once() {
        assert_eq!(distance("abcd", "abdc"), Some(1));
        assert_eq!(distance("kitten", "sittin"), Some(2));
        assert_eq!(distance("memory_scope", "mmeory_socpe"), Some(2));
        assert_eq!(distance("kitten", "sitting"), None);
    }
}
