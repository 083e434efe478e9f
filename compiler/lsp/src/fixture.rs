//! Sources for tests: each file starts with a line `//- name`, and `$0` marks the cursor.

use std::str::FromStr as _;

use lsp_types::{Position, Uri};

use crate::{
    analysis::{Analysis, Cursor},
    client_state::ClientState,
    documents::Document,
    position::Lines,
};

/// Documents, the analysis of the first one, and the position of the cursor.
pub(crate) struct Fixture {
    /// Contains the documents.
    pub(crate) client_state: ClientState,
    /// The analysis of the first document.
    pub(crate) analysis: Analysis,
    /// The file with the cursor.
    pub(crate) name: String,
    position: Position,
}

impl Fixture {
    /// Parses a fixture. A text without names becomes `/a.cl`.
    pub(crate) fn new(text: &str) -> Self {
        let mut client_state = ClientState::default();
        let mut mark = None;
        let mut files: Vec<(String, String)> = Vec::new();
        if !text.starts_with("//- ") {
            files.push(("/a.cl".to_owned(), String::new()));
        }
        for line in text.split_inclusive('\n') {
            match line.strip_prefix("//- ") {
                Some(name) => files.push((name.trim().to_owned(), String::new())),
                None => {
                    files.last_mut().expect("there is one").1.push_str(line);
                }
            }
        }
        for (name, text) in &mut files {
            if let Some(at) = text.find("$0") {
                text.replace_range(at..at + 2, "");
                mark = Some((name.clone(), Lines::new(text, client_state.encoding).position(at)));
            }
            let uri = Uri::from_str(&format!("file://{name}")).expect("a URI");
            let document = Document { uri, version: 1, text: text.as_str().into() };
            client_state.documents.insert(name.clone(), document);
        }
        client_state.client.takes_snippets = true;
        let (name, position) = mark.unwrap_or_else(|| (files[0].0.clone(), Position::default()));
        let analysis = Analysis::new(&client_state, &files[0].0).expect("it is open");
        Self { client_state, analysis, name, position }
    }

    /// The cursor.
    pub(crate) fn cursor(&self) -> Cursor<'_> {
        Cursor::new(&self.analysis, &self.client_state, &self.name, self.position).expect("a file")
    }

    /// The text of each range in the file with the cursor, with its line number.
    pub(crate) fn covered(&self, ranges: impl IntoIterator<Item = lsp_types::Range>) -> Vec<String> {
        let file = self.analysis.file(&self.name).expect("a file");
        let (text, lines) = (self.analysis.text(file), self.analysis.lines(file).expect("the user's"));
        let covered = ranges.into_iter().map(|range| {
            let bytes = lines.offset(text, range.start)..lines.offset(text, range.end);
            format!("{}:{}", range.start.line, &text[bytes])
        });
        covered.collect()
    }
}
