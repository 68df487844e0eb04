//! A keeper's key as it is shown: everything but its text.

use munshi_identity::keys::{KeeperKeyRecord, KeySpeaker};
use munshi_types::{KeyId, Timestamp};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::keys::KeyState;

/// A key of whoever keeps the installation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = KeeperKey)]
pub struct KeeperKeyView {
    #[schema(value_type = uuid::Uuid)]
    pub id: KeyId,
    pub name: String,
    pub state: KeyState,
    /// The first characters of its text.
    #[schema(example = "kk_4fGh7Kq2")]
    pub handle: String,
    #[schema(value_type = crate::schemas::KeySpeakerSchema)]
    pub speaks_as: KeySpeaker,
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
}

/// A keeper's key with its text, shown only once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = MadeKeeperKey)]
pub struct IssuedKeeperKeyView {
    #[serde(flatten)]
    pub key: KeeperKeyView,
    /// The key itself. It is not shown again.
    pub text: String,
}

impl KeeperKeyView {
    pub(super) fn new(key: KeeperKeyRecord, now: Timestamp) -> Self {
        let state = KeyState::new(key.revoked_at, key.expires_at, now);
        Self {
            id: key.id,
            name: key.name,
            state,
            handle: key.handle,
            speaks_as: key.speaks_as,
            made_by: key.made_by,
            made_at: key.made_at,
            expires_at: key.expires_at,
            last_used_at: key.last_used_at,
            revoked_at: key.revoked_at,
        }
    }
}
