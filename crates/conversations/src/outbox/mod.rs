//! Messages that leave, each once.
//!
//! A row is written with the reply, and a job with the row. Of one session only the oldest unsent message is sent, so
//! that none overtakes another; whoever is done with it makes the job for the next. A sender says whether sending again
//! under the same key is harmless: where it is, a message is sent again after a crash; where not, it is marked unknown
//! and said loudly, never doubled.
//!
//! To add a way out, implement [`ChannelSender`] and hand it to the engine.

mod deliver;
mod delivery_job;
mod rows;

pub use deliver::OutboxDeliverer;
pub use delivery_job::{KIND, TRIES};
pub use rows::{OutboxState, OutboxView, find, list_unsent};

pub use rows::{OUTSIDE_ID, enqueue};

use async_trait::async_trait;
use munshi_types::OutboundMessage;
use munshi_types::tier::Channel;

/// What sending does to the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendIdempotency {
    /// Sending again under the same key is harmless.
    Keyed,
    /// Each time is another message to the person.
    Once,
}

/// A way out. The id of what is sent is the key under which it is sent.
#[async_trait]
pub trait ChannelSender: Send + Sync + 'static {
    fn channel(&self) -> Channel;

    fn idempotency(&self) -> SendIdempotency;

    async fn send(&self, outbound: &OutboundMessage) -> Result<SendReceipt, SendFault>;
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SendReceipt {
    /// What the channel calls the message.
    pub outside_id: Option<String>,
}

/// Why something was not sent, as far as anybody knows.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub struct SendFault {
    pub why: String,
    pub retryable: SendRetryability,
    pub happened: DeliveryCertainty,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendRetryability {
    Yes,
    /// It will never pass, such as for a number that does not exist.
    No,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeliveryCertainty {
    No,
    /// The line broke before the answer.
    Maybe,
}
