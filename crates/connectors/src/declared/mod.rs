//! What a tenant's `connectors.toml` says: which connectors there are, how they are reached, and what their tools do.
//!
//! # Layout
//! - [`Declared`], [`Entry`]: the file; `file`: reading and writing it
//! - [`Declaration`]: what one tool does, be it said here or by the server itself
//! - [`Given`]: a value that may be a secret's name

mod declaration;
mod entry;
mod file;
mod given;

use std::collections::BTreeMap;

use munshi_types::ConnectorName;
use serde::{Deserialize, Serialize};

pub use declaration::{Declaration, LookUp};
pub use entry::{Client, Entry, Reached};
pub use file::{Slip, parse, read, to_toml, written};
pub use given::Given;

/// Every connector of a tenant.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Declared(pub BTreeMap<ConnectorName, Entry>);

impl Declared {
    /// The connectors whose login is of no use once `next` is in force: those that are gone, and those that are elsewhere.
    pub fn left_behind(&self, next: &Self) -> Vec<ConnectorName> {
        let stays = |name: &ConnectorName, entry: &Entry| {
            next.0.get(name).is_some_and(|next| next.origin() == entry.origin())
        };
        self.0.iter().filter(|(name, entry)| !stays(name, entry)).map(|(name, _)| name.clone()).collect()
    }
}
