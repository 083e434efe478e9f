//! One-sentence descriptions of built-in functions, constants and keywords, with the section of the specification.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

/// An entry for an overload of a built-in function.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    names: Vec<&'static str>,
    /// The names of its parameters.
    pub(crate) parameters: Vec<&'static str>,
    /// The description.
    pub(crate) text: &'static str,
    /// The section of the specification.
    pub(crate) section: &'static str,
}

static BUILTINS: LazyLock<Vec<Row>> = LazyLock::new(|| {
    let mut section = "";
    let mut rows = Vec::new();
    for line in include_str!("documentation/builtins.txt").lines().filter(|line| !line.starts_with('#')) {
        if let Some(title) = line.strip_prefix("@ ") {
            section = title;
        } else if let Some((head, text)) = line.split_once("): ")
            && let Some((names, parameters)) = head.split_once('(')
        {
            let names = names.split('|').collect();
            let parameters = parameters.split(", ").filter(|name| !name.is_empty()).collect();
            rows.push(Row { names, parameters, text, section });
        }
    }
    rows
});

/// The entries by exact name.
static BY_NAME: LazyLock<FxHashMap<&'static str, Vec<&'static Row>>> = LazyLock::new(|| {
    let mut by_name: FxHashMap<_, Vec<_>> = FxHashMap::default();
    for row in BUILTINS.iter() {
        for name in &row.names {
            by_name.entry(*name).or_default().push(row);
        }
    }
    by_name
});

/// The names that are patterns, in order.
static PATTERNS: LazyLock<Vec<&'static str>> = LazyLock::new(|| {
    BUILTINS.iter().flat_map(|row| &row.names).copied().filter(|name| name.contains('*')).collect()
});

static CONSTANTS: LazyLock<FxHashMap<&'static str, &'static str>> = LazyLock::new(|| {
    include_str!("documentation/constants.txt")
        .lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| line.split_once(": "))
        .collect()
});

/// The entries of a built-in function: those with its exact name, or else those of the first matching pattern.
pub(crate) fn builtin(name: &str) -> &'static [&'static Row] {
    let of_pattern = || BY_NAME.get(PATTERNS.iter().find(|pattern| matches_pattern(pattern, name))?);
    BY_NAME.get(name).or_else(of_pattern).map_or(&[], Vec::as_slice)
}

/// The parameter names of the overload with this number of parameters.
pub(crate) fn parameters(name: &str, count: usize) -> Vec<&'static str> {
    let rows = builtin(name);
    let exact = rows.iter().find(|row| row.parameters.len() == count);
    let row = exact.or_else(|| rows.iter().find(|row| row.parameters.len() > count)).or(rows.last());
    row.map(|row| row.parameters.iter().copied().take(count).collect()).unwrap_or_default()
}

/// The description of a constant, a flag, a keyword or an attribute.
pub(crate) fn word(name: &str) -> Option<&'static str> {
    let plain = name.strip_prefix("__").unwrap_or(name);
    let plain = plain.strip_suffix("__").unwrap_or(plain);
    CONSTANTS.get(name).or_else(|| CONSTANTS.get(plain)).copied()
}

/// Whether a name matches a pattern with a `*`.
fn matches_pattern(pattern: &str, name: &str) -> bool {
    let Some((before, after)) = pattern.split_once('*') else { return false };
    name.len() >= before.len() + after.len() && name.starts_with(before) && name.ends_with(after)
}

#[cfg(test)]
mod tests {
    use kiln_builtins::{self as builtins, Context};
    use kiln_session::extensions::Extensions;
    use kiln_vocabulary::opencl::LanguageVersion;

    use super::*;

    fn all() -> Context {
        let version = LanguageVersion::Cl30;
        Context { version, extensions: Extensions::all(version) }
    }

    #[test]
    fn every_built_in_function_has_a_sentence() {
        let missing: Vec<_> = builtins::names(&all()).filter(|name| builtin(name).is_empty()).collect();
        assert_eq!(missing, Vec::<&str>::new());
    }

    #[test]
    fn every_sentence_has_a_built_in_function() {
        let known: Vec<_> = builtins::names(&all()).collect();
        let is_of_one = |pattern: &&str| {
            builtins::is_name(pattern)
                || known.iter().any(|name| matches_pattern(pattern, name))
                || ["convert_", "as_", "__"].iter().any(|start| pattern.starts_with(start))
        };
        let lost: Vec<_> =
            BUILTINS.iter().flat_map(|row| &row.names).copied().filter(|name| !is_of_one(name)).collect();
        assert_eq!(lost, Vec::<&str>::new());
    }

    #[test]
    fn parameters_of_each_form() {
        assert_eq!(parameters("read_imagef", 2), ["image", "coordinates"]);
        assert_eq!(parameters("read_imagef", 3), ["image", "sampler", "coordinates"]);
        assert_eq!(parameters("atomic_load_explicit", 2), ["object", "order"]);
        assert_eq!(parameters("convert_float4_rtz", 1), ["value"]);
        assert_eq!(parameters("vload_half3", 2), ["offset", "pointer"]);
    }

    #[test]
    fn words_with_and_without_underscores() {
        assert_eq!(word("__global"), word("global"));
        assert_eq!(word("__packed__"), word("packed"));
        assert!(word("nonsense").is_none());
    }
}
