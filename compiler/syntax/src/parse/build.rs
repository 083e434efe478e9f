//! What the actions of the grammar do: put the pieces of declarations and statements together. Spans are made of
//! the positions that the parser carries. Expressions have their own file.

// The parser's stack holds boxes: what it moves about must be small.
#![allow(clippy::boxed_local)]

pub(crate) use super::expression::*;
use super::{
    scopes::{Moment, NameKind},
    state::State,
};
use crate::{
    ast::*,
    span::{Span, Spanned},
    symbol::Symbol,
};

/// The list with one more.
pub(crate) fn push<T>(mut list: Vec<T>, element: T) -> Vec<T> {
    list.push(element);
    list
}

/// Two lists, one behind the other.
pub(crate) fn append<T>(mut list: Vec<T>, more: Vec<T>) -> Vec<T> {
    list.extend(more);
    list
}

pub(crate) fn ident(lo: u32, name: Symbol, hi: u32) -> Ident {
    Ident { node: name, span: Span::new(lo, hi) }
}

// Specifiers: the lists are right-recursive, so each list grows backwards and is turned round at its end.

/// A specifier that is no type and no attribute.
pub(crate) enum Modifier {
    Storage(Spanned<Storage>),
    Qualifier(Spanned<Qualifier>),
    Function(Spanned<FunctionSpecifier>),
}

pub(crate) fn modified(mut behind: Box<Specifiers>, modifier: Modifier) -> Box<Specifiers> {
    match modifier {
        Modifier::Storage(storage) => behind.storage.push(storage),
        Modifier::Qualifier(qualifier) => behind.qualifiers.push(qualifier),
        Modifier::Function(function) => behind.functions.push(function),
    }
    behind
}

pub(crate) fn attributed(mut behind: Box<Specifiers>, attributes: Vec<Attribute>) -> Box<Specifiers> {
    behind.attributes.extend(attributes.into_iter().rev());
    behind
}

pub(crate) fn typed(mut behind: Box<Specifiers>, ty: Spanned<TypeSpecifierKind>) -> Box<Specifiers> {
    behind.types.push(TypeSpecifier { kind: ty.node, span: ty.span });
    behind
}

/// A struct or enum with its braces: the attributes straight behind are its own.
pub(crate) fn typed_body(
    (own, behind): (Vec<Attribute>, Box<Specifiers>),
    mut ty: Spanned<TypeSpecifierKind>,
) -> Box<Specifiers> {
    match &mut ty.node {
        TypeSpecifierKind::Record(record) => record.attributes.extend(own),
        TypeSpecifierKind::Enum(enumeration) => enumeration.attributes.extend(own),
        _ => {}
    }
    typed(behind, ty)
}

pub(crate) fn in_order(lo: u32, mut specifiers: Box<Specifiers>, hi: u32) -> Box<Specifiers> {
    specifiers.storage.reverse();
    specifiers.types.reverse();
    specifiers.qualifiers.reverse();
    specifiers.functions.reverse();
    specifiers.attributes.reverse();
    specifiers.span = Span::new(lo, hi);
    specifiers
}

pub(crate) fn record(
    kind: RecordKind,
    tag: Option<Ident>,
    members: Option<Vec<Member>>,
    attributes: Vec<Attribute>,
) -> TypeSpecifierKind {
    TypeSpecifierKind::Record(Box::new(RecordSpecifier { kind, tag, members, attributes }))
}

pub(crate) fn enumeration(
    tag: Option<Ident>,
    enumerators: Option<Vec<Enumerator>>,
    attributes: Vec<Attribute>,
) -> TypeSpecifierKind {
    TypeSpecifierKind::Enum(Box::new(EnumSpecifier { tag, enumerators, attributes }))
}

pub(crate) fn member(
    lo: u32,
    specifiers: Box<Specifiers>,
    declarators: Vec<MemberDeclarator>,
    hi: u32,
) -> Box<Member> {
    Box::new(Member { specifiers: *specifiers, declarators, span: Span::new(lo, hi) })
}

/// An enumerator takes effect behind its value (C99 6.2.1p7).
pub(crate) fn enumerator(state: &State<'_>, name: Ident, value: Option<Expr>) -> Enumerator {
    state.scopes.borrow_mut().declare(name.node, NameKind::Value);
    Enumerator { name, value: value.map(Box::new) }
}

pub(crate) fn attribute(lo: u32, name: Ident, arguments: Vec<Argument>, hi: u32) -> Attribute {
    Attribute { name, arguments, span: Span::new(lo, hi) }
}

// Declarators

pub(crate) fn named(name: Ident) -> Box<Declarator> {
    Box::new(Declarator { name: Some(name), span: name.span, ..Declarator::default() })
}

pub(crate) fn derived(mut declarator: Box<Declarator>, derivation: Derivation) -> Box<Declarator> {
    declarator.chunks.push(derivation);
    declarator
}

/// The pointer nearest to the name binds first.
pub(crate) fn pointed(pointers: Vec<Derivation>, mut declarator: Box<Declarator>) -> Box<Declarator> {
    declarator.chunks.extend(pointers.into_iter().rev());
    declarator
}

pub(crate) fn tailed(
    lo: u32,
    mut declarator: Box<Declarator>,
    attributes: Vec<Attribute>,
    hi: u32,
) -> Box<Declarator> {
    declarator.attributes = attributes;
    declarator.span = Span::new(lo, hi);
    declarator
}

pub(crate) fn attributed_declarator(
    mut attributes: Vec<Attribute>,
    mut declarator: Box<Declarator>,
) -> Box<Declarator> {
    attributes.append(&mut declarator.attributes);
    declarator.attributes = attributes;
    declarator
}

/// What may stand behind `*`.
pub(crate) enum PointerModifier {
    Qualifier(Spanned<Qualifier>),
    Attributes(Vec<Attribute>),
}

pub(crate) fn pointer(lo: u32, modifiers: Vec<PointerModifier>, hi: u32) -> Derivation {
    let (qualifiers, attributes) = sorted(modifiers);
    Derivation { kind: DerivationKind::Pointer(qualifiers, attributes), span: Span::new(lo, hi) }
}

pub(crate) fn block_pointer(lo: u32, modifiers: Vec<PointerModifier>, hi: u32) -> Derivation {
    let (qualifiers, _) = sorted(modifiers);
    Derivation { kind: DerivationKind::Block(qualifiers), span: Span::new(lo, hi) }
}

fn sorted(modifiers: Vec<PointerModifier>) -> (Vec<Spanned<Qualifier>>, Vec<Attribute>) {
    let (mut qualifiers, mut attributes) = (vec![], vec![]);
    for modifier in modifiers {
        match modifier {
            PointerModifier::Qualifier(qualifier) => qualifiers.push(qualifier),
            PointerModifier::Attributes(more) => attributes.extend(more),
        }
    }
    (qualifiers, attributes)
}

/// `modifiers` holds the qualifiers, and `None` for `static`.
pub(crate) fn array(modifiers: Vec<Option<Spanned<Qualifier>>>, size: ArraySize) -> ArrayDerivation {
    let is_static = modifiers.contains(&None);
    ArrayDerivation { qualifiers: modifiers.into_iter().flatten().collect(), is_static, size }
}

/// `(void)` has no parameters.
pub(crate) fn function(mut parameters: Vec<Parameter>, variadic: Option<Span>) -> Box<FunctionDerivation> {
    if let [only] = &parameters[..]
        && is_plain_void(only)
    {
        parameters.clear();
    }
    Box::new(FunctionDerivation { parameters, variadic, old_style: vec![] })
}

fn is_plain_void(parameter: &Parameter) -> bool {
    let Specifiers { storage, types, qualifiers, functions, attributes, .. } = &parameter.specifiers;
    matches!(&types[..], [TypeSpecifier { kind: TypeSpecifierKind::Void, .. }])
        && storage.is_empty()
        && qualifiers.is_empty()
        && functions.is_empty()
        && attributes.is_empty()
        && parameter.declarator.name.is_none()
        && parameter.declarator.chunks.is_empty()
}

pub(crate) fn close_prototype(
    state: &State<'_>,
    lo: u32,
    (scope, function): (Moment, Box<FunctionDerivation>),
    hi: u32,
) -> Derivation {
    state.leave(scope);
    Derivation { kind: DerivationKind::Function(function), span: Span::new(lo, hi) }
}

pub(crate) fn old_style(lo: u32, names: Vec<Ident>, hi: u32) -> Derivation {
    let function = FunctionDerivation { parameters: vec![], variadic: None, old_style: names };
    Derivation { kind: DerivationKind::Function(Box::new(function)), span: Span::new(lo, hi) }
}

pub(crate) fn parameter(
    lo: u32,
    specifiers: Box<Specifiers>,
    declarator: Box<Declarator>,
    hi: u32,
) -> Box<Parameter> {
    Box::new(Parameter { specifiers: *specifiers, declarator: *declarator, span: Span::new(lo, hi) })
}

/// A parameter takes effect behind its declarator (C99 6.2.1p7): later ones may use it.
pub(crate) fn declare_parameter(state: &State<'_>, parameter: Box<Parameter>) -> Box<Parameter> {
    state.end_element();
    if let Some(name) = parameter.declarator.name {
        state.scopes.borrow_mut().declare(name.node, NameKind::Value);
    }
    parameter
}

pub(crate) fn type_name(
    lo: u32,
    specifiers: Box<Specifiers>,
    declarator: Box<Declarator>,
    hi: u32,
) -> Box<TypeName> {
    Box::new(TypeName { specifiers: *specifiers, declarator: *declarator, span: Span::new(lo, hi) })
}

/// Whether a type named like this is a vector, as far as names tell.
pub(crate) fn is_vector(state: &State<'_>, specifiers: &Specifiers, declarator: &Declarator) -> bool {
    let makes_vector = |attribute: &Attribute| state.makes_vector(attribute.name.node);
    declarator.chunks.is_empty()
        && (specifiers.types.iter().any(|ty| match &ty.kind {
            TypeSpecifierKind::Name(name) => state.scopes.borrow().kind(*name) == NameKind::Vector,
            TypeSpecifierKind::Atomic(of) | TypeSpecifierKind::TypeofType(of) => {
                is_vector(state, &of.specifiers, &of.declarator)
            }
            _ => false,
        }) || specifiers.attributes.iter().any(makes_vector)
            || declarator.attributes.iter().any(makes_vector))
}

// Declarations

pub(crate) fn declaration(lo: u32, specifiers: Box<Specifiers>, hi: u32) -> Box<Declaration> {
    Box::new(Declaration { specifiers: *specifiers, declarators: vec![], span: Span::new(lo, hi) })
}

pub(crate) fn span_declaration(mut declaration: Box<Declaration>, lo: u32, hi: u32) -> Box<Declaration> {
    declaration.span = Span::new(lo, hi);
    declaration
}

/// The declaration with one more name, which is in force from here.
pub(crate) fn declare(
    state: &State<'_>,
    mut declaration: Box<Declaration>,
    declarator: Box<Declarator>,
) -> Box<Declaration> {
    state.end_element();
    declare_name(state, &declaration.specifiers, &declarator);
    declaration.declarators.push(InitDeclarator { declarator: *declarator, init: None });
    declaration
}

fn declare_name(state: &State<'_>, specifiers: &Specifiers, declarator: &Declarator) {
    let Some(name) = declarator.name else { return };
    let kind = if !specifiers.storage.iter().any(|s| s.node == Storage::Typedef) {
        NameKind::Value
    } else if is_vector(state, specifiers, declarator) {
        NameKind::Vector
    } else {
        NameKind::Type
    };
    state.scopes.borrow_mut().declare(name.node, kind);
}

/// The elements of a list with one more.
pub(crate) fn initialized(
    state: &State<'_>,
    items: Vec<InitializerItem>,
    designators: Vec<Designator>,
    value: Initializer,
) -> Vec<InitializerItem> {
    state.end_element();
    push(items, InitializerItem { designators, value })
}

/// The initialiser of the last name.
pub(crate) fn initialize(mut declaration: Box<Declaration>, init: Initializer) -> Box<Declaration> {
    if let Some(last) = declaration.declarators.last_mut() {
        last.init = Some(init);
    }
    declaration
}

// Functions

/// A function definition up to its body, and where the scope of its parameters began.
pub(crate) struct FunctionStart {
    pub(crate) specifiers: Box<Specifiers>,
    pub(crate) declarator: Box<Declarator>,
    pub(crate) old_style: Vec<Declaration>,
    pub(crate) scope: Moment,
}

/// The scope of the parameters ended with the prototype and begins again for the body (C99 6.2.1p4).
pub(crate) fn start_function(
    state: &State<'_>,
    specifiers: Box<Specifiers>,
    declarator: Box<Declarator>,
) -> FunctionStart {
    declare_name(state, &specifiers, &declarator);
    let scope = state.enter();
    if let Some(Derivation { kind: DerivationKind::Function(function), .. }) = declarator.chunks.first() {
        let named = function.parameters.iter().filter_map(|parameter| parameter.declarator.name);
        for name in named.chain(function.old_style.iter().copied()) {
            state.scopes.borrow_mut().declare(name.node, NameKind::Value);
        }
    }
    FunctionStart { specifiers, declarator, old_style: vec![], scope }
}

pub(crate) fn finish_function(
    state: &State<'_>,
    start: FunctionStart,
    body: Block,
) -> Box<FunctionDefinition> {
    state.leave(start.scope);
    Box::new(FunctionDefinition {
        specifiers: *start.specifiers,
        declarator: *start.declarator,
        old_style: start.old_style,
        body,
    })
}

// Statements

pub(crate) fn statement(lo: u32, kind: StatementKind, hi: u32) -> Box<Statement> {
    Box::new(Statement { kind, span: Span::new(lo, hi), attributes: vec![] })
}

pub(crate) fn attributed_statement(mut attributes: Vec<Attribute>, mut of: Box<Statement>) -> Box<Statement> {
    attributes.append(&mut of.attributes);
    of.attributes = attributes;
    of
}

pub(crate) fn if_then(lo: u32, condition: Expr, then: Box<Statement>, hi: u32) -> Box<Statement> {
    statement(lo, StatementKind::If { condition, then, otherwise: None }, hi)
}

pub(crate) fn if_else(
    lo: u32,
    condition: Expr,
    then: Box<Statement>,
    otherwise: Box<Statement>,
    hi: u32,
) -> Box<Statement> {
    statement(lo, StatementKind::If { condition, then, otherwise: Some(otherwise) }, hi)
}
