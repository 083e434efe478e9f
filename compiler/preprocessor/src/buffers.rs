//! Reuses buffers: an expansion needs several token lists and keeps none.

use super::{arguments::Arguments, token::Tok};

/// Empty buffers with allocated memory.
#[derive(Default)]
pub(super) struct Buffers {
    rows: Vec<Vec<Tok>>,
    arguments: Vec<Arguments>,
}

impl Buffers {
    /// An empty token list.
    pub(super) fn take(&mut self) -> Vec<Tok> {
        self.rows.pop().unwrap_or_default()
    }

    /// Returns a token list for reuse.
    pub(super) fn recycle(&mut self, mut row: Vec<Tok>) {
        row.clear();
        self.rows.push(row);
    }

    /// An empty argument list.
    pub(super) fn take_arguments(&mut self) -> Arguments {
        self.arguments.pop().unwrap_or_default()
    }

    /// Returns an argument list for reuse.
    pub(super) fn give_arguments(&mut self, mut arguments: Arguments) {
        arguments.clear();
        self.arguments.push(arguments);
    }
}
