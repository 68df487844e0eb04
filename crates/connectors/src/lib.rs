//! Connectors: other people's tools, spoken to over the Model Context Protocol, or as their OpenAPI document says.
//!
//! A connector is declared in a tenant's `connectors.toml`: a program that runs as our child, an address, or a part of
//! this program. The [`ConnectorHost`] starts it, watches over it and puts its tools on the tenant's shelf, from where the
//! dispatcher calls them with a permit like every other tool. What a tool does to the world is what the operator says in
//! that file, or what the server declares in our words; its own annotations are hints, and can only make things stricter.
//! What nobody vouches for only looks.
//!
//! Not here: deciding about acts (the safety pipeline does), choosing tools for a prompt (`munshi-tools` and the turn do).
//!
//! # Layout
//! - [`declared`]: the file; [`manifest`]: what a server lists; `translate`, `names`: its tools as ours
//! - `link`: one connection, its transport and its bounds; `far`, `answer`: a call and what it gave
//! - [`ConnectorHost`], `shelves`, `supervise`: which run, and how each lives; [`ConnectorStatus`]: how it is; [`ConnectorTimings`]: how long things take
//! - `openapi`: a service's document as a connector; [`login`]: being let into one that asks for it
//! - [`confine`]: what a child may read and write
//! - [`rows`]: what is stored; [`contract`]: what `munshi connector test` looks at
//!
//! # To add a way to reach connectors
//! A variant in [`declared::ConnectorTransport`], and an arm in `link/open.rs` that makes a transport of it.

mod answer;
pub mod confine;
pub mod contract;
pub mod declared;
mod error;
mod far;
mod host;
mod link;
pub mod login;
pub mod manifest;
mod names;
mod openapi;
pub mod rows;
mod settings;
mod shelves;
mod state;
mod supervise;
mod translate;

use munshi_store::{Migration, migration};

pub use confine::{Confinement, KernelSupport};
pub use error::{Error, Result};
pub use host::{ConnectorHost, ConnectorHostParts, folder_of, logs_of};
pub use link::InProcessConnector;
pub use link::address::AllowedHosts;
pub use login::{ConnectorLoginParts, ConnectorLogins};
pub use openapi::ServiceDocumentSource;
pub use settings::ConnectorTimings;
pub use state::{ConnectorState, ConnectorStatus};

/// The file in a connector's folder of logs that holds what it said, and the one before it.
pub const LOGS: [&str; 2] = [link::logs::OLDER, link::logs::FILE];

pub const MIGRATIONS: &[Migration] = &[migration!("0022_connectors"), migration!("0028_connector_logins")];
