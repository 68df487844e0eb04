//! A host's key as it is shown.

use munshi_identity::hosts::{HostKey, HostKeyValueKind};
use munshi_identity::jwt::JwtAlgorithm;
use munshi_types::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A key with which a host says who its visitors are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = HostKey)]
pub struct HostKeyView {
    /// What tokens call it.
    pub kid: String,
    /// Whose visitors it verifies.
    pub host: String,
    /// `HS256`, `RS256`, `ES256` or `EdDSA`.
    #[schema(value_type = String)]
    pub algorithm: JwtAlgorithm,
    /// What `value` is: the name of a `secret`, a `public` key or an `address`.
    #[schema(value_type = String)]
    pub holds: HostKeyValueKind,
    /// Nothing secret.
    pub value: String,
    #[schema(value_type = String, format = DateTime)]
    pub added_at: Timestamp,
    #[schema(value_type = Option<String>, format = DateTime)]
    pub ends_at: Option<Timestamp>,
    /// Whether tokens of it are believed now.
    pub good: bool,
}

impl HostKeyView {
    pub(super) fn new(key: HostKey, now: Timestamp) -> Self {
        let good = key.is_live(now);
        let HostKey { kid, host, algorithm, holds, value, added_at, ends_at } = key;
        Self { kid, host, algorithm, holds, value, added_at, ends_at, good }
    }
}
