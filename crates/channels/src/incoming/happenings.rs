//! What providers tell beside messages.

use munshi_conversations::outbox::opt_outs::is_opted_out_at;
use munshi_conversations::outbox::{DeliveryReceipt, ReceiptContext, record_receipt, record_receipt_of};
use munshi_store::Tx;
use munshi_types::tier::Channel;
use munshi_types::{InboundMessage, InboundTarget, MessageId, ReplyAddress};

use super::event::{ArrivedChat, ArrivedMessage, ArrivedReceipt, ArrivedSender, ChannelHappening};
use super::route::build_inbound;
use super::rows::ArrivalEnding;
use super::take::{ArrivalTaker, TakeFault, Taking};
use crate::error::Error;

impl ArrivalTaker {
    pub(super) async fn take_happening(
        &self,
        taking: &Taking<'_>,
        event: &str,
        what: ChannelHappening,
    ) -> Result<(), TakeFault> {
        let pass_over = |why: &str| Err(TakeFault::Ended(ArrivalEnding::PassedOver(why.to_owned())));
        match what {
            ChannelHappening::Message(message) | ChannelHappening::Edited(message) => {
                self.take_message(taking, *message).await
            }
            ChannelHappening::Deleted { .. } => pass_over("deletions are not followed yet"),
            ChannelHappening::Reacted { .. } => pass_over("a reaction asks for nothing"),
            ChannelHappening::Receipt { message, receipt, own } => {
                self.take_receipt(taking, (message, own), receipt).await
            }
            ChannelHappening::Subscription { from, wanted, reply_to } => {
                let reply_to = reply_to.unwrap_or_else(|| from.channel_id.clone());
                if wanted && !self.is_opted_out(taking, &reply_to).await? {
                    return pass_over("they allow what nobody had ended");
                }
                self.take_subscription(taking, event, (from, reply_to), wanted).await
            }
            ChannelHappening::Template(template) => {
                tracing::info!(
                    tenant = %taking.tenant, channel = %taking.arrival.account, template = template.name,
                    state = template.state, "the provider decided on a template"
                );
                Ok(())
            }
            ChannelHappening::Notice { what } => {
                tracing::warn!(tenant = %taking.tenant, channel = %taking.arrival.account, what, "the provider says");
                Ok(())
            }
        }
    }

    async fn take_receipt(
        &self,
        taking: &Taking<'_>,
        (message, own): (String, Option<MessageId>),
        receipt: ArrivedReceipt,
    ) -> Result<(), TakeFault> {
        let (queue, ids, now) = (self.queue.clone(), self.ids.clone(), self.clock.now());
        let channel = taking.link.channel();
        let receipt = DeliveryReceipt::from(receipt);
        let unit = move |tx: &mut Tx<'_>| {
            let context = ReceiptContext { queue: &queue, ids: &ids, now };
            match read_own_id(channel, &message) {
                Some(own) => record_receipt_of(tx, own, &receipt, context)?,
                None => {
                    let found = record_receipt(tx, (channel, &message), &receipt, context)?;
                    // Whoever sent it died before it was written down what the provider calls it.
                    if let (None, Some(own)) = (found, own) {
                        record_receipt_of(tx, own, &receipt, context)?;
                    }
                }
            }
            Ok::<_, Error>(())
        };
        self.db.write(taking.tenant, unit).await?;
        Ok(())
    }

    /// Whether they asked to be sent nothing but answers there. The word for the opposite is an ordinary one before that, and would be answered.
    async fn is_opted_out(&self, taking: &Taking<'_>, reply_to: &str) -> Result<bool, TakeFault> {
        let at = ReplyAddress::new(taking.link.channel(), reply_to);
        let find = move |tx: &mut Tx<'_>| is_opted_out_at(tx, &at);
        Ok(self.db.read(taking.tenant, find).await?)
    }

    /// What somebody asks for by a button of the platform's is what they ask for by the word.
    async fn take_subscription(
        &self,
        taking: &Taking<'_>,
        event: &str,
        (from, reply_to): (ArrivedSender, String),
        wanted: bool,
    ) -> Result<(), TakeFault> {
        let to: InboundTarget = self.find_target(taking, None).await?;
        let message = ArrivedMessage {
            outside_id: event.to_owned(),
            reply_to,
            chat: ArrivedChat::Direct,
            text: if wanted { "START" } else { "STOP" }.to_owned(),
            from,
            ..ArrivedMessage::default()
        };
        let inbound: InboundMessage = build_inbound(taking, to, &message);
        self.receiver.receive(taking.tenant, inbound).await?;
        Ok(())
    }
}

/// A mail of ours is called by our own id of the message, so that it is found though nobody heard that it was taken.
fn read_own_id(channel: Channel, message: &str) -> Option<MessageId> {
    let inner = message.strip_prefix('<').filter(|_| channel == Channel::Email)?;
    inner.split_once('@')?.0.parse().ok()
}
