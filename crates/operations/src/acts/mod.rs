//! What agents did, or were kept from doing.

mod list;
mod show;
mod undo;
mod view;

pub use list::ListActs;
pub use show::{ActInput, ShowAct};
pub use undo::{UndoAct, UndoneActView};
pub use view::{ActUndoView, ActView};
