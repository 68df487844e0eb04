//! What can go wrong with tiers, by what a caller does about it.

use std::path::PathBuf;

use munshi_types::TenantName;
use munshi_types::tier::{RoutingKey, TierKind, TierName};

use crate::problem::FolderProblems;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Store(#[from] munshi_store::Error),

    /// The files, or what they would make of the tenant, are wrong. Nothing was changed.
    #[error(transparent)]
    Problems(#[from] FolderProblems),

    /// Somebody else changed the tenant between the plan and its application. Nothing was changed; plan again.
    #[error("{what} changed since the plan was made; nothing was applied")]
    Overtaken { what: String },

    /// Another tenant took the address between the plan and its application. Nothing was changed.
    #[error("{0} already routes to another tenant; nothing was applied")]
    Taken(RoutingKey),

    #[error("there is no tenant called {0}")]
    NoTenant(TenantName),

    /// Archived for good.
    #[error("tenant {0} is archived permanently")]
    TenantArchived(TenantName),

    #[error("{tenant} has no {kind} called {name}")]
    NoTier { tenant: TenantName, kind: TierKind, name: TierName },

    #[error("{kind} {name} has no version {version}: it has 1 to {latest}")]
    NoVersion { kind: TierKind, name: TierName, version: u32, latest: u32 },

    #[error("{kind} {name} is at version 1; there is no earlier version to roll back to")]
    FirstVersion { kind: TierKind, name: TierName },

    /// A folder can't be written to.
    #[error("{path}: {what}")]
    Folder { path: String, what: String },

    /// Files that are there say something else, and were to be kept. Nothing was written.
    #[error("{} and would be overwritten; nothing was written", join_with_verb(.0))]
    Existing(Vec<PathBuf>),

    /// A plan that was read from JSON says what was planned, and is not applied.
    #[error("a plan that was made elsewhere can't be applied")]
    OnlyShown,

    /// What is stored is not what this version of the program reads.
    #[error("{0}")]
    Unreadable(String),
}

/// `a exists`, `a, b exist`.
fn join_with_verb(paths: &[PathBuf]) -> String {
    let names: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
    let verb = if names.len() == 1 { "exists" } else { "exist" };
    format!("{} {verb}", names.join(", "))
}

pub type Result<T, E = Error> = std::result::Result<T, E>;
