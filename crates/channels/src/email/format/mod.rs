//! A message as a mail.

use std::time::{Duration, SystemTime};

use lettre::message::header::{ContentTransferEncoding, ContentType, HeaderName, HeaderValue};
use lettre::message::{Attachment, Body, Mailbox, Message, MessageBuilder, MultiPart, SinglePart};
use lettre::{Address, address::Envelope};
use munshi_conversations::outbox::SendRetryability;
use munshi_types::tier::LanguageCode;
use munshi_types::{OutboundAttachment, OutboundMessage, OutboundPurpose, TenantId, Timestamp};

use super::fault::{MailFault, MailOutcome, MailStage};
use super::html::{HtmlLinks, render_html};
use super::qr::draw_png;
use super::thread::MailThread;
use crate::accounts::MailAccount;
use crate::files::FileSource;

/// Of all files together; most servers take 25 MB, and a file grows by a third on its way.
const MOST_BYTES: u64 = 15 * 1024 * 1024;
const LONGEST_SUBJECT: usize = 200;
const LONGEST_NAME: usize = 120;
/// Mails of ours say whose they are: one that comes back is not answered.
pub(super) const LOOP_HEADER: &str = "x-loop";

/// Ready to be handed over.
#[derive(Debug)]
pub(super) struct FormattedMail {
    /// With its angle brackets: what the thread, and a note that it came back, know it by.
    pub id: String,
    pub to: Address,
    pub bytes: Vec<u8>,
}

/// Something that goes along.
#[derive(Debug)]
pub(super) struct LoadedFile {
    name: String,
    media_type: String,
    bytes: Vec<u8>,
}

/// Reads the files of a message, and draws its codes.
pub(super) async fn load_files(
    source: Option<&dyn FileSource>,
    tenant: TenantId,
    outbound: &OutboundMessage,
) -> Result<Vec<LoadedFile>, MailFault> {
    let refused = |what: &str| MailFault::refused(MailStage::Prepare, what);
    let mut left = MOST_BYTES;
    let mut loaded = Vec::new();
    for attachment in &outbound.attachments {
        match attachment {
            OutboundAttachment::File { file, name, media_type } => {
                let source = source.ok_or_else(|| refused("files can't be sent from here"))?;
                let bytes = source.load(tenant, *file, left).await.map_err(|fault| {
                    let outcome = match fault.retryable {
                        SendRetryability::Yes => MailOutcome::Passing,
                        SendRetryability::No => MailOutcome::Refused,
                    };
                    MailFault { stage: MailStage::Prepare, what: fault.why, outcome }
                })?;
                left = left.saturating_sub(bytes.len() as u64);
                loaded.push(LoadedFile { name: name.clone(), media_type: media_type.clone(), bytes });
            }
            OutboundAttachment::Qr { text, title } => {
                let bytes = draw_png(text).ok_or_else(|| refused("the text is too long for a QR code"))?;
                let name = if title.is_empty() { "qr.png".to_owned() } else { format!("{title}.png") };
                loaded.push(LoadedFile { name, media_type: "image/png".to_owned(), bytes });
            }
            OutboundAttachment::Link { .. } => {}
        }
    }
    Ok(loaded)
}

/// The same bytes each time for the same message at the same time. `unsubscribe` is the link by which whoever gets it ends such mails,
/// `place` is where people open this.
pub(super) fn format_mail(
    (account, place): (&MailAccount, Option<&str>),
    outbound: &OutboundMessage,
    to: Address,
    files: Vec<LoadedFile>,
    unsubscribe: Option<String>,
    now: Timestamp,
) -> Result<FormattedMail, String> {
    let id = format!("<{}@{}>", outbound.id, account.domain());
    let envelope = Envelope::new(Some(account.from.email.clone()), vec![to.clone()])
        .map_err(|error| format!("the mail can't be addressed: {error}"))?;
    let thread = MailThread::of(outbound);
    let builder = Message::builder()
        .envelope(envelope)
        .from(account.from.clone())
        .to(Mailbox::new(None, to.clone()))
        .subject(build_subject(account, outbound, &thread))
        .date(to_system_time(now))
        .message_id(Some(id.clone()));
    let builder = add_thread(add_replies(builder, account), &thread, outbound);
    let builder = add_automation(builder, outbound.purpose);
    let builder = builder.raw_header(build_header("X-Loop", account.from.email.to_string()));
    let builder = add_unsubscribe(builder, unsubscribe);
    let links = choose_links(outbound.purpose, place);
    let text = links.disarm(&build_text(outbound));
    let html = render_html(&text, outbound.language.as_ref().map(LanguageCode::as_str), links);
    let words = MultiPart::alternative().boundary(format!("munshi-{}-words", outbound.id));
    let words = words.singlepart(SinglePart::plain(text)).singlepart(SinglePart::html(html));
    let body = if files.is_empty() {
        words
    } else {
        let mixed = MultiPart::mixed().boundary(format!("munshi-{}-files", outbound.id)).multipart(words);
        files.into_iter().fold(mixed, |mixed, file| mixed.singlepart(build_file(file)))
    };
    let mail = builder.multipart(body).map_err(|error| format!("the mail can't be written: {error}"))?;
    let bytes = mail.formatted();
    match has_lone_line_end(&bytes) {
        true => Err("the mail can't be written: a line of it does not end as lines do".to_owned()),
        false => Ok(FormattedMail { id, to, bytes }),
    }
}

/// What tells somebody of the tenant of something holds what others wrote.
fn choose_links(purpose: OutboundPurpose, place: Option<&str>) -> HtmlLinks<'_> {
    if purpose == OutboundPurpose::Alert { HtmlLinks::Within(place) } else { HtmlLinks::All }
}

fn to_system_time(now: Timestamp) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_millis(now.as_millis())
}

/// One line, without what could begin another.
fn clean_line(text: &str, longest: usize) -> String {
    let spaced = text.chars().map(|letter| if letter.is_control() { ' ' } else { letter });
    let line: String = spaced.take(longest).collect();
    line.trim().to_owned()
}

/// Lines that end in one way, without what is no text: mails have no other control characters.
fn clean_text(text: &str) -> String {
    let lines = text.replace("\r\n", "\n").replace('\r', "\n");
    lines.chars().filter(|letter| !letter.is_control() || matches!(letter, '\n' | '\t')).collect()
}

/// Whether half of a line's end stands alone: servers take it for one or not, as they like, and a dot behind it for the end of the mail.
fn has_lone_line_end(bytes: &[u8]) -> bool {
    let mut before = 0;
    for byte in bytes {
        if (*byte == b'\n') != (before == b'\r') {
            return true;
        }
        before = *byte;
    }
    before == b'\r'
}

/// Its own; else that of the mail it answers; else who it is from: that is right in every language.
fn build_subject(account: &MailAccount, outbound: &OutboundMessage, thread: &MailThread) -> String {
    let own = outbound.subject.as_deref().map(|text| clean_line(text, LONGEST_SUBJECT));
    let theirs = thread.build_subject().map(|text| clean_line(&text, LONGEST_SUBJECT));
    let name = account.from.name.as_deref().unwrap_or(account.domain());
    let found = own.filter(|text| !text.is_empty()).or(theirs);
    found.unwrap_or_else(|| clean_line(name, LONGEST_SUBJECT))
}

fn add_replies(builder: MessageBuilder, account: &MailAccount) -> MessageBuilder {
    match &account.reply_to {
        Some(reply_to) => builder.reply_to(reply_to.clone()),
        None => builder,
    }
}

/// Puts it behind the mail that it answers, where that has an id that can be one, and all that came before.
fn add_thread(builder: MessageBuilder, thread: &MailThread, outbound: &OutboundMessage) -> MessageBuilder {
    let chain = thread.list_ids(outbound.answers.as_deref());
    match chain.last() {
        Some(last) => builder.in_reply_to(last.clone()).references(chain.join(" ")),
        None => builder,
    }
}

fn build_header(name: &'static str, value: String) -> HeaderValue {
    HeaderValue::new(HeaderName::new_from_ascii_str(name), value)
}

/// Says that a program wrote it, so that no other answers by itself.
fn add_automation(builder: MessageBuilder, purpose: OutboundPurpose) -> MessageBuilder {
    let how = match purpose {
        OutboundPurpose::Colleague => return builder,
        OutboundPurpose::Reply => "auto-replied",
        _ => "auto-generated",
    };
    let builder = builder.raw_header(build_header("Auto-Submitted", how.to_owned()));
    builder.raw_header(build_header("X-Auto-Response-Suppress", "All".to_owned()))
}

/// How it is ended by whoever did not ask for it: programs show a button, and send what stands here when it is pressed (RFC 8058).
fn add_unsubscribe(builder: MessageBuilder, link: Option<String>) -> MessageBuilder {
    let Some(link) = link else { return builder };
    let builder = builder.raw_header(build_header("List-Unsubscribe", format!("<{link}>")));
    builder.raw_header(build_header("List-Unsubscribe-Post", "List-Unsubscribe=One-Click".to_owned()))
}

/// The words, what may be answered, and where links lead.
fn build_text(outbound: &OutboundMessage) -> String {
    let links = outbound.attachments.iter().filter_map(|attachment| match attachment {
        OutboundAttachment::Link { url, title } if title.is_empty() => Some(url.clone()),
        OutboundAttachment::Link { url, title } => {
            Some(format!("{}\n{url}", clean_line(title, LONGEST_NAME)))
        }
        _ => None,
    });
    let suggestions: Vec<String> = outbound
        .suggestions
        .iter()
        .map(|words| format!("- {}", clean_line(words, LONGEST_SUBJECT)))
        .collect();
    let suggestions = (!suggestions.is_empty()).then(|| suggestions.join("\n"));
    let text = outbound.text.trim_end().to_owned();
    let parts: Vec<String> = [text].into_iter().chain(links).chain(suggestions).collect();
    // All of it, whoever said it: what leads a link on is no more to be believed than words.
    clean_text(&parts.join("\n\n")) + "\n"
}

fn build_file(file: LoadedFile) -> SinglePart {
    let octets = ContentType::parse("application/octet-stream").unwrap_or(ContentType::TEXT_PLAIN);
    let media_type = ContentType::parse(&file.media_type).unwrap_or(octets);
    let name: String = clean_line(&file.name, LONGEST_NAME).replace(['/', '\\', '"'], "_");
    let name = if name.is_empty() { "file".to_owned() } else { name };
    // A text as it is would have lines that end in the file's own way, which servers refuse, or take for an end of the mail.
    let body = Body::new_with_encoding(file.bytes, ContentTransferEncoding::Base64);
    Attachment::new(name).body(body.unwrap_or_else(Body::new), media_type)
}

#[cfg(test)]
mod tests;
