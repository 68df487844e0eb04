//! A connector that is a part of this program.

use std::future::Future;
use std::pin::Pin;

use tokio::io::DuplexStream;

/// Speaks the protocol on a line, as a child would on its standard streams, until the line closes.
pub trait InProcessConnector: Send + Sync {
    fn serve(&self, line: DuplexStream) -> Pin<Box<dyn Future<Output = ()> + Send>>;
}
