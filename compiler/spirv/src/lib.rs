//! Emits SPIR-V words from the IR. Only this package, `kiln-verify` and `kiln-read` use rspirv.
//!
//! Makes no decisions: earlier passes have lowered or rejected operations that the target cannot express. Each operation
//! has one SPIR-V form here. The declarations of the module follow from its uses.
//!
//! ```
//! use kiln_session::Options;
//!
//! let words = kiln_spirv::emit(&kiln_ir::Module::default(), &Options::default(), None).expect("a small module");
//! assert!(kiln_spirv::disassemble(&words).contains("OpMemoryModel PhysicalStorageBuffer64 Vulkan"));
//! ```

mod address;
mod arithmetic;
mod assembly;
mod body;
mod control;
mod debug_info;
mod elements;
mod enqueue;
mod entry;
mod ext_inst;
mod globals;
mod group;
mod image;
mod initializer;
mod instruction;
mod launch;
mod pipe;
mod proved_launch;
mod reflection;
mod sync;
mod texel;
mod types;
mod writer;

use std::sync::Arc;

use kiln_ir::{FuncId, Module};
use kiln_session::{MathOptions, Options, defect::Defect};
use kiln_syntax::Span;
use kiln_vocabulary::{
    opencl::{Environment, Linkage, Overflow},
    target::Target,
};
use rustc_hash::FxHashMap;

pub use assembly::disassemble;
use elements::Elements;
pub use ext_inst::has_instruction;
use globals::Globals;
pub use proved_launch::with_proved_launch;
pub use writer::OversizedInstruction;
use writer::Writer;

/// A source position: file name, line and column.
pub type SourcePosition = (Arc<str>, u32, u32);
/// Returns the source position of a span. `None` if it has none.
pub type SourcePositions<'a> = &'a dyn Fn(Span) -> Option<SourcePosition>;

/// The state of the emitter.
struct Emitter<'a> {
    target: &'a Target,
    math: MathOptions,
    /// `Options::argument_info`
    argument_info: bool,
    /// Whether contraction is allowed: no function disables it. The OpenCL environment has only a mode for whole
    /// kernels.
    contracts: bool,
    module: &'a Module,
    /// Source positions, if requested.
    positions: Option<SourcePositions<'a>>,
    /// `Options::keep_variables`
    keeps_variables: bool,
    /// Whether the module must name the elements of arrays for a device that checks them.
    marks_members: bool,
    writer: Writer,
    globals: Globals,
    /// The array elements of each function, on Vulkan.
    elements: FxHashMap<FuncId, Elements>,
}

/// The index of the id bound in a module's header (SPIR-V 2.3).
const BOUND: usize = 3;

/// Emits a module that the target's passes have prepared. Emits source lines if `positions` is given.
pub fn emit(
    module: &Module,
    options: &Options,
    positions: Option<SourcePositions<'_>>,
) -> Result<Vec<u32>, OversizedInstruction> {
    let target = &options.target;
    let mut emitter = Emitter {
        target,
        math: options.math,
        argument_info: options.argument_info,
        contracts: true,
        module,
        positions,
        keeps_variables: options.keep_variables,
        marks_members: options.overflow == Overflow::Marked && target.environment == Environment::OpenCl,
        writer: Writer::new(target.spirv, options.strip),
        globals: Globals::default(),
        elements: FxHashMap::default(),
    };
    if emitter.is_vulkan() {
        emitter.elements = module.functions.entries().map(|(id, it)| (id, Elements::find(it))).collect();
        emitter.collect_push_constants();
    }
    emitter.environment();
    let mut order = module.callees_first();
    // Declarations precede definitions (SPIR-V 2.4). LLVM-based consumers confuse a kernel with a function of the
    // same name that precedes it.
    order.sort_by_key(|&id| {
        let function = &module.functions[id];
        (function.linkage != Linkage::Imported, function.kernel.is_some())
    });
    for &function in &order {
        emitter.declare_function(function);
    }
    for (id, var) in module.vars.entries() {
        if var.linkage.is_exported() {
            emitter.module_variable(id);
        }
    }
    for &function in &order {
        emitter.function(function);
    }
    emitter.entry_points();
    if !options.strip {
        emitter.reflection();
    }
    let mut words = emitter.writer.finish()?;
    if options.defect == Some(Defect::IdBound) {
        words[BOUND] = 1;
    }
    Ok(words)
}

impl Emitter<'_> {
    /// Whether the module is for Vulkan: control flow is structured, and pointers are logical, apart from global memory.
    fn is_vulkan(&self) -> bool {
        self.target.environment == Environment::Vulkan
    }
}
