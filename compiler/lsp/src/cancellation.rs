//! The requests that the client has cancelled.

use std::{
    collections::HashSet,
    sync::{Arc, Mutex, PoisonError},
};

use lsp_server::RequestId;

/// Shared by the server, which adds requests, and the worker, which checks them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cancellation(Arc<Mutex<HashSet<RequestId>>>);

/// Bounds memory use if a client cancels requests that it never sent.
const MAX_CANCELLED: usize = 1000;

impl Cancellation {
    /// Cancels a request.
    pub(crate) fn cancel(&self, id: RequestId) {
        let mut cancelled = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if cancelled.len() < MAX_CANCELLED {
            cancelled.insert(id);
        }
    }

    /// Whether the request was cancelled. Removes it from the set.
    pub(crate) fn take(&self, id: &RequestId) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(id)
    }
}
