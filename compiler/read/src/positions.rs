//! Source positions from OpLine. OpSource contains the text of a file. Without it, a text of blank lines replaces the
//! file, so that lines and columns are correct.

use std::sync::Arc;

use kiln_session::source::{FileId, FileKind, SourceMap};
use kiln_syntax::Span;
use kiln_verify::SourceLine;
use rspirv::spirv::Op;
use rustc_hash::FxHashMap;

use crate::words::{Instruction, Words};

/// The positions of a module.
pub(crate) struct Positions<'s> {
    sources: &'s mut SourceMap,
    /// The files by the id of their OpString.
    files: FxHashMap<u32, FileId>,
}

/// The maximum size of a text of blank lines.
const MAX_BLANK: usize = 1 << 24;
/// The maximum column in blank lines.
const MAX_COLUMN: u32 = 1 << 12;

/// The file, line and column of an OpLine.
fn operands(inst: &Instruction<'_>) -> Option<(u32, u32, u32)> {
    match (inst.op, inst.operands) {
        (Op::Line, [file, line, column]) => Some((*file, *line, *column)),
        _ => None,
    }
}

impl<'s> Positions<'s> {
    /// Adds the files of a module to the source map.
    pub(crate) fn new(words: &Words<'_>, sources: &'s mut SourceMap) -> Self {
        // The number of columns of each line, by file.
        let mut used: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
        for (file, line, column) in words.instructions.iter().filter_map(operands) {
            let columns = used.entry(file).or_default();
            let line = line as usize;
            if columns.len() <= line && line < MAX_BLANK {
                columns.resize(line + 1, 0);
            }
            if let Some(known) = columns.get_mut(line) {
                *known = (*known).max(column.min(MAX_COLUMN));
            }
        }
        let texts = texts(words);
        let mut order: Vec<(u32, Vec<u32>)> = used.into_iter().collect();
        order.sort_unstable_by_key(|(file, _)| *file);
        let mut files = FxHashMap::default();
        for (id, columns) in order {
            let text = texts.get(&id).cloned().unwrap_or_else(|| blank(&columns));
            if let Some(file) = sources.add_file(name(words, id), text, FileKind::User, None) {
                files.insert(id, file);
            }
        }
        Self { sources, files }
    }

    /// The position of an instruction. Empty if it has none.
    pub(crate) fn span(&self, words: &Words<'_>, inst: &Instruction<'_>) -> Span {
        let line = inst.line.and_then(|index| operands(words.instructions.get(index as usize)?));
        let Some((file, line, column)) = line else { return Span::default() };
        let Some(&file) = self.files.get(&file) else { return Span::default() };
        let range = self.sources.line_range(file, line);
        let start = (range.start + column.saturating_sub(1) as usize).min(range.end);
        self.sources.span(file, start..(start + 1).min(range.end))
    }
}

/// The source line of the instruction that begins at this word.
pub(crate) fn source_line(words: &Words<'_>, offset: usize) -> Option<SourceLine> {
    let index = words.instructions.binary_search_by_key(&offset, |inst| inst.offset).ok()?;
    let line = words.instructions[index].line?;
    let (file, line, column) = operands(words.instructions.get(line as usize)?)?;
    Some(SourceLine { file: Arc::from(name(words, file)), line, column })
}

/// The name of a file.
fn name(words: &Words<'_>, id: u32) -> String {
    match words.definition(id) {
        Ok(inst) if inst.op == Op::String => inst.text(0).0,
        _ => String::new(),
    }
}

/// The texts in OpSource and OpSourceContinued, by file.
fn texts(words: &Words<'_>) -> FxHashMap<u32, String> {
    let mut texts: FxHashMap<u32, String> = FxHashMap::default();
    let mut last = None;
    for inst in words.preamble() {
        match (inst.op, inst.operands) {
            (Op::Source, [_, _, file, _, ..]) => {
                texts.insert(*file, inst.text(3).0);
                last = Some(*file);
            }
            (Op::SourceContinued, _) => {
                if let Some(text) = last.and_then(|file| texts.get_mut(&file)) {
                    text.push_str(&inst.text(0).0);
                }
            }
            _ => {}
        }
    }
    texts
}

/// Blank lines with these numbers of columns, by line number. Line 0 does not exist.
fn blank(columns: &[u32]) -> String {
    let mut text = String::new();
    for &count in columns.iter().skip(1) {
        if text.len() > MAX_BLANK {
            break;
        }
        text.extend(std::iter::repeat_n(' ', count as usize));
        text.push('\n');
    }
    text
}
