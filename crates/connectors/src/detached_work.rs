//! Work outside of the database that must come to its end, whoever waits for it.

use tokio_util::task::TaskTracker;

use crate::error::{Error, Result};

/// Goes on though whoever waits goes away: what was begun elsewhere is ended there, and told.
pub async fn run_to_end<T: Send + 'static>(work: impl Future<Output = T> + Send + 'static) -> Result<T> {
    let ended = TaskTracker::new().spawn(work).await;
    ended.map_err(|error| Error::Unreachable(format!("interrupted: {error}")))
}
