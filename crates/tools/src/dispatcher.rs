//! The one way to call a tool.

use std::sync::Arc;

use munshi_identity::{Principal, persons};
use munshi_safety::acts::{self, Act, ActDecision, ActOutcome, ActServices, Permit, PermitMode, UndoStep};
use munshi_safety::approvals::Approval;
use munshi_safety::pipeline::{ActCaller, ActConcern, CheckedArguments, Proposal, ProposalMode, Taint};
use munshi_store::{Db, Tx};
use munshi_types::{ActId, Clock, Conduct, PersonId, TenantId, TenantPacks, Timestamp, ToolName};
use serde_json::Value;

use crate::active_acts::ActiveActs;
use crate::answer::{ToolAnswer, build_answer, build_from_outcome, load_past_answer, render_outcome};
use crate::attempts::{self, ToolAttemptResult};
use crate::cache::{CacheWriteGuard, ToolCacheLookup, ToolResultCache};
use crate::consent_check::{ConsentCheck, holds_in, no_consent_outcome, no_consent_result};
use crate::error::{Error, Result};
use crate::handler::{EffectCertainty, RemoteToolHandler, ToolHandler, ToolOutput};
use crate::in_transaction;
use crate::journal::ActJournal;
use crate::registry::{Tool, ToolRegistry};
use crate::result::Observation;
use crate::tenant_tools::{TenantToolSource, TenantTools};

/// Calls tools through the safety pipeline. Clones share everything.
#[derive(Clone)]
pub struct ToolDispatcher {
    pub(crate) db: Db,
    pub(crate) act_services: Arc<ActServices>,
    pub(crate) registry: Arc<ToolRegistry>,
    /// Tools of tenants' connectors; none where there is no host.
    pub(crate) tool_source: Option<Arc<dyn TenantToolSource>>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) active_acts: ActiveActs,
    pub(crate) cache: ToolResultCache,
}

/// One call as a turn wants it. Only `name` and `arguments` come from the model.
#[derive(Clone, Debug)]
pub struct ToolCallRequest {
    pub act: ActId,
    /// Bare, or `pack.tool`.
    pub name: String,
    pub arguments: Value,
    /// Whether the agent was offered it.
    pub offered: bool,
    pub wanted: ProposalMode,
    pub caller: ActCaller,
    pub agent: Arc<Conduct>,
    pub taint: Taint,
    pub concerns: Vec<ActConcern>,
}

impl ToolDispatcher {
    pub fn new(
        db: Db,
        act_services: Arc<ActServices>,
        registry: Arc<ToolRegistry>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        let (active_acts, cache) = (ActiveActs::default(), ToolResultCache::default());
        Self { db, act_services, registry, tool_source: None, clock, active_acts, cache }
    }

    /// With the tools that tenants' connectors bring.
    #[must_use]
    pub fn with_connectors(self, tool_source: Arc<dyn TenantToolSource>) -> Self {
        Self { tool_source: Some(tool_source), ..self }
    }

    /// A tool of the installation, or of this tenant's own connectors. A bare name that several packs have means none of them.
    pub fn find_tool(&self, tenant: TenantId, name: &str) -> Option<Tool> {
        self.find_tool_among(tenant, &TenantPacks::all(), name)
    }

    /// The same, where it is known which packs the tenant has.
    pub fn find_tool_among(&self, tenant: TenantId, packs: &TenantPacks, name: &str) -> Option<Tool> {
        if let Some(tool) = self.registry.find(packs, name) {
            return Some(tool.clone());
        }
        self.tenant_tools(tenant)?.get(name).cloned()
    }

    /// The same for what a pack itself names: its own tool comes first.
    pub fn find_tool_of_pack(
        &self,
        (tenant, packs): (TenantId, &TenantPacks),
        pack: Option<&str>,
        name: &str,
    ) -> Option<Tool> {
        let own = pack.and_then(|pack| self.registry.get(&format!("{pack}.{name}")).cloned());
        own.or_else(|| self.find_tool_among(tenant, packs, name))
    }

    /// The tool that an act was proposed with. One of the same name that another connector or pack brings is another tool.
    pub fn find_tool_of_act(&self, tenant: TenantId, act: &Act) -> Option<Tool> {
        if act.connector.is_empty() {
            return self.find_tool(tenant, &act.tool);
        }
        let is_its = |tool: &&Tool| tool.known.connector.name == act.connector;
        let own = self.registry.all_named(&act.tool).find(is_its).cloned();
        own.or_else(|| self.tenant_tools(tenant)?.get(&act.tool).filter(is_its).cloned())
    }

    /// What the tenant's connectors bring at this moment.
    pub fn tenant_tools(&self, tenant: TenantId) -> Option<Arc<TenantTools>> {
        self.tool_source.as_ref().map(|tool_source| tool_source.tenant_tools(tenant))
    }

    /// A link with which somebody lets us into a connector's service again; none where no link leads there.
    pub fn create_login_link(
        &self,
        tx: &mut Tx<'_>,
        connector: &str,
        to: PersonId,
    ) -> Result<Option<String>> {
        self.tool_source
            .as_ref()
            .map_or(Ok(None), |tool_source| tool_source.create_login_link(tx, connector, to))
    }

    /// The connector of a link that somebody opened and shows to be theirs by these words; none where they say something
    /// else.
    pub fn verify_login_code(
        &self,
        tx: &mut Tx<'_>,
        person: PersonId,
        words: &str,
    ) -> Result<Option<String>> {
        self.tool_source
            .as_ref()
            .map_or(Ok(None), |tool_source| tool_source.verify_login_code(tx, person, words))
    }

    /// When we were last let in there.
    pub fn find_login_time(&self, tx: &mut Tx<'_>, connector: &str) -> Result<Option<Timestamp>> {
        self.tool_source.as_ref().map_or(Ok(None), |tool_source| tool_source.find_login_time(tx, connector))
    }

    /// Whether links lead people to where they log in.
    pub fn supports_login_links(&self) -> bool {
        self.tool_source.as_ref().is_some_and(|tool_source| tool_source.supports_login_links())
    }

    pub fn registry(&self) -> &ToolRegistry {
        &self.registry
    }

    /// Decides, calls and writes down. Called again with the same act it does nothing twice: it gives what came of
    /// it, or goes on where a person has approved meanwhile.
    pub async fn call(&self, want: ToolCallRequest, journal: Arc<dyn ActJournal>) -> Result<ToolAnswer> {
        let tool = self.find_tool(want.caller.principal.tenant, &want.name);
        self.call_with(want, tool, journal).await
    }

    async fn call_with(
        &self,
        want: ToolCallRequest,
        tool: Option<Tool>,
        journal: Arc<dyn ActJournal>,
    ) -> Result<ToolAnswer> {
        let tenant = want.caller.principal.tenant;
        let proposal = build_proposal(want, tool.as_ref());
        match tool {
            Some(tool @ Tool { body: ToolHandler::Write(_), .. }) => {
                self.call_in_transaction(tenant, proposal, tool, journal).await
            }
            tool => self.call_in_phases(tenant, proposal, tool, journal).await,
        }
    }

    /// What is known of an act, as it stands.
    pub fn load_answer(&self, tx: &mut Tx<'_>, act: Act) -> Result<ToolAnswer> {
        let tool = self.find_tool_of_act(tx.tenant(), &act);
        load_past_answer(tx, act, tool.as_ref())
    }

    /// Goes on with an act that waited for a person: with what was stored when it was proposed, for the person as they
    /// are now but not more than the key they asked through lets them be, by the agent as it is now. `tools` are those it
    /// has.
    pub async fn resume(
        &self,
        tenant: TenantId,
        id: ActId,
        agent: Arc<Conduct>,
        tools: &[ToolName],
        journal: Arc<dyn ActJournal>,
    ) -> Result<Option<ToolAnswer>> {
        let found = self.db.read(tenant, move |tx| -> Result<_> {
            let Some(act) = acts::find(tx, id)? else { return Ok(None) };
            let principal = match act.person {
                Some(person) => Some(load_principal(tx, person)?),
                None => None,
            };
            Ok(Some((act, principal)))
        });
        let Some((act, principal)) = found.await? else { return Ok(None) };
        let tool = self.find_tool_of_act(tenant, &act);
        let mut stored = act.rests_on;
        if let Some(principal) = principal {
            stored.caller.principal = match &stored.caller.ceiling {
                Some(ceiling) => ceiling.cap(principal),
                None => principal,
            };
        }
        let want = ToolCallRequest {
            act: id,
            offered: tools.iter().any(|listed| match &tool {
                Some(tool) => listed.means(&tool.known.spec),
                None => listed.bare() == act.tool,
            }),
            name: act.tool,
            arguments: act.arguments,
            wanted: stored.wanted,
            caller: stored.caller,
            agent,
            taint: stored.taint,
            concerns: stored.concerns,
        };
        self.call_with(want, tool, journal).await.map(Some)
    }

    /// Decision, effect and record in one transaction.
    async fn call_in_transaction(
        &self,
        tenant: TenantId,
        proposal: Proposal,
        tool: Tool,
        journal: Arc<dyn ActJournal>,
    ) -> Result<ToolAnswer> {
        let ToolHandler::Write(write) = tool.body.clone() else {
            return Err(misuse("this tool is not a transactional write"));
        };
        let (act_services, clock) = (self.act_services.clone(), self.clock.clone());
        self.db
            .write(tenant, move |tx| -> Result<ToolAnswer> {
                let now = clock.now();
                let (begun, mut untold) = acts::begin(tx, &act_services, &proposal, now)?;
                journal.record_decision(tx, &begun)?;
                let answer = match begun {
                    ActDecision::Go(permit) => {
                        let (outcome, done) = in_transaction::write(tx, write.as_ref(), &permit);
                        let answer = build_answer(&permit, &tool, &outcome, done, None);
                        untold =
                            untold.merge(acts::finish(tx, &act_services, permit, &outcome, clock.now())?);
                        answer
                    }
                    ActDecision::Wait(mut approval, rehearsal) => {
                        if let Some(permit) = rehearsal {
                            let (outcome, _) = in_transaction::write(tx, write.as_ref(), &permit);
                            approval.rehearsal = render_outcome(&outcome);
                            untold = untold.merge(acts::finish(tx, &act_services, permit, &outcome, now)?);
                        }
                        ToolAnswer::Waiting(approval)
                    }
                    ActDecision::Refused(refusal) => ToolAnswer::Refused(refusal),
                    ActDecision::Past(act) => load_past_answer(tx, *act, Some(&tool))?,
                };
                save_undo(tx, &answer, now)?;
                journal.record_answer(tx, &answer)?;
                untold.record(tx, &act_services, now)?;
                Ok(answer)
            })
            .await
    }

    /// Intent in one transaction, the call, its result in another.
    async fn call_in_phases(
        &self,
        tenant: TenantId,
        proposal: Proposal,
        tool: Option<Tool>,
        journal: Arc<dyn ActJournal>,
    ) -> Result<ToolAnswer> {
        let _working = self.active_acts.begin(proposal.act);
        let (act_services, clock, notes) = (self.act_services.clone(), self.clock.clone(), journal.clone());
        let begun = self.db.write(tenant, move |tx| -> Result<ActDecision> {
            let now = clock.now();
            let (begun, untold) = acts::begin(tx, &act_services, &proposal, now)?;
            notes.record_decision(tx, &begun)?;
            untold.record(tx, &act_services, now)?;
            Ok(begun)
        });
        match (begun.await?, tool) {
            (ActDecision::Go(permit), Some(tool)) => self.perform_permitted(permit, tool, journal).await,
            (ActDecision::Wait(approval, rehearsal), Some(tool)) => {
                self.rehearse_remote(*approval, rehearsal, tool, journal).await
            }
            (ActDecision::Refused(refusal), _) => {
                self.record_answer(tenant, ToolAnswer::Refused(refusal), journal).await
            }
            (ActDecision::Past(act), tool) => {
                self.db.read(tenant, move |tx| load_past_answer(tx, *act, tool.as_ref())).await
            }
            (ActDecision::Wait(approval, _), None) => Ok(ToolAnswer::Waiting(approval)),
            (ActDecision::Go(permit), None) => {
                self.finish(permit, None, attempts::unknown_tool_result(), journal).await
            }
        }
    }

    pub(crate) async fn perform_permitted(
        &self,
        permit: Permit,
        tool: Tool,
        journal: Arc<dyn ActJournal>,
    ) -> Result<ToolAnswer> {
        let limit = tool.known.spec.timeout;
        let consent = self.check_consent(&permit);
        let called = match (&tool.body, permit.mode()) {
            (ToolHandler::Remote(far), PermitMode::Apply) => {
                self.apply_remote(far.as_ref(), &permit, &tool, &consent).await
            }
            _ if !consent.holds().await => no_consent_result(&permit, EffectCertainty::No),
            (ToolHandler::Remote(far), PermitMode::Rehearse) => {
                let outcome = attempts::rehearse(far.as_ref(), &permit, limit).await;
                let done = render_outcome(&outcome).map(ToolOutput::new);
                ToolAttemptResult { outcome, done, mismatch: None }
            }
            (ToolHandler::Read(_), _) => return self.read_in_transaction(permit, tool, journal).await,
            (ToolHandler::Write(_), _) => {
                return Err(misuse("a transactional write can't run outside its transaction"));
            }
        };
        self.finish(permit, Some(tool), called, journal).await
    }

    /// Calls it, or tells again what it said a moment ago where that is declared to be good enough.
    async fn apply_remote(
        &self,
        far: &dyn RemoteToolHandler,
        permit: &Permit,
        tool: &Tool,
        consent: &ConsentCheck,
    ) -> ToolAttemptResult {
        let looking = match self.cache.find(permit, tool, self.clock.now()) {
            ToolCacheLookup::Kept(value) => {
                let done = Some(ToolOutput::new(value.clone()));
                return ToolAttemptResult { outcome: ActOutcome::Applied(value), done, mismatch: None };
            }
            ToolCacheLookup::Ask(looking) => Some(looking),
            ToolCacheLookup::Nothing => None,
        };
        let _writing = self.begin_write(permit, tool);
        // A process that died may have done it: only what it was told tells otherwise.
        let earlier = if permit.is_repeat() { EffectCertainty::Maybe } else { EffectCertainty::No };
        let called = attempts::call(far, permit, tool.known.spec.timeout, earlier, consent).await;
        if let (Some(looking), ActOutcome::Applied(value)) = (looking, &called.outcome) {
            self.cache.insert(looking, value, self.clock.now());
        }
        called
    }

    /// For whoever calls the tool of a permit.
    pub(crate) fn check_consent(&self, permit: &Permit) -> ConsentCheck {
        ConsentCheck::new(&self.db, (&self.act_services, &self.clock), permit)
    }

    /// Held while a tool is called that writes.
    pub(crate) fn begin_write(&self, permit: &Permit, tool: &Tool) -> Option<CacheWriteGuard> {
        let connector = &tool.known.connector.name;
        permit.effect().writes().then(|| self.cache.begin_write(permit.tenant(), connector))
    }

    /// A look at our own tables, in the transaction that writes its end down.
    async fn read_in_transaction(
        &self,
        permit: Permit,
        tool: Tool,
        journal: Arc<dyn ActJournal>,
    ) -> Result<ToolAnswer> {
        let (act_services, clock) = (self.act_services.clone(), self.clock.clone());
        let ToolHandler::Read(look) = tool.body.clone() else {
            return Err(misuse("this tool does not read local tables"));
        };
        let limit = tool.known.spec.timeout;
        let prepared = match attempts::prepare(look.as_ref(), (&permit, &self.db), limit).await {
            Ok(prepared) => prepared,
            Err(failed) => return self.finish(permit, Some(tool), failed, journal).await,
        };
        self.db
            .write(permit.tenant(), move |tx| -> Result<ToolAnswer> {
                let now = clock.now();
                let (outcome, done) = match holds_in(tx, &act_services, &permit, now)? {
                    true => in_transaction::read(tx, look.as_ref(), &prepared, &permit),
                    false => (no_consent_outcome(), None),
                };
                let answer = build_answer(&permit, &tool, &outcome, done, None);
                let untold = acts::finish(tx, &act_services, permit, &outcome, now)?;
                journal.record_answer(tx, &answer)?;
                untold.record(tx, &act_services, now)?;
                Ok(answer)
            })
            .await
    }

    async fn rehearse_remote(
        &self,
        mut approval: Approval,
        rehearsal: Option<Permit>,
        tool: Tool,
        journal: Arc<dyn ActJournal>,
    ) -> Result<ToolAnswer> {
        let tenant = self.tenant_of(&rehearsal);
        let (Some(permit), ToolHandler::Remote(far), Some(tenant)) = (rehearsal, &tool.body, tenant) else {
            return Ok(ToolAnswer::Waiting(Box::new(approval)));
        };
        let outcome = match self.check_consent(&permit).holds().await {
            true => attempts::rehearse(far.as_ref(), &permit, tool.known.spec.timeout).await,
            false => no_consent_outcome(),
        };
        let (act_services, clock) = (self.act_services.clone(), self.clock.clone());
        self.db
            .write(tenant, move |tx| -> Result<ToolAnswer> {
                let now = clock.now();
                let outcome = match holds_in(tx, &act_services, &permit, now)? {
                    true => outcome,
                    false => no_consent_outcome(),
                };
                approval.rehearsal = render_outcome(&outcome);
                let answer = ToolAnswer::Waiting(Box::new(approval));
                let untold = acts::finish(tx, &act_services, permit, &outcome, now)?;
                journal.record_answer(tx, &answer)?;
                untold.record(tx, &act_services, now)?;
                Ok(answer)
            })
            .await
    }

    fn tenant_of(&self, permit: &Option<Permit>) -> Option<TenantId> {
        permit.as_ref().map(Permit::tenant)
    }

    pub(crate) async fn finish(
        &self,
        permit: Permit,
        tool: Option<Tool>,
        called: ToolAttemptResult,
        journal: Arc<dyn ActJournal>,
    ) -> Result<ToolAnswer> {
        let (act_services, clock) = (self.act_services.clone(), self.clock.clone());
        self.db
            .write(permit.tenant(), move |tx| -> Result<ToolAnswer> {
                let now = clock.now();
                // What was looked up or tried out while they took it back is not used; what was written stands.
                let is_look = !permit.effect().writes() || permit.mode() == PermitMode::Rehearse;
                let called = match is_look && !holds_in(tx, &act_services, &permit, now)? {
                    true => no_consent_result(&permit, EffectCertainty::No),
                    false => called,
                };
                let ToolAttemptResult { outcome, done, mismatch } = called;
                let answer = match tool.as_ref() {
                    Some(tool) => build_answer(&permit, tool, &outcome, done, mismatch),
                    None => build_from_outcome(&permit, None, &outcome),
                };
                let untold = acts::finish(tx, &act_services, permit, &outcome, now)?;
                save_undo(tx, &answer, now)?;
                journal.record_answer(tx, &answer)?;
                untold.record(tx, &act_services, now)?;
                Ok(answer)
            })
            .await
    }

    async fn record_answer(
        &self,
        tenant: TenantId,
        answer: ToolAnswer,
        journal: Arc<dyn ActJournal>,
    ) -> Result<ToolAnswer> {
        self.db
            .write(tenant, move |tx| -> Result<ToolAnswer> {
                journal.record_answer(tx, &answer)?;
                Ok(answer)
            })
            .await
    }
}

/// Keeps with what was done how it is taken back, where its tool knows.
fn save_undo(tx: &mut Tx<'_>, answer: &ToolAnswer, now: Timestamp) -> Result<()> {
    let ToolAnswer::Done(Observation { act, undo: Some(undo), .. }) = answer else { return Ok(()) };
    let step = UndoStep { tool: undo.tool.clone(), arguments: undo.arguments.clone() };
    Ok(acts::offer_undo(tx, *act, &step, now.plus(undo.holds))?)
}

/// As they are now, whomever they have turned out to be. Who has left, or is gone, is nobody: the act stays theirs, and is refused
/// where it is not open to anybody. It keeps the id that it was proposed under, since that is a part of what was agreed to.
fn load_principal(tx: &mut Tx<'_>, person: PersonId) -> Result<Principal> {
    let found = persons::find_living(tx, person)?.map(|known| known.principal(tx));
    let principal = found.unwrap_or_else(|| Principal::anonymous(tx.tenant()));
    Ok(Principal { person: Some(person), ..principal })
}

fn misuse(what: &str) -> Error {
    munshi_store::Error::Misuse(what.to_owned()).into()
}

fn build_proposal(want: ToolCallRequest, tool: Option<&Tool>) -> Proposal {
    Proposal {
        act: want.act,
        name: tool.map_or(want.name, |tool| tool.known.spec.name.to_string()),
        arguments: CheckedArguments::new(want.arguments, tool.map(|tool| tool.known.as_ref())),
        tool: tool.map(|tool| tool.known.clone()),
        offered: want.offered,
        wanted: want.wanted,
        caller: want.caller,
        agent: want.agent,
        taint: want.taint,
        concerns: want.concerns,
    }
}
