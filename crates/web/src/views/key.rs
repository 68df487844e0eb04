//! API keys: everything but their text.

use munshi_identity::keys::{ApiKeyRecord, IssuedApiKey, KeySecret, KeySpeaker, KeySubject};
use munshi_types::{BindingId, KeyId, PersonId, Timestamp};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::person::RoleView;

/// Who speaks with a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = SpeaksAs)]
pub(crate) enum KeySpeakerView {
    /// Somebody types what is sent.
    Person,
    /// A program, whose words may be a model's.
    Program,
}

impl From<KeySpeaker> for KeySpeakerView {
    fn from(speaks: KeySpeaker) -> Self {
        match speaks {
            KeySpeaker::Person => Self::Person,
            KeySpeaker::Program => Self::Program,
        }
    }
}

impl From<KeySpeakerView> for KeySpeaker {
    fn from(speaks: KeySpeakerView) -> Self {
        match speaks {
            KeySpeakerView::Person => Self::Person,
            KeySpeakerView::Program => Self::Program,
        }
    }
}

/// An API key.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ApiKey {
    #[schema(value_type = uuid::Uuid)]
    id: KeyId,
    name: String,
    /// The role it acts with; null if it acts as a person.
    role: Option<RoleView>,
    /// The person it acts as: with their current role, at most the role they had when the key was created.
    #[schema(value_type = Option<uuid::Uuid>)]
    person: Option<PersonId>,
    speaks_as: KeySpeakerView,
    /// The areas it may access; null for all that its role allows.
    #[schema(example = json!(["chat", "persons:read"]))]
    areas: Option<Vec<String>>,
    /// The bindings it may access; null for all.
    #[schema(value_type = Option<Vec<uuid::Uuid>>)]
    bindings: Option<Vec<BindingId>>,
    made_by: String,
    #[schema(value_type = String, format = DateTime)]
    made_at: Timestamp,
    #[schema(value_type = Option<String>, format = DateTime)]
    expires_at: Option<Timestamp>,
    /// Accurate to about a minute.
    #[schema(value_type = Option<String>, format = DateTime)]
    last_used_at: Option<Timestamp>,
    #[schema(value_type = Option<String>, format = DateTime)]
    revoked_at: Option<Timestamp>,
    /// Newest first. More than one for a while after a rotation.
    secrets: Vec<ApiKeySecretView>,
}

/// The public part of a secret.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ApiKeySecret)]
pub(crate) struct ApiKeySecretView {
    /// The first characters of its text.
    #[schema(example = "mk_4fGh7Kq2")]
    handle: String,
    #[schema(value_type = String, format = DateTime)]
    made_at: Timestamp,
    #[schema(value_type = Option<String>, format = DateTime)]
    ends_at: Option<Timestamp>,
}

impl From<ApiKeyRecord> for ApiKey {
    fn from(key: ApiKeyRecord) -> Self {
        let (role, person) = match key.carries {
            KeySubject::Role(role) => (Some(role.into()), None),
            KeySubject::Person(person) => (None, Some(person)),
        };
        let secret = |secret: KeySecret| ApiKeySecretView {
            handle: secret.handle,
            made_at: secret.made_at,
            ends_at: secret.ends_at,
        };
        Self {
            id: key.id,
            name: key.name,
            role,
            person,
            speaks_as: key.speaks_as.into(),
            areas: key.areas.map(|areas| areas.iter().map(ToString::to_string).collect()),
            bindings: key.bindings,
            made_by: key.made_by,
            made_at: key.made_at,
            expires_at: key.expires_at,
            last_used_at: key.last_used_at,
            revoked_at: key.revoked_at,
            secrets: key.secrets.into_iter().map(secret).collect(),
        }
    }
}

/// A key with its text, shown only once.
#[derive(Serialize, ToSchema)]
pub(crate) struct MadeKey {
    #[serde(flatten)]
    key: ApiKey,
    /// The key itself. It is not shown again.
    text: String,
}

impl From<IssuedApiKey> for MadeKey {
    fn from(made: IssuedApiKey) -> Self {
        Self { text: made.text.reveal().to_owned(), key: made.key.into() }
    }
}
