//! Through a running server: the same API as every program uses, with a key of its own.

use std::net::SocketAddr;
use std::sync::OnceLock;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use munshi_identity::Role;
use munshi_identity::keys::{self, KeyMaker, KeySpeaker, KeySubject, NewApiKey};
use munshi_llm::sse::SseParser;
use munshi_safety::audit::{AuditStamp, administer};
use munshi_store::{AdminTx, Db};
use munshi_tiers::BindingResolution;
use munshi_types::tier::TierName;
use munshi_types::{ClientScreen, Id, KeyId, MessageId, PersonId, RunId, SystemRandom, Timestamp};
use munshi_wiring::failure::{CommandFailure, Exit, Result};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use super::client::dispatch_event;
use super::reply::AskEventListener;
use super::speaker::AskSpeakerContext;

/// A key that nobody took back, because the machine went down, ends by itself.
const GOOD_FOR: Duration = Duration::from_secs(24 * 60 * 60);
/// What the names of such keys begin with: all of them are one client.
const BEGINNING: &str = ClientScreen::COMMAND_LINE_KEYS;
/// The most of an event or an error that is read.
const LONGEST: usize = 4 << 20;
/// How often a server that wants a pause is asked again.
const TRIES: u32 = 5;

/// What is said, and the newest message that was shown before it.
pub(super) struct AskMessage<'a> {
    pub(super) text: &'a str,
    pub(super) seen: Option<MessageId>,
}

pub(super) struct RunningServerClient {
    address: SocketAddr,
    key: String,
    /// Whom a given key stands for.
    person: Option<PersonId>,
    /// The key to take back at the end.
    made: Option<KeyId>,
}

impl RunningServerClient {
    pub(super) async fn connect(
        address: SocketAddr,
        db: &Db,
        place: &BindingResolution,
        asking: &AskSpeakerContext,
        given: Option<&str>,
    ) -> Result<Self> {
        if let Some(key) = given {
            let caller = keys::authenticate(db, key, asking.now).await?;
            let caller = caller.ok_or_else(|| {
                CommandFailure::refused("invalid or expired API key").hint("`munshi key list` shows the keys")
            })?;
            let person = caller.principal.person;
            return Ok(Self { address, key: key.to_owned(), person, made: None });
        }
        let (asking, binding) = (asking.clone(), place.binding_id);
        let stamp = build_stamp(&asking);
        let made: keys::IssuedApiKey =
            administer(db, place.tenant, stamp, move |tx| make(tx, &asking, binding)).await?;
        let key = made.text.reveal().to_owned();
        Ok(Self { address, key, person: None, made: Some(made.key.id) })
    }

    pub(super) fn person(&self) -> Option<PersonId> {
        self.person
    }

    /// Takes back the key that was made. Where that fails it ends by itself within a day.
    pub(super) async fn revoke_key(
        &self,
        db: &Db,
        place: &BindingResolution,
        asking: &AskSpeakerContext,
        now: Timestamp,
    ) {
        let Some(id) = self.made else { return };
        let asking = AskSpeakerContext { now, ..asking.clone() };
        let unit = move |tx: &mut AdminTx<'_, '_>| -> Result<()> {
            keys::remove(tx, id)?;
            note_key(tx, "api_key.revoked", id);
            Ok(())
        };
        if let Err(failure) = administer(db, place.tenant, build_stamp(&asking), unit).await {
            tracing::warn!(error = failure.message, "failed to revoke the temporary key");
        }
    }

    /// Says it and follows the answer to its end.
    pub(super) async fn send_message(
        &self,
        binding: &TierName,
        person: PersonId,
        words: AskMessage<'_>,
        (listener, begun): (&mut dyn AskEventListener, &OnceLock<RunId>),
    ) -> Result<RunId> {
        let id: MessageId = munshi_types::IdGenerator::system().next();
        let mut body = json!({ "binding": binding, "text": words.text, "person": person, "message_id": id,
            "stream": true });
        if let Some(seen) = words.seen {
            body["seen"] = json!(seen);
        }
        let mut tries = 1;
        loop {
            let mut tasks = JoinSet::new();
            let response = self.post("/v1/chat", &body, &mut tasks).await?;
            let pause = parse_retry_after(&response).filter(|_| tries < TRIES);
            match (response.status(), pause) {
                (StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE, Some(pause)) => {
                    tries += 1;
                    tokio::time::sleep(pause).await;
                }
                (StatusCode::OK, _) => return follow(response, listener, begun).await,
                _ => return Err(read_failure(response).await),
            }
        }
    }

    /// Asks it to stop a turn. One that ends meanwhile needs no stopping.
    pub(super) async fn cancel(&self, run: RunId) {
        let mut tasks = JoinSet::new();
        let asked = self.post(&format!("/v1/runs/{run}/cancel"), &json!({}), &mut tasks).await;
        if let Err(failure) = asked {
            tracing::warn!(error = failure.message, "failed to cancel the turn");
        }
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    async fn post(&self, path: &str, body: &Value, tasks: &mut JoinSet<()>) -> Result<Response<Incoming>> {
        let gone = |error: &dyn std::fmt::Display| {
            CommandFailure::failed(format!("can't reach the server at {}: {error}", self.address))
                .hint("check that it runs, or stop it and ask again without it")
        };
        let stream = TcpStream::connect(self.address).await.map_err(|error| gone(&error))?;
        let shaken = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await;
        let (mut sender, connection) = shaken.map_err(|error| gone(&error))?;
        tasks.spawn(async move {
            // What breaks here is told by the request that waits for it.
            let _ended = connection.await;
        });
        let request = Request::post(path)
            .header("host", self.address.to_string())
            .header("authorization", format!("Bearer {}", self.key))
            .header("content-type", "application/json")
            .header("accept", "text/event-stream")
            .body(Full::new(Bytes::from(body.to_string())))
            .map_err(|error| gone(&error))?;
        sender.send_request(request).await.map_err(|error| gone(&error))
    }
}

fn make(
    tx: &mut AdminTx<'_, '_>,
    asking: &AskSpeakerContext,
    binding: munshi_types::BindingId,
) -> Result<keys::IssuedApiKey> {
    keys::remove_ended(tx, BEGINNING, asking.now)?;
    let name = format!("{BEGINNING}{}", asking.ids.next::<MessageId>().as_uuid().simple());
    let new = NewApiKey {
        name: name.clone(),
        carries: KeySubject::Role(Role::Owner),
        areas: Some(vec!["chat".parse().map_err(|error| CommandFailure::failed(format!("{error}")))?]),
        bindings: Some(vec![binding]),
        expires_at: Some(asking.now.plus(GOOD_FOR)),
        speaks_as: KeySpeaker::Person,
        made_by: asking.actor.id.clone(),
        // Whoever sits at the machine, and no program of theirs.
        maker: KeyMaker::from_name(name.as_str()),
    };
    let made = keys::add(tx, &asking.ids, &SystemRandom, &new, asking.now)?;
    note_key(tx, "api_key.made", made.key.id);
    Ok(made)
}

fn note_key(tx: &mut AdminTx<'_, '_>, event: &'static str, key: KeyId) {
    tx.note(event, key.to_string(), json!({ "for": "ask" }));
}

fn build_stamp(asking: &AskSpeakerContext) -> AuditStamp {
    AuditStamp { actor: asking.actor.clone(), ids: asking.ids.clone(), now: asking.now, claim: None }
}

fn parse_retry_after(response: &Response<Incoming>) -> Option<Duration> {
    let seconds = response.headers().get("retry-after")?.to_str().ok()?.parse().ok()?;
    (seconds <= 60).then(|| Duration::from_secs(seconds))
}

/// Hears every event. A stream that breaks is no harm: the turn goes on, and its end is read from the store.
async fn follow(
    response: Response<Incoming>,
    listener: &mut dyn AskEventListener,
    begun: &OnceLock<RunId>,
) -> Result<RunId> {
    let run =
        response.headers().get("x-run-id").and_then(|id| id.to_str().ok()).and_then(|id| id.parse().ok());
    let run: RunId = run.ok_or_else(|| CommandFailure::failed("the server returned no run id"))?;
    begun.get_or_init(|| run);
    let mut body = response.into_body();
    let (mut parser, mut events) = (SseParser::new(LONGEST), Vec::new());
    while let Some(Ok(frame)) = body.frame().await {
        let Ok(bytes) = frame.into_data() else { continue };
        let is_read = parser.push(&bytes, &mut events).is_ok();
        for event in events.drain(..) {
            dispatch_event(listener, &event.data)?;
        }
        if !is_read {
            break;
        }
    }
    Ok(run)
}

async fn read_failure(response: Response<Incoming>) -> CommandFailure {
    let status = response.status();
    let body = http_body_util::Limited::new(response.into_body(), LONGEST).collect().await;
    let bytes = body.map(http_body_util::Collected::to_bytes).unwrap_or_default();
    let error: Value = serde_json::from_slice(&bytes).unwrap_or_default();
    let part = |name: &str| error["error"][name].as_str().map(str::to_owned);
    let exit = match status {
        StatusCode::BAD_REQUEST | StatusCode::UNPROCESSABLE_ENTITY | StatusCode::PAYLOAD_TOO_LARGE => {
            Exit::Usage
        }
        StatusCode::NOT_FOUND => Exit::NotFound,
        status if status.is_client_error() => Exit::Refused,
        _ => Exit::Failed,
    };
    let message = part("message").unwrap_or_else(|| format!("the server returned {status}"));
    let failure = CommandFailure::new(exit, message);
    match part("hint") {
        Some(hint) => failure.hint(hint),
        None => failure.hint("check that the server has this version, and see its log"),
    }
}
