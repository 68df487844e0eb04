//! Open connections: how many, and how they end.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use metrics::gauge;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::{Options, Peer, listener};
use crate::metrics::CONNECTIONS;

/// Owns a task per connection from accept to close.
pub(super) struct Connections {
    service: Router,
    protocol: http1::Builder,
    /// One permit per connection that may still be opened.
    slots: Arc<Semaphore>,
    tasks: TaskTracker,
    ends: Ends,
}

/// Held by each connection's task; cancelled by [`Connections::drain`], one after the other.
#[derive(Clone, Default)]
struct Ends {
    /// Take no further request; idle connections close at once.
    finish: CancellationToken,
    /// Close now.
    cut: CancellationToken,
}

impl Connections {
    pub(super) fn new(service: Router, options: &Options) -> Self {
        let mut protocol = http1::Builder::new();
        protocol.timer(TokioTimer::new()).header_read_timeout(options.header_timeout);
        Self {
            service,
            protocol,
            slots: Arc::new(Semaphore::new(options.max_connections.min(Semaphore::MAX_PERMITS))),
            tasks: TaskTracker::new(),
            ends: Ends::default(),
        }
    }

    /// The next connection, once there is room for it.
    pub(super) async fn accept(&self, from: &TcpListener) -> (TcpStream, Option<OwnedSemaphorePermit>) {
        // Only a closed semaphore refuses, and this one is never closed.
        let slot = self.slots.clone().acquire_owned().await.ok();
        (listener::accept(from).await, slot)
    }

    pub(super) fn open(&self, stream: TcpStream, slot: Option<OwnedSemaphorePermit>) {
        // Events of a stream are small and should leave at once.
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "a connection was gone before it was served");
            return;
        }
        let (service, protocol, ends) = (self.service.clone(), self.protocol.clone(), self.ends.clone());
        self.tasks.spawn(async move {
            let _counted = Counted::new(slot);
            drive(stream, service, &protocol, ends).await;
        });
    }

    pub(super) fn count(&self) -> usize {
        self.tasks.len()
    }

    /// Lets busy connections finish, cuts those that don't within the grace, and says how many that were.
    pub(super) async fn drain(self, grace: Duration) -> usize {
        self.ends.finish.cancel();
        self.tasks.close();
        if tokio::time::timeout(grace, self.tasks.wait()).await.is_ok() {
            return 0;
        }
        let busy = self.tasks.len();
        self.ends.cut.cancel();
        self.tasks.wait().await;
        busy
    }
}

/// A connection's place: in the gauge and among the slots, given back even if its task panics.
struct Counted(#[allow(dead_code, reason = "held")] Option<OwnedSemaphorePermit>);

impl Counted {
    fn new(slot: Option<OwnedSemaphorePermit>) -> Self {
        gauge!(CONNECTIONS).increment(1);
        Self(slot)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        gauge!(CONNECTIONS).decrement(1);
    }
}

/// Serves one connection. Dropping it drops the handler that runs for it.
async fn drive(stream: TcpStream, service: Router, protocol: &http1::Builder, ends: Ends) {
    let peer = stream.peer_addr().ok().map(Peer);
    let service = TowerToHyperService::new(service);
    let service = service_fn(move |mut request: Request<Incoming>| {
        if let Some(peer) = peer {
            request.extensions_mut().insert(peer);
        }
        service.call(request)
    });
    let mut connection = pin!(protocol.serve_connection(TokioIo::new(stream), service).with_upgrades());
    let finished = tokio::select! {
        result = connection.as_mut() => Some(result),
        () = ends.finish.cancelled() => None,
    };
    let result = match finished {
        Some(result) => result,
        None => {
            connection.as_mut().graceful_shutdown();
            tokio::select! {
                result = connection.as_mut() => result,
                () = ends.cut.cancelled() => Ok(()),
            }
        }
    };
    if let Err(error) = result {
        tracing::debug!(%error, "a connection ended early");
    }
}
