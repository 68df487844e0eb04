//! `POST /visit/{place}/messages`: somebody at a page says something, and hears the answer.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::http::header::SET_COOKIE;
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use axum::response::Response;
use munshi_agent::{MessageReceipt, ReceiveOptions};
use munshi_blobs::references::refer;
use munshi_conversations::{IngestStatus, messages, runs};
use munshi_identity::{Person, persons};
use munshi_lang::{Locale, detect};
use munshi_server::error::{ApiError, ApiErrorCode};
use munshi_server::json::Json;
use munshi_server::parameters::{self, field_error};
use munshi_server::phrases;
use munshi_server::phrases::to_locale;
use munshi_server::visitor::origin::PageOrigin;
use munshi_server::visitor::token::VisitorToken;
use munshi_store::Tx;
use munshi_types::tier::Channel;
use munshi_types::{BlobId, ClientScreen, Id, InboundMessage, InboundTarget, MessageId};
use serde::Deserialize;
use utoipa::ToSchema;

use crate::api::chat_admission::check_same_message;
use crate::api::stream::{self, StreamEventRenderer};
use crate::api::turn_errors::convert_turn_error;
use crate::app::App;
use crate::routes::chat::send::{build_stream_source, set_id_headers};
use crate::views::event::ServerEvent;
use crate::views::outcome::DetailLevel;
use crate::views::visit_event::VisitEventTranslator;
use crate::visitor::admit::{VisitAdmission, VisitRejection, admit, build_rejection};
use crate::visitor::challenge::ProofOfWork;
use crate::visitor::page_visitor::{PageVisitor, PageVisitorIdentity, derive_client_id, find_person};

/// The token of somebody new, for pages that are not ours.
const VISITOR: HeaderName = HeaderName::from_static("x-visitor");

/// A message to send.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct VisitText {
    /// At most 16 KiB.
    #[schema(min_length = 1, max_length = 16384, example = "When do you open?")]
    text: String,
    /// The browser's random id for this message; a repeat with the same id is stored once.
    #[schema(min_length = 16, max_length = 64, example = "5b0f6c1e4d0f4f0f9d3c5b0f6c1e4d0f")]
    message_id: String,
    /// A random secret that the browser creates with its first message and resends with it. Both together return the
    /// same token if the response was lost. It is not stored. Without it, a resent first message creates another
    /// visitor.
    #[schema(min_length = 32, max_length = 64, example = "9d3c5b0f6c1e4d0f5b0f6c1e4d0f4f0f")]
    secret: Option<String>,
    /// Files of this visitor that the message carries, by the ids that `POST /visit/{place}/uploads` returned.
    #[serde(default)]
    #[schema(value_type = Vec<uuid::Uuid>, max_items = 20)]
    attachments: Vec<BlobId>,
    /// The locale the person chose.
    #[schema(min_length = 2, max_length = 35, pattern = "^[A-Za-z0-9_-]+$", example = "ta")]
    locale: Option<String>,
    /// The newest message on the page when this was written: a bare yes answers nothing newer.
    #[schema(value_type = Option<uuid::Uuid>)]
    seen: Option<MessageId>,
    /// The proof of work, if one was required.
    proof: Option<ProofOfWork>,
}

/// How long a page tries again by itself, and then some.
const SENT_AGAIN: Duration = Duration::from_secs(10 * 60);
/// Longer is no chat.
const LONGEST: usize = 16 * 1024;
/// As the document says of both parts.
const LONGEST_PROOF: usize = 200;

/// Send a message from a page and stream the answer.
///
/// A new visitor gets a token with the first message: pages of this server as a cookie, others in `x-visitor`, to be
/// sent as `authorization: Bearer`. After some messages, an unverified visitor gets a 428 with a challenge.
#[utoipa::path(post, path = "/visit/{place}/messages", tag = "visit_messages",
    params(("place" = String, Path, description = "A handle, or `tenant:binding`.", example = "rangoli")),
    responses(
        (status = 200, description = "The event stream; the data of each event is a `VisitEvent`.", body = ServerEvent, content_type = "text/event-stream",
            headers(("x-run-id" = uuid::Uuid, description = "The run."), ("x-visitor" = String, description = "A new visitor's token, for pages of other sites."))),
        (status = 428, description = "A proof of work is required: see `x-challenge`.", body = crate::ErrorBody,
            headers(("x-challenge" = String, description = "The challenge."))),
    ))]
pub(crate) async fn send_visit_message(
    State(app): State<App>,
    visitor: PageVisitor,
    headers: HeaderMap,
    Json(said): Json<VisitText>,
) -> Result<Response, VisitRejection> {
    check(&said)?;
    let VisitAdmission { person, mut limits } = match admit(&visitor, &said.message_id, said.proof.as_ref())
        .await
    {
        Ok(admitted) => admitted,
        // What was taken before is answered again where a limit is reached meanwhile, a few times a minute.
        Err(rejection) if rejection.is_retryable() && visitor.api.limits.allows_repeat(visitor.address) => {
            match find_previous_sender(&visitor, &said).await? {
                Some(person) => VisitAdmission { person: Some(person), limits: Vec::new() },
                None => return Err(rejection),
            }
        }
        Err(rejection) => return Err(rejection),
    };
    let token = match &visitor.proved {
        PageVisitorIdentity::Nothing => {
            let token = issue_token(&visitor, &said).await?;
            // Who is known already sends their first message again.
            if person.is_none() {
                let visit = visitor.api.limits.check_visit(
                    visitor.binding.tenant,
                    &token.id(),
                    visitor.binding.binding_id,
                )?;
                limits.insert(0, visit);
            }
            Some(token)
        }
        PageVisitorIdentity::Browser(token) => Some(token.clone()),
        PageVisitorIdentity::Person(_) | PageVisitorIdentity::Vouched(_) => None,
    };
    // Somebody new is known by the token that they get from here on.
    let client =
        visitor.client.clone().or_else(|| token.as_ref().map(|token| derive_client_id(token.reveal())));
    let voice = detect_locale(&visitor, &said, &headers).await?;
    let inbound = InboundMessage {
        channel: Channel::Web,
        to: InboundTarget::Binding {
            tenant: visitor.binding.tenant_name.clone(),
            binding: visitor.binding.binding_name.clone(),
        },
        from: visitor.build_sender(person.map(|person| person.id), token.as_ref()),
        outside_id: said.message_id.clone(),
        text: said.text.clone(),
        attached: said.attachments.iter().copied().map(refer).collect(),
        locale: said.locale,
        sent_at: None,
        reply_to: None,
        screen: ClientScreen { seen: said.seen, client: client.clone(), ..ClientScreen::default() },
    };
    let options = ReceiveOptions { limits, ..ReceiveOptions::default() };
    let received = match visitor.api.engine.receive_with_options(inbound, options).await {
        Ok(received) => received,
        Err(error) => return Err(build_rejection(&visitor, &said.message_id, error).await),
    };
    if received.status == IngestStatus::SeenBefore {
        check_same_message(&visitor.api, &received, said.text, &said.attachments).await?;
        check_resend_window(&visitor, &received).await?;
    }
    let mut response = stream_answer(&app, &visitor, &received, (voice, client)).await?;
    set_id_headers(&mut response, &received);
    if let Some(token) = token {
        attach_token(&mut response, &visitor, &token);
    }
    Ok(response)
}

/// Whoever sends a message once more that was taken of them before. Who lost the answer to their first has no token, and
/// what it is made of.
async fn find_previous_sender(visitor: &PageVisitor, said: &VisitText) -> Result<Option<Person>, ApiError> {
    let proved = match (&visitor.proved, &said.secret) {
        (PageVisitorIdentity::Nothing, Some(_)) => {
            PageVisitorIdentity::Browser(issue_token(visitor, said).await?)
        }
        (proved, _) => proved.clone(),
    };
    let (binding, message) = (visitor.binding.binding_id, said.message_id.clone());
    let read = move |tx: &mut Tx<'_>| {
        let Some(person) = find_person(tx, &proved)? else { return Ok(None) };
        let Some(sender) = runs::find_sender(tx, binding, Channel::Web, &message)? else { return Ok(None) };
        let is_theirs = persons::find_living(tx, sender)?.is_some_and(|sender| sender.id == person.id);
        Ok::<_, ApiError>(is_theirs.then_some(person))
    };
    visitor.api.db.read(visitor.binding.tenant, read).await
}

/// Somebody new's. What it is made of is known to their browser alone.
async fn issue_token(visitor: &PageVisitor, said: &VisitText) -> Result<VisitorToken, ApiError> {
    let Some(secret) = &said.secret else { return Ok(VisitorToken::random(visitor.api.random.as_ref())) };
    let key = visitor.api.codes.load_key(visitor.binding.tenant).await?;
    let binding = visitor.binding.binding_id.as_uuid().to_string();
    Ok(VisitorToken::derive(&key, &binding, &said.message_id, secret))
}

fn check(said: &VisitText) -> Result<(), ApiError> {
    if said.text.len() > LONGEST {
        return Err(field_error("text", "must be at most 16 KiB"));
    }
    let is_plain = |text: &str| text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    if !(16..=64).contains(&said.message_id.len()) || !is_plain(&said.message_id) {
        return Err(field_error("message_id", "must be 16 to 64 random letters and digits"));
    }
    if said.secret.as_ref().is_some_and(|secret| !(32..=64).contains(&secret.len()) || !is_plain(secret)) {
        return Err(field_error("secret", "must be 32 to 64 random letters and digits"));
    }
    let longest = said.proof.iter().flat_map(|proof| [proof.challenge.len(), proof.answer.len()]).max();
    if longest.is_some_and(|length| length > LONGEST_PROOF) {
        return Err(field_error("proof", "must be at most 200 characters each"));
    }
    said.locale.as_deref().map(parameters::validate_locale).transpose()?;
    Ok(())
}

/// Who sends their first message again because its answer was lost does so soon. Later its id, which others may have
/// read since, lets nobody in.
async fn check_resend_window(visitor: &PageVisitor, received: &MessageReceipt) -> Result<(), ApiError> {
    if !matches!(visitor.proved, PageVisitorIdentity::Nothing) {
        return Ok(());
    }
    let message = received.message;
    let stored = visitor.api.db.read(received.tenant, move |tx| messages::find(tx, message)).await?;
    let now = visitor.api.clock.now();
    match stored {
        Some(stored) if now.since(stored.said_at.min(now)) <= SENT_AGAIN => Ok(()),
        _ => Err(ApiError::new(ApiErrorCode::Conflict, "A message with this id was already received.")
            .hint("Use a unique id for each message.")),
    }
}

/// What is told beside the reply: in the language of these words, else that of the thread, else the page's.
async fn detect_locale(
    visitor: &PageVisitor,
    said: &VisitText,
    headers: &HeaderMap,
) -> Result<Locale, ApiError> {
    let chosen = said.locale.as_deref().and_then(phrases::find_locale);
    let heard = || detect(&said.text).filter(munshi_lang::LanguageDetection::is_sure);
    if let Some(voice) = chosen.or_else(|| heard().map(|found| Locale::new(found.language, found.form()))) {
        return Ok(voice);
    }
    let thread = visitor.find_thread().await?;
    let language = thread.and_then(|(_, session)| session.language.as_ref().and_then(to_locale));
    Ok(language.unwrap_or_else(|| phrases::choose_locale(&visitor.binding, headers)))
}

async fn stream_answer(
    app: &App,
    visitor: &PageVisitor,
    received: &MessageReceipt,
    (voice, client): (Locale, Option<String>),
) -> Result<Response, ApiError> {
    let following =
        visitor.api.engine.follow(received.tenant, received.run, None).await.map_err(convert_turn_error)?;
    let view = build_event_renderer(VisitEventTranslator::new(&visitor.api, voice));
    Ok(stream::respond_with(
        &visitor.api,
        // The ear tells visitors less than staff hears, but it needs tools' results: attachments stand in them.
        build_stream_source(received, DetailLevel::Shown, client),
        following,
        app.shutdown_token().clone(),
        view,
    ))
}

pub(crate) fn build_event_renderer(ear: VisitEventTranslator) -> StreamEventRenderer {
    Arc::new(move |event| {
        let heard = ear.translate(event)?;
        // Plain structs always become JSON.
        Some((heard.name(), serde_json::to_string(&heard).unwrap_or_default()))
    })
}

/// A cookie on our own pages, each time anew; elsewhere the token itself, once.
fn attach_token(response: &mut Response, visitor: &PageVisitor, token: &VisitorToken) {
    let given = match (&visitor.origin, &visitor.proved) {
        (PageOrigin::Own(line), _) => token.cookie(*line).map(|cookie| (SET_COOKIE, cookie)),
        (_, PageVisitorIdentity::Nothing) => {
            HeaderValue::from_str(token.reveal()).ok().map(|value| (VISITOR, value))
        }
        _ => None,
    };
    response.headers_mut().extend(given);
}
