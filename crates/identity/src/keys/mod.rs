//! API keys: what lets a program in.
//!
//! A key stands for a role, or for a person with the standing they have when it is used, and never more than they had
//! when it was made. Areas, bindings and an end make it smaller, never larger. It says for whom it talks. Its text is shown
//! once; what is kept of it is a hash.

mod area;
mod authenticate;
mod bounds;
mod cache;
mod keeper;
mod own_key;
mod role_loss;
mod rows;
pub(crate) mod text;

pub use area::{ApiAccess, Area, AreaGrant, AreaGrantError, minimum_role};
pub use authenticate::{ApiCaller, authenticate, find_current_role};
pub use bounds::{KeyCeiling, KeyMaker, KeySpeaker, KeySpeakerError};
pub use cache::ApiKeyCache;
pub use keeper::{
    KeeperKeyRecord, NewKeeperKey, add_keeper_key, find_keeper_key, list_keeper_keys, render_keeper_maker,
    revoke_keeper_key,
};
pub use own_key::is_own;
pub use role_loss::{list_of_person, revoke_after_role_loss, revoke_of_person};
pub(crate) use rows::revoke_made_by;
pub use rows::{
    add, ends_with, find, find_by_handle, find_by_name, has_common_maker, has_keeper_maker, list,
    list_assumed_speakers, remove, remove_ended, revoke, rotate, transfer_maker,
};
pub use text::KeyText;

use munshi_store::PlatformScope;
use munshi_types::{BindingId, KeyId, PersonId, Timestamp};
use serde::{Deserialize, Serialize};

use crate::role::Role;

/// Finding the tenant of a key, and noting that it was used.
pub const KEYS: PlatformScope = PlatformScope::new("keys");

/// Whose standing a key carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KeySubject {
    Role(Role),
    /// As they are at the time: who leaves or loses a role takes it from the key too. Who rises does not lift the key.
    Person(PersonId),
}

/// A key to be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewApiKey {
    /// What people call it; one key that is not revoked has it.
    pub name: String,
    pub carries: KeySubject,
    /// None opens all that the standing reaches.
    pub areas: Option<Vec<AreaGrant>>,
    /// None opens all of the tenant's.
    pub bindings: Option<Vec<BindingId>>,
    pub expires_at: Option<Timestamp>,
    pub speaks_as: KeySpeaker,
    /// Who makes it, as the audit knows them.
    pub made_by: String,
    pub maker: KeyMaker,
}

/// A key as it is listed: everything but its text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ApiKeyRecord {
    pub id: KeyId,
    pub name: String,
    #[serde(flatten)]
    pub carries: KeySubject,
    pub areas: Option<Vec<AreaGrant>>,
    pub bindings: Option<Vec<BindingId>>,
    pub speaks_as: KeySpeaker,
    /// The role its person had when it was made: it is never more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ceiling: Option<Role>,
    pub made_by: String,
    /// Who answers for it, through however many keys it was made.
    #[serde(skip)]
    pub maker: String,
    pub made_at: Timestamp,
    pub expires_at: Option<Timestamp>,
    /// Right to about a minute.
    pub last_used_at: Option<Timestamp>,
    pub revoked_at: Option<Timestamp>,
    /// The newest first. More than one for a while after a rotation.
    pub secrets: Vec<KeySecret>,
}

/// What may be told of a secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct KeySecret {
    /// How its text begins.
    pub handle: String,
    pub made_at: Timestamp,
    pub ends_at: Option<Timestamp>,
}

/// A key and its text, the one time it is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IssuedApiKey {
    pub key: ApiKeyRecord,
    pub text: KeyText,
}

/// A key that opens nothing any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiKeyRevocation {
    pub key: ApiKeyRecord,
    /// False when it was revoked before.
    pub changed: bool,
    /// Those that were made with it and were good until now: they are revoked with it.
    pub made_with_it: Vec<ApiKeyRecord>,
}
