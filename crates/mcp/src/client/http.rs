//! Streamable HTTP within bounds: no redirects, no private addresses, no answer longer than a message may be.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use ::http::{HeaderName, HeaderValue};
use bytes::Bytes;
use futures_util::stream::BoxStream;
use munshi_http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, WWW_AUTHENTICATE};
use munshi_http::{Client, ReadBodyError, RequestBuilder, RequestError, Response, StatusCode};
use rmcp::ErrorData;
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, ErrorCode, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_client::{
    AuthRequiredError, StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse,
};
use sse_stream::{Error as SseError, Sse};

use super::credential::BearerCredential;
use super::events::stream_events;
use super::{CredentialError, error_text};
use crate::LONGEST_MESSAGE;

/// Of an answer that is an error.
const LONGEST_COMPLAINT: usize = 16 * 1024;
const EVENTS: &str = "text/event-stream";
const JSON: &str = "application/json";

type Failed = StreamableHttpError<std::io::Error>;

#[derive(Clone, Debug)]
pub(super) struct BoundedHttpClient {
    client: Client,
    /// What is shown at the door, where that is not given once and for all.
    pass: Option<Arc<dyn BearerCredential>>,
}

impl BoundedHttpClient {
    pub(super) fn new(client: Client, pass: Option<Arc<dyn BearerCredential>>) -> Self {
        Self { client, pass }
    }

    /// Sends it; where it is not let in, once more with a login that was renewed. What was refused so was not done.
    async fn send(
        &self,
        auth: Option<String>,
        request: impl Fn(Option<String>) -> RequestBuilder,
    ) -> Result<Response, Failed> {
        let Some(pass) = &self.pass else {
            return request(auth).send().await.map_err(|error| request_error(&error));
        };
        let shown = pass.find_token().await.map_err(credential_error)?;
        let auth = shown.as_ref().map(|shown| shown.to_string());
        let response = request(auth).send().await.map_err(|error| request_error(&error))?;
        let response = match response.status() {
            StatusCode::UNAUTHORIZED => {
                let other = pass.renew_token(shown.as_ref().map(|shown| shown.as_str())).await;
                match other.map_err(credential_error)? {
                    None => response,
                    Some(other) => request(Some(other.to_string()))
                        .send()
                        .await
                        .map_err(|error| request_error(&error))?,
                }
            }
            _ => response,
        };
        reject_unauthorized(pass.as_ref(), response)
    }

    fn add_headers(
        request: RequestBuilder,
        session: Option<&str>,
        auth: Option<String>,
        headers: HashMap<HeaderName, HeaderValue>,
    ) -> RequestBuilder {
        let mut request = request.header(ACCEPT, format!("{EVENTS}, {JSON}"));
        if let Some(session) = session {
            request = request.header("mcp-session-id", session);
        }
        if let Some(auth) = auth {
            request = request.header(AUTHORIZATION, format!("Bearer {auth}"));
        }
        headers.into_iter().fold(request, |request, (name, value)| request.header(name, value))
    }
}

impl StreamableHttpClient for BoundedHttpClient {
    type Error = std::io::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<StreamableHttpPostResponse, Failed> {
        let body = serde_json::to_vec(&message)?;
        let body = Bytes::from(body);
        let request = |auth| {
            let request = self.client.post(uri.as_ref()).header(CONTENT_TYPE, JSON).body(body.clone());
            Self::add_headers(request, session_id.as_deref(), auth, custom_headers.clone())
        };
        let response = self.send(auth_header, request).await?;
        let status = response.status();
        if matches!(status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT) {
            return Ok(StreamableHttpPostResponse::Accepted);
        }
        if status == StatusCode::NOT_FOUND && session_id.is_some() {
            return Err(StreamableHttpError::SessionExpired);
        }
        if !status.is_success() {
            return read_error_response(response, &message).await;
        }
        let session =
            response.headers().get("mcp-session-id").and_then(|id| id.to_str().ok()).map(str::to_owned);
        let kind = read_content_type(&response);
        if kind.starts_with(EVENTS) {
            return Ok(StreamableHttpPostResponse::Sse(stream_events(response), session));
        }
        let body = read_body(response, LONGEST_MESSAGE).await?;
        let wants_answer = matches!(message, ClientJsonRpcMessage::Request(_));
        match serde_json::from_slice::<ServerJsonRpcMessage>(&body) {
            Ok(answer) if kind.starts_with(JSON) => Ok(StreamableHttpPostResponse::Json(answer, session)),
            _ if !wants_answer => Ok(StreamableHttpPostResponse::Accepted),
            _ => Err(StreamableHttpError::UnexpectedContentType(Some(kind))),
        }
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session_id: Arc<str>,
        auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<(), Failed> {
        let request = |auth| {
            Self::add_headers(
                self.client.delete(uri.as_ref()),
                Some(&session_id),
                auth,
                custom_headers.clone(),
            )
        };
        // Whether it keeps sessions or not, ours is over.
        self.send(auth_header, request).await.map(|_| ())
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event_id: Option<String>,
        auth_header: Option<String>,
        custom_headers: HashMap<HeaderName, HeaderValue>,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, Failed> {
        let request = |auth| {
            let mut request = self.client.get(uri.as_ref());
            if let Some(last) = &last_event_id {
                request = request.header("last-event-id", last);
            }
            Self::add_headers(request, session_id.as_deref(), auth, custom_headers.clone())
        };
        let response = self.send(auth_header, request).await?;
        match response.status() {
            StatusCode::METHOD_NOT_ALLOWED => Err(StreamableHttpError::ServerDoesNotSupportSse),
            status if status.is_success() && read_content_type(&response).starts_with(EVENTS) => {
                Ok(stream_events(response))
            }
            status => Err(unexpected(format!("HTTP {status}"))),
        }
    }
}

/// Told apart where somebody has to log in: nobody has, no longer is, or is for less than is wanted.
fn reject_unauthorized(pass: &dyn BearerCredential, response: Response) -> Result<Response, Failed> {
    let is_shut = matches!(response.status(), StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
    if !is_shut || !pass.asks_for_login(&response) {
        return Ok(response);
    }
    Err(StreamableHttpError::AuthRequired(AuthRequiredError::new("Bearer".to_owned())))
}

/// What we have to show can't be had just now: the service has done nothing.
fn credential_error(why: String) -> Failed {
    StreamableHttpError::Client(std::io::Error::other(CredentialError(why)))
}

fn request_error(error: &RequestError) -> Failed {
    StreamableHttpError::Client(std::io::Error::other(error_text::render_request_error(error)))
}

fn unexpected(what: String) -> Failed {
    StreamableHttpError::UnexpectedServerResponse(Cow::Owned(what))
}

fn read_content_type(response: &Response) -> String {
    let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    kind.unwrap_or_default().to_ascii_lowercase()
}

/// An answer that is none: the protocol's own errors are passed on, and who asks for a login is told apart.
async fn read_error_response(
    response: Response,
    message: &ClientJsonRpcMessage,
) -> Result<StreamableHttpPostResponse, Failed> {
    let status = response.status();
    if status == StatusCode::UNAUTHORIZED || status == StatusCode::FORBIDDEN {
        let header = response.headers().get(WWW_AUTHENTICATE).and_then(|header| header.to_str().ok());
        return match header {
            Some(header) => Err(StreamableHttpError::AuthRequired(AuthRequiredError::new(header.to_owned()))),
            None => Err(unexpected(format!("HTTP {status}: the token is missing or wrong"))),
        };
    }
    let body = read_body(response, LONGEST_COMPLAINT).await.unwrap_or_default();
    let error = match serde_json::from_slice::<ServerJsonRpcMessage>(&body) {
        Ok(ServerJsonRpcMessage::Error(error)) => Some(error.error),
        _ => None,
    };
    let request = match message {
        ClientJsonRpcMessage::Request(request) => request,
        _ => return Err(unexpected(format!("HTTP {status}"))),
    };
    // A server of an older revision does not know the question, and says so in its own way.
    let is_probe = matches!(request.request, ClientRequest::DiscoverRequest(_)) && status.is_client_error();
    let error =
        error.or_else(|| is_probe.then(|| ErrorData::invalid_request(format!("HTTP {status}"), None)));
    match error {
        Some(mut error) => {
            if matches!(request.request, ClientRequest::CallToolRequest(_)) {
                error.code = adjust_error_code(status, error.code);
            }
            let answer = ServerJsonRpcMessage::error(error, Some(request.id.clone()));
            Ok(StreamableHttpPostResponse::Json(answer, None))
        }
        None => Err(unexpected(format!("HTTP {status}"))),
    }
}

/// The code of a call's error in the light of its status. By HTTP's own words a request was not acted upon where the fault
/// is the client's, whatever code the server chose; where the fault is the server's, it may have been.
fn adjust_error_code(status: StatusCode, code: ErrorCode) -> ErrorCode {
    let is_told = matches!(
        code,
        ErrorCode::INVALID_PARAMS
            | ErrorCode::METHOD_NOT_FOUND
            | ErrorCode::INVALID_REQUEST
            | ErrorCode::PARSE_ERROR
    );
    match status {
        _ if status.is_server_error() => ErrorCode::INTERNAL_ERROR,
        StatusCode::REQUEST_TIMEOUT => ErrorCode::INTERNAL_ERROR,
        _ if status.is_client_error() && !is_told => ErrorCode::INVALID_REQUEST,
        _ => code,
    }
}

async fn read_body(mut response: Response, most: usize) -> Result<Vec<u8>, Failed> {
    let mut body = Vec::new();
    match munshi_http::read_body(&mut response, most, &mut body).await {
        Ok(()) => Ok(body),
        Err(ReadBodyError::Lost(error)) => Err(request_error(&error)),
        Err(too_large) => Err(unexpected(too_large.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rmcp::model::{CallToolRequest, CallToolRequestParams, RequestId};

    /// The code that is heard of a call that was answered so.
    async fn heard(status: u16, code: i32) -> i32 {
        let body =
            serde_json::json!({ "jsonrpc": "2.0", "id": 7, "error": { "code": code, "message": "no" } });
        let response = ::http::Response::builder().status(status).body(body.to_string()).unwrap();
        let call = ClientRequest::CallToolRequest(CallToolRequest::new(CallToolRequestParams::new("book")));
        let message = ClientJsonRpcMessage::request(call, RequestId::Number(7));
        match read_error_response(Response::from(response), &message).await {
            Ok(StreamableHttpPostResponse::Json(ServerJsonRpcMessage::Error(error), _)) => error.error.code.0,
            other => panic!("{:?}", other.map(|_| ())),
        }
    }

    #[tokio::test]
    async fn a_status_says_whether_a_call_was_acted_upon() {
        // A server that was started anew does not know the session, and says so with a code of its own.
        assert_eq!(heard(400, -32000).await, -32600);
        assert_eq!(heard(400, -32602).await, -32602);
        for status in [500, 502, 504, 408] {
            assert_eq!(heard(status, -32602).await, -32603, "{status}");
        }
    }
}
