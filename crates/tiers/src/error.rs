//! What can go wrong with tiers, by what a caller does about it.

use munshi_types::TenantName;
use munshi_types::tier::{RoutingKey, TierKind, TierName};

use crate::problem::Problems;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Store(#[from] munshi_store::Error),

    /// The files, or what they would make of the tenant, are wrong. Nothing was changed.
    #[error(transparent)]
    Problems(#[from] Problems),

    /// Somebody else changed the tenant between the plan and its application. Nothing was changed; plan again.
    #[error("somebody changed {what} in the meantime, so nothing was changed")]
    Overtaken { what: String },

    /// Another tenant took the address between the plan and its application. Nothing was changed.
    #[error("{0} already leads to another tenant, so nothing was changed")]
    Taken(RoutingKey),

    #[error("there is no tenant called {0}")]
    NoTenant(TenantName),

    /// Archived for good.
    #[error("{0} is archived, and that is for good")]
    TenantArchived(TenantName),

    #[error("{tenant} has no {kind} called {name}")]
    NoTier { tenant: TenantName, kind: TierKind, name: TierName },

    #[error("{kind} {name} has no version {version}: it has 1 to {latest}")]
    NoVersion { kind: TierKind, name: TierName, version: u32, latest: u32 },

    /// A folder can't be written to.
    #[error("{path}: {what}")]
    Folder { path: String, what: String },

    /// What is stored is not what this version of the program reads.
    #[error("{0}")]
    Unreadable(String),
}

pub type Result<T, E = Error> = std::result::Result<T, E>;
