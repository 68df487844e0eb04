//! A message finds its binding, and what is known of it before it is stored.

use std::sync::Arc;

use munshi_conversations::chat_places::ChatPlace;
use munshi_conversations::client_context::ClientContext;
use munshi_conversations::decisions::TurnDecision;
use munshi_conversations::ingest::{Admission, FixedReply, RoutedMessage, SubscriptionRequest};
use munshi_conversations::outbox::opt_outs::{self, SubscriptionWord};
use munshi_conversations::runs::{self, RunLease};
use munshi_conversations::{Error, HaltReason, Result};
use munshi_lang::Phrasebook;
use munshi_lang::yes_no::{YesNoAnswer, classify_reply};
use munshi_llm::chat::TokenUsage;
use munshi_llm::gateway::Capability;
use munshi_privacy::find_aadhaar;
use munshi_safety::budget::BudgetAmount;
use munshi_tiers::prompt::UtteranceText;
use munshi_tiers::{ActivePlace, AddressResolution, BindingResolution};
use munshi_types::{BindingId, InboundMessage, InboundTarget, PersonId, TenantId, ToolName};
use tokio_util::sync::CancellationToken;

use crate::engine::TurnEngineInner;
use crate::pending_turns::PendingTurn;
use crate::phrases::log_unrendered;
use crate::reply_language::ReplyLanguage;

impl TurnEngineInner {
    /// A tenant that rests is waited for; the run stays ours meanwhile, and its place is others'. None where somebody wants it stopped while it waits.
    pub(crate) async fn resolve_when_active(
        &self,
        lease: RunLease,
        stop: &CancellationToken,
        place: &ChatPlace,
    ) -> Result<Option<Arc<BindingResolution>>> {
        loop {
            let found = self.db.read(lease.tenant, move |tx| runs::find(tx, lease.run)).await?;
            let run = found.ok_or(Error::NoRun)?;
            let conversation = run.conversation()?;
            match self.resolve_binding(lease.tenant, conversation.binding, conversation.person).await {
                Err(Error::TenantPaused { .. }) if run.cancel_asked || stop.is_cancelled() => {
                    return Ok(None);
                }
                Err(Error::TenantPaused { .. }) => {
                    place.lend_during(tokio::time::sleep(self.settings.renew)).await;
                }
                found => return found.map(Some),
            }
        }
    }

    /// Where a conversation was handed on to. Where nobody is there any more, those it began with go on with it.
    pub(crate) async fn resolve_place(
        &self,
        lease: RunLease,
        place: ActivePlace,
        front: Arc<BindingResolution>,
    ) -> Result<Arc<BindingResolution>> {
        let found = self.db.read(lease.tenant, move |tx| runs::find(tx, lease.run)).await?;
        let run = found.ok_or(Error::NoRun)?;
        let conversation = run.conversation()?;
        let person = conversation.person.to_string();
        let resolver = &self.resolver;
        match resolver.resolve_handed_over(lease.tenant, &place, conversation.binding, Some(&person)).await? {
            AddressResolution::Bound(found) => Ok(found),
            gone => {
                tracing::warn!(run = %lease.run, ?place, ?gone, "nobody is where a conversation was handed to");
                Ok(front)
            }
        }
    }

    /// Where a binding leads by now, for somebody.
    async fn resolve_binding(
        &self,
        tenant: TenantId,
        binding: BindingId,
        person: PersonId,
    ) -> Result<Arc<BindingResolution>> {
        let answer = self.resolver.resolve_by_id(tenant, binding, Some(&person.to_string())).await?;
        require_bound(answer, || binding.to_string())
    }

    /// What is known of a queued run, where its binding leads somewhere still: it may have been closed, changed, or laid to
    /// rest since the message came.
    pub(crate) async fn take_pending_turn(&self, lease: RunLease) -> Option<PendingTurn> {
        let known = self.pending_turns.take(lease.run)?;
        let (tenant, binding) = (&known.binding.tenant_name, &known.binding.binding_name);
        // From memory, mostly; where it leads nowhere a closer look says why.
        let answer =
            self.resolver.resolve_by_name(tenant, binding, Some(&known.person.to_string())).await.ok()?;
        let resolved = require_bound(answer, || binding.to_string()).ok()?;
        Some(PendingTurn { binding: resolved, ..known })
    }

    pub(crate) async fn resolve_target(
        &self,
        to: &InboundTarget,
        person: Option<PersonId>,
    ) -> Result<Arc<BindingResolution>> {
        let person = person.map(|person| person.to_string());
        let answer = match to {
            InboundTarget::Address(key) => self.resolver.resolve(key, person.as_deref()).await?,
            InboundTarget::Binding { tenant, binding } => {
                self.resolver.resolve_by_name(tenant, binding, person.as_deref()).await?
            }
        };
        require_bound(answer, || match to {
            InboundTarget::Address(key) => key.to_string(),
            InboundTarget::Binding { tenant, binding } => format!("{tenant}/{binding}"),
        })
    }

    pub(crate) fn build_routed_message(
        &self,
        mut inbound: InboundMessage,
        client_context: Option<ClientContext>,
        binding: &BindingResolution,
    ) -> RoutedMessage {
        // What somebody goes by is no part of what they say: the name is left out, and the message is taken.
        inbound.from.name = inbound.from.name.filter(|name| find_aadhaar(name).is_none());
        let words =
            client_context.as_ref().and_then(|context| context.words.as_deref()).unwrap_or(&inbound.text);
        let reply_language = ReplyLanguage::detect(words, &[], None, &binding.human.body.speech);
        let is_sure = munshi_lang::detect(words).is_some_and(|found| found.is_sure());
        let language = is_sure.then(|| reply_language.person.clone());
        let refused = has_aadhaar(&inbound) || client_context.as_ref().is_some_and(ClientContext::is_refused);
        let door = match refused {
            true => {
                let halt = HaltReason::RefusedAtDoor("an Aadhaar number".to_owned());
                Admission::Shut(halt, build_fixed_reply(&self.phrasebook, "aadhaar-refused", &reply_language))
            }
            false => Admission::Open,
        };
        let subscription = self.read_subscription(&inbound, &reply_language);
        let (book, heard) = (self.phrasebook.clone(), reply_language.clone());
        RoutedMessage {
            subscription,
            kind: runs::MESSAGE,
            key_use: None,
            binding: binding.binding_id,
            zone: binding.zone.clone(),
            max_budget: self.estimate_max_budget(binding),
            min_budget: self.can_answer_locally(binding).then(BudgetAmount::interaction),
            language: language.filter(|_| door == Admission::Open),
            tokens: UtteranceText::new(&inbound.text).tokens(),
            door,
            limit_reached: Arc::new(move |refused| build_fixed_reply(&book, refused.phrase(), &heard)),
            decision: Some(Box::new(TurnDecision::for_rejection(binding, &reply_language.person))),
            may_begin: true,
            limits: Vec::new(),
            now: self.clock.now(),
            client_context: client_context
                .map(|context| Arc::new(context.prepare(|name| self.is_registered_tool(name)))),
            inbound,
        }
    }

    /// Only where somebody is written to unasked can they ask for an end of it.
    fn read_subscription(
        &self,
        inbound: &InboundMessage,
        reply_language: &ReplyLanguage,
    ) -> Option<SubscriptionRequest> {
        inbound.reply_to.as_ref()?;
        let word = opt_outs::words::read(&inbound.text)?;
        let phrase = match word {
            SubscriptionWord::Stop => "opted-out",
            SubscriptionWord::Start => "opted-in",
        };
        let confirmation = build_fixed_reply(&self.phrasebook, phrase, reply_language);
        let is_refusal = classify_reply(&inbound.text) == YesNoAnswer::No;
        Some(SubscriptionRequest { word, is_refusal, confirmation })
    }

    fn is_registered_tool(&self, name: &ToolName) -> bool {
        self.dispatcher.registry().has_name(name.as_str())
    }

    /// The most that a plain turn may use: one interaction, and one call of the dearest model that may be asked first.
    pub(crate) fn estimate_max_budget(&self, binding: &BindingResolution) -> BudgetAmount {
        let route = self.resolve_unrestricted_route(binding);
        let uses = [
            Capability::ChatLight,
            Capability::ChatTools,
            Capability::Default,
            Capability::JsonStrict,
            Capability::Multilingual,
            Capability::Voice,
        ];
        let firsts = uses.iter().filter_map(|wanted| route.targets.get(wanted)?.first());
        let budgets = binding.static_prompt.budgets();
        let output = budgets.output.map_or(2_048, u64::from);
        let input = u64::from(budgets.ceiling);
        let now = self.clock.now();
        let mut most = BudgetAmount::interaction();
        for target in firsts.filter_map(|name| self.gateway.target(name).ok()) {
            if target.is_local() {
                continue;
            }
            // Where a model has no price for a cache, what is sent costs what it always does.
            let plain = TokenUsage { input, output, ..TokenUsage::default() };
            let written = TokenUsage { cache_write_1h: input, output, ..TokenUsage::default() };
            let prices = self.gateway.prices();
            let cost = prices.cost(target, &plain, now).max(prices.cost(target, &written, now));
            most.tokens = input + output;
            most.output = output;
            most.money = match (most.money, cost) {
                (Some(known), Some(cost)) => Some(known.max(cost)),
                _ => None,
            };
        }
        most
    }

    /// Whether the model of this machine is among those that may answer.
    fn can_answer_locally(&self, binding: &BindingResolution) -> bool {
        let route = self.resolve_unrestricted_route(binding);
        let mut names = route.targets.values().flatten();
        self.local_model().is_some_and(|here| names.any(|name| name == here))
    }

    /// The model of this machine, where there is one.
    pub(crate) fn local_model(&self) -> Option<&str> {
        let here = self.gateway.targets().iter().find(|target| target.is_local())?;
        Some(here.name.as_str())
    }

    /// What must never be said by name.
    pub(crate) fn remote_model_names(&self) -> Vec<String> {
        self.gateway.targets().iter().filter(|target| !target.is_local()).map(|t| t.model.clone()).collect()
    }
}

fn build_fixed_reply(book: &Phrasebook, phrase: &str, reply_language: &ReplyLanguage) -> FixedReply {
    let text = log_unrendered(book.render(phrase, reply_language.voice, &[]), phrase).unwrap_or_default();
    FixedReply { text, language: Some(reply_language.person.clone()), suggestions: Vec::new() }
}

/// In what is said, or in how something sent along is called.
fn has_aadhaar(inbound: &InboundMessage) -> bool {
    let names = inbound.attached.iter().filter_map(|attached| attached.name.as_deref());
    std::iter::once(inbound.text.as_str()).chain(names).any(|text| find_aadhaar(text).is_some())
}

fn require_bound(answer: AddressResolution, what: impl FnOnce() -> String) -> Result<Arc<BindingResolution>> {
    match answer {
        AddressResolution::Bound(binding) => Ok(binding),
        AddressResolution::TenantPaused(tenant) => Err(Error::TenantPaused { tenant }),
        AddressResolution::TenantArchived(tenant) => Err(Error::TenantArchived { tenant }),
        AddressResolution::BindingArchived { binding, .. } => Err(Error::BindingArchived { binding }),
        AddressResolution::Unknown => Err(Error::NoBinding(what())),
    }
}
