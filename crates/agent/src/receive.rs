//! The one way in: a message is taken, its turn goes on by itself, and whoever wants to can follow.

use std::sync::Arc;
use std::time::Instant;

use munshi_conversations::client_context::ClientContext;
use munshi_conversations::ingest::{self, RoutedMessage};
use munshi_conversations::{IngestStatus, KeyUse, Result, runs};
use munshi_safety::rate_limits::RateLimit;
use munshi_types::{InboundMessage, MessageId, PersonId, RunId, SessionId, TenantId};

use crate::engine::TurnEngine;
use crate::pending_turns::PendingTurn;
use crate::turn_metrics;

/// What comes with a message beside its words.
#[derive(Default)]
pub struct ReceiveOptions {
    /// What a program sent along: the context of this run.
    pub client_context: Option<ClientContext>,
    /// Rate limits that the message counts against. If one is reached, nothing is stored.
    pub limits: Vec<RateLimit>,
    /// The API key it came through.
    pub key_use: Option<KeyUse>,
}

/// A message that is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageReceipt {
    pub tenant: TenantId,
    pub run: RunId,
    pub session: SessionId,
    pub message: MessageId,
    pub person: PersonId,
    pub status: IngestStatus,
}

impl TurnEngine {
    /// Returns once the message is on disk; the turn goes on in the background.
    pub async fn receive(&self, inbound: InboundMessage) -> Result<MessageReceipt> {
        self.receive_with_options(inbound, ReceiveOptions::default()).await
    }

    /// The same with what its channel knows of it beside the words.
    pub async fn receive_with_options(
        &self,
        inbound: InboundMessage,
        options: ReceiveOptions,
    ) -> Result<MessageReceipt> {
        let engine = self.clone();
        self.run_detached(async move { engine.accept(inbound, options, runs::MESSAGE).await }).await
    }

    /// The same for a message that came through an API key.
    pub async fn receive_with_key(&self, inbound: InboundMessage, key: KeyUse) -> Result<MessageReceipt> {
        let options = ReceiveOptions { key_use: Some(key), ..ReceiveOptions::default() };
        self.receive_with_options(inbound, options).await
    }

    /// The same for a turn whose acts are rehearsed and not done, for whoever wants to see what would happen.
    pub async fn receive_dry_run(&self, inbound: InboundMessage) -> Result<MessageReceipt> {
        let engine = self.clone();
        self.run_detached(
            async move { engine.accept(inbound, ReceiveOptions::default(), runs::REHEARSAL).await },
        )
        .await
    }

    async fn accept(
        &self,
        inbound: InboundMessage,
        options: ReceiveOptions,
        kind: &'static str,
    ) -> Result<MessageReceipt> {
        let begun = Instant::now();
        let inner = &self.inner;
        let binding = inner.resolve_target(&inbound.to, inbound.from.person).await?;
        let (to, channel, known) = (inbound.to.clone(), inbound.channel, inbound.from.person);
        let ReceiveOptions { client_context, limits, key_use } = options;
        let place = inner.places.try_take_uncontested();
        let incoming = RoutedMessage {
            kind,
            may_begin: place.is_some(),
            limits,
            key_use,
            ..inner.build_routed_message(inbound, client_context, &binding)
        };
        let taken =
            ingest::receive(&inner.db, binding.tenant, &inner.ingest_services, Arc::new(incoming)).await?;
        let received = MessageReceipt {
            tenant: binding.tenant,
            run: taken.run,
            session: taken.session,
            message: taken.message,
            person: taken.person,
            status: taken.status,
        };
        if let Some(halt) = taken.halted.as_ref().filter(|_| kind == runs::MESSAGE) {
            turn_metrics::count_outcome(channel, halt.code());
        }
        if taken.status == IngestStatus::SeenBefore || taken.halted.is_some() {
            return Ok(received);
        }
        // Who is in a slice is known only now, where there are slices.
        let is_same =
            known == Some(taken.person) || (binding.slice.is_none() && binding.binding.slices.is_empty());
        let binding = match is_same {
            true => binding,
            false => inner.resolve_target(&to, Some(taken.person)).await.unwrap_or(binding),
        };
        let waiting =
            PendingTurn { binding, person: taken.person, session: taken.session, ingest: begun.elapsed() };
        match taken.begun {
            Some(begun) => {
                let place = place.unwrap_or_else(|| inner.places.take_beyond());
                self.start(begun.lease, Some(waiting), place);
            }
            None => {
                inner.pending_turns.remember(taken.run, waiting);
                if received.status == (IngestStatus::Queued { behind: None }) {
                    inner.places.request();
                }
            }
        }
        Ok(received)
    }
}
