//! IR to SPIR-V words. The only place that names rspirv.
//!
//! It decides nothing: what a target cannot express has been rewritten or refused by the passes before. Here each
//! operation has one form, and what the module must declare follows from what it uses.

mod address;
mod arithmetic;
mod assembly;
mod body;
mod control;
mod debug_info;
mod enqueue;
mod entry;
mod ext_inst;
mod globals;
mod group;
mod image;
mod initializer;
mod pipe;
mod reflection;
mod sync;
mod texel;
mod types;
mod writer;

use std::sync::Arc;

use kiln_syntax::Span;

use crate::{
    ir::{FuncId, Module},
    opencl::Environment,
    session::{MathOptions, Options},
    target::Target,
};

pub use assembly::disassemble;
pub(crate) use ext_inst::has_instruction;
use globals::Globals;
use writer::Writer;

/// Where a span stands for a debugger: a file's name, line and column.
pub(crate) type Spot = (Arc<str>, u32, u32);
/// Finds the place of a span, if it has one.
pub(crate) type Spots<'a> = &'a dyn Fn(Span) -> Option<Spot>;

/// What the functions of this folder share.
struct Emitter<'a> {
    target: &'a Target,
    math: MathOptions,
    /// Whether no function forbids what the OpenCL environment may do otherwise: to contract operations.
    contracts: bool,
    module: &'a Module,
    /// Where lines are wanted.
    spots: Option<Spots<'a>>,
    writer: Writer,
    globals: Globals,
}

/// Emits a module that the target's passes have prepared, with the lines of its source if they are to be found.
pub fn emit(module: &Module, options: &Options, spots: Option<Spots<'_>>) -> Vec<u32> {
    let target = &options.target;
    let mut emitter = Emitter {
        target,
        math: options.math,
        contracts: true,
        module,
        spots,
        writer: Writer::new(target.spirv, options.strip),
        globals: Globals::default(),
    };
    emitter.environment();
    let order = callees_first(module);
    for &function in &order {
        emitter.declare_function(function);
    }
    for &function in &order {
        emitter.function(function);
    }
    emitter.entry_points();
    if !options.strip {
        emitter.reflection();
    }
    emitter.writer.finish()
}

impl Emitter<'_> {
    fn is_vulkan(&self) -> bool {
        self.target.environment == Environment::Vulkan
    }
}

/// Every function after those it calls: the language has no recursion.
fn callees_first(module: &Module) -> Vec<FuncId> {
    fn visit(module: &Module, id: FuncId, seen: &mut Vec<FuncId>) {
        if seen.contains(&id) {
            return;
        }
        for inst in module.functions[id].insts.iter() {
            if let crate::ir::Op::Call(callee) | crate::ir::Op::Function(callee) = inst.op {
                visit(module, callee, seen);
            }
        }
        seen.push(id);
    }
    let mut seen = Vec::new();
    for id in module.functions.ids() {
        visit(module, id, &mut seen);
    }
    seen
}
