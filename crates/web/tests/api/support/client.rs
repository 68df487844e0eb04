//! Calls the router as a client would.

use axum::body::Body;
use axum::http::{HeaderMap, Method, Request};
use axum::response::Response;
use http_body_util::BodyExt;
use munshi_test_support::PATIENCE;
use serde_json::Value;
use tower::ServiceExt;

use super::Installation;

#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
}

impl Reply {
    pub(crate) async fn of(response: Response) -> Self {
        let (parts, body) = response.into_parts();
        let body = body.collect().await.unwrap().to_bytes().to_vec();
        Self { status: parts.status.as_u16(), headers: parts.headers, body }
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("{error}: {:?}", String::from_utf8_lossy(&self.body)))
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    /// Asserts the status; gives back the body.
    #[track_caller]
    pub(crate) fn is(&self, status: u16) -> Value {
        assert_eq!(self.status, status, "{}", String::from_utf8_lossy(&self.body));
        self.json()
    }

    /// Asserts a refusal that says what happened and what to do; gives back both.
    #[track_caller]
    pub(crate) fn refused(&self, status: u16, code: &str) -> String {
        let body = self.is(status);
        assert_eq!(body["error"]["code"], code, "{body}");
        let (message, hint) =
            (body["error"]["message"].as_str().unwrap(), body["error"]["hint"].as_str().unwrap());
        assert!(!message.is_empty() && !hint.is_empty(), "{body}");
        format!("{message} {hint}")
    }
}

/// One event of a stream as it was sent.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Told {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) data: Value,
}

/// The events of a stream; comments are left out.
pub(crate) fn events(body: &[u8]) -> Vec<Told> {
    let text = std::str::from_utf8(body).unwrap();
    let blocks = text.split("\n\n").filter(|block| block.lines().any(|line| line.starts_with("data:")));
    blocks
        .map(|block| {
            let field = |name: &str| {
                let found = block.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
                found.unwrap_or_default().trim_start().to_owned()
            };
            let data = serde_json::from_str(&field("data")).unwrap();
            Told { id: field("id"), name: field("event"), data }
        })
        .collect()
}

/// The words of a stream, as a client puts them together.
pub(crate) fn text_of(events: &[Told]) -> String {
    let mut text = String::new();
    for event in events {
        match event.name.as_str() {
            "token" => text.push_str(event.data["text"].as_str().unwrap()),
            "reset" => text.clear(),
            _ => {}
        }
    }
    text
}

impl Installation {
    pub(crate) async fn send(&self, request: Request<Body>) -> Response {
        let answer = self.router.clone().oneshot(request);
        tokio::time::timeout(PATIENCE, answer).await.expect("no answer").unwrap()
    }

    pub(crate) async fn call(&self, method: &str, path: &str, key: &str, body: Option<Value>) -> Reply {
        let mut request = Request::builder().method(Method::try_from(method).unwrap()).uri(path);
        if !key.is_empty() {
            request = request.header("authorization", format!("Bearer {key}"));
        }
        let body = match body {
            Some(body) => {
                request = request.header("content-type", "application/json");
                Body::from(body.to_string())
            }
            None => Body::empty(),
        };
        Reply::of(self.send(request.body(body).unwrap()).await).await
    }

    /// As a keeper who names a tenant.
    pub(crate) async fn call_in(
        &self,
        tenant: &str,
        (method, path): (&str, &str),
        key: &str,
        body: Option<Value>,
    ) -> Reply {
        let request = Request::builder().method(Method::try_from(method).unwrap()).uri(path);
        let request = request
            .header("authorization", format!("Bearer {key}"))
            .header("x-munshi-tenant", tenant)
            .header("content-type", "application/json");
        let body = body.map_or_else(Body::empty, |body| Body::from(body.to_string()));
        Reply::of(self.send(request.body(body).unwrap()).await).await
    }

    pub(crate) async fn get(&self, path: &str, key: &str) -> Reply {
        self.call("GET", path, key, None).await
    }

    pub(crate) async fn post(&self, path: &str, key: &str, body: Value) -> Reply {
        self.call("POST", path, key, Some(body)).await
    }

    /// A chat as a stream, up to so many events; then the client goes.
    pub(crate) async fn stream(&self, request: Request<Body>, most: usize) -> (HeaderMap, Vec<Told>) {
        let response = self.send(request).await;
        let (parts, mut body) = response.into_parts();
        assert_eq!(parts.status.as_u16(), 200);
        assert_eq!(parts.headers["content-type"], "text/event-stream");
        let mut raw = Vec::new();
        while events(&raw).len() < most {
            let frame = tokio::time::timeout(PATIENCE, body.frame());
            let Some(frame) = frame.await.expect("no event") else { break };
            if let Ok(data) = frame.unwrap().into_data() {
                raw.extend_from_slice(&data);
            }
        }
        let mut told = events(&raw);
        told.truncate(most);
        (parts.headers, told)
    }
}

/// A stream that stays open while a test goes on.
pub(crate) struct OpenStream {
    body: Body,
    raw: Vec<u8>,
    seen: usize,
}

impl OpenStream {
    pub(crate) async fn open(house: &Installation, request: Request<Body>) -> Self {
        let response = house.send(request).await;
        let (parts, body) = response.into_parts();
        assert_eq!(parts.status.as_u16(), 200);
        assert_eq!(parts.headers["content-type"], "text/event-stream");
        Self { body, raw: Vec::new(), seen: 0 }
    }

    /// The next event; none after the last.
    pub(crate) async fn next(&mut self) -> Option<Told> {
        loop {
            if let Some(told) = events(&self.raw).get(self.seen) {
                self.seen += 1;
                return Some(told.clone());
            }
            let frame = tokio::time::timeout(PATIENCE, self.body.frame()).await.expect("no event");
            if let Ok(data) = frame?.unwrap().into_data() {
                self.raw.extend_from_slice(&data);
            }
        }
    }

    /// The next event of a name; others are left out.
    pub(crate) async fn next_named(&mut self, name: &str) -> Told {
        loop {
            let told = self.next().await.expect("the stream goes on");
            if told.name == name {
                return told;
            }
        }
    }
}

pub(crate) fn chat(key: &str, body: &Value) -> Request<Body> {
    Request::post("/v1/chat")
        .header("authorization", format!("Bearer {key}"))
        .header("content-type", "application/json")
        .header("accept", "text/event-stream")
        .body(Body::from(body.to_string()))
        .unwrap()
}

pub(crate) fn follow(key: &str, run: &str, after: Option<&str>) -> Request<Body> {
    let mut request =
        Request::get(format!("/v1/runs/{run}/stream")).header("authorization", format!("Bearer {key}"));
    if let Some(after) = after {
        request = request.header("last-event-id", after);
    }
    request.body(Body::empty()).unwrap()
}
