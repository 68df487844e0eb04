//! Sending, part by part, and asking what became of a part of which nobody knows.

use std::time::Duration;

use munshi_conversations::outbox::{SendFault, SendReceipt};
use munshi_http::header::CONTENT_TYPE;
use munshi_types::{Id, OutboundAttachment, OutboundMessage, Timestamp};
use serde_json::{Value, json};

use super::api::{SlackFault, call_form, call_method, is_own_place};
use super::format::{SlackPart, build_parts, name_part};
use super::place::{SlackPlace, name_message};
use crate::email::qr::draw_png;
use crate::link::{LinkFault, LinkParts};
use crate::provider_call::ask;

/// Files are read whole before they leave.
const LARGEST_FILE: u64 = 25 * 1024 * 1024;
/// Pages of a conversation that are looked through, and messages on each.
const MOST_PAGES: usize = 10;
const PAGE: &str = "100";
/// How far Slack's clock and ours may differ.
const CLOCK_ERROR: Duration = Duration::from_secs(10 * 60);

/// A file on its way.
struct LeavingFile {
    name: String,
    bytes: Vec<u8>,
}

/// Sends one of a message's parts.
pub(super) async fn send_part(
    parts: &LinkParts,
    outbound: &OutboundMessage,
    part: usize,
) -> Result<SendReceipt, SendFault> {
    let place = read_place(outbound)?;
    match build_parts(outbound).into_iter().nth(part) {
        Some(SlackPart::Words { blocks, note }) => {
            send_words(parts, outbound, (&place, part), (blocks, note)).await
        }
        Some(SlackPart::File(at)) => {
            let file = load_file(parts, outbound, at).await?;
            send_file(parts, &place, file).await
        }
        None => Err(SendFault::refused("there is nothing in it that Slack can show")),
    }
}

fn read_place(outbound: &OutboundMessage) -> Result<SlackPlace, SendFault> {
    let place = SlackPlace::read(&outbound.to.address);
    place.ok_or_else(|| SendFault::unreachable("the address is no conversation and nobody's id in Slack"))
}

async fn send_words(
    parts: &LinkParts,
    outbound: &OutboundMessage,
    (place, part): (&SlackPlace, usize),
    (blocks, note): (Vec<Value>, String),
) -> Result<SendReceipt, SendFault> {
    let mut body = json!({
        "channel": place.conversation, "text": note, "blocks": blocks,
        "unfurl_links": false, "unfurl_media": false,
        "metadata": {
            "event_type": "munshi_message",
            "event_payload": { "id": outbound.id.to_string(), "part": part },
        },
    });
    if let Some(thread) = &place.thread {
        body["thread_ts"] = json!(thread);
    }
    let answer = call_method(parts, "chat.postMessage", &body).await?;
    let channel = answer["channel"].as_str().unwrap_or(&place.conversation);
    Ok(SendReceipt { outside_id: answer["ts"].as_str().map(|ts| name_message(channel, ts)) })
}

async fn load_file(
    parts: &LinkParts,
    outbound: &OutboundMessage,
    at: usize,
) -> Result<LeavingFile, SendFault> {
    match outbound.attachments.get(at) {
        Some(OutboundAttachment::File { file, name, .. }) => {
            let source = parts.files.as_ref();
            let source = source.ok_or_else(|| SendFault::refused("files can't be sent from here"))?;
            let bytes = source.load(parts.tenant, *file, LARGEST_FILE).await?;
            Ok(LeavingFile { name: clean_name(name), bytes })
        }
        Some(OutboundAttachment::Qr { text, .. }) => {
            let bytes = draw_png(text);
            let bytes = bytes.ok_or_else(|| SendFault::refused("the text is too long for a QR code"))?;
            Ok(LeavingFile { name: "qr.png".to_owned(), bytes })
        }
        Some(OutboundAttachment::Link { .. }) | None => Err(SendFault::refused("it is no file")),
    }
}

fn clean_name(name: &str) -> String {
    let name: String = name.chars().filter(|c| !c.is_control()).take(120).collect();
    let name = name.replace(['/', '\\'], "_");
    if name.trim().is_empty() { "file".to_owned() } else { name }
}

/// In three steps. Nobody sees anything before the last.
async fn send_file(
    parts: &LinkParts,
    place: &SlackPlace,
    file: LeavingFile,
) -> Result<SendReceipt, SendFault> {
    let conversation = find_conversation(parts, place).await.map_err(SlackFault::before_sending)?;
    let (length, name) = (file.bytes.len().to_string(), file.name.clone());
    let form = [("filename", name.as_str()), ("length", length.as_str())];
    let place_for_it =
        call_form(parts, "files.getUploadURLExternal", &form).await.map_err(SlackFault::before_sending)?;
    let broken = || SendFault::passing("Slack named no place for the file");
    let (Some(url), Some(id)) = (place_for_it["upload_url"].as_str(), place_for_it["file_id"].as_str())
    else {
        return Err(broken());
    };
    let url: munshi_http::Url = url.parse().map_err(|_| broken())?;
    if !is_own_place(parts, &url) {
        return Err(SendFault::passing("Slack named a place for the file that is not its own"));
    }
    let upload = parts.post(url).header(CONTENT_TYPE, "application/octet-stream").body(file.bytes);
    let uploaded = ask(upload).await.map_err(|fault| SendFault::passing(fault.why))?;
    if !uploaded.status.is_success() {
        return Err(uploaded.fault("Slack did not take the file").into());
    }
    let files = json!([{ "id": id, "title": name }]).to_string();
    let mut form = vec![("files", files.as_str()), ("channel_id", conversation.as_str())];
    form.extend(place.thread.as_deref().map(|thread| ("thread_ts", thread)));
    call_form(parts, "files.completeUploadExternal", &form).await?;
    Ok(SendReceipt { outside_id: Some(format!("file:{id}")) })
}

/// The conversation with a person, where the address is theirs.
async fn find_conversation(parts: &LinkParts, place: &SlackPlace) -> Result<String, SlackFault> {
    if !place.is_person() {
        return Ok(place.conversation.clone());
    }
    let opened = call_method(parts, "conversations.open", &json!({ "users": place.conversation })).await?;
    let id = opened["channel"]["id"].as_str().map(str::to_owned);
    id.ok_or_else(|| SlackFault::Unasked(LinkFault::passing("Slack named no conversation")))
}

/// Whether a part stands in its conversation. None only where all that was said there since was looked through.
pub(super) async fn find_sent(
    parts: &LinkParts,
    outbound: &OutboundMessage,
    part: usize,
) -> Result<Option<SendReceipt>, SendFault> {
    let place = read_place(outbound)?;
    let wanted = SentMark::of(parts, outbound, part).await?;
    let conversation = find_conversation(parts, &place).await.map_err(SlackFault::before_sending)?;
    let oldest = write_time(read_made_at(outbound).minus(CLOCK_ERROR));
    let mut cursor = String::new();
    for _ in 0..MOST_PAGES {
        let mut form = vec![
            ("channel", conversation.as_str()),
            ("oldest", oldest.as_str()),
            ("limit", PAGE),
            ("include_all_metadata", "true"),
        ];
        form.extend(place.thread.as_deref().map(|thread| ("ts", thread)));
        form.extend((!cursor.is_empty()).then_some(("cursor", cursor.as_str())));
        let method = if place.thread.is_some() { "conversations.replies" } else { "conversations.history" };
        let page = call_form(parts, method, &form).await.map_err(SlackFault::before_sending)?;
        let messages = page["messages"].as_array().cloned().unwrap_or_default();
        if let Some(found) = messages.iter().find(|message| wanted.is_on(message)) {
            let ts = found["ts"].as_str().unwrap_or_default();
            return Ok(Some(SendReceipt { outside_id: Some(name_message(&conversation, ts)) }));
        }
        cursor = page["response_metadata"]["next_cursor"].as_str().unwrap_or_default().to_owned();
        if cursor.is_empty() {
            return match page["has_more"] == true {
                true => Err(SendFault::passing("Slack does not show all that was said since")),
                false => Ok(None),
            };
        }
    }
    Err(SendFault::passing("too much was said since to find it"))
}

/// By which a part is known again.
enum SentMark {
    Words { id: String, part: usize, block: String },
    File { name: String, size: u64 },
}

impl SentMark {
    async fn of(parts: &LinkParts, outbound: &OutboundMessage, part: usize) -> Result<Self, SendFault> {
        Ok(match build_parts(outbound).into_iter().nth(part) {
            Some(SlackPart::File(at)) => {
                let file = load_file(parts, outbound, at).await?;
                Self::File { name: file.name, size: file.bytes.len() as u64 }
            }
            _ => Self::Words { id: outbound.id.to_string(), part, block: name_part(outbound, part) },
        })
    }

    /// Only what a program sent can be ours; nobody else's has our marks.
    fn is_on(&self, message: &Value) -> bool {
        match self {
            Self::Words { id, part, block } => {
                let told = &message["metadata"]["event_payload"];
                let is_told = told["id"] == id.as_str() && told["part"] == *part;
                let blocks = message["blocks"].as_array().map(Vec::as_slice).unwrap_or_default();
                is_told || blocks.iter().any(|known| known["block_id"] == block.as_str())
            }
            Self::File { name, size } => {
                let files = message["files"].as_array().map(Vec::as_slice).unwrap_or_default();
                let is_ours = message["bot_id"].is_string();
                is_ours && files.iter().any(|file| file["name"] == name.as_str() && file["size"] == *size)
            }
        }
    }
}

/// Our ids begin with when they were made.
fn read_made_at(outbound: &OutboundMessage) -> Timestamp {
    let bytes = outbound.id.as_uuid().into_bytes();
    let millis = bytes.iter().take(6).fold(0_i64, |sum, byte| (sum << 8) | i64::from(*byte));
    Timestamp::from_micros(millis.saturating_mul(1000))
}

fn write_time(at: Timestamp) -> String {
    let micros = at.as_micros().max(0);
    format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use munshi_types::tier::Channel;
    use munshi_types::{Clock, FakeClock, IdGenerator, ReplyAddress, SeededRandom};

    use super::*;

    #[test]
    fn a_message_says_when_it_was_made() {
        let now = Timestamp::from_micros(1_531_420_618_123_000);
        let clock: Arc<dyn Clock> = Arc::new(FakeClock::new(now));
        let id = IdGenerator::new(clock, Arc::new(SeededRandom::new(1))).next();
        let to = ReplyAddress::new(Channel::Slack, "D1");
        assert_eq!(read_made_at(&OutboundMessage::new(id, to, String::new())), now);
        assert_eq!(write_time(now), "1531420618.123000");
    }

    #[test]
    fn only_our_own_part_is_taken_for_it() {
        let words = SentMark::Words { id: "a".to_owned(), part: 1, block: "munshi-a-1".to_owned() };
        let told =
            |id: &str, part: usize| json!({ "metadata": { "event_payload": { "id": id, "part": part } } });
        assert!(words.is_on(&told("a", 1)) && !words.is_on(&told("a", 0)) && !words.is_on(&told("b", 1)));
        assert!(words.is_on(&json!({ "blocks": [{ "type": "section", "block_id": "munshi-a-1" }] })));
        assert!(!words.is_on(&json!({ "blocks": [{ "type": "section", "block_id": "munshi-a-0" }] })));
        let file = SentMark::File { name: "bill.pdf".to_owned(), size: 3 };
        let sent =
            |bot: Value, size: u64| json!({ "bot_id": bot, "files": [{ "name": "bill.pdf", "size": size }] });
        assert!(file.is_on(&sent(json!("B1"), 3)));
        assert!(!file.is_on(&sent(Value::Null, 3)) && !file.is_on(&sent(json!("B1"), 4)));
    }

    #[test]
    fn a_files_name_leads_nowhere() {
        assert_eq!(clean_name("../a\\b\n.pdf"), ".._a_b.pdf");
        assert_eq!(clean_name(" "), "file");
    }
}
