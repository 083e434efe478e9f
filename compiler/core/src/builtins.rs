//! Built-in functions as a table (OpenCL C 6.15): names, overloads, and how each is expressed.
//!
//! The rows stand in `builtins/*.bi`, one file for each family; `row` says what a row holds, `parse` reads the
//! notation, `pattern` makes overloads of generic types, `overload` chooses among them, `by_rule` has the names
//! that are made by rule (`convert_*`, `as_*`). It knows types but no expressions; what only a call can tell,
//! such as the order of an atomic, is checked by `sema`.
//!
//! Nothing is read before it is asked for: the index of names is a constant, a row is parsed when
//! its name is first looked up.

mod by_rule;
mod name;
mod overload;
mod parse;
mod pattern;
mod rank;
mod row;
mod show;
mod suggest;
mod table;

use crate::{
    extensions::Extensions,
    id_type,
    opencl::LanguageVersion,
    ty::{QualTy, TyId},
};

pub use by_rule::{Rule, rule};
pub use overload::{Chosen, Failure, FailureKind, resolve};
pub use rank::ArgTy;
pub use row::{
    Arithmetic, AsyncCopy, AtomicForm, Attributes, Barrier, Collective, Enqueue, Family, Fence, ImageOp,
    ImageQuery, Instruction, Library, Lowering, Mask, Object, Participants, PipeOp, Row, Vulkan, WorkItem,
};
pub use suggest::names;
pub(crate) use suggest::near;

id_type! {
    /// A row of the table: one or several overloads of one name.
    BuiltinId
}

/// What decides which rows there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Context {
    /// The version of the language.
    pub version: LanguageVersion,
    /// Extensions and features.
    pub extensions: Extensions,
}

/// The rows of one name that a context has.
#[derive(Clone, Debug)]
pub struct Set {
    name: &'static str,
    rows: Vec<BuiltinId>,
    context: Context,
}

/// The overload that a call means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Overload {
    /// The row.
    pub builtin: BuiltinId,
    /// What the arguments are converted to. A pointer into a named space stays one where the table says generic.
    pub parameters: Vec<QualTy>,
    /// What the call gives.
    pub result: TyId,
    /// Whether `...` follows: `printf`.
    pub is_variadic: bool,
}

/// The row of this id.
pub fn row(id: BuiltinId) -> &'static Row {
    table::row(id)
}

/// The first row of a name, whatever the context has.
pub fn first_row(name: &str) -> Option<BuiltinId> {
    table::rows(name)?.1.next()
}

/// The rows of this name that the context has; none if it has none of them. Names made by rule are not here:
/// ask `rule` for them.
pub fn lookup(name: &str, context: &Context) -> Option<Set> {
    let (name, rows) = table::rows(name)?;
    let rows: Vec<_> = rows.filter(|id| row(*id).signature.exists(context)).collect();
    (!rows.is_empty()).then_some(Set { name, rows, context: *context })
}

/// What is missing for a built-in function of this name: none if it is there, or if there is no such name.
pub fn needs(name: &str, context: &Context) -> Option<Vec<String>> {
    if let Some(rule) = rule(name) {
        return rule.missing(context);
    }
    least_missing(table::rows(name)?.1, context)
}

/// What is missing for its forms of so many parameters: none if one is there, or if there is none at all.
pub fn form_needs(name: &str, count: usize, context: &Context) -> Option<Vec<String>> {
    let rows = table::rows(name)?.1;
    least_missing(rows.filter(|id| row(*id).signature.parameters.len() == count), context)
}

/// What is missing for this row: none if it is there.
pub fn row_needs(builtin: BuiltinId, context: &Context) -> Option<Vec<String>> {
    row(builtin).signature.missing(context)
}

/// The fewest things that bring one of the rows; none if one is there.
fn least_missing(rows: impl Iterator<Item = BuiltinId>, context: &Context) -> Option<Vec<String>> {
    let mut least: Option<Vec<String>> = None;
    for id in rows {
        let missing = row(id).signature.missing(context)?;
        if least.as_ref().is_none_or(|least| missing.len() < least.len()) {
            least = Some(missing);
        }
    }
    least
}

/// Every overload of a name that the context has, as a declaration: `float4 pow(float4, float4)`.
pub fn declarations(name: &str, context: &Context) -> Vec<String> {
    let mut all = Vec::new();
    for (_, row) in lookup(name, context).iter().flat_map(Set::rows) {
        row.signature.candidates(context, &mut |candidate| all.push(row.show(&candidate)));
    }
    all
}

/// Whether there is a built-in function of this name in any version.
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

    /// How many overloads there are.
    pub fn overload_count(&self) -> usize {
        let mut count = 0;
        for (_, row) in self.rows() {
            row.signature.candidates(&self.context, &mut |_| count += 1);
        }
        count
    }
}

#[cfg(test)]
mod tests;
