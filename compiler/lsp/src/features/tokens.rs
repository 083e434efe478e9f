//! Semantic tokens, which refine an editor's syntax highlighting and mark inactive groups.

use kiln_builtins as builtins;
use kiln_frontend::sema::{Meaning, Role};
use kiln_session::source::FileId;
use kiln_vocabulary::opencl::AddressSpace;
use lsp_types::{
    SemanticToken, SemanticTokenModifier, SemanticTokenType, SemanticTokens, SemanticTokensDelta,
    SemanticTokensEdit, SemanticTokensFullDeltaResult, SemanticTokensLegend,
};

use crate::{
    analysis::Analysis,
    names::{Entity, Name},
};

const TYPES: [SemanticTokenType; 11] = [
    SemanticTokenType::FUNCTION,
    SemanticTokenType::VARIABLE,
    SemanticTokenType::PARAMETER,
    SemanticTokenType::PROPERTY,
    SemanticTokenType::MACRO,
    SemanticTokenType::TYPE,
    SemanticTokenType::STRUCT,
    SemanticTokenType::ENUM,
    SemanticTokenType::ENUM_MEMBER,
    SemanticTokenType::COMMENT,
    SemanticTokenType::new("label"),
];

const MODIFIERS: [SemanticTokenModifier; 7] = [
    SemanticTokenModifier::DECLARATION,
    SemanticTokenModifier::DEFINITION,
    SemanticTokenModifier::READONLY,
    SemanticTokenModifier::DEFAULT_LIBRARY,
    SemanticTokenModifier::new("globalScope"),
    SemanticTokenModifier::new("local"),
    SemanticTokenModifier::new("atomic"),
];

/// The names of token types and modifiers, in the order of their indices.
pub(crate) fn legend() -> SemanticTokensLegend {
    SemanticTokensLegend { token_types: TYPES.to_vec(), token_modifiers: MODIFIERS.to_vec() }
}

fn index_of<T: PartialEq>(all: &[T], one: &T) -> u32 {
    all.iter().position(|other| other == one).map_or(0, |at| at as u32)
}

struct Token {
    range: lsp_types::Range,
    kind: SemanticTokenType,
    modifiers: u32,
}

/// The tokens last sent to a client, with a result id.
#[derive(Debug, Default)]
pub(crate) struct SentTokens {
    number: u64,
    data: Vec<SemanticToken>,
}

impl SentTokens {
    /// Stores newer tokens. Returns a delta if the client still has the previous ones, otherwise all tokens.
    pub(crate) fn replace(
        &mut self,
        newer: SemanticTokens,
        previous_id: Option<&str>,
    ) -> SemanticTokensFullDeltaResult {
        let known =
            previous_id.is_some_and(|previous_id| self.number != 0 && previous_id == self.number.to_string());
        let older = std::mem::replace(&mut self.data, newer.data);
        self.number += 1;
        let result_id = Some(self.number.to_string());
        if !known {
            return SemanticTokens { result_id, data: self.data.clone() }.into();
        }
        let same = |(one, other): &(&SemanticToken, &SemanticToken)| one == other;
        let before = older.iter().zip(&self.data).take_while(same).count();
        let after =
            older[before..].iter().rev().zip(self.data[before..].iter().rev()).take_while(same).count();
        let data = self.data[before..self.data.len() - after].to_vec();
        let deleted = older.len() - before - after;
        // The protocol counts the five integers of each token separately.
        let edit = SemanticTokensEdit {
            start: 5 * before as u32,
            delete_count: 5 * deleted as u32,
            data: (!data.is_empty()).then_some(data),
        };
        let edits = if deleted == 0 && edit.data.is_none() { vec![] } else { vec![edit] };
        SemanticTokensDelta { result_id, edits }.into()
    }
}

/// The tokens of a file, or of a range of it.
pub(crate) fn tokens(analysis: &Analysis, file: FileId, within: Option<lsp_types::Range>) -> SemanticTokens {
    let mut tokens: Vec<Token> =
        analysis.names_in(file).iter().map(|name| name_token(analysis, name)).collect();
    tokens.extend(inactive(analysis, file));
    if let Some(within) = within {
        tokens.retain(|token| within.start <= token.range.end && token.range.start <= within.end);
    }
    tokens.sort_by_key(|token| token.range.start);
    // A name in a macro definition can have several meanings; use the first.
    tokens.dedup_by_key(|token| token.range.start);
    let mut data = Vec::with_capacity(tokens.len());
    let (mut line, mut column) = (0, 0);
    for token in tokens {
        let start = token.range.start;
        if start.line != line {
            column = 0;
        }
        data.push(SemanticToken {
            delta_line: start.line - line,
            delta_start: start.character - column,
            length: token.range.end.character.saturating_sub(start.character),
            token_type: index_of(&TYPES, &token.kind),
            token_modifiers_bitset: token.modifiers,
        });
        (line, column) = (start.line, start.character);
    }
    SemanticTokens { result_id: None, data }
}

fn name_token(analysis: &Analysis, name: &Name) -> Token {
    let mut modifiers = 0;
    let mut add = |modifier: SemanticTokenModifier| modifiers |= 1 << index_of(&MODIFIERS, &modifier);
    match name.role {
        Role::Definition => {
            add(SemanticTokenModifier::DECLARATION);
            add(SemanticTokenModifier::DEFINITION);
        }
        Role::Declaration => add(SemanticTokenModifier::DECLARATION),
        Role::Use => {}
    }
    let kind = match name.entity {
        Entity::Macro(symbol, definition) => {
            let is_own = definition.is_none_or(|span| analysis.spelling(span).is_some());
            if !is_own || builtins::is_name(analysis.symbol(symbol)) {
                add(SemanticTokenModifier::DEFAULT_LIBRARY);
            }
            SemanticTokenType::MACRO
        }
        Entity::Program(meaning) => {
            if let Some(ty) = analysis.type_of(name.entity) {
                if ty.quals.is_const || ty.quals.space == Some(AddressSpace::Constant) {
                    add(SemanticTokenModifier::READONLY);
                }
                if ty.quals.space == Some(AddressSpace::Local) {
                    add(SemanticTokenModifier::new("local"));
                }
            }
            match meaning {
                Meaning::Local(function, local) => {
                    match analysis.survey.program.functions[function].parameters.contains(&local) {
                        true => SemanticTokenType::PARAMETER,
                        false => SemanticTokenType::VARIABLE,
                    }
                }
                Meaning::Global(_) => {
                    add(SemanticTokenModifier::new("globalScope"));
                    SemanticTokenType::VARIABLE
                }
                Meaning::Function(_) => SemanticTokenType::FUNCTION,
                Meaning::Builtin(symbol) => {
                    add(SemanticTokenModifier::DEFAULT_LIBRARY);
                    if analysis.symbol(symbol).starts_with("atomic_") {
                        add(SemanticTokenModifier::new("atomic"));
                    }
                    SemanticTokenType::FUNCTION
                }
                Meaning::Constant(_) => {
                    add(SemanticTokenModifier::DEFAULT_LIBRARY);
                    add(SemanticTokenModifier::READONLY);
                    SemanticTokenType::ENUM_MEMBER
                }
                Meaning::Type(_) => {
                    add(SemanticTokenModifier::DEFAULT_LIBRARY);
                    SemanticTokenType::TYPE
                }
                Meaning::Typedef(_) => SemanticTokenType::TYPE,
                Meaning::Enumerator(_) => SemanticTokenType::ENUM_MEMBER,
                Meaning::Member(_) => SemanticTokenType::PROPERTY,
                Meaning::Record(_) => SemanticTokenType::STRUCT,
                Meaning::Enum(_) => SemanticTokenType::ENUM,
                Meaning::Label(..) => SemanticTokenType::new("label"),
            }
        }
    };
    Token { range: analysis.range(name.location.file, &name.location.range), kind, modifiers }
}

/// The lines of inactive groups, one token each, because some clients do not support multi-line tokens.
fn inactive(analysis: &Analysis, file: FileId) -> Vec<Token> {
    let text = analysis.text(file);
    let mut tokens = Vec::new();
    for span in &analysis.survey.trace.inactive {
        let Some(range) = analysis.in_file(file, *span) else { continue };
        // Skip the rest of the preceding directive's line.
        let Some(first) = text[range.clone()].find('\n') else { continue };
        let mut at = range.start + first + 1;
        for line in text[at..range.end.max(at)].split_inclusive('\n') {
            let content = line.trim();
            if !content.is_empty() {
                let start = at + (line.len() - line.trim_start().len());
                let range = analysis.range(file, &(start..start + content.len()));
                tokens.push(Token { range, kind: SemanticTokenType::COMMENT, modifiers: 0 });
            }
            at += line.len();
        }
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::Fixture;

    fn shown(text: &str, within: Option<lsp_types::Range>) -> Vec<String> {
        let fixture = Fixture::new(text);
        let tokens = tokens(&fixture.analysis, fixture.cursor().file, within);
        let (mut line, mut column) = (0, 0);
        let mut all = Vec::new();
        for token in tokens.data {
            if token.delta_line != 0 {
                column = 0;
            }
            line += token.delta_line;
            column += token.delta_start;
            let text = text.lines().nth(line as usize).expect("a line");
            let text = &text[column as usize..(column + token.length) as usize];
            all.push(format!("{text}:{}", TYPES[token.token_type as usize].as_str()));
        }
        all
    }

    #[test]
    fn names_have_the_type_of_their_meaning() {
        let text = "#define N 4\nstruct S { int m; };\nint f(struct S s) {\n int v = s.m;\n return v + N + abs(v);\n}\n";
        assert_eq!(
            shown(text, None),
            [
                "N:macro",
                "S:struct",
                "m:property",
                "f:function",
                "S:struct",
                "s:parameter",
                "v:variable",
                "s:parameter",
                "m:property",
                "v:variable",
                "N:macro",
                "abs:function",
                "v:variable"
            ]
        );
        let line = lsp_types::Range::new(lsp_types::Position::new(0, 0), lsp_types::Position::new(0, 99));
        assert_eq!(shown(text, Some(line)), ["N:macro"]);
    }

    #[test]
    fn a_delta_contains_only_changed_tokens() {
        let tokens_of = |text| {
            let fixture = Fixture::new(text);
            tokens(&fixture.analysis, fixture.cursor().file, None)
        };
        let mut shown = SentTokens::default();
        let first = shown.replace(tokens_of("int a;\nint b;\nint c;\n"), None);
        let SemanticTokensFullDeltaResult::Tokens(first) = first else { panic!("{first:?}") };
        let newer = tokens_of("int a;\nint bb;\nint c;\n");
        let result = shown.replace(newer, first.result_id.as_deref());
        let SemanticTokensFullDeltaResult::TokensDelta(delta) = result else { panic!("{result:?}") };
        let [edit] = delta.edits.as_slice() else { panic!("{delta:?}") };
        assert_eq!((edit.start, edit.delete_count, edit.data.as_ref().map(Vec::len)), (5, 5, Some(1)));
        // A client with other tokens gets all of them.
        let other = shown.replace(tokens_of("int a;\n"), first.result_id.as_deref());
        assert!(matches!(other, SemanticTokensFullDeltaResult::Tokens(_)), "{other:?}");
    }

    #[test]
    fn inactive_groups_are_comments() {
        assert_eq!(
            shown("#if 0\n int a;\n\n#else\nint b;\n#endif\n", None),
            ["int a;:comment", "b:variable"]
        );
    }
}
