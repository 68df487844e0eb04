//! Which binding a message is for, and a message as the engine takes it.

use munshi_identity::{ContactAddress, persons};
use munshi_store::{PlatformTx, Tx, tenants};
use munshi_tiers::history::list_stored;
use munshi_types::tier::{RoutingKey, RoutingKeyKind, TierKind, TierStatus};
use munshi_types::{
    AttachedFile, ClientScreen, InboundMessage, InboundSender, InboundTarget, ReplyAddress, TenantId,
    TenantName, TenantStatus,
};

use super::event::{ArrivedChat, ArrivedMessage};
use super::receiver::ReceiveFault;
use super::rows::ArrivalEnding;
use super::take::{ArrivalTaker, TakeFault, Taking};
use crate::error::Error;

/// What a group is called among those who write: nobody else's name begins so.
const GROUP: &str = "group:";

/// So many bytes of a hash keep the members of a group apart.
const MEMBER: usize = 16;

impl ArrivalTaker {
    pub(super) async fn take_message(
        &self,
        taking: &Taking<'_>,
        message: ArrivedMessage,
    ) -> Result<(), TakeFault> {
        if let Some(why) = &message.unanswerable {
            return Err(TakeFault::Ended(ArrivalEnding::PassedOver(why.clone())));
        }
        if message.follows_chat && !self.knows_chat(taking, &message).await? {
            let why = "nobody spoke to us in this chat before".to_owned();
            return Err(TakeFault::Ended(ArrivalEnding::PassedOver(why)));
        }
        let to = self.find_target(taking, message.to.as_deref()).await?;
        let mut inbound = build_inbound(taking, to, &message);
        if inbound.from.is_group {
            inbound.from.member = Some(self.name_member(taking, &message).await?);
        }
        let inbound = self.attach_files(taking, inbound, &message.files).await?;
        let taken = self.receiver.receive(taking.tenant, inbound).await?;
        if !taken.is_known {
            self.show_working(taking, message, taken);
        }
        Ok(())
    }

    /// What stands for whoever wrote in a group: it leads to nobody outside of the tenant.
    async fn name_member(&self, taking: &Taking<'_>, message: &ArrivedMessage) -> Result<String, TakeFault> {
        let member = [taking.link.channel().as_str(), message.from.channel_id.as_str()].join("\0");
        let hash = move |tx: &mut Tx<'_>| tx.hash("group.member", member.as_bytes());
        let hashed = self.db.read(taking.tenant, hash).await?;
        Ok(hashed.iter().take(MEMBER).map(|byte| format!("{byte:02x}")).collect())
    }

    async fn knows_chat(&self, taking: &Taking<'_>, message: &ArrivedMessage) -> Result<bool, TakeFault> {
        let Some(id) = build_sender(message).channel_id else { return Ok(false) };
        let Ok(address) = ContactAddress::channel(taking.link.channel().as_str(), &id) else {
            return Ok(false);
        };
        let find = move |tx: &mut Tx<'_>| persons::find_by_address(tx, &address);
        let found = self.db.read(taking.tenant, find).await;
        Ok(found.map_err(|error| TakeFault::Passing(error.to_string()))?.is_some())
    }

    /// The binding that the account names; else the one that has the address that was written to; else the only one there is.
    pub(super) async fn find_target(
        &self,
        taking: &Taking<'_>,
        written_to: Option<&str>,
    ) -> Result<InboundTarget, TakeFault> {
        let tenant = taking.tenant;
        let name = self.load_active(tenant).await?;
        let declared = self.accounts.find_account(tenant, &taking.arrival.account).await?;
        let bindings = declared.map(|account| account.bindings).unwrap_or_default();
        if let [binding] = bindings.as_slice() {
            return Ok(InboundTarget::Binding { tenant: name, binding: binding.clone() });
        }
        // Somebody may have written to another name of ours, which leads nowhere by itself.
        let own = [written_to.map(str::to_owned), taking.link.address()];
        for key in own.into_iter().flatten().filter_map(|own| read_address(&own)) {
            if let Some(found) = self.receiver.find_binding(tenant, &key).await? {
                return Ok(found);
            }
        }
        let read = |tx: &mut Tx<'_>| list_stored(tx).map_err(Error::from);
        let stored = self.accounts.db().read(tenant, read).await?;
        let mut known = stored
            .into_iter()
            .filter(|tier| tier.kind == TierKind::Binding && tier.status == TierStatus::Active);
        match (known.next(), known.next()) {
            (Some(only), None) => Ok(InboundTarget::Binding { tenant: name, binding: only.name }),
            _ => Err(TakeFault::Ended(ArrivalEnding::Failed(format!(
                "channel {} leads to no binding: name one in its `bindings`, or give a binding its address as a key",
                taking.arrival.account
            )))),
        }
    }

    /// What the tenant is called. Of one that is paused nothing is taken in, and no file fetched for it.
    async fn load_active(&self, tenant: TenantId) -> Result<TenantName, TakeFault> {
        let read = move |tx: &mut PlatformTx<'_>| tenants::find(tx, tenant);
        let found = self.accounts.db().platform(tenants::TENANTS).read(read).await?;
        let gone = || TakeFault::Ended(ArrivalEnding::Failed("the tenant is gone".to_owned()));
        let found = found.ok_or_else(gone)?;
        match found.status {
            TenantStatus::Paused => {
                Err(ReceiveFault::Paused(format!("tenant {} is paused", found.name)).into())
            }
            TenantStatus::Active | TenantStatus::Archived => Ok(found.name),
        }
    }
}

/// A number, a mailbox or a handle, whichever it is.
fn read_address(text: &str) -> Option<RoutingKey> {
    [RoutingKeyKind::Number, RoutingKeyKind::Mailbox, RoutingKeyKind::Handle]
        .into_iter()
        .find_map(|kind| RoutingKey::new(kind, text).ok())
}

pub(super) fn build_inbound(
    taking: &Taking<'_>,
    to: InboundTarget,
    message: &ArrivedMessage,
) -> InboundMessage {
    let channel = taking.link.channel();
    InboundMessage {
        channel,
        to,
        from: build_sender(message),
        outside_id: message.outside_id.clone(),
        text: clean_text(&message.text),
        attached: Vec::<AttachedFile>::new(),
        locale: message.locale.clone(),
        sent_at: message.sent_at,
        reply_to: Some(ReplyAddress {
            account: Some(taking.arrival.account.to_string()),
            thread: message.thread.clone(),
            ..ReplyAddress::new(channel, message.reply_to.clone())
        }),
        screen: ClientScreen { seen: message.answered, ..ClientScreen::default() },
    }
}

/// A group speaks as one: nothing that is known of whoever wrote is known to the answer, and nobody's consent comes so.
pub(super) fn build_sender(message: &ArrivedMessage) -> InboundSender {
    let from = &message.from;
    match &message.chat {
        ArrivedChat::Direct => InboundSender {
            phone: from.phone.clone(),
            email: from.email.clone(),
            channel_id: Some(from.channel_id.clone()),
            name: from.name.clone(),
            ..InboundSender::default()
        },
        ArrivedChat::Group { id, title } => InboundSender {
            channel_id: Some(format!("{GROUP}{id}")),
            name: Some(title.clone()).filter(|title| !title.trim().is_empty()),
            is_vouched: true,
            is_group: true,
            ..InboundSender::default()
        },
    }
}

/// Platforms pass on whatever somebody's keyboard made; what a message may not have is left out.
pub(super) fn clean_text(text: &str) -> String {
    text.chars().filter(|c| !c.is_control() || matches!(c, '\n' | '\r' | '\t')).collect()
}
