//! Specializes functions with pointers to private or local objects: makes one copy of such a function for each kind of objects
//! that its callers pass, and inlines calls whose pointers can point to several objects (Tint: direct_variable_access).
//!
//! Afterward, a private pointer parameter points into one object of the caller, in every call. A local pointer parameter
//! points into one object of the module, which `Function::objects` names. No parameter is a generic pointer. A target without
//! addresses can then pass the object itself and an index into it (`lower_to_logical_pointers`). Objects of similar size are
//! one kind: the parameter has one type, so all of them get the size of the largest.

mod inlined_size;

use kiln_ir::{ArgumentKind, FuncId, Function, Inst, InstId, Module, Op, Replacements, Type, ValueId, VarId};
use kiln_session::{Options, defect::Defect, diag::Sink};
use kiln_syntax::Span;
use kiln_types::index::Id as _;
use kiln_vocabulary::opencl::AddressSpace;
use rustc_hash::FxHashMap;

use self::inlined_size::{Sizes, compared_params, targets_of_arguments};
use crate::{
    bind_arguments::local_argument,
    inline_calls::{
        MAX_INSTRUCTIONS, inline, may_point_to_object, report_size, retain_functions, take, takes_objects,
    },
    origins::{Object, Origins},
    rewrite::rewrite_only,
};

/// Objects up to this size are one kind.
const SMALL: u64 = 64;

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
    let mut copies = Copies::new(&is_template, options.target.features.int64, options.defect);
    if let Err(TooLarge(span)) = copies.resolve_all(module) {
        return report_size(span, sink);
    }
    retain_functions(module, |id, _| !is_template.get(id.index()).is_some_and(|is_template| *is_template));
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

/// The error for a module that would have too many instructions, with the function that has most of them.
struct TooLarge(Span);

/// The calls and copies would exceed the budget.
struct OverBudget;

/// The number of instructions of the module for each instruction of a copy. Measured for functions with 7 and 8 local pointers,
/// whose accesses become indices into objects.
const GROWTH: usize = 2;

struct Copies<'a> {
    /// For each original function, whether only its copies are called.
    is_template: &'a [bool],
    has_wide: bool,
    defect: Option<Defect>,
    /// The copy of a function for these kinds; `None` if it must be inlined.
    made: FxHashMap<(FuncId, Kinds), Option<FuncId>>,
    /// The kinds of each copy.
    kinds: FxHashMap<FuncId, Kinds>,
    inlined_sizes: Sizes<'a>,
    /// Functions with unprocessed calls.
    pending: Vec<FuncId>,
    /// The remaining budget of instructions.
    budget: usize,
}

impl<'a> Copies<'a> {
    fn new(is_template: &'a [bool], has_wide: bool, defect: Option<Defect>) -> Self {
        Self {
            is_template,
            has_wide,
            defect,
            made: FxHashMap::default(),
            kinds: FxHashMap::default(),
            inlined_sizes: Sizes::new(is_template, has_wide),
            pending: Vec::new(),
            budget: MAX_INSTRUCTIONS,
        }
    }

    /// Selects the copy for each call in the functions without pointers to objects, and in the copies.
    fn resolve_all(&mut self, module: &mut Module) -> Result<(), TooLarge> {
        self.pending = module.functions.ids().filter(|id| !self.is_template[id.index()]).collect();
        while let Some(id) = self.pending.pop() {
            let span = module.functions[id].span;
            self.resolve_calls(module, id).map_err(|OverBudget| TooLarge(span))?;
        }
        Ok(())
    }

    /// Selects the copy for each call in a function.
    fn resolve_calls(&mut self, module: &mut Module, id: FuncId) -> Result<(), OverBudget> {
        let mut function = take(module, id);
        loop {
            let mut calls = function.inst_order();
            calls.retain(|&call| self.is_template_call(&function.insts[call].op));
            if calls.is_empty() {
                break;
            }
            let origins = Origins::find(&function, &|var| module.vars[var].space);
            let mut copies = Vec::with_capacity(calls.len());
            for &call in &calls {
                copies.push(self.copy_for_call(module, (&function, id), &origins, call)?);
            }
            // Before code is copied: calls below an inlined one can double their number at each level.
            let inlined = calls.iter().zip(&copies).filter(|(_, copy)| copy.is_none());
            if self.least_growth(module, &function, &origins, inlined.map(|(&call, _)| call)) > self.budget {
                return Err(OverBudget);
            }
            for (call, copy) in calls.into_iter().zip(copies) {
                let Op::Call(template) = function.insts[call].op else { continue };
                match copy {
                    Some(copy) => function.insts[call].op = Op::Call(copy),
                    // The next round processes the calls of the inlined body.
                    None => {
                        self.spend(module, template)?;
                        inline(&mut function, call, &module.functions[template]);
                    }
                }
            }
        }
        cast_arguments(&mut function, module);
        module.functions[id] = function;
        Ok(())
    }

    /// The copy of a function for a call; `None` if the call must be inlined.
    fn copy_for_call(
        &mut self,
        module: &mut Module,
        (function, id): (&Function, FuncId),
        origins: &Origins,
        call: InstId,
    ) -> Result<Option<FuncId>, OverBudget> {
        let Inst { op: Op::Call(template), args, .. } = &function.insts[call] else { return Ok(None) };
        let Some(kinds) = self.kinds_of(function, id, origins, args) else { return Ok(None) };
        let known = self.made.len();
        let copy = self.copy_for_kinds(module, *template, kinds);
        if copy.is_some() && self.made.len() > known {
            self.spend(module, *template)?;
        }
        Ok(copy)
    }

    /// Takes the size of a copied function from the budget.
    fn spend(&mut self, module: &Module, template: FuncId) -> Result<(), OverBudget> {
        let size = GROWTH * module.functions[template].insts.len();
        self.budget = self.budget.checked_sub(size).ok_or(OverBudget)?;
        Ok(())
    }

    /// A lower bound of the instructions that inlining these calls adds.
    fn least_growth(
        &mut self,
        module: &Module,
        function: &Function,
        origins: &Origins,
        calls: impl Iterator<Item = InstId>,
    ) -> usize {
        let mut growth = 0usize;
        for call in calls {
            let Inst { op: Op::Call(template), args, .. } = &function.insts[call] else { continue };
            let targets = targets_of_arguments(function, origins, args);
            growth = growth.saturating_add(self.inlined_sizes.call_size(module, *template, targets));
        }
        growth
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

    /// The first copy of the same function whose kinds differ from these only in the local objects.
    fn copy_for_other_objects(&self, (template, kinds): &(FuncId, Kinds)) -> Option<FuncId> {
        let differs = |(one, other): (&Option<Kind>, &Option<Kind>)| match (one, other) {
            (Some(Kind::Local(_)), Some(Kind::Local(_))) => false,
            _ => one != other,
        };
        let alike = self
            .made
            .iter()
            .filter(|((known, others), _)| known == template && !kinds.iter().zip(others).any(differs));
        alike.filter_map(|(_, copy)| *copy).min()
    }

    /// The copy of a function for arguments of these kinds, if possible.
    fn copy_for_kinds(&mut self, module: &mut Module, template: FuncId, kinds: Kinds) -> Option<FuncId> {
        let key = (template, kinds);
        if let Some(&made) = self.made.get(&key) {
            return made;
        }
        if self.defect == Some(Defect::OtherCopies)
            && let Some(other) = self.copy_for_other_objects(&key)
        {
            return Some(other);
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
    let mut compared = function.insts_where(|op| matches!(op, Op::Compare(_))).into_iter();
    compared.any(|id| compared_params(&function.insts[id].args, origins).is_some())
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

    /// The parameters of the functions of a chain, and the body of each but the first, which calls `#BELOW`.
    struct Chain {
        what: &'static str,
        params: &'static str,
        level: &'static str,
        arguments: &'static str,
    }

    const TWO_PRIVATE: &str = "%0: ptr<private>, %1: ptr<private>";

    /// Chains that double their size at each level if calls are inlined. Each must be inlined.
    const DOUBLING: &[Chain] = &[
        Chain {
            what: "a pointer to one of two objects",
            params: TWO_PRIVATE,
            level: "call #BELOW %0, %1\n  call #BELOW %0, %1\n",
            arguments: "%3, %1",
        },
        Chain {
            what: "a pointer to one of two objects of each function",
            params: TWO_PRIVATE,
            level: "%2: ptr<private> = private_var $0\n  %3: ptr<private> = private_var $1\n  \
                    %4: ptr<private> = select bool true, %2, %3\n  call #BELOW %4, %0\n  call #BELOW %4, %0\n",
            arguments: "%1, %2",
        },
        Chain {
            what: "a pointer to the object of one of two parameters",
            params: TWO_PRIVATE,
            level: "%2: ptr<private> = select bool true, %0, %1\n  call #BELOW %0, %2\n  call #BELOW %2, %1\n",
            arguments: "%1, %2",
        },
        Chain {
            what: "the same, where inlining makes the parameters ambiguous again",
            params: "%0: ptr<private>, %1: ptr<private>, %2: ptr<private>",
            level: "%3: ptr<private> = select bool true, %0, %1\n  call #BELOW %0, %1, %3\n  call #BELOW %0, %1, %3\n",
            arguments: "%1, %2, %3",
        },
        Chain {
            what: "a null pointer",
            params: TWO_PRIVATE,
            level: "call #BELOW %0, ptr<private> 0\n  call #BELOW %0, ptr<private> 0\n",
            arguments: "%1, %2",
        },
        Chain {
            what: "a comparison of parameters",
            params: TWO_PRIVATE,
            level: "%2: bool = compare equal unsigned %0, %1\n  call #BELOW %0, %1\n  call #BELOW %1, %0\n",
            arguments: "%1, %2",
        },
        Chain {
            what: "an object of the module or another",
            params: "%0: ptr<generic>, %1: ptr<private>",
            level: "%2: ptr<local> = module_var @0\n  %3: ptr<generic> = pointer_cast %2\n  \
                    %4: ptr<generic> = select bool true, %0, %3\n  call #BELOW %4, %1\n  call #BELOW %4, %1\n",
            arguments: "%4, %2",
        },
    ];

    /// Chains of functions that have a few copies each.
    const COPIED: &[Chain] = &[
        Chain {
            what: "one object",
            params: TWO_PRIVATE,
            level: "call #BELOW %0, %1\n  call #BELOW %1, %0\n",
            arguments: "%1, %2",
        },
        Chain {
            what: "an object, and an object of each function",
            params: TWO_PRIVATE,
            level: "%2: ptr<private> = private_var $0\n  call #BELOW %0, %2\n  call #BELOW %2, %1\n",
            arguments: "%1, %2",
        },
        Chain {
            what: "an object of the module",
            params: "%0: ptr<generic>, %1: ptr<private>",
            level: "%2: ptr<local> = module_var @0\n  %3: ptr<generic> = pointer_cast %2\n  \
                    call #BELOW %3, %1\n  call #BELOW %0, %1\n",
            arguments: "%4, %2",
        },
    ];

    fn parse(chain: &Chain) -> Module {
        let vars = "  var $0 \"a\" private size 4 align 4\n  var $1 \"b\" private size 4 align 4\n";
        let (params, mut text) = (chain.params, String::new());
        text += &format!("function #0 \"f\"({params}) {{\n  store align 4 %0, i32 1\n  return\n}}\n");
        for number in 1..30 {
            let body = chain.level.replace("#BELOW", &format!("#{}", number - 1));
            text += &format!("\nfunction #{number} \"f\"({params}) {{\n{vars}  {body}  return\n}}\n");
        }
        text += &format!(
            "\nkernel #30 \"k\"(%0: i32) {{\n  argument \"n\" \"int\" value size 4 align 4\n{vars}  \
             %1: ptr<private> = private_var $0\n  %2: ptr<private> = private_var $1\n  \
             %3: ptr<private> = select bool true, %1, %2\n  %4: ptr<generic> = pointer_cast %1\n  \
             call #29 {}\n  return\n}}\n",
            chain.arguments
        );
        kiln_ir::parse(&format!("var @0 \"x\" local size 4 align 4\n\n{text}"))
            .unwrap_or_else(|error| panic!("{}: {error:?}\n{text}", chain.what))
    }

    /// Whether the chain is too large, and the number of instructions that were copied before this was known.
    fn resolve(chain: &Chain) -> (bool, usize) {
        let mut module = parse(chain);
        let is_template: Vec<bool> = module.functions.iter().map(takes_objects).collect();
        let mut copies = Copies::new(&is_template, true, None);
        let is_too_large = copies.resolve_all(&mut module).is_err();
        (is_too_large, MAX_INSTRUCTIONS - copies.budget)
    }

    #[test]
    fn errors_come_before_code_is_copied() {
        for chain in DOUBLING {
            let (is_too_large, copied) = resolve(chain);
            assert!(is_too_large, "{}", chain.what);
            assert!(copied <= 30 * GROWTH, "{}: {copied} instructions", chain.what);
        }
    }

    #[test]
    fn copies_are_shared() {
        for chain in COPIED {
            let (is_too_large, copied) = resolve(chain);
            assert!(!is_too_large, "{}", chain.what);
            assert!(copied <= 30 * 4 * 12 * GROWTH, "{}: {copied} instructions", chain.what);
        }
    }
}
