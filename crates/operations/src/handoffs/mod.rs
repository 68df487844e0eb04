//! Handing conversations on.

mod list;
mod make;
mod view;

pub use list::{ListHandoffs, ListHandoffsInput};
pub use make::{MakeHandoff, MakeHandoffInput};
pub use view::{HandoffPlaceView, HandoffView};
