//! The worker's state: the analyses of sources, the include context of headers, and the published diagnostics.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use kiln_session::diag::Severity;
use lsp_server::Notification;
use lsp_types::{
    Diagnostic, PublishDiagnosticsParams,
    notification::{Notification as _, PublishDiagnostics},
};
use rustc_hash::FxHashMap;

use crate::{
    analysis::Analysis, client_state::ClientState, configuration, diagnostics, features::tokens::SentTokens,
    races::Races, uri, workspace,
};

/// The worker's state.
#[derive(Default)]
pub(crate) struct Session {
    /// The current state of the client.
    pub(crate) client_state: ClientState,
    /// The last analysis of each source.
    analyses: FxHashMap<String, Analysis>,
    /// The text of each open source that was last analyzed without a panic.
    good: FxHashMap<String, Arc<str>>,
    /// The sources whose analysis began and did not end: it panicked.
    attempted: BTreeSet<String>,
    /// The sources whose analysis is out of date, and why.
    stale: BTreeMap<String, Change>,
    /// For headers that no open document includes, the source in whose context they are viewed.
    including: FxHashMap<String, Option<String>>,
    /// The diagnostics of each source, by file.
    by_source: FxHashMap<String, BTreeMap<String, Vec<Diagnostic>>>,
    /// The data races of open sources.
    pub(crate) races: Races,
    /// The semantic tokens last sent, by file.
    pub(crate) tokens: FxHashMap<String, SentTokens>,
    /// Whether requested diagnostics of one document have changed those of others.
    pub(crate) others_changed: bool,
    /// The diagnostics last published for each file.
    published: FxHashMap<String, Vec<Diagnostic>>,
}

/// Why an analysis is out of date.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Change {
    /// Only the text of the source itself has changed.
    Source,
    /// An included file or the configuration has changed.
    Other,
}

impl Session {
    /// The sources to compile: every open document, except headers that another one includes.
    pub(crate) fn roots(&self) -> BTreeSet<String> {
        self.client_state.documents.keys().map(|name| self.root_of(name).to_owned()).collect()
    }

    /// The source in whose context a file is viewed: the file itself, unless it is only part of another.
    pub(crate) fn root_of<'n>(&'n self, name: &'n str) -> &'n str {
        if !is_header(name) {
            return name;
        }
        let including =
            self.analyses.values().filter(|analysis| analysis.root != name && analysis.reads(name));
        let open = including.map(|analysis| analysis.root.as_str()).min();
        let known = || self.including.get(name).and_then(Option::as_deref);
        open.or_else(known).unwrap_or(name)
    }

    /// Finds a source that includes a header opened on its own.
    fn look_for_source(&mut self, name: &str) {
        let is_alone = is_header(name)
            && self.client_state.documents.contains_key(name)
            && !self.including.contains_key(name)
            && self.root_of(name) == name;
        if is_alone {
            let found = workspace::including(&self.client_state, name);
            self.including.insert(name.to_owned(), found);
        }
    }

    /// Records that a file has changed. Returns the affected sources, including one that was closed.
    pub(crate) fn changed(&mut self, name: &str) -> BTreeSet<String> {
        self.look_for_source(name);
        let reading = self.analyses.values().filter(|analysis| analysis.may_read(name));
        let mut affected: BTreeSet<String> = reading.map(|analysis| analysis.root.clone()).collect();
        affected.insert(self.root_of(name).to_owned());
        for root in &affected {
            let change = if root == name { Change::Source } else { Change::Other };
            let known = self.stale.entry(root.clone()).or_insert(change);
            *known = (*known).max(change);
        }
        affected
    }

    /// Records that everything may have changed. Returns the affected sources.
    pub(crate) fn reload(&mut self) -> BTreeSet<String> {
        self.including.clear();
        let open: Vec<String> = self.client_state.documents.keys().cloned().collect();
        open.iter().for_each(|name| self.look_for_source(name));
        let roots = self.roots();
        let known = self.analyses.keys().chain(&roots);
        self.stale.extend(known.map(|root| (root.clone(), Change::Other)));
        roots
    }

    /// The analysis of the source in whose context a file is viewed; `None` if there is no such file.
    pub(crate) fn analysis(&mut self, name: &str) -> Option<(&ClientState, &Analysis)> {
        let root = self.root_of(name).to_owned();
        self.refresh(&root);
        self.analyses.get(&root).map(|analysis| (&self.client_state, analysis))
    }

    /// The last analysis of a source whose own text has changed since then. For requests that can use it.
    pub(crate) fn previous(&self, name: &str) -> Option<(&ClientState, &Analysis)> {
        let is_own = self.stale.get(name) == Some(&Change::Source);
        let analysis = self.analyses.get(name).filter(|_| is_own)?;
        Some((&self.client_state, analysis))
    }

    /// An arbitrary analysis, for requests about the language itself.
    pub(crate) fn any_analysis(&self) -> Option<&Analysis> {
        self.analyses.values().next()
    }

    /// Analyzes a source if it is out of date.
    fn refresh(&mut self, root: &str) {
        let is_stale = self.stale.remove(root).is_some();
        if !is_stale && self.analyses.contains_key(root) {
            return;
        }
        // Frees the memory of the old analysis before the new one needs it.
        self.analyses.remove(root);
        let has_panicked = self.attempted.contains(root) && !is_stale;
        let analysis = match self.good.get(root) {
            // The last good text is used until the next change.
            Some(text) if has_panicked => {
                Analysis::with_text(&self.client_state, root, root, text.to_string())
            }
            _ => self.attempt(root),
        };
        if let Some(analysis) = analysis {
            self.analyses.insert(root.to_owned(), analysis);
        }
    }

    /// Analyzes a source, and remembers its text if that does not panic.
    fn attempt(&mut self, root: &str) -> Option<Analysis> {
        self.attempted.insert(root.to_owned());
        let analysis = Analysis::new(&self.client_state, root);
        self.attempted.remove(root);
        match self.client_state.documents.get(root) {
            Some(document) => self.good.insert(root.to_owned(), document.text.clone()),
            None => self.good.remove(root),
        };
        analysis
    }

    /// Updates the diagnostics of a source, and returns the notifications to publish.
    pub(crate) fn diagnose(&mut self, root: &str) -> Vec<Notification> {
        let is_wanted = self.client_state.documents.keys().any(|name| self.root_of(name) == root);
        if is_wanted {
            self.refresh(root);
        } else {
            self.analyses.remove(root);
            self.good.remove(root);
            self.attempted.remove(root);
        }
        self.tokens.retain(|name, _| self.client_state.documents.contains_key(name));
        let mut now = self.analyses.get(root).map(diagnostics::by_file).unwrap_or_default();
        if is_wanted && let Some((file, mistakes)) = configuration::mistakes(&self.client_state, root) {
            now.insert(file, mistakes);
        }
        self.races.retain_open(&self.client_state);
        let races = self.races.diagnostics(&self.client_state, root);
        if !races.is_empty() {
            now.entry(root.to_owned()).or_default().extend(races);
        }
        let before = if now.is_empty() {
            self.by_source.remove(root).unwrap_or_default()
        } else {
            self.by_source.insert(root.to_owned(), now.clone()).unwrap_or_default()
        };
        let mut files: BTreeSet<String> = before.into_keys().chain(now.into_keys()).collect();
        files.extend(self.remove_included_headers(root));
        files.into_iter().filter_map(|file| self.publish(file, root)).collect()
    }

    /// Whether the last analysis of a source found errors.
    pub(crate) fn has_errors(&self, root: &str) -> bool {
        self.analyses.get(root).is_none_or(|analysis| {
            let all = &analysis.survey.diagnostics;
            all.iter().any(|it| it.severity == Severity::Error)
        })
    }

    /// The diagnostics of a document, for clients that request them.
    pub(crate) fn pull(&mut self, name: &str) -> Vec<Diagnostic> {
        let root = self.root_of(name).to_owned();
        self.others_changed |= self.diagnose(&root).len() > 1;
        self.published.get(name).cloned().unwrap_or_default()
    }

    /// Removes the analyses of headers that were analyzed by themselves and that this source now includes. Returns the
    /// files that had their diagnostics.
    fn remove_included_headers(&mut self, root: &str) -> Vec<String> {
        let Some(analysis) = self.analyses.get(root) else { return Vec::new() };
        let is_part = |name: &&String| *name != root && is_header(name) && analysis.reads(name);
        let parts: Vec<String> = self.by_source.keys().filter(is_part).cloned().collect();
        parts.iter().for_each(|part| drop(self.analyses.remove(part)));
        parts.iter().filter_map(|part| self.by_source.remove(part)).flat_map(BTreeMap::into_keys).collect()
    }

    /// Publishes the diagnostics of all sources for a file, if they have changed or if the file is the source itself.
    fn publish(&mut self, file: String, root: &str) -> Option<Notification> {
        let mut all: Vec<Diagnostic> = Vec::new();
        for diagnostic in self.by_source.values().filter_map(|by_source| by_source.get(&file)).flatten() {
            if !all.contains(diagnostic) {
                all.push(diagnostic.clone());
            }
        }
        let before = self.published.get(&file);
        if file != root && before.map_or(all.is_empty(), |before| *before == all) {
            return None;
        }
        let document = self.client_state.documents.get(&file);
        let parameters = PublishDiagnosticsParams {
            uri: document.map(|document| document.uri.clone()).or_else(|| uri::uri(&file))?,
            version: document.map(|document| document.version),
            diagnostics: all.clone(),
        };
        self.published.insert(file, all);
        Some(Notification::new(PublishDiagnostics::METHOD.to_owned(), parameters))
    }
}

/// Whether the name is that of a source.
pub(crate) fn is_source(name: &str) -> bool {
    matches!(name.rsplit_once('.'), Some((_, "cl" | "ocl")))
}

/// Whether the name is that of a header.
pub(crate) fn is_header(name: &str) -> bool {
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    matches!(ending, "h" | "clh" | "hcl" | "inc" | "hpp" | "inl")
}
