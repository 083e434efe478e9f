//! Tests of the preprocessor, from text to text.

mod conditionals;
mod diagnostics;
mod environment;
mod expansion;
mod robustness;

use std::collections::HashMap;

use super::*;
use kiln_session::diag::WarningOptions;
use kiln_syntax::token::TokenKind;
use kiln_vocabulary::opencl::LanguageVersion;

/// Files by path.
#[derive(Default)]
struct Folder(HashMap<&'static str, &'static str>);

impl Loader for Folder {
    fn load(&self, path: &str) -> Option<Vec<u8>> {
        self.0.get(path).map(|text| text.as_bytes().to_vec())
    }
}

/// A preprocessing run and its results.
struct Run {
    result: Preprocessed,
    map: SourceMap,
    interner: Interner,
    diagnostics: Vec<Diagnostic>,
}

impl Run {
    fn new(options: &Options, text: impl Into<Vec<u8>>, files: &[(&'static str, &'static str)]) -> Self {
        Self::limited(options, text, files, Limits::default())
    }

    fn limited(
        options: &Options,
        text: impl Into<Vec<u8>>,
        files: &[(&'static str, &'static str)],
        limits: Limits,
    ) -> Self {
        let mut map = SourceMap::default();
        let mut interner = Interner::new();
        let everything = kiln_session::diag::WarningSwitch {
            name: "everything".to_owned(),
            action: kiln_session::diag::WarningAction::Enable,
        };
        let mut sink = Sink::new(WarningOptions { switches: vec![everything], ..WarningOptions::default() });
        let source = Source { name: "dir/main.cl".to_owned(), text: text.into() };
        let folder = Folder(files.iter().copied().collect());
        let result =
            run(options, source, &folder, &mut map, &mut interner, &mut sink, None, Purpose::Parse, limits);
        let diagnostics = sink.finish(|span| map.order(span)).0;
        Self { result, map, interner, diagnostics }
    }

    /// The tokens, separated by spaces.
    fn text(&self) -> String {
        let spell = |token: &Token| match token.kind {
            TokenKind::Keyword(keyword) => keyword.spelling().to_owned(),
            TokenKind::Punct(punct) => punct.spelling().to_owned(),
            TokenKind::Pragma(text) => format!("#pragma {}", self.interner.text(text)),
            TokenKind::Unknown => "<?>".to_owned(),
            TokenKind::Name(text)
            | TokenKind::Integer(text)
            | TokenKind::Floating(text)
            | TokenKind::Character(text)
            | TokenKind::String(text) => self.interner.text(text).to_owned(),
        };
        self.result.tokens.iter().map(spell).collect::<Vec<_>>().join(" ")
    }

    /// `line:column code: message` of each diagnostic.
    fn messages(&self) -> Vec<String> {
        let show = |diagnostic: &Diagnostic| {
            let location = self.map.resolve(diagnostic.span);
            let location = location.map(|location| self.map.position(location.file, location.range.start));
            let location = location.map_or("-".to_owned(), |at| format!("{}:{}", at.line, at.column));
            format!("{location} {}: {}", diagnostic.code.name(), diagnostic.message)
        };
        self.diagnostics.iter().map(show).collect()
    }
}

/// The tokens of a valid source.
fn pp(text: &str) -> String {
    let run = Run::new(&Options { std: LanguageVersion::Cl30, ..Options::default() }, text, &[]);
    assert_eq!(run.messages(), Vec::<String>::new(), "{text}");
    run.text()
}

/// The diagnostics for a source.
fn messages(text: &str) -> Vec<String> {
    Run::new(&Options { std: LanguageVersion::Cl30, ..Options::default() }, text, &[]).messages()
}
