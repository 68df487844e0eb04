//! Anchors: how far a chain had come and its hash there, kept outside the database. Whoever can change the database can
//! make a chain anew, whole in itself; an anchor is what that can't reach.
//!
//! # Layout
//! - [`AnchorFile`]: the file in the data folder; its lines are a chain too
//! - [`AnchorService`]: making anchors of chains that have grown, and telling the webhook
//! - `witness`: what the installation's chain remembers of the file

mod file;
mod service;
mod witness;

pub use file::{Anchor, AnchorFile, AnchorFileFlaw, Anchors};
pub use service::{AnchorService, AnchorTrigger, AnchorWebhook};
pub(crate) use witness::AnchorFileWitness;
