//! What keeps sessions small: older turns become a summary, old messages go to the archive.
//!
//! - [`Summariser`]: a model that writes summaries; the cheap one there is (`model`); without one, what
//!   was said is shortened (`extract`)
//! - [`Archivist`]: messages past the hot period go to files, and only then from the table
//! - [`schedule`]: the nightly job of a tenant

mod archive;
mod extract;
mod file;
mod model;
mod summarise;

pub use archive::{Archivist, KIND as ARCHIVE, Retention, Retentions, schedule};
pub use extract::extract;
pub use summarise::{KEPT, KIND as SUMMARISE, LONGEST, Material, Summariser, Summarising, is_due};

pub(crate) use summarise::ask;
