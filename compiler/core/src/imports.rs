//! Built-in functions that a module imports by their mangled names, instead of using instructions: functions of
//! extensions, which other compilers have no instruction for.
//!
//! Each becomes a function of OpenCL C that calls the built-in function, and is compiled like a source. This avoids a second
//! lowering of built-in functions.

mod mangled;

use std::fmt::Write as _;

use kiln_frontend::sema;
use kiln_ir::{FuncId, Function, Module, Scalar, Type};
use kiln_lower as lower;
use kiln_preprocessor as pp;
use kiln_syntax::{Arena, Interner, parse};
use kiln_vocabulary::{
    opencl::{AddressSpace, Environment, LanguageVersion, Linkage, Overflow},
    target::Target,
};

use self::mangled::Mangled;
use crate::{
    diag::{Sink, WarningOptions},
    session::{NoFiles, Options, Source},
    source::SourceMap,
};

/// Adds the definitions of imported functions that are built-in functions of OpenCL C. Others stay imported.
pub(crate) fn define(module: &mut Module) {
    let ids: Vec<FuncId> = module.functions.ids().collect();
    for id in ids {
        let function = &module.functions[id];
        if function.linkage == Linkage::Imported
            && let Some(text) = wrapper(function)
            && let Some(definition) = compiled(&text)
        {
            module.append(definition);
        }
    }
}

/// A function with the imported one's name, parameters and result, which calls the built-in function.
fn wrapper(function: &Function) -> Option<String> {
    let Mangled { name, params } = mangled::parse(&function.name)?;
    if !kiln_builtins::is_name(&name) || params.len() != function.params().len() {
        return None;
    }
    let arguments: Vec<String> = (0..params.len()).map(|index| format!("a{index}")).collect();
    let call = format!("{name}({})", arguments.join(", "));
    let declared = params.iter().zip(&arguments).map(|(ty, name)| format!("{ty} {name}"));
    let declared = declared.collect::<Vec<_>>().join(", ");
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = match function.result.map(spelling) {
        None => write!(text, "void {}({declared}) {{ {call}; }}", function.name),
        // Only the bits of the result are known, not its signedness.
        Some((ty, true)) => write!(text, "{ty} {}({declared}) {{ return as_{ty}({call}); }}", function.name),
        Some((ty, false)) => write!(text, "{ty} {}({declared}) {{ return {call}; }}", function.name),
    };
    Some(text)
}

/// A type of OpenCL C with these values, and whether the values must be reinterpreted as it (`as_type`).
fn spelling(ty: Type) -> (String, bool) {
    let scalar = |scalar: Scalar| scalar.opencl(true).spelling();
    match ty {
        Type::Scalar(Scalar::Bool) => ("bool".to_owned(), false),
        Type::Scalar(it) => (scalar(it).to_owned(), true),
        Type::Vector(it, count) => (format!("{}{count}", scalar(it)), true),
        Type::Pointer(AddressSpace::Generic) => ("void *".to_owned(), false),
        Type::Pointer(space) => (format!("{} void *", space.spelling()), false),
        Type::Sampler => ("sampler_t".to_owned(), false),
        Type::Image(_) | Type::Handle(_) => ("event_t".to_owned(), false),
    }
}

/// Compiles a wrapper, in the newest language with all extensions. `None` if it has an error: then OpenCL C has no such
/// function.
fn compiled(text: &str) -> Option<Module> {
    let warnings = WarningOptions { none: true, ..WarningOptions::default() };
    let options = Options {
        std: LanguageVersion::Cl30,
        target: Target::full(Environment::OpenCl),
        extensions: vec![("all".to_owned(), true)],
        warnings,
        is_part: true,
        ..Options::default()
    };
    let (mut sources, mut names) = (SourceMap::default(), Interner::new());
    let mut sink = Sink::new(options.warnings.clone());
    let source = Source { name: "built-in".to_owned(), text: text.as_bytes().to_vec() };
    let tokens = pp::preprocess(&options, source, &NoFiles, &mut sources, &mut names, &mut sink, None).tokens;
    let arena = Arena::default();
    let parsed = parse::parse(&tokens, &arena, &sources, options.max_depth);
    if !parsed.errors.is_empty() {
        return None;
    }
    let hir = sema::check(parsed.unit, sema::UnitKind::Part, &options, &sources, &mut names, &mut sink, None);
    if sink.has_errors() {
        return None;
    }
    let mut module = lower::lower(&hir, &names, &mut sink, Overflow::Unmarked);
    for function in module.functions.iter_mut() {
        function.span = kiln_syntax::Span::default();
        function.insts.iter_mut().for_each(|inst| inst.span = kiln_syntax::Span::default());
        function.vars.iter_mut().for_each(|var| var.span = kiln_syntax::Span::default());
    }
    Some(module)
}

#[cfg(test)]
mod tests {
    use super::*;
    use kiln_syntax::Span;

    fn imported(name: &str, params: &[Type], result: Option<Type>) -> Module {
        let mut function = Function::new(name.to_owned(), params, result, Span::default());
        function.linkage = Linkage::Imported;
        let mut builder = kiln_ir::Builder::new(&mut function);
        builder.unreachable();
        let mut module = Module::default();
        module.functions.push(function);
        module
    }

    /// The names of the functions that are defined for an imported one.
    fn defined(name: &str, params: &[Type], result: Option<Type>) -> Vec<String> {
        let mut module = imported(name, params, result);
        define(&mut module);
        let exported = module.functions.iter().filter(|function| function.linkage == Linkage::Exported);
        exported.map(|function| function.name.clone()).collect()
    }

    #[test]
    fn built_in_functions_are_defined() {
        let int4 = Type::Vector(Scalar::I32, 4);
        let name = "_Z15bitfield_insertDv4_iS_jj";
        assert_eq!(defined(name, &[int4, int4, Type::I32, Type::I32], Some(int4)), [name]);
        let name = "_Z20atomic_load_explicitPU3AS1VU7_Atomici12memory_order12memory_scope";
        let global = Type::Pointer(AddressSpace::Global);
        assert_eq!(defined(name, &[global, Type::I32, Type::I32], Some(Type::I32)), [name]);
        let name = "_Z17clock_read_devicev";
        assert_eq!(defined(name, &[], Some(Type::I64)), [name]);
    }

    #[test]
    fn unknown_imports_are_kept() {
        let float = Type::Scalar(Scalar::F32);
        assert!(defined("_Z3foof", &[float], Some(float)).is_empty());
        assert!(defined("sin", &[float], Some(float)).is_empty());
        // `sin` takes no integer vectors.
        let int2 = Type::Vector(Scalar::I32, 2);
        assert!(defined("_Z3sinDv2_i", &[int2], Some(int2)).is_empty());
    }
}
