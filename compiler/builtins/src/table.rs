//! The rows: their text, the index of names, and the parsed rows.
//!
//! The index is computed at compile time from the text of all families. A row is parsed on demand. This module only
//! uses the outline of the notation: directives, names, one row for each line.

use std::sync::OnceLock;

use kiln_types::index::Id;

use super::{BuiltinId, Instruction, Row, parse};

/// All families. Each starts with `@family`.
const TEXT: &str = concat!(
    include_str!("workitem.bi"),
    include_str!("math.bi"),
    include_str!("integer.bi"),
    include_str!("common.bi"),
    include_str!("relational.bi"),
    include_str!("vload.bi"),
    include_str!("sync.bi"),
    include_str!("async.bi"),
    include_str!("atomic.bi"),
    include_str!("misc.bi"),
    include_str!("image.bi"),
    include_str!("workgroup.bi"),
    include_str!("subgroup.bi"),
    include_str!("enqueue.bi"),
    include_str!("vendor.bi"),
);

/// The directives that apply to a row.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Header {
    pub(super) family: &'static str,
    pub(super) attributes: &'static str,
    pub(super) when: &'static str,
    pub(super) elements: &'static str,
    pub(super) widths: &'static str,
    pub(super) masks: &'static str,
    pub(super) spaces: &'static str,
    pub(super) other_spaces: &'static str,
    pub(super) images: &'static str,
}

/// The number of directives: the members of `Header`.
const DIRECTIVES: usize = 9;

/// A range of the text. Not a `&str`, because those would need relocations at program start.
#[derive(Clone, Copy)]
struct Piece(u32, u32);

/// A row of a name.
#[derive(Clone, Copy)]
struct Entry {
    name: Piece,
    line: Piece,
    header: u16,
    /// The next row of the same name. The entry itself if it is the last.
    next: u16,
}

/// The index: `HEADERS` different sets of directives, and `ROWS` rows.
struct Index<const HEADERS: usize, const ROWS: usize> {
    /// The text after each directive.
    headers: [[Piece; DIRECTIVES]; HEADERS],
    entries: [Entry; ROWS],
    /// A hash table with linear probing: one more than the first row of each name. 0 for a free slot.
    names: [u16; SLOTS],
}

/// The size of the hash table: more than twice the number of names.
const SLOTS: usize = 2048;

const SIZE: (usize, usize) = {
    // Upper bounds for the first pass, which counts headers and rows.
    let (_, headers, rows) = Index::<1024, 4096>::read();
    (headers, rows)
};

static INDEX: Index<{ SIZE.0 }, { SIZE.1 }> = Index::read().0;
static COMMON: [OnceLock<Box<parse::Common>>; SIZE.0] = [const { OnceLock::new() }; SIZE.0];
static ROWS: [OnceLock<Box<Row>>; SIZE.1] = [const { OnceLock::new() }; SIZE.1];

impl Piece {
    const EMPTY: Self = Self(0, 0);

    fn text(self) -> &'static str {
        &TEXT[self.0 as usize..self.1 as usize]
    }

    const fn is_same(self, other: Self) -> bool {
        let (text, length) = (TEXT.as_bytes(), self.1 - self.0);
        let mut at = 0;
        while at < length && length == other.1 - other.0 {
            if text[(self.0 + at) as usize] != text[(other.0 + at) as usize] {
                return false;
            }
            at += 1;
        }
        length == other.1 - other.0
    }
}

/// The first position of this byte from `start` on, or `end`.
const fn find(byte: u8, start: u32, end: u32) -> u32 {
    let mut at = start;
    while at < end && TEXT.as_bytes()[at as usize] != byte {
        at += 1;
    }
    at
}

/// The hash slot of a name (FNV-1a).
const fn slot(name: &[u8], start: u32, end: u32) -> usize {
    let (mut hash, mut at) = (0x811c_9dc5_u32, start);
    while at < end {
        hash = (hash ^ name[at as usize] as u32).wrapping_mul(0x0100_0193);
        at += 1;
    }
    (hash ^ hash >> 16) as usize % SLOTS
}

impl<const HEADERS: usize, const ROWS: usize> Index<HEADERS, ROWS> {
    /// Indexes the text. Also returns the number of headers and rows.
    const fn read() -> (Self, usize, usize) {
        let nothing = Entry { name: Piece::EMPTY, line: Piece::EMPTY, header: 0, next: 0 };
        let mut index = Self {
            headers: [[Piece::EMPTY; DIRECTIVES]; HEADERS],
            entries: [nothing; ROWS],
            names: [0; SLOTS],
        };
        let (mut headers, mut rows) = (0, 0);
        let mut header = [Piece::EMPTY; DIRECTIVES];
        let mut is_new = true;
        let (mut start, size) = (0, TEXT.len() as u32);
        while start < size {
            let line = Piece(start, find(b'\n', start, size));
            start = line.1 + 1;
            match TEXT.as_bytes()[line.0 as usize] {
                b'\n' | b'#' => {}
                b'@' => {
                    header = with(header, line);
                    is_new = true;
                }
                _ => {
                    if is_new {
                        index.headers[headers] = header;
                        headers += 1;
                        is_new = false;
                    }
                    rows = index.add(line, headers - 1, rows);
                }
            }
        }
        (index, headers, rows)
    }

    /// Adds a row for each name of a line. The names are before the parenthesis, separated by `|`. Returns the number
    /// of rows.
    const fn add(&mut self, line: Piece, header: usize, mut rows: usize) -> usize {
        let open = find(b'(', line.0, line.1);
        let mut start = open;
        while start > line.0 && TEXT.as_bytes()[start as usize - 1] != b' ' {
            start -= 1;
        }
        while start < open {
            let name = Piece(start, find(b'|', start, open));
            start = name.1 + 1;
            self.entries[rows] = Entry { name, line, header: header as u16, next: rows as u16 };
            let mut slot = slot(TEXT.as_bytes(), name.0, name.1);
            while self.names[slot] != 0 && !self.entries[self.names[slot] as usize - 1].name.is_same(name) {
                slot = (slot + 1) % SLOTS;
            }
            if self.names[slot] == 0 {
                self.names[slot] = rows as u16 + 1;
            } else {
                let mut last = self.names[slot] as usize - 1;
                while self.entries[last].next as usize != last {
                    last = self.entries[last].next as usize;
                }
                self.entries[last].next = rows as u16;
            }
            rows += 1;
        }
        rows
    }
}

/// Applies the directive of a line to a header. `@family` resets it.
const fn with(mut header: [Piece; DIRECTIVES], line: Piece) -> [Piece; DIRECTIVES] {
    let word = find(b' ', line.0, line.1);
    let rest = Piece(if word < line.1 { word + 1 } else { word }, line.1);
    let (_, behind) = TEXT.as_bytes().split_at(line.0 as usize + 1);
    let (name, _) = behind.split_at((word - line.0) as usize - 1);
    let directive = match name {
        b"family" => {
            header = [Piece::EMPTY; DIRECTIVES];
            0
        }
        b"attributes" => 1,
        b"when" => 2,
        b"T" => 3,
        b"n" => 4,
        b"m" => 5,
        b"P" => 6,
        b"Q" => 7,
        b"X" => 8,
        _ => panic!("unknown directive in the table of built-in functions"),
    };
    header[directive] = rest;
    header
}

impl Header {
    fn from_entry(entry: &Entry) -> Self {
        let [family, attributes, when, elements, widths, masks, spaces, other_spaces, images] =
            INDEX.headers[usize::from(entry.header)].map(Piece::text);
        Self { family, attributes, when, elements, widths, masks, spaces, other_spaces, images }
    }
}

/// Splits a row into its result, its names, and the rest from the opening parenthesis on.
fn parts(line: &'static str) -> (&'static str, &'static str, &'static str) {
    let open = line.find('(').unwrap_or_else(|| panic!("no parameters in the row {line}"));
    let (head, rest) = line.split_at(open);
    let (result, names) = head.rsplit_once(' ').unwrap_or_else(|| panic!("no result in the row {line}"));
    (result, names, rest)
}

/// The name as stored in the table.
pub(super) fn name(name: &str) -> Option<&'static str> {
    first(name).map(|(_, name)| name)
}

/// The first row of a name, and the name as stored in the table.
fn first(name: &str) -> Option<(u32, &'static str)> {
    let mut slot = slot(name.as_bytes(), 0, name.len() as u32);
    loop {
        let first = u32::from(INDEX.names[slot]).checked_sub(1)?;
        let known = INDEX.entries[first as usize].name.text();
        if known == name {
            return Some((first, known));
        }
        slot = (slot + 1) % SLOTS;
    }
}

/// The name as stored in the table, and its rows.
pub(super) fn rows(name: &str) -> Option<(&'static str, impl Iterator<Item = BuiltinId> + use<>)> {
    let (first, name) = first(name)?;
    let next = |id: &u32| Some(INDEX.entries[*id as usize].next.into()).filter(|next| next != id);
    Some((name, std::iter::successors(Some(first), next).map(BuiltinId)))
}

/// The row with this id.
pub(super) fn row(id: BuiltinId) -> &'static Row {
    ROWS[id.index()].get_or_init(|| {
        let entry = &INDEX.entries[id.index()];
        let (result, _, rest) = parts(entry.line.text());
        let common = COMMON[usize::from(entry.header)]
            .get_or_init(|| Box::new(parse::common(&Header::from_entry(entry))));
        Box::new(parse::row(entry.name.text(), result, rest, common))
    })
}

/// The instruction of the OpenCL set to which the row with this id lowers. Does not parse the rest of the row.
pub(super) fn instruction(id: BuiltinId) -> Option<Instruction> {
    let entry = &INDEX.entries[id.index()];
    parse::opencl_instruction(entry.name.text(), entry.line.text())
}

/// All names.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    let first = INDEX.names.iter().filter_map(|&first| usize::from(first).checked_sub(1));
    first.map(|first| INDEX.entries[first].name.text())
}
