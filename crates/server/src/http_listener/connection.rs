//! Open connections: how many, and how they end.

use std::collections::{HashMap, HashSet};
use std::net::IpAddr;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
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

use super::socket;
use crate::client_address::to_network;
use crate::metrics::CONNECTIONS;
use crate::options::{Peer, ServerOptions};

/// Owns a task per connection from accept to close.
pub(super) struct Connections {
    service: Router,
    protocol: http1::Builder,
    /// One permit per connection that may still be opened.
    slots: Arc<Semaphore>,
    by_address: Arc<AddressCounts>,
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
    pub(super) fn new(service: Router, options: &ServerOptions) -> Self {
        let mut protocol = http1::Builder::new();
        protocol.timer(TokioTimer::new()).header_read_timeout(options.header_timeout);
        Self {
            service,
            protocol,
            slots: Arc::new(Semaphore::new(options.max_connections.min(Semaphore::MAX_PERMITS))),
            by_address: Arc::new(AddressCounts::new(options)),
            tasks: TaskTracker::new(),
            ends: Ends::default(),
        }
    }

    /// The next connection, once there is room for it.
    pub(super) async fn accept(&self, from: &TcpListener) -> (TcpStream, Option<OwnedSemaphorePermit>) {
        // Only a closed semaphore refuses, and this one is never closed.
        let slot = self.slots.clone().acquire_owned().await.ok();
        (socket::accept(from).await, slot)
    }

    pub(super) fn open(&self, stream: TcpStream, slot: Option<OwnedSemaphorePermit>) {
        // Events of a stream are small and should leave at once.
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "connection closed before it was served");
            return;
        }
        let Ok(peer) = stream.peer_addr() else { return };
        let Some(place) = AddressCounts::acquire(&self.by_address, peer.ip()) else { return };
        let (service, protocol, ends) = (self.service.clone(), self.protocol.clone(), self.ends.clone());
        self.tasks.spawn(async move {
            let _counted = (Counted::new(slot), place);
            serve_connection(stream, service, &protocol, ends).await;
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

/// How many connections each address holds.
struct AddressCounts {
    most: usize,
    proxies: Vec<IpAddr>,
    open: Mutex<HashMap<IpAddr, usize>>,
    /// Addresses that the log has heard of, until the process ends: at most [`MOST_TOLD`].
    told: Mutex<HashSet<IpAddr>>,
}

/// So many addresses are told of; whoever has more of them fills no log.
const MOST_TOLD: usize = 256;

/// A connection's place in the count of its address; none for those who are not counted.
struct AddressPlace {
    counts: Arc<AddressCounts>,
    address: Option<IpAddr>,
}

impl AddressCounts {
    fn new(options: &ServerOptions) -> Self {
        let (most, proxies) = (options.connections_per_address.max(1), options.proxies.clone());
        Self { most, proxies, open: Mutex::default(), told: Mutex::default() }
    }

    /// None where the address has as many as it may.
    fn acquire(counts: &Arc<Self>, peer: IpAddr) -> Option<AddressPlace> {
        let peer = peer.to_canonical();
        let stands_for_others = peer.is_loopback() || counts.proxies.contains(&peer);
        let place = |address| AddressPlace { counts: counts.clone(), address };
        if stands_for_others {
            return Some(place(None));
        }
        let address = to_network(peer);
        let mut open = counts.lock_open();
        let held = open.entry(address).or_default();
        if *held >= counts.most {
            drop(open);
            counts.warn_refused(address);
            return None;
        }
        *held += 1;
        drop(open);
        Some(place(Some(address)))
    }

    /// A proxy that the settings don't name looks like this, so whoever runs the server should see it.
    fn warn_refused(&self, address: IpAddr) {
        if self.should_warn(address) {
            tracing::warn!(
                %address,
                most = self.most,
                "connection limit per address reached; closing further ones. Raise server.connections_per_address, or add the address to web.proxies if it is your proxy (logged once)"
            );
        }
    }

    fn should_warn(&self, address: IpAddr) -> bool {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        told.len() < MOST_TOLD && told.insert(address)
    }

    fn lock_open(&self) -> MutexGuard<'_, HashMap<IpAddr, usize>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for AddressPlace {
    fn drop(&mut self) {
        let Some(address) = self.address else { return };
        let mut open = self.counts.lock_open();
        match open.get_mut(&address) {
            Some(held) if *held > 1 => *held -= 1,
            _ => drop(open.remove(&address)),
        }
    }
}

/// Serves one connection. Dropping it drops the handler that runs for it.
async fn serve_connection(stream: TcpStream, service: Router, protocol: &http1::Builder, ends: Ends) {
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
        tracing::debug!(%error, "connection ended early");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refused_address_is_told_once_and_not_all_there_are() {
        let counts = AddressCounts::new(&ServerOptions::default());
        let ip = |number: usize| IpAddr::from(u32::try_from(number).unwrap().to_be_bytes());
        assert!(counts.should_warn(ip(1)) && !counts.should_warn(ip(1)));
        let told = (0..MOST_TOLD * 2).filter(|number| counts.should_warn(ip(*number))).count();
        assert_eq!(told, MOST_TOLD - 1, "nor does the set grow");
    }

    #[test]
    fn an_address_holds_so_many_and_no_more() {
        let ip = |text: &str| text.parse::<IpAddr>().unwrap();
        let options = ServerOptions {
            connections_per_address: 2,
            proxies: vec![ip("10.0.0.1")],
            ..ServerOptions::default()
        };
        let counts = Arc::new(AddressCounts::new(&options));
        let take = |text: &str| AddressCounts::acquire(&counts, ip(text));
        let (one, two) = (take("203.0.113.1"), take("::ffff:203.0.113.1"));
        assert!(one.is_some() && two.is_some() && take("203.0.113.1").is_none());
        assert!(take("203.0.113.2").is_some(), "others have their own");
        drop(two);
        let again = take("203.0.113.1");
        assert!(again.is_some() && take("203.0.113.1").is_none());
        let six = [take("2001:db8::1"), take("2001:db8::2")];
        assert!(six.iter().all(Option::is_some) && take("2001:db8::3").is_none(), "a network is one address");
        // Those who stand for others.
        for proxy in ["127.0.0.1", "::1", "10.0.0.1"] {
            let places: Vec<_> = (0..10).map(|_| take(proxy)).collect();
            assert!(places.iter().all(Option::is_some), "{proxy}");
        }
        drop((one, again, six));
        assert!(counts.lock_open().is_empty(), "nothing is kept of those who have gone");
    }
}
