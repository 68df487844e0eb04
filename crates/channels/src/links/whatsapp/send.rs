//! Sending: each part of a reply is a message of its own.

use munshi_conversations::outbox::{SendFault, SendReceipt};
use munshi_types::{MessageId, OutboundMessage, OutboundPurpose, OutboundTemplate};
use serde_json::{Map, Value, json};

use super::arrivals::is_scoped_id;
use super::content::{name_button, read_text};
use super::errors::read_send_fault;
use super::graph::{GraphApi, GraphFault};
use super::media::hand_over;
use super::number::to_digits;
use super::parts::{LONGEST_ROW, WhatsappPart, shorten};
use crate::link::LinkParts;
use crate::provider_call::ProviderAnswer;

/// Understood in every language: what opens the list of choices.
const LIST_BUTTON: &str = "☰";

/// WhatsApp's ids of messages begin so: no other is one that it can quote.
const MESSAGE_ID: &str = "wamid.";

/// The field that comes back with each status.
pub(super) const CALLBACK: &str = "biz_opaque_callback_data";

/// The message that a part is of, which part it is, and how many there are.
fn name_part(message: MessageId, at: u32, parts: usize) -> String {
    format!("{message}:{at}:{parts}")
}

/// Of which message of ours a part is, where it is the last one: that it arrived says that all have left.
pub(super) fn read_last_part(callback: &str) -> Option<MessageId> {
    let (message, part) = callback.split_once(':')?;
    let (at, parts) = part.split_once(':')?;
    let is_last = at.parse::<usize>().ok()?.checked_add(1)? == parts.parse::<usize>().ok()?;
    message.parse().ok().filter(|_| is_last)
}

/// Sends a part of those that were planned. The answers quote what they answer in their first part.
pub(super) async fn send_part(
    parts: &LinkParts,
    outbound: &OutboundMessage,
    (at, planned): (u32, &[WhatsappPart]),
) -> Result<SendReceipt, SendFault> {
    let part = usize::try_from(at).ok().and_then(|at| planned.get(at));
    let part = part.ok_or_else(|| SendFault::refused("there is no such part"))?;
    let mut body = address_to(&outbound.to.address)?;
    let (kind, content) = match part {
        WhatsappPart::Attachment(file) => hand_over(parts, outbound, *file).await?,
        other => build_content(outbound, other)?,
    };
    body.insert("type".to_owned(), kind.into());
    body.insert(kind.to_owned(), content);
    // It comes back with what becomes of the message, also where nobody heard the answer.
    body.insert(CALLBACK.to_owned(), name_part(outbound.id, at, planned.len()).into());
    let answers = outbound.answers.as_deref().filter(|id| at == 0 && id.starts_with(MESSAGE_ID));
    if let Some(answers) = answers {
        body.insert("context".to_owned(), json!({ "message_id": answers }));
    }
    let answer = post_message(parts, &Value::Object(body)).await?;
    if !answer.status.is_success() {
        return Err(read_send_fault(&answer));
    }
    let told = answer.json().unwrap_or_default();
    Ok(SendReceipt { outside_id: read_text(&told, "/messages/0/id").map(str::to_owned) })
}

/// Posts to the number's messages. A line that breaks behind the request leaves open whether it was sent.
pub(super) async fn post_message(parts: &LinkParts, body: &Value) -> Result<ProviderAnswer, SendFault> {
    let path = format!("{}/messages", parts.account.account_id);
    GraphApi { parts }.post(&path, body).await.map_err(|fault| match fault {
        GraphFault::Unasked(fault) => fault.into(),
        GraphFault::Broken(fault) => fault.into(),
    })
}

/// To a number, or to somebody who shows none.
pub(super) fn address_to(address: &str) -> Result<Map<String, Value>, SendFault> {
    let mut body = Map::new();
    body.insert("messaging_product".to_owned(), "whatsapp".into());
    body.insert("recipient_type".to_owned(), "individual".into());
    match to_digits(address) {
        Some(digits) => body.insert("to".to_owned(), digits.into()),
        None if is_scoped_id(address) => body.insert("recipient".to_owned(), address.into()),
        None => return Err(SendFault::unreachable("the recipient's address is none of WhatsApp's")),
    };
    Ok(body)
}

fn build_content(
    outbound: &OutboundMessage,
    part: &WhatsappPart,
) -> Result<(&'static str, Value), SendFault> {
    Ok(match part {
        WhatsappPart::Text(text) => ("text", json!({ "body": text, "preview_url": false })),
        WhatsappPart::Buttons { body, choices } => {
            let button = |choice: &String| {
                let id = name_button(outbound.id, choice);
                json!({ "type": "reply", "reply": { "id": id, "title": choice } })
            };
            let buttons: Vec<Value> = choices.iter().map(button).collect();
            (
                "interactive",
                json!({ "type": "button", "body": { "text": body }, "action": { "buttons": buttons } }),
            )
        }
        WhatsappPart::List { body, choices } => {
            let rows: Vec<Value> = choices.iter().map(|choice| build_row(outbound.id, choice)).collect();
            let action =
                json!({ "button": LIST_BUTTON, "sections": [{ "title": LIST_BUTTON, "rows": rows }] });
            ("interactive", json!({ "type": "list", "body": { "text": body }, "action": action }))
        }
        WhatsappPart::Template => {
            let template = outbound.template.as_ref();
            let template = template.ok_or_else(|| SendFault::refused("there is no template"))?;
            ("template", build_template(template, outbound.purpose))
        }
        WhatsappPart::Attachment(_) => return Err(SendFault::refused("a file is no text")),
    })
}

/// A choice that is longer than its place stands whole below it.
fn build_row(message: MessageId, choice: &str) -> Value {
    let id = name_button(message, choice);
    match choice.chars().count() <= LONGEST_ROW {
        true => json!({ "id": id, "title": choice }),
        false => json!({ "id": id, "title": shorten(choice), "description": choice }),
    }
}

/// A code's template has a button that copies it, which wants the code as well.
fn build_template(template: &OutboundTemplate, purpose: OutboundPurpose) -> Value {
    let language = template.language.as_str().trim_end_matches("-latn");
    let texts = |values: &[String]| -> Vec<Value> {
        values.iter().map(|value| json!({ "type": "text", "text": flatten(value) })).collect()
    };
    let mut components = Vec::new();
    if !template.values.is_empty() {
        components.push(json!({ "type": "body", "parameters": texts(&template.values) }));
    }
    if let (OutboundPurpose::Code, [code, ..]) = (purpose, &template.values[..]) {
        let code = texts(std::slice::from_ref(code));
        components.push(json!({ "type": "button", "sub_type": "url", "index": "0", "parameters": code }));
    }
    let mut body = json!({ "name": template.name, "language": { "code": language } });
    if !components.is_empty() {
        body["components"] = Value::Array(components);
    }
    body
}

/// WhatsApp takes no line breaks in a template's values.
pub(crate) fn flatten(value: &str) -> String {
    value.split_whitespace().collect::<Vec<_>>().join(" ")
}
