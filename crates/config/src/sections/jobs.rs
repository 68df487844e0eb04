use crate::kinds::{CountOrAutoKind, HoursKind, MillisecondsKind, SecondsKind};
use crate::section::section;

section! {
    /// Work in the background. On shutdown it gets `server.shutdown_grace_seconds` to finish.
    JobsSection in "jobs" {
        /// How many jobs this node runs at a time. 0 means 8 on SQLite and 16 on Postgres.
        workers: CountOrAutoKind<1024> = 0,
        /// How often the queue is looked at when nothing has announced new work.
        poll ("poll_milliseconds"): MillisecondsKind<10, 60_000> = 1000,
        /// How long a job stays with a node that has fallen silent before another node takes it.
        lease ("lease_seconds"): SecondsKind<5, 3600> = 60,
        /// How long a finished job is kept for looking at.
        keep_done ("keep_done_hours"): HoursKind<0, 8760> = 24,
    }
}
