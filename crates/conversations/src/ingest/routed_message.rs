//! A message as it comes to be stored: with the binding it found, and whether it may come in.

use std::sync::Arc;

use munshi_safety::budget::{BudgetAmount, BudgetRefusal};
use munshi_safety::rate_limits::RateLimit;
use munshi_types::tier::LanguageCode;
use munshi_types::{BindingId, InboundMessage, Timestamp, Zone};

use crate::client_context::ClientContext;
use crate::decisions::TurnDecision;
use crate::key_use::KeyUse;
use crate::outbox::opt_outs::SubscriptionWord;
use crate::state::HaltReason;

/// A message that has found its binding.
#[derive(Clone)]
pub struct RoutedMessage {
    pub inbound: InboundMessage,
    /// What a program sent along.
    pub client_context: Option<Arc<ClientContext>>,
    /// Of the run: [`MESSAGE`](crate::runs::MESSAGE), or [`REHEARSAL`](crate::runs::REHEARSAL).
    pub kind: &'static str,
    /// The API key it came through.
    pub key_use: Option<KeyUse>,
    pub binding: BindingId,
    /// The tenant's: its days begin by it.
    pub zone: Zone,
    /// The most that a plain turn may use, with its interaction.
    pub max_budget: BudgetAmount,
    /// What is set aside where that much is not there and a model that costs nothing may answer.
    pub min_budget: Option<BudgetAmount>,
    /// As it was told from the text.
    pub language: Option<LanguageCode>,
    /// How much of a prompt the text takes.
    pub tokens: u32,
    pub door: Admission,
    /// The whole message asks to be sent nothing but answers, or to be written to again; and what is said to that.
    pub subscription: Option<SubscriptionRequest>,
    /// What is said where a limit is reached.
    pub limit_reached: Arc<dyn Fn(&BudgetRefusal) -> FixedReply + Send + Sync>,
    /// The record of a turn that ends here; none leaves it out.
    pub decision: Option<Box<TurnDecision>>,
    /// How often whoever sent it may; counted before anything is stored.
    pub limits: Vec<RateLimit>,
    /// Whether there is a place for its turn here; without one it waits.
    pub may_begin: bool,
    pub now: Timestamp,
}

/// A word such as STOP, and how it is confirmed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubscriptionRequest {
    pub word: SubscriptionWord,
    /// Said to a question, it would be a no.
    pub is_refusal: bool,
    pub confirmation: FixedReply,
}

/// Whether a message may come in.
#[derive(Clone, Debug, PartialEq)]
pub enum Admission {
    Open,
    /// Its text is not kept, its run is halted, and this is the answer.
    Shut(HaltReason, FixedReply),
}

/// Something that is said without a model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FixedReply {
    pub text: String,
    pub language: Option<LanguageCode>,
    pub suggestions: Vec<String>,
}
