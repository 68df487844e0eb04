//! What the agent would say next in a conversation that a colleague looks at: told to them, and to nobody else.
//!
//! A call of a model and no turn: nothing is stored as said, no tool is called, and no whisper counts as told. The prompt is that
//! of a turn here and now, with the same people hidden from models elsewhere. The tenant's background pays.

use std::sync::Arc;
use std::time::Duration;

use munshi_conversations::messages::{self, Message, MessageSpeaker, MessageStatus};
use munshi_conversations::sessions::{self, Session};
use munshi_conversations::whispers::Whisper;
use munshi_conversations::{Error, Result};
use munshi_guardrails::GuardrailContext;
use munshi_identity::persons;
use munshi_lang::Locale;
use munshi_llm::calls::StoredCallLog;
use munshi_llm::gateway::{CallBilling, CallSubject, Capability, ModelCall, ModelRoute, PromptRecord};
use munshi_llm::{ChatRequest, ModelError, ToolChoice};
use munshi_pack::{PackTurnContext, PromptContribution};
use munshi_privacy::ProtectedPeople;
use munshi_safety::budget::{self, BudgetLane};
use munshi_store::Tx;
use munshi_tiers::precedence::{self, TurnSituation};
use munshi_tiers::prompt::{self, PromptTurn, UntrustedText, UtteranceText};
use munshi_tiers::{AddressResolution, BindingResolution};
use munshi_types::{ConsentPurposeName, Id, SessionId, TenantId, TenantPacks, Timestamp};

use crate::call_redactor::build_call_redactor;
use crate::engine::{TurnEngine, TurnEngineInner};
use crate::entities::SessionEntities;
use crate::model_routing::CallPayer;
use crate::model_summariser::build_pack_context;
use crate::notify;
use crate::turn::{
    ReplyScene, choose_rules, list_whispers, render_handoff, render_pieces, to_earlier_message,
    to_prompt_message,
};

/// Behind the cache boundary of the prompt.
const TASK: &str = "\n# A draft\nA colleague of the business reads along and asks you what could be said next. Write that and nothing else, as it would stand in \
the conversation. No tool is called for it and nothing is done: do not say that something was done unless the conversation \
shows it. Where something has to be looked up or done first, say so in one sentence.\n";
/// In the place of the person's message, where the last word was ours.
const NOTHING_NEW: &str = "(They have not answered yet.)";
/// A colleague waits for it.
const LONGEST_WAIT: Duration = Duration::from_secs(25);

/// What came of asking for a draft.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReplyDraftOutcome {
    Written {
        text: String,
        /// The number of the message behind which it would stand.
        after: i64,
    },
    /// There is nothing that could be answered.
    NothingSaid,
    /// The tenant's budget for what nobody typed is used up.
    OverBudget(String),
    /// No model answers now, or the agent of the conversation is gone.
    Unavailable(String),
}

/// What is read for it, on one snapshot.
struct DraftMaterial {
    session: Session,
    /// What may be told of, the oldest first.
    history: Vec<Message>,
    contributions: PromptContribution,
    people: ProtectedPeople,
    whispers: Vec<Whisper>,
    packs: TenantPacks,
    purposes: Arc<std::collections::BTreeSet<ConsentPurposeName>>,
    route: Arc<ModelRoute>,
    person_name: Option<String>,
    /// In which the person is spoken to.
    voice: Locale,
    now: Timestamp,
}

impl TurnEngine {
    /// What the agent would say next in a conversation as it stands.
    pub async fn draft_reply(&self, tenant: TenantId, session: SessionId) -> Result<ReplyDraftOutcome> {
        let inner = &self.inner;
        let Some((session, binding)) = inner.find_draft_place(tenant, session).await? else {
            return Ok(ReplyDraftOutcome::Unavailable("the agent of this conversation is gone".to_owned()));
        };
        let (engine, at, now) = (inner.clone(), binding.clone(), inner.clock.now());
        let read = move |tx: &mut Tx<'_>| load(tx, &engine, (session, &at), now);
        let material = inner.db.read(tenant, read).await?;
        let Some(after) = material.history.last().map(|last| last.number) else {
            return Ok(ReplyDraftOutcome::NothingSaid);
        };
        let call = match inner.build_draft_call(&binding, &material)? {
            Ok(call) => call,
            Err(too_large) => return Ok(ReplyDraftOutcome::Unavailable(too_large.to_string())),
        };
        Ok(match tokio::time::timeout(LONGEST_WAIT, inner.gateway.complete(call)).await {
            Err(_) => ReplyDraftOutcome::Unavailable("the model took too long".to_owned()),
            Ok(Err(ModelError::OverBudget(what))) => ReplyDraftOutcome::OverBudget(what),
            Ok(Err(fault)) => ReplyDraftOutcome::Unavailable(fault.to_string()),
            Ok(Ok(reply)) if reply.text().trim().is_empty() => {
                ReplyDraftOutcome::Unavailable("the model returned no words".to_owned())
            }
            Ok(Ok(reply)) => match inner.check_draft(&binding, &material, reply.text().trim())? {
                text if text.trim().is_empty() => {
                    ReplyDraftOutcome::Unavailable("what the model wrote may not be said".to_owned())
                }
                text => ReplyDraftOutcome::Written { text: text.trim().to_owned(), after },
            },
        })
    }
}

impl TurnEngineInner {
    /// The session as it is by now, and who speaks in it.
    pub(crate) async fn find_draft_place(
        &self,
        tenant: TenantId,
        session: SessionId,
    ) -> Result<Option<(SessionId, Arc<BindingResolution>)>> {
        let found = self.db.read(tenant, move |tx: &mut Tx<'_>| sessions::find_current(tx, session)).await?;
        let session = found.ok_or(Error::NoRun)?;
        let (person, front) = (session.person.to_string(), session.binding);
        let handed = session.active.is_some();
        let there = match handed {
            true => self.resolver.resolve_handed_over(tenant, &session.place(), front, Some(&person)).await?,
            false => AddressResolution::Unknown,
        };
        // Where those are gone to whom it was handed over, it is again with those it began with.
        let found = match there {
            AddressResolution::Bound(binding) => AddressResolution::Bound(binding),
            _ => self.resolver.resolve_by_id(tenant, front, Some(&person)).await?,
        };
        Ok(match found {
            AddressResolution::Bound(binding) => Some((session.id, binding)),
            _ => None,
        })
    }

    fn build_draft_call(
        &self,
        binding: &BindingResolution,
        material: &DraftMaterial,
    ) -> Result<std::result::Result<ModelCall, prompt::PromptTooLarge>> {
        let context = self.build_draft_context(binding, material);
        let assembled = match prompt::assemble(&binding.static_prompt, &context) {
            Ok(assembled) => assembled,
            Err(too_large) => return Ok(Err(too_large)),
        };
        let sections = serde_json::to_value(&assembled.report).ok();
        let mut request = assembled.into_request();
        request.language = material.session.language.clone();
        request.tool_choice = ToolChoice::None;
        if let Some(dynamic) = request.system.last_mut() {
            dynamic.push_str(TASK);
        }
        let parties = (&material.session, &material.people);
        let language = material.session.language.as_ref();
        let redactor = build_call_redactor((self, binding.tenant), parties, language, &material.history)?;
        Ok(Ok(ModelCall {
            wanted: Capability::Default,
            route: material.route.clone(),
            veil: Some(Arc::new(redactor)),
            account: self.bill_draft(binding, &request, sections),
            request: Arc::new(request),
        }))
    }

    /// What is left of a draft by the rules that a reply runs: one press sends it, and nobody may see that a whisper stands in it.
    fn check_draft(
        &self,
        binding: &BindingResolution,
        material: &DraftMaterial,
        text: &str,
    ) -> Result<String> {
        let rules = self.rules.get_or_build(binding)?;
        let (said, history) = match material.history.split_last() {
            Some((last, before)) if last.speaker == MessageSpeaker::Person => (last.text.as_str(), before),
            _ => ("", material.history.as_slice()),
        };
        let scene = ReplyScene {
            engine: self,
            binding,
            rules: &rules.set,
            history,
            said,
            person_name: material.person_name.as_deref(),
            language: material.voice.language,
            whispers: &material.whispers,
        };
        let context =
            GuardrailContext { prompt: Some(rules.prompt.clone()), ..scene.build_guardrail_context() };
        let verdict = choose_rules(&rules.set, &material.whispers).check(text, &context);
        for broken in &verdict.violations {
            tracing::info!(session = %material.session.id, rule = broken.rule, "a draft broke a rule");
        }
        Ok(render_pieces(verdict.pieces, &self.phrasebook, material.voice))
    }

    /// The tenant's own: the person asked for nothing.
    fn bill_draft(
        &self,
        binding: &BindingResolution,
        request: &ChatRequest,
        sections: Option<serde_json::Value>,
    ) -> CallBilling {
        let payer = CallPayer { person: None, lane: BudgetLane::Background, run: None };
        CallBilling {
            tenant: binding.tenant,
            about: CallSubject { run: None, binding: Some(binding.binding_id.as_uuid()) },
            budget: Arc::new(self.build_durable_budget(binding, payer)),
            tab: Arc::new(StoredCallLog::new(self.db.clone())),
            prices: None,
            prompt: Some(Arc::new(PromptRecord::new(request, sections))),
        }
    }

    /// As a turn would be told, if the person had written what they wrote last just now.
    fn build_draft_context(
        &self,
        binding: &BindingResolution,
        material: &DraftMaterial,
    ) -> prompt::TurnContext {
        let DraftMaterial { session, contributions, .. } = material;
        let contributions = contributions.clone();
        let (message, before) = split_last(&material.history);
        let situation = match &session.active {
            Some(active) if active.is_awaiting(material.now) => TurnSituation::Escalation,
            _ => TurnSituation::Usual,
        };
        let entities = SessionEntities::from_stored(&session.entities);
        let whispers = material.whispers.iter().map(|whisper| UntrustedText::new(&whisper.text)).collect();
        prompt::TurnContext {
            envelope: prompt::TurnEnvelope {
                now: material.now,
                zone: binding.zone.clone(),
                channel: session.channel,
                locale: String::new(),
                language: session.language.clone(),
                situation,
            },
            profile: session
                .active
                .as_ref()
                .map(render_handoff)
                .into_iter()
                .chain(contributions.profile)
                .chain(entities.render_for_prompt(message.as_str()))
                .collect(),
            facts: contributions.facts,
            recall: contributions.recall,
            summary: session.whole_summary().as_deref().map(UntrustedText::new),
            history: before,
            message,
            whispers,
            exchanges: Vec::new(),
            words: contributions.words,
            tools: Vec::new(),
            packs: material.packs.clone(),
            purposes: Some(material.purposes.clone()),
            key: self.fence_key,
        }
    }
}

/// What the person wrote last, where that is the last word, and what was said before it.
fn split_last(history: &[Message]) -> (UtteranceText, Vec<PromptTurn>) {
    let (message, before) = match history.split_last() {
        Some((last, before)) if last.speaker == MessageSpeaker::Person => {
            (UtteranceText::from_stored(last.text.as_str(), last.tokens), before)
        }
        _ => (UtteranceText::new(NOTHING_NEW), history),
    };
    (message, before.iter().map(to_prompt_message).collect())
}

fn load(
    tx: &mut Tx<'_>,
    engine: &TurnEngineInner,
    (session, binding): (SessionId, &BindingResolution),
    now: Timestamp,
) -> Result<DraftMaterial> {
    let session = sessions::find(tx, session)?.ok_or(Error::NoRun)?;
    let history = load_history(tx, engine, &session)?;
    let policy = engine.act_services.load_policy(tx)?;
    let last = history.iter().rev().find(|said| said.speaker == MessageSpeaker::Person);
    let pack_context = PackTurnContext {
        message: last.map(|said| said.text.clone()).unwrap_or_default(),
        before: history.iter().map(to_earlier_message).collect(),
        tools: precedence::select_tools(&binding.team.body, &binding.agent.body).into(),
        ..build_pack_context(tx, &session, (binding, &policy.packs), now)?
    };
    let mut contributions = PromptContribution::default();
    let mut people = engine.people.load_met(tx, Some(session.person))?;
    for source in &engine.packs.contexts {
        let found = source.what.gather(tx, &pack_context)?;
        match pack_context.packs.has(source.pack) {
            true => contributions.add(found),
            // Whom a pack knows is hidden, though the tenant has it no longer.
            false => people.others.extend(found.people),
        }
    }
    people.others.append(&mut contributions.people);
    let plan = budget::load_plan(tx, engine.act_services.governor.settings())?;
    Ok(DraftMaterial {
        route: Arc::new(engine.resolve_permitted_route(binding, plan, &policy.residency)),
        purposes: Arc::new(policy.consent.purposes.keys().cloned().collect()),
        whispers: list_whispers(tx, &session)?,
        person_name: persons::find(tx, session.person)?.map(|person| person.name),
        voice: notify::find_voice(tx, &session)?,
        packs: policy.packs.clone(),
        session,
        history,
        contributions,
        people,
        now,
    })
}

/// What was said lately, as far as a model is told of it.
fn load_history(tx: &mut Tx<'_>, engine: &TurnEngineInner, session: &Session) -> Result<Vec<Message>> {
    let mut history = messages::list_newest(tx, session.id, session.messages, messages::READ)?;
    let kept = match engine.gateway.targets().iter().any(|target| !target.is_local()) {
        true => messages::collect_local_only_runs(&history),
        false => std::collections::HashSet::new(),
    };
    history.retain(|said| {
        said.number > session.summarised
            && said.standing != MessageStatus::Refused
            && !said.text.is_empty()
            && !kept.contains(&said.run)
    });
    Ok(history)
}
