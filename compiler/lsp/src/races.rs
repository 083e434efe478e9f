//! Data races of launches, found with the memory models. A separate thread explores a source when it has not changed
//! for a while, so that requests do not wait for it. The worker shows the races of the current text as diagnostics, and
//! their fixes as code actions.

use std::{
    collections::BTreeMap,
    ops::Range,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    time::Duration,
};

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, unbounded};
use kiln_session::{DEEP_STACK, Options};
use lsp_types::{
    CodeAction, CodeActionKind, CodeActionOrCommand, Diagnostic, DiagnosticRelatedInformation,
    DiagnosticSeverity, Location, NumberOrString, TextEdit,
};

use crate::{client_state::ClientState, diagnostics, features::actions, position::Lines};

/// The time without a change after which a source is explored.
const QUIET: Duration = Duration::from_millis(400);

/// Finds the data races of the launches in a source's comment: the name, the text and the options of the source.
pub type Explorer = fn(&str, &str, &Options) -> Vec<Race>;

/// A data race.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Race {
    /// The lines of both accesses, from 1.
    pub lines: (u32, u32),
    /// The message.
    pub message: String,
    /// A change of the source that removes the race.
    pub fix: Option<Fix>,
}

/// A change of a source that removes a race.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fix {
    /// The title of the code action.
    pub title: String,
    /// The bytes to replace, and their replacements.
    pub edits: Vec<(Range<usize>, String)>,
}

/// A request to explore a source.
pub(crate) struct RaceRequest {
    pub(crate) name: String,
    pub(crate) text: Arc<str>,
    pub(crate) options: Options,
}

/// The races of a source with this text.
pub(crate) struct RaceReport {
    pub(crate) name: String,
    pub(crate) text: Arc<str>,
    pub(crate) races: Vec<Race>,
}

/// Starts the thread. It ends when the sender of sources is dropped.
pub(crate) fn start(explorer: Explorer) -> std::io::Result<(Sender<RaceRequest>, Receiver<RaceReport>)> {
    let (wanted, todo) = unbounded();
    let (done, found) = unbounded();
    let explore = move || explore(explorer, &todo, &done);
    std::thread::Builder::new().name("races".to_owned()).stack_size(DEEP_STACK).spawn(explore)?;
    Ok((wanted, found))
}

fn explore(explorer: Explorer, todo: &Receiver<RaceRequest>, done: &Sender<RaceReport>) {
    let mut waiting: BTreeMap<String, RaceRequest> = BTreeMap::new();
    loop {
        let next = if waiting.is_empty() {
            todo.recv().map_err(|_| RecvTimeoutError::Disconnected)
        } else {
            todo.recv_timeout(QUIET)
        };
        match next {
            Ok(wanted) => drop(waiting.insert(wanted.name.clone(), wanted)),
            Err(RecvTimeoutError::Disconnected) => return,
            Err(RecvTimeoutError::Timeout) => {
                let Some((name, RaceRequest { text, options, .. })) = waiting.pop_first() else { continue };
                // A panic of the compiler is reported where the worker compiles the same text.
                let races = catch_unwind(AssertUnwindSafe(|| explorer(&name, &text, &options)));
                if done.send(RaceReport { name, text, races: races.unwrap_or_default() }).is_err() {
                    return;
                }
            }
        }
    }
}

/// The races of open sources, with the text in which they were found.
#[derive(Default)]
pub(crate) struct Races(BTreeMap<String, (Arc<str>, Vec<Race>)>);

impl Races {
    /// Records the races of a source. Returns whether they differ from the previous ones.
    pub(crate) fn record(&mut self, RaceReport { name, text, races }: RaceReport) -> bool {
        let known = self.0.get(&name).is_some_and(|(before, known)| *before == text && *known == races);
        self.0.insert(name, (text, races));
        !known
    }

    /// Whether the races of this text are known.
    pub(crate) fn are_known(&self, name: &str, text: &str) -> bool {
        self.0.get(name).is_some_and(|it| *it.0 == *text)
    }

    /// Forgets the sources that are not open.
    pub(crate) fn retain_open(&mut self, client_state: &ClientState) {
        self.0.retain(|name, _| client_state.documents.contains_key(name));
    }

    /// The races that are known for the current text of an open source.
    fn current(&self, client_state: &ClientState, name: &str) -> &[Race] {
        match (self.0.get(name), client_state.documents.get(name)) {
            (Some((text, races)), Some(document)) if **text == *document.text => races,
            _ => &[],
        }
    }

    /// The diagnostics of the races of a source.
    pub(crate) fn diagnostics(&self, client_state: &ClientState, name: &str) -> Vec<Diagnostic> {
        let shown = |race: &Race| diagnostic(client_state, name, race);
        self.current(client_state, name).iter().filter_map(shown).collect()
    }

    /// The fixes of races on these lines.
    pub(crate) fn actions(
        &self,
        client_state: &ClientState,
        name: &str,
        range: lsp_types::Range,
        wanted: Option<&[CodeActionKind]>,
    ) -> Vec<CodeActionOrCommand> {
        let races = self.current(client_state, name);
        let Some(document) = client_state.documents.get(name).filter(|_| !races.is_empty()) else {
            return Vec::new();
        };
        if !actions::is_wanted(wanted, &CodeActionKind::QUICKFIX) {
            return Vec::new();
        }
        let lines = Lines::new(&document.text, client_state.encoding);
        let touches = |line: u32| (range.start.line..=range.end.line).contains(&(line.saturating_sub(1)));
        let here = races.iter().filter(|race| touches(race.lines.0) || touches(race.lines.1));
        let action = |race: &Race| {
            let fix = race.fix.as_ref()?;
            let edit = |(range, new): &(Range<usize>, String)| {
                (document.uri.clone(), TextEdit { range: lines.range(range), new_text: new.clone() })
            };
            Some(CodeActionOrCommand::CodeAction(CodeAction {
                title: fix.title.clone(),
                kind: Some(CodeActionKind::QUICKFIX),
                diagnostics: Some(vec![diagnostic(client_state, name, race)?]),
                edit: Some(actions::workspace_edit(fix.edits.iter().map(edit).collect())),
                ..CodeAction::default()
            }))
        };
        here.filter_map(action).collect()
    }
}

/// The diagnostic of a race, at the later of its lines.
fn diagnostic(client_state: &ClientState, name: &str, race: &Race) -> Option<Diagnostic> {
    let document = client_state.documents.get(name)?;
    let lines = Lines::new(&document.text, client_state.encoding);
    let range = |line: u32| {
        let before = document.text.split_inclusive('\n').take(line.saturating_sub(1) as usize);
        let start = before.map(str::len).sum::<usize>();
        let text = document.text[start..].lines().next().unwrap_or_default();
        let indent = text.len() - text.trim_start().len();
        lines.range(&(start + indent..start + text.trim_end().len().max(indent)))
    };
    let (first, second) = (race.lines.0.min(race.lines.1), race.lines.0.max(race.lines.1));
    let other = DiagnosticRelatedInformation {
        location: Location { uri: document.uri.clone(), range: range(first) },
        message: "the other access".to_owned(),
    };
    Some(Diagnostic {
        range: range(second),
        severity: Some(DiagnosticSeverity::WARNING),
        code: Some(NumberOrString::String("data-race".to_owned())),
        source: Some(diagnostics::SOURCE.to_owned()),
        message: race.message.clone(),
        related_information: Some(vec![other]),
        ..Diagnostic::default()
    })
}
