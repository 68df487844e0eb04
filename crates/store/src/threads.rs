//! The threads that own connections: how they start and how they are waited for.

use std::sync::Arc;
use std::thread::JoinHandle;

use crate::error::{Error, Result};

/// Units that may wait for a thread. Beyond that a caller is told at once instead of filling the memory.
pub(crate) const QUEUE_LENGTH: usize = 16_384;

pub(crate) fn queue_full_error() -> Error {
    Error::Busy(format!("{QUEUE_LENGTH} units of work are already queued"))
}

pub(crate) fn start(name: String, body: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>> {
    std::thread::Builder::new().name(name).stack_size(2 << 20).spawn(body).map_err(|error| {
        Error::Unavailable { what: "starting a thread failed".to_owned(), source: Some(Arc::new(error)) }
    })
}

/// Waits for the threads, except for the one this runs on: the last handle may die inside a unit.
pub(crate) fn join(threads: &mut Vec<JoinHandle<()>>) {
    let current = std::thread::current().id();
    for thread in threads.drain(..) {
        if thread.thread().id() != current && thread.join().is_err() {
            tracing::error!("store thread panicked");
        }
    }
}
