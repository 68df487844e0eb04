use crate::kinds::{CountOrAutoKind, HoursKind, MillisecondsKind, SecondsKind};
use crate::section::section;

section! {
    /// Background jobs. On shutdown they get `server.shutdown_grace_seconds` to finish.
    JobsSection in "jobs" {
        /// Concurrent jobs on this node. 0 means 8 on SQLite and 16 on Postgres.
        workers: CountOrAutoKind<1024> = 0,
        /// Poll interval of the queue when no new job was announced.
        poll ("poll_milliseconds"): MillisecondsKind<10, 60_000> = 1000,
        /// Lease of a running job. When a node stops renewing it, another node takes the job over after this time.
        lease ("lease_seconds"): SecondsKind<5, 3600> = 60,
        /// Retention of finished jobs.
        keep_done ("keep_done_hours"): HoursKind<0, 8760> = 24,
    }
}
