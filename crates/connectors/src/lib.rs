//! Connectors: other people's tools, spoken to over the Model Context Protocol, or as their OpenAPI document says.
//!
//! A connector is declared in a tenant's `connectors.toml`: a program that runs as our child, an address, or a part of
//! this program. The [`ConnectorHost`] starts it, watches over it and adds its tools to the tenant's, from where the
//! dispatcher calls them with a permit like every other tool. What a tool does to the world is what the operator says in
//! that file, or what the server declares in our words; its own annotations are hints, and can only make things stricter.
//! What nobody vouches for only looks.
//!
//! Not here: the protocol itself (`munshi-mcp`), deciding about acts (the safety pipeline does), choosing tools for a
//! prompt (`munshi-tools` and the turn do).
//!
//! # Layout
//! - [`entries`]: the file; [`manifest`]: what a server lists; `translate`, `names`: its tools as ours
//! - `transport`: one connection, its transport and its bounds; `remote_tool`, `call_result`: a call and what it gave
//! - [`ConnectorHost`], `tool_source`, `supervisor`: which run, and how each lives; [`ConnectorStatus`]: how it is; [`ConnectorTimings`]: how long things take
//! - `openapi`: a service's document as a connector; [`login`]: being let into one that asks for it
//! - [`confine`]: what a child may read and write
//! - `detached_work`: work elsewhere that comes to its end, whoever waits for it
//! - [`rows`]: what is stored; [`conformance`]: what `munshi connector test` looks at
//!
//! # To add a way to reach connectors
//! A variant in [`entries::ConnectorTransport`], and an arm in `transport/open.rs` that connects an
//! [`munshi_mcp::McpClient`].

mod call_result;
pub mod confine;
pub mod conformance;
mod detached_work;
pub mod entries;
mod error;
mod host;
pub mod login;
pub mod manifest;
mod names;
mod openapi;
mod remote_tool;
pub mod rows;
mod state;
mod supervisor;
mod timings;
mod tool_source;
mod translate;
mod transport;

use munshi_identity::row_sealing::RowsOfBefore;
use munshi_store::{Migration, migration};

pub use confine::{Confinement, IsolationProbe, KernelSupport, ReachableSockets};
pub use detached_work::run_to_end;
pub use error::{Error, Result};
pub use host::{ConnectorHost, ConnectorHostParts, build_folder_path, build_logs_path};
pub use login::{ConnectorLoginParts, ConnectorLogins};
pub use munshi_http::AllowedHosts;
pub use openapi::{LARGEST_STORED_DOCUMENT, ServiceDocumentSource, check_document};
pub use state::{ConnectorState, ConnectorStatus};
pub use timings::ConnectorTimings;
pub use transport::{InProcessConnector, read_last_lines};

/// The file in a connector's folder of logs that holds what it said, and the one before it.
pub const LOGS: [&str; 2] = [transport::logs::OLDER, transport::logs::FILE];

pub const MIGRATIONS: &[Migration] =
    &[migration!("0022_connectors"), migration!("0028_connector_logins"), migration!("0143_lost_logins")];

/// Rows from before they were sealed, for those who seal them.
pub const ROWS_OF_BEFORE: &[RowsOfBefore] =
    &[RowsOfBefore::Own { name: "connector_logins", seal_next: login::seal_logins_of_before }];
