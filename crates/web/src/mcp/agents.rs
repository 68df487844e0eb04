//! Asking an agent: a turn with a binding.

use std::time::Duration;

use munshi_agent::ReceiveOptions;
use munshi_conversations::{IngestStatus, KeyUse};
use munshi_identity::keys::KeySpeaker;
use munshi_mcp::{CallToolResult, JsonObject};
use munshi_server::error::ApiError;
use munshi_server::parameters::field_error;
use munshi_tiers::BindingResolution;
use munshi_types::{ClientScreen, InboundMessage, InboundTarget, MessageId, RunId};
use serde::Deserialize;
use serde_json::Value;

use super::results;
use crate::api::access::AuthorizedCaller;
use crate::api::chat_admission::{ChatAdmission, admit, check_same_message};
use crate::api::speaker::{ApiSpeaker, key_client_id};
use crate::api::turn_errors::convert_turn_error;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    message: String,
    message_id: Option<String>,
    person: Option<String>,
}

/// Says something and waits for the answer; the turn goes on even where nobody waits any more.
pub(crate) async fn ask(
    key: &AuthorizedCaller,
    binding: &BindingResolution,
    arguments: JsonObject,
    timeout: Duration,
) -> Result<CallToolResult, ApiError> {
    let asked: Asked = serde_json::from_value(Value::Object(arguments))
        .map_err(|error| field_error("arguments", &error.to_string()))?;
    if asked.message_id.as_deref().is_some_and(str::is_empty) {
        return Err(field_error(
            "message_id",
            "it is empty: give each message an id of its own, or leave it out",
        ));
    }
    let speaker = match asked.person.as_deref() {
        Some(person) => ApiSpeaker::parse(key, person)?,
        None => ApiSpeaker::for_key(key),
    };
    let outside_id = asked.message_id.unwrap_or_else(|| key.api.ids.next::<MessageId>().to_string());
    let ChatAdmission { person, limits } = admit(key, &speaker, binding, &outside_id).await?;
    let mut from = speaker.sender;
    from.person = from.person.or(person.filter(|_| from.name.is_none()));
    let inbound = InboundMessage {
        channel: speaker.channel,
        to: InboundTarget::Binding {
            tenant: binding.tenant_name.clone(),
            binding: binding.binding_name.clone(),
        },
        from,
        outside_id,
        text: asked.message.clone(),
        attached: Vec::new(),
        locale: None,
        sent_at: None,
        reply_to: None,
        screen: ClientScreen { seen: None, client: Some(key_client_id(key)), ..ClientScreen::default() },
    };
    munshi_conversations::inbound::validate(&inbound).map_err(convert_turn_error)?;
    // Whoever the key talks for elsewhere: what comes here is written by a model.
    let key_use = Some(KeyUse { speaks_as: KeySpeaker::Program, ..key.key_use() });
    let options = ReceiveOptions { limits, key_use, ..ReceiveOptions::default() };
    let received = key.api.engine.receive_with_options(inbound, options).await.map_err(convert_turn_error)?;
    if received.status == IngestStatus::SeenBefore {
        check_same_message(&key.api, &received, asked.message, &[]).await?;
    }
    await_outcome(key, received.run, timeout).await
}

/// The answer of a turn, or that it is being worked on.
pub(crate) async fn await_outcome(
    key: &AuthorizedCaller,
    run: RunId,
    timeout: Duration,
) -> Result<CallToolResult, ApiError> {
    let outcome = key.api.engine.wait_for_outcome(key.tenant(), run);
    match tokio::time::timeout(timeout, outcome).await {
        Ok(outcome) => {
            let outcome = outcome.map_err(convert_turn_error)?;
            if let Some(reply) = outcome.message.filter(|_| outcome.asks) {
                key.api.engine.note_shown(key.tenant(), run, reply, Some(key_client_id(key))).await;
            }
            Ok(results::render_outcome(&outcome))
        }
        Err(_) => Ok(results::render_working(run)),
    }
}
