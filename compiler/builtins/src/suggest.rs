//! Suggestions for misspelled names.

use kiln_session::diag::is_near;

use super::{Context, lookup, table};

/// All available names of the table. Names that follow a rule are not included.
pub fn names(context: &Context) -> impl Iterator<Item = &'static str> {
    public().filter(|name| is_available(context, name))
}

/// The available names that satisfy a predicate.
pub fn names_that(context: &Context, predicate: impl Fn(&str) -> bool) -> impl Iterator<Item = &'static str> {
    // Checking availability is slower than most predicates.
    public().filter(move |name| predicate(name)).filter(|name| is_available(context, name))
}

/// The available names with similar spelling.
pub fn near(misspelled: &str, context: &Context) -> impl Iterator<Item = &'static str> {
    names_that(context, move |name| is_near(misspelled, name))
}

fn public() -> impl Iterator<Item = &'static str> {
    table::names().filter(|name| !name.starts_with("__"))
}

fn is_available(context: &Context, name: &str) -> bool {
    lookup(name, context).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use kiln_session::{diag::closest, extensions::Extensions};
    use kiln_vocabulary::opencl::LanguageVersion;

    #[test]
    fn similar_names_are_suggested() {
        let suggest = |name: &str, version| {
            let context = Context { version, extensions: Extensions::all(version) };
            closest(name, near(name, &context)).unwrap_or_default()
        };
        let version = LanguageVersion::Cl20;
        assert_eq!(suggest("get_gobal_id", version), "get_global_id");
        assert_eq!(suggest("get_global_di", version), "get_global_id");
        assert_eq!(suggest("barier", version), "barrier");
        assert_eq!(suggest("my_own_function", version), "");
        assert_eq!(suggest("work_group_barier", version), "work_group_barrier");
        assert_eq!(suggest("work_group_barier", LanguageVersion::Cl12), "", "2.0 only");
    }
}
