//! `POST /v1/persons/{id}/link`: a visitor wants to prove a phone.

use std::sync::Mutex;

use async_trait::async_trait;
use axum::http::StatusCode;
use munshi_conversations::linking::{CodeDelivery, CodeSendOutcome, PhoneLinker};
use munshi_conversations::outbox::{ChannelSender, SendFault, SendIdempotency, SendReceipt};
use munshi_conversations::sessions;
use munshi_identity::Role;
use munshi_identity::codes::CodeText;
use munshi_identity::keys::KeySpeaker;
use munshi_lang::{Locale, ScriptForm};
use munshi_server::error::{ApiError, ApiErrorCode};
use munshi_server::error_conversions::not_found_error;
use munshi_server::json::Json;
use munshi_server::parameters::UrlPathParameter;
use munshi_server::phrases;
use munshi_store::Tx;
use munshi_types::tier::Channel;
use munshi_types::{Language, OutboundMessage, PersonId, SessionId, TenantId, Timestamp};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::api::access::AuthorizedCaller;
use crate::api::turn_errors::convert_turn_error;
use crate::app::api::ApiState;

/// A phone to verify.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PhoneToLink {
    /// The session that requests the code; only it can confirm the code.
    #[schema(value_type = uuid::Uuid)]
    session: SessionId,
    #[schema(example = "+919812345678")]
    phone: String,
    #[serde(default)]
    deliver: CodeDeliveryMode,
}

/// How the code is delivered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = Deliver)]
pub(crate) enum CodeDeliveryMode {
    /// We send it.
    #[default]
    Us,
    /// The code is in the answer, and you send it. For a key of an owner that speaks as a person: whoever has the code is
    /// taken for whoever has the phone.
    You,
}

/// A code that was sent.
#[derive(Serialize, ToSchema)]
#[schema(as = CodeAsked)]
pub(crate) struct LinkPhoneResponse {
    #[schema(value_type = String, format = DateTime)]
    expires_at: Timestamp,
    /// Only with `deliver: you`: send it to the phone and nowhere else.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "123456")]
    code: Option<String>,
}

/// Send a code to a visitor's phone to verify it. The response does not reveal whether the phone is known.
#[utoipa::path(post, path = "/v1/persons/{id}/link", tag = "persons",
    params(("id" = uuid::Uuid, Path, description = "The visitor.")),
    responses((status = 202, description = "The code was sent.", body = LinkPhoneResponse)))]
pub(crate) async fn link_person(
    key: AuthorizedCaller,
    UrlPathParameter(id): UrlPathParameter<PersonId>,
    Json(wish): Json<PhoneToLink>,
) -> Result<(StatusCode, Json<LinkPhoneResponse>), ApiError> {
    if wish.deliver == CodeDeliveryMode::You && key.role() != Some(Role::Owner) {
        return Err(ApiError::new(
            ApiErrorCode::Forbidden,
            "Only a key of an owner may receive the code itself.",
        )
        .hint("Ask an owner of the workspace, or omit `deliver`."));
    }
    if wish.deliver == CodeDeliveryMode::You && key.caller.speaks_as == KeySpeaker::Program {
        return Err(ApiError::new(
            ApiErrorCode::Forbidden,
            "A key that speaks as a program may not receive the code: it could impersonate anybody.",
        )
        .hint("Omit `deliver`, or use a key that speaks as a person."));
    }
    check_session(&key, id, wish.session).await?;
    let caught = Caught::default();
    let sender: &dyn ChannelSender = match wish.deliver {
        CodeDeliveryMode::You => &caught,
        CodeDeliveryMode::Us => key
            .api
            .senders
            .iter()
            .find(|sender| sender.channel() == Channel::Whatsapp)
            .map(AsRef::as_ref)
            .ok_or_else(no_channel_error)?,
    };
    let words = |code: &CodeText| match wish.deliver {
        CodeDeliveryMode::You => code.reveal().to_owned(),
        CodeDeliveryMode::Us => {
            phrases::render_code_message(code.reveal(), Locale::new(Language::English, ScriptForm::Latin))
        }
    };
    let way = CodeDelivery { sender, words: &words, language: None };
    match build_phone_linker(&key.api, key.tenant())
        .await?
        .send_code(key.tenant(), wish.session, &wish.phone, &way)
        .await
        .map_err(convert_turn_error)?
    {
        CodeSendOutcome::Sent { expires_at } => {
            Ok((StatusCode::ACCEPTED, Json(LinkPhoneResponse { expires_at, code: caught.take() })))
        }
        CodeSendOutcome::NotSent { why } => Err(ApiError::unavailable(why)),
        CodeSendOutcome::TooMany { again_at } => {
            let wait = again_at.since(key.api.clock.now());
            Err(ApiError::new(ApiErrorCode::TooManyRequests, "Too many codes were requested.")
                .retry_after(wait))
        }
    }
}

pub(crate) async fn build_phone_linker(api: &ApiState, tenant: TenantId) -> Result<PhoneLinker, ApiError> {
    Ok(PhoneLinker {
        db: api.db.clone(),
        key: api.codes.load_key(tenant).await?,
        ids: api.ids.clone(),
        random: api.random.clone(),
        clock: api.clock.clone(),
    })
}

/// The conversation must be this person's, and of a binding that the key reaches.
pub(crate) async fn check_session(
    key: &AuthorizedCaller,
    person: PersonId,
    session: SessionId,
) -> Result<(), ApiError> {
    let read = move |tx: &mut Tx<'_>| {
        let living = munshi_identity::persons::find_living(tx, person)?;
        Ok::<_, munshi_store::Error>((living, sessions::find_current(tx, session)?))
    };
    let (living, found) = key.api.db.read(key.tenant(), read).await?;
    let living = living.ok_or_else(|| not_found_error("person", &person.to_string()))?;
    let found = found.filter(|found| found.person == living.id && key.reaches(found.binding));
    found.map(|_| ()).ok_or_else(|| not_found_error("session", &session.to_string()))
}

pub(crate) fn no_channel_error() -> ApiError {
    ApiError::new(ApiErrorCode::Conflict, "No channel that can reach a phone is set up here.")
        .hint("Set one up, or send the code yourself: `\"deliver\": \"you\"`, with a key of an owner.")
}

/// Keeps what would have been sent.
#[derive(Default)]
struct Caught(Mutex<Option<String>>);

impl Caught {
    fn take(self) -> Option<String> {
        self.0.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

#[async_trait]
impl ChannelSender for Caught {
    fn channel(&self) -> Channel {
        Channel::Api
    }

    fn idempotency(&self) -> SendIdempotency {
        SendIdempotency::Keyed
    }

    async fn send(&self, outbound: &OutboundMessage) -> Result<SendReceipt, SendFault> {
        *self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(outbound.text.clone());
        Ok(SendReceipt::default())
    }
}
