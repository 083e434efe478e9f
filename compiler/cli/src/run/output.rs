//! What kernels print: kept until the launch is over, because it belongs to what the launch is expected to print.

use std::{
    io::Write,
    sync::{Arc, Mutex, PoisonError},
};

/// Text under way.
#[derive(Clone, Default)]
pub(super) struct Output(Arc<Mutex<Vec<u8>>>);

impl Output {
    /// What has been printed since the last call.
    pub(super) fn take(&self) -> String {
        let bytes = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

impl Write for Output {
    fn write(&mut self, text: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).write(text)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
