//! `POST /v1/chat/completions`: a turn with a binding, as OpenAI's clients ask a model.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use axum::response::{IntoResponse, Response};
use munshi_agent::{MessageReceipt, ReceiveOptions};
use munshi_conversations::IngestStatus;
use munshi_conversations::client_context::ClientContext;
use munshi_server::error::{ApiError, ApiErrorCode};
use munshi_server::json::Json;
use munshi_tiers::BindingResolution;
use munshi_types::tier::TierName;
use munshi_types::{AttachedFile, InboundMessage, InboundTarget, MessageId};

use crate::api::access::AuthorizedCaller;
use crate::api::chat_admission::{ChatAdmission, admit, check_same_message, resolve_binding};
use crate::api::speaker::ApiSpeaker;
use crate::api::turn_errors::convert_turn_error;
use crate::app::App;
use crate::openai::body::CompletionsApiBody;
use crate::openai::completion::{Completion, CompletionChunkBuilder, CompletionIdentity};
use crate::openai::errors::{self, ClientRetryAdvice, CompletionRefusal};
use crate::openai::message_parser::{self, CompletionTurn};
use crate::openai::request::CompletionRequest;
use crate::openai::stream::CompletionStream;
use crate::openai::{client_tools, outcome, speaker, unsupported_fields};
use crate::routes::chat::send::{resolve_message_id, set_id_headers};
use crate::views::event::ServerEvent;

const IGNORED: HeaderName = HeaderName::from_static("x-munshi-ignored");
/// Soon enough to hear the end of a turn that took longer than a request may.
const AGAIN: Duration = Duration::from_secs(1);

/// Answer the last user message of a conversation kept by the client.
///
/// The message becomes a turn of the person with the binding: stored, billed and checked like any other. Earlier
/// messages are context for this turn only. With `stream: true` the answer is streamed as events whose data are
/// `CompletionChunk`s, followed by `[DONE]`.
#[utoipa::path(post, path = "/v1/chat/completions", tag = "completions", request_body = CompletionRequest,
    params(
        ("Idempotency-Key" = Option<String>, Header, description = "Your own id for this request; a repeat with the same id is processed once.", max_length = 512),
        ("x-munshi-person" = Option<String>, Header, description = "The person who speaks, in the format of `user`.", max_length = 200)),
    responses(
        (status = 200, description = "The answer.", content((Completion = "application/json"), (ServerEvent = "text/event-stream")),
            headers(("x-run-id" = uuid::Uuid, description = "The run."), ("x-session-id" = uuid::Uuid, description = "The session."))),
        (status = 404, description = "The model does not exist, or this key has no access to it.", body = errors::CompletionError),
        (status = 409, description = "The binding is closed, or the Idempotency-Key belongs to another request.", body = errors::CompletionError)))]
pub(crate) async fn create_completion(
    State(app): State<App>,
    key: AuthorizedCaller,
    headers: HeaderMap,
    body: CompletionsApiBody<CompletionRequest>,
) -> Result<Response, CompletionRefusal> {
    let ignored = unsupported_fields::check(&body.read)?;
    let asked = Asked::parse(&key, &headers, body).await?;
    let (streams, include_usage) = (asked.streams, asked.include_usage);
    let (received, model) = asked.send(&key).await?;
    let created = key.api.clock.now().as_micros() / 1_000_000;
    let named = CompletionIdentity { run: received.run, created, model };
    let mut response = match streams {
        true => stream_answer(&app, &key, &received, CompletionChunkBuilder { named, include_usage }).await?,
        false => await_answer(&key, &received, &named).await?,
    };
    set_id_headers(&mut response, &received);
    errors::set_rate_limit_headers(&mut response, key.api.limits.key_status(&key.caller));
    if let Some(names) = HeaderValue::try_from(ignored.join(",")).ok().filter(|_| !ignored.is_empty()) {
        response.headers_mut().insert(IGNORED, names);
    }
    Ok(response)
}

/// A request that was understood.
struct Asked {
    binding: Arc<BindingResolution>,
    speaker: ApiSpeaker,
    turn: CompletionTurn,
    client_context: ClientContext,
    outside_id: String,
    streams: bool,
    include_usage: bool,
}

impl Asked {
    async fn parse(
        key: &AuthorizedCaller,
        headers: &HeaderMap,
        body: CompletionsApiBody<CompletionRequest>,
    ) -> Result<Self, CompletionRefusal> {
        let CompletionsApiBody { read: request, whole } = body;
        let binding = resolve_model(key, &request.model).await?;
        let speaker = speaker::resolve(key, headers, request.user.as_deref())?;
        let (turn, mut client_context) = message_parser::parse(request.messages)?;
        client_context.tools = client_tools::parse(request.tools.unwrap_or_default())?;
        client_context.choice =
            client_tools::parse_choice(request.tool_choice.as_ref(), &client_context.tools)?;
        client_context.most_output = request.max_completion_tokens.or(request.max_tokens);
        let api = &key.api;
        let outside_id = match headers.contains_key("idempotency-key") {
            true => resolve_message_id(key, None, headers)?,
            false => {
                let fresh = api.ids.next::<MessageId>().to_string();
                api.retries.resolve_id((key.caller.key, &whole), headers, (fresh, api.clock.now()))
            }
        };
        let include_usage = request.stream_options.and_then(|options| options.include_usage).unwrap_or(false);
        let streams = request.stream.unwrap_or(false);
        Ok(Self { binding, speaker, turn, client_context, outside_id, streams, include_usage })
    }

    async fn send(self, key: &AuthorizedCaller) -> Result<(MessageReceipt, String), CompletionRefusal> {
        let ChatAdmission { person, limits } =
            admit(key, &self.speaker, &self.binding, &self.outside_id).await?;
        let mut from = self.speaker.sender;
        from.person = from.person.or(person);
        let (text, attached) = match self.turn {
            CompletionTurn::Words(text) => (text, Vec::new()),
            CompletionTurn::Answers(calls) => {
                (String::new(), calls.iter().map(|call| answer_marker(call)).collect())
            }
        };
        let binding = &self.binding;
        let inbound = InboundMessage {
            channel: self.speaker.channel,
            to: InboundTarget::Binding {
                tenant: binding.tenant_name.clone(),
                binding: binding.binding_name.clone(),
            },
            from,
            outside_id: self.outside_id,
            text: text.clone(),
            attached,
            locale: None,
            sent_at: None,
            reply_to: None,
            screen: Default::default(),
        };
        munshi_conversations::inbound::validate(&inbound)
            .map_err(|error| CompletionRefusal::for_param("messages", convert_turn_error(error)))?;
        let options = ReceiveOptions {
            client_context: Some(self.client_context),
            limits,
            key_use: Some(key.key_use()),
        };
        let received = key.api.engine.receive_with_options(inbound, options).await?;
        if received.status == IngestStatus::SeenBefore {
            check_same_message(&key.api, &received, text, &[]).await?;
        }
        Ok((received, self.binding.binding_name.to_string()))
    }
}

/// What is kept of a tool's answer: that there was one. Its text is the run's alone.
fn answer_marker(call: &str) -> AttachedFile {
    let reference = munshi_server::json::shorten(call).replace(char::is_control, " ");
    AttachedFile { media_type: "application/vnd.munshi.tool-answer".to_owned(), name: None, reference }
}

/// The binding of this name. One that the key does not reach looks like one that is not there.
pub(crate) async fn resolve_model(
    key: &AuthorizedCaller,
    name: &str,
) -> Result<Arc<BindingResolution>, CompletionRefusal> {
    let binding: TierName = name.parse().map_err(|_| CompletionRefusal::no_model(name))?;
    resolve_binding(key, &binding).await.map_err(|error| match error.code() {
        ApiErrorCode::NotFound => CompletionRefusal::no_model(name),
        // A library would send it again to no avail.
        _ => CompletionRefusal::for_param("model", error).retry(ClientRetryAdvice::No),
    })
}

async fn stream_answer(
    app: &App,
    key: &AuthorizedCaller,
    received: &MessageReceipt,
    pieces: CompletionChunkBuilder,
) -> Result<Response, CompletionRefusal> {
    let (tenant, run) = (received.tenant, received.run);
    let following = key.api.engine.follow(tenant, run, None).await?;
    let live = CompletionStream::new(
        key.api.engine.clone(),
        (tenant, run),
        pieces,
        following,
        app.shutdown_token().clone(),
    );
    live.respond().await
}

/// The whole answer. Where it takes longer than a request may, the library is told to ask again, and meets the same turn.
async fn await_answer(
    key: &AuthorizedCaller,
    received: &MessageReceipt,
    named: &CompletionIdentity,
) -> Result<Response, CompletionRefusal> {
    let outcome = key.api.engine.wait_for_outcome(received.tenant, received.run);
    let Ok(outcome) = tokio::time::timeout(key.api.reply_timeout, outcome).await else {
        let error = ApiError::new(
            ApiErrorCode::Timeout,
            "The answer takes longer than the request timeout; the turn continues.",
        )
        .hint("Send the same request with the same Idempotency-Key to get it, or use `stream: true`.")
        .retry_after(AGAIN);
        return Err(CompletionRefusal::from(error).retry(ClientRetryAdvice::Yes));
    };
    let outcome = outcome?;
    match outcome::find_refusal(&outcome) {
        Some(refusal) => Err(refusal),
        None => Ok(Json(Completion::new(named, &outcome)).into_response()),
    }
}
