//! The queue as packs have it: for their own jobs, which are told whether something foreign led to them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use munshi_jobs::{JobQueue, NewJob};
use munshi_store::{JsonText, Result, Tx};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::job::PackJob;
use crate::services::PackServices;

/// Marks a stored payload whose job works on something foreign; beside it stands the payload itself.
const FOREIGN: &str = "$foreign";
const PAYLOAD: &str = "payload";

/// The queue, for jobs of one pack. A job that something foreign led to has read something foreign from its start.
#[derive(Clone)]
pub struct PackJobQueue {
    pack: String,
    queue: JobQueue,
    /// Shared with the services of the call that it belongs to.
    foreign: Arc<AtomicBool>,
}

impl PackJobQueue {
    /// For a pack's turn hooks and tools: what a conversation holds may be anybody's words, so all its jobs are foreign.
    pub fn new(pack: impl Into<String>, queue: JobQueue) -> Self {
        Self { pack: pack.into(), queue, foreign: Arc::new(AtomicBool::new(true)) }
    }

    /// For one call: its jobs are foreign once it has read something foreign.
    pub(crate) fn for_call(pack: impl Into<String>, queue: JobQueue, services: &PackServices) -> Self {
        Self { pack: pack.into(), queue, foreign: services.foreign_mark() }
    }

    /// The same for the pack in whose name a call is made.
    pub(crate) fn with_pack(self, pack: impl Into<String>) -> Self {
        Self { pack: pack.into(), ..self }
    }

    /// For jobs that are no pack's own.
    pub(crate) fn inner(&self) -> &JobQueue {
        &self.queue
    }

    /// Enqueues a job of the pack's own; under a key there is one at a time.
    pub fn enqueue<J: PackJob>(
        &self,
        tx: &mut Tx<'_>,
        payload: &J::Payload,
        unique: Option<&str>,
    ) -> Result<()> {
        let job = J::request(payload)?;
        self.enqueue_request(
            tx,
            match unique {
                Some(key) => job.unique(key),
                None => job,
            },
        )
    }

    /// Enqueues what [`PackJob::request`] made, with a time, a priority or a key that it was given since.
    pub fn enqueue_request(&self, tx: &mut Tx<'_>, job: NewJob) -> Result<()> {
        let kind = job.kind();
        if kind.split('.').next() != Some(self.pack.as_str()) {
            return Err(munshi_store::Error::Refused(format!("{kind} is not a job of {}", self.pack)));
        }
        let job = if self.foreign.load(Ordering::SeqCst) { stamp_foreign(job)? } else { job };
        match self.queue.enqueue(tx, &job) {
            Ok(_) => Ok(()),
            Err(munshi_jobs::Error::Store(error)) => Err(error),
            Err(other) => Err(munshi_store::Error::Refused(other.to_string())),
        }
    }
}

fn stamp_foreign(job: NewJob) -> Result<NewJob> {
    let payload: Value = job.payload().read()?;
    let stamped = JsonText::of(&json!({ FOREIGN: true, PAYLOAD: payload }))?;
    Ok(job.with_payload(stamped))
}

/// A job's payload as its pack wrote it, and whether something foreign led to it.
pub(crate) fn read_payload<P: DeserializeOwned>(stored: &JsonText) -> Result<(P, bool)> {
    if let Ok(Value::Object(mut stamped)) = stored.read::<Value>()
        && stamped.len() == 2
        && stamped.get(FOREIGN) == Some(&Value::Bool(true))
        && let Some(payload) = stamped.remove(PAYLOAD)
    {
        return Ok((JsonText::of(&payload)?.read()?, true));
    }
    Ok((stored.read()?, false))
}
