//! What went wrong on a line, in words for people: without the names of our parts.

use munshi_http::RequestError;
use rmcp::ServiceError;
use rmcp::service::ClientInitializeError;
use rmcp::transport::DynamicTransportError;

/// Before what our own client says.
const OURS: &str = "Client error: ";

pub(super) fn render_transport_error(error: &DynamicTransportError) -> String {
    let words = error.error.to_string();
    words.strip_prefix(OURS).map(str::to_owned).unwrap_or(words)
}

pub(super) fn render_handshake_error(error: &ClientInitializeError) -> String {
    match error {
        ClientInitializeError::TransportError { error, .. } => render_transport_error(error),
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => render_handshake_error(fallback),
        ClientInitializeError::ConnectionClosed(_) => "the connection closed before an answer".to_owned(),
        ClientInitializeError::JsonRpcError(error) => format!("request refused: {}", error.message),
        ClientInitializeError::ExpectedInitResponse(_) | ClientInitializeError::ExpectedInitResult(_) => {
            "unexpected response".to_owned()
        }
        other => other.to_string(),
    }
}

pub(super) fn render_call_error(error: &ServiceError) -> String {
    match error {
        ServiceError::TransportSend(error) => render_transport_error(error),
        ServiceError::TransportClosed => "the connection was closed".to_owned(),
        ServiceError::UnexpectedResponse => "unexpected response".to_owned(),
        ServiceError::McpError(error) => format!("request refused: {}", error.message),
        other => other.to_string(),
    }
}

/// What keeps a request from its answer: the cause of all where nobody is there, and else all that lay below, without the
/// address, which may hold what nobody is to read.
pub(super) fn render_request_error(error: &RequestError) -> String {
    let causes = munshi_http::list_causes(error);
    match (error.is_connect(), causes.last()) {
        (true, Some(last)) => format!("can't connect: {last}"),
        (_, Some(_)) => causes.join(": "),
        (_, None) => "the request was not answered".to_owned(),
    }
}
