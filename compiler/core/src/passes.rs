//! What is done to the IR between lowering and emission: the list, in order, with the reason for each position.
//!
//! A pass is one file and one function. Each leaves the module such that it can be printed, parsed and verified.

mod bind_arguments;
mod check_bounds;
mod choose_extremes;
mod compare_as_unsigned;
mod dead_code;
mod emulate_int64;
mod emulate_small;
mod expand_memory;
mod express_builtins;
mod forward_joins;
mod freeze_loop_exit_values;
mod inline_calls;
mod joins;
mod keep_halves_in_memory;
mod layout_vars;
mod leave_at_traps;
mod legalize_atomics;
mod load_constants;
mod lower_addresses;
mod lower_printf;
mod lower_remainders;
mod lower_work_items;
mod mark_shared;
mod narrow_comparisons;
mod origins;
mod promote;
mod refuse_missing;
mod refuse_opencl_only;
mod rewrite;
mod select_values;
mod simplify;
mod specialize_calls;
mod specialize_spaces;
mod split_vectors;
mod structure_exits;
mod unroll_loops;

use crate::{
    diag::Sink,
    faults::Fault,
    ir::{self, Module},
    opencl::Environment,
    session::Options,
    target::Target,
};

/// A pass.
type Pass = fn(&mut Module, &Options, &mut Sink);

/// The passes for Vulkan, each by the name that `--emit=ir-after=` knows it by.
const VULKAN: &[(&str, Pass)] = &[
    // Before anything looks at what only the OpenCL environment has.
    ("refuse_opencl_only", refuse_opencl_only::refuse_opencl_only),
    // Early, because what it puts in is calls and all else.
    ("express_builtins", express_builtins::express_builtins),
    // While scalars and vectors of all widths are still there to be compared.
    ("choose_extremes", choose_extremes::choose_extremes),
    // What is little now is little in every copy that the next makes of it.
    ("promote_early", promote::promote),
    ("forward_joins_early", forward_joins::forward_joins),
    ("dead_code_early", dead_code::dead_code),
    ("simplify_early", simplify::simplify),
    ("renumber_early", renumber),
    // Early, so that every pointer's origin is in sight of its use: local and private memory has no addresses here.
    ("inline_calls", inline_calls::inline_calls),
    // As soon as it is known which functions stay: of what they do not fit, there is a copy after all.
    ("specialize_calls", specialize_calls::specialize_calls),
    // After inlining, as it is the kernel that is left; before ways out get the form that is wanted of them.
    ("leave_at_traps", leave_at_traps::leave_at_traps),
    // Before jumps get the form that is wanted of them, as it makes more.
    ("unroll_loops", unroll_loops::unroll_loops),
    // SPIR-V's structured control flow has fewer ways out than C has. It makes variables, so it precedes `promote`.
    ("structure_exits", structure_exits::structure_exits),
    // Before variables are looked at: copies of structures would hide what is done with their members.
    ("expand_memory", expand_memory::expand_memory),
    // Pointers kept in variables become values whose origin can be followed.
    ("promote", promote::promote),
    // Values that join for nobody, or that are the same on all ways, would keep others alive.
    ("forward_joins", forward_joins::forward_joins),
    ("dead_joins", dead_code::dead_code),
    // When both ways of an `if` have nothing left but values.
    ("select_values", select_values::select_values),
    // What is constant now decides which code is left for the others.
    ("simplify", simplify::simplify),
    // When indices are constants; before anything asks which variables are used.
    ("load_constants", load_constants::load_constants),
    // Most of what there was is gone by now.
    ("renumber", renumber),
    // Before anything asks for the space that an access touches.
    ("specialize_spaces", specialize_spaces::specialize_spaces),
    // While accesses tell their space and are what the source says; its table is a program-scope variable.
    ("check_bounds", check_bounds::check_bounds),
    // Before accesses are marked: it adds operations that synchronise.
    ("legalize_atomics", legalize_atomics::legalize_atomics),
    // As soon as all that synchronises is there, while accesses still tell their address space.
    ("refuse_missing", refuse_missing::refuse_missing),
    // While accesses still tell their address space.
    ("mark_shared", mark_shared::mark_shared),
    // After accesses are marked, because nobody but the host reads what it writes; it names an address that is bound next.
    ("lower_printf", lower_printf::lower_printf),
    // After all that names program-scope variables; makes the local variables that arguments are.
    ("bind_arguments", bind_arguments::bind_arguments),
    // After the launch's state has its place.
    ("lower_work_items", lower_work_items::lower_work_items),
    // After all that makes local and private objects.
    ("layout_vars", layout_vars::layout_vars),
    // Arrays of which only elements with constant indices are used need no memory. Before `freeze_loop_exit_values`, which
    // must see the values that a driver would find, too.
    ("promote_again", promote::promote),
    // Pointers have become indices, and variables values.
    ("renumber_again", renumber),
    // After the local and private pointers are gone.
    ("lower_addresses", lower_addresses::lower_addresses),
    // After all that makes comparisons of 64 bits; before those are done with pairs.
    ("narrow_comparisons", narrow_comparisons::narrow_comparisons),
    // After addresses are numbers that can be rounded to words; before those become pairs.
    ("emulate_small", emulate_small::emulate_small),
    // After all that computes with addresses.
    ("emulate_int64", emulate_int64::emulate_int64),
    // After the emulation of integer types that the target lacks, which computes some remainders another way.
    ("lower_remainders", lower_remainders::lower_remainders),
    // After all that looks at vectors: what is left is done component by component.
    ("split_vectors", split_vectors::split_vectors),
    // What the others have made has much in common.
    ("simplify_again", simplify::simplify),
    // Variables of `layout_vars` have become values.
    ("forward_joins_again", forward_joins::forward_joins),
    ("select_values_again", select_values::select_values),
    // Selections that always choose the same hid what was widened.
    ("narrow_comparisons_again", narrow_comparisons::narrow_comparisons),
    // Workarounds, which run only for targets that request them. After all passes that could undo them: the first would be
    // narrowed again, the second must see every loop.
    ("compare_as_unsigned", compare_as_unsigned::compare_as_unsigned),
    ("freeze_loop_exit_values", freeze_loop_exit_values::freeze_loop_exit_values),
    // Last, for what the others have left behind.
    ("dead_code", dead_code::dead_code),
];

/// The OpenCL environment has addresses, calls and free control flow.
const OPENCL: &[(&str, Pass)] = &[
    ("express_builtins", express_builtins::express_builtins),
    // They make functions part of others, whose variables are looked at next.
    ("inline_crowded", inline_calls::inline_crowded),
    ("leave_at_traps", leave_at_traps::leave_at_traps),
    ("promote", promote::promote),
    ("forward_joins", forward_joins::forward_joins),
    // When variables have become values, so that uses are seen; before anything asks for half arithmetic.
    ("keep_halves_in_memory", keep_halves_in_memory::keep_halves_in_memory),
    ("legalize_atomics", legalize_atomics::legalize_atomics),
    ("refuse_missing", refuse_missing::refuse_missing),
    ("dead_joins", dead_code::dead_code),
    ("select_values", select_values::select_values),
    ("load_constants", load_constants::load_constants),
    ("simplify", simplify::simplify),
    ("dead_code", dead_code::dead_code),
];

/// What passes have dropped is forgotten.
fn renumber(module: &mut Module, _: &Options, _: &mut Sink) {
    for function in module.functions.iter_mut() {
        function.renumber();
    }
}

/// Whether a target needs a pass: one that works around a fault of a driver runs only if the target requests that.
fn is_needed(pass: &str, target: &Target) -> bool {
    Fault::of_pass(pass).is_none_or(|fault| target.workarounds.contains(fault))
}

/// Prepares a module for the target. `after` is called with the name of each pass that has run.
pub fn run(module: &mut Module, options: &Options, sink: &mut Sink, after: &mut dyn FnMut(&str, &Module)) {
    let list = match options.target.environment {
        Environment::Vulkan => VULKAN,
        Environment::OpenCl => OPENCL,
    };
    for (name, pass) in list.iter().filter(|(name, _)| is_needed(name, &options.target)) {
        pass(module, options, sink);
        if sink.has_errors() {
            return;
        }
        after(name, module);
        ir::check_after(module, name);
    }
}

/// Runs one pass, by its name, on a module. None if there is no such pass.
pub fn apply(name: &str, module: &mut Module, options: &Options, sink: &mut Sink) -> Option<()> {
    let (_, pass) = VULKAN.iter().chain(OPENCL).find(|(known, _)| *known == name)?;
    pass(module, options, sink);
    Some(())
}

/// The names of all passes.
pub fn names() -> impl Iterator<Item = &'static str> {
    VULKAN.iter().chain(OPENCL).map(|(name, _)| *name)
}
