//! The variables that are visible at a statement.
//!
//! Owns the match between variables of the source and objects of the module. Must not depend on the protocol.

use kiln_reference::{MemoryRange, WorkItem};
use kiln_vocabulary::debug::{Function, Storage, Variable, Variables};

use crate::{
    expression::{self, Expr},
    value::{Reader, Value, ValueType},
};

/// A group of variables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// Parameters and private variables of a function.
    Locals,
    /// Variables in local memory.
    LocalMemory,
    /// Variables at program scope.
    Globals,
    /// The ids and sizes of the work-item.
    WorkItem,
}

/// The groups, with their names.
pub(crate) const SCOPES: [(Scope, &str); 4] = [
    (Scope::Locals, "Locals"),
    (Scope::LocalMemory, "Local memory"),
    (Scope::Globals, "Program scope"),
    (Scope::WorkItem, "Work-item"),
];

/// The value of an expression in a call of a work-item.
pub(crate) fn evaluate(
    expr: &Expr,
    item: WorkItem<'_>,
    distance: usize,
    variables: &Variables,
) -> Result<Value, String> {
    let reader = Reader { item, variables };
    expression::evaluate(expr, &reader, &|name| lookup(name, item, distance, variables))
}

fn lookup(name: &str, item: WorkItem<'_>, distance: usize, variables: &Variables) -> Option<Value> {
    for scope in [Scope::Locals, Scope::LocalMemory, Scope::Globals] {
        let found = list(scope, item, distance, variables);
        if let Some((_, value)) = found.into_iter().find(|(known, _)| known == name) {
            return Some(value);
        }
    }
    let enumerator = variables.enumerators.iter().find(|(known, _)| known == name);
    enumerator.map(|(_, value)| Value::Int((*value).into()))
}

/// The variables of a group that are visible in a call.
pub(crate) fn list(
    scope: Scope,
    item: WorkItem<'_>,
    distance: usize,
    variables: &Variables,
) -> Vec<(String, Value)> {
    match scope {
        Scope::Locals => locals(item, distance, variables),
        Scope::LocalMemory => local_memory(item, distance, variables),
        Scope::Globals => {
            let globals = variables.globals.iter();
            let found = globals.filter_map(|global| {
                let MemoryRange { address, .. } = item.global(&global.name)?;
                Some((global.name.clone(), Value::Object(ValueType::Type(global.ty), address)))
            });
            found.collect()
        }
        Scope::WorkItem => ids(item),
    }
}

fn function<'v>(item: WorkItem<'_>, distance: usize, variables: &'v Variables) -> Option<&'v Function> {
    let frame = item.frame(distance)?;
    variables.functions.iter().find(|function| function.name == frame.function)
}

/// The variables of a function whose scope contains the line, the innermost first.
fn visible(function: &Function, line: u32) -> Vec<&Variable> {
    let mut found: Vec<&Variable> = Vec::new();
    let contains = |variable: &&Variable| variable.lines.0 <= line && line <= variable.lines.1;
    for variable in function.variables.iter().rev().filter(contains) {
        if found.iter().all(|known| known.name != variable.name) {
            found.push(variable);
        }
    }
    found
}

/// The number of variables of the same name and storage that precede a variable.
fn nth<'v>(all: impl Iterator<Item = &'v Variable>, variable: &Variable) -> usize {
    let same = all.filter(|it| it.name == variable.name && it.storage == variable.storage);
    same.take_while(|it| !std::ptr::eq(*it, variable)).count()
}

fn locals(item: WorkItem<'_>, distance: usize, variables: &Variables) -> Vec<(String, Value)> {
    let Some(function) = function(item, distance, variables) else {
        // The module of another compiler has only names and bytes.
        let privates = item.privates(distance).into_iter();
        return privates
            .map(|(name, it)| (name.to_owned(), Value::Object(ValueType::Bytes(it.size), it.address)))
            .collect();
    };
    let line = item.frame(distance).map_or(0, |frame| frame.line);
    let value = |variable: &Variable| {
        let ty = ValueType::Type(variable.ty);
        let address = match variable.storage {
            Storage::Private => {
                let number = nth(function.variables.iter(), variable);
                item.private(distance, &variable.name, number)?.address
            }
            // A kernel copies a struct that is passed by value.
            Storage::Pointee(index) => match item.private(distance, &variable.name, 0) {
                Some(copy) => copy.address,
                None => item.parameter(distance, index as usize)?,
            },
            Storage::Parameter(_) => return Some(Value::Opaque(variables.types[variable.ty].name.clone())),
            Storage::Local | Storage::Global => return None,
        };
        Some(Value::Object(ty, address))
    };
    let found = visible(function, line).into_iter();
    let mut found: Vec<_> =
        found.filter_map(|variable| Some((variable.name.clone(), value(variable)?))).collect();
    found.reverse();
    found
}

fn local_memory(item: WorkItem<'_>, distance: usize, variables: &Variables) -> Vec<(String, Value)> {
    let all = || variables.functions.iter().flat_map(|function| &function.variables);
    let Some(function) = function(item, distance, variables) else {
        let locals = item.locals().into_iter();
        return locals
            .map(|(name, it)| (name.to_owned(), Value::Object(ValueType::Bytes(it.size), it.address)))
            .collect();
    };
    let line = item.frame(distance).map_or(0, |frame| frame.line);
    let found = visible(function, line).into_iter().filter(|variable| variable.storage == Storage::Local);
    let found = found.filter_map(|variable| {
        let MemoryRange { address, .. } = item.local(&variable.name, nth(all(), variable))?;
        Some((variable.name.clone(), Value::Object(ValueType::Type(variable.ty), address)))
    });
    found.collect()
}

fn ids(item: WorkItem<'_>) -> Vec<(String, Value)> {
    let triple = |values: [u64; 3]| Value::Opaque(format!("({}, {}, {})", values[0], values[1], values[2]));
    let [local, global, groups] = item.sizes();
    [
        ("global id", item.global_id()),
        ("local id", item.local_id().map(u64::from)),
        ("group id", item.group_id().map(u64::from)),
        ("local size", local.map(u64::from)),
        ("global size", global.map(u64::from)),
        ("number of groups", groups.map(u64::from)),
    ]
    .map(|(name, values)| (name.to_owned(), triple(values)))
    .into()
}
