//! What keeps sessions small: older turns become a summary, old messages go to the archive.
//!
//! - [`Summariser`]: a model that writes summaries; without one, what was said is shortened (`extract`)
//! - [`ArchiveJob`]: messages past the hot period go to files, and only then from the table
//! - [`schedule`]: the nightly job of a tenant

mod archive;
mod extract;
mod file;
mod summarise;

pub use archive::{ArchiveJob, KIND as ARCHIVE, Retention, RetentionLookup, read_archived, schedule};
pub use extract::extract;
pub use summarise::{
    KEPT, KIND as SUMMARISE, LONGEST, Summariser, SummaryInput, SummaryJob, enqueue_summary, is_summary_due,
};
