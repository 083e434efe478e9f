//! Initializers: designators, omitted braces, strings, vectors (C99 6.7.8, OpenCL C 6.3.6), and compound literals.
//!
//! An aggregate initializer becomes a list of parts by byte offset. Parts that are not listed are zero.

use kiln_session::diag::{Code, Diagnostic, Piece};
use kiln_syntax::{
    Span, Symbol,
    ast::{self, Designator, ExprKind as Ast, Initializer, InitializerList},
};
use kiln_types::ty::{QualTy, Scalar, Ty, TyId};

use super::{Meaning, Role, Sema, convert::AssignContext, decl::initializer_span};
use crate::hir::{Const, Expr, ExprKind};

/// An aggregate in braces, and the current position in it.
#[derive(Clone, Copy)]
struct Frame {
    ty: TyId,
    /// Its offset in the whole object.
    offset: u64,
    /// The index of the next element or member.
    next: u64,
}

/// The maximum number of parts of a designator range.
const REPEAT_LIMIT: u64 = 1 << 20;

/// The maximum length of an array whose length comes from its initializer.
const LENGTH_LIMIT: u64 = 1 << 32;

/// The message for a designator in the braces of a vector.
const VECTOR_DESIGNATOR: &str = "the components of a vector have no designators";

/// The parts so far.
#[derive(Default)]
struct Parts {
    list: Vec<(u64, Expr)>,
    /// Whether parts may overlap earlier ones, because a designator may have gone back.
    may_overlap: bool,
    is_wrong: bool,
}

impl Sema<'_> {
    /// Checks an initializer for an object of this type. Returns the type, with the array length if the initializer
    /// determines it (C99 6.7.8). Reports errors and returns an error value for them.
    pub(crate) fn initializer(&mut self, ty: QualTy, init: &Initializer, span: Span) -> (QualTy, Expr) {
        match init {
            Initializer::List(list) => self.list_initializer(ty, list, span),
            Initializer::Expr(expr) => {
                if let Some(bytes) = self.string_for(ty.ty, expr) {
                    let mut parts = Parts::default();
                    let count = self.string_parts(ty.ty, &bytes, 0, expr.span, &mut parts);
                    return self.aggregate(ty, count, parts, expr.span);
                }
                let is_array = matches!(self.types.get(ty.ty), Ty::Array(..));
                if is_array && !matches!(strip_parens(expr).kind, Ast::CompoundLiteral(_)) {
                    let value = self.value(expr);
                    if value.ty != TyId::ERROR {
                        let is_zero = self.is_null_constant(&value);
                        self.report_needs_braces(ty, expr.span, is_zero);
                    }
                    return (ty, self.error_value(expr.span));
                }
                if is_array {
                    return self.array_copy(ty, expr);
                }
                let value = self.initial_value(expr, ty);
                (ty, value)
            }
        }
    }

    /// GNU C: an array initialized by a compound literal of its type, as in `int a[] = (int[]){1, 2}`.
    fn array_copy(&mut self, ty: QualTy, expr: &ast::Expr) -> (QualTy, Expr) {
        let Ast::CompoundLiteral(literal) = &strip_parens(expr).kind else {
            return (ty, self.error_value(expr.span));
        };
        let named = self.type_name(literal.ty);
        let same = match (self.types.get(ty.ty), self.types.get(named.ty)) {
            (Ty::Array(left, count), Ty::Array(right, other)) => {
                left.ty == right.ty && (count == other || count.is_none() || other.is_none())
            }
            _ => false,
        };
        if !same {
            self.report_needs_braces(ty, expr.span, false);
            return (ty, self.error_value(expr.span));
        }
        self.list_initializer(ty, &literal.init, expr.span)
    }

    /// Reports an initializer of an array that is not a list in braces. If the value is the constant 0, the fix
    /// initializes all elements with it.
    fn report_needs_braces(&mut self, ty: QualTy, span: Span, is_zero: bool) {
        if ty.ty == TyId::ERROR {
            return;
        }
        let shown = self.show(ty.ty);
        let diagnostic = Diagnostic::new(
            Code::InitializerShape,
            span,
            format!("`{shown}` is initialized by a list in braces"),
        )
        .note("C99 6.7.8");
        self.report(if is_zero {
            let pieces = [Piece::Text("{"), Piece::Source(span), Piece::Text("}")];
            diagnostic.help("write it in braces").rewrite(span, "write it in braces", pieces)
        } else {
            diagnostic.help("list the values of its parts in braces")
        });
    }

    /// `{ … }` for an object of this type.
    pub(crate) fn list_initializer(
        &mut self,
        ty: QualTy,
        list: &InitializerList,
        span: Span,
    ) -> (QualTy, Expr) {
        if list.items.is_empty() {
            self.report_gnu("an empty list", list.span, "C99 6.7.8");
        }
        match *self.types.get(ty.ty) {
            Ty::Error => {
                self.check_items(list);
                (ty, self.error_value(span))
            }
            Ty::Array(..) | Ty::Record(_) => {
                let mut parts = Parts::default();
                let count = self.braces(ty.ty, list, 0, &mut parts);
                self.aggregate(ty, count, parts, list.span)
            }
            Ty::Vector(..) => (ty, self.vector_list(ty.ty, list)),
            _ => (ty, self.scalar_list(ty, list)),
        }
    }

    /// Checks the items of an initializer for an object with an invalid type.
    fn check_items(&mut self, list: &InitializerList) {
        for item in list.items {
            match &item.value {
                Initializer::Expr(expr) => drop(self.value(expr)),
                Initializer::List(list) => self.check_items(list),
            }
        }
    }

    /// Builds an aggregate from its parts. An array without a length gets `count` elements.
    fn aggregate(&mut self, mut ty: QualTy, count: u64, parts: Parts, span: Span) -> (QualTy, Expr) {
        if let Ty::Array(element, None) = *self.types.get(ty.ty) {
            if count == 0 && !parts.is_wrong {
                self.report_zero_size(span);
            }
            ty.ty = self.types.intern(Ty::Array(element, Some(count)));
        }
        if parts.is_wrong {
            return (ty, self.error_value(span));
        }
        (ty, Expr { kind: ExprKind::Aggregate(parts.list), ty: ty.ty, span })
    }

    /// `{ … }` for an array or record at this offset. Returns the number of initialized elements.
    fn braces(&mut self, ty: TyId, list: &InitializerList, offset: u64, parts: &mut Parts) -> u64 {
        if let [item] = list.items
            && item.designators.is_empty()
            && let Initializer::Expr(expr) = &item.value
            && let Some(bytes) = self.string_for(ty, expr)
        {
            return self.string_parts(ty, &bytes, offset, expr.span, parts);
        }
        let mut path = vec![Frame { ty, offset, next: 0 }];
        let mut count = 0;
        let mut has_excess = false;
        for (index, item) in list.items.iter().enumerate() {
            let mut repeats = 0;
            if !item.designators.is_empty() {
                let Some(range) = self.designate(item.designators, &mut path) else {
                    parts.is_wrong = true;
                    self.check_value(&item.value);
                    continue;
                };
                repeats = range;
                parts.may_overlap = true;
            }
            if !self.to_next(&mut path) {
                if !has_excess {
                    self.report_excess(ty, list, index);
                }
                has_excess = true;
                self.check_value(&item.value);
                continue;
            }
            let depth = path.len();
            let first = path[depth - 1];
            self.item(&item.value, &mut path, parts);
            if repeats > 0 {
                path.truncate(depth);
                path[depth - 1].next = first.next + repeats + 1;
                self.repeat(first, repeats, initializer_span(&item.value), parts);
            }
            count = count.max(path[0].next + u64::from(path.len() > 1));
        }
        count
    }

    fn check_value(&mut self, value: &Initializer) {
        match value {
            Initializer::Expr(expr) => drop(self.value(expr)),
            Initializer::List(list) => self.check_items(list),
        }
    }

    /// Reports the items from this index on. The fix removes them, if no designator is among them.
    fn report_excess(&mut self, ty: TyId, list: &InitializerList, first: usize) {
        let shown = self.show(ty);
        let span = initializer_span(&list.items[first].value);
        let mut diagnostic = Diagnostic::new(
            Code::ExcessInitializers,
            span,
            format!("`{shown}` has no element for this value"),
        )
        .help("leave it out")
        .note("C99 6.7.8: an initializer must not provide values beyond the initialized object");
        if let (Some(before), Some(last)) = (list.items[..first].last(), list.items.last())
            && list.items[first..].iter().all(|item| item.designators.is_empty())
        {
            let (before, last) = (initializer_span(&before.value), initializer_span(&last.value));
            let kept = [Piece::Source(before)];
            diagnostic = diagnostic.rewrite(before.to(last), "remove the values beyond the object", kept);
        }
        self.report(diagnostic);
    }

    /// Copies the parts of an element to the next elements: `[low ... high] = value` of GNU C.
    fn repeat(&mut self, first: Frame, repeats: u64, span: Span, parts: &mut Parts) {
        let Some((ty, offset)) = self.next_part(first) else { return };
        let size = self.types.size_of(ty.ty).unwrap_or(0);
        let copied: Vec<_> =
            parts.list.iter().filter(|(at, _)| (offset..offset + size).contains(at)).cloned().collect();
        if repeats.saturating_mul(copied.len() as u64) > REPEAT_LIMIT {
            self.report(Diagnostic::new(Code::Designator, span, "this range is too large"));
            parts.is_wrong = true;
            return;
        }
        for number in 1..=repeats {
            let shift = number * size;
            self.clear(ty.ty, offset + shift, parts);
            parts.list.extend(copied.iter().map(|(at, value)| (at + shift, value.clone())));
        }
    }

    /// Follows designators, starting at the outermost braces (C99 6.7.8). Returns the number of elements of a range
    /// after the first.
    fn designate(&mut self, designators: &[Designator], path: &mut Vec<Frame>) -> Option<u64> {
        path.truncate(1);
        let mut repeats = 0;
        for (number, designator) in designators.iter().enumerate() {
            if number > 0 && !self.descend(path) {
                let (part, _) = path.last().and_then(|top| self.next_part(*top))?;
                let message = if matches!(self.types.get(part.ty), Ty::Vector(..)) {
                    VECTOR_DESIGNATOR.to_owned()
                } else {
                    format!("a designator cannot name a part of `{}`", self.show(part.ty))
                };
                self.report_designator(designator, &message);
                return None;
            }
            let frame = *path.last()?;
            match (designator, self.types.get(frame.ty).clone()) {
                (Designator::Index(expr), Ty::Array(_, length)) => {
                    let index = self.designated_index(expr, length)?;
                    path.last_mut()?.next = index;
                }
                (Designator::Range(low, high), Ty::Array(_, length)) => {
                    let (low, last) =
                        (self.designated_index(low, length)?, self.designated_index(high, length)?);
                    if last < low || number + 1 != designators.len() {
                        self.report_designator(designator, "a range must not be empty, and must come last");
                        return None;
                    }
                    path.last_mut()?.next = low;
                    repeats = last - low;
                }
                (Designator::Member(name), Ty::Record(record)) => {
                    if let Some(found) = self.find_member(record, name.node) {
                        self.note(name.span, Meaning::Member(found.declared), Role::Use);
                    }
                    if !self.designate_member(name.node, path) {
                        let (text, shown) = (self.text(name.node).to_owned(), self.show(frame.ty));
                        self.report_designator(designator, &format!("`{shown}` has no member `{text}`"));
                        return None;
                    }
                }
                (Designator::Index(_) | Designator::Range(..), _) => {
                    self.report_designator(
                        designator,
                        "an index designates an element of an array, and this is not an array",
                    );
                    return None;
                }
                (Designator::Member(_), _) => {
                    self.report_designator(
                        designator,
                        "a name designates a member of a record, and this is not a record",
                    );
                    return None;
                }
            }
        }
        Some(repeats)
    }

    /// An index in brackets, if it is within the array.
    fn designated_index(&mut self, expr: &ast::Expr, length: Option<u64>) -> Option<u64> {
        let index = self.integer_constant(expr, "an index")?;
        let limit = length.unwrap_or(LENGTH_LIMIT);
        let found = u64::try_from(index).ok().filter(|index| *index < limit);
        if found.is_none() {
            let message = format!("the array has no element {index}");
            self.report(Diagnostic::new(Code::Designator, expr.span, message).note("C99 6.7.8"));
        }
        found
    }

    fn report_designator(&mut self, designator: &Designator, message: &str) {
        let span = match designator {
            Designator::Member(name) => name.span,
            Designator::Index(expr) => expr.span,
            Designator::Range(low, high) => low.span.to(high.span),
        };
        self.report(Diagnostic::new(Code::Designator, span, message).note("C99 6.7.8"));
    }

    /// Makes a member the next one, entering anonymous members if necessary.
    fn designate_member(&mut self, name: Symbol, path: &mut Vec<Frame>) -> bool {
        let Some(top) = path.last().copied() else { return false };
        let Ty::Record(id) = *self.types.get(top.ty) else { return false };
        let fields = self.types.records[id].fields.clone().unwrap_or_default();
        for (index, field) in (0u64..).zip(&fields) {
            if let Some(top) = path.last_mut() {
                top.next = index;
            }
            if field.name == Some(name) {
                return true;
            }
            if field.name.is_none() {
                let depth = path.len();
                path.push(Frame { ty: field.ty.ty, offset: top.offset + field.offset, next: 0 });
                if self.designate_member(name, path) {
                    return true;
                }
                path.truncate(depth);
            }
        }
        false
    }

    /// Leaves complete aggregates. `false` if no part is left in the braces.
    fn to_next(&self, path: &mut Vec<Frame>) -> bool {
        while let Some(top) = path.last() {
            if top.next < self.part_count(top.ty) {
                return true;
            }
            if path.len() == 1 {
                return false;
            }
            path.pop();
            if let Some(top) = path.last_mut() {
                self.advance(top);
            }
        }
        false
    }

    /// Advances to the next part. A union has only one.
    fn advance(&self, frame: &mut Frame) {
        frame.next = match self.types.get(frame.ty) {
            Ty::Record(id) if self.types.records[*id].kind == ast::RecordKind::Union => u64::MAX,
            _ => frame.next + 1,
        };
    }

    /// The number of elements or members to initialize.
    fn part_count(&self, ty: TyId) -> u64 {
        match self.types.get(ty) {
            Ty::Array(_, count) => count.unwrap_or(u64::MAX),
            Ty::Record(id) => self.types.records[*id].fields.as_ref().map_or(0, |fields| fields.len() as u64),
            _ => 0,
        }
    }

    /// The type and offset of the next part.
    fn next_part(&self, frame: Frame) -> Option<(QualTy, u64)> {
        match self.types.get(frame.ty) {
            Ty::Array(element, _) => {
                let size = self.types.size_of(element.ty).unwrap_or(0);
                Some((*element, frame.offset.saturating_add(size.saturating_mul(frame.next))))
            }
            Ty::Record(id) => {
                let fields = self.types.records[*id].fields.as_ref()?;
                let field = fields.get(usize::try_from(frame.next).ok()?)?;
                Some((field.ty, frame.offset + field.offset))
            }
            _ => None,
        }
    }

    /// Enters the next part.
    fn descend(&self, path: &mut Vec<Frame>) -> bool {
        let Some((ty, offset)) = path.last().and_then(|top| self.next_part(*top)) else { return false };
        if self.part_count(ty.ty) == 0 {
            return false;
        }
        path.push(Frame { ty: ty.ty, offset, next: 0 });
        true
    }

    /// Checks an item of a list: it initializes the next part, or the first scalar inside it.
    fn item(&mut self, value: &Initializer, path: &mut Vec<Frame>, parts: &mut Parts) {
        let Some((ty, offset)) = path.last().and_then(|top| self.next_part(*top)) else { return };
        match value {
            Initializer::List(list) => {
                if matches!(self.types.get(ty.ty), Ty::Array(..) | Ty::Record(_)) {
                    self.clear(ty.ty, offset, parts);
                    self.braces(ty.ty, list, offset, parts);
                } else {
                    let (_, value) = self.list_initializer(ty, list, list.span);
                    self.part(offset, value, parts);
                }
            }
            Initializer::Expr(expr) => self.expression_item(expr, path, parts),
        }
        if let Some(top) = path.last_mut() {
            self.advance(top);
        }
    }

    /// Checks an expression in a list: it initializes a part of its type, or the first non-aggregate inside it.
    fn expression_item(&mut self, expr: &ast::Expr, path: &mut Vec<Frame>, parts: &mut Parts) {
        let mut value = None;
        loop {
            let Some((ty, offset)) = path.last().and_then(|top| self.next_part(*top)) else { return };
            if value.is_none()
                && let Some(bytes) = self.string_for(ty.ty, expr)
            {
                self.clear(ty.ty, offset, parts);
                self.string_parts(ty.ty, &bytes, offset, expr.span, parts);
                return;
            }
            let is_aggregate = matches!(self.types.get(ty.ty), Ty::Array(..) | Ty::Record(_));
            let known = value.take().unwrap_or_else(|| self.value(expr));
            if known.ty == TyId::ERROR {
                parts.is_wrong = true;
                return;
            }
            if is_aggregate && known.ty != ty.ty {
                if !self.descend(path) {
                    let shown = self.show(ty.ty);
                    self.report(Diagnostic::new(
                        Code::InitializerShape,
                        expr.span,
                        format!("`{shown}` has no part that this could initialize"),
                    ));
                    parts.is_wrong = true;
                    return;
                }
                value = Some(known);
                continue;
            }
            let converted = self.assign_convert(known, ty, AssignContext::Initialize);
            return self.part(offset, converted, parts);
        }
    }

    /// Adds a part, replacing earlier ones.
    fn part(&mut self, offset: u64, value: Expr, parts: &mut Parts) {
        if value.ty == TyId::ERROR {
            parts.is_wrong = true;
            return;
        }
        self.clear(value.ty, offset, parts);
        parts.list.push((offset, value));
    }

    /// Removes earlier parts of an object that is initialized again (C99 6.7.8).
    fn clear(&self, ty: TyId, offset: u64, parts: &mut Parts) {
        if parts.may_overlap {
            let end = offset.saturating_add(self.types.size_of(ty).unwrap_or(0));
            parts.list.retain(|(part, _)| *part < offset || *part >= end);
        }
    }

    /// `{ … }` for a vector: with all components (OpenCL C 6.3.6), or none, as in GNU C.
    fn vector_list(&mut self, ty: TyId, list: &InitializerList) -> Expr {
        let Ty::Vector(element, count) = *self.types.get(ty) else { return self.error_value(list.span) };
        if list.items.is_empty() {
            return Expr { kind: ExprKind::Const(Const::Zero), ty, span: list.span };
        }
        let mut values = Vec::new();
        let mut total = 0u32;
        for item in list.items {
            if let Some(designator) = item.designators.first() {
                self.report_designator(designator, VECTOR_DESIGNATOR);
                return self.error_value(list.span);
            }
            let Initializer::Expr(expr) = &item.value else {
                self.report(Diagnostic::new(
                    Code::InitializerShape,
                    initializer_span(&item.value),
                    "a component of a vector has no braces",
                ));
                return self.error_value(list.span);
            };
            let value = self.value(expr);
            let value = match *self.types.get(value.ty) {
                Ty::Error => return self.error_value(list.span),
                Ty::Vector(other, other_count) if other == element => {
                    total += u32::from(other_count);
                    value
                }
                _ => {
                    total += 1;
                    self.assign_convert(value, TyId::scalar(element).plain(), AssignContext::Initialize)
                }
            };
            if value.ty == TyId::ERROR {
                return self.error_value(list.span);
            }
            values.push(value);
        }
        if total == u32::from(count) {
            return Expr { kind: ExprKind::Vector(values.into()), ty, span: list.span };
        }
        let shown = self.show(ty);
        let mut diagnostic = Diagnostic::new(
            Code::InitializerShape,
            list.span,
            format!("`{shown}` has {count} components, and the list gives {total}"),
        )
        .note("OpenCL C 6.3.6");
        if let Some(last) = values.last().filter(|_| total < u32::from(count)) {
            let zeros = ", 0".repeat(usize::from(count) - total as usize);
            diagnostic = diagnostic
                .help("give each component a value; compilers that accept this set the others to 0")
                .rewrite(
                    last.span,
                    "set the other components to 0",
                    [Piece::Source(last.span), Piece::Text(&zeros)],
                );
        }
        self.report(diagnostic);
        self.error_value(list.span)
    }

    /// `{ value }` for a scalar (C99 6.7.8).
    fn scalar_list(&mut self, ty: QualTy, list: &InitializerList) -> Expr {
        let Some(first) = list.items.first() else {
            let shown = self.show(ty.ty);
            self.report(
                Diagnostic::new(Code::InitializerShape, list.span, format!("`{shown}` needs a value"))
                    .note("C99 6.7.8: the initializer of a scalar is a single expression"),
            );
            return self.error_value(list.span);
        };
        if let Some(designator) = first.designators.first() {
            self.report_designator(designator, "a scalar has no parts to designate");
            return self.error_value(list.span);
        }
        if list.items.len() > 1 {
            self.report_excess(ty.ty, list, 1);
            for item in &list.items[1..] {
                self.check_value(&item.value);
            }
        }
        match &first.value {
            Initializer::Expr(expr) => self.initial_value(expr, ty),
            Initializer::List(list) => self.scalar_list(ty, list),
        }
    }

    /// The bytes of a string literal, if the object is a character array (C99 6.7.8).
    fn string_for(&mut self, ty: TyId, expr: &ast::Expr) -> Option<Vec<u8>> {
        let Ast::String(pieces) = &strip_parens(expr).kind else { return None };
        let Ty::Array(element, _) = *self.types.get(ty) else { return None };
        matches!(self.types.get(element.ty), Ty::Scalar(Scalar::Char | Scalar::UChar))
            .then(|| self.string_bytes(pieces))
    }

    /// Adds the characters of a string, with the terminator if there is room. Returns the length for an array without
    /// one.
    fn string_parts(&mut self, ty: TyId, bytes: &[u8], offset: u64, span: Span, parts: &mut Parts) -> u64 {
        let Ty::Array(element, length) = *self.types.get(ty) else { return 0 };
        let text = bytes.strip_suffix(&[0]).unwrap_or(bytes);
        let room = length.unwrap_or(u64::MAX);
        if text.len() as u64 > room {
            self.report(
                Diagnostic::new(Code::ExcessInitializers, span, "the array is too short for this string")
                    .note("C99 6.7.8"),
            );
        }
        let is_signed = matches!(self.types.get(element.ty), Ty::Scalar(Scalar::Char));
        for (index, &byte) in (0..room).zip(text) {
            let bits = if is_signed { byte as i8 as u64 } else { u64::from(byte) };
            let value = Expr { kind: ExprKind::Const(Const::Int(bits)), ty: element.ty, span };
            parts.list.push((offset + index, value));
        }
        text.len() as u64 + 1
    }
}

/// An expression without enclosing parentheses.
fn strip_parens<'a>(mut expr: &'a ast::Expr<'a>) -> &'a ast::Expr<'a> {
    while let Ast::Paren(inner) = &expr.kind {
        expr = inner;
    }
    expr
}
