//! Serves the routes: what `munshi-server` listens with, and the router that answers.

use std::net::SocketAddr;

use munshi_server::{Error, HttpListener, ServerOptions, ServerShutdownReport};
use tokio_util::sync::CancellationToken;

use crate::app::App;
use crate::router::{Routes, build_router};

/// A bound address, not yet answering: binding comes first, so that a taken port is told before anything else starts.
#[derive(Debug)]
pub struct HttpServer(HttpListener);

impl HttpServer {
    /// Takes an address such as `127.0.0.1:8080`, `[::]:8080` or `localhost:0`.
    pub async fn bind(address: &str) -> Result<Self, Error> {
        HttpListener::bind(address).await.map(Self)
    }

    /// Where it listens: the port is known here even when 0 was asked for.
    pub fn address(&self) -> SocketAddr {
        self.0.address()
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
        self.0.serve(service, (app.metrics(), app.shutdown_token()), &options, shutdown).await
    }
}
