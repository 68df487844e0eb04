//! The Postgres engine: a pool of connections, each owned by a thread that runs units on it.

mod connection;
mod errors;
mod pool;
mod tls;
mod wire;
mod worker;

pub(crate) use connection::{APP_ROLE, Connection, Login, unprepared};
pub(crate) use errors::translate;
pub(crate) use pool::Postgres;
pub(crate) use wire::column_of;
