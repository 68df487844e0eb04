//! Gives each request an id that stands in its response, its logs and its trace.

use std::convert::Infallible;
use std::fmt;
use std::sync::Arc;

use axum::extract::{FromRequestParts, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use axum::middleware::Next;
use axum::response::Response;
use munshi_types::{Id, IdGenerator};
use uuid::Uuid;

const HEADER: HeaderName = HeaderName::from_static("x-request-id");

/// Longer ids are not taken over from the client.
const LONGEST: usize = 128;

/// The id of the request being answered: the client's own if it is sane, else one made here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestId(Arc<str>);

impl RequestId {
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// What the client (or the proxy before us) sent, if it is one value of harmless characters: it goes into
    /// logs, headers and pages as it is.
    fn from_headers(headers: &HeaderMap) -> Option<Self> {
        let mut values = headers.get_all(HEADER).iter();
        let (Some(value), None) = (values.next(), values.next()) else { return None };
        let text = value.to_str().ok()?;
        let harmless = |c: char| c.is_ascii_alphanumeric() || "-_.:=".contains(c);
        let sane = (1..=LONGEST).contains(&text.len()) && text.chars().all(harmless);
        sane.then(|| Self(text.into()))
    }

    fn generate(ids: &IdGenerator) -> Self {
        Self(ids.next::<Fresh>().to_string().into())
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A handler can ask for the id as an argument. Outside of the server's layers it is `-`.
impl<S: Send + Sync> FromRequestParts<S> for RequestId {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(parts.extensions.get::<Self>().cloned().unwrap_or_else(|| Self("-".into())))
    }
}

/// The shape of an id made here; clients may send others, so [`RequestId`] is text.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Fresh(Uuid);

impl Id for Fresh {
    const NOUN: &'static str = "request";

    fn from_uuid(uuid: Uuid) -> Self {
        Self(uuid)
    }

    fn as_uuid(self) -> Uuid {
        self.0
    }
}

impl fmt::Display for Fresh {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

pub(super) async fn assign_request_id(
    State(ids): State<IdGenerator>,
    mut request: Request,
    next: Next,
) -> Response {
    let id = RequestId::from_headers(request.headers()).unwrap_or_else(|| RequestId::generate(&ids));
    request.extensions_mut().insert(id.clone());
    let mut response = next.run(request).await;
    if let Ok(value) = HeaderValue::from_str(id.as_str()) {
        response.headers_mut().insert(HEADER, value);
    }
    response
}
