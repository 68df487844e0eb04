//! How a pack begins work that goes on by itself, for nobody in particular or on a person's behalf.

use std::sync::{Arc, PoisonError, RwLock};

use munshi_identity::keys::{KeyCeiling, KeySpeaker};
use munshi_safety::acts::Permit;
use munshi_safety::pipeline::CallerAudience;
use munshi_store::{Error, Result, Tx};
use munshi_types::{ActId, BindingId, KeyId, PersonId, RunId, SessionId};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::operation::OperationCaller;

/// What makes a pack begin a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PackRunCause {
    /// A schedule.
    Clock,
    /// Something that happened outside: nobody's own words stand in it, and what it brings is written after a yes.
    Event,
    /// Somebody's command.
    Operation,
}

/// A run to be begun.
#[derive(Clone, Debug, PartialEq)]
pub struct NewPackRun {
    /// As it is stored: `shop.restock`.
    pub kind: String,
    pub cause: PackRunCause,
    /// What the cause is known by, `restock/2026-11-18`. Told again it makes no second run of the kind.
    pub cause_key: Option<String>,
    pub input: Value,
}

/// On whose behalf a run acts: with the rights that they have at each of its acts, and with no more than the way in which they asked
/// for it gives them. Their role is never kept: it may be gone by then.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunDelegator {
    pub person: PersonId,
    /// The door they came through.
    pub door: CallerAudience,
    pub binding: Option<BindingId>,
    /// The conversation it was begun from: what it asks them is asked there.
    pub session: Option<SessionId>,
    /// The key of a program that asked for it: neither it nor another key of its maker says yes to what the run asks.
    pub key: Option<KeyId>,
    /// The most they may be through the key they came with.
    pub ceiling: Option<KeyCeiling>,
}

impl RunDelegator {
    /// Who commands an operation; none where no person does: a key of a role, or whoever sits at the machine.
    pub fn from_caller(caller: &OperationCaller) -> Option<Self> {
        let api = caller.api_caller()?;
        Some(Self {
            person: api.principal.person?,
            door: CallerAudience::Work,
            binding: None,
            session: None,
            key: (api.operator.is_none() && api.speaks_as == KeySpeaker::Program).then_some(api.key),
            ceiling: Some(api.ceiling.clone()),
        })
    }
}

pub trait RunStarter: Send + Sync {
    /// Begins it in the caller's transaction: it is there when that commits, and only then. Gives the run that the cause made
    /// before, where it did.
    fn begin(&self, tx: &mut Tx<'_>, new: &NewPackRun) -> Result<RunId>;

    /// The same on a person's behalf: it counts as one conversation of theirs.
    fn begin_delegated(&self, tx: &mut Tx<'_>, new: &NewPackRun, by: &RunDelegator) -> Result<RunId>;

    /// The same for a tool, on behalf of whoever its act is for; for nobody where the tool is called by work that is nobody's. Refused where
    /// a key of a role calls it: no person asks for it then.
    fn begin_from_act(&self, tx: &mut Tx<'_>, new: &NewPackRun, act: ActId) -> Result<RunId>;
}

/// How a pack's tools begin runs. The pack asks its installer for it; the engine makes it work. Clones share everything.
#[derive(Clone, Default)]
pub struct ToolRuns(Arc<RwLock<Option<Arc<dyn RunStarter>>>>);

impl ToolRuns {
    /// From now on runs are begun with this.
    pub fn connect(&self, starter: Arc<dyn RunStarter>) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Some(starter);
    }

    /// Begins a run in the act's own transaction, on behalf of the person that the act is for: whoever said it in a conversation,
    /// or called the tool. What the act rests on that is foreign, the run has read.
    pub fn delegate(&self, tx: &mut Tx<'_>, permit: &Permit, new: &NewPackRun) -> Result<RunId> {
        let starter = self.0.read().unwrap_or_else(PoisonError::into_inner).clone();
        let starter = starter.ok_or_else(|| Error::Refused("no run can be begun here".to_owned()))?;
        starter.begin_from_act(tx, new, permit.act())
    }
}
