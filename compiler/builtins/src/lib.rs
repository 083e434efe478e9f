//! The table of built-in functions (OpenCL C 6.15): names, overloads, and how each is lowered.
//!
//! The rows are in `src/*.bi`, one file for each family. `row` defines a row, `parse` parses the notation,
//! `pattern` instantiates generic types, `overload` resolves overloads, `by_rule` handles the names that follow a
//! rule (`convert_*`, `as_*`), and `instruction` finds the row of an instruction. Independent of expressions: `sema` checks
//! properties of a call, such as the order of an atomic operation.
//!
//! The table is parsed lazily: the index of names is a constant, and a row is parsed when its name is first looked
//! up.
//!
//! ```
//! use kiln_builtins::{Context, declarations};
//! use kiln_vocabulary::{extensions::Extensions, opencl::LanguageVersion};
//!
//! let context = Context { version: LanguageVersion::Cl12, extensions: Extensions::NONE };
//! assert!(declarations("get_global_id", &context)[0].contains("uint"));
//! assert!(declarations("sub_group_barrier", &context).is_empty());
//! ```

mod by_rule;
mod instruction;
mod name;
mod overload;
mod parse;
mod pattern;
mod rank;
mod row;
mod show;
mod suggest;
mod table;

use std::fmt;

use kiln_session::extensions::Extensions;
use kiln_types::{
    id_type,
    ty::{QualTy, TyId, Types},
};
use kiln_vocabulary::opencl::LanguageVersion;

pub use by_rule::{Rule, rule};
pub use instruction::{
    Element, MatchedOverload, Operand, Parameter, overload_of_instruction, overload_of_name,
};
pub use overload::{Failure, FailureKind, OverloadCache, resolve};
pub use rank::ArgTy;
pub use row::{
    Arithmetic, AsyncCopy, AtomicForm, Attributes, Barrier, Bytes, Collective, Enqueue, Family, Fence,
    ImageOp, ImageQuery, Instruction, Library, Lowering, Mask, Object, Participants, PipeOp, Row, Vulkan,
    WorkItem,
};
pub use suggest::names;
pub use suggest::names_that;
pub use suggest::near;

id_type! {
    /// A row of the table: one or more overloads of a name.
    BuiltinId
}

impl BuiltinId {
    /// The row with this index among those of a name.
    pub fn from_name(name: &str, index: usize) -> Option<Self> {
        table::rows(name)?.1.nth(index)
    }
}

/// Prints the name, followed by the index among the name's rows if it is not 0: `prefetch`, `prefetch #1`.
impl fmt::Display for BuiltinId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = row(*self).name;
        f.write_str(name)?;
        match table::rows(name).and_then(|(_, mut rows)| rows.position(|id| id == *self)) {
            None | Some(0) => Ok(()),
            Some(index) => write!(f, " #{index}"),
        }
    }
}

/// The context that determines which rows are available.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Context {
    /// The version of the language.
    pub version: LanguageVersion,
    /// The available extensions and features.
    pub extensions: Extensions,
}

/// The rows of a name that are available in a context.
#[derive(Clone, Debug)]
pub struct Set {
    name: &'static str,
    rows: Vec<BuiltinId>,
    context: Context,
}

/// The overload that a call resolves to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Overload {
    /// The row.
    pub builtin: BuiltinId,
    /// The types that the arguments are converted to. For a generic parameter, a pointer to a named address space is not
    /// converted.
    pub parameters: Vec<QualTy>,
    /// The result type.
    pub result: TyId,
    /// Whether it is variadic: `printf`.
    pub is_variadic: bool,
}

/// The row with this id.
pub fn row(id: BuiltinId) -> &'static Row {
    table::row(id)
}

/// The first row of a name, in any context.
pub fn first_row(name: &str) -> Option<BuiltinId> {
    BuiltinId::from_name(name, 0)
}

/// The available rows of a name. `None` if there are none. Names that follow a rule are not included: see `rule`.
pub fn lookup(name: &str, context: &Context) -> Option<Set> {
    let (name, rows) = table::rows(name)?;
    let rows: Vec<_> = rows.filter(|id| row(*id).signature.exists(context)).collect();
    (!rows.is_empty()).then_some(Set { name, rows, context: *context })
}

/// The missing requirements for a built-in function. `None` if it is available or the name is unknown.
pub fn needs(name: &str, context: &Context) -> Option<Vec<String>> {
    if let Some(rule) = rule(name) {
        return rule.missing(context);
    }
    shortest_missing(table::rows(name)?.1, context)
}

/// The missing requirements for the forms with this number of parameters. `None` if one is available or there are
/// none.
pub fn form_needs(name: &str, count: usize, context: &Context) -> Option<Vec<String>> {
    let rows = table::rows(name)?.1;
    shortest_missing(rows.filter(|id| row(*id).signature.parameters.len() == count), context)
}

/// The missing requirements for a row. `None` if it is available.
pub fn row_needs(builtin: BuiltinId, context: &Context) -> Option<Vec<String>> {
    row(builtin).signature.missing(context)
}

/// The shortest list of missing requirements among these rows. `None` if one is available.
fn shortest_missing(rows: impl Iterator<Item = BuiltinId>, context: &Context) -> Option<Vec<String>> {
    let mut shortest: Option<Vec<String>> = None;
    for id in rows {
        let missing = row(id).signature.missing(context)?;
        if shortest.as_ref().is_none_or(|shortest| missing.len() < shortest.len()) {
            shortest = Some(missing);
        }
    }
    shortest
}

/// The declarations of all available overloads: `float4 pow(float4, float4)`.
pub fn declarations(name: &str, context: &Context) -> Vec<String> {
    let mut all = Vec::new();
    for (_, row) in lookup(name, context).iter().flat_map(Set::rows) {
        row.signature.candidates(context, &mut |candidate| all.push(row.show(&candidate)));
    }
    all
}

/// The prefix of names that always mean the built-in function, also in programs that declare its name: predefined
/// macros such as `__builtin_isnan` use them.
pub const RESERVED: &str = "__opencl_builtin_";

/// Whether any version has a built-in function with this name.
pub fn is_name(name: &str) -> bool {
    table::name(name).is_some() || rule(name).is_some()
}

impl Set {
    /// The name.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The rows.
    pub fn rows(&self) -> impl Iterator<Item = (BuiltinId, &'static Row)> {
        self.rows.iter().map(|id| (*id, row(*id)))
    }

    /// Whether its function is variadic.
    pub fn is_variadic(&self) -> bool {
        self.rows().any(|(_, row)| row.signature.is_variadic)
    }

    /// The parameter types of all overloads with this number of parameters, without those that take any type.
    pub fn parameter_types(&self, types: &mut Types, count: usize) -> Vec<Vec<TyId>> {
        let mut all: Vec<Vec<TyId>> = Vec::new();
        for (_, row) in self.rows().filter(|(_, row)| row.signature.parameters.len() == count) {
            row.signature.candidates(&self.context, &mut |candidate| {
                if !candidate.parameters.iter().any(pattern::Param::takes_any_type) {
                    all.push(candidate.parameters.iter().map(|parameter| parameter.ty(types)).collect());
                }
            });
        }
        all
    }
}

#[cfg(test)]
mod tests;
