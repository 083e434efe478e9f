//! Suggestions for calls that match no overload of a built-in function: other argument types, another order of the
//! arguments, or another function.

use kiln_builtins::{ArgTy, FailureKind, Set};
use kiln_session::diag::{Change, Fix, OwnedPiece};
use kiln_syntax::Span;
use kiln_types::ty::{Implicit, Pointee, Scalar, Ty, TyId};

use super::{Sema, builtin::Call};
use crate::hir::{Const, Expr, ExprKind};

/// The maximum number of arguments to reorder.
const MAX_REORDERED: usize = 4;

/// Functions whose argument is a dimension.
const DIMENSION_FUNCTIONS: [&str; 8] = [
    "get_enqueued_local_size",
    "get_global_id",
    "get_global_offset",
    "get_global_size",
    "get_group_id",
    "get_local_id",
    "get_local_size",
    "get_num_groups",
];

/// Functions, and the equivalent function for another type of number.
const FOR_OTHER_NUMBERS: [(&str, &str); 4] =
    [("abs", "fabs"), ("fabs", "abs"), ("fmax", "max"), ("fmin", "min")];

/// Whether the argument of this function is a dimension.
pub(super) fn takes_dimension(name: &str) -> bool {
    DIMENSION_FUNCTIONS.contains(&name)
}

impl Sema<'_> {
    /// A suggestion for a call that no overload takes, if there is a good one.
    pub(super) fn suggestion(
        &mut self,
        failure: &FailureKind,
        set: &Set,
        arguments: &[Expr],
        call: &Call,
    ) -> Option<Suggestion> {
        match failure {
            FailureKind::Ambiguous => self
                .other_types(set, arguments, call)
                .or_else(|| self.other_function(arguments, call))
                .or_else(|| self.one_vector(arguments)),
            FailureKind::Argument(_) => self
                .other_order(set, arguments, call)
                .or_else(|| self.as_condition(arguments, call))
                .or_else(|| self.other_types(set, arguments, call)),
            FailureKind::Count(_) => self.other_count(arguments, call),
            FailureKind::Reported => None,
        }
    }

    /// Converts the arguments to their common type, or to `float`.
    fn other_types(&mut self, set: &Set, arguments: &[Expr], call: &Call) -> Option<Suggestion> {
        let elements: Option<Vec<Scalar>> =
            arguments.iter().map(|argument| Some(self.types.components(argument.ty)?.0)).collect();
        let common = elements?.into_iter().reduce(Scalar::usual)?;
        // Constants without a suffix are doubles, but rarely intended.
        let is_constant = |argument: &Expr| matches!(argument.kind, ExprKind::Const(_));
        let is_of = |argument: &Expr, scalar| self.element(argument.ty) == Some(scalar);
        let prefers_float = arguments.iter().any(|argument| is_of(argument, Scalar::Float))
            && arguments.iter().all(|argument| !is_of(argument, Scalar::Double) || is_constant(argument));
        let common = if prefers_float { Scalar::Float } else { common };
        [common, Scalar::Float].into_iter().find_map(|to| {
            let types: Vec<ArgTy> = arguments
                .iter()
                .map(|argument| {
                    let (_, count) = self.types.components(argument.ty)?;
                    Some(ArgTy { ty: self.types.vector(to, count), is_zero: false })
                })
                .collect::<Option<_>>()?;
            self.overload_cache.resolve(set, &mut self.types, &types).ok()?;
            self.arguments_as(arguments, to, call)
        })
    }

    /// Converts the arguments of other types to this type.
    fn arguments_as(&self, arguments: &[Expr], to: Scalar, call: &Call) -> Option<Suggestion> {
        let differs = |argument: &&Expr| self.element(argument.ty) != Some(to);
        let changed: Vec<&Expr> = arguments.iter().filter(differs).collect();
        let name = to.spelling();
        if let [argument] = changed.as_slice() {
            let pieces = self.conversion(argument, to)?;
            let help = match pieces.as_slice() {
                [OwnedPiece::Text(literal)] => format!("write `{literal}`"),
                [OwnedPiece::Text(cast), _] => format!("write `{cast}` before it"),
                [OwnedPiece::Text(function), ..] => format!("write `{function}…)`"),
                _ => return None,
            };
            let fix = rewrite(argument.span, &help, pieces);
            let number =
                arguments.iter().position(|other| other.span == argument.span).unwrap_or_default() + 1;
            let help = match arguments {
                [_] => help,
                _ => format!("convert argument {number} to `{name}`: {help}"),
            };
            return Some(Suggestion { help, fix });
        }
        let help = format!("convert the arguments to `{name}`");
        let pieces = arguments.iter().map(|argument| match differs(&argument) {
            true => self.conversion(argument, to),
            false => Some(vec![OwnedPiece::Source(argument.span)]),
        });
        let fix = rewrite(call.span, &help, call_of(call.name, pieces.collect::<Option<Vec<_>>>()?));
        Some(Suggestion { help, fix })
    }

    /// A text that converts a value.
    fn conversion(&self, value: &Expr, to: Scalar) -> Option<Vec<OwnedPiece>> {
        let (_, count) = self.types.components(value.ty)?;
        let name = to.spelling();
        Some(match (&value.kind, to) {
            (ExprKind::Const(Const::Int(bits)), Scalar::Float) if *bits < 1 << 24 => {
                vec![OwnedPiece::Text(format!("{bits}.0f"))]
            }
            (ExprKind::Const(Const::Int(bits)), Scalar::Double) if *bits < 1 << 53 => {
                vec![OwnedPiece::Text(format!("{bits}.0"))]
            }
            (ExprKind::Const(Const::Float(value)), Scalar::Float) if (*value as f32).is_finite() => {
                vec![OwnedPiece::Text(format!("{value:?}f"))]
            }
            _ if count == 1 => vec![OwnedPiece::Text(format!("({name})")), OwnedPiece::Operand(value.span)],
            _ => vec![
                OwnedPiece::Text(format!("convert_{name}{count}(")),
                OwnedPiece::Source(value.span),
                OwnedPiece::Text(")".to_owned()),
            ],
        })
    }

    /// `fabs` for `abs` of a `float`.
    fn other_function(&mut self, arguments: &[Expr], call: &Call) -> Option<Suggestion> {
        let (_, other) = FOR_OTHER_NUMBERS.iter().find(|(name, _)| *name == call.name)?;
        let set = self.overload_cache.lookup(other, &self.builtin_context())?;
        let types = self.argument_types(arguments);
        self.overload_cache.resolve(&set, &mut self.types, &types).ok()?;
        Some(renamed(call, other))
    }

    /// Reorders the arguments, if an overload accepts them in exactly one order.
    fn other_order(&mut self, set: &Set, arguments: &[Expr], call: &Call) -> Option<Suggestion> {
        if !(2..=MAX_REORDERED).contains(&arguments.len()) {
            return None;
        }
        let types = self.argument_types(arguments);
        let mut found = Vec::new();
        for order in permutations(arguments.len()) {
            let reordered: Vec<ArgTy> = order.iter().map(|&index| types[index]).collect();
            let Ok(overload) = self.overload_cache.resolve(set, &mut self.types, &reordered) else {
                continue;
            };
            let parameters = overload.parameters.iter().map(|parameter| parameter.ty);
            if reordered.iter().zip(parameters).all(|(given, taken)| self.is_close(given, taken)) {
                found.push(order);
            }
        }
        let [order] = found.as_slice() else { return None };
        let moved: Vec<usize> = (0..order.len()).filter(|&index| order[index] != index).collect();
        let help = match moved.as_slice() {
            [first, second] => format!("swap arguments {} and {}", first + 1, second + 1),
            _ => "write the arguments in the order of the parameters".to_owned(),
        };
        let pieces = order.iter().map(|&index| vec![OwnedPiece::Source(arguments[index].span)]).collect();
        Some(Suggestion { fix: rewrite(call.span, &help, call_of(call.name, pieces)), help })
    }

    /// Whether an argument has the type of a parameter, apart from conversions between numbers.
    fn is_close(&self, given: &ArgTy, taken: TyId) -> bool {
        match self.types.implicit(given.ty, taken) {
            Implicit::Same | Implicit::Arithmetic(_) => true,
            Implicit::Pointer(change) => change.pointee == Pointee::Compatible,
            _ => false,
        }
    }

    /// `any(a)` and `all(a)` of floats.
    fn as_condition(&self, arguments: &[Expr], call: &Call) -> Option<Suggestion> {
        let [value] = arguments else { return None };
        if !matches!(call.name, "any" | "all") || !self.element(value.ty)?.is_float() {
            return None;
        }
        let help = "compare it first: write `!= 0` after it".to_owned();
        let pieces = vec![OwnedPiece::Operand(value.span), OwnedPiece::Text(" != 0".to_owned())];
        Some(Suggestion { fix: rewrite(value.span, &help, pieces), help })
    }

    /// A suggestion for a wrong number of arguments: the missing argument, or another function.
    fn other_count(&mut self, arguments: &[Expr], call: &Call) -> Option<Suggestion> {
        let context = self.builtin_context();
        let name = call.name;
        if arguments.is_empty() && takes_dimension(name) {
            return Some(replace_call(call, format!("{name}(0)")));
        }
        let explicit = format!("{name}_explicit");
        if let Some(set) = self.overload_cache.lookup(&explicit, &context) {
            let types = self.argument_types(arguments);
            let is_count = |kind: FailureKind| matches!(kind, FailureKind::Count(_));
            if !self
                .overload_cache
                .resolve(&set, &mut self.types, &types)
                .is_err_and(|failure| is_count(failure.kind))
            {
                return Some(renamed(call, &explicit));
            }
        }
        match (name, arguments) {
            ("atomic_work_item_fence", [order, _]) => {
                let flags = "CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE, ";
                let pieces = vec![OwnedPiece::Text(flags.to_owned()), OwnedPiece::Source(order.span)];
                let help = format!("write the memory first: `{}`", flags.trim_end_matches(", "));
                Some(Suggestion { fix: rewrite(order.span, &help, pieces), help })
            }
            ("atomic_work_item_fence", [_]) => {
                let help =
                    "write the order and the scope last, such as `memory_order_acq_rel, memory_scope_device`";
                Some(Suggestion { fix: None, help: help.to_owned() })
            }
            ("async_work_group_copy", [_, _, last]) | ("async_work_group_strided_copy", [_, _, _, last]) => {
                let help = "write the event last: `0` for a new one".to_owned();
                let pieces = vec![OwnedPiece::Source(last.span), OwnedPiece::Text(", 0".to_owned())];
                Some(Suggestion { fix: rewrite(last.span, &help, pieces), help })
            }
            (_, [pointer]) if name.starts_with("vload") => {
                let help = "write the offset first, which counts vectors: `0`".to_owned();
                let pieces = vec![OwnedPiece::Text("0, ".to_owned()), OwnedPiece::Source(pointer.span)];
                Some(Suggestion { fix: rewrite(pointer.span, &help, pieces), help })
            }
            (_, [_, pointer]) if name.starts_with("vstore") => {
                let help = "write the offset second, which counts vectors: `0`".to_owned();
                let pieces = vec![OwnedPiece::Text("0, ".to_owned()), OwnedPiece::Source(pointer.span)];
                let fix = rewrite(pointer.span, &help, pieces);
                let is_pointer = matches!(self.types.get(pointer.ty), Ty::Pointer(_));
                Some(Suggestion { fix: fix.filter(|_| is_pointer), help })
            }
            _ => self.one_vector(arguments),
        }
    }

    /// The coordinates of an image in one vector (OpenCL C 6.15.15), if they are several numbers.
    pub(super) fn one_vector(&mut self, arguments: &[Expr]) -> Option<Suggestion> {
        let Ty::Image(image) = self.types.get(arguments.first()?.ty) else { return None };
        let rank = usize::from(image.rank());
        let first = 1 + usize::from(matches!(self.types.get(arguments.get(1)?.ty), Ty::Sampler));
        let numbers: Vec<&Expr> = arguments
            .get(first..)?
            .iter()
            .take(rank)
            .take_while(|value| matches!(self.types.components(value.ty), Some((_, 1))))
            .collect();
        if numbers.len() != rank || rank < 2 {
            return None;
        }
        let element = if self.element(numbers[0].ty)?.is_float() { "float" } else { "int" };
        let (width, end) = if rank == 3 { (4, ", 0)") } else { (2, ")") };
        let mut pieces = vec![OwnedPiece::Text(format!("({element}{width})("))];
        for (index, number) in numbers.iter().enumerate() {
            if index > 0 {
                pieces.push(OwnedPiece::Text(", ".to_owned()));
            }
            pieces.push(OwnedPiece::Source(number.span));
        }
        pieces.push(OwnedPiece::Text(end.to_owned()));
        let blanks = vec!["…"; rank].join(", ");
        let help = format!("the coordinates are one vector: write `({element}{width})({blanks}{end}`");
        let span = Span::new(numbers[0].span.lo, numbers[rank - 1].span.hi);
        // At most two arguments follow the coordinates; with more, there are other mistakes.
        let fix = rewrite(span, &help, pieces).filter(|_| arguments.len() <= first + rank + 2);
        Some(Suggestion { fix, help })
    }
}

/// What to write instead of a call.
pub(super) struct Suggestion {
    pub(super) help: String,
    pub(super) fix: Option<Fix>,
}

fn renamed(call: &Call, name: &str) -> Suggestion {
    Suggestion { help: format!("write `{name}`"), fix: Some(Fix::replacement(call.callee, name)) }
}

fn replace_call(call: &Call, text: String) -> Suggestion {
    let help = format!("write `{text}`");
    Suggestion { fix: rewrite(call.span, &help, vec![OwnedPiece::Text(text)]), help }
}

fn rewrite(span: Span, title: &str, pieces: Vec<OwnedPiece>) -> Option<Fix> {
    Some(Fix { title: title.to_owned(), span, change: Change::Rewrite(pieces) })
}

/// `name(first, second)`
fn call_of(name: &str, arguments: Vec<Vec<OwnedPiece>>) -> Vec<OwnedPiece> {
    let mut pieces = vec![OwnedPiece::Text(format!("{name}("))];
    for (index, argument) in arguments.into_iter().enumerate() {
        if index > 0 {
            pieces.push(OwnedPiece::Text(", ".to_owned()));
        }
        pieces.extend(argument);
    }
    pieces.push(OwnedPiece::Text(")".to_owned()));
    pieces
}

/// All permutations of the indices below `count`.
fn permutations(count: usize) -> Vec<Vec<usize>> {
    let mut all = vec![Vec::new()];
    for _ in 0..count {
        let next = |order: Vec<usize>| {
            let rest = (0..count).filter(|index| !order.contains(index)).collect::<Vec<_>>();
            rest.into_iter().map(move |index| order.iter().copied().chain([index]).collect())
        };
        all = all.into_iter().flat_map(next).collect();
    }
    all
}
