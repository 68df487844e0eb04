//! `POST /v1/chat`: says something to a binding, and hears the answer.

use std::sync::Arc;

use axum::extract::State;
use axum::http::header::ACCEPT;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use munshi_agent::messages::{self, MessageStatus};
use munshi_agent::{IngestStatus as Became, MessageReceipt, ReceiveOptions, runs};
use munshi_safety::rate_limits::RateLimit;
use munshi_tiers::{AddressResolution, BindingResolution};
use munshi_types::tier::{Channel, TierName};
use munshi_types::{ClientScreen, InboundMessage, InboundTarget, MessageId, PersonId};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::api::ApiState;
use crate::api::access::AuthorizedCaller;
use crate::api::ask::{self, invalid};
use crate::api::speaker::{ApiSpeaker, SpeakerReference, client_of};
use crate::api::stream::{self, RunStreamSource};
use crate::app::App;
use crate::error::{ApiError, ApiErrorCode};
use crate::json::Json;
use crate::views::event::{IngestStatusView, ServerEvent, StreamEvent};
use crate::views::outcome::{DetailLevel, TurnOutcomeView};

const IDEMPOTENCY_KEY: &str = "idempotency-key";

/// Something to say.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = ChatMessage)]
pub(crate) struct SendChatRequest {
    /// The name of the binding that answers.
    #[schema(value_type = String, pattern = "^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$", example = "counter")]
    pub(crate) binding: TierName,
    /// At most 64 KiB.
    #[schema(min_length = 1, max_length = 65536, example = "When do you open?")]
    pub(crate) text: String,
    /// Who says it. Without it: the person the key stands for, else somebody new each time.
    #[schema(value_type = Option<SpeakerReference>)]
    pub(crate) person: Option<SpeakerReference>,
    /// Your own id of this message: the same one is taken once. Also as the header `Idempotency-Key`.
    #[schema(min_length = 1, max_length = 512)]
    pub(crate) message_id: Option<String>,
    /// What the person's device is set to.
    #[schema(min_length = 2, max_length = 35, pattern = "^[A-Za-z0-9_-]+$", example = "en-IN")]
    pub(crate) locale: Option<String>,
    /// The newest message that the person had before them: a bare yes answers nothing newer. Without it a yes answers
    /// only what the last answer to this key has asked.
    #[schema(value_type = Option<uuid::Uuid>)]
    pub(crate) seen: Option<MessageId>,
    /// Whether the answer comes as server-sent events. Without it, as `accept` says.
    pub(crate) stream: Option<bool>,
}

/// A message that was stored, and what came of it.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ChatReply)]
pub(crate) struct SendChatResponse {
    /// What was said.
    #[schema(value_type = uuid::Uuid)]
    received: MessageId,
    /// Who said it; send it as `person` to go on with the conversation.
    #[schema(value_type = uuid::Uuid)]
    person: PersonId,
    fate: IngestStatusView,
    #[serde(flatten)]
    outcome: TurnOutcomeView,
}

/// A message that was stored, and whose answer takes longer than anybody waits.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ChatAccepted)]
pub(crate) struct ChatReceipt {
    #[schema(value_type = uuid::Uuid)]
    run: munshi_types::RunId,
    #[schema(value_type = uuid::Uuid)]
    session: munshi_types::SessionId,
    /// What was said.
    #[schema(value_type = uuid::Uuid)]
    received: MessageId,
    #[schema(value_type = uuid::Uuid)]
    person: PersonId,
    fate: IngestStatusView,
    /// Where the rest is heard.
    #[schema(example = "/v1/runs/01a1dd41-32c0-704f-b28c-400adb3d8fd2/stream")]
    stream: String,
}

/// Says something to a binding, and hears the answer.
///
/// The message is stored before anything is answered, and the turn goes on even if you go. With
/// `accept: text/event-stream` the answer comes word by word, each event under an `id` with which
/// `GET /v1/runs/{id}/stream` goes on from there; otherwise as one JSON object.
#[utoipa::path(post, path = "/v1/chat", tag = "chat",
    params(("Idempotency-Key" = Option<String>, Header, description = "The same as `message_id`.", max_length = 512)),
    responses(
        (status = 200, description = "The answer.", content((SendChatResponse = "application/json"), (ServerEvent = "text/event-stream")),
            headers(("x-run-id" = uuid::Uuid, description = "The turn."), ("x-session-id" = uuid::Uuid, description = "The conversation."))),
        (status = 202, description = "Stored; the answer takes longer and is heard at `stream`.", body = ChatReceipt),
    ))]
pub(crate) async fn send_chat(
    State(app): State<App>,
    key: AuthorizedCaller,
    headers: HeaderMap,
    Json(message): Json<SendChatRequest>,
) -> Result<Response, ApiError> {
    let streams = message.stream.unwrap_or_else(|| wants_events(&headers));
    let (inbound, options) = inbound(&key, message, &headers).await?;
    let text = inbound.text.clone();
    let received = key.api.engine.receive_limited(inbound, options).await?;
    if received.fate == Became::SeenBefore {
        same_words(&key.api, &received, text).await?;
    }
    let mut response =
        if streams { follow(&app, &key, &received).await? } else { wait(&key, &received).await? };
    name_it(&mut response, &received);
    Ok(response)
}

fn wants_events(headers: &HeaderMap) -> bool {
    let accepted = headers.get(ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    accepted.to_ascii_lowercase().contains("text/event-stream")
}

/// The message as the engine takes it, once every limit has let it pass.
async fn inbound(
    key: &AuthorizedCaller,
    message: SendChatRequest,
    headers: &HeaderMap,
) -> Result<(InboundMessage, ReceiveOptions), ApiError> {
    let is_named = message.message_id.is_some() || headers.contains_key(IDEMPOTENCY_KEY);
    let outside_id = outside_id(key, message.message_id, headers)?;
    message.locale.as_deref().map(ask::locale).transpose()?;
    let speaker = ApiSpeaker::of(key, message.person)?;
    if is_named && speaker.is_nobody() {
        let what = "say who speaks, too: two strangers could give the same id, and get each other's answer";
        return Err(invalid("person", what));
    }
    let place = place(key, &message.binding).await?;
    let ChatAdmission { person, limits } = admit(key, &speaker, &place, &outside_id).await?;
    let mut from = speaker.sender;
    from.person = from.person.or(person.filter(|_| from.name.is_none()));
    let inbound = InboundMessage {
        channel: speaker.channel,
        to: InboundTarget::Binding { tenant: place.tenant_name.clone(), binding: message.binding },
        from,
        outside_id,
        text: message.text,
        attached: Vec::new(),
        locale: message.locale,
        sent_at: None,
        reply_to: None,
        screen: ClientScreen { seen: message.seen, client: Some(client_of(key)), ..ClientScreen::default() },
    };
    munshi_agent::fit::check(&inbound)?;
    let key_use = Some(key.usage());
    Ok((inbound, ReceiveOptions { limits, key_use, ..ReceiveOptions::default() }))
}

pub(crate) fn outside_id(
    key: &AuthorizedCaller,
    given: Option<String>,
    headers: &HeaderMap,
) -> Result<String, ApiError> {
    let header = match headers.get(IDEMPOTENCY_KEY).map(HeaderValue::to_str) {
        None => None,
        Some(Ok(text)) => Some(text.to_owned()),
        Some(Err(_)) => return Err(invalid("Idempotency-Key", "write letters, digits and dashes")),
    };
    match (given, header) {
        (Some(given), Some(header)) if given != header => {
            Err(invalid("message_id", "it differs from the header Idempotency-Key: send one of them"))
        }
        (Some(id), _) | (None, Some(id)) if id.is_empty() => {
            drop(id);
            Err(invalid("message_id", "it is empty: give each message an id of its own, or leave it out"))
        }
        (Some(id), _) | (None, Some(id)) => Ok(id),
        (None, None) => Ok(key.api.ids.next::<MessageId>().to_string()),
    }
}

/// The binding, if the key reaches it. One that it does not reach looks like one that is not there.
pub(crate) async fn place(
    key: &AuthorizedCaller,
    binding: &TierName,
) -> Result<Arc<BindingResolution>, ApiError> {
    let tenant = key.api.tenant(key.tenant()).await?;
    let missing = || {
        ApiError::new(ApiErrorCode::NotFound, format!("There is no binding {binding} that this key reaches."))
            .hint("GET /v1/bindings lists those it does.")
    };
    let closed = |what: String, hint: &'static str| ApiError::new(ApiErrorCode::Conflict, what).hint(hint);
    match key.api.resolver.by_name(&tenant.name, binding, None).await? {
        AddressResolution::Bound(place) if key.reaches(place.binding_id) => Ok(place),
        AddressResolution::Bound(_) | AddressResolution::Unknown => Err(missing()),
        AddressResolution::TenantPaused(name) => Err(closed(
            format!("{name} rests for now; what comes in is not answered until it is woken."),
            "`munshi tenant resume` wakes it; then send it again.",
        )),
        AddressResolution::TenantArchived(name) => {
            Err(closed(format!("{name} is closed."), "Write to another workspace."))
        }
        AddressResolution::BindingArchived { binding, .. } => Err(closed(
            format!("The binding {binding} is closed."),
            "Write to another: GET /v1/bindings lists them.",
        )),
    }
}

/// A message that this node lets pass.
pub(crate) struct ChatAdmission {
    /// Who speaks, where they are known.
    pub(crate) person: Option<PersonId>,
    /// What it is counted by when it is stored, on all nodes together.
    pub(crate) limits: Vec<RateLimit>,
}

/// Checks every limit, before any model is asked. A message that was stored before passes whatever limit is reached now:
/// the caller asks for its answer again.
pub(crate) async fn admit(
    key: &AuthorizedCaller,
    speaker: &ApiSpeaker,
    place: &BindingResolution,
    outside_id: &str,
) -> Result<ChatAdmission, ApiError> {
    match check_limits(key, speaker, place).await {
        Err(error)
            if error.code() == ApiErrorCode::TooManyRequests
                && sent_before(key, place, speaker.channel, outside_id).await? =>
        {
            Ok(ChatAdmission { person: None, limits: Vec::new() })
        }
        admission => admission,
    }
}

pub(crate) async fn check_limits(
    key: &AuthorizedCaller,
    speaker: &ApiSpeaker,
    place: &BindingResolution,
) -> Result<ChatAdmission, ApiError> {
    let (api, tenant) = (&key.api, key.tenant());
    let look = {
        let (speaker, key) =
            (speaker.clone(), AuthorizedCaller { api: api.clone(), caller: key.caller.clone() });
        move |tx: &mut munshi_store::Tx<'_>| speaker.find(tx, &key)
    };
    let found = api.db.read(tenant, look).await?;
    let mut limits = vec![api.limits.tenant(tenant, found.plan)?];
    match (&found.person, speaker.counted()) {
        (Some(person), _) => limits.push(api.limits.person(tenant, &person.id.to_string())?),
        (None, Some(address)) => limits.push(api.limits.person(tenant, address.as_str())?),
        (None, None) => {}
    }
    if let Some(person) = found.person.as_ref().filter(|person| person.visitor) {
        limits.push(api.limits.visit(tenant, &person.id.to_string(), place.binding_id)?);
    }
    Ok(ChatAdmission { person: found.person.map(|person| person.id), limits })
}

/// Whether a message of this id was taken here before: of whom, and whether they ask now, is looked at when it is taken in.
async fn sent_before(
    key: &AuthorizedCaller,
    place: &BindingResolution,
    channel: Channel,
    outside_id: &str,
) -> Result<bool, ApiError> {
    let (binding, outside_id) = (place.binding_id, outside_id.to_owned());
    let read = move |tx: &mut munshi_store::Tx<'_>| runs::sender_of(tx, binding, channel, &outside_id);
    Ok(key.api.db.read(key.tenant(), read).await?.is_some())
}

/// The same id with other words is a mistake, and not the same message.
pub(crate) async fn same_words(
    api: &ApiState,
    received: &MessageReceipt,
    text: String,
) -> Result<(), ApiError> {
    let message = received.message;
    let stored = api.db.read(received.tenant, move |tx| messages::find(tx, message)).await?;
    match stored {
        Some(stored) if stored.standing != MessageStatus::Refused && stored.text != text => {
            Err(ApiError::new(
                ApiErrorCode::Conflict,
                "A message with this id and another text was taken before.",
            )
            .hint("Give each message an id of its own; the same one means the same message."))
        }
        _ => Ok(()),
    }
}

async fn follow(app: &App, key: &AuthorizedCaller, received: &MessageReceipt) -> Result<Response, ApiError> {
    let following = key.api.engine.follow(received.tenant, received.run, None).await?;
    Ok(stream::respond(
        &key.api,
        opening(received, DetailLevel::of(key.role())),
        following,
        app.stopping().clone(),
    ))
}

/// A stream that begins with what became of the message.
pub(crate) fn opening(received: &MessageReceipt, insides: DetailLevel) -> RunStreamSource {
    let behind = match received.fate {
        Became::Queued { behind } => Some(behind),
        Became::Begun | Became::SeenBefore => None,
    };
    let first = StreamEvent::Received {
        run: received.run,
        session: received.session,
        message: received.message,
        person: received.person,
        fate: (&received.fate).into(),
        behind,
    };
    RunStreamSource {
        tenant: received.tenant,
        person: received.person,
        run: received.run,
        insides,
        first: Some(first),
    }
}

async fn wait(key: &AuthorizedCaller, received: &MessageReceipt) -> Result<Response, ApiError> {
    let outcome = key.api.engine.outcome(received.tenant, received.run);
    let fate = (&received.fate).into();
    match tokio::time::timeout(key.api.patience, outcome).await {
        Ok(outcome) => {
            let (received, person) = (received.message, received.person);
            let outcome = TurnOutcomeView::from(outcome?).told_to(DetailLevel::of(key.role()));
            Ok(Json(SendChatResponse { received, person, fate, outcome }).into_response())
        }
        Err(_) => {
            // What this turn says is shown by no response: a bare yes that follows answers nothing of it.
            let message = received.message;
            let note = move |tx: &mut munshi_store::Tx<'_>| messages::note_unanswered(tx, message);
            key.api.db.write(received.tenant, note).await?;
            let accepted = ChatReceipt {
                run: received.run,
                session: received.session,
                received: received.message,
                person: received.person,
                fate,
                stream: format!("/v1/runs/{}/stream", received.run),
            };
            Ok((StatusCode::ACCEPTED, Json(accepted)).into_response())
        }
    }
}

pub(crate) fn name_it(response: &mut Response, received: &MessageReceipt) {
    let names = [("x-run-id", received.run.to_string()), ("x-session-id", received.session.to_string())];
    for (name, id) in names {
        if let Ok(value) = HeaderValue::try_from(id) {
            response.headers_mut().insert(HeaderName::from_static(name), value);
        }
    }
}
