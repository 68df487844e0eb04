//! What packs know of the ways out, from the tenant's accounts and its outbox.

use munshi_channels::accounts::ChannelAccount;
use munshi_conversations::outbox;
use munshi_pack::outgoing::OutboxReader;
use munshi_store::{Error, Result, Tx};
use munshi_types::tier::Channel;
use munshi_types::{BindingId, MessageId};

pub(crate) struct TenantOutbox;

impl OutboxReader for TenantOutbox {
    fn is_served(&self, tx: &mut Tx<'_>, channel: Channel, binding: Option<BindingId>) -> Result<bool> {
        let (_, declared) =
            munshi_channels::rows::load_accounts(tx).map_err(|error| Error::Decode(error.to_string()))?;
        let serving: Vec<&ChannelAccount> =
            declared.0.values().filter(|account| account.serves(channel)).collect();
        if serving.iter().any(|account| account.bindings.is_empty()) {
            return Ok(true);
        }
        let Some(binding) = binding else { return Ok(!serving.is_empty()) };
        let name = munshi_tiers::history::find_binding_name(tx, binding)
            .map_err(|error| Error::Decode(error.to_string()))?;
        Ok(name.is_some_and(|name| serving.iter().any(|account| account.bindings.contains(&name))))
    }

    fn has_failed(&self, tx: &mut Tx<'_>, message: MessageId) -> Result<bool> {
        outbox::has_failed(tx, message)
    }
}
