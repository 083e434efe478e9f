//! Lowers the HIR to the IR: control flow becomes structured constructs, and objects become bytes.
//!
//! This stage implements the semantics and layouts of OpenCL C. It is independent of the target, except that it
//! rejects features that no pass could lower.
//!
//! ```
//! use kiln_frontend::survey::survey;
//! use kiln_session::{NoFiles, Options, Source, diag::Sink};
//! use kiln_vocabulary::opencl::Overflow;
//!
//! let source = Source { name: "a.cl".into(), text: b"kernel void k(global int *p) { *p = 1; }".to_vec() };
//! let survey = survey(source, &Options::default(), &NoFiles);
//! let module = kiln_lower::lower(&survey.program, &survey.interner, &mut Sink::default(), Overflow::Unmarked);
//! assert!(kiln_ir::verify(&module).is_empty());
//! ```

mod access;
mod aggregate;
mod arithmetic;
mod atomic;
mod body;
mod builtin;
mod bytes;
mod call;
mod cases;
mod condition;
mod constant;
mod convert;
mod enqueue;
mod expr;
mod graph;
mod kernel;
mod lvalue;
mod members;
mod pipe;
mod relational;
mod stmt;
mod structure;
mod switch;
mod types;
mod vector;
mod vector_data;

use kiln_frontend::hir::{self, FunctionId, GlobalId};
use kiln_ir::{self as ir, Data, FuncId, Module, Var, VarId};
use kiln_session::diag::Sink;
use kiln_syntax::Interner;
use kiln_vocabulary::opencl::{AddressSpace, Linkage, Overflow};
use rustc_hash::FxHashMap;

/// The state of lowering a program.
struct Lowering<'a> {
    hir: &'a hir::Module,
    names: &'a Interner,
    sink: &'a mut Sink,
    overflow: Overflow,
    module: Module,
    globals: FxHashMap<GlobalId, VarId>,
    /// Functions as targets of calls. A kernel that is called has a second copy as a plain function.
    callees: FxHashMap<FunctionId, FuncId>,
    /// Callees and kernels to lower.
    pending: Vec<(FunctionId, FuncId)>,
    /// With `Overflow::Marked`, the elements of members that parameters point to.
    elements: members::Elements,
    /// The kernels for enqueued blocks.
    blocks: FxHashMap<FunctionId, FuncId>,
}

/// Lowers all kernels and the functions that they reach. The result is only meaningful if the sink has no errors.
pub fn lower(hir: &hir::Module, names: &Interner, sink: &mut Sink, overflow: Overflow) -> Module {
    let mut lowering = Lowering::new(hir, names, sink, overflow);
    if overflow == Overflow::Marked {
        lowering.elements = members::elements_of_parameters(&lowering);
    }
    for (id, function) in hir.functions.entries() {
        if function.kernel.is_some() && function.body.is_some() {
            let kernel = lowering.kernel(id);
            let body = lowering.declare(id, Some(kernel));
            lowering.pending.push((id, body));
        }
    }
    // Functions for other parts of the program are lowered even if no kernel reaches them.
    for (id, function) in hir.functions.entries() {
        if function.linkage == Linkage::Exported {
            lowering.callee_id(id);
        }
    }
    for (id, global) in hir.globals.entries() {
        if global.linkage == Linkage::Exported {
            lowering.global_var(id);
        }
    }
    // Kernels in source order, followed by their callees.
    lowering.pending.reverse();
    lowering.lower_pending();
    let module = lowering.module;
    if !sink.has_errors() {
        ir::check_after(&module, "lower");
    }
    module
}

/// Lowers functions of Kiln's library and their callees, none of them as a kernel. Returns the id of each.
pub fn lower_functions(
    hir: &hir::Module,
    names: &Interner,
    sink: &mut Sink,
    wanted: &[FunctionId],
) -> (Module, Vec<FuncId>) {
    // Library functions do not overflow.
    let mut lowering = Lowering::new(hir, names, sink, Overflow::Unmarked);
    let lowered = wanted.iter().map(|&id| lowering.callee_id(id)).collect();
    lowering.lower_pending();
    (lowering.module, lowered)
}

impl<'a> Lowering<'a> {
    fn new(hir: &'a hir::Module, names: &'a Interner, sink: &'a mut Sink, overflow: Overflow) -> Self {
        Self {
            hir,
            names,
            sink,
            overflow,
            module: Module::default(),
            globals: FxHashMap::default(),
            callees: FxHashMap::default(),
            elements: members::Elements::default(),
            blocks: FxHashMap::default(),
            pending: Vec::new(),
        }
    }

    /// Lowers all pending functions.
    fn lower_pending(&mut self) {
        while let Some((id, function)) = self.pending.pop() {
            self.define(id, function);
        }
    }

    /// The function to call for a function of the HIR.
    fn callee_id(&mut self, id: FunctionId) -> FuncId {
        if let Some(callee) = self.callees.get(&id) {
            return *callee;
        }
        let callee = self.declare(id, None);
        self.callees.insert(id, callee);
        self.pending.insert(0, (id, callee));
        callee
    }

    /// The object for a global, created at its first use.
    fn global_var(&mut self, id: GlobalId) -> VarId {
        if let Some(var) = self.globals.get(&id) {
            return *var;
        }
        let global = &self.hir.globals[id];
        let (size, align) = self.layout(global.ty.ty);
        let name = global.name.map_or("", |name| self.names.text(name));
        let space = global.ty.quals.space.unwrap_or(AddressSpace::Constant);
        let align = align.max(global.align.unwrap_or(1));
        let var = Var { linkage: global.linkage, ..Var::new(name, space, (size, align), global.span) };
        let var = self.module.vars.push(var);
        // Insert before lowering the initializer, which may contain its own address.
        self.globals.insert(id, var);
        if let Some(image) = &global.init {
            let relocations = image
                .relocations
                .iter()
                .map(|entry| (entry.offset, self.global_var(entry.target), entry.addend));
            let relocations = relocations.collect();
            self.module.vars[var].init = Some(Data { bytes: image.bytes.clone(), relocations });
        }
        var
    }
}
