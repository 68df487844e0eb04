//! The meaning of a message, made before the turn reads: a model elsewhere may take longer than anybody should wait.

use std::sync::Arc;
use std::time::Duration;

use munshi_conversations::runs::{self, RunLane, RunLease};
use munshi_conversations::{Error, Result, messages};
use munshi_llm::gateway::Redactor;
use munshi_llm::{ChatMessage, ChatRequest};
use munshi_pack::{ContextSource, FromPack};
use munshi_privacy::{ProtectedPeople, PseudonymRedactor, PseudonymTable};
use munshi_store::Tx;
use munshi_tiers::BindingResolution;
use munshi_types::{PersonId, Script, TenantId};
use tokio::time::timeout;

use super::join::OwnMessages;
use crate::engine::{TurnEngine, TurnEngineInner};

/// So long a turn waits for the meaning of its message.
const PATIENCE: Duration = Duration::from_millis(150);

/// What was there in time.
#[derive(Debug, Default)]
pub(crate) struct QueryVector {
    pub(super) vector: Option<Vec<f32>>,
    /// It was wanted, and is not there.
    pub(super) is_late: bool,
}

impl TurnEngineInner {
    /// Nothing is asked where no pack looks by meaning. What comes too late is paid for and written down all the same.
    pub(crate) async fn embed_message(
        self: &Arc<Self>,
        lease: RunLease,
        binding: &Arc<BindingResolution>,
    ) -> Result<QueryVector> {
        let is_busy = self.waiting.is_busy(RunLane::Chat);
        let wants = |source: &FromPack<dyn ContextSource>| {
            source.what.wants_vector() && source.what.optional().filter(|_| is_busy).is_none()
        };
        if !self.packs.contexts.iter().any(wants) {
            return Ok(QueryVector::default());
        }
        let (engine, binding) = (TurnEngine { inner: self.clone() }, binding.clone());
        let embedding = self.tasks.spawn(async move {
            let (person, text) = engine.inner.load_hidden_message(lease).await?;
            engine.embed_texts_of_run(&binding, (Some(person), Some(lease.run)), &[text]).await
        });
        let vector = match timeout(PATIENCE, embedding).await {
            Ok(Ok(Ok(Ok(made)))) => made.vectors.into_iter().next(),
            // The turn's own reading says so where the run is lost or the database away.
            Ok(Ok(Ok(Err(failure)))) => {
                tracing::debug!(run = %lease.run, ?failure, "no vector for a message");
                None
            }
            Ok(Ok(Err(error))) => {
                tracing::debug!(run = %lease.run, %error, "no vector for a message");
                None
            }
            Ok(Err(_)) | Err(_) => None,
        };
        Ok(QueryVector { is_late: vector.is_none(), vector })
    }

    /// As a model elsewhere may see it: without the people that the tenant knows.
    async fn load_hidden_message(self: &Arc<Self>, lease: RunLease) -> Result<(PersonId, String)> {
        let engine = self.clone();
        let read = move |tx: &mut Tx<'_>| -> Result<_> {
            let run = runs::find(tx, lease.run)?.ok_or(Error::NoRun)?;
            let conversation = run.conversation()?;
            let message = messages::find(tx, conversation.message)?.ok_or(Error::NoRun)?;
            let message = OwnMessages::load(tx, &run, message)?.combined;
            Ok((conversation.person, message.text, engine.people.load_met(tx, Some(conversation.person))?))
        };
        let (person, text, met) = self.db.read(lease.tenant, read).await?;
        Ok((person, self.hide_people_in(lease.tenant, (person, &met), text)?))
    }

    fn hide_people_in(
        &self,
        tenant: TenantId,
        (person, met): (PersonId, &ProtectedPeople),
        text: String,
    ) -> Result<String> {
        let known = self.people.get_or_build(tenant, met);
        let table = PseudonymTable::new(tenant, person);
        let redactor = PseudonymRedactor::new(known, table, Script::Latin)
            .map_err(|crossed| munshi_safety::Error::Invalid(crossed.to_string()))?;
        let request = ChatRequest { messages: vec![ChatMessage::user(text)], ..ChatRequest::default() };
        Ok(redactor.redact(&request).messages.last().map(ChatMessage::text).unwrap_or_default())
    }
}
