//! `POST /v1/persons/{id}/link`: a visitor wants to prove a phone or an e-mail.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use axum::http::StatusCode;
use munshi_conversations::linking::{AddressLinker, CodeDelivery, CodeSendOutcome};
use munshi_conversations::outbox::{ChannelSender, SendFault, SendIdempotency, SendReceipt, SenderRoute};
use munshi_conversations::sessions::{self, Session};
use munshi_identity::codes::CodeText;
use munshi_identity::keys::KeySpeaker;
use munshi_identity::{ContactAddress, ContactAddressKind, Role};
use munshi_lang::{Locale, ScriptForm};
use munshi_pack::operation::sentence;
use munshi_server::error::{ApiError, ApiErrorCode};
use munshi_server::error_conversions::not_found_error;
use munshi_server::json::Json;
use munshi_server::parameters::UrlPathParameter;
use munshi_server::phrases;
use munshi_store::Tx;
use munshi_types::tier::Channel;
use munshi_types::{BindingId, Language, OutboundMessage, PersonId, SessionId, TenantId, Timestamp};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::api::access::AuthorizedCaller;
use crate::api::turn_errors::convert_turn_error;
use crate::app::api::ApiState;

/// A phone or an e-mail to verify: one of the two.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AddressToLink {
    /// The session that requests the code; only it can confirm the code.
    #[schema(value_type = uuid::Uuid)]
    session: SessionId,
    #[schema(example = "+919812345678")]
    phone: Option<String>,
    #[schema(example = "meera@example.com")]
    email: Option<String>,
    #[serde(default)]
    deliver: CodeDeliveryMode,
}

const SEND_IT_YOURSELF: &str =
    "Set one up, or send the code yourself: `\"deliver\": \"you\"`, with a key of an owner.";

/// How the code is delivered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = Deliver)]
pub(crate) enum CodeDeliveryMode {
    /// We send it.
    #[default]
    Us,
    /// The code is in the answer, and you send it. For a key of an owner that speaks as a person: whoever has the code is
    /// taken for whoever has the address.
    You,
}

/// A code that was sent.
#[derive(Serialize, ToSchema)]
#[schema(as = CodeAsked)]
pub(crate) struct LinkAddressResponse {
    #[schema(value_type = String, format = DateTime)]
    expires_at: Timestamp,
    /// Only with `deliver: you`: send it to that address and nowhere else.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "123456")]
    code: Option<String>,
}

/// Send a code to a visitor's phone or e-mail to verify it. The response does not reveal whether the address is known.
#[utoipa::path(post, path = "/v1/persons/{id}/link", tag = "persons",
    params(("id" = uuid::Uuid, Path, description = "The visitor.")),
    responses((status = 202, description = "The code was sent.", body = LinkAddressResponse)))]
pub(crate) async fn link_person(
    key: AuthorizedCaller,
    UrlPathParameter(id): UrlPathParameter<PersonId>,
    Json(wish): Json<AddressToLink>,
) -> Result<(StatusCode, Json<LinkAddressResponse>), ApiError> {
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
    let address = parse_address(wish.phone.as_deref(), wish.email.as_deref())?;
    let session = check_session(&key, id, wish.session).await?;
    let caught = Arc::new(Caught::default());
    let sender: Arc<dyn ChannelSender> = match wish.deliver {
        CodeDeliveryMode::You => caught.clone(),
        CodeDeliveryMode::Us => {
            let found = find_code_sender(&key.api, key.tenant(), session.binding, address.kind()).await;
            found.ok_or_else(|| no_channel_error(address.kind()).hint(SEND_IT_YOURSELF))?
        }
    };
    let words = |code: &CodeText| match wish.deliver {
        CodeDeliveryMode::You => code.reveal().to_owned(),
        CodeDeliveryMode::Us => {
            let voice = Locale::new(Language::English, ScriptForm::Latin);
            phrases::render_code_message(code.reveal(), address.kind(), voice)
        }
    };
    let way = CodeDelivery { sender: sender.as_ref(), words: &words, language: None };
    match build_address_linker(&key.api, key.tenant())
        .await?
        .send_code(key.tenant(), wish.session, &address, &way)
        .await
        .map_err(convert_turn_error)?
    {
        CodeSendOutcome::Sent { expires_at } => {
            Ok((StatusCode::ACCEPTED, Json(LinkAddressResponse { expires_at, code: caught.take() })))
        }
        CodeSendOutcome::NotSent { refused: true, .. } => Err(unreachable_error(address.kind())),
        CodeSendOutcome::NotSent { why, .. } => Err(ApiError::unavailable(why)),
        CodeSendOutcome::TooMany { again_at } => {
            let wait = again_at.since(key.api.clock.now());
            Err(ApiError::new(ApiErrorCode::TooManyRequests, "Too many codes were requested.")
                .retry_after(wait))
        }
    }
}

pub(crate) async fn build_address_linker(
    api: &ApiState,
    tenant: TenantId,
) -> Result<AddressLinker, ApiError> {
    Ok(AddressLinker {
        db: api.db.clone(),
        key: api.codes.load_key(tenant).await?,
        ids: api.ids.clone(),
        random: api.random.clone(),
        clock: api.clock.clone(),
    })
}

/// The address that is meant: one of the two kinds is given.
pub(crate) fn parse_address(phone: Option<&str>, email: Option<&str>) -> Result<ContactAddress, ApiError> {
    let parsed = match (phone, email) {
        (Some(phone), None) => ContactAddress::phone(phone),
        (None, Some(email)) => ContactAddress::email(email),
        _ => return Err(ApiError::new(ApiErrorCode::Invalid, "Give one of `phone` and `email`.")),
    };
    parsed.map_err(|error| ApiError::new(ApiErrorCode::Invalid, sentence(&error.to_string())))
}

/// The kinds of addresses that a visitor can prove, and the channel by which a code reaches each.
pub(crate) const CODE_CHANNELS: [(ContactAddressKind, Channel); 2] =
    [(ContactAddressKind::Phone, Channel::Whatsapp), (ContactAddressKind::Email, Channel::Email)];

/// The account by which a code reaches an address of this kind; none where there is none.
pub(crate) async fn find_code_sender(
    api: &ApiState,
    tenant: TenantId,
    binding: BindingId,
    kind: ContactAddressKind,
) -> Option<Arc<dyn ChannelSender>> {
    let (_, channel) = CODE_CHANNELS.into_iter().find(|(known, _)| *known == kind)?;
    api.senders
        .find(&SenderRoute { tenant, binding: Some(binding), channel, from: None, account: None })
        .await
        .ok()
}

/// The conversation must be this person's, and of a binding that the key reaches.
pub(crate) async fn check_session(
    key: &AuthorizedCaller,
    person: PersonId,
    session: SessionId,
) -> Result<Session, ApiError> {
    let read = move |tx: &mut Tx<'_>| {
        let living = munshi_identity::persons::find_living(tx, person)?;
        Ok::<_, munshi_store::Error>((living, sessions::find_current(tx, session)?))
    };
    let (living, found) = key.api.db.read(key.tenant(), read).await?;
    let living = living.ok_or_else(|| not_found_error("person", &person.to_string()))?;
    let found = found.filter(|found| found.person == living.id && key.reaches(found.binding));
    found.ok_or_else(|| not_found_error("session", &session.to_string()))
}

pub(crate) fn no_channel_error(kind: ContactAddressKind) -> ApiError {
    let what = match kind {
        ContactAddressKind::Email => "No channel that can send e-mail is set up here.",
        _ => "No channel that can reach a phone is set up here.",
    };
    ApiError::new(ApiErrorCode::Conflict, what)
}

/// Nothing will ever reach that address.
pub(crate) fn unreachable_error(kind: ContactAddressKind) -> ApiError {
    let what = match kind {
        ContactAddressKind::Email => "No mail can be sent to this address.",
        _ => "No message can be sent to this phone.",
    };
    ApiError::new(ApiErrorCode::Invalid, what).hint("Check it, or give another.")
}

/// Keeps what would have been sent.
#[derive(Default)]
struct Caught(Mutex<Option<String>>);

impl Caught {
    fn take(&self) -> Option<String> {
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take()
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
