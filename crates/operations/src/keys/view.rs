//! A key as it is shown: everything but its text.

use munshi_identity::Role;
use munshi_identity::keys::{ApiKeyRecord, AreaGrant, IssuedApiKey, KeySecret, KeySpeaker, KeySubject};
use munshi_types::{BindingId, KeyId, PersonId, Timestamp};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// An API key.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = ApiKey)]
pub struct KeyView {
    #[schema(value_type = uuid::Uuid)]
    pub id: KeyId,
    pub name: String,
    pub state: KeyState,
    /// The role it acts with; null if it acts as a person.
    #[schema(value_type = Option<crate::schemas::RoleSchema>)]
    pub role: Option<Role>,
    /// The person it acts as: with their current role, at most the role they had when the key was created.
    #[schema(value_type = Option<uuid::Uuid>)]
    pub person: Option<PersonId>,
    /// The most that the person counts as through it; null if it acts with a role.
    #[schema(value_type = Option<crate::schemas::RoleSchema>)]
    pub ceiling: Option<Role>,
    #[schema(value_type = crate::schemas::KeySpeakerSchema)]
    pub speaks_as: KeySpeaker,
    /// The areas it may access; null for all that its role allows.
    #[schema(value_type = Option<Vec<String>>, example = json!(["chat", "persons:read"]))]
    pub areas: Option<Vec<AreaGrant>>,
    /// The bindings it may access; null for all.
    #[schema(value_type = Option<Vec<uuid::Uuid>>)]
    pub bindings: Option<Vec<BindingId>>,
    pub made_by: String,
    #[schema(value_type = String, format = DateTime)]
    pub made_at: Timestamp,
    #[schema(value_type = Option<String>, format = DateTime)]
    pub expires_at: Option<Timestamp>,
    /// Accurate to about a minute.
    #[schema(value_type = Option<String>, format = DateTime)]
    pub last_used_at: Option<Timestamp>,
    #[schema(value_type = Option<String>, format = DateTime)]
    pub revoked_at: Option<Timestamp>,
    /// Newest first. More than one for a while after a rotation.
    pub secrets: Vec<KeySecretView>,
}

/// Whether a key opens anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum KeyState {
    Open,
    Ended,
    Revoked,
}

impl KeyState {
    pub(crate) fn new(revoked_at: Option<Timestamp>, expires_at: Option<Timestamp>, now: Timestamp) -> Self {
        match (revoked_at, expires_at) {
            (Some(_), _) => Self::Revoked,
            (None, Some(end)) if end <= now => Self::Ended,
            (None, _) => Self::Open,
        }
    }
}

/// The public part of a secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = ApiKeySecret)]
pub struct KeySecretView {
    /// The first characters of its text.
    #[schema(example = "mk_4fGh7Kq2")]
    pub handle: String,
    #[schema(value_type = String, format = DateTime)]
    pub made_at: Timestamp,
    #[schema(value_type = Option<String>, format = DateTime)]
    pub ends_at: Option<Timestamp>,
}

/// A key with its text, shown only once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = MadeKey)]
pub struct IssuedKeyView {
    #[serde(flatten)]
    pub key: KeyView,
    /// The key itself. It is not shown again.
    pub text: String,
}

impl KeyView {
    pub(super) fn new(key: ApiKeyRecord, now: Timestamp) -> Self {
        let state = KeyState::new(key.revoked_at, key.expires_at, now);
        let (role, person) = match key.carries {
            KeySubject::Role(role) => (Some(role), None),
            KeySubject::Person(person) => (None, Some(person)),
        };
        let secret = |secret: KeySecret| KeySecretView {
            handle: secret.handle,
            made_at: secret.made_at,
            ends_at: secret.ends_at,
        };
        Self {
            id: key.id,
            name: key.name,
            state,
            role,
            person,
            ceiling: key.ceiling,
            speaks_as: key.speaks_as,
            areas: key.areas,
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

impl IssuedKeyView {
    pub(super) fn new(issued: IssuedApiKey, now: Timestamp) -> Self {
        Self { text: issued.text.reveal().to_owned(), key: KeyView::new(issued.key, now) }
    }
}
