//! The ways out, and how one is found.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use munshi_types::tier::Channel;
use munshi_types::{BindingId, OutboundMessage, TenantId};

/// What sending does to the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendIdempotency {
    /// Sending again under the same key is harmless.
    Keyed,
    /// Each time is another message to the person, and the channel can be asked whether it was sent:
    /// [`ChannelSender::was_sent`].
    Asked,
    /// Each time is another message to the person.
    Once,
}

/// A way out, of one tenant's account. The id of what is sent is the key under which it is sent.
#[async_trait]
pub trait ChannelSender: Send + Sync + 'static {
    fn channel(&self) -> Channel;

    fn idempotency(&self) -> SendIdempotency;

    /// What the tenant calls the account; none where there is only one. It is stored with what was sent.
    fn account(&self) -> Option<&str> {
        None
    }

    /// For how long after a person's last message they may be written to in our own words. None where that never ends.
    fn reply_window(&self) -> Option<Duration> {
        None
    }

    async fn send(&self, outbound: &OutboundMessage) -> Result<SendReceipt, SendFault>;

    /// In how many it is sent, where the channel takes only so much in one: the same number each time for the same message.
    fn count_parts(&self, _outbound: &OutboundMessage) -> u32 {
        1
    }

    /// Sends one of its parts, from 0.
    async fn send_part(&self, outbound: &OutboundMessage, _part: u32) -> Result<SendReceipt, SendFault> {
        self.send(outbound).await
    }

    /// Whether a message was sent under its key; asked before one is sent again of which nobody knows. Only for
    /// [`SendIdempotency::Asked`].
    async fn was_sent(&self, outbound: &OutboundMessage) -> Result<Option<SendReceipt>, SendFault> {
        let why = format!("channel {} can't be asked whether {} was sent", self.channel(), outbound.id);
        Err(SendFault::refused(why))
    }

    /// The same of one of its parts.
    async fn was_part_sent(
        &self,
        outbound: &OutboundMessage,
        _part: u32,
    ) -> Result<Option<SendReceipt>, SendFault> {
        self.was_sent(outbound).await
    }
}

/// Which way out is looked for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SenderRoute {
    pub tenant: TenantId,
    /// In whose name it is sent; none for what the tenant itself says, such as an alert.
    pub binding: Option<BindingId>,
    pub channel: Channel,
    /// Our own address that it is to be sent from; none for whichever the account has.
    pub from: Option<String>,
    /// The account by which they were reached; none for whichever fits.
    pub account: Option<String>,
}

/// Finds the account by which something leaves.
#[async_trait]
pub trait SenderDirectory: Send + Sync + 'static {
    /// A fault that is retryable where the account may be there later: an operator may add it.
    async fn find(&self, route: &SenderRoute) -> Result<Arc<dyn ChannelSender>, SendFault>;

    /// By which of some channels something can leave now in a binding's name.
    async fn list_served(&self, tenant: TenantId, binding: BindingId, channels: &[Channel]) -> Vec<Channel> {
        let mut served = Vec::new();
        for channel in channels.iter().copied() {
            let route = SenderRoute { tenant, binding: Some(binding), channel, from: None, account: None };
            if self.find(&route).await.is_ok() {
                served.push(channel);
            }
        }
        served
    }
}

/// One sender a channel, whatever the tenant. For tests and programs that need no accounts.
#[derive(Clone, Default)]
pub struct FixedSenders(HashMap<Channel, Arc<dyn ChannelSender>>);

impl FixedSenders {
    /// Of two for one channel, the last counts.
    pub fn new(senders: impl IntoIterator<Item = Arc<dyn ChannelSender>>) -> Self {
        Self(senders.into_iter().map(|sender| (sender.channel(), sender)).collect())
    }
}

#[async_trait]
impl SenderDirectory for FixedSenders {
    async fn find(&self, route: &SenderRoute) -> Result<Arc<dyn ChannelSender>, SendFault> {
        let missing =
            || SendFault::passing(format!("no sender for channel {}: configure the channel", route.channel));
        self.0.get(&route.channel).cloned().ok_or_else(missing)
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SendReceipt {
    /// What the channel calls the message.
    pub outside_id: Option<String>,
}

/// Why something was not sent, as far as anybody knows. Shown to whoever looks after the tenant: it names no secret.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub struct SendFault {
    pub why: String,
    pub retryable: SendRetryability,
    pub happened: DeliveryCertainty,
    /// Not before so long from now: a limit of the provider's, or our own. Such a refusal is no attempt.
    pub retry_after: Option<Duration>,
    pub subject: FaultSubject,
}

impl SendFault {
    /// Surely not sent, and never will be, such as what a provider does not take.
    pub fn refused(why: impl Into<String>) -> Self {
        Self {
            why: why.into(),
            retryable: SendRetryability::No,
            happened: DeliveryCertainty::No,
            retry_after: None,
            subject: FaultSubject::Account,
        }
    }

    /// The same where it is the address that nothing will ever reach, and nothing of ours is wrong.
    pub fn unreachable(why: impl Into<String>) -> Self {
        Self { subject: FaultSubject::Recipient, ..Self::refused(why) }
    }

    /// Surely not sent, and may pass the next time.
    pub fn passing(why: impl Into<String>) -> Self {
        Self { retryable: SendRetryability::Yes, ..Self::refused(why) }
    }

    /// Surely not sent since too much is; to be tried again after a while.
    pub fn limited(why: impl Into<String>, after: Duration) -> Self {
        Self { retry_after: Some(after), ..Self::passing(why) }
    }

    /// The line broke before the answer: it may have been sent.
    pub fn unknown(why: impl Into<String>) -> Self {
        Self { happened: DeliveryCertainty::Maybe, ..Self::passing(why) }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendRetryability {
    Yes,
    /// It will never pass, such as for a number that does not exist.
    No,
}

/// Whose a fault is. Whoever gave an address hears only of what is wrong with that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultSubject {
    /// The account, its server, or the message.
    Account,
    Recipient,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeliveryCertainty {
    No,
    /// The line broke before the answer.
    Maybe,
}
