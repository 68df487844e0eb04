//! The statements of a turn, through the same store in the same transactions, and nothing else: the message, the look
//! before the prompt, and the reply with all that is stored with it. What is written is what a turn wrote before.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::{Context, Result};
use munshi_conversations::commit::{self, ReplyRecord, TurnCommit, TurnStatus};
use munshi_conversations::decisions::TurnDecision;
use munshi_conversations::ingest::{self, Admission, FixedReply, IngestServices, RoutedMessage};
use munshi_conversations::sessions::{self, SessionUpdate};
use munshi_conversations::steps::{self, NewRunStep};
use munshi_conversations::{messages, runs};
use munshi_identity::persons;
use munshi_llm::gateway::{CallRecord, CallSubject, Capability, ModelCallOutcome as CallEnding};
use munshi_llm::pricing::Cost;
use munshi_llm::{StopReason, TokenUsage};
use munshi_privacy::KnownPeopleCache;
use munshi_safety::approvals;
use munshi_safety::budget::{self, BudgetAmount, BudgetSettings as Budgets};
use munshi_store::{Db, Tx};
use munshi_types::{Clock, Id, InboundMessage, SystemClock, TenantId};
use tokio::runtime::Runtime;

use super::ours::{Limits, Ours};
use super::shop::{QUESTION, Shop};
use crate::contest::Contestant;
use crate::load::{Load, Tally};

/// What is known beforehand.
struct Ready {
    db: Db,
    tenant: TenantId,
    desk: IngestServices,
    staff: Vec<InboundMessage>,
    incoming: RoutedMessage,
    reply: ReplyRecord,
    steps: Vec<NewRunStep>,
    budgets: Budgets,
    people: KnownPeopleCache,
    next: AtomicUsize,
}

pub(crate) struct Bare(Arc<Ready>);

impl Bare {
    /// One turn is done for real, so that its rows can be written again.
    pub(crate) fn new(shop: &Shop, runtime: &Runtime, ours: &Ours) -> Result<Self> {
        let inbound = ours.first_message()?;
        let received = runtime.block_on(Ours::run_turn(&shop.turns, inbound.clone(), Limits::None))?;
        let read = move |tx: &mut Tx<'_>| -> munshi_conversations::Result<_> {
            let run = runs::find(tx, received.run)?.ok_or(munshi_conversations::Error::NoRun)?;
            let reply = run.reply.map(|id| messages::find(tx, id)).transpose()?.flatten();
            let said = messages::find(tx, received.message)?;
            Ok((reply, said, steps::list(tx, received.run)?))
        };
        let (reply, said, steps) = runtime.block_on(shop.db.read(shop.tenant, read))?;
        let (reply, said) = (reply.context("no reply")?, said.context("no message")?);
        let incoming = RoutedMessage {
            key_use: None,
            subscription: None,
            kind: runs::MESSAGE,
            client_context: None,
            inbound,
            binding: shop.place.binding_id,
            zone: shop.place.zone.clone(),
            max_budget: BudgetAmount {
                tokens: 10_000,
                output: 2_048,
                money: Some(Cost::from_micros(40)),
                ..BudgetAmount::interaction()
            },
            min_budget: None,
            language: said.language,
            tokens: said.tokens,
            door: Admission::Open,
            limit_reached: Arc::new(|_| FixedReply::default()),
            decision: None,
            may_begin: true,
            limits: Vec::new(),
            now: SystemClock.now(),
        };
        let new = |step: steps::RunStep| NewRunStep {
            state: step.state,
            body: step.body,
            micros: step.micros,
            at: step.at,
        };
        Ok(Self(Arc::new(Ready {
            db: shop.db.clone(),
            tenant: shop.tenant,
            desk: shop.desk.clone(),
            staff: shop.staff.iter().map(|person| shop.message(*person, QUESTION)).collect(),
            incoming,
            reply: ReplyRecord {
                id: reply.id,
                text: reply.text,
                language: reply.language,
                tokens: reply.tokens,
                standing: reply.standing,
                generation: reply.generation,
                marks: reply.marks,
                suggestions: reply.suggestions,
            },
            steps: steps.into_iter().map(new).collect(),
            budgets: Budgets::default(),
            people: KnownPeopleCache::default(),
            next: AtomicUsize::new(0),
        })))
    }
}

impl Ready {
    async fn turn(self: Arc<Self>) -> Result<()> {
        let mut inbound = self.staff[self.next.fetch_add(1, Ordering::Relaxed) % self.staff.len()].clone();
        inbound.outside_id = self.desk.ids.next::<munshi_types::MessageId>().to_string();
        let incoming = RoutedMessage { inbound, now: SystemClock.now(), ..self.incoming.clone() };
        let taken = ingest::receive(&self.db, self.tenant, &self.desk, Arc::new(incoming)).await?;
        let begun = taken.begun.context("it waits for another")?;
        let (ready, run) = (self.clone(), taken.run);
        self.db.read(self.tenant, move |tx| ready.read_turn_state(tx, run)).await?;
        let response = self.build_commit(&begun, taken.session);
        let desk = self.desk.clone();
        self.db.write(self.tenant, move |tx| commit::save_turn(tx, &desk, &response)).await?;
        Ok(())
    }

    /// What a turn reads before it thinks.
    fn read_turn_state(&self, tx: &mut Tx<'_>, id: munshi_types::RunId) -> munshi_conversations::Result<()> {
        let run = runs::find(tx, id)?.ok_or(munshi_conversations::Error::NoRun)?;
        let run = run.conversation()?;
        sessions::find(tx, run.session)?;
        messages::list_newest(tx, run.session, i64::MAX, messages::READ)?;
        persons::find(tx, run.person)?;
        self.people.load_met(tx, Some(run.person))?;
        approvals::list_pending(tx, run.session.as_uuid())?;
        budget::load_plan(tx, &self.budgets)?;
        Ok(())
    }

    fn build_commit(&self, begun: &ingest::TurnStart, session: munshi_types::SessionId) -> TurnCommit {
        let (now, ids) = (SystemClock.now(), &self.desk.ids);
        let spent = BudgetAmount {
            tokens: 1_100,
            output: 200,
            money: Some(Cost::from_micros(4)),
            ..BudgetAmount::interaction()
        };
        let call = CallRecord {
            id: ids.next(),
            tenant: self.tenant,
            about: CallSubject {
                run: Some(begun.lease.run.as_uuid()),
                binding: Some(self.incoming.binding.as_uuid()),
            },
            purpose: Capability::Default,
            target: "mock".to_owned(),
            provider: "openai".to_owned(),
            model: "mock".to_owned(),
            attempt: 1,
            started_at: now,
            usage: TokenUsage { input: 900, output: 200, ..TokenUsage::default() },
            cost: Some(Cost::from_micros(4)),
            first_token: Some(Duration::from_millis(1)),
            total: Duration::from_millis(1),
            ending: CallEnding::Finished(StopReason::EndTurn),
            prompt: None,
            request_id: None,
        };
        TurnCommit {
            lease: begun.lease,
            session,
            person: begun.person.id,
            binding: self.incoming.binding,
            channel: self.incoming.inbound.channel,
            ending: TurnStatus::Done,
            is_read: false,
            reply: Some(ReplyRecord { id: ids.next(), ..self.reply.clone() }),
            deliver: None,
            settle: begun.reservation.map(|reservation| (reservation, spent)),
            learned: SessionUpdate { language: self.reply.language.clone(), ..SessionUpdate::default() },
            steps: self.steps.clone(),
            calls: vec![call],
            violations: Vec::new(),
            questions: Vec::new(),
            unfinished: Vec::new(),
            join_check: None,
            whispers: Vec::new(),
            finished: None,
            client_resume: None,
            decision: Some(Box::new(TurnDecision { outcome: "done".to_owned(), ..TurnDecision::default() })),
            now,
        }
    }
}

impl Contestant for Bare {
    fn run(&self, load: &Load<'_>) -> Result<Tally> {
        let ready = self.0.clone();
        load.run_tasks(move || ready.clone().turn())
    }
}
