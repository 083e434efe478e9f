//! Functions whose names follow a rule: `convert_type<_sat><_rounding>` and `as_type` (OpenCL C 6.4.3, 6.4.4.2).

use kiln_types::{
    ops::{Conversion, Rounding},
    ty::{Scalar, parse_vector},
};

use super::Context;

/// The meaning of such a name. The argument of `convert_type` has as many components as the result; the argument of
/// `as_type` has the same size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// `convert_type`
    Convert {
        /// The element type of the result.
        element: Scalar,
        /// Its components.
        count: u8,
        /// Rounding and saturation.
        conversion: Conversion,
    },
    /// `as_type`
    As {
        /// The element type of the result.
        element: Scalar,
        /// Its components.
        count: u8,
    },
}

/// Parses a name that follows a rule.
pub fn rule(name: &str) -> Option<Rule> {
    if let Some(ty) = name.strip_prefix("as_") {
        let (element, count) = parse_vector(ty).or_else(|| Some((Scalar::parse(ty)?, 1)))?;
        return (element != Scalar::Bool).then_some(Rule::As { element, count });
    }
    let rest = name.strip_prefix("convert_")?;
    let with_mode = |mode: Rounding| Some((rest.strip_suffix(mode.suffix())?, Some(mode)));
    let (rest, rounding) = Rounding::ALL.into_iter().find_map(with_mode).unwrap_or((rest, None));
    let (ty, saturate) = match rest.strip_suffix("_sat") {
        Some(before) => (before, true),
        None => (rest, false),
    };
    let (element, count) = parse_vector(ty)
        .or_else(|| Scalar::parse(ty).filter(|scalar| scalar.spelling() == ty).map(|scalar| (scalar, 1)))?;
    // OpenCL C 6.4.3.3: only integer types have `_sat`.
    let exists = element != Scalar::Bool && !(saturate && element.is_float());
    exists.then_some(Rule::Convert { element, count, conversion: Conversion { rounding, saturate } })
}

impl Rule {
    /// The element type of the result.
    pub const fn element(self) -> Scalar {
        match self {
            Self::Convert { element, .. } | Self::As { element, .. } => element,
        }
    }

    /// The missing requirements for the type. `None` if it is available.
    pub fn missing(self, context: &Context) -> Option<Vec<String>> {
        let missing = self.element().condition().missing(context.version, context.extensions);
        (!missing.is_empty()).then_some(missing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_conversions_are_parsed() {
        let convert = |element, count, rounding, saturate| {
            Some(Rule::Convert { element, count, conversion: Conversion { rounding, saturate } })
        };
        assert_eq!(rule("convert_int"), convert(Scalar::Int, 1, None, false));
        assert_eq!(
            rule("convert_uchar16_sat_rtp"),
            convert(Scalar::UChar, 16, Some(Rounding::ToPositive), true)
        );
        assert_eq!(rule("convert_half3_rte"), convert(Scalar::Half, 3, Some(Rounding::ToEven), false));
        assert_eq!(rule("as_uint4"), Some(Rule::As { element: Scalar::UInt, count: 4 }));
        assert_eq!(rule("as_size_t"), Some(Rule::As { element: Scalar::ULong, count: 1 }));
        for name in [
            "convert_float_sat",
            "convert_bool",
            "convert_int5",
            "convert_int_rte_sat",
            "convert_size_t",
            "as_bool",
            "as_float5",
            "as_foo",
            "convert_",
            "convert_int_rtz_rtz",
            "convert_int_rtz_rte",
        ] {
            assert_eq!(rule(name), None, "{name}");
        }
    }
}
