//! Older turns as a few lines.

use munshi_jobs::{NewJob, Priority, Queue};
use munshi_store::Tx;
use munshi_types::SessionId;
use serde::{Deserialize, Serialize};

use crate::error::Result;

pub const KIND: &str = "session.summarise";

/// So many of the newest messages are told as they were said.
pub const KEPT: i64 = 10;
/// So many beyond what stands in the summary, and it is time for another.
const DUE: i64 = 20;

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Payload {
    session: SessionId,
}

/// Whether a session of so many messages, so many of them in its summary, should be summarised.
pub const fn is_due(messages: i64, summarised: i64) -> bool {
    messages - summarised > DUE
}

/// Makes the job, unless there is one.
pub(crate) fn ask(tx: &mut Tx<'_>, queue: &Queue, session: SessionId) -> Result<()> {
    let job = NewJob::new(KIND, &Payload { session })?.priority(Priority::Background);
    queue.enqueue(tx, &job.unique(session.to_string()))?;
    Ok(())
}
