//! A message that a pack sends to somebody outside of a conversation, such as a customer of a shop: in words that were approved.
//!
//! A pack's own row and the message are one transaction. It is handed to the outbox by a job, and the outbox's rules hold for it: quiet hours,
//! opting out, no reminder twice in three days.

use std::sync::Arc;

use munshi_jobs::{JobQueue, NewJob, Priority};
use munshi_store::{Result, Tx};
use munshi_types::tier::Channel;
use munshi_types::{BindingId, Clock, IdGenerator, MessageId, OutboundMessage, PersonId};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// The job that hands a message to the outbox.
pub const KIND: &str = "outbox.notice";

/// What is sent, and to whom it belongs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PackMessage {
    pub outbound: OutboundMessage,
    /// Whom it is sent to, where they are a person of the tenant.
    pub person: Option<PersonId>,
    /// The pack's own record of them: the message goes when that is forgotten.
    pub subject: Option<Uuid>,
    /// In whose name; the account that sends it is found by it.
    pub binding: Option<BindingId>,
    /// What it is about and with whom, such as `ledger/contact/ID`: nobody is reminded of that twice in three days.
    pub about: Option<String>,
}

/// What a pack can know of the ways out and of what it sent.
pub trait OutboxReader: Send + Sync + 'static {
    /// Whether the tenant has a channel that sends so in a binding's name; none for what the tenant itself says.
    fn is_served(&self, tx: &mut Tx<'_>, channel: Channel, binding: Option<BindingId>) -> Result<bool>;

    /// Whether a message was given up, refused, returned, or taken back before it left.
    fn has_failed(&self, tx: &mut Tx<'_>, message: MessageId) -> Result<bool>;
}

/// Sends a message when the transaction commits. Its job names the record that it is about, by which it is found when that is forgotten.
pub fn send(tx: &mut Tx<'_>, clock: &Arc<dyn Clock>, ids: &IdGenerator, message: &PackMessage) -> Result<()> {
    let into_store = |error: munshi_jobs::Error| match error {
        munshi_jobs::Error::Store(error) => error,
        other => munshi_store::Error::Refused(other.to_string()),
    };
    let job = NewJob::new(KIND, message)?.priority(Priority::Urgent);
    let id = message.outbound.id;
    let job = match message.subject {
        Some(subject) => job.unique(format!("{subject}/{id}")),
        None => job,
    };
    // What wakes a runner is the engine's; the next look of one finds it.
    JobQueue::new(clock.clone(), ids.clone()).enqueue(tx, &job).map_err(into_store)?;
    Ok(())
}

/// Takes back what is on its way about a record that is forgotten. Where one is being handed over this moment, that comes to nothing.
pub fn delete_about(tx: &mut Tx<'_>, subject: Uuid) -> Result<u64> {
    munshi_jobs::delete_by_key(tx, KIND, &format!("{subject}/"))
}
