//! The worker's input: open documents, settings, workspace folders. An immutable snapshot that is cheap to clone.

use std::sync::Arc;

use kiln_session::Loader;
use rustc_hash::FxHashMap;

use crate::{configuration::Settings, documents::Document, position::Encoding, uri};

/// A snapshot of the client's state.
#[derive(Clone, Debug, Default)]
pub(crate) struct ClientState {
    /// The open documents, by name.
    pub(crate) documents: FxHashMap<String, Document>,
    /// The client's settings.
    pub(crate) settings: Arc<Settings>,
    /// The workspace folders.
    pub(crate) folders: Arc<[String]>,
    /// The encoding of positions.
    pub(crate) encoding: Encoding,
    /// The client's capabilities.
    pub(crate) client: Client,
    /// Whether the thread that compiles has the stack for [`kiln_session::DEEP`].
    pub(crate) has_deep_stack: bool,
}

/// The client's capabilities.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Client {
    /// The client can watch files for changes.
    pub(crate) watches_files: bool,
    /// The client can provide its configuration.
    pub(crate) has_configuration: bool,
    /// The client requests diagnostics, and supports refresh requests of the server.
    pub(crate) pulls: bool,
    /// The client supports snippets.
    pub(crate) takes_snippets: bool,
}

impl ClientState {
    /// The text of a file: from the editor if it is open, otherwise from disk.
    pub(crate) fn read(&self, name: &str) -> Option<Vec<u8>> {
        match self.documents.get(name) {
            Some(document) => Some(document.text.as_bytes().to_vec()),
            None if uri::is_path(name) => std::fs::read(name).ok(),
            None => None,
        }
    }

    /// The entries of a folder, on disk and in the editor, by name; `true` marks folders.
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

impl Loader for ClientState {
    fn load(&self, path: &str) -> Option<Vec<u8>> {
        self.read(&uri::normal(path))
    }
}
