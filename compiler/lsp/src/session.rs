//! What the worker remembers: the analyses of sources, who includes whom, and what was published.

use std::collections::{BTreeMap, BTreeSet};

use lsp_server::Notification;
use lsp_types::{
    Diagnostic, PublishDiagnosticsParams,
    notification::{Notification as _, PublishDiagnostics},
};
use rustc_hash::FxHashMap;

use crate::{analysis::Analysis, diagnostics, uri, world::World};

/// The worker's memory.
#[derive(Default)]
pub(crate) struct Session {
    /// The outside as it is now.
    pub(crate) world: World,
    /// The last analysis of each source.
    analyses: FxHashMap<String, Analysis>,
    /// What each source has to say, by file.
    told: FxHashMap<String, BTreeMap<String, Vec<Diagnostic>>>,
    /// What each file was last published with.
    published: FxHashMap<String, Vec<Diagnostic>>,
}

impl Session {
    /// The sources that are compiled: every open document, but for the headers that one of them includes.
    pub(crate) fn roots(&self) -> BTreeSet<String> {
        self.world.documents.keys().map(|name| self.root_of(name).to_owned()).collect()
    }

    /// The source in whose context a file is seen: itself, unless it is only known as a part of another.
    pub(crate) fn root_of<'n>(&'n self, name: &'n str) -> &'n str {
        if !is_header(name) {
            return name;
        }
        let including =
            self.analyses.values().filter(|analysis| analysis.root != name && analysis.reads(name));
        including.map(|analysis| analysis.root.as_str()).min().unwrap_or(name)
    }

    /// The sources that a change of this file concerns. One that is closed is among them, to be forgotten.
    pub(crate) fn affected(&self, name: &str) -> BTreeSet<String> {
        let mut affected: BTreeSet<String> = self
            .analyses
            .values()
            .filter(|analysis| analysis.reads(name))
            .map(|analysis| analysis.root.clone())
            .collect();
        affected.insert(self.root_of(name).to_owned());
        affected
    }

    /// Nothing that was read is what it was.
    pub(crate) fn forget(&mut self) {
        // What is shown stays until there is something newer.
    }

    /// Makes the diagnostics of a source anew; gives what is to be published.
    pub(crate) fn diagnose(&mut self, root: &str) -> Vec<Notification> {
        let is_wanted = self.world.documents.keys().any(|name| self.root_of(name) == root);
        let now = match Analysis::of(&self.world, root).filter(|_| is_wanted) {
            Some(analysis) => {
                let now = diagnostics::by_file(&analysis);
                self.analyses.insert(root.to_owned(), analysis);
                now
            }
            None => {
                self.analyses.remove(root);
                BTreeMap::new()
            }
        };
        let before = if now.is_empty() {
            self.told.remove(root).unwrap_or_default()
        } else {
            self.told.insert(root.to_owned(), now.clone()).unwrap_or_default()
        };
        let files: BTreeSet<String> = before.into_keys().chain(now.into_keys()).collect();
        files.into_iter().filter_map(|file| self.publish(file, root)).collect()
    }

    /// What all sources say of a file, if that has changed, or if it is the source itself.
    fn publish(&mut self, file: String, root: &str) -> Option<Notification> {
        let mut all: Vec<Diagnostic> = Vec::new();
        for diagnostic in self.told.values().filter_map(|told| told.get(&file)).flatten() {
            if !all.contains(diagnostic) {
                all.push(diagnostic.clone());
            }
        }
        let before = self.published.get(&file);
        if file != root && before.map_or(all.is_empty(), |before| *before == all) {
            return None;
        }
        let document = self.world.documents.get(&file);
        let parameters = PublishDiagnosticsParams {
            uri: document.map(|document| document.uri.clone()).or_else(|| uri::uri(&file))?,
            version: document.map(|document| document.version),
            diagnostics: all.clone(),
        };
        self.published.insert(file, all);
        Some(Notification::new(PublishDiagnostics::METHOD.to_owned(), parameters))
    }
}

/// Whether a file of this name is meant to be included.
fn is_header(name: &str) -> bool {
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    matches!(ending, "h" | "clh" | "hcl" | "inc" | "hpp" | "inl")
}
