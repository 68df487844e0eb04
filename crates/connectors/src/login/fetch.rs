//! Asking the services that let people in, within the bounds that every request of a connector has.

use std::time::Duration;

use munshi_http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, WWW_AUTHENTICATE};
use munshi_http::{
    AllowedHosts, GuardedHttpClients, ReadBodyError, RequestBuilder, RequestError, Response, StatusCode,
};
use serde_json::Value;
use url::Url;
use zeroize::Zeroizing;

use super::challenge::AuthChallenge;
use crate::error::{Error, Result};

const LARGEST: usize = 256 * 1024;
const FORM: &str = "application/x-www-form-urlencoded";
const JSON: &str = "application/json";

/// Asks, and follows nobody elsewhere.
#[derive(Clone)]
pub(super) struct OAuthFetcher {
    clients: GuardedHttpClients,
    /// For one answer, from the first letter to the last.
    timeout: Duration,
}

/// What a form was answered with.
pub(super) struct OAuthFormResponse {
    pub(super) status: StatusCode,
    pub(super) body: Value,
}

impl OAuthFormResponse {
    pub(super) fn text(&self, key: &str) -> Option<&str> {
        self.body.get(key)?.as_str()
    }

    /// A number of seconds, however it is written.
    pub(super) fn seconds(&self, key: &str) -> Option<u64> {
        let value = self.body.get(key)?;
        let text = match value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        text.split('.').next()?.parse().ok()
    }

    /// Its error in a word, where it is one. Anything else may hold what was sent, and is told to nobody.
    pub(super) fn error_code(&self) -> String {
        let is_word = |error: &&str| {
            let fits = |byte: u8| byte.is_ascii_lowercase() || matches!(byte, b'_' | b'-');
            (1..=60).contains(&error.len()) && error.bytes().all(fits)
        };
        match self.text("error").filter(is_word) {
            Some(error) => error.to_owned(),
            None => format!("HTTP {}", self.status),
        }
    }
}

impl OAuthFetcher {
    pub(super) fn new(allowed: AllowedHosts, timeout: Duration) -> Result<Self> {
        Ok(Self { clients: GuardedHttpClients::new(allowed)?, timeout })
    }

    /// Several questions to one end have so long for all of them: whoever answers each in the last moment is given up too.
    pub(super) async fn with_deadline<T>(
        &self,
        place: &Url,
        asking: impl Future<Output = Result<T>>,
    ) -> Result<T> {
        let slow = |_| {
            Error::TooSlow(format!("{} did not return its login metadata in time", self::strip_query(place)))
        };
        tokio::time::timeout(self.timeout * 2, asking).await.map_err(slow)?
    }

    /// An address that may be asked: nobody reads along, and it does not lead into our own network.
    pub(super) fn parse_url(&self, text: &str) -> Result<Url> {
        let wrong = |what: &str| Error::NoLogin(format!("`{}` {what}", sanitize(text)));
        let url = Url::parse(text).map_err(|error| wrong(&format!("is not a valid URL: {error}")))?;
        let is_plain = url.scheme() == "http" && self.clients.allowed.allows(&url);
        if url.scheme() != "https" && !is_plain {
            return Err(wrong("must begin with https://"));
        }
        if !url.username().is_empty() || url.password().is_some() || url.host_str().is_none() {
            return Err(wrong("is not a valid service address"));
        }
        match self.clients.allowed.find_refusal(&url) {
            Some(why) => Err(Error::NoLogin(why)),
            None => Ok(url),
        }
    }

    /// A document; none where there is none at this address.
    pub(super) async fn fetch_document(&self, url: &Url) -> Result<Option<Value>> {
        let request = self.clients.select(url).get(url.clone()).header(ACCEPT, JSON).timeout(self.timeout);
        let response = request.send().await.map_err(|error| request_error(url, &error))?;
        if !response.status().is_success() {
            return match response.status().is_server_error() {
                true => {
                    Err(Error::Unreachable(format!("{} answered {}", strip_query(url), response.status())))
                }
                false => Ok(None),
            };
        }
        let body = read_body(url, response).await?;
        // A page that says "not found" with a 200 is none either.
        Ok(serde_json::from_slice(&body).ok().filter(Value::is_object))
    }

    /// What the connector itself says to somebody without a login; none where it wants none.
    pub(super) async fn fetch_challenge(&self, url: &Url) -> Result<Option<AuthChallenge>> {
        let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
        let request =
            self.clients.select(url).post(url.clone()).header(CONTENT_TYPE, JSON).timeout(self.timeout);
        let request = request.header(ACCEPT, "application/json, text/event-stream").body(ping);
        let response = request.send().await.map_err(|error| request_error(url, &error))?;
        if response.status() != StatusCode::UNAUTHORIZED {
            return Ok(None);
        }
        Ok(Some(parse_challenge(&response)))
    }

    pub(super) async fn post_form(
        &self,
        url: &Url,
        pairs: &[(&str, &str)],
        login: Option<&(String, Zeroizing<String>)>,
    ) -> Result<OAuthFormResponse> {
        let form = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish();
        let mut request =
            self.clients.select(url).post(url.clone()).header(CONTENT_TYPE, FORM).header(ACCEPT, JSON);
        if let Some((name, password)) = login {
            request = request.header(AUTHORIZATION, encode_basic_auth(name, password));
        }
        self.send(url, request.body(form)).await
    }

    pub(super) async fn post_json(&self, url: &Url, body: &Value) -> Result<OAuthFormResponse> {
        let request =
            self.clients.select(url).post(url.clone()).header(CONTENT_TYPE, JSON).header(ACCEPT, JSON);
        self.send(url, request.body(body.to_string())).await
    }

    async fn send(&self, url: &Url, request: RequestBuilder) -> Result<OAuthFormResponse> {
        let response =
            request.timeout(self.timeout).send().await.map_err(|error| request_error(url, &error))?;
        let status = response.status();
        let body = read_body(url, response).await?;
        let body = serde_json::from_slice(&body).unwrap_or_default();
        if status.is_server_error() {
            return Err(Error::Unreachable(format!("{} answered {status}", strip_query(url))));
        }
        Ok(OAuthFormResponse { status, body })
    }
}

/// Every challenge of an answer, read as one.
pub(super) fn parse_challenge(response: &Response) -> AuthChallenge {
    let headers = response.headers().get_all(WWW_AUTHENTICATE);
    let texts: Vec<&str> = headers.iter().filter_map(|header| header.to_str().ok()).collect();
    AuthChallenge::parse(&texts.join(", "))
}

async fn read_body(url: &Url, mut response: Response) -> Result<Zeroizing<Vec<u8>>> {
    let mut body = Zeroizing::new(Vec::new());
    match munshi_http::read_body(&mut response, LARGEST, &mut body).await {
        Ok(()) => Ok(body),
        Err(ReadBodyError::TooLarge(_)) => {
            Err(Error::NoLogin(format!("the response of {} is too large", strip_query(url))))
        }
        Err(ReadBodyError::Lost(error)) => Err(request_error(url, &error)),
    }
}

/// Where, without what a query may hold.
fn strip_query(url: &Url) -> String {
    format!("{}{}", url.origin().ascii_serialization(), url.path())
}

fn request_error(url: &Url, error: &RequestError) -> Error {
    if error.is_timeout() {
        return Error::TooSlow(format!("{} did not answer in time", strip_query(url)));
    }
    let first = format!("can't connect to {}", strip_query(url));
    Error::Unreachable([vec![first], munshi_http::list_causes(error)].concat().join(": "))
}

fn sanitize(text: &str) -> String {
    text.chars().filter(|letter| !letter.is_control()).take(200).collect()
}

/// Name and password each encoded, then both together (RFC 6749, 2.3.1).
fn encode_basic_auth(name: &str, password: &str) -> String {
    use base64::Engine as _;
    let encoded = |text: &str| url::form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>();
    let pair = Zeroizing::new(format!("{}:{}", encoded(name), encoded(password)));
    format!("Basic {}", base64::engine::general_purpose::STANDARD.encode(pair.as_bytes()))
}
