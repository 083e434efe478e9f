//! The rows: where their text stands, which names there are, and rows parsed so far.
//!
//! The index is made once for a process from the text of all families; a row is parsed when it is first asked
//! for. It knows the outline of the notation only: directives, names, one row a line.

use std::{
    collections::hash_map::Entry::{Occupied, Vacant},
    sync::{LazyLock, OnceLock},
};

use rustc_hash::FxHashMap;

use crate::index::Id;

use super::{BuiltinId, Row, parse};

const FILES: [&str; 15] = [
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
];

/// The directives in force at a row: what stands after each word.
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

/// A row of one name. Small, because every process that compiles makes all of them.
struct Entry {
    name: &'static str,
    line: &'static str,
    header: u32,
    /// The next row of the same name; none is the entry itself.
    next: u32,
    row: OnceLock<Box<Row>>,
}

struct Index {
    headers: Vec<Header>,
    entries: Vec<Entry>,
    /// The first row of each name.
    names: FxHashMap<&'static str, u32>,
}

static INDEX: LazyLock<Index> = LazyLock::new(|| {
    let mut index = Index {
        headers: Vec::new(),
        entries: Vec::with_capacity(1024),
        names: FxHashMap::with_capacity_and_hasher(640, Default::default()),
    };
    for file in FILES {
        let mut header = Header::default();
        let mut is_new = true;
        for line in file.split('\n') {
            match line.as_bytes().first() {
                None | Some(b'#') => {}
                Some(b'@') => {
                    let (word, rest) = line[1..].split_once(' ').unwrap_or((&line[1..], ""));
                    header.set(word, rest);
                    is_new = true;
                }
                Some(_) => {
                    if is_new {
                        index.headers.push(header);
                        is_new = false;
                    }
                    index.add(line);
                }
            }
        }
    }
    index
});

impl Header {
    /// A directive; `@family` begins anew.
    fn set(&mut self, word: &'static str, rest: &'static str) {
        match word {
            "family" => *self = Self { family: rest, ..Self::default() },
            "attributes" => self.attributes = rest,
            "when" => self.when = rest,
            "T" => self.elements = rest,
            "n" => self.widths = rest,
            "m" => self.masks = rest,
            "P" => self.spaces = rest,
            "Q" => self.other_spaces = rest,
            "X" => self.images = rest,
            other => panic!("the table of built-in functions has no directive @{other}"),
        }
    }
}

impl Index {
    fn add(&mut self, line: &'static str) {
        let (_, names, _) = parts(line);
        for name in names.split('|') {
            let id = self.entries.len() as u32;
            match self.names.entry(name) {
                Vacant(first) => {
                    first.insert(id);
                }
                Occupied(first) => {
                    let mut last = *first.get();
                    while self.entries[last as usize].next != last {
                        last = self.entries[last as usize].next;
                    }
                    self.entries[last as usize].next = id;
                }
            }
            let header = self.headers.len() as u32 - 1;
            self.entries.push(Entry { name, line, header, next: id, row: OnceLock::new() });
        }
    }
}

/// The result, the names, and everything from the opening parenthesis on.
fn parts(line: &'static str) -> (&'static str, &'static str, &'static str) {
    let open = line.find('(').unwrap_or_else(|| panic!("no parameters in the row {line}"));
    let (head, rest) = line.split_at(open);
    let (result, names) = head.rsplit_once(' ').unwrap_or_else(|| panic!("no result in the row {line}"));
    (result, names, rest)
}

/// The name as the table has it, and its rows.
pub(super) fn rows(name: &str) -> Option<(&'static str, impl Iterator<Item = BuiltinId> + use<>)> {
    let (name, first) = INDEX.names.get_key_value(name)?;
    let next = |id: &u32| Some(INDEX.entries[*id as usize].next).filter(|next| next != id);
    Some((name, std::iter::successors(Some(*first), next).map(BuiltinId)))
}

/// The row of this id.
pub(super) fn row(id: BuiltinId) -> &'static Row {
    let entry = &INDEX.entries[id.index()];
    entry.row.get_or_init(|| {
        let (result, _, rest) = parts(entry.line);
        Box::new(parse::row(entry.name, result, rest, &INDEX.headers[entry.header as usize]))
    })
}

/// Every name.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    INDEX.names.keys().copied()
}
