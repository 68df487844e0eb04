//! What agents did, or were kept from doing.

mod list;
mod show;
mod view;

pub use list::ListActs;
pub use show::{ActInput, ShowAct};
pub use view::ActView;
