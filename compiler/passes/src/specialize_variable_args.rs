//! Copies each function with pointers to private or local objects for each kind of objects that its calls pass, and inlines
//! calls whose pointers can point to several objects (Tint: direct_variable_access).
//!
//! Afterward, a private pointer parameter points into one object of the caller, in every call. A local pointer parameter
//! points into one object of the module, which `Function::objects` names. No parameter is a generic pointer. A target without
//! addresses can then pass the object itself and an index into it (`lower_to_logical_pointers`). Objects of similar size are
//! one kind: the parameter has one type, so all of them get the size of the largest.

use kiln_ir::{ArgumentKind, FuncId, Function, Inst, InstId, Module, Op, Replacements, Type, ValueId, VarId};
use kiln_session::{Options, diag::Sink};
use kiln_types::index::Id as _;
use kiln_vocabulary::opencl::AddressSpace;
use rustc_hash::FxHashMap;

use crate::{
    bind_arguments::local_argument,
    inline_calls::{MAX_INSTRUCTIONS, inline, may_point_to_object, report_size, retain, take, takes_objects},
    origins::{Object, Origins},
    rewrite::rewrite_only,
};

/// Objects up to this size are one kind.
const SMALL: u64 = 64;

/// The number of nested calls to follow for the size of inlined code.
const MAX_DEPTH: u32 = 128;

/// The kind of an argument for a pointer parameter.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Kind {
    /// An address of global memory.
    Global,
    /// A private object of at most this many bytes.
    Private(u64),
    /// This local object.
    Local(VarId),
}

/// The numbers of the parameters that can point to several objects.
type Ambiguous = Vec<u32>;

/// The kind of each parameter; `None` for parameters that are not specialized.
type Kinds = Vec<Option<Kind>>;

impl Kind {
    const fn space(self) -> AddressSpace {
        match self {
            Self::Global => AddressSpace::Global,
            Self::Private(_) => AddressSpace::Private,
            Self::Local(_) => AddressSpace::Local,
        }
    }
}

pub(super) fn specialize_variable_args(module: &mut Module, options: &Options, sink: &mut Sink) {
    let is_template: Vec<bool> = module.functions.iter().map(takes_objects).collect();
    if !is_template.contains(&true) {
        return;
    }
    name_local_arguments(module);
    let mut copies = Copies {
        is_template: &is_template,
        has_wide: options.target.features.int64,
        made: FxHashMap::default(),
        kinds: FxHashMap::default(),
        inlined_sizes: FxHashMap::default(),
        pending: module.functions.ids().filter(|id| !is_template[id.index()]).collect(),
        budget: MAX_INSTRUCTIONS,
    };
    while let Some(id) = copies.pending.pop() {
        let span = module.functions[id].span;
        if let Err(TooLarge) = copies.resolve_calls(module, id) {
            return report_size(span, sink);
        }
    }
    retain(module, |id, _| !is_template.get(id.index()).is_some_and(|is_template| *is_template));
}

/// Creates the local variables of kernel arguments, so that copies of functions can reference them.
fn name_local_arguments(module: &mut Module) {
    let Module { functions, vars, .. } = module;
    for function in functions.iter_mut() {
        let Some(kernel) = &function.kernel else { continue };
        for (number, argument) in (0..).zip(&kernel.arguments) {
            if let ArgumentKind::Local { element_size, align } = argument.kind {
                let var = local_argument(argument, number, (element_size, align), function.span);
                function.objects.push((number, vars.push(var)));
            }
        }
    }
}

/// The error for a module that would have too many instructions.
struct TooLarge;

struct Copies<'a> {
    /// For each original function, whether only its copies are called.
    is_template: &'a [bool],
    has_wide: bool,
    /// The copy of a function for these kinds; `None` if it must be inlined.
    made: FxHashMap<(FuncId, Kinds), Option<FuncId>>,
    /// The kinds of each copy.
    kinds: FxHashMap<FuncId, Kinds>,
    /// The results of `inlined_size`.
    inlined_sizes: FxHashMap<(FuncId, Ambiguous), usize>,
    /// Functions with unprocessed calls.
    pending: Vec<FuncId>,
    /// The remaining budget of instructions.
    budget: usize,
}

impl Copies<'_> {
    /// Selects the copy for each call in a function.
    fn resolve_calls(&mut self, module: &mut Module, id: FuncId) -> Result<(), TooLarge> {
        let mut function = take(module, id);
        loop {
            let mut calls = function.inst_order();
            calls.retain(|&call| self.is_template_call(&function.insts[call].op));
            if calls.is_empty() {
                break;
            }
            let origins = Origins::find(&function, &|var| module.vars[var].space);
            // Before code is copied: calls below an inlined one can double their number at each level.
            if self.least_growth(module, &function, id, &origins, &calls) > self.budget {
                return Err(TooLarge);
            }
            for call in calls {
                let Op::Call(template) = function.insts[call].op else { continue };
                let kinds = self.kinds_of(&function, id, &origins, &function.insts[call].args);
                let known = self.made.len();
                let copy = kinds.and_then(|kinds| self.copy_for_kinds(module, template, kinds));
                if copy.is_none() || self.made.len() > known {
                    let size = module.functions[template].insts.len();
                    self.budget = self.budget.checked_sub(size).ok_or(TooLarge)?;
                }
                match copy {
                    Some(copy) => function.insts[call].op = Op::Call(copy),
                    // The next round processes the calls of the inlined body.
                    None => inline(&mut function, call, &module.functions[template]),
                }
            }
        }
        cast_arguments(&mut function, module);
        module.functions[id] = function;
        Ok(())
    }

    /// A lower bound of the instructions that inlining adds for these calls.
    fn least_growth(
        &mut self,
        module: &Module,
        function: &Function,
        id: FuncId,
        origins: &Origins,
        calls: &[InstId],
    ) -> usize {
        let mut growth = 0usize;
        for &call in calls {
            let Inst { op: Op::Call(template), args, .. } = &function.insts[call] else { continue };
            if self.kinds_of(function, id, origins, args).is_none() {
                let size = self.inlined_size(module, *template, ambiguous(origins, args), MAX_DEPTH);
                growth = growth.saturating_add(size);
            }
        }
        growth
    }

    /// A lower bound of the instructions that inlining a call adds, with the calls that pass on its ambiguous arguments: those
    /// are inlined, too.
    fn inlined_size(
        &mut self,
        module: &Module,
        template: FuncId,
        parameters: Ambiguous,
        depth: u32,
    ) -> usize {
        let key = (template, parameters);
        if let Some(&size) = self.inlined_sizes.get(&key) {
            return size;
        }
        let mut size = module.functions[template].insts.len();
        if !key.1.is_empty() && depth > 0 {
            // Private pointers instead of generic ones: their origin is the parameter.
            let params = (0..).zip(module.functions[template].params());
            let kinds: Kinds =
                params.map(|(number, _)| key.1.contains(&number).then_some(Kind::Private(SMALL))).collect();
            let function = &specialize(&module.functions[template], &kinds);
            let origins = Origins::find(function, &|var| module.vars[var].space);
            let is_ambiguous = |arg: ValueId| {
                let mut objects = origins.origin(arg).objects.into_iter();
                objects.any(|object| matches!(object, Object::Param(_, number) if key.1.contains(&number)))
            };
            for call in function.inst_order() {
                let inst = &function.insts[call];
                let Op::Call(callee) = inst.op else { continue };
                if !self.is_template_call(&inst.op) {
                    continue;
                }
                let passed = (0..).zip(&inst.args).filter(|&(_, &arg)| is_ambiguous(arg));
                let passed: Ambiguous = passed.map(|(number, _)| number).collect();
                if !passed.is_empty() {
                    size = size.saturating_add(self.inlined_size(module, callee, passed, depth - 1));
                }
            }
        }
        self.inlined_sizes.insert(key, size);
        size
    }

    /// Whether this is a call to an original function.
    fn is_template_call(&self, op: &Op) -> bool {
        matches!(op, Op::Call(callee) if self.is_template.get(callee.index()) == Some(&true))
    }

    /// The kinds of the arguments, if each pointer has only one kind.
    fn kinds_of(
        &self,
        function: &Function,
        id: FuncId,
        origins: &Origins,
        args: &[ValueId],
    ) -> Option<Kinds> {
        let kinds = args.iter().map(|&arg| {
            if !may_point_to_object(function.ty(arg)) {
                return Some(None);
            }
            let origin = origins.origin(arg);
            if let Some(Object::Module(var)) = origin.only_object() {
                return Some(Some(Kind::Local(var)));
            }
            if let Some(object) = origin.only_object() {
                let size = self.max_object_size(function, id, object)?.max(SMALL);
                return Some(Some(Kind::Private(size.checked_next_power_of_two()?)));
            }
            let is_global = function.ty(arg) == Type::Pointer(AddressSpace::Generic)
                && origin.space() == Some(AddressSpace::Global);
            (is_global && self.has_wide).then_some(Some(Kind::Global))
        });
        kinds.collect()
    }

    /// The maximum size of a private object.
    fn max_object_size(&self, function: &Function, id: FuncId, object: Object) -> Option<u64> {
        let Object::Param(AddressSpace::Private, number) = object else {
            let Object::Private(var) = object else { return None };
            return Some(function.vars[var].size);
        };
        let number = number as usize;
        if let Some(kernel) = &function.kernel {
            let ArgumentKind::Aggregate { size, .. } = kernel.arguments[number].kind else { return None };
            return Some(size);
        }
        match self.kinds.get(&id)?[number] {
            Some(Kind::Private(size)) => Some(size),
            _ => None,
        }
    }

    /// The copy of a function for arguments of these kinds, if possible.
    fn copy_for_kinds(&mut self, module: &mut Module, template: FuncId, kinds: Kinds) -> Option<FuncId> {
        let key = (template, kinds);
        if let Some(&made) = self.made.get(&key) {
            return made;
        }
        let function = specialize(&module.functions[template], &key.1);
        let origins = Origins::find(&function, &|var| module.vars[var].space);
        let made = (!compares_objects(&function, &origins)).then(|| {
            let id = module.functions.push(function);
            self.kinds.insert(id, key.1.clone());
            self.pending.push(id);
            id
        });
        self.made.insert(key, made);
        made
    }
}

/// The arguments that can point to several objects, or to an object and elsewhere.
fn ambiguous(origins: &Origins, args: &[ValueId]) -> Ambiguous {
    let is_ambiguous = |arg: ValueId| {
        let origin = origins.origin(arg);
        !origin.objects.is_empty() && origin.only_object().is_none()
    };
    (0..).zip(args).filter(|&(_, &arg)| is_ambiguous(arg)).map(|(number, _)| number).collect()
}

/// Copies a function, with parameters in the address spaces of these kinds.
fn specialize(template: &Function, kinds: &[Option<Kind>]) -> Function {
    let mut function = template.clone();
    let generic = Type::Pointer(AddressSpace::Generic);
    let params = function.params().to_vec();
    let mut replaced = Replacements::default();
    let mut casts = Vec::new();
    for ((number, &param), kind) in (0..).zip(&params).zip(kinds) {
        let Some(kind) = kind else { continue };
        if let Kind::Local(var) = kind {
            function.objects.push((number, *var));
        }
        if function.ty(param) == generic {
            function.values[param].ty = Type::Pointer(kind.space());
            let span = function.span;
            let cast = function.add_inst(Op::PointerCast, &[], &[generic], span);
            replaced.insert(param, function.result(cast));
            casts.push((cast, param));
        }
    }
    function.replace_uses(&replaced);
    for &(cast, param) in &casts {
        function.insts[cast].args.push(param);
    }
    let body = function.body;
    function.blocks[body].insts.splice(0..0, casts.into_iter().map(|(cast, _)| cast));
    function
}

/// Whether the function compares pointers into different parameters: both can be one object of the caller, but the
/// addresses of two parameters always differ in the function.
fn compares_objects(function: &Function, origins: &Origins) -> bool {
    function.inst_order().into_iter().any(|id| {
        let inst = &function.insts[id];
        matches!(inst.op, Op::Compare(_)) && {
            let objects = inst.args.iter().flat_map(|&arg| origins.origin(arg).objects);
            let mut params = objects.filter(|object| matches!(object, Object::Param(..)));
            params.next().is_some_and(|first| params.any(|other| other != first))
        }
    })
}

/// Casts the arguments of calls to the address spaces of the copies' parameters.
fn cast_arguments(function: &mut Function, module: &Module) {
    rewrite_only(
        function,
        |op| matches!(op, Op::Call(_)),
        |builder, call, _| {
            let Op::Call(callee) = builder.function.insts[call].op else { return };
            let callee = &module.functions[callee];
            for (number, &param) in callee.params().iter().enumerate() {
                let (arg, ty) = (builder.function.insts[call].args[number], callee.ty(param));
                if builder.ty(arg) != ty {
                    let arg = builder.value(Op::PointerCast, &[arg], ty);
                    builder.function.insts[call].args[number] = arg;
                }
            }
            builder.insert(call);
        },
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A function, and 29 that call the one before twice with their pointer, and once with an object of the module.
    fn chain(space: &str) -> Module {
        let mut text =
            format!("function #0 \"f\"(%0: ptr<{space}>) {{\n  store align 4 %0, i32 1\n  return\n}}\n");
        for level in 1..30 {
            let below = level - 1;
            text += &format!(
                "\nfunction #{level} \"f\"(%0: ptr<{space}>) {{\n  call #{below} %0\n  call #{below} %0\n  \
                 %1: ptr<local> = module_var @0\n  %2: ptr<{space}> = pointer_cast %1\n  \
                 call #{below} %2\n  return\n}}\n"
            );
        }
        kiln_ir::parse(&format!("var @0 \"x\" local size 4 align 4\n\n{text}"))
            .unwrap_or_else(|error| panic!("{error:?}\n{text}"))
    }

    #[test]
    fn sizes_are_known_before_code_is_inlined() {
        for space in ["local", "private", "generic"] {
            let module = chain(space);
            let is_template: Vec<bool> = module.functions.iter().map(takes_objects).collect();
            let mut copies = Copies {
                is_template: &is_template,
                has_wide: true,
                made: FxHashMap::default(),
                kinds: FxHashMap::default(),
                inlined_sizes: FxHashMap::default(),
                pending: Vec::new(),
                budget: MAX_INSTRUCTIONS,
            };
            let ids: Vec<FuncId> = module.functions.ids().collect();
            let own = |level: usize| module.functions[ids[level]].insts.len();
            let mut size =
                |level: usize, parameters| copies.inlined_size(&module, ids[level], parameters, MAX_DEPTH);
            assert_eq!(size(2, vec![]), own(2));
            // The calls with the object of the module are not counted: they get a copy of the function.
            assert_eq!(size(2, vec![0]), own(2) + 2 * (own(1) + 2 * own(0)), "{space}");
            assert!(size(29, vec![0]) > MAX_INSTRUCTIONS);
        }
    }
}
