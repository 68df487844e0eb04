//! A model server on loopback that speaks Anthropic's, OpenAI's and Gemini's wires from fixtures, and can fail the
//! way the real ones do.
//!
//! A request must be one of the fixtures' to the byte (as canonical JSON); anything else is answered 418 and kept in
//! [`ModelServer::unmatched_requests`]. What goes wrong is said beforehand: [`ModelServer::enqueue_answer`] takes the answer to the next
//! request.

pub mod answer;
pub mod fixture;
mod http;

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use serde_json::Value;
use tokio::io::AsyncReadExt;
use tokio::net::tcp::OwnedReadHalf;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

use answer::FakeModelOutcome;
pub use answer::{FakeModelAnswer, FakeModelStep};
pub use fixture::{Fixture, FixtureDelivery};
use http::{RawHttpRequest, read_request};

/// Runs until dropped.
pub struct ModelServer {
    pub address: SocketAddr,
    shared: Arc<Shared>,
    _tasks: JoinSet<()>,
}

struct Shared {
    fixtures: Vec<Fixture>,
    next: Mutex<VecDeque<FakeModelAnswer>>,
    strangers: Mutex<Vec<String>>,
    requests: Mutex<Vec<RawHttpRequest>>,
    /// How many requests came and how many clients went before their answer's end.
    seen: watch::Sender<ModelServerStats>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ModelServerStats {
    pub requests: usize,
    pub hung_up: usize,
    pub connections: usize,
}

impl ModelServer {
    pub async fn start(fixtures: Vec<Fixture>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(Shared {
            fixtures,
            next: Mutex::default(),
            strangers: Mutex::default(),
            requests: Mutex::default(),
            seen: watch::Sender::default(),
        });
        let mut tasks = JoinSet::new();
        tasks.spawn(accept(listener, shared.clone()));
        Self { address, shared, _tasks: tasks }
    }

    /// An address where nobody listens.
    pub async fn closed_url() -> String {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        format!("http://{}", listener.local_addr().unwrap())
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// What the next request gets instead of its fixture's answer, whatever it asks.
    pub fn enqueue_answer(&self, answer: FakeModelAnswer) {
        self.shared.next.lock().unwrap().push_back(answer);
    }

    /// Requests that are no fixture's, with where they differ.
    pub fn unmatched_requests(&self) -> Vec<String> {
        self.shared.strangers.lock().unwrap().clone()
    }

    pub fn requests(&self) -> Vec<RawHttpRequest> {
        self.shared.requests.lock().unwrap().clone()
    }

    pub fn stats(&self) -> ModelServerStats {
        *self.shared.seen.borrow()
    }

    /// Waits until as many requests came or clients left as asked for.
    pub async fn wait_until(&self, condition: impl FnMut(&ModelServerStats) -> bool) {
        self.shared.seen.subscribe().wait_for(condition).await.unwrap();
    }
}

async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    let mut connections = JoinSet::new();
    while let Ok((socket, _)) = listener.accept().await {
        shared.seen.send_modify(|seen| seen.connections += 1);
        connections.spawn(serve(socket, shared.clone()));
    }
}

/// One connection, request after request, until either side ends it.
async fn serve(socket: TcpStream, shared: Arc<Shared>) {
    socket.set_nodelay(true).unwrap();
    let (mut reader, mut writer) = socket.into_split();
    let mut rest = Vec::new();
    while let Some(request) = read_request(&mut reader, &mut rest).await {
        shared.requests.lock().unwrap().push(request.clone());
        let planned = shared.next.lock().unwrap().pop_front();
        let answer = planned.unwrap_or_else(|| shared.answer(&request));
        shared.seen.send_modify(|seen| seen.requests += 1);
        let outcome = tokio::select! {
            biased;
            outcome = answer.send(&mut writer) => outcome,
            () = wait_for_hangup(&mut reader) => FakeModelOutcome::Left,
        };
        match outcome {
            FakeModelOutcome::Ended => {}
            FakeModelOutcome::Closed => return,
            FakeModelOutcome::Left => {
                shared.seen.send_modify(|seen| seen.hung_up += 1);
                return;
            }
        }
    }
}

/// A client sends nothing while it is answered, so the end of its bytes is the end of its patience.
async fn wait_for_hangup(reader: &mut OwnedReadHalf) {
    let mut byte = [0];
    let _end = reader.read(&mut byte).await;
}

impl Shared {
    fn answer(&self, request: &RawHttpRequest) -> FakeModelAnswer {
        let body: Value = serde_json::from_slice(&request.body).unwrap_or_default();
        let found = self.fixtures.iter().find(|fixture| fixture.matches(&request.path, &body));
        if let Some(fixture) = found {
            return fixture.answer(fixture.detect_delivery(&request.path, &body));
        }
        let nearest =
            self.fixtures.iter().max_by_key(|fixture| fixture.score_similarity(&request.path, &body));
        let nearest =
            nearest.map(|fixture| fixture.describe_difference(&request.path, &body)).unwrap_or_default();
        self.strangers.lock().unwrap().push(nearest.clone());
        FakeModelAnswer::json(418, &serde_json::json!({"error": {"message": nearest, "type": "no_fixture"}}))
    }
}
