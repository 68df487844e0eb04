//! The Postgres engine: a pool of connections, each owned by a thread that runs units on it.

mod blocking_client;
mod connection;
mod errors;
mod pipeline;
mod pool;
mod queue;
mod tls;
mod vacuum;
mod wire;
mod worker;

pub(crate) use blocking_client::BlockingPostgresClient;
pub(crate) use connection::{APP_ROLE, PostgresConnection, PostgresLogin, missing_schema_error};
pub(crate) use pool::PostgresPool;
pub use vacuum::VacuumLimits;
pub(crate) use vacuum::vacuum;
pub(crate) use wire::column_of;
