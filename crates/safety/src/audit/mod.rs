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
//! - [`tail`], [`page`], [`export`], [`AuditEntry`]: reading; [`canonical`]: the one spelling that is hashed
//! - [`verify`](mod@verify), [`anchors`]: what shows that nothing was done to it
//! - [`install`], [`set_schedules`]: by the clock

pub mod anchors;
mod append;
mod canonical;
mod daily;
mod entry;
mod hide;
mod pseudonym;
mod read;
pub mod verify;

pub use append::{append, append_all};
pub use canonical::canonical;
pub use daily::{examine, install, set_schedules};
pub use entry::{AuditActor, AuditActorKind, AuditEntry, AuditEvent, ChainHash, NewAuditEntry};
pub use hide::{names_a_phone, pseudonymised};
pub use pseudonym::{PseudonymKey, pseudonym};
pub use read::{ChainHead, PAGE, export, heads, page, tail};

use munshi_store::PlatformScope;

/// Seeing which chains have grown, across tenants.
pub const AUDIT: PlatformScope = PlatformScope::new("audit");
