//! What somebody has agreed to, as they see it themselves.

use munshi_safety::consents::{ConsentState, PurposeConsent};
use munshi_safety::policy::ConsentRules;
use munshi_types::{ConsentId, Timestamp};
use serde::Serialize;
use utoipa::ToSchema;

/// The visitor's own consents.
#[derive(Debug, Default, Serialize, ToSchema)]
#[schema(as = VisitConsents)]
pub(crate) struct VisitConsentList {
    /// Newest first.
    pub(crate) consents: Vec<VisitConsent>,
}

/// A consent of the visitor's own.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct VisitConsent {
    #[schema(value_type = uuid::Uuid)]
    id: ConsentId,
    #[schema(example = "credit_check")]
    purpose: String,
    /// What they were asked, to the letter.
    words: String,
    /// `valid`, `ended`, `withdrawn`, or `outdated` if they would be asked otherwise today.
    #[schema(value_type = String, example = "valid")]
    state: ConsentState,
    #[schema(value_type = String, format = DateTime)]
    given_at: Timestamp,
    #[schema(value_type = String, format = DateTime)]
    ends_at: Timestamp,
    #[schema(value_type = Option<String>, format = DateTime)]
    withdrawn_at: Option<Timestamp>,
}

impl VisitConsent {
    pub(crate) fn new(consent: PurposeConsent, rules: &ConsentRules, now: Timestamp) -> Self {
        Self {
            state: consent.state(rules, now),
            id: consent.id,
            purpose: consent.purpose.to_string(),
            words: consent.words,
            given_at: consent.given_at,
            ends_at: consent.ends_at,
            withdrawn_at: consent.withdrawn_at,
        }
    }
}
