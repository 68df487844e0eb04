//! What keeps sessions small: older turns become a summary, old messages go to the archive.

mod summarise;

pub(crate) use summarise::ask;
pub use summarise::{KEPT, KIND as SUMMARISE, is_due};
