//! What people have agreed to: for a purpose, in certain words, until a certain time.
//!
//! A tool may name a purpose, and is called for somebody only while they consent to it. Only the person gives a consent, by answering the
//! question that [`approvals`](crate::approvals) put to them; it is looked for in the transaction that lets an act begin, and once more right
//! before the tool is called. That somebody may be written to unasked (`written_to`) is one, too, for an address. Whoever withdraws one ends all of theirs for the purpose, and one that was given to other words than the policy has
//! today holds no longer.

mod erase;
mod give;
mod merge;
mod store;
mod withdraw;
mod written_to;

use munshi_types::tier::{Channel, LanguageCode};
use munshi_types::{ApprovalId, ConsentId, ConsentPurposeName, KeyId, MessageId, PersonId, Timestamp};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::policy::{ConsentRules, ConsentWording};

pub use erase::PERSONAL_DATA;
pub(crate) use give::give;
pub use merge::move_person;
pub use store::{find, find_valid, is_valid, list};
pub use withdraw::{WithdrawalRequest, WithdrawnConsents, list_open, withdraw, withdraw_all, withdraw_own};
pub use written_to::{
    MESSAGES, NewMessagesConsent, end_messages, find_messages, find_messages_withdrawal, give_messages,
};

/// What a person agreed to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PurposeConsent {
    pub id: ConsentId,
    pub person: PersonId,
    pub purpose: ConsentPurposeName,
    /// As they were put to the person, to the letter.
    pub words: String,
    /// Of the words, where the policy says it.
    pub language: Option<LanguageCode>,
    /// What they agreed to, to be compared with what is asked today. None in rows from before it was stored: they hold no longer.
    pub wording: Option<ConsentWording>,
    /// The question that it answered; none where they were asked in another way.
    pub approval: Option<ApprovalId>,
    /// What stands for the address that it holds for; none where it holds for the person.
    #[serde(skip)]
    pub recipient: Option<Uuid>,
    /// The message with which it was given; none where it was given on a page.
    pub message: Option<MessageId>,
    /// Through what: `chat`, `web`, `api:KEY`.
    pub given_via: String,
    /// Of the message.
    pub channel: Option<Channel>,
    /// The API key through which they said it: one that they made themself.
    pub key: Option<KeyId>,
    pub given_at: Timestamp,
    pub ends_at: Timestamp,
    pub withdrawn_at: Option<Timestamp>,
    pub withdrawn_via: Option<String>,
}

impl PurposeConsent {
    pub fn state(&self, rules: &ConsentRules, now: Timestamp) -> ConsentState {
        let is_asked_so = |wording: &ConsentWording| rules.asks_so(&self.purpose, wording);
        match self.withdrawn_at {
            Some(_) => ConsentState::Withdrawn,
            None if self.ends_at <= now => ConsentState::Ended,
            // To be written to is asked in our own words.
            None if self.recipient.is_some() => ConsentState::Valid,
            None if !self.wording.as_ref().is_some_and(is_asked_so) => ConsentState::Outdated,
            None => ConsentState::Valid,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ConsentState {
    Valid,
    /// Its time is over.
    Ended,
    /// The policy asks for the purpose otherwise by now, or not at all.
    Outdated,
    Withdrawn,
}

/// What somebody is asked to consent to, as it is put to them: kept with the question, so that what they agree to is what they have read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PurposeQuestion {
    pub purpose: ConsentPurposeName,
    pub words: String,
    pub language: Option<LanguageCode>,
    /// How long it is to hold.
    pub days: u32,
}

impl PurposeQuestion {
    pub(crate) fn wording(&self) -> ConsentWording {
        ConsentWording::compute(&self.words, self.days)
    }
}
