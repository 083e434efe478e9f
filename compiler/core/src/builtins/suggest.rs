//! What a misspelt name may have meant.

use crate::diag::closest;

use super::{Context, lookup, table};

/// Every name of the table that the context has; those made by rule are not among them.
pub fn names(context: &Context) -> impl Iterator<Item = &'static str> {
    table::names().filter(move |name| !name.starts_with("__") && lookup(name, context).is_some())
}

/// The built-in function that the context has and whose name is nearest, if any is near.
pub fn suggest(name: &str, context: &Context) -> Option<String> {
    closest(name, names(context))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{extensions::Extensions, opencl::LanguageVersion};

    #[test]
    fn near_names() {
        let suggest = |name: &str, version| {
            suggest(name, &Context { version, extensions: Extensions::all(version) }).unwrap_or_default()
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
