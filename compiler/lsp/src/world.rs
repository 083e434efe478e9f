//! What the worker is told of the outside: open documents, settings, folders. A copy is cheap and never changes.

use std::sync::Arc;

use kiln_compiler::session::Loader;
use rustc_hash::FxHashMap;

use crate::{configuration::Settings, documents::Document, position::Encoding, uri};

/// The outside at one moment.
#[derive(Clone, Debug, Default)]
pub(crate) struct World {
    /// The documents that are open, by name.
    pub(crate) documents: FxHashMap<String, Document>,
    /// What the client has set.
    pub(crate) settings: Arc<Settings>,
    /// The folders that the client works in.
    pub(crate) folders: Arc<[String]>,
    /// How positions count.
    pub(crate) encoding: Encoding,
    /// What the client can do.
    pub(crate) client: Client,
}

/// What the client can do.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Client {
    /// It asks to be told when files change.
    pub(crate) watches_files: bool,
    /// It can be asked for its settings.
    pub(crate) has_configuration: bool,
    /// It fills in the places of snippets.
    pub(crate) takes_snippets: bool,
}

impl World {
    /// The text of a file: as it is in the editor, or else on disk.
    pub(crate) fn read(&self, name: &str) -> Option<Vec<u8>> {
        match self.documents.get(name) {
            Some(document) => Some(document.text.as_bytes().to_vec()),
            None if uri::is_path(name) => std::fs::read(name).ok(),
            None => None,
        }
    }

    /// What lies in a folder, by name, and whether it is a folder: on disk, and in the editor.
    pub(crate) fn list(&self, folder: &str) -> Vec<(String, bool)> {
        let folder = format!("{}/", folder.trim_end_matches('/'));
        let open = self.documents.keys().filter_map(|name| name.strip_prefix(&folder));
        let mut all: Vec<(String, bool)> = open
            .map(|rest| match rest.split_once('/') {
                Some((folder, _)) => (folder.to_owned(), true),
                None => (rest.to_owned(), false),
            })
            .collect();
        let on_disk = uri::is_path(&folder).then(|| std::fs::read_dir(&folder).ok()).flatten();
        for entry in on_disk.into_iter().flatten().flatten() {
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            all.push((entry.file_name().to_string_lossy().into_owned(), is_folder));
        }
        all.retain(|(name, _)| !name.starts_with('.'));
        all.sort();
        all.dedup();
        all
    }
}

impl Loader for World {
    fn load(&self, path: &str) -> Option<Vec<u8>> {
        self.read(&uri::normal(path))
    }
}
