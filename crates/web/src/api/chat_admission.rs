//! Which binding a message is for, and whether it is taken: the same for our own API, OpenAI's and MCP.

use std::sync::Arc;

use munshi_agent::MessageReceipt;
use munshi_blobs::references::parse_reference;
use munshi_conversations::messages::{self, MessageStatus};
use munshi_conversations::runs;
use munshi_safety::rate_limits::RateLimit;
use munshi_server::error::{ApiError, ApiErrorCode};
use munshi_tiers::{AddressResolution, BindingResolution};
use munshi_types::tier::{Channel, TierName};
use munshi_types::{BlobId, PersonId};

use super::access::AuthorizedCaller;
use super::speaker::ApiSpeaker;
use crate::app::api::ApiState;

/// The binding, if the key reaches it. One that it does not reach looks like one that is not there.
pub(crate) async fn resolve_binding(
    key: &AuthorizedCaller,
    binding: &TierName,
) -> Result<Arc<BindingResolution>, ApiError> {
    let tenant = key.api.load_tenant(key.tenant()).await?;
    let missing = || {
        ApiError::new(
            ApiErrorCode::NotFound,
            format!("No binding {binding} exists, or this key has no access to it."),
        )
        .hint("List the accessible ones with GET /v1/bindings.")
    };
    let closed = |what: String, hint: &'static str| ApiError::new(ApiErrorCode::Conflict, what).hint(hint);
    match key.api.resolver.resolve_by_name(&tenant.name, binding, None).await? {
        AddressResolution::Bound(found) if key.reaches(found.binding_id) => Ok(found),
        AddressResolution::Bound(_) | AddressResolution::Unknown => Err(missing()),
        AddressResolution::TenantPaused(name) => {
            Err(closed(format!("{name} is paused."), "Run `munshi tenant resume`, then send it again."))
        }
        AddressResolution::TenantArchived(name) => {
            Err(closed(format!("{name} is closed."), "Use another workspace."))
        }
        AddressResolution::BindingArchived { binding, .. } => Err(closed(
            format!("The binding {binding} is closed."),
            "Use another binding; list them with GET /v1/bindings.",
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
    binding: &BindingResolution,
    outside_id: &str,
) -> Result<ChatAdmission, ApiError> {
    match check_limits(key, speaker, binding).await {
        Err(error)
            if error.code() == ApiErrorCode::TooManyRequests
                && was_sent_before(key, binding, speaker.channel, outside_id).await? =>
        {
            Ok(ChatAdmission { person: None, limits: Vec::new() })
        }
        admission => admission,
    }
}

pub(crate) async fn check_limits(
    key: &AuthorizedCaller,
    speaker: &ApiSpeaker,
    binding: &BindingResolution,
) -> Result<ChatAdmission, ApiError> {
    let (api, tenant) = (&key.api, key.tenant());
    let look = {
        let (speaker, key) =
            (speaker.clone(), AuthorizedCaller { api: api.clone(), caller: key.caller.clone() });
        move |tx: &mut munshi_store::Tx<'_>| speaker.load(tx, &key)
    };
    let found = api.db.read(tenant, look).await?;
    let mut limits = vec![api.limits.check_tenant(tenant, found.plan)?];
    match (&found.person, speaker.address()) {
        (Some(person), _) => limits.push(api.limits.check_person(tenant, &person.id.to_string())?),
        (None, Some(address)) => limits.push(api.limits.check_person(tenant, address.as_str())?),
        (None, None) => {}
    }
    if let Some(person) = found.person.as_ref().filter(|person| person.visitor) {
        limits.push(api.limits.check_visit(tenant, &person.id.to_string(), binding.binding_id)?);
    }
    Ok(ChatAdmission { person: found.person.map(|person| person.id), limits })
}

/// Whether a message of this id was taken here before: of whom, and whether they ask now, is looked at when it is taken in.
async fn was_sent_before(
    key: &AuthorizedCaller,
    binding: &BindingResolution,
    channel: Channel,
    outside_id: &str,
) -> Result<bool, ApiError> {
    let (binding, outside_id) = (binding.binding_id, outside_id.to_owned());
    let read = move |tx: &mut munshi_store::Tx<'_>| runs::find_sender(tx, binding, channel, &outside_id);
    Ok(key.api.db.read(key.tenant(), read).await?.is_some())
}

/// The same id with other words or other files is a mistake, and not the same message.
pub(crate) async fn check_same_message(
    api: &ApiState,
    received: &MessageReceipt,
    text: String,
    files: &[BlobId],
) -> Result<(), ApiError> {
    let message = received.message;
    let stored = api.db.read(received.tenant, move |tx| messages::find(tx, message)).await?;
    let Some(stored) = stored.filter(|stored| stored.standing != MessageStatus::Refused) else {
        return Ok(());
    };
    let carried = stored.attached.iter().filter_map(|attached| parse_reference(&attached.reference));
    let differs = match carried.eq(files.iter().copied()) {
        true if stored.text == text => return Ok(()),
        true => "a different text",
        false => "different files",
    };
    let what = format!("A message with this id but {differs} was already received.");
    Err(ApiError::new(ApiErrorCode::Conflict, what)
        .hint("Use a unique id for each message; the same id means the same message."))
}
