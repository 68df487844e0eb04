//! The chain of what happened.
//!
//! Every tenant has one, and the installation has its own under [`TenantId::PLATFORM`](munshi_types::TenantId::PLATFORM).
//! An entry holds the hash of the one before it, so nothing in a chain can be changed, removed, added or moved without
//! its showing; anchors kept outside the database show when a chain was made anew or its end cut off.
//!
//! What is recorded is written in the same transaction as the record, and the record last: see [`append`].
//!
//! # Layout
//! - [`append`], [`NewAuditEntry`], [`AuditEvent`], [`AuditActor`]: adding, without phones and secrets; [`pseudonym`]: phones as nobody
//!   can read them
//! - [`administer`], [`administer_platform`]: changes that are told or not made
//! - [`tail`], [`list`], [`list_after`], [`export`], [`AuditEntry`]: reading; [`canonical_json`]: the one spelling that is hashed
//! - [`verify`](mod@verify), [`anchors`]: what shows that nothing was done to it
//! - [`install`], [`set_schedules`]: by the clock

mod administer;
pub mod anchors;
mod append;
mod canonical_json;
mod entry;
mod jobs;
mod pseudonym;
mod read;
mod redaction;
pub mod verify;

pub use administer::{AuditStamp, administer, administer_platform};
pub use append::{append, append_all};
pub use canonical_json::to_canonical_json;
pub use entry::{AuditActor, AuditActorKind, AuditEntry, AuditEvent, ChainHash, NewAuditEntry};
pub use jobs::{install, set_schedules, verify_and_anchor};
pub use pseudonym::{PseudonymKey, derive_pseudonym};
pub use read::{
    AuditListRequest, ChainHead, PAGE, export, is_last_verification_broken, list, list_after, list_heads,
    tail,
};
pub use redaction::{contains_phone, pseudonymise_phones};

use munshi_store::PlatformScope;

/// Seeing which chains have grown, across tenants.
pub const AUDIT: PlatformScope = PlatformScope::new("audit");
