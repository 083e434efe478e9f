//! The lines of a generated program, indented.

/// The lines so far.
#[derive(Default)]
pub(crate) struct Lines {
    lines: Vec<String>,
    depth: usize,
}

impl Lines {
    pub(crate) fn line(&mut self, text: impl AsRef<str>) {
        self.lines.push(format!("{}{}", "    ".repeat(self.depth), text.as_ref()));
    }

    /// Adds a line and indents the following ones.
    pub(crate) fn open(&mut self, text: impl AsRef<str>) {
        self.line(text);
        self.depth += 1;
    }

    pub(crate) fn close(&mut self, text: impl AsRef<str>) {
        self.depth -= 1;
        self.line(text);
    }

    /// Adds a line between two parts of a construct.
    pub(crate) fn reopen(&mut self, text: impl AsRef<str>) {
        self.depth -= 1;
        self.open(text);
    }

    /// The number of constructs around the next line.
    pub(crate) fn depth(&self) -> usize {
        self.depth
    }

    /// The text.
    pub(crate) fn text(&self) -> String {
        self.lines.join("\n") + "\n"
    }
}
