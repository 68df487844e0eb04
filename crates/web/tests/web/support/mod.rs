//! A running server, and a client that sends exactly the bytes it is told to.

mod client;
mod routes;

pub(crate) use client::{Reply, exchange, get, open};
pub(crate) use routes::{IN_FLIGHT, test_routes};

use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use munshi_types::{FakeClock, IdGenerator, SeededRandom, SystemClock, Timestamp};
use munshi_web::{App, HttpServer, Metrics, ReadinessCheck, ServerOptions, ServerShutdownReport};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

/// The recorder is one per process; tests that count use routes or labels of their own.
pub(crate) fn metrics() -> Metrics {
    static RECORDER: OnceLock<Metrics> = OnceLock::new();
    RECORDER.get_or_init(|| Metrics::install(&SystemClock).unwrap()).clone()
}

/// An app whose ids repeat and which is ready if all of `checks` are ok.
pub(crate) fn app(checks: Vec<ReadinessCheck>) -> App {
    let clock = FakeClock::new(Timestamp::from_micros(1_700_000_000_000_000));
    let ids = IdGenerator::new(Arc::new(clock), Arc::new(SeededRandom::new(1)));
    App::new(ids, metrics(), move || std::future::ready(checks.clone()))
}

/// Small enough to be reached in a test, large enough for a busy machine.
pub(crate) fn options() -> ServerOptions {
    ServerOptions {
        request_timeout: Duration::from_secs(1),
        body_limit: 1000,
        shutdown_grace: Duration::from_millis(1500),
        header_timeout: Duration::from_millis(600),
        max_connections: 100,
        ..ServerOptions::default()
    }
}

/// A server on a free port, with the product's routes and the tests'.
pub(crate) struct Running {
    pub(crate) address: SocketAddr,
    pub(crate) app: App,
    shutdown: CancellationToken,
    task: JoinSet<ServerShutdownReport>,
}

impl Running {
    pub(crate) async fn start() -> Self {
        Self::start_with(options()).await
    }

    pub(crate) async fn start_with(options: ServerOptions) -> Self {
        let server = HttpServer::bind("127.0.0.1:0").await.unwrap();
        let (address, app, shutdown) = (server.address(), app(Vec::new()), CancellationToken::new());
        let routes = munshi_web::routes().merge(test_routes());
        let mut task = JoinSet::new();
        task.spawn(server.serve(routes, app.clone(), options, shutdown.clone()));
        Self { address, app, shutdown, task }
    }

    pub(crate) fn stop(&self) {
        self.shutdown.cancel();
    }

    /// Stops it and waits for its end.
    pub(crate) async fn stopped(mut self) -> ServerShutdownReport {
        self.stop();
        self.task.join_next().await.unwrap().unwrap()
    }
}
