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
    // All short names are near each other, so only the case may differ.
    let limit = match name.len() {
        0..=2 => usize::from(name.eq_ignore_ascii_case(other)),
        length => (length / 3).min(3),
    };
    if name == other || name.len().abs_diff(other.len()) > limit {
        return None;
    }
    Some(strsim::osa_distance(name, other)).filter(|&distance| distance <= limit)
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
