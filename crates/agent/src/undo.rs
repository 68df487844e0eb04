//! Taking back what was done: an act of its own, in the name of whoever asks for it.

use std::sync::Arc;

use munshi_conversations::Result;
use munshi_identity::Principal;
use munshi_identity::keys::KeyCeiling;
use munshi_safety::acts::{self, Act, UndoRefusal, UndoStep};
use munshi_safety::pipeline::{ActCaller, CallerAudience, ConnectorOrigin, ProposalMode, Taint, TaintSource};
use munshi_store::Tx;
use munshi_tiers::{AddressResolution, BindingResolution};
use munshi_tools::{NoActJournal, ToolAnswer, ToolCallRequest};
use munshi_types::{ActId, Autonomy, Conduct, KeyId, TenantId, TenantPacks, Zone};

use crate::engine::{TurnEngine, TurnEngineInner};

/// Who wants what taken back.
#[derive(Clone, Debug)]
pub struct UndoRequest {
    pub act: ActId,
    pub who: Principal,
    /// The API key they ask with.
    pub key: Option<KeyId>,
    /// Whether a program asks: then a person says yes first.
    pub is_program: bool,
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
        ToolAnswer::NotKept { .. } => (UndoState::Done, None),
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

    /// Goes on with an undo that waited for a yes; nothing happens where the act takes none back.
    pub async fn resume_undo(&self, tenant: TenantId, by: ActId) -> Result<()> {
        let engine = self.clone();
        self.run_detached(async move { engine.inner.resume_undo(tenant, by).await }).await
    }
}

impl TurnEngineInner {
    async fn undo(&self, request: UndoRequest) -> Result<UndoOutcome> {
        let (ids, id, now) = (self.ids.clone(), request.act, self.clock.now());
        let unit = move |tx: &mut Tx<'_>| -> Result<_> {
            let begun = acts::begin_undo(tx, &ids, id, now)?;
            let is_known = match &begun {
                Ok((_, _, by)) => acts::find(tx, *by)?.is_some(),
                Err(_) => false,
            };
            Ok((begun, is_known))
        };
        let (begun, is_known) = self.db.write(request.who.tenant, unit).await?;
        let (act, step, by) = match begun {
            Ok(begun) => begun,
            Err(refusal) => return Ok(UndoOutcome::Refused(refusal)),
        };
        let answer = match is_known {
            true => self.resume_undo_call(request.who.tenant, &act, &step, by).await?,
            false => None,
        };
        let answer = match answer {
            Some(answer) => answer,
            None => {
                let want = self.build_undo_call(request, &act, step, by).await?;
                self.dispatcher.call(want, Arc::new(NoActJournal)).await?
            }
        };
        let (state, detail) = describe_answer(answer);
        Ok(UndoOutcome::Called { undone_by: by, state, detail })
    }

    async fn resume_undo(&self, tenant: TenantId, by: ActId) -> Result<()> {
        let read = move |tx: &mut Tx<'_>| -> Result<_> { Ok(acts::find_undone(tx, by)?) };
        let Some(act) = self.db.read(tenant, read).await? else { return Ok(()) };
        let Some(step) = act.undo.as_ref().map(|undo| undo.step.clone()) else { return Ok(()) };
        self.resume_undo_call(tenant, &act, &step, by).await.map(drop)
    }

    /// In the name of whoever asked first, by what they may now.
    async fn resume_undo_call(
        &self,
        tenant: TenantId,
        act: &Act,
        step: &UndoStep,
        by: ActId,
    ) -> Result<Option<ToolAnswer>> {
        let binding = self.find_undo_binding(tenant, act).await?;
        let (agent, tools) = (Arc::new(undo_conduct(act, binding.as_deref())), [step.tool.clone()]);
        Ok(self.dispatcher.resume(tenant, by, agent, &tools, Arc::new(NoActJournal)).await?)
    }

    async fn build_undo_call(
        &self,
        request: UndoRequest,
        act: &Act,
        step: UndoStep,
        by: ActId,
    ) -> Result<ToolCallRequest> {
        let UndoRequest { who, key, is_program, .. } = request;
        let binding = self.find_undo_binding(who.tenant, act).await?;
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
        // What another's service says that takes it back is that service's word, and what led a program to it is not known.
        let tool = self.dispatcher.find_tool_of_act(who.tenant, act);
        if is_program
            || tool.as_ref().is_none_or(|tool| tool.known.connector.origin == ConnectorOrigin::Foreign)
        {
            taint.sources.insert(TaintSource::Connector);
        }
        let pack = tool.as_ref().and_then(|tool| tool.known.pack.as_deref());
        let undoing =
            self.dispatcher.find_tool_of_pack((who.tenant, &TenantPacks::all()), pack, step.tool.as_str());
        let concerns = match (&binding, &undoing) {
            (Some(binding), Some(tool)) => self.concerns_of(&who, binding, tool, &step.arguments).await?,
            _ => Vec::new(),
        };
        Ok(ToolCallRequest {
            act: by,
            name: undoing.map_or_else(|| step.tool.to_string(), |tool| tool.known.identity()),
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
                language: None,
                background: false,
                key,
                ceiling,
            },
            agent: Arc::new(undo_conduct(act, binding.as_deref())),
            taint,
            concerns,
        })
    }

    /// The binding whose agent did it; none where there is none any more.
    async fn find_undo_binding(&self, tenant: TenantId, act: &Act) -> Result<Option<Arc<BindingResolution>>> {
        let Some(binding) = act.binding else { return Ok(None) };
        let person = act.person.map(|person| person.to_string());
        let found = self.resolver.resolve_by_id(tenant, binding, person.as_deref()).await?;
        Ok(match found {
            AddressResolution::Bound(binding) => Some(binding),
            _ => None,
        })
    }
}

/// As far as the agent goes that did it. Of work that nobody typed, the tenant's policy and the role of whoever asks decide; where the
/// agent is gone a person is asked.
fn undo_conduct(act: &Act, binding: Option<&BindingResolution>) -> Conduct {
    let all: Vec<_> = "*".parse().into_iter().collect();
    let open = |autonomy| Conduct { autonomy, read: all.clone(), write: all.clone(), ..Conduct::default() };
    match (binding, act.binding) {
        (Some(binding), _) => binding.agent.body.policy.clone(),
        (None, Some(_)) => open(Autonomy::Propose),
        (None, None) => open(Autonomy::Act),
    }
}
