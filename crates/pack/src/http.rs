//! The guarded HTTP client, for packs: no private addresses but those the operator allowed, no redirects, bounded answers.

use std::time::Duration;

use munshi_http::header::{HeaderName, HeaderValue};
use munshi_http::{GuardedHttpClients, ReadBodyError, Url, list_causes, read_body};
use munshi_safety::vault::VaultSecret;

use crate::foreign::Foreign;
use crate::services::{PackServiceError, PackServices};

/// An answer takes no longer, from the connection to its last byte.
const LONGEST: Duration = Duration::from_secs(30);
/// The largest answer, unless a request says otherwise; and whatever it says.
const LARGE: usize = 1024 * 1024;
const LARGEST: usize = 16 * 1024 * 1024;

/// A question to another server. What sends or spends something is no question: a tool does it, in a run.
#[derive(Clone)]
pub struct PackHttpRequest {
    method: QuestionMethod,
    url: String,
    headers: Vec<(HeaderName, HeaderValue)>,
    largest: usize,
    /// What is wrong with it, told when it is sent.
    fault: Option<String>,
}

#[derive(Clone)]
enum QuestionMethod {
    Get,
    Post { content_type: &'static str, body: Vec<u8> },
}

impl PackHttpRequest {
    pub fn get(url: impl Into<String>) -> Self {
        Self {
            method: QuestionMethod::Get,
            url: url.into(),
            headers: Vec::new(),
            largest: LARGE,
            fault: None,
        }
    }

    /// For services that are asked with POST, as GraphQL and tokens are.
    pub fn post(url: impl Into<String>, content_type: &'static str, body: impl Into<Vec<u8>>) -> Self {
        Self { method: QuestionMethod::Post { content_type, body: body.into() }, ..Self::get(url) }
    }

    pub fn header(self, name: &str, value: &str) -> Self {
        self.add_header(name, HeaderValue::from_str(value).ok())
    }

    /// A header that holds a secret, with a word before it such as `Bearer `. It appears in no log.
    pub fn secret_header(self, name: &str, before: &str, secret: &VaultSecret) -> Self {
        let value = HeaderValue::from_str(&format!("{before}{}", secret.expose())).ok();
        let value = value.map(|mut value| {
            value.set_sensitive(true);
            value
        });
        self.add_header(name, value)
    }

    fn add_header(mut self, name: &str, value: Option<HeaderValue>) -> Self {
        match (HeaderName::from_bytes(name.as_bytes()), value) {
            (Ok(name), Some(value)) => self.headers.push((name, value)),
            _ => self.fault = Some(format!("`{name}` has letters that no header has")),
        }
        self
    }

    pub fn bearer(self, secret: &VaultSecret) -> Self {
        self.secret_header("authorization", "Bearer ", secret)
    }

    /// An answer that is larger than this many bytes is an error.
    pub fn largest(self, bytes: usize) -> Self {
        Self { largest: bytes.min(LARGEST), ..self }
    }
}

/// What another server said. All of it is foreign, whoever asked.
#[derive(Clone, Debug)]
pub struct PackHttpResponse {
    pub status: u16,
    headers: Vec<(String, String)>,
    pub body: Foreign<Vec<u8>>,
}

impl PackHttpResponse {
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// A header by its name in small letters, such as `retry-after`.
    pub fn header(&self, name: &str) -> Option<Foreign<&str>> {
        let found = self.headers.iter().find(|(known, _)| known == name)?;
        Some(Foreign::new(found.1.as_str()))
    }
}

/// Asks other servers in a pack's name.
#[derive(Clone)]
pub struct PackHttp(PackServices);

impl PackHttp {
    pub(crate) fn new(services: PackServices) -> Self {
        Self(services)
    }

    pub async fn send(&self, request: PackHttpRequest) -> Result<PackHttpResponse, PackServiceError> {
        let clients = self.0.http_clients().await?;
        if let Some(fault) = request.fault {
            return Err(PackServiceError::Request(fault));
        }
        let url = check_address(&clients, &request.url)?;
        self.0.mark_foreign();
        let client = clients.select(&url);
        let host = url.host_str().unwrap_or_default().to_owned();
        let mut asking = match request.method {
            QuestionMethod::Get => client.get(url),
            QuestionMethod::Post { content_type, body } => {
                client.post(url).header("content-type", content_type).body(body)
            }
        };
        for (name, value) in request.headers {
            asking = asking.header(name, value);
        }
        let failed = |why: String| PackServiceError::Unreachable { host: host.clone(), why };
        let answer = tokio::time::timeout(LONGEST, async {
            let mut response = asking.send().await.map_err(|error| {
                let cause = list_causes(&error).pop();
                failed(cause.unwrap_or_else(|| "the request failed".to_owned()))
            })?;
            let mut body = Vec::new();
            read_body(&mut response, request.largest, &mut body).await.map_err(|error| match error {
                ReadBodyError::TooLarge(_) => failed(error.to_string()),
                ReadBodyError::Lost(_) => failed("the response ended early".to_owned()),
            })?;
            let headers = response.headers().iter();
            let headers = headers.filter_map(|(name, value)| {
                Some((name.as_str().to_owned(), value.to_str().ok()?.to_owned()))
            });
            let (status, headers) = (response.status().as_u16(), headers.collect());
            Ok(PackHttpResponse { status, headers, body: Foreign::new(body) })
        });
        answer.await.unwrap_or_else(|_| Err(failed(format!("no whole answer in {} s", LONGEST.as_secs()))))
    }
}

/// Without encryption only where the operator allowed the very place.
fn check_address(clients: &GuardedHttpClients, text: &str) -> Result<Url, PackServiceError> {
    let refuse = |why: String| PackServiceError::Address(why);
    let url = Url::parse(text).map_err(|error| refuse(format!("can't read the address: {error}")))?;
    if url.host().is_none() || !matches!(url.scheme(), "http" | "https") {
        return Err(refuse("the address must begin with https://".to_owned()));
    }
    if let Some(why) = clients.allowed.find_refusal(&url) {
        return Err(refuse(why));
    }
    if url.scheme() != "https" && !clients.allowed.allows(&url) {
        return Err(refuse("the address must begin with https://".to_owned()));
    }
    Ok(url)
}
