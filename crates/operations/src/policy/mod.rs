//! What a tenant allows.

mod log;
mod show;

pub use log::{LogPolicy, PolicyLogView, PolicyVersionView};
pub use show::{PolicyInput, PolicyView, ShowPolicy};
