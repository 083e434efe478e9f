//! Names in the source and their meanings: from the type checker for the program, from the preprocessor for macros.

use kiln_frontend::{
    hir::{FunctionId, LocalId},
    sema::{Meaning, Role},
};
use kiln_session::source::FileRange;
use kiln_syntax::{Span, Symbol};
use kiln_types::ty::{QualTy, TyId};

use crate::analysis::Analysis;

/// A name in one of the user's files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Name {
    /// Its spelling location, which can be in a macro definition.
    pub(crate) location: FileRange,
    /// Its meaning.
    pub(crate) entity: Entity,
    /// Its role: definition, declaration or use.
    pub(crate) role: Role,
}

/// The meaning of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Entity {
    /// An entity of the program or the language.
    Program(Meaning),
    /// The macro with this definition.
    Macro(Symbol, Option<Span>),
}

/// Collects all names of an analysis.
pub(crate) fn collect(analysis: &Analysis) -> Vec<Name> {
    let survey = &analysis.survey;
    let program = survey.facts.occurrences.iter().map(|it| (it.span, Entity::Program(it.meaning), it.role));
    let definitions = survey
        .trace
        .definitions
        .iter()
        .map(|it| (it.span, Entity::Macro(it.name, Some(it.span)), Role::Definition));
    let uses = survey.trace.uses.iter().map(|it| (it.span, Entity::Macro(it.name, it.definition), Role::Use));
    let all = program.chain(definitions).chain(uses).filter_map(|(span, entity, role)| {
        let location = analysis.spelling(span)?;
        // Pasted tokens have no spelling location.
        is_word(survey.sources.text(&location)).then_some(Name { location, entity, role })
    });
    let mut names: Vec<Name> = all.collect();
    names.sort_by_key(|name| {
        (name.location.file, name.location.range.start, name.location.range.end, name.role)
    });
    names.dedup_by(|next, kept| next.location == kept.location && next.entity == kept.entity);
    names
}

/// Whether the text is a single identifier.
pub(crate) fn is_word(text: &str) -> bool {
    text.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '$')
        && text.starts_with(|c: char| !c.is_ascii_digit())
}

impl Analysis {
    /// The names that refer to this entity.
    pub(crate) fn occurrences(&self, entity: Entity) -> impl Iterator<Item = &Name> {
        self.names().iter().filter(move |name| name.entity == entity)
    }

    /// A parameter or a variable.
    pub(crate) fn local(&self, function: FunctionId, local: LocalId) -> &kiln_frontend::hir::Local {
        &self.survey.program.functions[function].locals[local]
    }

    /// The type of an entity, if it has one.
    pub(crate) fn type_of(&self, entity: Entity) -> Option<QualTy> {
        let program = &self.survey.program;
        let Entity::Program(meaning) = entity else { return None };
        match meaning {
            Meaning::Local(function, local) => Some(self.local(function, local).ty),
            Meaning::Global(global) => Some(program.globals[global].ty),
            Meaning::Function(function) => Some(program.functions[function].result.plain()),
            Meaning::Enumerator(_) => Some(TyId::INT.plain()),
            Meaning::Member(declared) => self.member(declared).map(|(_, field)| field.ty),
            Meaning::Typedef(_)
            | Meaning::Record(_)
            | Meaning::Enum(_)
            | Meaning::Label(..)
            | Meaning::Builtin(_)
            | Meaning::Constant(_)
            | Meaning::Type(_) => None,
        }
    }

    /// The member that is declared there, and its record.
    pub(crate) fn member(&self, declared: Span) -> Option<(&kiln_types::ty::Record, &kiln_types::ty::Field)> {
        self.survey.program.types.records.iter().find_map(|record| {
            let field = record.fields.iter().flatten().find(|field| field.span == declared)?;
            Some((record, field))
        })
    }
}
