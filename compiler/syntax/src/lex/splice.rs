//! Translation phases 1 and 2 (C99 5.1.1.2): replaces trigraphs and joins lines that end in a backslash.
//!
//! Most files contain neither, and are not copied.

/// The text of a source without trigraphs and line splices, with a map to the original offsets.
pub struct Spliced {
    /// `None` if the original contains neither.
    text: Option<String>,
    /// Removed bytes: the offset in the text, and the number of bytes removed from the original there. Ascending.
    cuts: Vec<(u32, u32)>,
    /// See [`Self::blank_splices`].
    blank_splices: Vec<BlankSplice>,
}

/// A line splice with white space between the backslash and the end of its line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlankSplice {
    /// Its offset in the text without splices.
    pub joined: u32,
    /// The offsets of the white space in the original.
    pub blanks: (u32, u32),
}

impl Spliced {
    /// Removes the trigraphs and line splices of a text.
    pub fn new(original: &str) -> Self {
        // Trigraphs are rare. Searching for one character afterwards is faster than for two.
        let has_trigraphs = original.contains("??");
        let find = |rest: &str| if has_trigraphs { rest.find(['\\', '?']) } else { rest.find('\\') };
        let mut text = String::new();
        let mut cuts = Vec::new();
        let mut blank_splices = Vec::new();
        let bytes = original.as_bytes();
        let mut copied = 0;
        let mut at = 0;
        while let Some(found) = find(&original[at..]) {
            at += found;
            let (length, character) = trigraph(&bytes[at..]).unwrap_or((1, bytes[at]));
            let splice = if character == b'\\' { newline(&bytes[at + length..]) } else { None };
            if length == 1 && splice.is_none() {
                at += 1;
                continue;
            }
            if cuts.is_empty() {
                text.reserve(original.len());
            }
            text.push_str(&original[copied..at]);
            match splice {
                None => text.push(char::from(character)),
                Some(Newline { blanks: 0, .. }) => {}
                Some(Newline { blanks, .. }) => {
                    let start = (at + length) as u32;
                    let joined = text.len() as u32;
                    blank_splices.push(BlankSplice { joined, blanks: (start, start + blanks as u32) });
                }
            }
            at += length + splice.map_or(0, |it| it.length);
            copied = at;
            cuts.push((text.len() as u32, (at - text.len()) as u32));
        }
        if cuts.is_empty() {
            return Self { text: None, cuts, blank_splices };
        }
        text.push_str(&original[copied..]);
        Self { text: Some(text), cuts, blank_splices }
    }

    /// The line splices with white space after the backslash.
    pub fn blank_splices(&self) -> &[BlankSplice] {
        &self.blank_splices
    }

    /// The text to lex. `original` must be the text that was processed.
    pub fn text<'a>(&'a self, original: &'a str) -> &'a str {
        self.text.as_deref().unwrap_or(original)
    }

    /// A map to offsets of the original, starting at this offset of the text.
    pub fn offsets(&self, from: u32) -> OffsetMap<'_> {
        let (before, cuts) = self.cuts.split_at(self.cuts.partition_point(|cut| cut.0 <= from));
        OffsetMap { cuts, removed: before.last().map_or(0, |cut| cut.1) }
    }
}

/// Maps offsets of the text to the original, in ascending order.
pub struct OffsetMap<'a> {
    /// The cuts that follow.
    cuts: &'a [(u32, u32)],
    /// The number of bytes that preceding cuts have removed.
    removed: u32,
}

impl OffsetMap<'_> {
    /// The original offsets of a token. Tokens must be in text order.
    #[inline]
    pub fn original(&mut self, start: u32, end: u32) -> (u32, u32) {
        while let Some((cut, behind)) = self.cuts.split_first()
            && cut.0 <= start
        {
            (self.removed, self.cuts) = (cut.1, behind);
        }
        let inside = self.cuts.iter().take_while(|cut| cut.0 < end).last();
        (start + self.removed, end + inside.map_or(self.removed, |cut| cut.1))
    }
}

/// The end of a line after a backslash.
#[derive(Clone, Copy)]
struct Newline {
    /// The white space before it, which other compilers allow too.
    blanks: usize,
    /// The length with the white space.
    length: usize,
}

/// The end of a line, if it follows.
fn newline(bytes: &[u8]) -> Option<Newline> {
    let blanks = bytes.iter().take_while(|byte| matches!(byte, b' ' | b'\t' | 0x0B | 0x0C)).count();
    match &bytes[blanks..] {
        [b'\r', b'\n', ..] => Some(Newline { blanks, length: blanks + 2 }),
        [b'\n' | b'\r', ..] => Some(Newline { blanks, length: blanks + 1 }),
        _ => None,
    }
}

/// C99 5.2.1.1.
fn trigraph(bytes: &[u8]) -> Option<(usize, u8)> {
    let [b'?', b'?', third, ..] = bytes else { return None };
    let character = match third {
        b'=' => b'#',
        b'(' => b'[',
        b'/' => b'\\',
        b')' => b']',
        b'\'' => b'^',
        b'<' => b'{',
        b'!' => b'|',
        b'>' => b'}',
        b'-' => b'~',
        _ => return None,
    };
    Some((3, character))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splices_and_trigraphs() {
        let original = "ab\\\ncd \\ \r\nef??=??/\ngh \\x ?";
        let spliced = Spliced::new(original);
        assert_eq!(spliced.text(original), "abcd ef#gh \\x ?");
        let mut offsets = spliced.offsets(0);
        let mut slice = |start: u32, end: u32| {
            let (lo, hi) = offsets.original(start, end);
            &original[lo as usize..hi as usize]
        };
        assert_eq!(spliced.blank_splices(), [BlankSplice { joined: 5, blanks: (8, 9) }]);
        assert_eq!(slice(0, 4), "ab\\\ncd");
        assert_eq!(slice(5, 7), "ef");
        assert_eq!(slice(8, 10), "gh");
        assert_eq!(slice(11, 13), "\\x");
        assert_eq!(spliced.offsets(8).original(8, 10), (20, 22));
    }

    #[test]
    fn plain_text_is_unchanged() {
        assert!(Spliced::new("a \\n \"\\\\\" ?:").text.is_none());
    }
}
