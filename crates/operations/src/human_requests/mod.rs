//! The line of those who asked for a human.

mod line;
mod list;
mod view;

pub use line::{LineEntry, LinePart, LineRequest, open_line};
pub use list::{ListHumanRequests, ListHumanRequestsInput};
pub use view::HumanRequestView;
