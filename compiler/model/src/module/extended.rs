//! Arithmetic of the extended instruction sets of OpenCL and GLSL.

use spirv::{GlslStd450Op as GlOp, OpenclStd100Op as ClOp};

use super::alu::{narrow, signed};

/// The result of an instruction of a set on integers of this width; `None` if it is not known here.
pub(super) fn compute(set: &str, number: u32, width: u32, a: u64, b: u64) -> Option<u64> {
    let (x, y) = (signed(a, width), signed(b, width));
    let (min_value, max_value) =
        (i64::MIN >> (64 - width.clamp(1, 64)), i64::MAX >> (64 - width.clamp(1, 64)));
    let largest = narrow(u64::MAX, width);
    let value = match set {
        "GLSL.std.450" => match GlOp::from_u32(number)? {
            GlOp::SMin => x.min(y) as u64,
            GlOp::SMax => x.max(y) as u64,
            GlOp::UMin => a.min(b),
            GlOp::UMax => a.max(b),
            GlOp::SAbs => x.unsigned_abs(),
            GlOp::FindILsb if a == 0 => u64::MAX,
            GlOp::FindILsb => u64::from(a.trailing_zeros()),
            _ => return None,
        },
        "OpenCL.std" => match ClOp::from_u32(number)? {
            ClOp::s_min => x.min(y) as u64,
            ClOp::s_max => x.max(y) as u64,
            ClOp::u_min => a.min(b),
            ClOp::u_max => a.max(b),
            ClOp::s_abs => x.unsigned_abs(),
            ClOp::s_add_sat => x.saturating_add(y).clamp(min_value, max_value) as u64,
            ClOp::s_sub_sat => x.saturating_sub(y).clamp(min_value, max_value) as u64,
            ClOp::u_add_sat => a.saturating_add(b).min(largest),
            ClOp::u_sub_sat => a.saturating_sub(b),
            _ => return None,
        },
        _ => return None,
    };
    Some(narrow(value, width))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_have_the_width_of_their_type() {
        let max = |width| compute("GLSL.std.450", GlOp::SMax as u32, width, 0xffff_ffff, 1);
        assert_eq!(max(32), Some(1));
        assert_eq!(max(64), Some(0xffff_ffff));
        let add = |a| compute("OpenCL.std", ClOp::s_add_sat as u32, 32, a, 1);
        assert_eq!(add(0x7fff_ffff), Some(0x7fff_ffff));
        assert_eq!(add(0xffff_ffff), Some(0));
        assert_eq!(compute("GLSL.std.450", GlOp::FindILsb as u32, 32, 0, 0), Some(0xffff_ffff));
        assert_eq!(compute("OpenCL.std", ClOp::sin as u32, 32, 0, 0), None);
    }
}
