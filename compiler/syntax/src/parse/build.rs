//! Grammar actions for declarations and statements. Spans are built from the positions on the parser's stack.
//! `expression.rs` has the actions for expressions.

pub(crate) use super::{expression::*, parts::*};
use super::{
    scopes::{Checkpoint, NameKind},
    state::State,
};
use crate::{
    ast::*,
    span::{Span, Spanned},
    symbol::Symbol,
};

/// Appends an element.
pub(crate) fn push<T>(mut list: Vec<T>, element: T) -> Vec<T> {
    list.push(element);
    list
}

/// Prepends to a list that is stored in reverse.
pub(crate) fn prepend<T>(mut list: Vec<T>, more: Vec<T>) -> Vec<T> {
    list.extend(more.into_iter().rev());
    list
}

/// Concatenates two lists.
pub(crate) fn append<T>(mut list: Vec<T>, more: Vec<T>) -> Vec<T> {
    list.extend(more);
    list
}

pub(crate) fn ident(lo: u32, name: Symbol, hi: u32) -> Ident {
    Ident { node: name, span: Span::new(lo, hi) }
}

/// A struct or enum with braces. Attributes directly after the brace belong to it.
pub(crate) fn typed_body<'a>(
    state: &State<'_, 'a>,
    (own, behind): (Vec<Attribute<'a>>, Box<SpecifierParts<'a>>),
    ty: Spanned<TypeSpecifierKind<'a>>,
) -> Box<SpecifierParts<'a>> {
    let with_own = |before: &[Attribute<'a>]| state.arena.list(&[before, &own].concat());
    let node = match ty.node {
        TypeSpecifierKind::Record(record) if !own.is_empty() => {
            let attributes = with_own(record.attributes);
            TypeSpecifierKind::Record(state.arena.node(RecordSpecifier { attributes, ..*record }))
        }
        TypeSpecifierKind::Enum(enumeration) if !own.is_empty() => {
            let attributes = with_own(enumeration.attributes);
            TypeSpecifierKind::Enum(state.arena.node(EnumSpecifier { attributes, ..*enumeration }))
        }
        other => other,
    };
    behind.typed(Spanned { node, ..ty })
}

pub(crate) fn record<'a>(
    state: &State<'_, 'a>,
    kind: RecordKind,
    tag: Option<Ident>,
    members: Option<Vec<Member<'a>>>,
    attributes: Vec<Attribute<'a>>,
) -> TypeSpecifierKind<'a> {
    let members = members.map(|members| state.arena.list(&members));
    let attributes = state.arena.list(&attributes);
    TypeSpecifierKind::Record(state.arena.node(RecordSpecifier { kind, tag, members, attributes }))
}

pub(crate) fn enumeration<'a>(
    state: &State<'_, 'a>,
    tag: Option<Ident>,
    enumerators: Option<Vec<Enumerator<'a>>>,
    attributes: Vec<Attribute<'a>>,
) -> TypeSpecifierKind<'a> {
    let enumerators = enumerators.map(|enumerators| state.arena.list(&enumerators));
    let attributes = state.arena.list(&attributes);
    TypeSpecifierKind::Enum(state.arena.node(EnumSpecifier { tag, enumerators, attributes }))
}

pub(crate) fn member<'a>(
    state: &State<'_, 'a>,
    lo: u32,
    specifiers: &'a Specifiers<'a>,
    declarators: Vec<MemberDeclarator<'a>>,
    hi: u32,
) -> &'a Member<'a> {
    let declarators = state.arena.list(&declarators);
    state.arena.node(Member { specifiers: *specifiers, declarators, span: Span::new(lo, hi) })
}

pub(crate) fn member_declarator<'a>(
    state: &State<'_, 'a>,
    declarator: Box<DeclaratorParts<'a>>,
    width: Option<Expr<'a>>,
) -> MemberDeclarator<'a> {
    let declarator = state.arena.node(declarator.finish(state));
    MemberDeclarator { declarator, width: width.map(|width| state.arena.node(width)) }
}

/// The scope of an enumerator starts after its value (C99 6.2.1p7).
pub(crate) fn enumerator<'a>(state: &State<'_, 'a>, name: Ident, value: Option<Expr<'a>>) -> Enumerator<'a> {
    state.scopes.borrow_mut().declare(name.node, NameKind::Value);
    Enumerator { name, value: value.map(|value| state.arena.node(value)) }
}

pub(crate) fn attribute<'a>(
    state: &State<'_, 'a>,
    lo: u32,
    name: Ident,
    arguments: Vec<Argument<'a>>,
    hi: u32,
) -> Attribute<'a> {
    Attribute { name, arguments: state.arena.list(&arguments), span: Span::new(lo, hi) }
}

// Declarators

/// Modifiers after `*`.
pub(crate) enum PointerModifier<'a> {
    Qualifier(Spanned<Qualifier>),
    Attributes(Vec<Attribute<'a>>),
}

pub(crate) fn pointer<'a>(
    state: &State<'_, 'a>,
    lo: u32,
    modifiers: Vec<PointerModifier<'a>>,
    hi: u32,
) -> Derivation<'a> {
    let (qualifiers, attributes) = sorted(state, modifiers);
    Derivation { kind: DerivationKind::Pointer(qualifiers, attributes), span: Span::new(lo, hi) }
}

pub(crate) fn block_pointer<'a>(
    state: &State<'_, 'a>,
    lo: u32,
    modifiers: Vec<PointerModifier<'a>>,
    hi: u32,
) -> Derivation<'a> {
    let (qualifiers, _) = sorted(state, modifiers);
    Derivation { kind: DerivationKind::Block(qualifiers), span: Span::new(lo, hi) }
}

fn sorted<'a>(
    state: &State<'_, 'a>,
    modifiers: Vec<PointerModifier<'a>>,
) -> (&'a [Spanned<Qualifier>], &'a [Attribute<'a>]) {
    let (mut qualifiers, mut attributes) = (vec![], vec![]);
    for modifier in modifiers {
        match modifier {
            PointerModifier::Qualifier(qualifier) => qualifiers.push(qualifier),
            PointerModifier::Attributes(more) => attributes.extend(more),
        }
    }
    (state.arena.list(&qualifiers), state.arena.list(&attributes))
}

/// `modifiers` contains the qualifiers, and `None` for `static`.
pub(crate) fn array<'a>(
    state: &State<'_, 'a>,
    lo: u32,
    modifiers: Vec<Option<Spanned<Qualifier>>>,
    size: ArraySize<'a>,
    hi: u32,
) -> Derivation<'a> {
    let is_static = modifiers.contains(&None);
    let qualifiers: Vec<_> = modifiers.into_iter().flatten().collect();
    let array = ArrayDerivation { qualifiers: state.arena.list(&qualifiers), is_static, size };
    Derivation { kind: DerivationKind::Array(state.arena.node(array)), span: Span::new(lo, hi) }
}

/// `(void)` means no parameters.
pub(crate) fn function<'a>(
    state: &State<'_, 'a>,
    parameters: Vec<Parameter<'a>>,
    variadic: Option<Span>,
) -> &'a FunctionDerivation<'a> {
    let parameters = match &parameters[..] {
        [only] if is_plain_void(only) => &[],
        all => state.arena.list(all),
    };
    state.arena.node(FunctionDerivation { parameters, variadic, old_style: &[] })
}

fn is_plain_void(parameter: &Parameter<'_>) -> bool {
    let Specifiers { storage, types, qualifiers, functions, attributes, .. } = parameter.specifiers;
    matches!(types, [TypeSpecifier { kind: TypeSpecifierKind::Void, .. }])
        && storage.is_empty()
        && qualifiers.is_empty()
        && functions.is_empty()
        && attributes.is_empty()
        && parameter.declarator.name.is_none()
        && parameter.declarator.derivations.is_empty()
}

pub(crate) fn close_prototype<'a>(
    state: &State<'_, 'a>,
    lo: u32,
    (scope, function): (Checkpoint, &'a FunctionDerivation<'a>),
    hi: u32,
) -> Derivation<'a> {
    state.leave(scope);
    Derivation { kind: DerivationKind::Function(function), span: Span::new(lo, hi) }
}

pub(crate) fn old_style<'a>(state: &State<'_, 'a>, lo: u32, names: Vec<Ident>, hi: u32) -> Derivation<'a> {
    let names = state.arena.list(&names);
    let function = FunctionDerivation { parameters: &[], variadic: None, old_style: names };
    Derivation { kind: DerivationKind::Function(state.arena.node(function)), span: Span::new(lo, hi) }
}

pub(crate) fn parameter<'a>(
    state: &State<'_, 'a>,
    lo: u32,
    specifiers: &'a Specifiers<'a>,
    declarator: Box<DeclaratorParts<'a>>,
    hi: u32,
) -> &'a Parameter<'a> {
    let declarator = declarator.finish(state);
    state.arena.node(Parameter { specifiers: *specifiers, declarator, span: Span::new(lo, hi) })
}

/// The scope of a parameter starts after its declarator (C99 6.2.1p7): later parameters may use it.
pub(crate) fn declare_parameter<'a>(
    state: &State<'_, 'a>,
    parameter: &'a Parameter<'a>,
) -> &'a Parameter<'a> {
    state.end_element();
    if let Some(name) = parameter.declarator.name {
        state.scopes.borrow_mut().declare(name.node, NameKind::Value);
    }
    parameter
}

pub(crate) fn type_name<'a>(
    state: &State<'_, 'a>,
    lo: u32,
    specifiers: &'a Specifiers<'a>,
    declarator: Box<DeclaratorParts<'a>>,
    hi: u32,
) -> &'a TypeName<'a> {
    let declarator = declarator.finish(state);
    state.arena.node(TypeName { specifiers: *specifiers, declarator, span: Span::new(lo, hi) })
}

/// Whether a type name denotes a vector, according to its name alone.
pub(crate) fn is_vector(
    state: &State<'_, '_>,
    specifiers: &Specifiers<'_>,
    declarator: &Declarator<'_>,
) -> bool {
    let makes_vector = |attribute: &Attribute<'_>| state.makes_vector(attribute.name.node);
    declarator.derivations.is_empty()
        && (specifiers.types.iter().any(|ty| match &ty.kind {
            TypeSpecifierKind::Name(name) => state.scopes.borrow().kind(*name) == NameKind::Vector,
            TypeSpecifierKind::Atomic(name) | TypeSpecifierKind::TypeofType(name) => {
                is_vector(state, &name.specifiers, &name.declarator)
            }
            _ => false,
        }) || specifiers.attributes.iter().any(makes_vector)
            || declarator.attributes.iter().any(makes_vector))
}

// Declarations

/// Adds a declarator to a declaration. The scope of its name starts here.
pub(crate) fn declare<'a>(
    state: &State<'_, 'a>,
    mut declaration: Box<DeclarationParts<'a>>,
    declarator: Box<DeclaratorParts<'a>>,
) -> Box<DeclarationParts<'a>> {
    state.end_element();
    let declarator = declarator.finish(state);
    declare_name(state, declaration.specifiers, &declarator);
    declaration.declarators.push(InitDeclarator { declarator, init: None });
    declaration
}

fn declare_name(state: &State<'_, '_>, specifiers: &Specifiers<'_>, declarator: &Declarator<'_>) {
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

/// Adds an element to a list.
pub(crate) fn initialized<'a>(
    state: &State<'_, 'a>,
    items: Vec<InitializerItem<'a>>,
    designators: Vec<Designator<'a>>,
    value: Initializer<'a>,
) -> Vec<InitializerItem<'a>> {
    state.end_element();
    push(items, InitializerItem { designators: state.arena.list(&designators), value })
}

pub(crate) fn initializer_list<'a>(
    state: &State<'_, 'a>,
    lo: u32,
    items: Vec<InitializerItem<'a>>,
    hi: u32,
) -> InitializerList<'a> {
    InitializerList { items: state.arena.list(&items), span: Span::new(lo, hi) }
}

pub(crate) fn static_assertion<'a>(
    state: &State<'_, 'a>,
    lo: u32,
    condition: Expr<'a>,
    message: Vec<Ident>,
    hi: u32,
) -> &'a StaticAssertion<'a> {
    let message = state.arena.list(&message);
    state.arena.node(StaticAssertion { condition, message, span: Span::new(lo, hi) })
}

// Functions

/// A function definition before its body, and the start of the scope of its parameters.
pub(crate) struct FunctionStart<'a> {
    pub(crate) specifiers: &'a Specifiers<'a>,
    pub(crate) declarator: &'a Declarator<'a>,
    pub(crate) old_style: &'a [Declaration<'a>],
    pub(crate) scope: Checkpoint,
}

/// The scope of the parameters ends with the prototype and is reopened for the body (C99 6.2.1p4).
pub(crate) fn start_function<'a>(
    state: &State<'_, 'a>,
    specifiers: &'a Specifiers<'a>,
    declarator: Box<DeclaratorParts<'a>>,
) -> FunctionStart<'a> {
    let declarator = state.arena.node(declarator.finish(state));
    declare_name(state, specifiers, declarator);
    let scope = state.enter();
    if let Some(Derivation { kind: DerivationKind::Function(function), .. }) = declarator.derivations.first()
    {
        let named = function.parameters.iter().filter_map(|parameter| parameter.declarator.name);
        for name in named.chain(function.old_style.iter().copied()) {
            state.scopes.borrow_mut().declare(name.node, NameKind::Value);
        }
    }
    FunctionStart { specifiers, declarator, old_style: &[], scope }
}

pub(crate) fn finish_function<'a>(
    state: &State<'_, 'a>,
    start: FunctionStart<'a>,
    body: Block<'a>,
) -> &'a FunctionDefinition<'a> {
    state.leave(start.scope);
    state.arena.node(FunctionDefinition {
        specifiers: *start.specifiers,
        declarator: *start.declarator,
        old_style: start.old_style,
        body,
    })
}

// Statements

pub(crate) fn block<'a>(state: &State<'_, 'a>, lo: u32, items: Vec<BlockItem<'a>>, hi: u32) -> Block<'a> {
    Block { items: state.arena.list(&items), span: Span::new(lo, hi) }
}

pub(crate) fn statement<'a>(
    state: &State<'_, 'a>,
    lo: u32,
    kind: StatementKind<'a>,
    hi: u32,
) -> &'a Statement<'a> {
    state.arena.node(Statement { kind, span: Span::new(lo, hi), attributes: &[] })
}

/// A statement with its preceding attributes, which are stored in reverse.
pub(crate) fn attributed_statement<'a>(
    state: &State<'_, 'a>,
    (mut attributes, statement): (Vec<Attribute<'a>>, &'a Statement<'a>),
) -> &'a Statement<'a> {
    attributes.reverse();
    state.arena.node(Statement { attributes: state.arena.list(&attributes), ..*statement })
}

pub(crate) fn if_then<'a>(
    state: &State<'_, 'a>,
    lo: u32,
    condition: Expr<'a>,
    then: &'a Statement<'a>,
    hi: u32,
) -> &'a Statement<'a> {
    statement(state, lo, StatementKind::If { condition, then, otherwise: None }, hi)
}

pub(crate) fn if_else<'a>(
    state: &State<'_, 'a>,
    lo: u32,
    condition: Expr<'a>,
    then: &'a Statement<'a>,
    otherwise: &'a Statement<'a>,
    hi: u32,
) -> &'a Statement<'a> {
    statement(state, lo, StatementKind::If { condition, then, otherwise: Some(otherwise) }, hi)
}
