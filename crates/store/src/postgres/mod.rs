//! The Postgres engine: a pool of connections, each owned by a thread that runs units on it.

mod connection;
mod errors;
mod line;
mod outgoing;
mod pool;
mod queue;
mod tls;
mod wire;
mod worker;

pub(crate) use connection::{APP_ROLE, PostgresConnection, PostgresLogin, unprepared};
pub(crate) use line::BlockingPostgresClient;
pub(crate) use pool::PostgresPool;
pub(crate) use wire::column_of;
