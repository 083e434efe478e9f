//! The debugger of a launch: stops it, and lets the client inspect it.
//!
//! Owns the state that the client's requests and the launch share. The launch runs on its own thread. While it is
//! stopped, that thread answers the requests that read or change the launch.

use std::sync::{
    Mutex, MutexGuard, PoisonError,
    mpsc::{Receiver, Sender, channel},
};

use kiln_reference::{ItemId, Monitor, Point, Reason, Report, Resume, StoppedLaunch};
use kiln_vocabulary::debug::Variables;
use serde_json::{Value, json};

use crate::{
    breakpoints::{Breakpoint, Effect, Step, Watchpoint},
    inspect::{self, Inspection},
    lines::Lines,
    protocol::{Client, Request},
    replay::{Goal, Replay},
};

/// The debugger.
#[derive(Debug)]
pub(crate) struct Debugger {
    pub(crate) client: std::sync::Arc<Client>,
    state: Mutex<State>,
    requests: Sender<Request>,
    incoming: Mutex<Receiver<Request>>,
}

/// The state of a session.
#[derive(Debug, Default)]
pub(crate) struct State {
    pub(crate) lines: Lines,
    pub(crate) variables: std::sync::Arc<Variables>,
    pub(crate) breakpoints: Vec<Breakpoint>,
    pub(crate) watchpoints: Vec<Watchpoint>,
    /// Whether to stop when a launch has undefined behavior.
    pub(crate) stops_at_reports: bool,
    pub(crate) mode: RunMode,
    pub(crate) focus: Option<ItemId>,
    /// Whether the launch is stopped, so that its thread answers requests.
    pub(crate) is_stopped: bool,
    pub(crate) is_disconnected: bool,
    /// The number of statements since the start of the launch.
    ticks: u64,
    replay: Option<Replay>,
    /// Why the launch stops.
    cause: StopCause,
    /// The number of bytes printed since the start of the launch, and the maximum shown so far.
    printed: u64,
    shown: u64,
    /// The next id of a breakpoint.
    pub(crate) last_id: i64,
}

/// How the launch runs until its next stop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum RunMode {
    /// Until a breakpoint.
    #[default]
    Free,
    /// Until the next statement.
    Pausing(&'static str),
    Stepping(Step),
}

/// Why a launch stops.
#[derive(Clone, Debug, Default)]
pub(crate) struct StopCause {
    /// The reason in the words of the protocol.
    reason: &'static str,
    description: Option<String>,
    breakpoints: Vec<i64>,
}

impl Debugger {
    pub(crate) fn new(client: std::sync::Arc<Client>) -> Self {
        let (requests, incoming) = channel();
        Self { client, state: Mutex::default(), requests, incoming: Mutex::new(incoming) }
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Passes a request to the thread of the launch, which is stopped.
    pub(crate) fn pass(&self, request: Request) {
        // The receiver lives as long as the debugger.
        let _ = self.requests.send(request);
    }

    /// Prepares for the next launch.
    pub(crate) fn begin_launch(&self) {
        let mut state = self.state();
        (state.ticks, state.printed, state.shown, state.replay) = (0, 0, 0, None);
    }

    /// The number of bytes of the launch's output that the client has received.
    pub(crate) fn received_bytes(&self) -> usize {
        self.state().shown as usize
    }

    fn tell_stopped(&self, item: ItemId, cause: &StopCause) {
        let mut body = json!({
            "reason": cause.reason,
            "threadId": inspect::thread(item),
            "allThreadsStopped": true,
        });
        if let Some(description) = &cause.description {
            body["description"] = json!(description);
            body["text"] = json!(description);
        }
        if !cause.breakpoints.is_empty() {
            body["hitBreakpointIds"] = json!(cause.breakpoints);
        }
        self.client.event("stopped", body);
    }

    /// Answers requests until the launch continues.
    fn serve(&self, stopped: &mut StoppedLaunch<'_, '_>, at: ItemId, report: Option<&Report>) -> Resume {
        let variables = self.state().variables.clone();
        let mut inspection = Inspection::new(variables);
        let incoming = self.incoming.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            let Ok(request) = incoming.recv() else { return Resume::End };
            if let Some(resume) = self.resume_request(&request, stopped, at, report.is_some()) {
                return resume;
            }
            let answer = match request.command.as_str() {
                "exceptionInfo" => inspect::exception(report),
                _ => inspection.answer(&request, stopped, at, &self.state()),
            };
            self.client.answer(&request, answer);
        }
    }

    /// Answers a request to resume, and returns how the launch continues; `None` for other requests.
    fn resume_request(
        &self,
        request: &Request,
        stopped: &mut StoppedLaunch<'_, '_>,
        at: ItemId,
        is_reported: bool,
    ) -> Option<Resume> {
        use crate::breakpoints::StepKind::{In, Out, Over};
        let command = request.command.as_str();
        let item = inspect::item(&request.arguments["threadId"]).unwrap_or(at);
        let depth = stopped.item(item).map_or(0, |item| item.depth());
        let step = |kind| RunMode::Stepping(Step { item, kind, depth });
        let mut state = self.state();
        let goal = match command {
            "stepBack" => Some(Goal::Step(item, depth)),
            "reverseContinue" => Some(Goal::Breakpoint),
            "continue" | "next" | "stepIn" | "stepOut" | "disconnect" | "terminate" => None,
            _ => return None,
        };
        state.is_stopped = false;
        state.mode = match command {
            "next" => step(Over),
            "stepIn" => step(In),
            "stepOut" => step(Out),
            _ => RunMode::Free,
        };
        state.focus = matches!(state.mode, RunMode::Stepping(_)).then_some(item);
        if command == "disconnect" || command == "terminate" {
            return Some(Resume::End);
        }
        let resume = match goal {
            Some(goal) => {
                let until = if is_reported { u64::MAX } else { state.ticks };
                state.begin_replay(Replay::Search { until, goal, found: None });
                Resume::Rewind
            }
            None => {
                state.note_memory(stopped);
                Resume::Continue
            }
        };
        drop(state);
        let body = if command == "continue" { json!({ "allThreadsContinued": true }) } else { Value::Null };
        self.client.answer(request, Ok(body));
        Some(resume)
    }
}

impl State {
    fn begin_replay(&mut self, replay: Replay) {
        self.replay = Some(replay);
        self.rewind();
    }

    /// Clears the state of the execution so far.
    fn rewind(&mut self) {
        (self.ticks, self.printed) = (0, 0);
        self.breakpoints.iter_mut().for_each(|it| it.hits = 0);
        self.watchpoints.iter_mut().for_each(|it| it.last = None);
    }

    /// Records the current contents of watched memory.
    fn note_memory(&mut self, stopped: &StoppedLaunch<'_, '_>) {
        let items = stopped.items();
        for watchpoint in self.watchpoints.iter_mut().filter(|it| it.last.is_none()) {
            let item = items.iter().find(|item| watchpoint.owner.has(item.id()));
            let contents = item.and_then(|item| item.read(watchpoint.address, watchpoint.size));
            watchpoint.last = contents.map(|contents| contents.bytes);
        }
    }

    /// The breakpoints and changes of memory at a statement, and the texts that breakpoints print.
    fn hits(&mut self, point: &Point<'_>) -> (Vec<i64>, Option<String>, Vec<String>) {
        let (mut ids, mut printed, mut change) = (Vec::new(), Vec::new(), None);
        for watchpoint in &mut self.watchpoints {
            if watchpoint.has_changed(point.item) {
                ids.push(watchpoint.id);
                change = Some(format!("{} has changed", watchpoint.name));
            }
        }
        if point.is_new_line && !self.lines.is_head(point.file, point.line) {
            for breakpoint in &mut self.breakpoints {
                match breakpoint.effect_at(point, &self.variables) {
                    Some(Effect::Stop) => ids.push(breakpoint.id),
                    Some(Effect::Print(text)) => printed.push(text),
                    None => {}
                }
            }
        }
        (ids, change, printed)
    }

    /// Whether the launch stops at a statement during reverse execution.
    fn replays(&mut self, point: &Point<'_>) -> Option<bool> {
        let mut replay = self.replay.take()?;
        let ticks = self.ticks;
        let stops = match &mut replay {
            Replay::Seek(tick) => ticks == *tick,
            Replay::Search { until, .. } if ticks >= *until => true,
            Replay::Search { goal: Goal::Breakpoint, found, .. } => {
                let (ids, change, _) = self.hits(point);
                // A change of memory is the effect of the statement before.
                match (change, ids.is_empty()) {
                    (Some(_), _) => *found = Some(ticks.saturating_sub(1).max(1)),
                    (None, false) => *found = Some(ticks),
                    (None, true) => {}
                }
                false
            }
            Replay::Search { goal: Goal::Step(item, depth), found, .. } => {
                let is_before = point.item.id() == *item && point.item.depth() <= *depth && point.is_new_line;
                if is_before && !self.lines.is_head(point.file, point.line) {
                    *found = Some(ticks);
                }
                false
            }
        };
        if let (Replay::Seek(_), true) = (&replay, stops) {
            self.cause = StopCause { reason: "step", ..StopCause::default() };
            return Some(true);
        }
        self.replay = Some(replay);
        Some(stops)
    }
}

impl Monitor for Debugger {
    fn stops_at(&self, point: &Point<'_>) -> bool {
        let mut state = self.state();
        state.ticks += 1;
        if let Some(stops) = state.replays(point) {
            return stops;
        }
        let (ids, change, printed) = state.hits(point);
        for text in printed {
            self.client.output("console", &text);
        }
        if let Some(description) = change {
            state.cause =
                StopCause { reason: "data breakpoint", description: Some(description), breakpoints: ids };
            return true;
        }
        if !ids.is_empty() {
            state.cause = StopCause { reason: "breakpoint", description: None, breakpoints: ids };
            return true;
        }
        let is_head = state.lines.is_head(point.file, point.line);
        let reason = match state.mode {
            RunMode::Pausing(reason) if point.is_new_line && !is_head => reason,
            RunMode::Stepping(step) if step.is_complete_at(point) && (!is_head || point.returns) => "step",
            _ => return false,
        };
        state.cause = StopCause { reason, ..StopCause::default() };
        true
    }

    fn on_stop(&self, reason: Reason<'_>, stopped: &mut StoppedLaunch<'_, '_>) -> Resume {
        let mut state = self.state();
        if state.is_disconnected {
            return Resume::End;
        }
        if let Some(Replay::Search { found, .. }) = state.replay.take() {
            state.begin_replay(Replay::Seek(found.unwrap_or(1)));
            return Resume::Rewind;
        }
        let (report, at) = match reason {
            Reason::Requested => (None, stopped.running()),
            Reason::Report(report) => {
                if !state.stops_at_reports {
                    return Resume::Continue;
                }
                state.cause = StopCause {
                    reason: "exception",
                    description: Some(format!("{} [{}]", report.message, report.kind)),
                    breakpoints: Vec::new(),
                };
                let items = stopped.items();
                let culprit = items.iter().find(|item| item.global_id() == report.work_item);
                (Some(report), culprit.or(items.first()).map(|item| item.id()))
            }
        };
        let Some(at) = at else { return Resume::Continue };
        state.is_stopped = true;
        state.mode = RunMode::Free;
        let cause = state.cause.clone();
        drop(state);
        self.tell_stopped(at, &cause);
        self.serve(stopped, at, report)
    }

    fn on_return(&self, item: ItemId) {
        let mut state = self.state();
        // A step out of the kernel ends at the next work-item.
        if matches!(state.mode, RunMode::Stepping(step) if step.item == item) {
            state.mode = RunMode::Pausing("step");
            state.focus = None;
        }
    }

    fn focus(&self) -> Option<ItemId> {
        self.state().focus
    }

    fn on_print(&self, text: &[u8]) {
        let mut state = self.state();
        let known = state.shown.saturating_sub(state.printed).min(text.len() as u64);
        state.printed += text.len() as u64;
        state.shown = state.shown.max(state.printed);
        drop(state);
        self.client.output("stdout", &String::from_utf8_lossy(&text[known as usize..]));
    }
}
