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

    #[error("{kind} {name} is at its first version, so there is none before it to go back to")]
    FirstVersion { kind: TierKind, name: TierName },

    /// A folder can't be written to.
    #[error("{path}: {what}")]
    Folder { path: String, what: String },

    /// Files that are there say something else, and were to be kept. Nothing was written.
    #[error("{} already there and would be changed, so nothing was written", are(.0))]
    Existing(Vec<PathBuf>),

    /// What is stored is not what this version of the program reads.
    #[error("{0}")]
    Unreadable(String),
}

/// `a is`, `a and b are`.
fn are(paths: &[PathBuf]) -> String {
    let names: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
    let verb = if names.len() == 1 { "is" } else { "are" };
    format!("{} {verb}", names.join(", "))
}

pub type Result<T, E = Error> = std::result::Result<T, E>;
