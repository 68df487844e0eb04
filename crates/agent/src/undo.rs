//! Taking back what was done: an act of its own, in the name of whoever asks for it.

use std::sync::Arc;

use munshi_identity::Principal;
use munshi_identity::keys::KeyCeiling;
use munshi_safety::acts::{self, Act, UndoRefusal, UndoStep};
use munshi_safety::pipeline::{ActCaller, CallerAudience, ConnectorOrigin, ProposalMode, Taint, TaintSource};
use munshi_store::Tx;
use munshi_tiers::{AddressResolution, BindingResolution};
use munshi_tools::{NoActJournal, ToolAnswer, ToolCallRequest};
use munshi_types::{ActId, Autonomy, BindingId, Conduct, KeyId, Zone};

use crate::engine::{TurnEngine, TurnEngineInner};
use crate::error::Result;

/// Who wants what taken back.
#[derive(Clone, Debug)]
pub struct UndoRequest {
    pub act: ActId,
    pub who: Principal,
    /// The API key they ask with.
    pub key: Option<KeyId>,
}

/// What came of it.
#[derive(Clone, Debug)]
pub enum UndoOutcome {
    /// It was asked for under this act.
    Called {
        undone_by: ActId,
        state: UndoState,
        /// Why, where it is not done.
        detail: Option<String>,
    },
    Refused(UndoRefusal),
}

/// How far it has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UndoState {
    Done,
    /// A person is asked first.
    Waiting,
    Running,
    Refused,
    Failed,
    /// It may have happened.
    Unknown,
}

impl UndoState {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Waiting => "waiting",
            Self::Running => "running",
            Self::Refused => "refused",
            Self::Failed => "failed",
            Self::Unknown => "unknown",
        }
    }
}

fn describe_answer(answer: ToolAnswer) -> (UndoState, Option<String>) {
    match answer {
        ToolAnswer::Done(_) | ToolAnswer::Rehearsed(_) => (UndoState::Done, None),
        ToolAnswer::Waiting(approval) => (UndoState::Waiting, Some(approval.words)),
        ToolAnswer::Running { .. } | ToolAnswer::Working { .. } => (UndoState::Running, None),
        ToolAnswer::Refused(refusal) => (UndoState::Refused, Some(refusal.suggestion)),
        ToolAnswer::Dropped { .. } => (UndoState::Refused, None),
        ToolAnswer::Failed { detail, .. } => (UndoState::Failed, Some(detail)),
        ToolAnswer::Unknown { detail, .. } => (UndoState::Unknown, Some(detail)),
    }
}

impl TurnEngine {
    /// Takes an act back, once however often it is asked for. It is done to its end also where nobody waits for it any more.
    pub async fn undo_act(&self, request: UndoRequest) -> Result<UndoOutcome> {
        let engine = self.clone();
        self.run_detached(async move { engine.inner.undo(request).await }).await
    }
}

impl TurnEngineInner {
    async fn undo(&self, request: UndoRequest) -> Result<UndoOutcome> {
        let (ids, id, now) = (self.ids.clone(), request.act, self.clock.now());
        let unit = move |tx: &mut Tx<'_>| -> Result<_> { Ok(acts::begin_undo(tx, &ids, id, now)?) };
        let (act, step, by) = match self.db.write(request.who.tenant, unit).await? {
            Ok(begun) => begun,
            Err(refusal) => return Ok(UndoOutcome::Refused(refusal)),
        };
        let want = self.build_undo_call(request, &act, step, by).await?;
        let answer = self.dispatcher.call(want, Arc::new(NoActJournal)).await?;
        let (state, detail) = describe_answer(answer);
        Ok(UndoOutcome::Called { undone_by: by, state, detail })
    }

    async fn build_undo_call(
        &self,
        request: UndoRequest,
        act: &Act,
        step: UndoStep,
        by: ActId,
    ) -> Result<ToolCallRequest> {
        let UndoRequest { who, key, .. } = request;
        let binding = match act.binding {
            Some(binding) => self.find_binding(&who, binding).await?,
            None => None,
        };
        let zone: Zone = match &binding {
            Some(binding) => binding.zone.clone(),
            None => self.db.read(who.tenant, munshi_store::tenants::find_zone).await?,
        };
        let ceiling = key.map(|_| KeyCeiling {
            role: who.role(),
            opened: Some(who.opened.clone()),
            closed: who.closed.clone(),
        });
        let mut taint = Taint::default();
        // What another's service says that takes it back is that service's word.
        let tool = self.dispatcher.find_tool(who.tenant, &act.tool);
        if tool.is_none_or(|tool| tool.known.connector.origin == ConnectorOrigin::Foreign) {
            taint.sources.insert(TaintSource::Connector);
        }
        Ok(ToolCallRequest {
            act: by,
            name: step.tool.to_string(),
            arguments: step.arguments,
            offered: true,
            wanted: ProposalMode::Act,
            caller: ActCaller {
                principal: who,
                door: CallerAudience::Work,
                binding: act.binding,
                run: None,
                session: None,
                zone,
                background: false,
                key,
                ceiling,
            },
            agent: Arc::new(binding.map_or_else(open_conduct, |binding| binding.agent.body.policy.clone())),
            taint,
            concerns: Vec::new(),
        })
    }

    /// The binding whose agent did it; none where there is none any more.
    async fn find_binding(
        &self,
        who: &Principal,
        binding: BindingId,
    ) -> Result<Option<Arc<BindingResolution>>> {
        let person = who.person.map(|person| person.to_string());
        let found = self.resolver.resolve_by_id(who.tenant, binding, person.as_deref()).await?;
        Ok(match found {
            AddressResolution::Bound(binding) => Some(binding),
            _ => None,
        })
    }
}

/// Where no agent stands between: the tenant's policy and the role of whoever asks decide.
fn open_conduct() -> Conduct {
    let all: Vec<_> = "*".parse().into_iter().collect();
    Conduct { autonomy: Autonomy::Act, read: all.clone(), write: all, ..Conduct::default() }
}
