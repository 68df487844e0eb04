//! What every command is handed.

use std::future::Future;
use std::path::PathBuf;
use std::pin::{Pin, pin};
use std::sync::Arc;

use munshi_config::{Config, Sources};
use munshi_types::{Clock, SystemClock, Timestamp};

use crate::failure::{Failure, Result};
use crate::output::Output;

/// Where to speak, where settings come from, and what time it is. Lives as long as the process.
pub(crate) struct Context {
    pub(crate) output: Output,
    pub(crate) clock: Arc<dyn Clock>,
    /// As given with `--config`.
    file: Option<PathBuf>,
}

impl Context {
    pub(crate) fn new(file: Option<PathBuf>, output: Output) -> Self {
        Self { output, clock: Arc::new(SystemClock), file }
    }

    pub(crate) fn sources(&self) -> Sources {
        Sources::system(self.file.clone())
    }

    pub(crate) fn config(&self) -> Result<Config> {
        Ok(Config::load(&self.sources())?)
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Runs a short command: one thread is enough, and quicker to start than many.
    pub(crate) fn block_on<T>(&self, work: impl Future<Output = Result<T>>) -> Result<T> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| Failure::failed(format!("can't start: {error}")))?;
        // One copy of the runtime's loop per answer, not one per command.
        let work: Pin<&mut dyn Future<Output = Result<T>>> = pin!(work);
        runtime.block_on(work)
    }
}
