//! What the compiler makes of a source, and its places as the protocol has them.

use std::{collections::HashMap, sync::OnceLock};

use kiln_compiler::{
    Emit, Output,
    session::Source,
    source::{FileId, FileKind, Place},
};
use kiln_syntax::Span;
use lsp_types::Range;

use crate::{
    configuration,
    position::{Encoding, Lines},
    uri,
    world::World,
};

/// A source as the compiler sees it.
pub(crate) struct Analysis {
    /// The name of the source.
    pub(crate) root: String,
    /// What the compiler found.
    pub(crate) output: Output,
    encoding: Encoding,
    lines: HashMap<FileId, OnceLock<Lines>>,
    names: HashMap<FileId, String>,
}

impl Analysis {
    /// Of the file of this name; none if there is no such file.
    pub(crate) fn of(world: &World, root: &str) -> Option<Self> {
        let text = world.read(root)?;
        let options = configuration::options(world, root, &String::from_utf8_lossy(&text));
        let source = Source { name: root.to_owned(), text };
        let output = kiln_compiler::compile(source, &options, world, &Emit::Nothing);
        let user = || output.sources.files().filter(|(_, file)| file.kind == FileKind::User);
        let lines = user().map(|(id, _)| (id, OnceLock::new())).collect();
        let names = user().map(|(id, file)| (id, uri::normal(&file.name))).collect();
        Some(Self { root: root.to_owned(), encoding: world.encoding, lines, names, output })
    }

    /// The names of the files that were read, the source's own among them.
    pub(crate) fn file_names(&self) -> impl Iterator<Item = &str> {
        self.names.values().map(String::as_str)
    }

    /// Whether it depends on the file of this name.
    pub(crate) fn reads(&self, name: &str) -> bool {
        self.file_names().any(|file| file == name)
    }

    /// A place in a file of the user's: its name and its range.
    pub(crate) fn place(&self, place: &Place) -> (String, Range) {
        let name = self.names.get(&place.file).cloned().unwrap_or_else(|| self.root.clone());
        (name, self.lines(place.file).map_or(Range::default(), |lines| lines.range(&place.range)))
    }

    /// Where a message about this span points; to the beginning of the source if it is about no file of the user's.
    pub(crate) fn name_and_range(&self, span: Span) -> Option<(String, Range)> {
        match self.output.sources.resolve(span) {
            Some(place) if self.lines.contains_key(&place.file) => Some(self.place(&place)),
            _ => Some((self.root.clone(), Range::default())),
        }
    }

    fn lines(&self, file: FileId) -> Option<&Lines> {
        let lines = self.lines.get(&file)?;
        Some(lines.get_or_init(|| Lines::new(&self.output.sources.file(file).text, self.encoding)))
    }
}
