//! What every command is handed.

use std::future::Future;
use std::path::PathBuf;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use munshi_config::{Config, ConfigSources};
use munshi_pack::operation::OperationSpec;
use munshi_types::{Clock, SystemClock, Timestamp};
use munshi_wiring::failure::{CommandFailure, Result};

use crate::operation_client::ServerTarget;
use crate::output::CommandOutput;

/// Where to speak, where settings come from, and what time it is. Lives as long as the process.
pub struct CommandContext {
    pub output: CommandOutput,
    pub clock: Arc<dyn Clock>,
    /// As given with `--config`.
    file: Option<PathBuf>,
    /// As given with `--server`: operations are run there.
    pub(crate) server: Option<ServerTarget>,
    /// As given with `--idempotency-key`, and how many changes were asked for under it.
    idempotency_key: Option<String>,
    changes: AtomicU32,
}

impl CommandContext {
    pub(crate) fn new(file: Option<PathBuf>, server: Option<ServerTarget>, output: CommandOutput) -> Self {
        let changes = AtomicU32::new(0);
        Self { output, clock: Arc::new(SystemClock), file, server, idempotency_key: None, changes }
    }

    pub(crate) fn with_idempotency_key(self, key: Option<String>) -> Self {
        Self { idempotency_key: key, ..self }
    }

    pub(crate) fn has_idempotency_key(&self) -> bool {
        self.idempotency_key.is_some()
    }

    /// The key of the next operation. A command that changes several things has one for each.
    pub(crate) fn next_idempotency_key(&self, spec: &OperationSpec) -> Option<String> {
        let key = self.idempotency_key.as_ref().filter(|_| spec.writes())?;
        match self.changes.fetch_add(1, Ordering::SeqCst) {
            0 => Some(key.clone()),
            before => Some(format!("{key}#{}", before + 1)),
        }
    }

    pub(crate) fn sources(&self) -> ConfigSources {
        ConfigSources::system(self.file.clone())
    }

    pub fn config(&self) -> Result<Config> {
        Ok(Config::load(&self.sources())?)
    }

    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Runs a short command to its end.
    pub(crate) fn block_on<T>(&self, work: impl Future<Output = Result<T>>) -> Result<T> {
        let mut outcome = Err(CommandFailure::failed("the command did not finish"));
        run_to_end(pin!(async { outcome = work.await }))?;
        outcome
    }
}

/// One thread is enough, and quicker to start than many. The runtime's loop is compiled once, not for every command or
/// answer.
fn run_to_end(work: Pin<&mut dyn Future<Output = ()>>) -> Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| CommandFailure::failed(format!("can't start the runtime: {error}")))?;
    runtime.block_on(work);
    Ok(())
}
