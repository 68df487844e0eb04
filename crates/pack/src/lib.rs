//! What a pack brings to an installation, as small traits; it implements those it needs.
//!
//! A pack is a trade: a ledger, a help desk. It sees the floors below and nothing of turns, channels or the web. The
//! binary names the packs there are and calls [`PackRegistry::install_all`]; a pack that can't work is refused there, by name.
//!
//! `docs/packs.md` shows how to write one in twenty minutes; the pack it speaks of is in `tests/board`.
//!
//! # Layout
//! - [`Pack`], [`PackRegistry`]: a pack, and what it is installed in; [`PackInstaller`]: where it puts what it has
//! - [`PackTurnContext`]: for whom and when something is asked
//! - [`ContextSource`]: what a prompt should know; [`PackReader`]: messages that are read without a model
//! - [`PackCheck`]: before an act, after it, and before the reply
//! - [`RunKind`]: work that goes on in steps without a conversation; [`RunStarter`]: how a pack begins it
//! - [`PackJob`], [`PackScheduleTime`]: work of its own, by itself or by the clock; [`Heartbeat`]: what is looked at by the clock;
//!   [`alerts`]: what it found; [`PackPageHandler`], [`Html`]: what the console shows; [`operation`]: administrative
//!   verbs; [`PackCommand`]: what is typed beside them, for work with files; [`TenantTemplate`]: folders that come with it
//! - `cross_check`: what is seen when all packs are in

pub mod alerts;
mod check;
mod command;
mod context;
mod cross_check;
mod error;
mod heartbeat;
mod heartbeat_job;
mod html;
mod installer;
mod job;
mod job_registration;
pub mod operation;
mod page;
mod reader;
mod registry;
mod run_kind;
mod run_starter;
mod schedule;
mod tenant_template;
mod turn_context;

pub use check::{Objection, PackCheck};
pub use command::{
    PackArgument, PackArgumentKind, PackArgumentValues, PackCommand, PackCommandCall, PackCommandError,
    PackCommandOutput,
};
pub use context::{ContextSource, PromptContribution};
pub use error::InvalidPack;
pub use heartbeat::{Alert, AlertSeverity, Heartbeat, HeartbeatTick};
pub use html::{Html, HtmlEscaper};
pub use installer::PackInstaller;
pub use job::{PackJob, PackJobCall, PackJobEntry, PackJobParts};
pub use page::{PackPageBody, PackPageContent, PackPageHandler, PackPageRequest};
pub use reader::{PackReader, PackReading};
pub use registry::{FromPack, Pack, PackRegistry};
pub use run_kind::{ChildOutcome, ChildRun, NextStep, RunHistory, RunKind, StepOutcome};
pub use run_starter::{NewPackRun, PackRunCause, RunStarter};
pub use schedule::{PackScheduleTime, ScheduleWeekday};
pub use tenant_template::{TenantTemplate, TenantTemplateFile};
pub use turn_context::{EarlierMessage, EarlierSpeaker, PackTurnContext};

use munshi_store::{Migration, migration};

pub const MIGRATIONS: &[Migration] = &[migration!("0053_pack_alerts")];
