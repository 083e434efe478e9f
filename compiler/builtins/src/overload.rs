//! Overload resolution, with the C++ ranking that OpenCL C compilers use (OpenCL C 6.15 leaves it open).
//!
//! The conversion of each argument has a rank. An overload is better if no argument converts worse and at least one
//! converts better. If no overload is better than all others, the call is ambiguous. The ranks are clang's: exact
//! match, promotion, conversion, scalar to vector, and pointers with different pointees.

use std::{
    collections::hash_map::Entry::{Occupied, Vacant},
    rc::Rc,
};

use kiln_types::ty::{QualTy, TyId, Types};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::{
    ArgTy, BuiltinId, Context, Overload, Set, lookup,
    pattern::{Candidate, ConcreteType, Param},
    rank::{PreparedArg, Ranks, is_better},
    row, table,
};

/// Why overload resolution failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The reason.
    pub kind: FailureKind,
    /// The relevant overloads, for messages: the equally good ones for an ambiguous call, otherwise the generic
    /// forms.
    pub candidates: Vec<String>,
}

/// The reason why overload resolution failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FailureKind {
    /// No overload takes this number of arguments. Contains the valid numbers.
    Count(Vec<usize>),
    /// No overload accepts these arguments. Contains the index of the argument that is probably wrong.
    Argument(usize),
    /// Several overloads match equally well.
    Ambiguous,
    /// An argument has an error that has been reported.
    Reported,
}

/// A cache of overload resolution for one context: programs often repeat calls with the same types.
#[derive(Debug, Default)]
pub struct OverloadCache {
    sets: FxHashMap<&'static str, Option<Rc<Set>>>,
    overloads: FxHashMap<(&'static str, SmallVec<[ArgTy; 4]>), Rc<Overload>>,
}

impl OverloadCache {
    /// Like [`lookup`](lookup()), with a cache.
    pub fn lookup(&mut self, name: &str, context: &Context) -> Option<Rc<Set>> {
        let name = table::name(name)?;
        self.sets.entry(name).or_insert_with(|| lookup(name, context).map(Rc::new)).clone()
    }

    /// Resolves a call with these arguments.
    pub fn resolve(
        &mut self,
        set: &Set,
        types: &mut Types,
        arguments: &[ArgTy],
    ) -> Result<Rc<Overload>, Failure> {
        match self.overloads.entry((set.name, arguments.into())) {
            Occupied(known) => Ok(known.get().clone()),
            Vacant(entry) => Ok(entry.insert(Rc::new(resolve(set, types, arguments)?)).clone()),
        }
    }
}

/// The maximum number of ambiguous candidates to list.
const MAX_CANDIDATES: usize = 8;

/// Resolves a call with these arguments.
pub fn resolve(set: &Set, types: &mut Types, arguments: &[ArgTy]) -> Result<Overload, Failure> {
    if arguments.iter().any(|argument| argument.ty == TyId::ERROR) {
        return Err(Failure { kind: FailureKind::Reported, candidates: Vec::new() });
    }
    let args: SmallVec<[PreparedArg; 5]> =
        arguments.iter().map(|argument| PreparedArg::new(types, *argument)).collect();
    let mut search = Search { args: &args, best: Vec::new() };
    // Arguments are matched from left to right. Report the argument at which the overload that matches the most
    // arguments fails.
    let mut misfit = None;
    for (id, row) in set.rows() {
        let count = row.signature.parameters.len();
        if count == args.len() || (row.signature.is_variadic && count < args.len()) {
            let mut fits = |index: usize, parameter: &Param| {
                let fits = args[index].rank(parameter).is_some();
                misfit = misfit.max((!fits).then_some(index));
                fits
            };
            row.signature.matching(&set.context, &mut fits, &mut |candidate| search.consider(id, candidate));
        }
    }
    match search.best.as_slice() {
        [found] => Ok(found.overload(types, &args)),
        _ => Err(search.failure(set, misfit)),
    }
}

/// A viable overload (a term of C++: the arguments can be converted), with the ranks of its arguments.
struct Viable {
    id: BuiltinId,
    candidate: Candidate,
    ranks: Ranks,
}

struct Search<'a> {
    args: &'a [PreparedArg],
    /// The best overloads so far. None is better than another.
    best: Vec<Viable>,
}

impl Search<'_> {
    /// Adds an overload that matches, unless a better one is known.
    fn consider(&mut self, id: BuiltinId, candidate: Candidate) {
        let arguments = || self.args.iter().zip(&candidate.parameters);
        // All occurrences of `any` in an overload are the same type.
        let mut any = arguments().filter(|(_, parameter)| parameter.has_any()).filter_map(|(arg, _)| arg.any);
        if let Some(first) = any.next()
            && any.any(|other| other != first)
        {
            return;
        }
        let ranks: Ranks = arguments().filter_map(|(arg, parameter)| arg.rank(parameter)).collect();
        if self.best.iter().any(|best| is_better(&best.ranks, &ranks) || best.candidate == candidate) {
            return;
        }
        self.best.retain(|best| !is_better(&ranks, &best.ranks));
        self.best.push(Viable { id, candidate, ranks });
    }

    /// The reason why the search has found no single best overload. `misfit` is the argument that no overload accepts.
    fn failure(self, set: &Set, misfit: Option<usize>) -> Failure {
        if !self.best.is_empty() {
            let shown = self.best.iter().take(MAX_CANDIDATES);
            let candidates = shown.map(|found| row(found.id).show(&found.candidate)).collect();
            return Failure { kind: FailureKind::Ambiguous, candidates };
        }
        let mut candidates: Vec<String> = Vec::new();
        let mut rows: Vec<_> = set.rows().map(|(_, row)| row).collect();
        // The general form first, such as that of `dot` for floats.
        rows.sort_by_key(|row| row.signature.widths.len() <= 1);
        for row in rows {
            let shown = row.show_generic();
            if !candidates.contains(&shown) {
                candidates.push(shown);
            }
        }
        let given = self.args.len();
        let kind = match misfit {
            Some(index) => FailureKind::Argument(index),
            // Each argument matches some overload, but no overload matches all of them.
            None if set.rows().any(|(_, row)| row.signature.parameters.len() == given) => {
                FailureKind::Argument(given.saturating_sub(1))
            }
            _ => {
                let counts = set.rows().map(|(_, row)| row.signature.parameters.len());
                let mut counts: Vec<usize> = counts.collect();
                counts.sort_unstable();
                counts.dedup();
                FailureKind::Count(counts)
            }
        };
        Failure { kind, candidates }
    }
}

impl Viable {
    fn overload(&self, types: &mut Types, args: &[PreparedArg]) -> Overload {
        let parameters: Vec<QualTy> = self
            .candidate
            .parameters
            .iter()
            .zip(args)
            .map(|(parameter, arg)| converted_type(parameter, arg, types).plain())
            .collect();
        let generic = self.candidate.parameters.iter().zip(args).find(|(parameter, _)| parameter.has_any());
        let result = match (self.candidate.result, generic) {
            // `to_global`: the same pointee with its qualifiers, in the row's address space.
            (Param { base: ConcreteType::Any, pointer: Some(quals) }, Some((_, arg))) => {
                let target = arg.target.unwrap_or(TyId::VOID.plain());
                types.pointer(QualTy { quals: target.quals.union(quals), ..target })
            }
            (result, _) => result.ty(types),
        };
        Overload { builtin: self.id, parameters, result, is_variadic: row(self.id).signature.is_variadic }
    }
}

/// The type that an argument is converted to. A generic parameter accepts a pointer to a named address space
/// unchanged, and `any` takes the argument's type.
fn converted_type(parameter: &Param, arg: &PreparedArg, types: &mut Types) -> TyId {
    match (parameter.base, parameter.pointer, arg.target) {
        (ConcreteType::Pipe(_) | ConcreteType::Block, None, _) => arg.ty,
        (base, Some(mut quals), Some(target)) => {
            quals.space = target.quals.space;
            match base {
                ConcreteType::Any => types.pointer(QualTy { ty: target.ty, quals }),
                _ => Param { base, pointer: Some(quals) }.ty(types),
            }
        }
        _ => parameter.ty(types),
    }
}

impl Param {
    /// Whether the parameter accepts any type, or a pipe of any type.
    fn has_any(&self) -> bool {
        matches!(self.base, ConcreteType::Any | ConcreteType::Pipe(_))
    }

    /// Whether the parameter accepts any type, any pipe or any block.
    pub(super) fn takes_any_type(&self) -> bool {
        self.has_any() || self.base == ConcreteType::Block
    }
}
