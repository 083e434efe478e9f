//! Memory that has been used and will be again: an expansion needs several rows of tokens and keeps none.

use super::{arguments::Arguments, token::Tok};

/// What is empty and has memory.
#[derive(Default)]
pub(super) struct Buffers {
    rows: Vec<Vec<Tok>>,
    arguments: Vec<Arguments>,
}

impl Buffers {
    /// An empty row.
    pub(super) fn take(&mut self) -> Vec<Tok> {
        self.rows.pop().unwrap_or_default()
    }

    /// Keeps the memory of a row for the next.
    pub(super) fn give(&mut self, mut row: Vec<Tok>) {
        row.clear();
        self.rows.push(row);
    }

    /// No arguments.
    pub(super) fn take_arguments(&mut self) -> Arguments {
        self.arguments.pop().unwrap_or_default()
    }

    /// Keeps the memory of arguments for the next.
    pub(super) fn give_arguments(&mut self, mut arguments: Arguments) {
        arguments.clear();
        self.arguments.push(arguments);
    }
}
