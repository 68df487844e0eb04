//! What a pack brings to an installation, as small traits; it implements those it needs.
//!
//! A pack is a trade: a ledger, a help desk. It sees the floors below and nothing of turns, channels or the web.
//! `wiring/src/packs.rs` names the packs there are and calls [`PackRegistry::install_all`]; a pack that can't work is refused there, by name.
//!
//! `docs/packs.md` shows how to write one in twenty minutes; the pack it speaks of is in `tests/board`.
//!
//! # Layout
//! - [`Pack`], [`PackRegistry`]: a pack, and what it is installed in; [`PackInstaller`]: where it puts what it has
//! - [`PackTurnContext`]: for whom and when something is asked
//! - [`ContextSource`]: what a prompt should know; [`PackReader`]: messages that are read without a model
//! - [`PackCheck`]: before an act, after it, and before the reply
//! - [`RunKind`]: work that goes on in steps without a conversation; [`RunStarter`]: how a pack begins it
//! - [`PackWebhook`], [`PackPoll`]: what comes from outside, sent or asked for, and stored in [`delivery`]; [`Foreign`]: it, wherever
//!   a pack holds it; [`verify_hmac`]: how senders sign
//! - [`PackInterface`]: what another pack offers; [`TurnHook`]: what is done when a turn has ended; [`PackForm`]: forms of pages
//! - [`PackServices`]: runs, secrets, models and the guarded HTTP client, wherever a pack works
//! - [`PackJob`], [`PackJobQueue`], [`PackScheduleTime`]: work of its own, by itself or by the clock; [`Heartbeat`]: what is looked at by the clock;
//!   [`alerts`]: what it found; [`PackPageHandler`], [`Html`]: what the console shows; [`operation`]: administrative
//!   verbs; [`PackCommand`]: what is typed beside them, for work with files; [`TenantTemplate`]: folders that come with it
//! - [`SubjectRecords`]: whom the pack's tables know, for when somebody asks what is known about them, or is forgotten
//! - [`load_tenant_packs`]: which packs a tenant has
//! - `cross_check`: what is seen when all packs are in
//!
//! # To add something that packs can bring
//! Write its trait in a file here, a method of [`PackInstaller`] that refuses what can't work, and its list in [`PackRegistry`]; a crate above
//! calls it. Use it in the pack of `tests/board`, which a test holds to use every method, and show it in `docs/packs.md`.

pub mod alerts;
mod check;
mod command;
mod context;
mod cross_check;
pub mod delivery;
mod delivery_job;
mod error;
mod foreign;
mod form;
mod heartbeat;
mod heartbeat_job;
mod html;
mod http;
mod installer;
mod interfaces;
mod job;
mod job_queue;
mod job_registration;
mod models;
pub mod operation;
pub mod outgoing;
mod page;
mod poll;
mod poll_job;
mod reader;
mod registry;
mod run_kind;
mod run_meter;
mod run_starter;
mod schedule;
mod sealed_deliveries;
mod services;
mod signature;
mod subjects;
mod tenant_packs;
mod tenant_template;
mod turn_context;
mod turn_hook;
mod webhook;

pub use check::{Objection, PackCheck};
pub use command::{
    PackArgument, PackArgumentKind, PackArgumentValues, PackCommand, PackCommandCall, PackCommandError,
    PackCommandOutput,
};
pub use context::{ContextSource, PromptContribution};
pub use delivery::PackDelivery;
pub use error::InvalidPack;
pub use foreign::Foreign;
pub use form::{PackForm, PackFormKeys, PackFormOutcome};
pub use heartbeat::{Alert, AlertSeverity, Heartbeat, HeartbeatTick};
pub use html::{Html, HtmlEscaper};
pub use http::{PackHttp, PackHttpRequest, PackHttpResponse};
pub use installer::PackInstaller;
pub use interfaces::{InterfaceTable, InterfaceUnresolved, PackInterface};
pub use job::{PackJob, PackJobCall, PackJobEntry, PackJobParts};
pub use job_queue::PackJobQueue;
pub use models::{PackModelParts, PackModelReply, PackModels};
pub use page::{PackPageBody, PackPageContent, PackPageHandler, PackPageRequest};
pub use poll::{PackPoll, PackPollCall, PollCursor, PolledItem, PolledPage};
pub use reader::{PackReader, PackReading};
pub use registry::{FromPack, Pack, PackRegistry};
pub use run_kind::{ChildOutcome, ChildRun, NextStep, RunHistory, RunKind, StepOutcome};
pub use run_meter::{RunAccount, RunMeter};
pub use run_starter::{NewPackRun, PackRunCause, RunDelegator, RunStarter, ToolRuns};
pub use schedule::{PackScheduleTime, ScheduleWeekday};
pub use services::{PackServiceError, PackServiceSource, PackServices};
pub use signature::{SignatureEncoding, SignatureHash, verify_hmac, verify_token};
pub use subjects::{KeptData, RecordData, SubjectRecord, SubjectRecords};
pub use tenant_packs::load_tenant_packs;
pub use tenant_template::{TenantTemplate, TenantTemplateFile};
pub use turn_context::{EarlierMessage, EarlierSpeaker, PackTurnContext, QueryEntity, TurnQuery};
pub use turn_hook::{FinishedCall, FinishedTurn, TurnHook};
pub use webhook::{PackDeliveryCall, PackWebhook, WebhookRejection, WebhookRequest, WebhookVerdict};

use munshi_identity::row_sealing::RowsOfBefore;
use munshi_store::{Migration, migration};

pub const MIGRATIONS: &[Migration] = &[
    migration!("0053_pack_alerts"),
    migration!("0055_pack_deliveries"),
    migration!("0056_pack_cursors"),
    migration!("0080_sealed_deliveries"),
];

/// Rows from before they were sealed, for those who seal them.
pub const ROWS_OF_BEFORE: &[RowsOfBefore] = &[
    RowsOfBefore::Table(&alerts::ALERTS_OF_BEFORE),
    RowsOfBefore::Own { name: "pack_deliveries", seal_next: sealed_deliveries::seal_deliveries_of_before },
    RowsOfBefore::Own { name: "pack_cursors", seal_next: poll::seal_cursors_of_before },
];
