//! Anchors: how far a chain had come and its hash there, kept outside the database. Whoever can change the database can
//! make a chain anew, whole in itself; an anchor is what that can't reach.
//!
//! # Layout
//! - [`AnchorFile`]: the file in the data folder; its lines are a chain too
//! - [`Anchoring`]: making anchors of chains that have grown, and telling the webhook

mod file;
mod make;

pub use file::{Anchor, AnchorFile, Anchors, Flaw};
pub use make::{Anchoring, Due, Webhook};
