//! What is asked, by whom, on which ground.

use std::ops::Deref;
use std::sync::Arc;

use munshi_identity::Principal;
use munshi_identity::keys::KeyCeiling;
use munshi_types::tier::LanguageCode;
use munshi_types::{ActId, BindingId, Conduct, KeyId, RunId, TenantStatus, Zone};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use uuid::Uuid;

use super::compiled_tool::CompiledTool;
use super::door::CallerAudience;
use super::taint::Taint;
use crate::policy::Policy;

/// One thing a model wants done. Only `name` and `arguments` are the model's; everything else is ours.
#[derive(Clone, Debug)]
pub struct Proposal {
    /// Given by whoever asks, and the same when asked again after a crash.
    pub act: ActId,
    pub name: String,
    pub arguments: CheckedArguments,
    /// The tool of that name; none where there is none.
    pub tool: Option<Arc<CompiledTool>>,
    /// Whether the agent has it in its list.
    pub offered: bool,
    pub wanted: ProposalMode,
    pub caller: ActCaller,
    /// How the agent may act, from its tier.
    pub agent: Arc<Conduct>,
    pub taint: Taint,
    /// What a pack's own checks want confirmed.
    pub concerns: Vec<ActConcern>,
}

/// Arguments with what their tool's schema says of them. Made before any transaction begins: a schema may be anybody's,
/// and whoever holds the database waits for nothing else.
#[derive(Clone, Debug)]
pub struct CheckedArguments {
    value: Value,
    misfit: Option<String>,
}

impl CheckedArguments {
    /// Where there is no such tool, there is nothing to fit.
    pub fn new(value: Value, tool: Option<&CompiledTool>) -> Self {
        let misfit = tool.and_then(|tool| tool.find_misfit(&value));
        Self { value, misfit }
    }

    /// Why they don't fit, if they don't; never with the values themselves.
    pub fn misfit(&self) -> Option<&str> {
        self.misfit.as_deref()
    }
}

impl Deref for CheckedArguments {
    type Target = Value;

    fn deref(&self) -> &Value {
        &self.value
    }
}

/// A proposal before the policy it is measured by.
#[derive(Clone, Copy)]
pub struct PolicyRequest<'a> {
    pub proposal: &'a Proposal,
    pub policy: &'a Policy,
    /// How the tenant stands at this moment.
    pub tenant: TenantStatus,
}

impl Deref for PolicyRequest<'_> {
    type Target = Proposal;

    fn deref(&self) -> &Proposal {
        self.proposal
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProposalMode {
    Act,
    /// Only what would happen.
    Rehearsal,
}

/// For whom and from where. Made from what the channel proved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ActCaller {
    pub principal: Principal,
    pub door: CallerAudience,
    pub binding: Option<BindingId>,
    pub run: Option<RunId>,
    /// The conversation, within which somebody may have said "don't ask again".
    pub session: Option<Uuid>,
    /// The tenant's: its days begin by it.
    pub zone: Zone,
    /// In which the person is spoken to, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub language: Option<LanguageCode>,
    /// Not a person's turn: a heartbeat, a schedule.
    pub background: bool,
    /// The API key of a program that calls a tool itself, or whose words began the turn. Neither it nor another key of its
    /// maker says yes to what it asks for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<KeyId>,
    /// What the API key that the message or the call came through lets anybody be at most. An act that goes on later is
    /// for the person as they are then, and not more than this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ceiling: Option<KeyCeiling>,
}

/// Something a pack's check found that a person should confirm: a phrase of the phrasebook and its slots.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ActConcern {
    pub phrase: String,
    pub slots: Vec<(String, String)>,
}
