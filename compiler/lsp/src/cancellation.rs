//! The requests that the client has taken back.

use std::{
    collections::HashSet,
    sync::{Arc, Mutex, PoisonError},
};

use lsp_server::RequestId;

/// Shared by who hears of it and who heeds it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cancellation(Arc<Mutex<HashSet<RequestId>>>);

/// A client that takes back what it has never asked for does not fill the memory.
const MOST: usize = 1000;

impl Cancellation {
    /// The client does not want the answer any more.
    pub(crate) fn cancel(&self, id: RequestId) {
        let mut cancelled = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if cancelled.len() < MOST {
            cancelled.insert(id);
        }
    }

    /// Whether the answer to this is wanted no more; asked once.
    pub(crate) fn take(&self, id: &RequestId) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(id)
    }
}
