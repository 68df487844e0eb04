//! Handing a message to Gupshup, which sends it when it comes to it: what becomes of it is told afterwards.

use std::time::Duration;

use munshi_conversations::outbox::{SendFault, SendReceipt};
use munshi_types::{MessageId, OutboundMessage, OutboundTemplate};
use serde_json::{Value, json};

use crate::link::LinkParts;
use crate::links::whatsapp::{
    WhatsappPart, flatten, mask_numbers, name_button, read_text, shorten, to_digits,
};
use crate::provider_call::{ProviderAnswer, ask};

pub(super) const OWN_URL: &str = "https://api.gupshup.io";

const MESSAGE_PATH: &str = "wa/api/v1/msg";
const TEMPLATE_PATH: &str = "wa/api/v1/template/msg";

/// Where Gupshup does not say how long.
const PAUSE: Duration = Duration::from_secs(60);

/// Understood in every language: what opens the list of choices.
const LIST_BUTTON: &str = "☰";

pub(super) async fn send_part(
    parts: &LinkParts,
    outbound: &OutboundMessage,
    part: &WhatsappPart,
) -> Result<SendReceipt, SendFault> {
    let (path, key, content) = build_content(outbound, part)?;
    post(parts, &outbound.to.address, (path, key, &content)).await
}

/// A sign on a message of theirs; an empty one takes it back.
pub(super) async fn react(
    parts: &LinkParts,
    to: &str,
    (message, sign): (&str, &str),
) -> Result<(), SendFault> {
    let content = json!({ "type": "reaction", "msgId": message, "emoji": sign });
    post(parts, to, (MESSAGE_PATH, "message", &content)).await.map(drop)
}

async fn post(
    parts: &LinkParts,
    to: &str,
    (path, key, content): (&str, &str, &Value),
) -> Result<SendReceipt, SendFault> {
    let account = &parts.account;
    let ours = account.number.as_deref().and_then(to_digits);
    let ours = ours.ok_or_else(|| SendFault::passing("the channel has no number: set number"))?;
    let to =
        to_digits(to).ok_or_else(|| SendFault::unreachable("the recipient's address is no phone number"))?;
    let content = content.to_string();
    let form = [
        ("channel", "whatsapp"),
        ("source", ours.as_str()),
        ("destination", to.as_str()),
        ("src.name", account.account_id.as_str()),
        (key, content.as_str()),
        ("disablePreview", "true"),
    ];
    let form = serde_urlencoded::to_string(form).map_err(|error| SendFault::refused(error.to_string()))?;
    let url = parts.build_url(OWN_URL, path)?;
    let token = parts.open(&account.token).await?;
    let request = parts
        .post(url)
        .header("apikey", token.expose())
        .header("content-type", "application/x-www-form-urlencoded")
        .body(form);
    read_outcome(&ask(request).await?)
}

/// Where it goes, in which field, and what stands there.
fn build_content(
    outbound: &OutboundMessage,
    part: &WhatsappPart,
) -> Result<(&'static str, &'static str, Value), SendFault> {
    Ok(match part {
        WhatsappPart::Template => {
            let template = outbound.template.as_ref();
            let template = template.ok_or_else(|| SendFault::refused("there is no template"))?;
            (TEMPLATE_PATH, "template", build_template(template))
        }
        WhatsappPart::Text(text) => (MESSAGE_PATH, "message", json!({ "type": "text", "text": text })),
        WhatsappPart::Buttons { body, choices } => {
            let option = |choice: &String| {
                let postback = name_button(outbound.id, choice);
                json!({ "type": "text", "title": choice, "postbackText": postback })
            };
            let options: Vec<Value> = choices.iter().map(option).collect();
            let content = json!({ "type": "text", "text": body });
            let id = outbound.id.to_string();
            let message =
                json!({ "type": "quick_reply", "msgid": id, "content": content, "options": options });
            (MESSAGE_PATH, "message", message)
        }
        WhatsappPart::List { body, choices } => {
            let options: Vec<Value> = choices.iter().map(|choice| build_row(outbound.id, choice)).collect();
            let message = json!({
                "type": "list",
                "msgid": outbound.id.to_string(),
                "title": LIST_BUTTON,
                "body": body,
                "globalButtons": [{ "type": "text", "title": LIST_BUTTON }],
                "items": [{ "title": LIST_BUTTON, "subtitle": LIST_BUTTON, "options": options }],
            });
            (MESSAGE_PATH, "message", message)
        }
        WhatsappPart::Attachment(_) => return Err(SendFault::refused("Gupshup takes no files")),
    })
}

/// Gupshup wants words below each choice, also where it stands whole above them.
fn build_row(message: MessageId, choice: &str) -> Value {
    let postback = name_button(message, choice);
    json!({ "type": "text", "title": shorten(choice), "description": choice, "postbackText": postback })
}

/// Gupshup knows a template by its id, in which its language is.
fn build_template(template: &OutboundTemplate) -> Value {
    let values: Vec<String> = template.values.iter().map(|value| flatten(value)).collect();
    json!({ "id": template.name, "params": values })
}

/// That it was submitted is all that the answer can say.
fn read_outcome(answer: &ProviderAnswer) -> Result<SendReceipt, SendFault> {
    let told = answer.json().unwrap_or_default();
    let is_error = read_text(&told, "/status") == Some("error");
    if answer.status.is_success() && !is_error {
        return Ok(SendReceipt { outside_id: read_text(&told, "/messageId").map(str::to_owned) });
    }
    let words = read_text(&told, "/message").or_else(|| read_text(&told, "/message/message"));
    let words = words.map_or_else(|| answer.reason(), |words| words.chars().take(300).collect());
    let why = format!("Gupshup did not take it: {}", mask_numbers(&words));
    let lower = words.to_lowercase();
    Err(match answer.status.as_u16() {
        401 | 403 => SendFault::passing(format!("{why} – check the API key in the vault")),
        402 => SendFault::passing(format!("{why} – fill up the wallet at Gupshup")),
        429 => SendFault::limited(why, answer.retry_after.unwrap_or(PAUSE)),
        400 if lower.contains("invalid destination") => SendFault::unreachable(why),
        _ if is_error && answer.status.is_success() => SendFault::refused(why),
        _ => SendFault { why, ..answer.send_fault("Gupshup did not take it") },
    })
}
