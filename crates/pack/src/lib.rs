//! What a pack brings to the house, as small traits; it implements those it needs.
//!
//! A pack is a trade: a ledger, a help desk. It sees the floors below and nothing of turns, channels or the web. The
//! binary names the packs there are; [`Pack::install`] is all it calls.
//!
//! # Layout
//! - [`Pack`], [`House`]: a pack, and what it is installed in
//! - [`Scene`]: for whom and when something is asked
//! - [`ContextSource`]: what a prompt should know; [`Reader`]: messages that are read without a model
//! - [`Check`]: before an act, after it, and before the reply

mod check;
mod context;
mod house;
mod reader;
mod scene;

pub use check::{Check, Objection};
pub use context::{ContextSource, Gathered};
pub use house::{BadPack, House, Pack};
pub use reader::{Reader, Reading};
pub use scene::Scene;
