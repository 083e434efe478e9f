//! Known driver bugs: one table with a row for each bug and the workaround that the compiler applies.
//!
//! A device profile contains the driver and its version; the runtime queries both from an open device. This table lists
//! the bugs of each version. The compiler applies only the workarounds that a target requests; a target without a driver
//! requests none. `docs/driver-bugs.md` is rendered from this module, and `docs/recipes/workaround.md` describes how
//! to add a row.

mod driver;
mod page;

use std::fmt;

pub use driver::{Driver, DriverId, Version, Versions};
pub use page::render_markdown;

/// The remedy for a bug.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remedy {
    /// This pass, which exists only for the bug.
    Pass(&'static str),
    /// This pass, or the emitter (`emit`), generates other code. It also has other purposes.
    Option(&'static str),
    /// The runtime uses the driver differently, and modules stay as they are. Says how, for the page.
    Runtime(&'static str),
    /// Nothing: the bug is documented.
    None,
}

/// A row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// The bug.
    pub bug: DriverBug,
    /// Its name, in snake case.
    pub name: &'static str,
    /// The affected drivers and their versions.
    pub affected: &'static [(DriverId, Versions)],
    /// The symptom, in one sentence without a full stop.
    pub symptom: &'static str,
    /// The remedy.
    pub remedy: Remedy,
}

/// Generates the enum and the table from one list.
macro_rules! driver_bugs {
    ($($(#[doc = $doc:literal])* $bug:ident $name:literal {
        affected: $affected:expr,
        symptom: $symptom:literal,
        remedy: $remedy:expr,
    })*) => {
        /// A known bug of a driver.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum DriverBug {
            $($(#[doc = $doc])* $bug,)*
        }

        static ROWS: &[Row] = &[
            $(Row {
                bug: DriverBug::$bug,
                name: $name,
                affected: $affected,
                symptom: $symptom,
                remedy: $remedy,
            },)*
        ];

        impl DriverBug {
            /// All bugs, in the order of the table.
            pub const ALL: &'static [Self] = &[$(Self::$bug,)*];

            /// The remedy.
            pub const fn remedy(self) -> Remedy {
                match self {
                    $(Self::$bug => $remedy,)*
                }
            }
        }
    };
}

driver_bugs! {
    /// The driver recomputes loop-exit values after a lane has left the loop. lavapipe masks them since Mesa 23.3.
    FreezeLoopExitValues "freeze_loop_exit_values" {
        affected: &[(DriverId::Lavapipe, Versions::before(23, 3)), (DriverId::SwiftShader, Versions::ALL)],
        symptom: "a value computed in a loop changes after the work-item has left the loop, while other work-items of its \
                  sub-group continue",
        remedy: Remedy::Pass("freeze_loop_exit_values"),
    }
    /// Signed 64-bit comparisons use the bounds of 32 bits. Measured: wrong with Mesa 22.3.6, right with 25.0.7. Versions in
    /// between were not measured.
    CompareAsUnsigned "compare_as_unsigned" {
        affected: &[(DriverId::Lavapipe, Versions::before(25, 0))],
        symptom: "a signed comparison of an `int` that was converted to `long`, with a constant of more than 32 bits, has the wrong \
                  result",
        remedy: Remedy::Pass("compare_as_unsigned"),
    }
    /// gallivm's `LP_MAX_TGSI_LOOP_ITERATIONS`, one counter for all loops of a shader. Measured: 65,535 iterations with
    /// Mesa 22.3.6, all of 20 million with 25.0.7.
    LoopIterationLimit "loop_iteration_limit" {
        affected: &[(DriverId::Lavapipe, Versions::before(25, 0))],
        symptom: "all loops of a work-item together end after 65535 iterations, even spinning loops whose condition is \
                  not yet met",
        remedy: Remedy::None,
    }
    /// The last sub-group of a work-group also executes its missing work-items, and their loads return 0. `while
    /// (atomic_load(p) == n)` ends for the real work-items but not for the missing ones, which repeat it until the
    /// iteration limit. That limit then ends all loops. Measured: wrong with Mesa 22.3.6 and work-groups of 1, 4 and 7
    /// work-items, right with 8; right with 25.0.7.
    MissingWorkItems "missing_work_items" {
        affected: &[(DriverId::Lavapipe, Versions::before(25, 0))],
        symptom: "if the size of a work-group is not a multiple of 8, a loop continues while its condition is true for loaded \
                  values of 0, up to the limit of `loop_iteration_limit`",
        remedy: Remedy::None,
    }
    /// Measured: wrong with Mesa 25.0.7, right with 22.3.6. A memory barrier would be sufficient for sub-groups that
    /// execute in lockstep, but not on other drivers. Modules for unknown drivers contain every workaround, so it
    /// cannot be used.
    SubGroupBarriers "sub_group_barriers" {
        affected: &[(DriverId::Lavapipe, Versions::from(25, 0))],
        symptom: "a work-item loses its writes after two barriers of its sub-group that other sub-groups of the work-group do not \
                  reach",
        remedy: Remedy::None,
    }
    /// A memory barrier suspends the sub-group as a control barrier does, and the work-group ends with the first
    /// sub-group that ends. Measured: wrong with Mesa 22.3.6, right with 25.0.7. The workaround applies to loops that
    /// the compiler generates: it puts the fences around the loop instead of into it. Loops in the source stay wrong.
    EarlyGroupEnd "early_group_end" {
        affected: &[(DriverId::Lavapipe, Versions::before(25, 0))],
        symptom: "a work-group of several sub-groups ends too early when their loops with acquire or release operations \
                  have different numbers of iterations; Kiln changes its own loops, not those of the source",
        remedy: Remedy::Option("legalize_atomics"),
    }
    /// Seen with 22.3.6 and 25.0.7 on an AMD EPYC with AVX2. Processors with AVX-512 have an instruction for it.
    RoundDoubles "round_doubles" {
        affected: &[(DriverId::Lavapipe, Versions::ALL)],
        symptom: "`rint` of `double` rounds 1.5 to 1, and neither it nor `trunc` rounds numbers beyond 2^31, on processors \
                  without AVX-512",
        remedy: Remedy::Option("lower_builtins"),
    }
    /// SwiftShader runs the constant propagation of SPIRV-Tools on every module (`spirv-opt --ccp` v2023.1 hangs too).
    /// It never assigns a value to the import of the instruction set, and waits for that value forever.
    HideConstantArguments "hide_constant_arguments" {
        affected: &[(DriverId::SwiftShader, Versions::ALL)],
        symptom: "a value that is a constant or a built-in function of constants, depending on a condition, is always the \
                  constant, and a branch whose condition is such a function is lost",
        remedy: Remedy::Pass("hide_constant_arguments"),
    }
    /// SwiftShader converts the lower 31 bits, and adds the upper one after that: 4294967167 becomes 4294967040.
    ConvertInHalves "convert_in_halves" {
        affected: &[(DriverId::SwiftShader, Versions::ALL)],
        symptom: "a conversion from `uint` to `float` rounds twice and may be off by one unit in the last place",
        remedy: Remedy::Pass("convert_in_halves"),
    }
    /// Texel buffers are written only through images with a format in the module.
    LostTexelWrites "lost_texel_writes" {
        affected: &[(DriverId::SwiftShader, Versions::ALL)],
        symptom: "writes to an `image1d_buffer_t` are lost",
        remedy: Remedy::None,
    }
    /// Seen with 580.159.04 on an H200: for remainders in loops, also written as `s - s / x * x`, in modules with a private
    /// array, and for quotients of widened values and constants. The expansion has no branch to a 32-bit division: with one, 1 of
    /// 29,200 random programs was wrong (28512058), also with other conditions of the branch and with other estimates.
    ExpandInt64Division "expand_int64_division" {
        affected: &[(DriverId::Nvidia, Versions::ALL)],
        symptom: "64-bit divisions and remainders in loops have wrong results, or leave a loop after its first iteration, \
                  if the module has a private array",
        remedy: Remedy::Option("lower_builtins"),
    }
    /// Seen with 580.159.04 on an H200. On an H100, 24 of 5,000 random programs are wrong with the instruction, of which 23
    /// are correct without it. If only conversions to signed integers use it, 43 of 10,000 are wrong on an H200 and correct
    /// without it (5,000 from 28550500, 5,000 from 28560500); 42 of these are still wrong if the numbers are converted to `double`
    /// first. In the machine code of some, reduced, the driver has narrowed other operations incorrectly: `add_sat` and `sub_sat`
    /// of `ulong` saturate the lower halves and leave the upper halves undefined (28560648, 28560674, 28562536), a difference that
    /// is clamped to `char` saturates at 32 bits (28560704), a zero-extended byte is sign-extended for `popcount` (28561158), and
    /// the index of a private array loses its highest bit (28561989). Without the instruction, the same operations are compiled
    /// correctly. So the form of the conversion does not matter: hiding its operands and results from the driver (an exclusive or
    /// with a zero that it does not know) corrects none of 13 programs. Other loop hints or calls that stay calls correct 3, and
    /// leaving out the execution mode `SignedZeroInfNanPreserve` 1.
    ExpandInt64Conversions "expand_int64_conversions" {
        affected: &[(DriverId::Nvidia, Versions::ALL)],
        symptom: "if a module converts floating-point numbers to 64-bit integers, the driver fails with \
                  `NVVM compilation failed`, or other operations of the module have wrong results",
        remedy: Remedy::Option("lower_builtins"),
    }
    /// LLVM forms `llvm.umul.with.overflow`, which NVVM does not compile. Measured with 580.159.04 on an H100: `mad_sat` of
    /// `uint` compiles if no factor is an `OpUConvert`.
    ExtendFactorsAsPairs "extend_factors_as_pairs" {
        affected: &[(DriverId::Nvidia, Versions::ALL)],
        symptom: "the driver fails with `NVVM compilation failed` on comparisons of 64-bit products of two unsigned 32-bit \
                  integers",
        remedy: Remedy::Pass("extend_factors_as_pairs"),
    }
    /// Seen with 580.159.04 on an H200. Private arrays have a 32-bit integer for each element, because the driver's compiler
    /// crashes on some that have several elements in one.
    WidenSmallIntegers "widen_small_integers" {
        affected: &[(DriverId::Nvidia, Versions::ALL)],
        symptom: "8- and 16-bit integers that are extended to 64 bits in a loop have wrong upper bits",
        remedy: Remedy::Option("emulate_small"),
    }
    /// Seen with 580.159.04 on an H100 and an H200. Functions whose accesses to private objects all move whole 32-bit elements need
    /// no initializers: 5,000 random programs are correct without them, and sorts of private arrays take up to 28 % longer with them.
    /// The compiler crashes on 9000951, which has such arrays and others, if only the others have initializers.
    InitializePrivateVariables "initialize_private_variables" {
        affected: &[(DriverId::Nvidia, Versions::ALL)],
        symptom: "the driver's compiler crashes on some kernels with private objects that have no initializer",
        remedy: Remedy::Option("lower_to_logical_pointers"),
    }
    /// Seen with 580.159.04 on an H100 and an H200. With this row and the next, the random programs 6100209, 6100419, 6102663,
    /// 6102744, 6103377, 8001527 and 9002671 are correct, which the driver's compiler miscompiled or crashed on before. With only
    /// the next row, 6102663 and 8001527 stay wrong. Objects that calls pass are left as they are: the compiler crashes on 28500221
    /// and 28519488 if they are narrowed, and no program is known that needs it.
    NarrowPrivateElements "narrow_private_elements" {
        affected: &[(DriverId::Nvidia, Versions::ALL)],
        symptom: "private objects of 64-bit integers have wrong values if the kernel also accesses parts of these integers",
        remedy: Remedy::Option("lower_to_logical_pointers"),
    }
    /// With only the row above, 9002671 stays wrong, and the compiler crashes on 6100209, 6102744, 6104489, 9000506 and 9000951.
    /// The row concerns arrays of up to 32 elements, in functions that access parts of private elements, or elements of other
    /// sizes than 32 bits. In others, selecting takes up to 2.6 times as long (a histogram of 16 counters on an H100). Measured
    /// without effect: volatile accesses. Insufficient: only loads or only stores that select, up to 8 or up to 16 elements.
    /// Selecting by one bit of the index after the other made the programs 28131407 and 28132496 wrong. They are correct if the
    /// index is compared instead, or if one of the tests of bits is hidden from the driver; hiding other values does not help.
    SelectPrivateElements "select_private_elements" {
        affected: &[(DriverId::Nvidia, Versions::ALL)],
        symptom: "the driver's compiler crashes on some kernels that index small private arrays by variables, or gives such \
                  accesses wrong values",
        remedy: Remedy::Option("lower_to_logical_pointers"),
    }
    /// 2 of 1,000 random programs with 580.159.04 on an H100. Their local objects have 16-bit elements from which wider values
    /// are combined. Measured without effect: volatile accesses to them, and other private elements. The workaround gives such
    /// elements a word each, if the local memory of the module then fits in 16 KiB; both programs are correct with it.
    NarrowLoads "narrow_loads" {
        affected: &[(DriverId::Nvidia, Versions::ALL)],
        symptom: "8- and 16-bit values that a loop loads from local memory and extends to 64 bits are sometimes wrong",
        remedy: Remedy::Option("lower_to_logical_pointers"),
    }
    /// 4 of 10,500 random programs with 580.159.04 on an H200: their remainders and quotients of unsigned vectors have masked
    /// components, and they are correct if only these instructions are split. The programs 8001527 and 9002671 stay wrong on an
    /// H100.
    SplitVectorDivisions "split_vector_divisions" {
        affected: &[(DriverId::Nvidia, Versions::ALL)],
        symptom: "divisions and remainders of vectors of integers sometimes have wrong components",
        remedy: Remedy::Pass("split_vector_divisions"),
    }
    /// The random program 27113620 with 580.159.04 on an H100, reduced to a case (`devices/nvidia`). Its module is correct if
    /// each condition has a selection of its own. Measured without effect: one selection as an operand of the other, negation of
    /// selected ones, and conjunctions and selections that are split into scalars.
    SelectedConjunctions "selected_conjunctions" {
        affected: &[(DriverId::Nvidia, Versions::ALL)],
        symptom: "bytes that a conjunction of two comparisons selects are combined and compared again in a loop, with the wrong \
                  result",
        remedy: Remedy::Pass("split_selected_conjunctions"),
    }
    /// The random program 28134587 with 580.159.04 on an H100 and an H200: a loop over 8 elements of a local array runs 17 times.
    /// Its module is correct if the sums of indices have the decoration `NoSignedWrap`. It is also correct if a comparison of the
    /// loop is unsigned or negated, or if the loop's hint is left out; that need not hold for other programs.
    WrappingIndices "wrapping_indices" {
        affected: &[(DriverId::Nvidia, Versions::ALL)],
        symptom: "a loop from one pointer into local memory to another sometimes runs too often",
        remedy: Remedy::Option("lower_to_logical_pointers"),
    }
    /// 21 of 5,000 random programs with 580.159.04 on an H100, which are correct without the execution mode. All of them divide
    /// 64-bit integers by `expand_int64_division`. The driver rounds to nearest without it.
    OmitRoundingMode "omit_rounding_mode" {
        affected: &[(DriverId::Nvidia, Versions::ALL)],
        symptom: "if the module has the execution mode `RoundingModeRTE`, 64-bit integers that are divided by floating-point \
                  estimates sometimes have wrong quotients",
        remedy: Remedy::Option("emit"),
    }
    /// 2 of 41,700 random programs with 580.159.04 on an H100 and an H200, whose modules have no undefined behavior: 27111543
    /// and 28537354. The compiler crashes on the first one without optimization (`-O0`), without workarounds, without any one of
    /// the passes, and if no loop requests unrolling, but not with bounds checks (`--checked`). The module of its reduced source
    /// compiles if no loop requests unrolling, and if its two loads of `uint4` are left out. The second one compiles without
    /// optimization, without workarounds, and if no loop requests unrolling. Measured without effect: volatile accesses to private
    /// objects, initializers for them, no remainders, and `VK_PIPELINE_CREATE_DISABLE_OPTIMIZATION_BIT`.
    CompilerCrash "compiler_crash" {
        affected: &[(DriverId::Nvidia, Versions::ALL)],
        symptom: "the driver's compiler crashes on very few kernels",
        remedy: Remedy::None,
    }
    /// 2 of 42,500 random programs with 580.159.04 on an H200. 28533890: with a local size of 1 in dimension 1, a store to
    /// `p[((long)get_local_id(1) >> get_group_id(1)) & 15]` after a load of `p[get_num_groups(2) & 15]` goes to the address of
    /// the load. It is correct with a 32-bit shift, without a shift, if the index of the load is a constant, without the load,
    /// and if the shifted number is an argument of the kernel, which the driver does not know to be zero. 28562236 does the same with
    /// a left shift by `get_global_size(2)`. Both are correct if 64-bit shifts by variable counts have 32 bits: right shifts of
    /// extended numbers, and left shifts of IDs and sizes. Shifts by constants, which are frequent, stay as they are, because the
    /// driver folds those of zero.
    ///
    /// A third one (2186 of those with loops that count by values) has the index `(0x800000000 << p[1]) & 15`, which is zero whatever
    /// the count is; `simplify` replaces such indices for all drivers.
    ShiftedZeros "shifted_zeros" {
        affected: &[(DriverId::Nvidia, Versions::ALL)],
        symptom: "a store whose index is a 64-bit shift of a number that the driver knows to be zero goes to the address of an \
                  earlier load",
        remedy: Remedy::Pass("narrow_shifts"),
    }
    /// 2 of 42,000 random programs with 580.159.04 on an H200 (5,000 from 28538478, the others from 28545500), and 2 of 12,000 whose
    /// loops count by values (from 1). Their modules have no undefined behavior, and all are correct without workarounds. 28539317 is
    /// wrong with `narrow_loads`, also if that is the only workaround: in the machine code, `a && (b || c)` is `a && !(b && c)`, as if
    /// two negations were lost. 28543406 is correct without any one of `expand_int64_division`, `expand_int64_conversions`,
    /// `select_private_elements` and `omit_rounding_mode`, and wrong without any other one. Of those that count, 230 is correct if
    /// `select_private_elements` is left out, and 768 if `narrow_private_elements` is. More programs need each workaround than are
    /// wrong because of it.
    RareWrongResults "rare_wrong_results" {
        affected: &[(DriverId::Nvidia, Versions::ALL)],
        symptom: "very few kernels have wrong results, depending on the combination of workarounds; the cause is not known",
        remedy: Remedy::None,
    }
    /// 10 of 408,000 launches with 580.159.04 on an H200, in 4 processes with 16 threads each, which build a kernel, launch it once
    /// with an argument of their own, and destroy it. The wrong results have this argument and the constants of a kernel that
    /// another thread destroyed before; a second launch is right. Also without a cache of pipelines (2 of 191,000), and in
    /// Khronos' `vec_align` tests. In a second run, 7 of 355,000 were wrong without the workaround and none of 342,000 with it.
    /// If threads also create pipelines one after another, none of 308,000 are wrong, and the program is 10 % slower.
    StaleKernelCode "stale_kernel_code" {
        affected: &[(DriverId::Nvidia, Versions::ALL)],
        symptom: "a new kernel sometimes executes the code of a destroyed kernel, if one thread creates or destroys pipelines \
                  while another submits commands",
        remedy: Remedy::Runtime("does not do both at the same time"),
    }
}

impl DriverBug {
    /// The row of the table.
    pub fn row(self) -> &'static Row {
        &ROWS[self as usize]
    }

    /// The name, in snake case.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// The symptom, in one sentence without a full stop.
    pub fn symptom(self) -> &'static str {
        self.row().symptom
    }

    /// The bug with this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|bug| bug.name() == name)
    }

    /// The bug that this pass works around, if the pass has no other purpose.
    pub fn of_pass(pass: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|bug| matches!(bug.remedy(), Remedy::Pass(name) if name == pass))
    }

    /// Whether Kiln works around it, in modules or in the runtime.
    pub const fn has_workaround(self) -> bool {
        !matches!(self.remedy(), Remedy::None)
    }

    /// Whether the compiler can work around it.
    pub const fn concerns_modules(self) -> bool {
        matches!(self.remedy(), Remedy::Pass(_) | Remedy::Option(_))
    }

    /// Whether a driver has it.
    pub fn affects(self, driver: Driver) -> bool {
        self.row().affected.iter().any(|(id, versions)| *id == driver.id && versions.contains(driver.version))
    }

    /// The bugs of a driver, in the order of the table.
    pub fn for_driver(driver: Driver) -> impl Iterator<Item = Self> {
        Self::ALL.iter().copied().filter(move |bug| bug.affects(driver))
    }
}

/// A set of bugs that a module works around.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Workarounds(u64);

const _: () = assert!(DriverBug::ALL.len() <= 64, "the set has 64 bits");

impl Workarounds {
    /// No workaround.
    pub const NONE: Self = Self(0);

    /// Every workaround, for modules that run on unknown drivers.
    pub const ALL: Self = {
        let (mut set, mut index) = (Self::NONE, 0);
        while index < DriverBug::ALL.len() {
            set = set.with(DriverBug::ALL[index]);
            index += 1;
        }
        set
    };

    /// The workarounds that a driver needs.
    pub fn for_driver(driver: Driver) -> Self {
        DriverBug::for_driver(driver).fold(Self::NONE, Self::with)
    }

    /// Parses `all`, `none`, or names separated by commas. The error is a message for the user.
    pub fn parse(text: &str) -> Result<Self, String> {
        match text {
            "all" => return Ok(Self::ALL),
            "none" => return Ok(Self::NONE),
            _ => {}
        }
        text.split(',').try_fold(Self::NONE, |set, name| {
            let bug = DriverBug::parse(name.trim()).filter(|bug| bug.concerns_modules());
            bug.map(|bug| set.with(bug)).ok_or_else(|| {
                let known: Vec<_> = Self::ALL.iter().map(DriverBug::name).collect();
                format!(
                    "there is no workaround `{}`; use `all`, `none`, or a list of {}",
                    name.trim(),
                    known.join(", ")
                )
            })
        })
    }

    /// The set with a bug added, if the compiler can work around it.
    #[must_use]
    pub const fn with(self, bug: DriverBug) -> Self {
        if bug.concerns_modules() { Self(self.0 | 1 << bug as u32) } else { self }
    }

    /// The members that the other set does not contain.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Whether a bug is in the set.
    pub const fn contains(self, bug: DriverBug) -> bool {
        self.0 >> bug as u32 & 1 != 0
    }

    /// Whether the set is empty.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The members, in the order of the table.
    pub fn iter(self) -> impl Iterator<Item = DriverBug> {
        DriverBug::ALL.iter().copied().filter(move |bug| self.contains(*bug))
    }
}

impl fmt::Display for Workarounds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            return f.write_str("none");
        }
        for (index, bug) in self.iter().enumerate() {
            write!(f, "{}{}", if index == 0 { "" } else { "," }, bug.name())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_in_order_and_have_unique_names() {
        for (row, &bug) in ROWS.iter().zip(DriverBug::ALL) {
            assert_eq!(bug.row(), row);
            assert_eq!((row.bug, row.remedy), (bug, bug.remedy()));
            assert_eq!(DriverBug::parse(row.name), Some(bug));
            assert!(!row.affected.is_empty() && !row.symptom.ends_with('.'), "{}", row.name);
            assert!(row.name.chars().all(|it| it.is_ascii_lowercase() || it.is_ascii_digit() || it == '_'));
        }
        assert_eq!(ROWS.len(), DriverBug::ALL.len());
    }

    #[test]
    fn workarounds_follow_from_the_driver() {
        let workarounds_for = |text: &str| Workarounds::for_driver(Driver::parse(text).unwrap()).to_string();
        assert_eq!(
            workarounds_for("lavapipe 22.3.6"),
            "freeze_loop_exit_values,compare_as_unsigned,early_group_end,round_doubles"
        );
        assert_eq!(
            workarounds_for("lavapipe 23.2.1"),
            "freeze_loop_exit_values,compare_as_unsigned,early_group_end,round_doubles"
        );
        assert_eq!(workarounds_for("lavapipe 23.3.0"), "compare_as_unsigned,early_group_end,round_doubles");
        assert_eq!(workarounds_for("lavapipe 25.0.7"), "round_doubles");
        assert_eq!(
            workarounds_for("swiftshader 5.0.0"),
            "freeze_loop_exit_values,hide_constant_arguments,convert_in_halves"
        );
        assert_eq!(
            workarounds_for("nvidia 580.159.4"),
            "expand_int64_division,expand_int64_conversions,extend_factors_as_pairs,widen_small_integers,\
             initialize_private_variables,narrow_private_elements,select_private_elements,narrow_loads,\
             split_vector_divisions,selected_conjunctions,wrapping_indices,\
             omit_rounding_mode,shifted_zeros"
        );
    }

    #[test]
    fn sets_round_trip() {
        for set in [
            Workarounds::ALL,
            Workarounds::NONE,
            Workarounds::for_driver(Driver::parse("swiftshader 5").unwrap()),
        ] {
            assert_eq!(Workarounds::parse(&set.to_string()), Ok(set));
        }
        assert_eq!(Workarounds::parse("all"), Ok(Workarounds::ALL));
        let unknown = Workarounds::parse("freeze_loop_exit_values,loop_iteration_limit").unwrap_err();
        assert!(unknown.starts_with("there is no workaround `loop_iteration_limit`"), "{unknown}");
        for bug in [DriverBug::LoopIterationLimit, DriverBug::StaleKernelCode] {
            assert!(!Workarounds::NONE.with(bug).contains(bug));
        }
    }
}
