//! What an operator can tune, and what a handler learns of its connection.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

/// What an operator can tune. The binary fills it from the configuration.
#[derive(Clone, Debug)]
pub struct ServerOptions {
    /// From a request's head to its response's head; streams may go on after it.
    pub request_timeout: Duration,
    /// Bytes of a request's body.
    pub body_limit: usize,
    /// For what is in flight when the server is told to stop.
    pub shutdown_grace: Duration,
    /// For a client to send a request's head. It also ends idle kept-alive connections, so it should be longer
    /// than the proxy before us keeps its own (60 s is usual), or requests get lost in between.
    pub header_timeout: Duration,
    /// Connections at a time; the next wait in the system's queue.
    pub max_connections: usize,
    /// Of these, the most that one address (an IPv6 network) holds; more are closed at once. This machine and the proxies
    /// stand for others, and are not counted.
    pub connections_per_address: usize,
    /// Those whose word about who asked is taken.
    pub proxies: Vec<IpAddr>,
    /// Who may read `/metrics` and the details of `/readyz`.
    pub monitors: MonitorAccess,
}

/// Who may read what the installation tells of itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MonitorAccess {
    /// Programs on this machine, and a keeper who is signed in.
    #[default]
    Local,
    Everybody,
}

impl Default for ServerOptions {
    fn default() -> Self {
        Self {
            request_timeout: Duration::from_secs(60),
            body_limit: 2 * 1024 * 1024,
            shutdown_grace: Duration::from_secs(20),
            header_timeout: Duration::from_secs(75),
            max_connections: 20_000,
            connections_per_address: 4096,
            proxies: Vec::new(),
            monitors: MonitorAccess::default(),
        }
    }
}

/// Who is at the other end of a connection, for those who count by address. Behind a proxy it is the proxy's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peer(pub SocketAddr);
