//! Lowers the HIR to the IR: control flow becomes structured constructs, and objects become bytes.
//!
//! This stage implements the semantics and layouts of OpenCL C. It is independent of the target, except that it
//! rejects features that no pass could lower.

mod access;
mod aggregate;
mod arithmetic;
mod atomic;
mod body;
mod builtin;
mod call;
mod cases;
mod condition;
mod constant;
mod convert;
mod enqueue;
mod expr;
mod graph;
mod kernel;
mod pipe;
mod place;
mod reducible;
mod relational;
mod stmt;
mod structure;
mod switch;
mod types;
mod vector;
mod vector_data;

use kiln_syntax::Interner;
use rustc_hash::FxHashMap;

use crate::{
    diag::Sink,
    hir::{self, FunctionId, GlobalId},
    ir::{self, Data, FuncId, Module, Var, VarId},
    opencl::{AddressSpace, Linkage, Overflow},
};

/// The state of lowering one program.
struct Lowering<'a> {
    hir: &'a hir::Module,
    names: &'a Interner,
    sink: &'a mut Sink,
    overflow: Overflow,
    module: Module,
    globals: FxHashMap<GlobalId, VarId>,
    /// Functions as calls know them: a kernel that is called has a second, plain copy.
    callees: FxHashMap<FunctionId, FuncId>,
    /// Callees and kernels whose bodies are still to be lowered.
    pending: Vec<(FunctionId, FuncId)>,
    /// The functions that are enqueued for blocks.
    blocks: FxHashMap<FunctionId, FuncId>,
}

/// Lowers every kernel and what it reaches. The result is only meaningful while the sink has no errors.
pub fn lower(hir: &hir::Module, names: &Interner, sink: &mut Sink, overflow: Overflow) -> Module {
    let mut lowering = Lowering {
        hir,
        names,
        sink,
        overflow,
        module: Module::default(),
        globals: FxHashMap::default(),
        callees: FxHashMap::default(),
        blocks: FxHashMap::default(),
        pending: Vec::new(),
    };
    for (id, function) in hir.functions.entries() {
        if function.kernel.is_some() && function.body.is_some() {
            let kernel = lowering.kernel(id);
            let body = lowering.declare(id, Some(kernel));
            lowering.pending.push((id, body));
        }
    }
    // What other parts of the program use is there whether a kernel reaches it or not.
    for (id, function) in hir.functions.entries() {
        if function.linkage == Linkage::Exported {
            lowering.callee(id);
        }
    }
    for (id, global) in hir.globals.entries() {
        if global.linkage == Linkage::Exported {
            lowering.global(id);
        }
    }
    // Kernels in the order of the source, then what they call.
    lowering.pending.reverse();
    lowering.finish();
    let module = lowering.module;
    if !sink.has_errors() {
        ir::check_after(&module, "lower");
    }
    module
}

/// Lowers these functions and what they reach, none of them as a kernel; and which each has become.
pub fn lower_functions(
    hir: &hir::Module,
    names: &Interner,
    sink: &mut Sink,
    wanted: &[FunctionId],
) -> (Module, Vec<FuncId>) {
    let mut lowering = Lowering {
        hir,
        names,
        sink,
        // What is ours is right.
        overflow: Overflow::Unsaid,
        module: Module::default(),
        globals: FxHashMap::default(),
        callees: FxHashMap::default(),
        blocks: FxHashMap::default(),
        pending: Vec::new(),
    };
    let lowered = wanted.iter().map(|&id| lowering.callee(id)).collect();
    lowering.finish();
    (lowering.module, lowered)
}

impl Lowering<'_> {
    /// Lowers what is still to be lowered.
    fn finish(&mut self) {
        while let Some((id, function)) = self.pending.pop() {
            self.define(id, function);
        }
    }

    /// The function that calls of this one call.
    fn callee(&mut self, id: FunctionId) -> FuncId {
        if let Some(callee) = self.callees.get(&id) {
            return *callee;
        }
        let callee = self.declare(id, None);
        self.callees.insert(id, callee);
        self.pending.insert(0, (id, callee));
        callee
    }

    /// The module's object for a global one, made when it is first used.
    fn global(&mut self, id: GlobalId) -> VarId {
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
        // Before its own initialiser, which may have its address.
        self.globals.insert(id, var);
        if let Some(image) = &global.init {
            let relocations =
                image.relocations.iter().map(|entry| (entry.offset, self.global(entry.target), entry.addend));
            let relocations = relocations.collect();
            self.module.vars[var].init = Some(Data { bytes: image.bytes.clone(), relocations });
        }
        var
    }
}
