//! Where messages go once they are whole.

use async_trait::async_trait;
use munshi_types::tier::RoutingKey;
use munshi_types::{InboundMessage, InboundTarget, PersonId, RunId, SessionId, TenantId};

/// The engine of turns, as channels see it.
#[async_trait]
pub trait MessageReceiver: Send + Sync + 'static {
    /// The tenant's binding that an address leads to; none where it leads to nobody, or to another tenant.
    async fn find_binding(
        &self,
        tenant: TenantId,
        address: &RoutingKey,
    ) -> Result<Option<InboundTarget>, ReceiveFault>;

    /// Takes a message, once for its id.
    async fn receive(&self, tenant: TenantId, inbound: InboundMessage) -> Result<TakenMessage, ReceiveFault>;

    /// Waits until nobody works on the message any more: it is answered, or something is waited for that may take long.
    async fn wait_until_worked(&self, taken: &TakenMessage);
}

/// A message that is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TakenMessage {
    pub tenant: TenantId,
    pub run: RunId,
    pub session: SessionId,
    pub person: PersonId,
    /// Taken before: nothing new begins.
    pub is_known: bool,
}

/// Why a message was not taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReceiveFault {
    /// It never will be, such as one that leads nowhere.
    Refused(String),
    /// It may be later: the database is away.
    Passing(String),
    /// It will be, once the tenant is resumed. Until then there is nothing to try.
    Paused(String),
}
