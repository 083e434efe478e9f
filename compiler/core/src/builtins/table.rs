//! The rows: where their text stands, which names there are, and rows parsed so far.
//!
//! The index is made once for a process from the text of all families; a row is parsed when it is first asked
//! for. It knows the outline of the notation only: directives, names, one row a line.

use std::sync::{LazyLock, OnceLock};

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

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

struct Entry {
    name: &'static str,
    /// The result before the names and everything from the opening parenthesis on.
    result: &'static str,
    rest: &'static str,
    header: u32,
    /// Boxed, because most rows are never read.
    row: OnceLock<Box<Row>>,
}

struct Index {
    headers: Vec<Header>,
    entries: Vec<Entry>,
    names: FxHashMap<&'static str, SmallVec<[u32; 2]>>,
}

static INDEX: LazyLock<Index> = LazyLock::new(|| {
    let mut index = Index {
        headers: Vec::new(),
        entries: Vec::with_capacity(1536),
        names: FxHashMap::with_capacity_and_hasher(1024, Default::default()),
    };
    for file in FILES {
        let mut header = Header::default();
        let mut is_new = true;
        for line in file.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
            if let Some(directive) = line.strip_prefix('@') {
                let (word, rest) = directive.split_once(' ').unwrap_or((directive, ""));
                header.set(word, rest);
                is_new = true;
            } else {
                if is_new {
                    index.headers.push(header);
                    is_new = false;
                }
                index.add(line);
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
        let open = line.find('(').unwrap_or_else(|| panic!("no parameters in the row {line}"));
        let (head, rest) = line.split_at(open);
        let (result, names) = head.rsplit_once(' ').unwrap_or_else(|| panic!("no result in the row {line}"));
        for name in names.split('|') {
            self.names.entry(name).or_default().push(self.entries.len() as u32);
            self.entries.push(Entry {
                name,
                result,
                rest,
                header: self.headers.len() as u32 - 1,
                row: OnceLock::new(),
            });
        }
    }
}

/// The name as the table has it, and its rows.
pub(super) fn rows(name: &str) -> Option<(&'static str, impl Iterator<Item = BuiltinId> + use<>)> {
    let (name, rows) = INDEX.names.get_key_value(name)?;
    Some((name, rows.iter().map(|row| BuiltinId(*row))))
}

/// The row of this id.
pub(super) fn row(id: BuiltinId) -> &'static Row {
    let entry = &INDEX.entries[id.index()];
    entry.row.get_or_init(|| {
        Box::new(parse::row(entry.name, entry.result, entry.rest, &INDEX.headers[entry.header as usize]))
    })
}

/// Every name.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    INDEX.names.keys().copied()
}
