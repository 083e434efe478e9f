//! The measured precision of drivers' floating-point instructions, where it exceeds Vulkan's guarantees.
//!
//! Vulkan's bounds ("Precision of Individual Operations") are looser than those of OpenCL C 7.4 for some instructions, so
//! the compiler uses its own functions instead, unless the driver's instruction is known to be precise enough.
//! `kiln-bench accuracy` measures all `float` arguments, and 10^9 triples for `Fma`.

use crate::driver_bugs::{Driver, DriverId};

/// Instructions of GLSL.std.450 that a driver executes within OpenCL's bounds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Precision {
    /// `Fma` of `float` and of `double` rounds once.
    pub is_fma_fused: bool,
    /// `Sqrt` of `float` has an error of at most 3 ulp for every argument that is not negative.
    pub is_sqrt_precise: bool,
    /// `Sqrt` and `InverseSqrt` of a negative `float` are NaN, and `InverseSqrt` of a zero is an infinity with its sign.
    pub defines_all_roots: bool,
    /// `Exp2` of `float` has an error of at most 2.5 ulp for every argument, infinities and NaN included.
    pub is_exp2_precise: bool,
    /// `OpFDiv` of `double` is correctly rounded.
    pub is_double_division_rounded: bool,
    /// `Floor`, `Ceil` and division keep subnormal operands, although `DenormPreserve` does not require it of them.
    pub keeps_subnormal_operands: bool,
    /// `Log` and `Log2` of a subnormal `float` are correct, or treat it as zero.
    pub has_subnormal_logarithms: bool,
}

impl Precision {
    /// What Vulkan guarantees.
    pub const GUARANTEED: Self = Self {
        is_fma_fused: false,
        is_sqrt_precise: false,
        defines_all_roots: false,
        is_exp2_precise: false,
        is_double_division_rounded: false,
        keeps_subnormal_operands: false,
        has_subnormal_logarithms: true,
    };

    /// The measured precision of a driver.
    pub const fn for_driver(driver: Driver) -> Self {
        match driver.id {
            // Measured with 580.159.04 on an H100: no unfused triple; Sqrt 0.95 ulp; Exp2 2.06 ulp. On an H200: the roots of all
            // arguments. OpenCL-CTS's math tests, which divide doubles and use subnormal numbers, pass on an H100; these two were
            // not measured otherwise.
            DriverId::Nvidia => Self {
                is_fma_fused: true,
                is_sqrt_precise: true,
                defines_all_roots: true,
                is_exp2_precise: true,
                is_double_division_rounded: true,
                keeps_subnormal_operands: true,
                ..Self::GUARANTEED
            },
            // Measured with Mesa 25.0.7 and Chromium's SwiftShader: Log2 of 0x1p-141 is about -127.
            // lavapipe executes the processor's divisions, and keeps subnormal numbers (the test `math`).
            DriverId::Lavapipe => Self {
                is_double_division_rounded: true,
                keeps_subnormal_operands: true,
                has_subnormal_logarithms: false,
                ..Self::GUARANTEED
            },
            DriverId::SwiftShader => Self { has_subnormal_logarithms: false, ..Self::GUARANTEED },
        }
    }
}
