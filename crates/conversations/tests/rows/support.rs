//! A tenant with a binding, people who write to it, and turns that answer without a model.

use std::sync::Arc;

use munshi_conversations::commit::{CommittedTurn, ReplyRecord, TurnCommit, TurnStatus, save_turn};
use munshi_conversations::ingest::{
    Admission, FixedReply, IngestOutcome, IngestServices, RoutedMessage, receive,
};
use munshi_conversations::messages::{self, Message, MessageStatus};
use munshi_conversations::runs::{self, Run, RunLease};
use munshi_conversations::sessions::SessionUpdate;
use munshi_conversations::{Error, Result};
use munshi_jobs::JobQueue;
use munshi_safety::budget::{BudgetAmount, BudgetGovernor, BudgetSettings};
use munshi_store::{Db, Tx};
use munshi_test_support::TestDb;
use munshi_types::tier::Channel;
use munshi_types::{
    BindingId, Clock, InboundMessage, InboundSender, InboundTarget, ReplyAddress, RunId, SessionId, TenantId,
    Timestamp, Zone,
};
use serde_json::json;

/// All tables, in one list for `on_both_engines!`.
macro_rules! tables {
    ($($tests:tt)+) => {
        munshi_test_support::on_both_engines! {
            with all munshi_test_app::list_migrations(&[]);
            $($tests)+
        }
    };
}
pub(crate) use tables;

pub(crate) struct Shop {
    pub test: TestDb,
    pub tenant: TenantId,
    pub binding: BindingId,
    pub desk: IngestServices,
}

impl Shop {
    pub(crate) async fn open(test: TestDb) -> Self {
        Self::with(test, BudgetSettings::default()).await
    }

    pub(crate) async fn with(test: TestDb, settings: BudgetSettings) -> Self {
        let tenant = test.add_tenant("sharma").await;
        let governor = Arc::new(BudgetGovernor::new(settings, test.ids.clone()));
        let queue = JobQueue::new(test.clock.clone(), test.ids.clone());
        let desk = IngestServices::new(governor, queue, test.ids.clone(), None, 256);
        let binding = test.ids.next();
        Self { test, tenant, binding, desk }
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.test.clock.now()
    }

    pub(crate) fn incoming(&self, phone: &str, outside_id: &str, text: &str) -> RoutedMessage {
        RoutedMessage {
            kind: munshi_conversations::runs::MESSAGE,
            client_context: None,
            key_use: None,
            inbound: InboundMessage {
                channel: Channel::Whatsapp,
                to: InboundTarget::Address("handle:sharma".parse().unwrap()),
                from: InboundSender { phone: Some(phone.to_owned()), ..InboundSender::default() },
                outside_id: outside_id.to_owned(),
                text: text.to_owned(),
                attached: Vec::new(),
                locale: None,
                sent_at: None,
                reply_to: None,
                screen: Default::default(),
            },
            binding: self.binding,
            zone: Zone::default(),
            min_budget: None,
            max_budget: BudgetAmount { tokens: 4000, ..BudgetAmount::interaction() },
            language: None,
            tokens: 3,
            door: Admission::Open,
            subscription: None,
            limit_reached: Arc::new(|refused| FixedReply {
                text: format!("limit: {refused}"),
                ..FixedReply::default()
            }),
            decision: None,
            may_begin: true,
            limits: Vec::new(),
            now: self.now(),
        }
    }

    pub(crate) async fn receive(&self, incoming: RoutedMessage) -> Result<IngestOutcome> {
        receive(&self.test.db, self.tenant, &self.desk, Arc::new(incoming)).await
    }

    pub(crate) async fn say(&self, phone: &str, outside_id: &str, text: &str) -> IngestOutcome {
        self.receive(self.incoming(phone, outside_id, text)).await.unwrap()
    }

    pub(crate) async fn say_from(&self, phone: &str, outside_id: &str, to: &ReplyAddress) -> IngestOutcome {
        let mut incoming = self.incoming(phone, outside_id, "hello");
        incoming.inbound.reply_to = Some(to.clone());
        self.receive(incoming).await.unwrap()
    }

    pub(crate) async fn read<T: Send + 'static>(
        &self,
        unit: impl FnOnce(&mut Tx<'_>) -> munshi_store::Result<T> + Send + 'static,
    ) -> T {
        self.test.db.read(self.tenant, unit).await.unwrap()
    }

    pub(crate) async fn write<T: Send + 'static>(
        &self,
        unit: impl FnOnce(&mut Tx<'_>) -> munshi_store::Result<T> + Send + 'static,
    ) -> T {
        self.test.db.write(self.tenant, unit).await.unwrap()
    }

    pub(crate) async fn run(&self, id: RunId) -> Run {
        self.read(move |tx| runs::find(tx, id)).await.unwrap()
    }

    pub(crate) async fn messages(&self, session: SessionId) -> Vec<Message> {
        self.read(move |tx| messages::list_newest(tx, session, i64::MAX, 500)).await
    }

    pub(crate) async fn count(&self, table: &'static str) -> i64 {
        let sql = match table {
            "messages" => "SELECT count(*) FROM messages WHERE tenant_id = $1",
            "runs" => "SELECT count(*) FROM runs WHERE tenant_id = $1",
            "run_steps" => "SELECT count(*) FROM run_steps WHERE tenant_id = $1",
            "sessions" => "SELECT count(*) FROM sessions WHERE tenant_id = $1",
            "one_time_codes" => "SELECT count(*) FROM one_time_codes WHERE tenant_id = $1",
            "persons" => "SELECT count(*) FROM persons WHERE tenant_id = $1",
            "reservations" => "SELECT count(*) FROM usage_reservations WHERE tenant_id = $1",
            "held" => "SELECT coalesce(max(held_interactions), 0) FROM usage_counters WHERE tenant_id = $1",
            "used" => "SELECT coalesce(max(used_interactions), 0) FROM usage_counters WHERE tenant_id = $1",
            "decisions" => "SELECT count(*) FROM decisions WHERE tenant_id = $1",
            "violations" => "SELECT count(*) FROM guardrail_violations WHERE tenant_id = $1",
            "calls" => "SELECT count(*) FROM llm_calls WHERE tenant_id = $1",
            "outbox" => "SELECT count(*) FROM outbox WHERE tenant_id = $1",
            other => panic!("{other}"),
        };
        self.read(move |tx| tx.one(sql, &[], |row| row.get(0))).await
    }

    /// What a turn that says `text` stores at its end.
    pub(crate) async fn response(&self, held: RunLease, text: &str) -> TurnCommit {
        let run = self.run(held.run).await;
        let conversation = run.conversation().unwrap().clone();
        TurnCommit {
            lease: held,
            session: conversation.session,
            person: conversation.person,
            binding: conversation.binding,
            channel: conversation.channel,
            ending: TurnStatus::Done,
            is_read: false,
            reply: Some(ReplyRecord {
                id: self.test.ids.next(),
                text: text.to_owned(),
                language: None,
                tokens: 2,
                standing: MessageStatus::Whole,
                generation: 1,
                marks: json!([]),
                suggestions: vec!["balance".to_owned()],
            }),
            deliver: conversation.reply_to,
            settle: run
                .reservation
                .map(|id| (id, BudgetAmount { tokens: 900, ..BudgetAmount::interaction() })),
            learned: SessionUpdate::default(),
            steps: Vec::new(),
            calls: Vec::new(),
            violations: Vec::new(),
            decision: None,
            questions: Vec::new(),
            unfinished: Vec::new(),
            join_check: None,
            whispers: Vec::new(),
            finished: None,
            client_resume: None,
            now: self.now(),
        }
    }

    pub(crate) async fn respond(&self, response: TurnCommit) -> Result<CommittedTurn> {
        respond_on(&self.test.db, &self.desk, response).await
    }

    pub(crate) async fn answer(&self, held: RunLease, text: &str) -> CommittedTurn {
        let response = self.response(held, text).await;
        self.respond(response).await.unwrap()
    }
}

pub(crate) async fn respond_on(
    db: &Db,
    desk: &IngestServices,
    response: TurnCommit,
) -> Result<CommittedTurn> {
    let desk = desk.clone();
    db.write(response.lease.tenant, move |tx| save_turn(tx, &desk, &response)).await
}

pub(crate) fn is_lost<T>(outcome: &Result<T>) -> bool {
    matches!(outcome, Err(Error::LostRun(_)))
}

pub(crate) fn held(ingested: &IngestOutcome) -> RunLease {
    ingested.begun.as_ref().expect("the run began").lease
}
