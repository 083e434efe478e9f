//! Suggestions for names that look like conversions, `convert_type<_sat><_rounding>` and `as_type`, but are none
//! (OpenCL C 6.4.3, 6.4.4.2).

use kiln_builtins::rule;
use kiln_session::diag::closest;
use kiln_types::{
    ops::Rounding,
    ty::{Scalar, parse_vector},
};

/// The numbers of components of a type, as they are spelled.
const COUNTS: [&str; 6] = ["", "2", "3", "4", "8", "16"];

/// The advice for a name.
pub(super) struct Advice {
    /// The help.
    pub(super) help: String,
    /// The rule that the name breaks, if it is not only misspelled.
    pub(super) note: Option<&'static str>,
    /// The name that was meant.
    pub(super) meant: Option<String>,
}

/// Explains why there is no conversion of this name. `None` if the name does not look like a conversion.
pub(super) fn advise(name: &str) -> Option<Advice> {
    let (prefix, rest) = ["convert_", "as_"].iter().find_map(|it| Some((*it, name.strip_prefix(it)?)))?;
    let mut words = rest.split('_');
    let ty = words.next()?;
    if parse_vector(ty).map_or(Scalar::parse(ty), |(element, _)| Some(element)) == Some(Scalar::Bool) {
        return Some(Advice {
            help: "compare with 0, as in `x != 0`".to_owned(),
            note: Some("OpenCL C 6.4.3, 6.4.4.2: there are no conversions to `bool`"),
            meant: None,
        });
    }
    let modifiers: Vec<&str> = words.collect();
    match prefix {
        "convert_" if is_number(ty) => modified(ty, &modifiers),
        _ => misspelled(name, prefix),
    }
}

/// Whether this is the name of a scalar or vector type that conversions can have.
fn is_number(ty: &str) -> bool {
    rule(&format!("convert_{ty}")).is_some()
}

/// A conversion to an existing type, with wrong modifiers.
fn modified(ty: &str, modifiers: &[&str]) -> Option<Advice> {
    let is_mode = |word: &str| Rounding::ALL.iter().any(|mode| mode.suffix().strip_prefix('_') == Some(word));
    let modes: Vec<&str> = modifiers.iter().copied().filter(|word| is_mode(word)).collect();
    let saturates = modifiers.contains(&"sat");
    let unknown: Vec<&str> =
        modifiers.iter().copied().filter(|word| *word != "sat" && !is_mode(word)).collect();
    if let [unknown] = unknown.as_slice() {
        if !unknown.starts_with('r') {
            return misspelled(&format!("convert_{ty}_{}", modifiers.join("_")), "convert_");
        }
        return Some(Advice {
            help: "write `_rte` (to the nearest even), `_rtz` (toward zero), `_rtp` (toward positive infinity) or \
                   `_rtn` (toward negative infinity)"
                .to_owned(),
            note: Some("OpenCL C 6.4.3.2: there are four rounding modes"),
            meant: None,
        });
    }
    let mode = match modes.as_slice() {
        [] => String::new(),
        [mode] => format!("_{mode}"),
        _ => {
            return Some(Advice {
                help: "keep one of the rounding modes".to_owned(),
                note: Some("OpenCL C 6.4.3.2: a conversion has at most one rounding mode"),
                meant: None,
            });
        }
    };
    let (saturated, plain) = (format!("convert_{ty}_sat{mode}"), format!("convert_{ty}{mode}"));
    let is_float = saturates && rule(&saturated).is_none();
    let meant = if saturates && !is_float { saturated } else { plain };
    let (help, note) = match is_float {
        true => (
            format!("write `{meant}`: it gives an infinity for values that are too large"),
            "OpenCL C 6.4.3.3: `_sat` is only for conversions to integer types",
        ),
        false => {
            (format!("write `{meant}`"), "OpenCL C 6.4.3: `_sat` comes before the rounding mode, each once")
        }
    };
    Some(Advice { help, note: Some(note), meant: Some(meant) })
}

/// The most similar conversion.
fn misspelled(name: &str, prefix: &str) -> Option<Advice> {
    let mut names = Vec::new();
    for scalar in Scalar::ALL {
        for count in COUNTS {
            let ty = format!("{prefix}{}{count}", scalar.spelling());
            if prefix == "convert_" {
                for saturation in ["", "_sat"] {
                    let modes = std::iter::once("").chain(Rounding::ALL.map(Rounding::suffix));
                    names.extend(modes.map(|mode| format!("{ty}{saturation}{mode}")));
                }
            } else {
                names.push(ty);
            }
        }
    }
    let near = closest(name, names.iter().map(String::as_str).filter(|name| rule(name).is_some()))?;
    Some(Advice { help: format!("there is a similar function `{near}`"), note: None, meant: Some(near) })
}

#[cfg(test)]
mod tests {
    use super::advise;

    #[test]
    fn wrong_names_of_conversions_are_explained() {
        let meant = |name: &str| advise(name).and_then(|advice| advice.meant).unwrap_or_default();
        assert_eq!(meant("convert_float_sat"), "convert_float");
        assert_eq!(meant("convert_half4_sat_rtz"), "convert_half4_rtz");
        assert_eq!(meant("convert_int_rte_sat"), "convert_int_sat_rte");
        assert_eq!(meant("convertt_int4"), "", "not this rule");
        assert_eq!(meant("convert_itn4"), "convert_int4");
        assert_eq!(meant("convert_uchar4_stat"), "convert_uchar4_sat");
        assert_eq!(meant("as_flaot4"), "as_float4");
        assert_eq!(meant("convert_int_rtx"), "");
        assert!(advise("convert_int_rtx").is_some_and(|advice| advice.help.contains("`_rtn`")));
        assert!(advise("as_bool").is_some_and(|advice| advice.help.contains("!= 0")));
        assert!(advise("convert_everything").is_none());
        assert!(advise("average").is_none());
    }
}
