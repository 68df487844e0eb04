//! `POST /v1/chat`: says something to a binding, and hears the answer.

use axum::extract::State;
use axum::http::header::ACCEPT;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use munshi_agent::{MessageReceipt, ReceiveOptions};
use munshi_blobs::references::refer;
use munshi_conversations::IngestStatus;
use munshi_server::error::ApiError;
use munshi_server::json::Json;
use munshi_server::parameters::{self, field_error};
use munshi_types::tier::TierName;
use munshi_types::{BlobId, ClientScreen, InboundMessage, InboundTarget, MessageId, PersonId};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::api::access::AuthorizedCaller;
use crate::api::chat_admission::{ChatAdmission, admit, check_same_message, resolve_binding};
use crate::api::speaker::{ApiSpeaker, SpeakerReference, key_client_id};
use crate::api::stream::{self, RunStreamSource};
use crate::api::turn_errors::convert_turn_error;
use crate::app::App;
use crate::views::event::{IngestStatusView, ServerEvent, StreamEvent};
use crate::views::outcome::{DetailLevel, TurnOutcomeView};

const IDEMPOTENCY_KEY: &str = "idempotency-key";

/// A message to a binding.
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
    /// The person who speaks. Default: the key's person, otherwise a new person each time.
    #[schema(value_type = Option<SpeakerReference>)]
    pub(crate) person: Option<SpeakerReference>,
    /// Your own id for this message; a repeat with the same id is stored once. Also as the `Idempotency-Key` header.
    #[schema(min_length = 1, max_length = 512)]
    pub(crate) message_id: Option<String>,
    /// The locale of the person's device.
    #[schema(min_length = 2, max_length = 35, pattern = "^[A-Za-z0-9_-]+$", example = "en-IN")]
    pub(crate) locale: Option<String>,
    /// The newest message the person had seen: a bare yes answers nothing newer. Default: a yes answers only what the
    /// last response to this key asked.
    #[schema(value_type = Option<uuid::Uuid>)]
    pub(crate) seen: Option<MessageId>,
    /// Files of this person that the message carries, by the ids that `POST /v1/uploads` returned. At most 20.
    #[serde(default)]
    #[schema(value_type = Vec<uuid::Uuid>, max_items = 20)]
    pub(crate) attachments: Vec<BlobId>,
    /// Whether to stream the answer as server-sent events. Default: according to `accept`.
    pub(crate) stream: Option<bool>,
}

/// A stored message and its outcome.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ChatReply)]
pub(crate) struct SendChatResponse {
    /// The stored message.
    #[schema(value_type = uuid::Uuid)]
    received: MessageId,
    /// The person who spoke; send it as `person` to continue the session.
    #[schema(value_type = uuid::Uuid)]
    person: PersonId,
    fate: IngestStatusView,
    #[serde(flatten)]
    outcome: TurnOutcomeView,
}

/// A stored message whose answer takes longer than the request may wait.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ChatAccepted)]
pub(crate) struct ChatReceipt {
    #[schema(value_type = uuid::Uuid)]
    run: munshi_types::RunId,
    #[schema(value_type = uuid::Uuid)]
    session: munshi_types::SessionId,
    /// The stored message.
    #[schema(value_type = uuid::Uuid)]
    received: MessageId,
    #[schema(value_type = uuid::Uuid)]
    person: PersonId,
    fate: IngestStatusView,
    /// The URL of the stream with the rest of the answer.
    #[schema(example = "/v1/runs/01a1dd41-32c0-704f-b28c-400adb3d8fd2/stream")]
    stream: String,
}

/// Send a message to a binding and get the answer.
///
/// The message is stored before it is answered, and the run continues if you disconnect. With `accept:
/// text/event-stream` the answer is streamed; resume from the `id` of any event with `GET /v1/runs/{id}/stream`.
/// Otherwise the answer is one JSON object.
#[utoipa::path(post, path = "/v1/chat", tag = "chat",
    params(("Idempotency-Key" = Option<String>, Header, description = "The same as `message_id`.", max_length = 512)),
    responses(
        (status = 200, description = "The answer.", content((SendChatResponse = "application/json"), (ServerEvent = "text/event-stream")),
            headers(("x-run-id" = uuid::Uuid, description = "The run."), ("x-session-id" = uuid::Uuid, description = "The session."))),
        (status = 202, description = "Stored; the answer takes longer: read it from `stream`.", body = ChatReceipt),
    ))]
pub(crate) async fn send_chat(
    State(app): State<App>,
    key: AuthorizedCaller,
    headers: HeaderMap,
    Json(message): Json<SendChatRequest>,
) -> Result<Response, ApiError> {
    let streams = message.stream.unwrap_or_else(|| wants_events(&headers));
    let files = message.attachments.clone();
    let (inbound, options) = build_inbound(&key, message, &headers).await?;
    let text = inbound.text.clone();
    let received = key.api.engine.receive_with_options(inbound, options).await.map_err(convert_turn_error)?;
    if received.status == IngestStatus::SeenBefore {
        check_same_message(&key.api, &received, text, &files).await?;
    }
    let mut response = if streams {
        stream_answer(&app, &key, &received).await?
    } else {
        await_answer(&key, &received).await?
    };
    set_id_headers(&mut response, &received);
    Ok(response)
}

fn wants_events(headers: &HeaderMap) -> bool {
    let accepted = headers.get(ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    accepted.to_ascii_lowercase().contains("text/event-stream")
}

/// The message as the engine takes it, once every limit has let it pass.
async fn build_inbound(
    key: &AuthorizedCaller,
    message: SendChatRequest,
    headers: &HeaderMap,
) -> Result<(InboundMessage, ReceiveOptions), ApiError> {
    let is_named = message.message_id.is_some() || headers.contains_key(IDEMPOTENCY_KEY);
    let outside_id = resolve_message_id(key, message.message_id, headers)?;
    message.locale.as_deref().map(parameters::validate_locale).transpose()?;
    let speaker = ApiSpeaker::resolve(key, message.person)?;
    if is_named && speaker.is_anonymous() {
        let what = "requires `person`: without it, two senders with the same id would share an answer";
        return Err(field_error("person", what));
    }
    let place = resolve_binding(key, &message.binding).await?;
    let ChatAdmission { person, limits } = admit(key, &speaker, &place, &outside_id).await?;
    let mut from = speaker.sender;
    from.person = from.person.or(person.filter(|_| from.name.is_none()));
    let inbound = InboundMessage {
        channel: speaker.channel,
        to: InboundTarget::Binding { tenant: place.tenant_name.clone(), binding: message.binding },
        from,
        outside_id,
        text: message.text,
        attached: message.attachments.into_iter().map(refer).collect(),
        locale: message.locale,
        sent_at: None,
        reply_to: None,
        screen: ClientScreen {
            seen: message.seen,
            client: Some(key_client_id(key)),
            ..ClientScreen::default()
        },
    };
    munshi_conversations::inbound::validate(&inbound).map_err(convert_turn_error)?;
    let key_use = Some(key.key_use());
    Ok((inbound, ReceiveOptions { limits, key_use, ..ReceiveOptions::default() }))
}

pub(crate) fn resolve_message_id(
    key: &AuthorizedCaller,
    given: Option<String>,
    headers: &HeaderMap,
) -> Result<String, ApiError> {
    let header = match headers.get(IDEMPOTENCY_KEY).map(HeaderValue::to_str) {
        None => None,
        Some(Ok(text)) => Some(text.to_owned()),
        Some(Err(_)) => return Err(field_error("Idempotency-Key", "use letters, digits and dashes")),
    };
    match (given, header) {
        (Some(given), Some(header)) if given != header => Err(field_error(
            "message_id",
            "it differs from the `Idempotency-Key` header: send only one of them",
        )),
        (Some(id), _) | (None, Some(id)) if id.is_empty() => {
            drop(id);
            Err(field_error("message_id", "must not be empty: use a unique id for each message, or omit it"))
        }
        (Some(id), _) | (None, Some(id)) => Ok(id),
        (None, None) => Ok(key.api.ids.next::<MessageId>().to_string()),
    }
}

async fn stream_answer(
    app: &App,
    key: &AuthorizedCaller,
    received: &MessageReceipt,
) -> Result<Response, ApiError> {
    let following =
        key.api.engine.follow(received.tenant, received.run, None).await.map_err(convert_turn_error)?;
    Ok(stream::respond(
        &key.api,
        build_stream_source(received, DetailLevel::for_role(key.role()), Some(key_client_id(key))),
        following,
        app.shutdown_token().clone(),
    ))
}

/// A stream that begins with what became of the message.
pub(crate) fn build_stream_source(
    received: &MessageReceipt,
    insides: DetailLevel,
    client: Option<String>,
) -> RunStreamSource {
    let behind = match received.status {
        IngestStatus::Queued { behind } => behind,
        IngestStatus::Begun | IngestStatus::SeenBefore => None,
    };
    let first = StreamEvent::Received {
        run: received.run,
        session: received.session,
        message: received.message,
        person: received.person,
        fate: (&received.status).into(),
        behind,
    };
    RunStreamSource {
        tenant: received.tenant,
        person: Some(received.person),
        run: received.run,
        insides,
        client,
        first: Some(first),
    }
}

async fn await_answer(key: &AuthorizedCaller, received: &MessageReceipt) -> Result<Response, ApiError> {
    let outcome = key.api.engine.wait_for_outcome(received.tenant, received.run);
    let fate = (&received.status).into();
    match tokio::time::timeout(key.api.reply_timeout, outcome).await {
        Ok(outcome) => {
            let outcome = outcome.map_err(convert_turn_error)?;
            // Whoever has hung up by now drops this before it is noted.
            if let Some(reply) = outcome.message.filter(|_| outcome.asks) {
                let client = Some(key_client_id(key));
                key.api.engine.note_shown(received.tenant, received.run, reply, client).await;
            }
            let (received, person) = (received.message, received.person);
            let outcome = TurnOutcomeView::from(outcome).redact_for(DetailLevel::for_role(key.role()));
            Ok(Json(SendChatResponse { received, person, fate, outcome }).into_response())
        }
        Err(_) => {
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

pub(crate) fn set_id_headers(response: &mut Response, received: &MessageReceipt) {
    let names = [("x-run-id", received.run.to_string()), ("x-session-id", received.session.to_string())];
    for (name, id) in names {
        if let Ok(value) = HeaderValue::try_from(id) {
            response.headers_mut().insert(HeaderName::from_static(name), value);
        }
    }
}
