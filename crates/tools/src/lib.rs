//! Tools: what one is, which there are, and the one way to call them.
//!
//! A tool is called by the [`Dispatcher`] alone, with a permit that only the safety pipeline can make. What a tool does
//! to the world decides how it is called and what is done after a crash: see [`Body`].
//!
//! Not here: deciding (the safety pipeline does), and tools of a trade: packs bring theirs, connectors others'.
//!
//! # Layout
//! - [`Body`], [`Look`], [`Write`], [`Far`]: what a tool implements; [`Done`], [`Failure`]: what it answers;
//!   [`Next`]: what helps where it could not
//! - [`Registry`]: the tools there are; [`Observation`]: a result as a model may see it
//! - [`Shelf`], [`Shelves`]: tools of one tenant's connectors, which come and go; [`Index`]: finding the fitting ones
//! - [`house`]: the two tools every installation has
//! - [`Dispatcher`]: the one way to call; `inside`: calling in our own transaction;
//!   `attempts`: calling elsewhere, and again where that is safe; `cache`: telling again what was just looked at;
//!   `sweep`: after a crash
//! - [`Journal`]: what a turn writes in the same transactions
//!
//! # To add a tool
//! ```
//! # use munshi_tools::{Body, Connector, Done, Failure, Look, Registry};
//! # use munshi_safety::acts::Permit;
//! # use munshi_types::ToolSpec;
//! # use std::sync::Arc;
//! struct Hours;
//!
//! impl Look for Hours {
//!     fn look(&self, _permit: &Permit, _tx: &mut munshi_store::Tx<'_>) -> Result<Done, Failure> {
//!         Ok(Done::with(serde_json::json!({ "open": "9:00", "close": "21:00" })))
//!     }
//! }
//! # fn install(registry: &mut Registry, connector: Connector) -> Result<(), Box<dyn std::error::Error>> {
//! let spec = ToolSpec::read("hours".parse()?, "When the shop is open.", "shop.hours");
//! registry.add(spec, connector, Body::Look(Arc::new(Hours)))?;
//! # Ok(()) }
//! ```

mod answer;
mod attempts;
mod body;
mod cache;
mod dispatcher;
mod error;
pub mod house;
mod inside;
mod journal;
mod next;
mod registry;
mod result;
mod select;
mod shelf;
mod sweep;
mod underway;

pub use answer::{Answer, NotDone};
pub use body::{Body, Done, Failure, Far, Happened, Look, Looked, Undo, Write};
pub use dispatcher::{Dispatcher, Want};
pub use error::{Error, Result};
pub use journal::{Journal, NoJournal};
pub use munshi_safety::acts::LOGIN_NEEDED;
pub use munshi_safety::pipeline::{Connector, Maker};
pub use next::{Choice, Next};
pub use registry::{Registry, Tool};
pub use result::{Label, Observation};
pub use select::Index;
pub use shelf::{Shelf, Shelves};
pub use sweep::Swept;
