//! Prepares a function of the library. Only `cargo xtask library` runs it; compilations use the stored results.

use kiln_ir::{FuncId, Function, Module};
use kiln_session::Options;

use crate::{
    contract_products::make_exact,
    dead_code::dead_code,
    inline_calls::{inline_all, take},
    promote::promote,
    remove_redundant_block_params::remove_redundant_block_params,
    simplify::simplify,
    structure_exits::structure_exits,
};

/// A function of a module that `lower` has made from the library's sources, with all calls inlined. Its floating-point
/// operations are exact, because the error bound of the function depends on them.
pub fn library_body(mut module: Module, wanted: FuncId) -> Function {
    debug_assert!(module.vars.is_empty(), "functions of the library have no objects with static lifetime");
    let options = Options::default();
    // Promote variables before and after inlining, to keep functions small.
    module.functions.iter_mut().for_each(|function| promote(function, &options));
    let wanted = inline_all(&mut module, wanted);
    let mut function = take(&mut module, wanted);
    structure_exits(&mut function, &options);
    promote(&mut function, &options);
    dead_code(&mut function, &options);
    make_exact(&mut function);
    // The passes before inlining, which `Function::is_simplified` skips.
    remove_redundant_block_params(&mut function, &options);
    dead_code(&mut function, &options);
    simplify(&mut function, &options);
    function
}
