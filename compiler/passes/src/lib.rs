//! Transforms the IR between lowering and emission. The lists below are the pass order, with the reason for each
//! position.
//!
//! A pass is one file and one function. After each pass the module can be printed, parsed and verified.
//!
//! ```
//! use kiln_passes::Providers;
//! use kiln_session::{Options, diag::Sink};
//!
//! let text = "function #0 \"f\"(%0: i32) -> i32 {\n  %1: i32 = add %0, %0\n  return %0\n}\n";
//! let mut module = kiln_ir::parse(text).expect("valid text");
//! let (options, mut sink) = (Options::default(), Sink::default());
//! kiln_passes::apply("dead_code", &mut module, &options, &Providers::default(), &mut sink);
//! assert!(!module.to_string().contains("add"));
//! ```

mod addresses;
mod bind_arguments;
mod block_params;
mod check_bounds;
mod compare_as_unsigned;
mod contract_products;
mod convert_in_halves;
mod copy_code;
mod counted_loops;
mod dead_code;
mod emulate_int64;
mod emulate_small;
mod expand_memory;
mod extend_factors_as_pairs;
mod form_half_loads_and_stores;
mod freeze_loop_exit_values;
mod hide_constant_arguments;
mod hoist_loads;
mod if_to_select;
mod infer_address_spaces;
mod inline_calls;
mod legalize_atomics;
mod library_body;
mod limit;
mod load_constants;
mod lower_addresses;
mod lower_builtins;
mod lower_min_max;
mod lower_printf;
mod lower_remainders;
mod lower_to_logical_pointers;
mod lower_work_items;
mod mark_nonprivate_accesses;
mod narrow_arithmetic;
mod narrow_comparisons;
mod narrow_divisions;
mod narrow_shifts;
mod offset_set;
mod order_operands;
mod origins;
mod promote;
mod ranges;
mod reach;
mod reject_unsupported;
mod remove_redundant_accesses;
mod remove_redundant_block_params;
mod request_unrolling;
mod rewrite;
mod separate_constant_offsets;
mod simplify;
mod simplify_continuing;
mod specialize_variable_args;
mod split_private_objects;
mod split_rotations;
mod split_selected_conjunctions;
mod split_vector_divisions;
mod split_vectors;
mod structure_exits;
mod terminate_at_traps;
mod unroll_array_loops;
mod unroll_counted_loops;
mod unroll_loops;
mod vectorize_accesses;

use kiln_builtins::Lowering;
use kiln_ir::{self as ir, BuiltinParam, Function, Module};
use kiln_session::{Options, diag::Sink};
use kiln_syntax::Span;
use kiln_vocabulary::{driver_bugs::DriverBug, opencl::Environment, precision::Precision, target::Target};

pub use library_body::library_body;

use Pass::{Each, Early, Linking, Local};

/// A pass.
enum Pass {
    /// Transforms each function by itself, and never fails.
    Each(fn(&mut Function, &Options)),
    /// Like `Each`, for functions that are not simplified yet.
    Early(fn(&mut Function, &Options)),
    /// Transforms the module, and needs only the options.
    Local(fn(&mut Module, &Options, &mut Sink)),
    /// Links functions of the library.
    Linking(fn(&mut Module, &Options, &Providers, &mut Sink)),
}

impl Pass {
    fn run(&self, module: &mut Module, options: &Options, providers: &Providers, sink: &mut Sink) {
        match self {
            Each(_) | Early(_) => module.functions.iter_mut().for_each(|it| self.run_on(it, options)),
            Local(pass) => pass(module, options, sink),
            Linking(pass) => pass(module, options, providers, sink),
        }
    }

    /// Whether it transforms each function by itself.
    const fn is_per_function(&self) -> bool {
        matches!(self, Each(_) | Early(_))
    }

    /// Runs a pass that transforms each function by itself.
    fn run_on(&self, function: &mut Function, options: &Options) {
        match self {
            Each(pass) => pass(function, options),
            Early(pass) if !function.is_simplified => pass(function, options),
            Early(_) | Local(_) | Linking(_) => {}
        }
    }
}

/// Functions of packages that this one must not depend on. The driver passes them.
pub struct Providers {
    /// Whether the emitter has an instruction for a built-in function with these parameters. If the last argument is true,
    /// the instruction may be less accurate.
    pub has_instruction: fn(Lowering, &Target, &[BuiltinParam], bool) -> bool,
    /// Finds the library function for a built-in function and the types of its parameters: the result of `library_body`,
    /// with this position. The flag allows less accurate functions.
    pub library_function: fn(&str, &str, bool, Precision, Span) -> Option<Function>,
}

/// No instructions and no library, for modules that call no built-in functions.
impl Default for Providers {
    fn default() -> Self {
        Self { has_instruction: |_, _, _, _| false, library_function: |_, _, _, _, _| None }
    }
}

/// A callback that gets the name of each completed pass, and the module.
pub type AfterPass<'a> = &'a mut dyn FnMut(&str, &Module);

/// The passes for Vulkan, with the names that `--emit=ir-after=` accepts.
const VULKAN: &[(&str, Pass)] = &[
    // First, because other passes assume the vectors of OpenCL C.
    ("split_unusual_vectors", Each(split_vectors::split_unusual_vectors)),
    // Early, because it inserts calls and other code that later passes transform.
    ("lower_builtins", Linking(lower_builtins::lower_builtins)),
    // While scalars and vectors of all widths can still be compared.
    ("lower_min_max", Each(lower_min_max::lower_min_max)),
    // Shrink callees before inlining duplicates them. The bodies of library functions have been through these passes.
    ("promote_early", Early(promote::promote)),
    (
        "remove_redundant_block_params_early",
        Early(remove_redundant_block_params::remove_redundant_block_params),
    ),
    ("dead_code_early", Early(dead_code::dead_code)),
    ("simplify_early", Early(simplify::simplify)),
    ("renumber_early", Early(renumber)),
    // Early, so that the origin of every pointer is visible at its uses: local and private memory has no addresses
    // here.
    ("inline_calls", Local(inline_calls::inline_calls)),
    // After inlining. Before all passes that add jumps and loops.
    ("simplify_continuing", Each(simplify_continuing::simplify_continuing)),
    // Right after inlining, when the remaining functions are final. Copies functions for callers with different
    // private objects.
    ("specialize_variable_args", Local(specialize_variable_args::specialize_variable_args)),
    // After inlining, because a trap must leave the kernel. Before `structure_exits`, because it adds jumps.
    ("terminate_at_traps", Local(terminate_at_traps::terminate_at_traps)),
    // Before `structure_exits`, because it adds jumps.
    ("unroll_loops", Local(unroll_loops::unroll_loops)),
    // Before `structure_exits`, because they create blocks with exits. Before the passes that turn arrays into values.
    ("unroll_array_loops", Each(unroll_array_loops::unroll_array_loops)),
    ("unroll_counted_loops", Each(unroll_counted_loops::unroll_counted_loops)),
    // SPIR-V's structured control flow has fewer kinds of exits than C. Before `promote`, because it creates
    // variables.
    ("structure_exits", Each(structure_exits::structure_exits)),
    // Before `expand_memory`, because loops that copy whole structures would join all their parts.
    ("split_private_objects", Each(split_private_objects::split_private_objects)),
    // Before `promote`, because copies of whole structures would hide accesses to their members.
    ("expand_memory", Each(expand_memory::expand_memory)),
    // Turns pointers in variables into values whose origin can be followed.
    ("promote", Each(promote::promote)),
    // Dead or redundant block parameters would keep their operands alive.
    ("remove_redundant_block_params", Each(remove_redundant_block_params::remove_redundant_block_params)),
    ("dead_block_params", Each(dead_code::dead_code)),
    // After the cleanup, when both branches of an `if` may contain nothing but values.
    ("if_to_select", Each(if_to_select::if_to_select)),
    // After `promote`, so that pointers are followed. Before `simplify`, which merges the bases.
    ("separate_constant_offsets", Each(separate_constant_offsets::separate_constant_offsets)),
    // Constants that are available now decide which code remains for later passes.
    ("simplify", Each(simplify::simplify)),
    // While queries of work-items show that they fit in 32 bits.
    ("narrow_divisions", Each(narrow_divisions::narrow_divisions)),
    // After indices have become constants. Before any pass collects the variables in use.
    ("load_constants", Local(load_constants::load_constants)),
    // The passes above have removed most of the original instructions.
    ("renumber", Each(renumber)),
    // Before any pass queries the address space of an access.
    ("infer_address_spaces", Local(infer_address_spaces::infer_address_spaces)),
    // While accesses still have their address space and match the source. Its table is a program-scope variable.
    ("check_bounds", Local(check_bounds::check_bounds)),
    // Before accesses are marked, because it adds synchronizing operations.
    ("legalize_atomics", Local(legalize_atomics::legalize_atomics)),
    // After all synchronizing operations exist, while accesses still have their address space.
    ("reject_unsupported", Local(reject_unsupported::reject_unsupported)),
    // While accesses still have their address space.
    ("mark_nonprivate_accesses", Local(mark_nonprivate_accesses::mark_nonprivate_accesses)),
    // After accesses are marked, because only the host reads the printf buffer. Before `bind_arguments`, which
    // assigns the buffer's address.
    ("lower_printf", Local(lower_printf::lower_printf)),
    // After all passes that reference program-scope variables. Creates the local variables for pointer arguments to
    // local memory.
    ("bind_arguments", Local(bind_arguments::bind_arguments)),
    // After `bind_arguments` has assigned the launch state to push constants.
    ("lower_work_items", Local(lower_work_items::lower_work_items)),
    // After all passes that create local and private objects.
    ("lower_to_logical_pointers", Local(lower_to_logical_pointers::lower_to_logical_pointers)),
    // Arrays that are only indexed by constants need no memory. Before `freeze_loop_exit_values`, which must see the
    // same values as a driver that promotes such arrays.
    ("promote_again", Each(promote::promote)),
    // Pointers have become indices, and variables have become values.
    ("renumber_again", Each(renumber)),
    // After accesses are marked. While pointers still have bases and offsets.
    ("remove_redundant_accesses", Each(remove_redundant_accesses::remove_redundant_accesses)),
    // After copies through private objects have become values. While pointers still have bases and offsets.
    ("vectorize_accesses", Each(vectorize_accesses::vectorize_accesses)),
    // After accesses are combined.
    ("hoist_loads", Each(hoist_loads::hoist_loads)),
    // After local and private pointers are gone.
    ("lower_addresses", Each(lower_addresses::lower_addresses)),
    // After pointers have become indices of 32 bits. Before `emulate_int64` lowers 64-bit arithmetic to pairs.
    ("narrow_arithmetic", Each(narrow_arithmetic::narrow_arithmetic)),
    // After all passes that create 64-bit comparisons. Before `emulate_int64` lowers those to pairs.
    ("narrow_comparisons", Each(narrow_comparisons::narrow_comparisons)),
    // After addresses have become integers that can be rounded down to words. Before `emulate_int64` lowers those to
    // pairs.
    ("emulate_small", Local(emulate_small::emulate_small)),
    // After all passes that compute with addresses.
    ("emulate_int64", Local(emulate_int64::emulate_int64)),
    // After the emulation of missing integer types, which has its own lowering of remainders.
    ("lower_remainders", Each(lower_remainders::lower_remainders)),
    // After all passes that handle whole vectors.
    ("split_vectors", Each(split_vectors::split_vectors)),
    // Common subexpressions and constants that the passes above have created.
    ("simplify_again", Each(simplify::simplify)),
    // `promote_again` has turned the variables of `lower_to_logical_pointers` into values.
    (
        "remove_redundant_block_params_again",
        Each(remove_redundant_block_params::remove_redundant_block_params),
    ),
    ("if_to_select_again", Each(if_to_select::if_to_select)),
    // Selections with equal operands hid some widened values.
    ("narrow_comparisons_again", Each(narrow_comparisons::narrow_comparisons)),
    // After all passes that create floating-point operations.
    ("contract_products", Each(contract_products::contract_products)),
    // After all passes that recognize shifts.
    ("split_rotations", Each(split_rotations::split_rotations)),
    // Workarounds, which run only for targets that request them. After all passes that could undo them:
    // `narrow_comparisons` would narrow the comparisons of the first again, and the last must see every loop.
    ("compare_as_unsigned", Each(compare_as_unsigned::compare_as_unsigned)),
    ("extend_factors_as_pairs", Each(extend_factors_as_pairs::extend_factors_as_pairs)),
    ("split_vector_divisions", Each(split_vector_divisions::split_vector_divisions)),
    ("split_selected_conjunctions", Each(split_selected_conjunctions::split_selected_conjunctions)),
    ("narrow_shifts", Each(narrow_shifts::narrow_shifts)),
    ("convert_in_halves", Each(convert_in_halves::convert_in_halves)),
    ("hide_constant_arguments", Each(hide_constant_arguments::hide_constant_arguments)),
    ("freeze_loop_exit_values", Each(freeze_loop_exit_values::freeze_loop_exit_values)),
    // Remove what other passes have left unused.
    ("dead_code", Each(dead_code::dead_code)),
    // After all passes that create operations.
    ("order_operands", Each(order_operands::order_operands)),
    // Last, because it measures loops.
    ("request_unrolling", Each(request_unrolling::request_unrolling)),
];

/// The passes for the OpenCL environment, which has addresses, calls and unrestricted control flow.
const OPENCL: &[(&str, Pass)] = &[
    ("split_unusual_vectors", Each(split_vectors::split_unusual_vectors)),
    ("lower_builtins", Linking(lower_builtins::lower_builtins)),
    // Before `promote`, because it moves the variables of callees into their callers.
    ("inline_over_parameter_limit", Local(inline_calls::inline_over_parameter_limit)),
    // Before `terminate_at_traps`, because a trap must not leave the kernel from a `continuing` block.
    ("simplify_continuing", Each(simplify_continuing::simplify_continuing)),
    ("terminate_at_traps", Local(terminate_at_traps::terminate_at_traps)),
    ("promote", Each(promote::promote)),
    ("remove_redundant_block_params", Each(remove_redundant_block_params::remove_redundant_block_params)),
    // After `promote`, so that uses are visible. Before `reject_unsupported`, which checks for half arithmetic.
    ("form_half_loads_and_stores", Local(form_half_loads_and_stores::form_half_loads_and_stores)),
    ("legalize_atomics", Local(legalize_atomics::legalize_atomics)),
    ("reject_unsupported", Local(reject_unsupported::reject_unsupported)),
    ("dead_block_params", Each(dead_code::dead_code)),
    ("if_to_select", Each(if_to_select::if_to_select)),
    ("load_constants", Local(load_constants::load_constants)),
    ("simplify", Each(simplify::simplify)),
    ("dead_code", Each(dead_code::dead_code)),
];

/// Renumbers blocks, instructions and values, dropping unreachable ones.
fn renumber(function: &mut Function, _: &Options) {
    function.renumber();
}

/// Whether the pass runs for the target. A workaround for a driver bug runs only if the target requests it.
fn is_needed(pass: &str, target: &Target) -> bool {
    DriverBug::of_pass(pass).is_none_or(|bug| target.workarounds.contains(bug))
}

/// Runs all passes for the target. Calls `after_pass` after each of them.
pub fn run(
    module: &mut Module,
    options: &Options,
    providers: &Providers,
    sink: &mut Sink,
    mut after_pass: Option<AfterPass<'_>>,
) {
    let list = match options.target.environment {
        Environment::Vulkan => VULKAN,
        Environment::OpenCl => OPENCL,
    };
    let mut rest: Vec<_> = list.iter().filter(|(name, _)| is_needed(name, &options.target)).collect();
    rest.reverse();
    while let Some((name, pass)) = rest.pop() {
        if pass.is_per_function() && after_pass.is_none() && !cfg!(debug_assertions) {
            // Function by function through all passes up to the next one on the module: functions stay in the cache.
            let next = rest.iter().rposition(|(_, next)| !next.is_per_function()).map_or(0, |next| next + 1);
            let others = rest.split_off(next);
            for function in module.functions.iter_mut() {
                pass.run_on(function, options);
                others.iter().rev().for_each(|(_, other)| other.run_on(function, options));
            }
            continue;
        }
        pass.run(module, options, providers, sink);
        if sink.has_errors() {
            return;
        }
        if let Some(after_pass) = &mut after_pass {
            after_pass(name, module);
        }
        ir::check_after(module, name);
    }
}

/// Runs the pass with this name. Returns `None` if it does not exist.
pub fn apply(
    name: &str,
    module: &mut Module,
    options: &Options,
    providers: &Providers,
    sink: &mut Sink,
) -> Option<()> {
    let (_, pass) = VULKAN.iter().chain(OPENCL).find(|(known, _)| *known == name)?;
    pass.run(module, options, providers, sink);
    Some(())
}

/// The names of all passes.
pub fn names() -> impl Iterator<Item = &'static str> {
    VULKAN.iter().chain(OPENCL).map(|(name, _)| *name)
}
