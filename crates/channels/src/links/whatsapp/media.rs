//! Files: handed to WhatsApp before the message that shows them, and fetched from it.

use munshi_conversations::outbox::{DeliveryCertainty, FaultSubject, SendFault, SendRetryability};
use munshi_types::{OutboundAttachment, OutboundMessage};
use serde_json::{Map, Value, json};

use super::content::read_text;
use super::errors::{describe_answer, read_send_fault};
use super::graph::GraphApi;
use crate::email::qr::draw_png;
use crate::incoming::ArrivedFile;
use crate::link::{FileStream, LinkFault, LinkParts};
use crate::links::file_stream::stream_file;
use crate::provider_call::open;

const MEGABYTE: u64 = 1024 * 1024;

/// WhatsApp takes documents of 100 MB; so much is held in memory for one.
const LARGEST_FILE: u64 = 32 * MEGABYTE;

/// Words below a picture.
const LONGEST_CAPTION: usize = 1000;

const AUDIO: [&str; 5] = ["audio/aac", "audio/mp4", "audio/mpeg", "audio/amr", "audio/ogg"];
const VIDEO: [&str; 2] = ["video/mp4", "video/3gpp"];
const IMAGES: [&str; 2] = ["image/jpeg", "image/png"];

/// A file that is about to leave.
struct LoadedFile {
    bytes: Vec<u8>,
    media_type: String,
    name: String,
    caption: String,
}

/// Hands over an attachment. Gives the kind of message that shows it, and what stands in it. No message leaves by this, so that a line that breaks
/// has done no harm.
pub(super) async fn hand_over(
    parts: &LinkParts,
    outbound: &OutboundMessage,
    at: usize,
) -> Result<(&'static str, Value), SendFault> {
    let file = load(parts, outbound, at).await?;
    let kind = choose_kind(&file.media_type, file.bytes.len());
    let id = upload(parts, outbound, &file).await?;
    let mut shown = Map::from_iter([("id".to_owned(), Value::String(id))]);
    if !file.caption.is_empty() && kind != "audio" {
        shown.insert("caption".to_owned(), Value::String(file.caption));
    }
    if kind == "document" {
        shown.insert("filename".to_owned(), Value::String(file.name));
    }
    Ok((kind, Value::Object(shown)))
}

async fn load(parts: &LinkParts, outbound: &OutboundMessage, at: usize) -> Result<LoadedFile, SendFault> {
    match outbound.attachments.get(at) {
        Some(OutboundAttachment::File { file, name, media_type }) => {
            let files = parts.files.as_ref().ok_or_else(|| SendFault::refused("no files can go along"))?;
            let bytes = files.load(parts.tenant, *file, LARGEST_FILE).await?;
            let media_type = media_type.split(';').next().unwrap_or_default().trim().to_lowercase();
            Ok(LoadedFile { bytes, media_type, name: clean_name(name), caption: String::new() })
        }
        Some(OutboundAttachment::Qr { text, title }) => {
            let bytes =
                draw_png(text).ok_or_else(|| SendFault::refused("the text is too long for a QR code"))?;
            let caption = title.chars().take(LONGEST_CAPTION).collect();
            Ok(LoadedFile { bytes, media_type: "image/png".to_owned(), name: "code.png".to_owned(), caption })
        }
        Some(OutboundAttachment::Link { .. }) | None => Err(SendFault::refused("there is no such file")),
    }
}

/// What WhatsApp shows by itself goes as that, and the rest to be opened.
fn choose_kind(media_type: &str, size: usize) -> &'static str {
    let fits = |megabytes: u64| u64::try_from(size).is_ok_and(|size| size <= megabytes * MEGABYTE);
    match media_type {
        image if IMAGES.contains(&image) && fits(5) => "image",
        audio if AUDIO.contains(&audio) && fits(16) => "audio",
        video if VIDEO.contains(&video) && fits(16) => "video",
        _ => "document",
    }
}

async fn upload(
    parts: &LinkParts,
    outbound: &OutboundMessage,
    file: &LoadedFile,
) -> Result<String, SendFault> {
    // WhatsApp knows few kinds of text.
    let media_type =
        if file.media_type.starts_with("text/") { "text/plain" } else { file.media_type.as_str() };
    let boundary = format!("munshi-{}", outbound.id);
    let body = write_form(&boundary, media_type, file);
    let path = format!("{}/media", parts.account.account_id);
    let form = format!("multipart/form-data; boundary={boundary}");
    let answer = GraphApi { parts }.post_bytes(&path, &form, body).await.map_err(LinkFault::from)?;
    if !answer.status.is_success() {
        let fault = read_send_fault(&answer);
        return Err(match fault.happened {
            DeliveryCertainty::Maybe => SendFault::passing(fault.why),
            DeliveryCertainty::No => fault,
        });
    }
    let told: Value = answer.read()?;
    let id = read_text(&told, "/id").map(str::to_owned);
    id.ok_or_else(|| SendFault::passing("WhatsApp took the file and did not say under which id"))
}

fn write_form(boundary: &str, media_type: &str, file: &LoadedFile) -> Vec<u8> {
    let mut body = Vec::with_capacity(file.bytes.len() + 1024);
    for (name, value) in [("messaging_product", "whatsapp"), ("type", media_type)] {
        let field =
            format!("--{boundary}\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n");
        body.extend_from_slice(field.as_bytes());
    }
    let head = format!(
        "--{boundary}\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{}\"\r\nContent-Type: {media_type}\r\n\r\n",
        file.name
    );
    body.extend_from_slice(head.as_bytes());
    body.extend_from_slice(&file.bytes);
    body.extend_from_slice(format!("\r\n--{boundary}--\r\n").as_bytes());
    body
}

/// Nothing in it ends a header.
fn clean_name(name: &str) -> String {
    const LONGEST_NAME: usize = 120;
    let is_plain = |c: &char| !c.is_control() && !matches!(c, '"' | '\\' | '/');
    let name: String = name.chars().filter(is_plain).take(LONGEST_NAME).collect();
    if name.trim().is_empty() { "file".to_owned() } else { name }
}

/// WhatsApp is asked where the file lies, and that place for the file.
pub(super) async fn open_file(parts: &LinkParts, file: &ArrivedFile) -> Result<FileStream, LinkFault> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c);
    if file.reference.is_empty() || !file.reference.chars().all(is_plain) {
        return Err(LinkFault::refused("the file has no id of WhatsApp's"));
    }
    let api = GraphApi { parts };
    let asked = [("phone_number_id", parts.account.account_id.as_str())];
    let answer = api.get(&file.reference, &asked).await?;
    if !answer.status.is_success() {
        let why = format!("WhatsApp does not say where the file is: {}", describe_answer(&answer));
        let fault = read_send_fault(&answer);
        let is_for_the_account = fault.subject == FaultSubject::Account && fault.retry_after.is_none();
        return Err(match fault.retryable {
            SendRetryability::Yes if is_for_the_account => LinkFault::until_mended(why),
            SendRetryability::Yes => LinkFault { retry_after: fault.retry_after, ..LinkFault::passing(why) },
            SendRetryability::No => LinkFault::refused(why),
        });
    }
    let told: Value = answer.read()?;
    let address = read_text(&told, "/url").ok_or_else(|| LinkFault::refused("the file is gone"))?;
    let response = open(api.open_address(address).await?).await?;
    let status = response.status();
    if status.is_success() {
        return Ok(stream_file(response));
    }
    let why = format!("WhatsApp does not give out the file: {}", status.as_u16());
    // The place was named just now: where nothing is there, or our token does not open it, it will be so the next time.
    match status.is_server_error() || matches!(status.as_u16(), 408 | 429) {
        true => Err(LinkFault::passing(why)),
        false => Err(LinkFault::refused(why)),
    }
}

/// What a reaction to their message says; an empty sign takes it back.
pub(super) fn build_reaction(message: &str, sign: &str) -> Value {
    json!({ "message_id": message, "emoji": sign })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_can_be_shown_is_shown() {
        for (media_type, size, kind) in [
            ("image/png", 1000, "image"),
            ("image/png", 6_000_000, "document"),
            ("image/gif", 1000, "document"),
            ("audio/ogg", 1000, "audio"),
            ("video/mp4", 20_000_000, "document"),
            ("application/pdf", 1000, "document"),
        ] {
            assert_eq!(choose_kind(media_type, size), kind, "{media_type}");
        }
    }

    #[test]
    fn a_name_ends_no_header() {
        assert_eq!(clean_name("a\"\r\nX: y.pdf"), "aX: y.pdf");
        assert_eq!(clean_name("\r\n"), "file");
        let file = LoadedFile {
            bytes: b"%PDF".to_vec(),
            media_type: "application/pdf".to_owned(),
            name: "बिल.pdf".to_owned(),
            caption: String::new(),
        };
        let form = String::from_utf8(write_form("b", "application/pdf", &file)).unwrap();
        assert_eq!(
            form,
            "--b\r\nContent-Disposition: form-data; name=\"messaging_product\"\r\n\r\nwhatsapp\r\n\
             --b\r\nContent-Disposition: form-data; name=\"type\"\r\n\r\napplication/pdf\r\n\
             --b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"बिल.pdf\"\r\n\
             Content-Type: application/pdf\r\n\r\n%PDF\r\n--b--\r\n"
        );
    }
}
