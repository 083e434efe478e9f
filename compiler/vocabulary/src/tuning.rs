//! Measured properties of drivers' compilers, for faster code. They never change results.

use crate::driver_bugs::{Driver, DriverId};

/// Properties of a driver's compiler.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Tuning {
    /// It unrolls few loops unless the module requests it (SPIR-V 3.23, `Unroll`), and only very small ones with a variable number
    /// of iterations.
    pub unrolls_on_request: bool,
    /// It overlaps few loads: it does not move them above stores.
    pub overlaps_few_loads: bool,
    /// It compiles rotations of 64-bit integers as two 64-bit shifts.
    pub shifts_to_rotate: bool,
    /// It combines bitwise operations with their first operands before it looks at the second ones.
    pub combines_first_operands: bool,
    /// It keeps private objects in memory that a function gets a pointer to.
    pub calls_through_memory: bool,
}

impl Tuning {
    /// The properties of unknown drivers.
    pub const NONE: Self = Self::all_or_none(false);

    /// All properties: every pass that depends on one runs.
    pub const ALL: Self = Self::all_or_none(true);

    const fn all_or_none(all: bool) -> Self {
        Self {
            unrolls_on_request: all,
            overlaps_few_loads: all,
            shifts_to_rotate: all,
            combines_first_operands: all,
            calls_through_memory: all,
        }
    }

    /// The measured properties of a driver.
    pub const fn for_driver(driver: Driver) -> Self {
        match driver.id {
            // Measured with 580.159.04 on an H200: the loops of `kiln-bench kernels` take 0.92 of the time on average,
            // those of n-body 0.74. docs/speed-details.md has the times of the second property.
            DriverId::Nvidia => Self::ALL,
            DriverId::Lavapipe | DriverId::SwiftShader => Self::NONE,
        }
    }
}
