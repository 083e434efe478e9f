//! Callbacks for commands of the back end, and the thread that runs them.

use std::collections::VecDeque;
use std::sync::mpsc::{self, Receiver, TryRecvError};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use super::Lane;
use crate::backend::Completion;
use crate::event::{Callback, Status};
use crate::threads::BusyGuard;

/// A command, and the callback for its end.
pub(super) type Watch = (Arc<dyn Completion>, Callback);

/// Maximum delay of a callback whose command completes before one that was registered earlier.
const MAX_CALLBACK_DELAY: Duration = Duration::from_millis(5);

impl Lane {
    /// Registers a callback for a command of this lane. A flush submits it; for later statuses, waits for its end.
    pub(crate) fn call_after(&self, completion: Arc<dyn Completion>, status: Status, callback: Callback) {
        if let Err(error) = self.flush() {
            return callback(Err(error));
        }
        if status <= Status::Submitted {
            return callback(completion.status().map(|_| ()));
        }
        let mut watcher = self.watcher.lock().unwrap_or_else(PoisonError::into_inner);
        if watcher.is_none() {
            let (sender, receiver) = mpsc::channel();
            let thread = std::thread::Builder::new().name("kiln-callbacks".to_owned());
            if thread.spawn(move || watch(&receiver)).is_ok() {
                *watcher = Some(sender);
            }
        }
        let unsent = match &*watcher {
            Some(sender) => sender.send((completion, callback)).err().map(|unsent| unsent.0),
            None => Some((completion, callback)),
        };
        drop(watcher);
        // Without the watcher thread, waits on this thread.
        if let Some((completion, callback)) = unsent {
            callback(completion.wait(None));
        }
    }
}

/// Waits for commands and runs their callbacks, until the channel is closed.
fn watch(receiver: &Receiver<Watch>) {
    let mut watched: VecDeque<Watch> = VecDeque::new();
    let mut open = true;
    while open || !watched.is_empty() {
        if watched.is_empty() {
            match receiver.recv() {
                Ok(watch) => watched.push_back(watch),
                Err(_) => break,
            }
        }
        let _busy = BusyGuard::new();
        loop {
            match receiver.try_recv() {
                Ok(watch) => watched.push_back(watch),
                Err(TryRecvError::Empty) => break,
                Err(TryRecvError::Disconnected) => {
                    open = false;
                    break;
                }
            }
        }
        if let Some((oldest, _)) = watched.front() {
            // The result does not matter: the status of each command is queried below.
            let _ = oldest.wait(Some(MAX_CALLBACK_DELAY));
        }
        for (completion, callback) in std::mem::take(&mut watched) {
            match completion.status() {
                Ok(Status::Complete) => callback(Ok(())),
                Ok(_) => watched.push_back((completion, callback)),
                Err(error) => callback(Err(error)),
            }
        }
    }
}
