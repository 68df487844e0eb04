//! Listens, serves, and stops without dropping what is in flight.

mod connection;
mod listener;

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;

use self::connection::Connections;
use crate::app::App;
use crate::error::Error;
use crate::router::{Routes, build_router};

/// How often samples are folded into their buckets where no one reads `/metrics`.
const UPKEEP: Duration = Duration::from_secs(5);

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
            max_connections: 10_000,
            connections_per_address: 256,
            proxies: Vec::new(),
            monitors: MonitorAccess::default(),
        }
    }
}

/// Who is at the other end of a connection, for those who count by address. Behind a proxy it is the proxy's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peer(pub SocketAddr);

/// A bound address, not yet answering: binding comes first, so that a taken port is told before anything else starts.
#[derive(Debug)]
pub struct HttpServer {
    listener: TcpListener,
    address: SocketAddr,
}

/// How a server came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServerShutdownReport {
    /// Connections that were still busy when the grace was over.
    pub cut_off: usize,
}

impl HttpServer {
    /// Takes an address such as `127.0.0.1:8080`, `[::]:8080` or `localhost:0`.
    pub async fn bind(address: &str) -> Result<Self, Error> {
        let listener = listener::bind(address).await?;
        let address = listener
            .local_addr()
            .map_err(|source| Error::AddressUnusable { address: address.to_owned(), source })?;
        Ok(Self { listener, address })
    }

    /// Where it listens: the port is known here even when 0 was asked for.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Answers until `shutdown`, then lets what is in flight finish within the grace.
    pub async fn serve(
        self,
        routes: Routes,
        app: App,
        options: ServerOptions,
        shutdown: CancellationToken,
    ) -> ServerShutdownReport {
        let service = build_router(routes, &app, &options);
        let connections = Connections::new(service, &options);
        let mut upkeep = tokio::time::interval(UPKEEP);
        upkeep.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                biased;
                () = shutdown.cancelled() => break,
                _ = upkeep.tick() => app.metrics().upkeep(),
                (stream, slot) = connections.accept(&self.listener) => connections.open(stream, slot),
            }
        }
        drop(self.listener);
        app.shutdown_token().cancel();
        tracing::info!(connections = connections.count(), "stopping");
        let cut_off = connections.drain(options.shutdown_grace).await;
        if cut_off > 0 {
            tracing::warn!(cut_off, "grace period ended; closed busy connections");
        }
        ServerShutdownReport { cut_off }
    }
}
