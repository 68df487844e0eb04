//! What can go wrong with the queue, by what a caller does about it.

use munshi_types::JobId;

#[derive(Debug, Clone, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Store(#[from] munshi_store::Error),

    /// Another worker has the job now, or it was given up: whatever this one did must not be committed.
    #[error("lease on job {0} lost; its changes were rolled back")]
    LeaseLost(JobId),

    /// A schedule's rule can't be read.
    #[error("{0}")]
    Rule(String),

    /// The same job, by its unique key, is queued already.
    #[error("can't retry job {0}: an identical job is already queued")]
    AlreadyQueued(JobId),
}

pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a handler did not finish its job.
#[derive(Debug, Clone, thiserror::Error)]
pub enum JobFailure {
    /// May pass later: tried again with growing pauses, up to the job's number of attempts.
    #[error("{0}")]
    Passing(String),
    /// As `Passing`, and whoever refused said when to come back.
    #[error("{why} (retry after {} s)", after.as_secs())]
    Later { why: String, after: std::time::Duration },
    /// As `Passing`: the tenant has not set up what the job needs.
    #[error("{0}")]
    Unconfigured(String),
    /// Nothing is wrong with the job: the database, or the store of the keys that its text is encrypted with, is away. Tried again for as
    /// long as that lasts, without counting.
    #[error("{0}")]
    Outage(String),
    /// Will never pass: goes to the dead letters at once.
    #[error("{0}")]
    Lasting(String),
}

impl From<Error> for JobFailure {
    fn from(error: Error) -> Self {
        match error {
            Error::Store(error) => error.into(),
            error => Self::Passing(error.to_string()),
        }
    }
}

impl From<munshi_store::Error> for JobFailure {
    fn from(error: munshi_store::Error) -> Self {
        if error.is_outage() { Self::Outage(error.to_string()) } else { Self::Passing(error.to_string()) }
    }
}
