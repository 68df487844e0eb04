//! A consent as it is shown.

use munshi_safety::consents::{ConsentState, PurposeConsent};
use munshi_safety::policy::ConsentRules;
use munshi_types::{ApprovalId, ConsentId, KeyId, MessageId, PersonId, Timestamp};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What a person agreed to: for which purpose, in which words, until when.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = Consent)]
pub struct ConsentView {
    #[schema(value_type = uuid::Uuid)]
    pub id: ConsentId,
    #[schema(value_type = uuid::Uuid)]
    pub person: PersonId,
    #[schema(example = "credit_check")]
    pub purpose: String,
    /// `valid`, `ended`, `withdrawn`, or `outdated` if the policy asks in other words or for another time by now, or not at all.
    #[schema(value_type = String, example = "valid")]
    pub state: ConsentState,
    /// What the person was asked, to the letter.
    pub words: String,
    /// The language of the words; null where the policy has one text for all.
    #[schema(example = "hi")]
    pub language: Option<String>,
    /// The approval that asked for it; null for `messages`, which somebody gives by proving an address or by START.
    #[schema(value_type = Option<uuid::Uuid>)]
    pub approval: Option<ApprovalId>,
    /// The message with which it was given; null where it was given on a page.
    #[schema(value_type = Option<uuid::Uuid>)]
    pub message: Option<MessageId>,
    /// The surface through which it was given.
    #[schema(example = "chat")]
    pub given_via: String,
    /// The channel of that message.
    #[schema(example = "whatsapp")]
    pub channel: Option<String>,
    /// The API key through which they gave it; null where it came by none.
    #[schema(value_type = Option<uuid::Uuid>)]
    pub key: Option<KeyId>,
    #[schema(value_type = String, format = DateTime)]
    pub given_at: Timestamp,
    #[schema(value_type = String, format = DateTime)]
    pub ends_at: Timestamp,
    #[schema(value_type = Option<String>, format = DateTime)]
    pub withdrawn_at: Option<Timestamp>,
    pub withdrawn_via: Option<String>,
}

impl ConsentView {
    pub(super) fn of(consent: PurposeConsent, rules: &ConsentRules, now: Timestamp) -> Self {
        Self {
            state: consent.state(rules, now),
            id: consent.id,
            person: consent.person,
            purpose: consent.purpose.to_string(),
            words: consent.words,
            language: consent.language.map(|language| language.to_string()),
            approval: consent.approval,
            message: consent.message,
            given_via: consent.given_via,
            channel: consent.channel.map(|channel| channel.to_string()),
            key: consent.key,
            given_at: consent.given_at,
            ends_at: consent.ends_at,
            withdrawn_at: consent.withdrawn_at,
            withdrawn_via: consent.withdrawn_via,
        }
    }
}
