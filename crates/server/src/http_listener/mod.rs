//! Listens, serves, and stops without dropping what is in flight.

mod connection;
mod socket;

use std::net::SocketAddr;
use std::time::Duration;

use axum::Router;
use tokio::net::TcpListener;
use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;

use self::connection::Connections;
use crate::error::Error;
use crate::metrics::Metrics;
use crate::options::ServerOptions;

/// How often samples are folded into their buckets where no one reads `/metrics`.
const UPKEEP: Duration = Duration::from_secs(5);

/// A bound address, not yet answering: binding comes first, so that a taken port is told before anything else starts.
#[derive(Debug)]
pub struct HttpListener {
    listener: TcpListener,
    address: SocketAddr,
}

/// How a server came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ServerShutdownReport {
    /// Connections that were still busy when the grace was over.
    pub cut_off: usize,
}

impl HttpListener {
    /// Takes an address such as `127.0.0.1:8080`, `[::]:8080` or `localhost:0`.
    pub async fn bind(address: &str) -> Result<Self, Error> {
        let listener = socket::bind(address).await?;
        let address = listener
            .local_addr()
            .map_err(|source| Error::AddressUnusable { address: address.to_owned(), source })?;
        Ok(Self { listener, address })
    }

    /// Where it listens: the port is known here even when 0 was asked for.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Answers until `shutdown`, then cancels `stopping` and lets what is in flight finish within the grace.
    pub async fn serve(
        self,
        service: Router,
        (metrics, stopping): (&Metrics, &CancellationToken),
        options: &ServerOptions,
        shutdown: CancellationToken,
    ) -> ServerShutdownReport {
        let connections = Connections::new(service, options);
        let mut upkeep = tokio::time::interval(UPKEEP);
        upkeep.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                biased;
                () = shutdown.cancelled() => break,
                _ = upkeep.tick() => metrics.upkeep(),
                (stream, slot) = connections.accept(&self.listener) => connections.open(stream, slot),
            }
        }
        drop(self.listener);
        stopping.cancel();
        tracing::info!(connections = connections.count(), "stopping");
        let cut_off = connections.drain(options.shutdown_grace).await;
        if cut_off > 0 {
            tracing::warn!(cut_off, "grace period ended; closed busy connections");
        }
        ServerShutdownReport { cut_off }
    }
}
