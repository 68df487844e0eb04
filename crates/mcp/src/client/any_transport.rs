//! Every way to a server as one type: the protocol's loop is compiled once per type of transport.

use std::pin::Pin;

use rmcp::RoleClient;
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;

/// Pipes or HTTP; the session does not see which.
pub(super) struct AnyTransport(Box<dyn DynTransport>);

/// What went wrong below; it is its own source, so that causes are found.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct AnyTransportError(#[source] Box<dyn std::error::Error + Send + Sync>);

type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

trait DynTransport: Send {
    fn send_boxed(
        &mut self,
        item: TxJsonRpcMessage<RoleClient>,
    ) -> BoxFuture<'static, Result<(), AnyTransportError>>;
    fn receive_boxed(&mut self) -> BoxFuture<'_, Option<RxJsonRpcMessage<RoleClient>>>;
    fn close_boxed(&mut self) -> BoxFuture<'_, Result<(), AnyTransportError>>;
}

impl<T: Transport<RoleClient>> DynTransport for T {
    fn send_boxed(
        &mut self,
        item: TxJsonRpcMessage<RoleClient>,
    ) -> BoxFuture<'static, Result<(), AnyTransportError>> {
        let sending = self.send(item);
        Box::pin(async move { sending.await.map_err(|error| AnyTransportError(Box::new(error))) })
    }

    fn receive_boxed(&mut self) -> BoxFuture<'_, Option<RxJsonRpcMessage<RoleClient>>> {
        Box::pin(self.receive())
    }

    fn close_boxed(&mut self) -> BoxFuture<'_, Result<(), AnyTransportError>> {
        Box::pin(async move { self.close().await.map_err(|error| AnyTransportError(Box::new(error))) })
    }
}

impl AnyTransport {
    pub(super) fn new(transport: impl Transport<RoleClient> + 'static) -> Self {
        Self(Box::new(transport))
    }
}

impl Transport<RoleClient> for AnyTransport {
    type Error = AnyTransportError;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        self.0.send_boxed(item)
    }

    fn receive(&mut self) -> impl Future<Output = Option<RxJsonRpcMessage<RoleClient>>> + Send {
        self.0.receive_boxed()
    }

    fn close(&mut self) -> impl Future<Output = Result<(), Self::Error>> + Send {
        self.0.close_boxed()
    }
}
