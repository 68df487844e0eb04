//! The engine of turns, as channels see it.

use std::fmt;

use async_trait::async_trait;
use munshi_agent::TurnEngine;
use munshi_channels::incoming::{MessageReceiver, ReceiveFault, TakenMessage};
use munshi_conversations::{Error, IngestStatus};
use munshi_tiers::{AddressResolution, BindingResolver};
use munshi_types::tier::RoutingKey;
use munshi_types::{InboundMessage, InboundTarget, TenantId};

pub(crate) struct EngineReceiver {
    pub(crate) engine: TurnEngine,
    pub(crate) resolver: BindingResolver,
}

#[async_trait]
impl MessageReceiver for EngineReceiver {
    async fn find_binding(
        &self,
        tenant: TenantId,
        address: &RoutingKey,
    ) -> Result<Option<InboundTarget>, ReceiveFault> {
        let found = self.resolver.resolve(address, None).await;
        let found = found.map_err(|error| ReceiveFault::Passing(error.to_string()))?;
        Ok(match found {
            AddressResolution::Bound(binding) if binding.tenant == tenant => {
                Some(InboundTarget::Address(address.clone()))
            }
            // Whether it is the tenant's own is looked at once it is resumed.
            AddressResolution::TenantPaused(name) => {
                return Err(convert(Error::TenantPaused { tenant: name }));
            }
            _ => None,
        })
    }

    async fn receive(&self, tenant: TenantId, inbound: InboundMessage) -> Result<TakenMessage, ReceiveFault> {
        let taken = self.engine.receive(inbound).await.map_err(convert)?;
        if taken.tenant != tenant {
            return Err(ReceiveFault::Refused("it leads to another tenant".to_owned()));
        }
        Ok(TakenMessage {
            tenant,
            run: taken.run,
            session: taken.session,
            person: taken.person,
            is_known: taken.status == IngestStatus::SeenBefore,
        })
    }

    async fn wait_until_worked(&self, taken: &TakenMessage) {
        if let Err(error) = self.engine.wait_for_outcome(taken.tenant, taken.run).await {
            tracing::debug!(run = %taken.run, %error, "nobody knows how long a message is worked on");
        }
    }
}

fn convert(error: Error) -> ReceiveFault {
    match error {
        Error::Unfit(what) => ReceiveFault::Refused(what),
        Error::NoBinding(_) | Error::BindingArchived { .. } | Error::TenantArchived { .. } => {
            ReceiveFault::Refused(error.to_string())
        }
        Error::TenantPaused { .. } => ReceiveFault::Paused(error.to_string()),
        error => ReceiveFault::Passing(error.to_string()),
    }
}

impl fmt::Debug for EngineReceiver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EngineReceiver").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_for_a_paused_tenant_waits() {
        let fault = convert(Error::TenantPaused { tenant: "sharma".parse().unwrap() });
        assert!(matches!(fault, ReceiveFault::Paused(why) if why.contains("sharma is paused")));
        assert!(matches!(convert(Error::Unfit("empty".to_owned())), ReceiveFault::Refused(_)));
    }
}
