//! What keeps sessions small: older turns become a summary, old messages go to the archive.
//!
//! - [`Summariser`]: a model that writes summaries; without one, what was said is shortened (`extract`)
//! - [`ArchiveJob`]: messages past the hot period go to files, and only then from the table
//! - [`expire`], [`expire_files`]: what a tenant keeps no longer; [`check_clock`]: whether it may be deleted now
//! - [`read_part`]: one person's messages from these files
//! - [`seal_files_of_before`]: archive files whose lines were plain
//! - [`schedule`]: the nightly job of a tenant

mod archive;
mod clock_check;
mod expired_files;
mod expiry;
mod extract;
mod file;
mod files_of_before;
mod reader;
mod summarise;

pub use archive::{ArchiveJob, KIND as ARCHIVE, Retention, build_schedule, read_archived, schedule};
pub use clock_check::check_clock;
pub use expired_files::expire_files;
pub use expiry::{ExpiryReport, expire};
pub use extract::extract;
pub use files_of_before::seal_files_of_before;
pub use reader::{ArchiveOwner, ArchivePart, ArchivePosition, ArchivedLine, UnreadableLine, read_part};
pub use summarise::{
    KEPT, KIND as SUMMARISE, LONGEST, Summariser, SummaryInput, SummaryJob, enqueue_summary, is_summary_due,
};
