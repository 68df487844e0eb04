//! What a tenant's `connectors.toml` says: which connectors there are, how they are reached, and what their tools do.
//!
//! # Layout
//! - [`ConnectorEntries`], [`ConnectorEntry`]: the file; `file`: reading and writing it
//! - [`ToolDeclaration`]: what one tool does, be it said here or by the server itself
//! - [`MaybeSecret`]: a value that may be a secret's name; `checks`: what to know about an entry besides

mod checks;
mod declaration;
mod entry;
mod file;
mod maybe_secret;

use std::collections::BTreeMap;

use munshi_types::ConnectorName;
use serde::{Deserialize, Serialize};

pub use checks::{find_refused_entry, list_path_warnings, list_secret_warnings};
pub use declaration::{ToolDeclaration, WriteLookup};
pub use entry::{ConnectorEntry, ConnectorTransport, OAuthClientConfig};
pub use file::{MOST, parse, parse_with_position, to_map, to_toml};
pub use maybe_secret::MaybeSecret;

/// Every connector of a tenant.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ConnectorEntries(pub BTreeMap<ConnectorName, ConnectorEntry>);

impl ConnectorEntries {
    /// The first connector of `next` that starts a program here, has files of this machine read or is a part of this
    /// program, and does not do so already in the same way: its command, its environment, its folder, what it may read,
    /// write and listen on, and where it is reached.
    pub fn find_machine_access(&self, next: &Self) -> Option<ConnectorName> {
        let is_new = |name: &ConnectorName, entry: &ConnectorEntry| {
            entry.uses_machine() && !self.0.get(name).is_some_and(|known| known.uses_machine_as(entry))
        };
        next.0.iter().find(|(name, entry)| is_new(name, entry)).map(|(name, _)| name.clone())
    }

    /// The connectors whose login is of no use once `next` is in force: those that are gone, and those that are elsewhere.
    pub fn list_stale_logins(&self, next: &Self) -> Vec<ConnectorName> {
        let stays = |name: &ConnectorName, entry: &ConnectorEntry| {
            next.0.get(name).is_some_and(|next| next.origin() == entry.origin())
        };
        self.0.iter().filter(|(name, entry)| !stays(name, entry)).map(|(name, _)| name.clone()).collect()
    }
}
