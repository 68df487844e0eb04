//! Binding an address, with errors that say what to do; and taking connections from it.

use std::io::ErrorKind;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};

use crate::error::Error;

/// How long to leave the system alone when it has nothing left to accept with (no free file handles).
const EXHAUSTED: Duration = Duration::from_secs(1);

pub(super) async fn bind(address: &str) -> Result<TcpListener, Error> {
    TcpListener::bind(address).await.map_err(|source| {
        let address = address.to_owned();
        match source.kind() {
            ErrorKind::AddrInUse => Error::AddressInUse { address },
            ErrorKind::PermissionDenied => Error::AddressRefused { address },
            _ => Error::AddressUnusable { address, source },
        }
    })
}

/// The next connection. An accept that fails harms only the connection it was for, or waits for the system to recover.
pub(super) async fn accept(listener: &TcpListener) -> TcpStream {
    loop {
        match listener.accept().await {
            Ok((stream, _)) => return stream,
            Err(error) if is_connection_error(&error) => {}
            Err(error) => {
                tracing::error!(%error, "can't accept connections; check the open file limit (ulimit -n)");
                tokio::time::sleep(EXHAUSTED).await;
            }
        }
    }
}

fn is_connection_error(error: &std::io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::ConnectionRefused | ErrorKind::ConnectionAborted | ErrorKind::ConnectionReset
    )
}
