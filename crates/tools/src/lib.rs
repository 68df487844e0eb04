//! Tools: what one is, which there are, and the one way to call them.
//!
//! A tool is called by the [`ToolDispatcher`] alone, with a permit that only the safety pipeline can make. What a tool does
//! to the world decides how it is called and what is done after a crash: see [`ToolHandler`].
//!
//! Not here: deciding (the safety pipeline does), and tools of a trade: packs bring theirs, connectors others'.
//!
//! # Layout
//! - [`ToolHandler`], [`ReadToolHandler`], [`WriteToolHandler`], [`RemoteToolHandler`]: what a tool implements; [`ToolOutput`], [`ToolFailure`]: what it answers;
//!   [`FailureHint`]: what helps where it could not
//! - [`ToolRegistry`]: the tools there are; [`Observation`]: a result as a model may see it
//! - [`TenantTools`], [`TenantToolSource`]: tools of one tenant's connectors, which come and go; [`ToolIndex`]: finding the fitting ones
//! - [`builtin`]: `today` and `calculate`, which every installation has; `search_messages` stands in `munshi-conversations`
//! - [`ToolDispatcher`]: the one way to call; `in_transaction`: calling in our own transaction;
//!   `attempts`: calling elsewhere, and again where that is safe; `cache`: telling again what was just looked at;
//!   `consent_check`: whether the person still agrees; `sweep`: after a crash
//! - [`ActJournal`]: what a turn writes in the same transactions
//!
//! # To add a tool
//! A pack adds one with its `PackInstaller`; the ledger's recipe is in `packs/ledger/src/lib.rs`. For a tool of every installation:
//! 1. Write its file in `builtin/`, and add it in [`builtin::install`]. If it needs what a crate above has, write it there, with an `install`
//!    of its own like that of `conversations/src/search/tool.rs`, and call that in `load_registry` (`wiring/src/packs.rs`).
//! 2. Its connector is [`builtin::connector`]. What may be done by it follows from there: it only looks.
//! 3. Test it in `tests/house.rs`.
//!
//! A tool with its specification:
//! ```
//! # use munshi_tools::{ReadToolHandler, ToolFailure, ToolHandler, ToolOutput, ToolRegistry};
//! # use munshi_safety::pipeline::ToolConnector;
//! # use munshi_safety::acts::Permit;
//! # use munshi_types::ToolSpec;
//! # use std::sync::Arc;
//! struct Hours;
//!
//! impl ReadToolHandler for Hours {
//!     fn read(&self, _permit: &Permit, _tx: &mut munshi_store::Tx<'_>) -> Result<ToolOutput, ToolFailure> {
//!         Ok(ToolOutput::new(serde_json::json!({ "open": "9:00", "close": "21:00" })))
//!     }
//! }
//! # fn install(registry: &mut ToolRegistry, connector: ToolConnector) -> Result<(), Box<dyn std::error::Error>> {
//! let spec = ToolSpec::read_only("hours".parse()?, "When the shop is open.", "shop.hours");
//! registry.add(spec, connector, ToolHandler::Read(Arc::new(Hours)))?;
//! # Ok(()) }
//! ```

mod active_acts;
mod answer;
mod attempts;
pub mod builtin;
mod cache;
mod consent_check;
mod dispatcher;
mod error;
mod failure_hint;
mod handler;
mod in_transaction;
mod journal;
mod registry;
mod result;
mod sweep;
mod tenant_tools;
mod tool_index;

pub use answer::{ActDropReason, ToolAnswer};
pub use dispatcher::{ToolCallRequest, ToolDispatcher};
pub use error::{Error, Result};
pub use failure_hint::{ChoiceOption, FailureHint};
pub use handler::{
    EffectCertainty, LookupOutcome, ReadToolHandler, RemoteToolHandler, ToolFailure, ToolHandler, ToolOutput,
    UndoCall, WriteToolHandler,
};
pub use journal::{ActJournal, NoActJournal};
pub use munshi_safety::acts::{LOGIN_NEEDED, ResultStandIn};
pub use munshi_safety::pipeline::{ConnectorOrigin, ToolConnector};
pub use registry::{Tool, ToolRegistry};
pub use result::{Observation, ResultOrigin};
pub use sweep::ActSweepReport;
pub use tenant_tools::{LostLogin, TenantToolSource, TenantTools};
pub use tool_index::ToolIndex;
