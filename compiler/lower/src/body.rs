//! A function being lowered: its builder, the locations of its objects, and its enclosing constructs.

use kiln_frontend::hir::{self, FunctionId, LocalId};
use kiln_ir::{BlockId, Builder, FuncId, Function, Handle, InstId, Kernel, Type, ValueId, Var, VarId};
use kiln_syntax::Span;
use kiln_types::index::Table;
use kiln_vocabulary::opencl::{AddressSpace, Linkage, Overflow};
use rustc_hash::{FxHashMap, FxHashSet};

use super::{Lowering, access::Address, members};

/// The location of a parameter or variable.
#[derive(Clone, Copy, Debug)]
pub(super) enum Slot {
    /// A private object of the function.
    Private(VarId),
    /// An object of the module: a `local` variable.
    Module(VarId),
    /// A private object of the caller.
    Pointer(ValueId),
    /// A value that is never stored to: an image or a pipe.
    Value(ValueId),
}

/// The lowering of `continue`.
#[derive(Clone, Copy, Debug)]
pub(super) enum Next {
    /// A jump to the `continuing` block of this loop.
    Continue(InstId),
    /// An exit from this construct, after which the loop continues.
    Exit(InstId),
}

/// A function being lowered.
pub(super) struct Body<'b, 'a> {
    pub(super) lowering: &'b mut Lowering<'a>,
    pub(super) builder: Builder<'b>,
    pub(super) hir: &'a hir::Function,
    slots: Table<LocalId, Slot>,
    /// The address for an aggregate result.
    pub(super) result: Option<ValueId>,
    /// Whether the insertion point is reachable.
    pub(super) is_reachable: bool,
    /// Constructs with an `Exit`.
    pub(super) left: FxHashSet<InstId>,
    /// The construct that `break` leaves.
    pub(super) break_target: Option<InstId>,
    /// The target of `continue`.
    pub(super) continue_target: Option<Next>,
    /// The number of enclosing loops.
    pub(super) loops: usize,
    /// The object whose lifetime has just started.
    pub(super) fresh: Option<LocalId>,
    /// The value of `ExprKind::Current`.
    pub(super) current: Option<ValueId>,
    /// With `Overflow::Marked`, what is known about pointers.
    pub(super) pointers: members::Pointers<'a>,
    /// For each moving pointer, the object that stores its first value.
    pub(super) starts: FxHashMap<LocalId, VarId>,
}

impl<'a> Lowering<'a> {
    /// Creates a function with parameters and without a body. An aggregate result is stored through an additional
    /// first parameter, a private pointer. An aggregate parameter is a private pointer to a copy.
    pub(super) fn declare(&mut self, id: FunctionId, kernel: Option<Kernel>) -> FuncId {
        let hir = self.hir;
        let function = &hir.functions[id];
        let private = Type::Pointer(AddressSpace::Private);
        let mut params = Vec::new();
        if self.is_aggregate(function.result) {
            params.push(private);
        }
        for &parameter in &function.parameters {
            let local = &function.locals[parameter];
            params.push(self.value_type(local.ty.ty).unwrap_or(private));
        }
        let name = self.names.text(function.name).to_owned();
        let mut lowered = Function::new(name, &params, self.value_type(function.result), function.span);
        if kernel.is_none() {
            lowered.linkage = function.linkage;
        }
        if lowered.linkage == Linkage::Imported {
            Builder::new(&mut lowered).unreachable();
        }
        lowered.kernel = kernel;
        self.module.functions.push(lowered)
    }

    /// Lowers the body of a declared function.
    pub(super) fn define(&mut self, id: FunctionId, target: FuncId) {
        let hir: &'a hir::Function = &self.hir.functions[id];
        let Some(stmts) = &hir.body else { return };
        let placeholder = Function::new(String::new(), &[], None, Span::default());
        let mut function = std::mem::replace(&mut self.module.functions[target], placeholder);
        let params = function.params().to_vec();
        let pointers = match self.overflow {
            Overflow::Marked => members::Pointers::new(id, hir, stmts, &self.elements),
            Overflow::Unmarked => members::Pointers::default(),
        };
        let mut body = Body {
            lowering: self,
            builder: Builder::new(&mut function),
            hir,
            slots: Table::new(),
            result: None,
            is_reachable: true,
            left: FxHashSet::default(),
            break_target: None,
            continue_target: None,
            loops: 0,
            fresh: None,
            current: None,
            pointers,
            starts: FxHashMap::default(),
        };
        body.assign_slots(&params);
        body.record_parameters();
        body.function_body(stmts);
        self.module.functions[target] = function;
    }
}

impl<'a> Body<'_, 'a> {
    /// Assigns a slot to every parameter and variable.
    fn assign_slots(&mut self, params: &[ValueId]) {
        let mut params = params.iter().copied();
        if self.lowering.is_aggregate(self.hir.result) {
            self.result = params.next();
        }
        for (id, local) in self.hir.locals.entries() {
            let param = self.hir.parameters.contains(&id).then(|| params.next()).flatten();
            let slot = self.slot_for(local, param);
            self.slots.push(slot);
        }
    }

    fn slot_for(&mut self, local: &hir::Local, param: Option<ValueId>) -> Slot {
        let value_type = self.lowering.value_type(local.ty.ty);
        let (size, natural) = self.lowering.layout(local.ty.ty);
        let align = natural.max(local.align.unwrap_or(1));
        let is_local = local.ty.quals.space == Some(AddressSpace::Local);
        let space = if is_local { AddressSpace::Local } else { AddressSpace::Private };
        let name = local.name.map_or("", |name| self.lowering.names.text(name));
        let var = Var::new(name, space, (size, align), local.span);
        match (param, value_type) {
            (Some(param), None) => Slot::Pointer(param),
            // Images and pipes are not in memory. The language does not allow assigning to them or to a sampler.
            (Some(param), Some(Type::Image(_) | Type::Sampler | Type::Handle(Handle::Pipe { .. }))) => {
                Slot::Value(param)
            }
            (Some(param), Some(_)) => {
                let var = self.builder.function.vars.push(var);
                let address = Address::new(self.builder.private_var(var), align);
                self.store(&address, param);
                Slot::Private(var)
            }
            (None, _) if is_local => Slot::Module(self.lowering.module.vars.push(var)),
            (None, _) => Slot::Private(self.builder.function.vars.push(var)),
        }
    }

    /// The slot of a parameter or variable.
    pub(super) fn slot_of(&self, id: LocalId) -> Slot {
        self.slots[id]
    }

    /// Creates an unnamed private object.
    pub(super) fn temporary(&mut self, size: u64, align: u64) -> Address {
        let span = self.builder.span;
        let space = AddressSpace::Private;
        let var = self.builder.function.vars.push(Var::new("", space, (size, align), span));
        Address::new(self.builder.private_var(var), align)
    }

    /// Ends the block by leaving a construct.
    pub(super) fn exit(&mut self, construct: InstId, results: &[ValueId]) {
        self.builder.exit(construct, results);
        self.left.insert(construct);
        self.is_reachable = false;
    }

    /// Moves the insertion point after a construct of this block. That point is reachable only if the construct has an
    /// `Exit`.
    pub(super) fn continue_after(&mut self, construct: InstId, block: BlockId) {
        self.builder.at_end(block);
        self.is_reachable = self.left.contains(&construct);
        if !self.is_reachable {
            self.builder.unreachable();
        }
    }
}
