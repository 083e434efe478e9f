//! Document symbols: the definitions at program scope, with their members and enumerators.

use kiln_session::source::FileId;
use kiln_syntax::{
    Arena, Span,
    ast::{
        DerivationKind, FunctionDefinition, FunctionSpecifier, Ident, Item, Specifiers, Storage,
        TypeSpecifierKind,
    },
};
use lsp_types::{DocumentSymbol, SymbolKind};

use crate::{analysis::Analysis, tree::Node};

/// The symbols of a file, ordered by offset.
pub(crate) fn symbols(analysis: &Analysis, file: FileId) -> Vec<DocumentSymbol> {
    let outline = Outline { analysis, file };
    let mut symbols: Vec<DocumentSymbol> = outline.macros();
    for item in analysis.survey.tree(&Arena::default()).items {
        match item {
            Item::Function(function) => symbols.extend(outline.function(function)),
            Item::Declaration(declaration) => {
                symbols.extend(outline.tags(&declaration.specifiers));
                for one in declaration.declarators {
                    let Some(name) = one.declarator.name else { continue };
                    let is_function = matches!(one.declarator.derivations.first(), Some(derivation) if matches!(derivation.kind, DerivationKind::Function(_)));
                    let kind = match is_typedef(&declaration.specifiers) {
                        true => SymbolKind::CLASS,
                        false if is_function => SymbolKind::FUNCTION,
                        false => SymbolKind::VARIABLE,
                    };
                    symbols.extend(outline.symbol(name, declaration.span, kind));
                }
            }
            Item::Pragma(_) | Item::StaticAssert(_) | Item::Empty(_) | Item::Asm(_) | Item::Error(_) => {}
        }
    }
    symbols.sort_by_key(|symbol| (symbol.range.start, symbol.selection_range.start));
    symbols
}

fn is_typedef(specifiers: &Specifiers) -> bool {
    specifiers.storage.iter().any(|storage| storage.node == Storage::Typedef)
}

struct Outline<'a> {
    analysis: &'a Analysis,
    file: FileId,
}

impl Outline<'_> {
    fn macros(&self) -> Vec<DocumentSymbol> {
        let definitions = self.analysis.survey.trace.definitions.iter();
        definitions
            .filter_map(|definition| {
                let name = Ident { node: definition.name, span: definition.span };
                let whole = if definition.body == Span::default() {
                    definition.span
                } else {
                    definition.span.to(definition.body)
                };
                let kind =
                    if definition.parameters.is_some() { SymbolKind::FUNCTION } else { SymbolKind::CONSTANT };
                let mut symbol = self.symbol(name, whole, kind)?;
                symbol.detail = Some("macro".to_owned());
                Some(symbol)
            })
            .collect()
    }

    fn function(&self, function: &FunctionDefinition) -> Option<DocumentSymbol> {
        let name = function.declarator.name?;
        let mut symbol = self.symbol(name, Node::Function(function).span(), SymbolKind::FUNCTION)?;
        let is_kernel = function.specifiers.functions.iter().any(|it| it.node == FunctionSpecifier::Kernel);
        if is_kernel {
            symbol.detail = Some(format!("kernel {}", symbol.detail.unwrap_or_default()));
            symbol.kind = SymbolKind::EVENT;
        }
        Some(symbol)
    }

    /// Structs, unions and enums that are defined in declaration specifiers.
    fn tags(&self, specifiers: &Specifiers) -> Vec<DocumentSymbol> {
        let mut symbols = Vec::new();
        for specifier in specifiers.types {
            match &specifier.kind {
                TypeSpecifierKind::Record(record) => {
                    let Some(members) = &record.members else { continue };
                    let mut inside = Vec::new();
                    for line in *members {
                        inside.extend(self.tags(&line.specifiers));
                        let names = line.declarators.iter().filter_map(|it| it.declarator.name);
                        inside
                            .extend(names.filter_map(|name| self.symbol(name, line.span, SymbolKind::FIELD)));
                    }
                    symbols.extend(self.tag(record.tag, specifier.span, SymbolKind::STRUCT, inside));
                }
                TypeSpecifierKind::Enum(list) => {
                    let Some(enumerators) = &list.enumerators else { continue };
                    let inside = enumerators
                        .iter()
                        .filter_map(|it| self.symbol(it.name, it.name.span, SymbolKind::ENUM_MEMBER))
                        .collect();
                    symbols.extend(self.tag(list.tag, specifier.span, SymbolKind::ENUM, inside));
                }
                _ => {}
            }
        }
        symbols
    }

    fn tag(
        &self,
        tag: Option<Ident>,
        span: Span,
        kind: SymbolKind,
        inside: Vec<DocumentSymbol>,
    ) -> Option<DocumentSymbol> {
        let Some(tag) = tag else {
            let range = self.analysis.in_file(self.file, span)?;
            let range = self.analysis.range(self.file, &range);
            let start = lsp_types::Range::new(range.start, range.start);
            return Some(symbol("<unnamed>".to_owned(), kind, range, start, inside));
        };
        let mut symbol = self.symbol(tag, span, kind)?;
        symbol.children = Some(inside);
        Some(symbol)
    }

    fn symbol(&self, name: Ident, whole: Span, kind: SymbolKind) -> Option<DocumentSymbol> {
        let analysis = self.analysis;
        let selection = analysis.in_file(self.file, name.span)?;
        let mut range = analysis.in_file(self.file, whole).unwrap_or_else(|| selection.clone());
        // A macro can produce a name outside the range of its definition; the range must contain it.
        range = range.start.min(selection.start)..range.end.max(selection.end);
        let text = analysis.symbol(name.node).to_owned();
        let (range, selected) = (analysis.range(self.file, &range), analysis.range(self.file, &selection));
        let mut symbol = symbol(text, kind, range, selected, Vec::new());
        let named = analysis.names_in(self.file).iter().find(|it| it.location.range == selection);
        symbol.detail = named.and_then(|it| analysis.type_of(it.entity)).map(|ty| analysis.show(ty));
        Some(symbol)
    }
}

#[allow(deprecated, reason = "the structure has a deprecated field")]
fn symbol(
    name: String,
    kind: SymbolKind,
    range: lsp_types::Range,
    selection_range: lsp_types::Range,
    inside: Vec<DocumentSymbol>,
) -> DocumentSymbol {
    let children = (!inside.is_empty()).then_some(inside);
    DocumentSymbol {
        name,
        detail: None,
        kind,
        tags: None,
        deprecated: None,
        range,
        selection_range,
        children,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Fixture;

    fn outline(symbols: &[DocumentSymbol]) -> Vec<String> {
        let one = |symbol: &DocumentSymbol| {
            let inside = outline(symbol.children.as_deref().unwrap_or_default()).join(" ");
            let detail = symbol.detail.as_deref().map(|detail| format!(":{detail}")).unwrap_or_default();
            let inside = if inside.is_empty() { inside } else { format!("[{inside}]") };
            format!("{}{detail}{inside}", symbol.name)
        };
        symbols.iter().map(one).collect()
    }

    #[test]
    fn definitions_of_a_file() {
        let text = "#define N 4\nstruct S { int a; float b[N]; };\nenum { X, Y };\ntypedef int T;\nconstant T v = 1;\nkernel void k(global T *p) {}\n";
        let fixture = Fixture::new(text);
        let found = symbols(&fixture.analysis, fixture.cursor().file);
        assert_eq!(
            outline(&found),
            [
                "N:macro",
                "S[a:int b:float[4]]",
                "<unnamed>[X:int Y:int]",
                "T",
                "v:constant int",
                "k:kernel void"
            ]
        );
    }

    #[test]
    fn definitions_of_included_files_are_omitted() {
        let fixture =
            Fixture::new("//- /a.cl\n#include \"b.h\"\nint f() { return 1; }\n//- /b.h\nint g(int);\n");
        let found = symbols(&fixture.analysis, fixture.cursor().file);
        assert_eq!(outline(&found), ["f:int"]);
    }
}
