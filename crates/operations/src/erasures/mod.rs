//! Whom was forgotten, with receipts.

mod list;
mod show;
mod view;

pub use list::ListErasures;
pub use show::{ErasureInput, ShowErasure};
pub use view::{ErasedKindView, ErasureView, KeptDataView};
