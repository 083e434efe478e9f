//! Links parts of a program (`clLinkProgram`, OpenCL API 5.8.3): merges their IR, resolves declarations to the
//! definitions in other parts, and compiles the result as one program.
//!
//! Owns the rules of symbols. Must not depend on how a part is stored (`part.rs`).

use kiln_ir::{self as ir, FuncId, Function, Module, Var, VarId};
use kiln_session::MathOptions;
use kiln_syntax::{Interner, Span};
use kiln_types::index::Id;
use kiln_vocabulary::opencl::{Environment, Linkage};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::{
    Artifact, Emit, Output,
    diag::{Code, Diagnostic, Sink},
    finish,
    interface::Interface,
    part::{Part, PartError},
    session::Options,
    source::SourceMap,
};

/// Links parts. The options select the target. Without [`Emit::Part`] the result is a program: mistakes, such as
/// functions that no part defines, are diagnostics with positions in the parts' sources. With it, the result is a
/// library (`-create-library`), which may leave names undefined.
///
/// ```
/// use kiln_compiler::{Artifact, Emit, Part, compile, link, session::{NoFiles, Options, Source}};
///
/// let part = |text: &str| {
///     let source = Source { name: "a.cl".into(), text: text.into() };
///     match compile(source, &Options::default(), &NoFiles, &Emit::Part).artifact {
///         Some(Artifact::Part(part)) => *part,
///         other => panic!("{other:?}"),
///     }
/// };
/// let parts = [
///     part("int half_of(int x) { return x / 2; }"),
///     part("int half_of(int x); kernel void k(global int *p) { *p = half_of(*p); }"),
/// ];
/// let output = link(&parts, &Options::default(), &Emit::Spirv)?;
/// assert!(matches!(output.artifact, Some(Artifact::Module(_))));
/// # Ok::<(), kiln_compiler::PartError>(())
/// ```
pub fn link(parts: &[Part], options: &Options, emit: &Emit) -> Result<Output, PartError> {
    let mut sources = SourceMap::default();
    let mut sink = Sink::new(options.warnings.clone());
    let mut module = Module::default();
    for part in parts {
        if part.environment != options.target.environment {
            return Err(mismatch(part, options.target.environment));
        }
        module.append(part.module(&mut sources)?);
    }
    let mut options = options.clone();
    options.math = math(parts, options.math);
    options.argument_info |= parts.iter().any(|part| part.argument_info);
    options.is_part = *emit == Emit::Part;
    let mut interface = merged(parts);
    resolve(&mut module, &mut sink, options.is_part);
    let artifact = if sink.has_errors() {
        Ok(None)
    } else if options.is_part {
        let names: Vec<&str> = parts.iter().map(|part| part.name.as_str()).collect();
        let part = Part::new(&names.join(" "), module, &options, &sources, interface.take());
        Ok(Some(Artifact::Part(Box::new(part))))
    } else {
        crate::back_end(module, &options, &sources, &mut sink, emit)
    };
    Ok(finish(artifact, interface, Vec::new(), sink, sources, Interner::new()))
}

fn mismatch(part: &Part, environment: Environment) -> PartError {
    let name = |environment| match environment {
        Environment::Vulkan => "Vulkan",
        Environment::OpenCl => "OpenCL",
    };
    PartError::new(format!(
        "the part `{}` was compiled for {}, and the program is for {}: compile it again",
        part.name,
        name(part.environment),
        name(environment)
    ))
}

/// The math options of the linked program (OpenCL API 5.8.6.2). It has a relaxation if all parts or the linker's options
/// have it, and a restriction if any part or the linker's options have it.
fn math(parts: &[Part], options: MathOptions) -> MathOptions {
    let all = |flag: fn(&MathOptions) -> bool| {
        flag(&options) || !parts.is_empty() && parts.iter().all(|part| flag(&part.math))
    };
    let any = |flag: fn(&MathOptions) -> bool| flag(&options) || parts.iter().any(|part| flag(&part.math));
    MathOptions {
        single_precision_constant: all(|it| it.single_precision_constant),
        denorms_are_zero: all(|it| it.denorms_are_zero),
        correctly_rounded_divide_sqrt: any(|it| it.correctly_rounded_divide_sqrt),
        mad_enable: all(|it| it.mad_enable),
        no_signed_zeros: all(|it| it.no_signed_zeros),
        unsafe_optimizations: all(|it| it.unsafe_optimizations),
        finite_only: all(|it| it.finite_only),
        fast_relaxed: all(|it| it.fast_relaxed),
    }
}

/// The kernels, records and enumerators of all parts. `None` if a part was read from a file.
fn merged(parts: &[Part]) -> Option<Interface> {
    let mut all = Interface::default();
    for part in parts {
        let Interface { kernels, records, enumerators } = part.interface.clone()?;
        all.kernels.extend(kernels);
        // A header that several parts include declares the same types in all of them.
        for record in records {
            if !all.records.contains(&record) {
                all.records.push(record);
            }
        }
        for enumerator in enumerators {
            if !all.enumerators.contains(&enumerator) {
                all.enumerators.push(enumerator);
            }
        }
    }
    Some(all)
}

/// Resolves the names of a module. Removes functions and variables that no kernel reaches, unless this is a library.
pub(crate) fn resolve(module: &mut Module, sink: &mut Sink, is_library: bool) {
    Linker { module, sink, is_library }.link();
}

struct Linker<'m> {
    module: &'m mut Module,
    sink: &'m mut Sink,
    /// Whether names may stay undefined.
    is_library: bool,
}

impl Linker<'_> {
    fn link(&mut self) {
        let functions = self.functions();
        let vars = self.vars(&functions);
        if self.sink.has_errors() {
            return;
        }
        let function_of = |id: FuncId| functions.get(&id).copied().unwrap_or(id);
        let var_of = |id: VarId| vars.get(&id).copied().unwrap_or(id);
        self.module.retain(var_of, function_of, |id| var_of(id) == id, |id| function_of(id) == id);
        self.check_recursion();
        if self.is_library || self.sink.has_errors() {
            return;
        }
        let reached = ir::reachable_functions(self.module, |function| function.kernel.is_some());
        self.check_definitions(|id| reached[id]);
        self.module.retain(|id| id, |id| id, |_| true, |id| reached[id]);
        self.module.functions.iter_mut().for_each(|function| function.linkage = Linkage::Internal);
        self.module.vars.iter_mut().for_each(|var| var.linkage = Linkage::Internal);
    }

    /// The definition for each function that a part only declares, or defines although another definition is used.
    fn functions(&mut self) -> FxHashMap<FuncId, FuncId> {
        let mut defined: FxHashMap<String, FuncId> = FxHashMap::default();
        let ids: Vec<FuncId> = self.module.functions.ids().collect();
        for &id in &ids {
            let function = &self.module.functions[id];
            // A kernel has an exported function in addition to its entry point.
            if !function.linkage.is_exported() {
                continue;
            }
            let first = defined.get(&function.name).map(|&first| &self.module.functions[first]);
            match first.map(|first| (first.linkage, function.linkage, first.span)) {
                Some((Linkage::Exported, Linkage::Exported, first)) => {
                    let twice = duplicate_definition(&function.name, function.span, first);
                    self.sink.report(twice);
                }
                // An exported definition wins over link-once ones, and the first of those over others.
                Some((_, Linkage::LinkOnce, _)) => {}
                _ => {
                    defined.insert(function.name.clone(), id);
                }
            }
        }
        // A library refers to each undefined function by one declaration.
        let mut declared: FxHashMap<String, FuncId> = FxHashMap::default();
        let mut found = FxHashMap::default();
        for &id in &ids {
            let function = &self.module.functions[id];
            if !matches!(function.linkage, Linkage::Imported | Linkage::LinkOnce) {
                continue;
            }
            let name = &function.name;
            let target = defined.get(name).copied();
            let target = target.unwrap_or_else(|| *declared.entry(name.clone()).or_insert(id));
            let wanted = &self.module.functions[target];
            if signature(wanted) != signature(function) {
                let differs = differs(name, function.span, wanted.span);
                self.sink.report(differs);
            }
            if target != id {
                found.insert(id, target);
            }
        }
        found
    }

    /// The definition for each variable that a part only declares, or defines although another definition is used.
    fn vars(&mut self, functions: &FxHashMap<FuncId, FuncId>) -> FxHashMap<VarId, VarId> {
        let mut defined: FxHashMap<String, VarId> = FxHashMap::default();
        let names = self.module.functions.entries();
        let names: FxHashMap<String, Span> = names
            .filter(|(id, function)| function.linkage != Linkage::Internal && !functions.contains_key(id))
            .map(|(_, function)| (function.name.clone(), function.span))
            .collect();
        let ids: Vec<VarId> = self.module.vars.ids().collect();
        for &id in &ids {
            let var = &self.module.vars[id];
            if var.linkage == Linkage::Internal {
                continue;
            }
            // Functions and variables share one name space.
            if let Some(&function) = names.get(&var.name) {
                let differs = differs(&var.name, var.span, function);
                self.sink.report(differs);
            }
            if !var.linkage.is_exported() {
                continue;
            }
            let first = defined.get(&var.name).map(|&first| &self.module.vars[first]);
            match first.map(|first| (first.linkage, var.linkage, first.span)) {
                Some((Linkage::Exported, Linkage::Exported, first)) => {
                    let twice = duplicate_definition(&var.name, var.span, first);
                    self.sink.report(twice);
                }
                Some((_, Linkage::LinkOnce, _)) => {}
                _ => {
                    defined.insert(var.name.clone(), id);
                }
            }
        }
        let mut declared: FxHashMap<String, VarId> = FxHashMap::default();
        let mut found = FxHashMap::default();
        for &id in &ids {
            let var = &self.module.vars[id];
            if !matches!(var.linkage, Linkage::Imported | Linkage::LinkOnce) {
                continue;
            }
            let target = defined.get(&var.name).copied();
            let target = target.unwrap_or_else(|| *declared.entry(var.name.clone()).or_insert(id));
            let wanted = &self.module.vars[target];
            // A declaration need not repeat the length of an array.
            if wanted.space != var.space || wanted.size < var.size && wanted.linkage.is_exported() {
                let differs = differs(&var.name, var.span, wanted.span);
                self.sink.report(differs);
            }
            if target != id {
                found.insert(id, target);
            }
        }
        found
    }

    /// Reports functions and variables that the program uses and no part defines.
    fn check_definitions(&mut self, is_reached: impl Fn(FuncId) -> bool) {
        let mut options = FxHashSet::default();
        for (_, function) in self.module.functions.entries().filter(|(id, _)| is_reached(*id)) {
            for inst in function.inst_order() {
                let inst = &function.insts[inst];
                let missing = match inst.op {
                    ir::Op::Call(callee) | ir::Op::Function(callee) => {
                        let callee = &self.module.functions[callee];
                        let is_missing = callee.linkage == Linkage::Imported;
                        is_missing.then_some((Code::UndefinedFunction, &callee.name, callee.span))
                    }
                    ir::Op::ModuleVar(var) => missing_var(&self.module.vars[var]),
                    _ => None,
                };
                if let Some((code, name, declared)) = missing
                    && options.insert(name.clone())
                {
                    self.sink.report(undefined(code, name, inst.span, declared));
                }
            }
        }
        for var in self.module.vars.iter() {
            for (_, target, _) in var.init.iter().flat_map(|init| &init.relocations) {
                if let Some((code, name, declared)) = missing_var(&self.module.vars[*target])
                    && options.insert(name.clone())
                {
                    self.sink.report(undefined(code, name, var.span, declared));
                }
            }
        }
    }

    /// Rejects recursion (OpenCL C 6.11.k): calls between parts can form cycles that no part contains alone.
    fn check_recursion(&mut self) {
        #[derive(Clone, Copy, PartialEq)]
        enum State {
            New,
            Open,
            Done,
        }
        let functions = &self.module.functions;
        let calls = |id: FuncId| -> Vec<(FuncId, Span)> {
            let function = &functions[id];
            let is_call = |inst: &ir::InstId| matches!(function.insts[*inst].op, ir::Op::Call(_));
            let callees = function.callees().filter(|(_, inst)| is_call(inst));
            callees.map(|(callee, inst)| (callee, function.insts[inst].span)).collect()
        };
        let mut states = vec![State::New; functions.len()];
        for root in functions.ids() {
            if states[root.index()] != State::New {
                continue;
            }
            states[root.index()] = State::Open;
            let mut stack = vec![(root, calls(root).into_iter())];
            while let Some((id, rest)) = stack.last_mut() {
                let id = *id;
                let Some((callee, span)) = rest.next() else {
                    states[id.index()] = State::Done;
                    stack.pop();
                    continue;
                };
                match states[callee.index()] {
                    State::New => {
                        states[callee.index()] = State::Open;
                        stack.push((callee, calls(callee).into_iter()));
                    }
                    State::Open => {
                        let (from, to) = (&functions[id].name, &functions[callee].name);
                        self.sink.report(
                            Diagnostic::new(
                                Code::Recursion,
                                span,
                                format!("`{from}` calls `{to}`, which calls `{from}` again"),
                            )
                            .also(functions[callee].span, format!("`{to}` is defined here"))
                            .help("use a loop, with an array as the stack if one is needed")
                            .note("OpenCL C 6.11.k: recursion is not supported"),
                        );
                    }
                    State::Done => {}
                }
            }
        }
    }
}

/// The types of the parameters and of the result.
fn signature(function: &Function) -> (Vec<ir::Type>, Option<ir::Type>) {
    (function.params().iter().map(|&param| function.ty(param)).collect(), function.result)
}

fn missing_var(var: &Var) -> Option<(Code, &String, Span)> {
    (var.linkage == Linkage::Imported).then_some((Code::UndefinedVariable, &var.name, var.span))
}

fn duplicate_definition(name: &str, second: Span, first: Span) -> Diagnostic {
    Diagnostic::new(Code::Redefinition, second, format!("`{name}` is defined in two parts of the program"))
        .label("defined again here")
        .also(first, "first defined here")
        .help("make one of them `static`, or only declare it")
        .note("C99 6.9: a program defines each external name once")
}

fn differs(name: &str, declared: Span, defined: Span) -> Diagnostic {
    let message = format!("`{name}` has a different type here from its type in another part of the program");
    Diagnostic::new(Code::ConflictingDeclaration, declared, message)
        .also(defined, "the other part")
        .help("declare it in a header that both parts include")
        .note("C99 6.2.7: all declarations of one object or function have compatible types")
}

fn undefined(code: Code, name: &str, used: Span, declared: Span) -> Diagnostic {
    Diagnostic::new(code, used, format!("no part of the program defines `{name}`"))
        .also(declared, "it is only declared here")
        .help("link the part that defines it")
}
