//! What Meta tells, as events. What can't be read of one says nothing of the others.

use munshi_types::Timestamp;
use ring::digest;
use serde_json::Value;

use super::content::{read_content, read_text};
use super::errors::WhatsappError;
use super::number::read_number;
use super::send::{CALLBACK, read_last_part};
use crate::incoming::{
    ArrivedChat, ArrivedMessage, ArrivedReceipt, ArrivedSender, ArrivedTemplate, ChannelEvent,
    ChannelHappening,
};

/// What has no person stands in one lane.
const ACCOUNT_LANE: &str = "account";

/// Who is not among the contacts that a request names.
static UNKNOWN_CONTACT: Value = Value::Null;

/// No id of Meta's is longer.
const LONGEST_ID: usize = 500;

/// Of what Meta says of the account itself, so much is told.
const LONGEST_NOTICE: usize = 400;

/// For which account something is read.
#[derive(Clone, Copy, Debug)]
pub(super) struct ArrivalReader<'a> {
    /// The number's id: others of the same app have their own accounts.
    pub phone_number_id: &'a str,
    /// The business account's id, where it is known.
    pub owner_id: Option<&'a str>,
    /// Our number, where it is known.
    pub number: Option<&'a str>,
}

impl ArrivalReader<'_> {
    /// All that a request tells of this account.
    pub(super) fn read(&self, body: &Value) -> Vec<ChannelEvent> {
        let mut events = Vec::new();
        for entry in list(body, "entry") {
            for change in list(entry, "changes") {
                self.read_change(entry, change, &mut events);
            }
        }
        events
    }

    fn read_change(&self, entry: &Value, change: &Value, events: &mut Vec<ChannelEvent>) {
        let (field, value) = (read_text(change, "/field").unwrap_or_default(), &change["value"]);
        match field {
            "messages" if self.is_ours(value) => {
                events.extend(list(value, "messages").iter().filter_map(|one| self.read_message(value, one)));
                events.extend(list(value, "statuses").iter().filter_map(read_status));
                events.extend(list(value, "errors").iter().filter_map(|error| {
                    let what = WhatsappError::read(error)?.describe();
                    Some(build_notice(entry, change, format!("WhatsApp: {what}")))
                }));
            }
            "user_preferences" if self.is_ours(value) => {
                let told = list(value, "user_preferences").iter();
                events.extend(told.filter_map(|one| read_preference(value, one)));
            }
            // What the business itself wrote on its phone, what was written before, and calls are none of ours.
            "messages"
            | "user_preferences"
            | "smb_message_echoes"
            | "message_echoes"
            | "history"
            | "smb_app_state_sync"
            | "calls"
            | "flows"
            | "standby"
            | "message_template_components_update" => {}
            _ if self.owner_id.is_some_and(|own| read_text(entry, "/id") != Some(own)) => {}
            "message_template_status_update" => events.extend(read_template(entry, change)),
            field if is_told(field) => {
                let about = read_text(value, "/display_phone_number").and_then(read_number);
                let is_other = about.is_some_and(|about| self.number.is_some_and(|own| own != about));
                if !is_other {
                    events.push(build_notice(entry, change, describe_notice(field, value)));
                }
            }
            _ => {}
        }
    }

    fn is_ours(&self, value: &Value) -> bool {
        read_text(value, "/metadata/phone_number_id") == Some(self.phone_number_id)
    }

    fn read_message(&self, value: &Value, message: &Value) -> Option<ChannelEvent> {
        let id = read_id(message, "/id")?;
        let (from, reply_to) = read_sender(value, message)?;
        let happened_at = read_time(message);
        let lane = match read_text(message, "/group_id") {
            Some(group) => format!("group:{group}"),
            None => from.channel_id.clone(),
        };
        let build = |content: &Value, outside_id: &str| {
            let read = read_content(content);
            let is_group = message.get("group_id").is_some();
            Box::new(ArrivedMessage {
                outside_id: outside_id.to_owned(),
                from: from.clone(),
                chat: read_chat(message),
                text: read.text,
                files: read.files,
                answered: read.answered,
                quoted: read_text(content, "/context/id").map(str::to_owned),
                sent_at: happened_at,
                reply_to: reply_to.clone(),
                to: read_text(value, "/metadata/display_phone_number").and_then(read_number),
                unanswerable: is_group.then(|| "it was said in a group".to_owned()),
                ..ArrivedMessage::default()
            })
        };
        let what = match read_text(message, "/type").unwrap_or_default() {
            "reaction" => ChannelHappening::Reacted {
                message: read_id(message, "/reaction/message_id")?.to_owned(),
                sign: read_text(message, "/reaction/emoji").map(str::to_owned),
                from: from.clone(),
            },
            "edit" => {
                let original = read_id(message, "/edit/original_message_id")?;
                ChannelHappening::Edited(build(message.pointer("/edit/message")?, original))
            }
            "revoke" => ChannelHappening::Deleted {
                message: read_id(message, "/revoke/original_message_id")?.to_owned(),
                from: from.clone(),
            },
            "system" => ChannelHappening::Notice { what: describe_system(message)? },
            // They opened the chat, and said nothing yet.
            "request_welcome" => return None,
            _ => ChannelHappening::Message(build(message, id)),
        };
        Some(ChannelEvent { id: id.to_owned(), lane, happened_at, what })
    }
}

fn read_chat(message: &Value) -> ArrivedChat {
    match read_text(message, "/group_id") {
        Some(id) => ArrivedChat::Group { id: id.to_owned(), title: String::new() },
        None => ArrivedChat::Direct,
    }
}

/// Who it came from, and where an answer goes. WhatsApp calls people by an id that only this business knows, and tells their number as well unless
/// they hide it.
fn read_sender(value: &Value, message: &Value) -> Option<(ArrivedSender, String)> {
    let (said, said_id) = (read_text(message, "/from"), read_text(message, "/from_user_id"));
    let contacts = list(value, "contacts");
    let is_theirs = |contact: &&Value| {
        let is_same = |at: &str, said: Option<&str>| said.is_some() && read_text(contact, at) == said;
        is_same("/wa_id", said) || is_same("/user_id", said) || is_same("/user_id", said_id)
    };
    let only = contacts.first().filter(|_| contacts.len() == 1 && said.is_none() && said_id.is_none());
    let contact = contacts.iter().find(is_theirs).or(only).unwrap_or(&UNKNOWN_CONTACT);
    let phone = said.and_then(read_number).or_else(|| read_text(contact, "/wa_id").and_then(read_number));
    let scoped = said_id.or_else(|| read_text(contact, "/user_id")).or(said.filter(|_| phone.is_none()));
    let scoped = scoped.filter(|id| is_scoped_id(id)).map(str::to_owned);
    let channel_id = scoped.clone().or_else(|| phone.clone())?;
    let reply_to = phone.clone().or(scoped)?;
    let name = read_text(contact, "/profile/name").map(str::to_owned);
    Some((ArrivedSender { channel_id, phone, name, ..ArrivedSender::default() }, reply_to))
}

/// Such as `IN.13491208655302741918`.
pub(super) fn is_scoped_id(id: &str) -> bool {
    id.len() <= LONGEST_ID
        && id.contains('.')
        && id.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c))
}

/// What becomes of a message of ours. That it was handed on says no more than the answer to sending it.
fn read_status(status: &Value) -> Option<ChannelEvent> {
    let message = read_id(status, "/id")?;
    let state = read_text(status, "/status")?;
    let receipt = match state {
        "delivered" => ArrivedReceipt::Delivered,
        "read" | "played" => ArrivedReceipt::Read,
        "failed" => {
            let told = list(status, "errors").first().and_then(WhatsappError::read);
            let why = told.map_or_else(|| "WhatsApp gives no reason".to_owned(), |told| told.describe());
            ArrivedReceipt::Returned { why }
        }
        _ => return None,
    };
    Some(ChannelEvent {
        id: format!("{message}:{state}"),
        lane: format!("receipt:{message}"),
        happened_at: read_time(status),
        what: ChannelHappening::Receipt {
            message: message.to_owned(),
            receipt,
            own: read_text(status, &format!("/{CALLBACK}")).and_then(read_last_part),
        },
    })
}

/// They pressed in WhatsApp's own settings that they want no offers, or want them again.
fn read_preference(value: &Value, told: &Value) -> Option<ChannelEvent> {
    let wanted = match read_text(told, "/value")?.to_lowercase().as_str() {
        "stop" => false,
        "resume" | "signup" => true,
        _ => return None,
    };
    let said = Value::from_iter([("from", told["wa_id"].clone()), ("from_user_id", told["user_id"].clone())]);
    let (from, reply_to) = read_sender(value, &said)?;
    let happened_at = read_time(told);
    let at = happened_at.map_or(0, Timestamp::as_micros);
    Some(ChannelEvent {
        id: format!("preference:{}:{wanted}:{at}", from.channel_id),
        lane: from.channel_id.clone(),
        happened_at,
        what: ChannelHappening::Subscription { from, wanted, reply_to: Some(reply_to) },
    })
}

fn read_template(entry: &Value, change: &Value) -> Option<ChannelEvent> {
    let value = &change["value"];
    let words = |at: &str| read_text(value, at).filter(|text| !text.eq_ignore_ascii_case("none"));
    let why = words("/rejection_info/reason").or_else(|| words("/reason"));
    let template = ArrivedTemplate {
        name: read_text(value, "/message_template_name")?.to_owned(),
        language: read_text(value, "/message_template_language").unwrap_or_default().to_owned(),
        state: read_text(value, "/event")?.to_owned(),
        why: why.or_else(|| words("/other_info/description")).map(str::to_owned),
    };
    Some(ChannelEvent {
        id: name_change(entry, change),
        lane: ACCOUNT_LANE.to_owned(),
        happened_at: read_entry_time(entry),
        what: ChannelHappening::Template(template),
    })
}

/// What whoever looks after the account wants to know.
fn is_told(field: &str) -> bool {
    matches!(
        field,
        "account_alerts"
            | "account_update"
            | "account_review_update"
            | "account_settings_update"
            | "business_capability_update"
            | "business_status_update"
            | "message_template_quality_update"
            | "phone_number_name_update"
            | "phone_number_quality_update"
            | "security"
            | "template_category_update"
    )
}

fn build_notice(entry: &Value, change: &Value, what: String) -> ChannelEvent {
    ChannelEvent {
        id: name_change(entry, change),
        lane: ACCOUNT_LANE.to_owned(),
        happened_at: read_entry_time(entry),
        what: ChannelHappening::Notice { what },
    }
}

/// The field and its plain values, as Meta names them.
fn describe_notice(field: &str, value: &Value) -> String {
    let mut parts = Vec::new();
    list_plain(value, "", &mut parts, 0);
    let words = format!("WhatsApp tells {}: {}", field.replace('_', " "), parts.join(", "));
    words.chars().filter(|c| !c.is_control()).take(LONGEST_NOTICE).collect()
}

fn list_plain(value: &Value, name: &str, parts: &mut Vec<String>, depth: usize) {
    const DEEPEST: usize = 3;
    let name = name.replace('_', " ");
    match value {
        Value::Object(fields) if depth < DEEPEST => {
            for (key, inner) in fields {
                list_plain(inner, key, parts, depth + 1);
            }
        }
        Value::Array(items) if depth < DEEPEST => {
            for inner in items {
                list_plain(inner, &name, parts, depth + 1);
            }
        }
        Value::String(text) => parts.push(format!("{name} {text}")),
        Value::Number(number) => parts.push(format!("{name} {number}")),
        Value::Bool(is_so) => parts.push(format!("{name} {is_so}")),
        Value::Null | Value::Object(_) | Value::Array(_) => {}
    }
}

/// None for what concerns nobody, such as another telephone with the same number.
fn describe_system(message: &Value) -> Option<String> {
    let kind = read_text(message, "/system/type").unwrap_or_default();
    matches!(kind, "user_changed_number" | "customer_changed_number" | "user_changed_user_id").then(|| {
        "a person who writes here has another number on WhatsApp now; what they write next comes from that".to_owned()
    })
}

/// The same each time that Meta tells it: it has no id of its own.
fn name_change(entry: &Value, change: &Value) -> String {
    let told = digest::digest(&digest::SHA256, change.to_string().as_bytes());
    let told: String = told.as_ref().iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    let account = read_text(entry, "/id").unwrap_or_default();
    format!("change:{account}:{}:{told}", entry["time"])
}

fn read_entry_time(entry: &Value) -> Option<Timestamp> {
    read_seconds(entry.get("time")?)
}

fn read_time(value: &Value) -> Option<Timestamp> {
    read_seconds(value.get("timestamp")?)
}

/// Seconds, as a number or as text. Some tell milliseconds.
pub(crate) fn read_seconds(value: &Value) -> Option<Timestamp> {
    const LAST_SECOND: i64 = 100_000_000_000;
    let told = value.as_i64().or_else(|| value.as_str()?.parse().ok()).filter(|told| *told > 0)?;
    let micros = if told < LAST_SECOND { told.checked_mul(1_000_000) } else { told.checked_mul(1_000) };
    micros.map(Timestamp::from_micros)
}

fn read_id<'a>(value: &'a Value, at: &str) -> Option<&'a str> {
    read_text(value, at).filter(|id| id.len() <= LONGEST_ID)
}

fn list<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value.get(name).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}
