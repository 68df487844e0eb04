//! What a pack brings to the house, as small traits; it implements those it needs.
//!
//! A pack is a trade: a ledger, a help desk. It sees the floors below and nothing of turns, channels or the web. The
//! binary names the packs there are and calls [`House::install_all`]; a pack that can't work is refused there, by name.
//!
//! `docs/packs.md` shows how to write one in twenty minutes; the pack it speaks of is in `tests/board`.
//!
//! # Layout
//! - [`Pack`], [`House`]: a pack, and what it is installed in; [`Room`]: where it puts what it has
//! - [`Scene`]: for whom and when something is asked
//! - [`ContextSource`]: what a prompt should know; [`Reader`]: messages that are read without a model
//! - [`Check`]: before an act, after it, and before the reply
//! - [`Heartbeat`]: what is looked at by the clock; [`Page`], [`Html`]: what the console shows; [`Command`]: what can be
//!   typed; [`ReadyTenant`]: folders that come with it
//! - `whole`: what is seen when all packs are in

mod bad;
mod check;
mod command;
mod context;
mod heartbeat;
mod house;
mod html;
mod page;
mod reader;
mod ready;
mod room;
mod scene;
mod whole;

pub use bad::BadPack;
pub use check::{Check, Objection};
pub use command::{Argument, ArgumentKind, Call, Command, CommandFailed, Given, Sink};
pub use context::{ContextSource, Gathered};
pub use heartbeat::{Alert, Beat, Heartbeat, Severity};
pub use house::{Brought, House, Pack};
pub use html::{Html, escape};
pub use page::{Page, Shown, ShownBody, Visit};
pub use reader::{Reader, Reading};
pub use ready::{ReadyFile, ReadyTenant};
pub use room::Room;
pub use scene::{By, Earlier, Scene};
