//! What Gupshup tells, as events: one in each request.

use munshi_types::Timestamp;
use serde_json::Value;

use crate::incoming::{
    ArrivedChat, ArrivedFile, ArrivedMessage, ArrivedReceipt, ArrivedSender, ArrivedTemplate, ChannelEvent,
    ChannelHappening, ChannelRefusal,
};
use crate::links::whatsapp::{
    PressedButton, mask_numbers, read_contacts, read_location, read_number, read_press, read_seconds,
    read_text,
};

const LONGEST_ID: usize = 500;
const LONGEST_NOTICE: usize = 300;

/// What a request tells of this app; nothing where it is about another, or says what needs nothing.
pub(super) fn read(body: &Value, app: &str) -> Result<Vec<ChannelEvent>, ChannelRefusal> {
    let kind = read_text(body, "/type");
    let Some(kind) = kind else {
        let why = match body.get("object").is_some() {
            true => "it has Meta's shape: choose payload version 2 at Gupshup",
            false => "it has no type",
        };
        return Err(ChannelRefusal::Unreadable(why.to_owned()));
    };
    let told = read_text(body, "/app");
    if told.is_some_and(|told| told != app) {
        return Ok(Vec::new());
    }
    let happened_at = body.get("timestamp").and_then(read_seconds);
    let told = GupshupTelling { payload: &body["payload"], happened_at };
    let event = match kind {
        "message" => told.read_message(),
        "message-event" => told.read_receipt(),
        "user-event" => told.read_user_event(),
        "template-event" => told.read_template(),
        "account-event" => told.read_account(),
        _ => None,
    };
    Ok(event.into_iter().collect())
}

struct GupshupTelling<'a> {
    payload: &'a Value,
    happened_at: Option<Timestamp>,
}

impl GupshupTelling<'_> {
    fn read_message(&self) -> Option<ChannelEvent> {
        let payload = self.payload;
        let id = self.read_id("/id")?;
        let from = self.read_sender()?;
        let lane = from.channel_id.clone();
        let (said, inner) = (read_text(payload, "/type").unwrap_or_default(), &payload["payload"]);
        let quoted = read_text(payload, "/context/gsId").or_else(|| read_text(payload, "/context/id"));
        let what = if said == "reaction" {
            let message =
                ["/id", "/messageId", "/gsId"].iter().find_map(|at| read_text(inner, at)).or(quoted)?;
            let sign = read_text(inner, "/emoji").map(str::to_owned);
            ChannelHappening::Reacted { message: message.to_owned(), sign, from }
        } else {
            let (text, files, answered) = match read_pressed(said, inner) {
                Some(pressed) => (pressed.words, Vec::new(), pressed.of),
                None => {
                    let (text, files) = read_content(said, inner);
                    (text, files, None)
                }
            };
            ChannelHappening::Message(Box::new(ArrivedMessage {
                outside_id: id.to_owned(),
                reply_to: from.channel_id.clone(),
                from,
                chat: ArrivedChat::Direct,
                text,
                files,
                answered,
                quoted: quoted.map(str::to_owned),
                sent_at: self.happened_at,
                ..ArrivedMessage::default()
            }))
        };
        Some(ChannelEvent { id: id.to_owned(), lane, happened_at: self.happened_at, what })
    }

    fn read_sender(&self) -> Option<ArrivedSender> {
        let number = ["/sender/phone", "/source", "/phone"].iter().find_map(|at| read_text(self.payload, at));
        let phone = number.and_then(read_number)?;
        let name = read_text(self.payload, "/sender/name").map(str::to_owned);
        Some(ArrivedSender {
            channel_id: phone.clone(),
            phone: Some(phone),
            name,
            ..ArrivedSender::default()
        })
    }

    /// What becomes of a message of ours. Gupshup's own id is what sending it gave; WhatsApp's comes later.
    fn read_receipt(&self) -> Option<ChannelEvent> {
        let message = self.read_id("/gsId").or_else(|| self.read_id("/id"))?;
        let state = read_text(self.payload, "/type")?;
        let receipt = match state {
            "delivered" => ArrivedReceipt::Delivered,
            "read" => ArrivedReceipt::Read,
            "failed" => ArrivedReceipt::Returned { why: self.describe_failure() },
            _ => return None,
        };
        Some(ChannelEvent {
            id: format!("{message}:{state}"),
            lane: format!("receipt:{message}"),
            happened_at: self.happened_at,
            what: ChannelHappening::Receipt { message: message.to_owned(), receipt, own: None },
        })
    }

    fn describe_failure(&self) -> String {
        let told = &self.payload["payload"];
        let reason = read_text(told, "/reason").unwrap_or("Gupshup gives no reason");
        let code = told.get("code").and_then(|code| code.as_i64().or_else(|| code.as_str()?.parse().ok()));
        let hint = match code {
            Some(1002 | 131_026) => " – the recipient can't be reached on WhatsApp",
            Some(1003) => " – fill up the wallet at Gupshup",
            Some(1004..=1008 | 131_047 | 470) => {
                " – the recipient has not written for 24 hours: only a template may be sent"
            }
            Some(1012) => " – the recipient opted out at Gupshup",
            _ => "",
        };
        let code = code.map(|code| format!("(#{code}) ")).unwrap_or_default();
        let words = clean(reason);
        format!("{code}{words}{hint}")
    }

    /// `sandbox-start` only says that the address is heard.
    fn read_user_event(&self) -> Option<ChannelEvent> {
        let told = read_text(self.payload, "/type")?;
        let wanted = match told {
            "opted-in" => true,
            "opted-out" => false,
            _ => return None,
        };
        let from = self.read_sender()?;
        let at = self.happened_at.map_or(0, Timestamp::as_micros);
        Some(ChannelEvent {
            id: format!("user:{}:{told}:{at}", from.channel_id),
            lane: from.channel_id.clone(),
            happened_at: self.happened_at,
            what: ChannelHappening::Subscription { from, wanted, reply_to: None },
        })
    }

    fn read_template(&self) -> Option<ChannelEvent> {
        let state = read_text(self.payload, "/status")?;
        let id = read_text(self.payload, "/id").unwrap_or_default();
        let template = ArrivedTemplate {
            name: read_text(self.payload, "/elementName").unwrap_or(id).to_owned(),
            language: read_text(self.payload, "/languageCode").unwrap_or_default().to_owned(),
            state: state.to_uppercase(),
            why: read_text(self.payload, "/rejectedReason").map(clean),
        };
        let what = ChannelHappening::Template(template);
        Some(self.name_account_event(&format!("template:{id}:{state}"), what))
    }

    fn read_account(&self) -> Option<ChannelEvent> {
        let kind = read_text(self.payload, "/type")?;
        let words = ["/status", "/tier", "/event", "/currentLimit", "/oldLimit", "/reason"];
        let words: Vec<&str> = words.iter().filter_map(|at| read_text(self.payload, at)).collect();
        let what = clean(&format!("Gupshup tells {kind}: {}", words.join(", ")));
        Some(self.name_account_event(&format!("account:{what}"), ChannelHappening::Notice { what }))
    }

    fn name_account_event(&self, name: &str, what: ChannelHappening) -> ChannelEvent {
        let at = self.happened_at.map_or(0, Timestamp::as_micros);
        let id = format!("{name}:{at}");
        ChannelEvent { id, lane: "account".to_owned(), happened_at: self.happened_at, what }
    }

    fn read_id(&self, at: &str) -> Option<&str> {
        read_text(self.payload, at).filter(|id| id.len() <= LONGEST_ID)
    }
}

fn read_content(kind: &str, inner: &Value) -> (String, Vec<ArrivedFile>) {
    let bare = |text: &str| (text.to_owned(), Vec::new());
    match kind {
        "text" => bare(read_text(inner, "/text").unwrap_or_default()),
        "image" | "audio" | "voice" | "video" | "file" | "document" => read_media(kind, inner),
        "sticker" => bare("[sticker]"),
        "location" => (read_location(inner), Vec::new()),
        "contact" | "contacts" => (read_contacts(&inner["contacts"]), Vec::new()),
        other => {
            let is_plain = |c: &char| c.is_ascii_alphanumeric() || matches!(c, ' ' | '-' | '_');
            let word: String = other.chars().filter(is_plain).take(30).collect();
            let word = if word.is_empty() { "unsupported".to_owned() } else { word.replace('_', " ") };
            (format!("[{word}]"), Vec::new())
        }
    }
}

/// None for what is no press of a button.
fn read_pressed(kind: &str, inner: &Value) -> Option<PressedButton> {
    matches!(kind, "button_reply" | "list_reply" | "quick_reply" | "button").then(|| {
        let shown = read_text(inner, "/title").or_else(|| read_text(inner, "/text"));
        let payload = read_text(inner, "/postbackText").or_else(|| read_text(inner, "/reply"));
        read_press(payload, shown)
    })
}

fn read_media(kind: &str, inner: &Value) -> (String, Vec<ArrivedFile>) {
    let caption = read_text(inner, "/caption").unwrap_or_default();
    match read_text(inner, "/url") {
        Some(url) => {
            let file = ArrivedFile {
                reference: url.to_owned(),
                media_type: read_text(inner, "/contentType").unwrap_or_default().to_owned(),
                name: read_text(inner, "/name").map(str::to_owned),
                size: None,
            };
            (caption.to_owned(), vec![file])
        }
        None => (format!("{caption} [{kind}]").trim().to_owned(), Vec::new()),
    }
}

/// Whose number it is, is nobody's to read.
fn clean(text: &str) -> String {
    let text: String = text.chars().filter(|c| !c.is_control()).take(LONGEST_NOTICE).collect();
    mask_numbers(&text)
}
