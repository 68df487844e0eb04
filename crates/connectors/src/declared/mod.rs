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
