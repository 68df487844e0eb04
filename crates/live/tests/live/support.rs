//! A tenant with a binding, people who write to it, and whoever answers without a model.

use std::sync::Arc;
use std::time::Duration;

use munshi_conversations::ingest::{
    Admission, FixedReply, IngestOutcome, IngestServices, RoutedMessage, receive,
};
use munshi_conversations::messages::{self, Message, MessageSpeaker, MessageStatus};
use munshi_conversations::sessions::{self, SessionUpdate};
use munshi_identity::persons::seal_by_person;
use munshi_jobs::JobQueue;
use munshi_live::{LiveHub, SessionChange, SessionFollower};
use munshi_safety::budget::{BudgetAmount, BudgetGovernor, BudgetSettings};
use munshi_store::{Db, Result, Tx};
use munshi_test_support::TestDb;
use munshi_types::tier::Channel;
use munshi_types::{
    BindingId, Clock, InboundMessage, InboundSender, InboundTarget, PersonId, SessionId, TenantId, Zone,
};
use serde_json::json;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

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

/// Nothing here takes so long, unless it never comes.
pub(crate) const LONGEST: Duration = Duration::from_secs(10);

pub(crate) struct Shop {
    pub(crate) test: TestDb,
    pub(crate) tenant: TenantId,
    pub(crate) binding: BindingId,
    desk: IngestServices,
}

/// A hub that runs until it is dropped.
pub(crate) struct Node {
    pub(crate) hub: LiveHub,
    _task: JoinSet<()>,
}

impl Node {
    pub(crate) fn start(db: Db, test: &TestDb) -> Self {
        let hub = LiveHub::new(db, test.clock.clone());
        let (running, mut task) = (hub.clone(), JoinSet::new());
        task.spawn(async move { running.run(CancellationToken::new()).await });
        Self { hub, _task: task }
    }
}

impl Shop {
    pub(crate) async fn open(test: TestDb) -> Self {
        let tenant = test.add_tenant("sharma").await;
        let governor = Arc::new(BudgetGovernor::new(BudgetSettings::default(), test.ids.clone()));
        let queue = JobQueue::new(test.clock.clone(), test.ids.clone());
        let desk = IngestServices::new(governor, queue, test.ids.clone(), None, 256);
        let binding = test.ids.next();
        Self { test, tenant, binding, desk }
    }

    pub(crate) fn node(&self) -> Node {
        Node::start(self.test.db.clone(), &self.test)
    }

    pub(crate) async fn say(&self, phone: &str, text: &str) -> IngestOutcome {
        let incoming = RoutedMessage {
            kind: munshi_conversations::runs::MESSAGE,
            client_context: None,
            key_use: None,
            inbound: InboundMessage {
                channel: Channel::Whatsapp,
                to: InboundTarget::Address("handle:sharma".parse().unwrap()),
                from: InboundSender { phone: Some(phone.to_owned()), ..InboundSender::default() },
                outside_id: text.to_owned(),
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
            now: self.test.clock.now(),
        };
        receive(&self.test.db, self.tenant, &self.desk, Arc::new(incoming)).await.unwrap()
    }

    /// Something is said to whoever the session is of.
    pub(crate) async fn reply(&self, session: SessionId, text: &str) {
        let unit = self.reply_unit(session, text);
        self.test.db.write(self.tenant, unit).await.unwrap();
    }

    /// The unit that says it.
    pub(crate) fn reply_unit(
        &self,
        session: SessionId,
        text: &str,
    ) -> impl FnOnce(&mut Tx<'_>) -> Result<()> + Send + use<> {
        let (id, run, binding) = (self.test.ids.next(), self.test.ids.next(), self.binding);
        let (text, now) = (text.to_owned(), self.test.clock.now());
        move |tx| {
            let person: PersonId = sessions::find(tx, session)?.unwrap().person;
            let by = seal_by_person(tx, person)?;
            let learned = SessionUpdate::default();
            let place = sessions::record_reply(tx, session, &learned, (by, now))?.unwrap();
            let message = Message {
                id,
                session,
                number: place.number,
                run,
                binding,
                speaker: MessageSpeaker::Persona,
                channel: Channel::Whatsapp,
                outside_id: None,
                text,
                attached: Vec::new(),
                language: None,
                tokens: 1,
                standing: MessageStatus::Whole,
                generation: 1,
                marks: json!({}),
                suggestions: Vec::new(),
                said_at: now,
            };
            messages::add(tx, by, &message)
        }
    }
}

/// The next change, in time.
pub(crate) async fn next(follower: &mut SessionFollower) -> SessionChange {
    tokio::time::timeout(LONGEST, follower.next()).await.expect("a change in time").expect("a change")
}

/// The texts of the next messages; what else is told is left out.
pub(crate) async fn texts(follower: &mut SessionFollower, count: usize) -> Vec<String> {
    let mut texts = Vec::new();
    while texts.len() < count {
        if let SessionChange::Message { message, .. } = next(follower).await {
            texts.push(message.text);
        }
    }
    texts
}
