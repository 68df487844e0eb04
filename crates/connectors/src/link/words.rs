//! What went wrong on a line, in words for people: without the names of our parts.

use rmcp::ServiceError;
use rmcp::service::ClientInitializeError;
use rmcp::transport::DynamicTransportError;

/// Before what our own client says.
const OURS: &str = "Client error: ";

pub(super) fn of_line(error: &DynamicTransportError) -> String {
    let words = error.error.to_string();
    words.strip_prefix(OURS).map(str::to_owned).unwrap_or(words)
}

pub(super) fn of_greeting(error: &ClientInitializeError) -> String {
    match error {
        ClientInitializeError::TransportError { error, .. } => of_line(error),
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => of_greeting(fallback),
        ClientInitializeError::ConnectionClosed(_) => "it ended before it had answered".to_owned(),
        ClientInitializeError::JsonRpcError(error) => format!("it said no: {}", error.message),
        ClientInitializeError::ExpectedInitResponse(_) | ClientInitializeError::ExpectedInitResult(_) => {
            "it answered with something else".to_owned()
        }
        other => other.to_string(),
    }
}

pub(super) fn of_call(error: &ServiceError) -> String {
    match error {
        ServiceError::TransportSend(error) => of_line(error),
        ServiceError::TransportClosed => "it was closed".to_owned(),
        ServiceError::UnexpectedResponse => "it answered with something else".to_owned(),
        ServiceError::McpError(error) => format!("it said no: {}", error.message),
        other => other.to_string(),
    }
}

/// What keeps a request from its answer: the cause of all where nobody is there, and else all that lay below, without the
/// address, which may hold what nobody is to read.
pub(super) fn of_request(error: &reqwest::Error) -> String {
    let causes = std::iter::successors(std::error::Error::source(error), |cause| cause.source());
    let causes: Vec<String> = causes.map(ToString::to_string).collect();
    match (error.is_connect(), causes.last()) {
        (true, Some(last)) => format!("it can't be reached: {last}"),
        (_, Some(_)) => causes.join(": "),
        (_, None) => "the request was not answered".to_owned(),
    }
}
