//! The files of a mail: which they are, and where they are found again.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::mime::{MailHeaders, MailLeaf, list_leaves, split_header};
use crate::incoming::ArrivedFile;

/// More are not taken with one message.
const MOST: usize = 20;
/// Pictures within a text that are no larger are logos and lines.
const DECORATION: usize = 20 * 1024;
/// What only programs read.
const UNSEEN: [&str; 7] = [
    "application/pgp-signature",
    "application/pkcs7-signature",
    "application/x-pkcs7-signature",
    "message/delivery-status",
    "message/disposition-notification",
    "text/rfc822-headers",
    "text/x-amp-html",
];
const IN_MAILBOX: &str = "imap";
const IN_ITSELF: &str = "data:";

/// Where the mail is that files are of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FilePlace {
    /// At the server, under these numbers.
    Mailbox { validity: u32, mail: u32 },
    /// Nowhere: who handed it to us keeps none.
    Nowhere,
}

/// A file as its reference says it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum FileReference {
    Mailbox { validity: u32, mail: u32, leaf: usize },
    Bytes(Vec<u8>),
}

/// The files, and how many more there are.
pub(super) fn list_files(leaves: &[MailLeaf<'_>], place: &FilePlace) -> (Vec<ArrivedFile>, usize) {
    let files: Vec<&MailLeaf<'_>> = leaves.iter().filter(|leaf| is_file(leaf)).collect();
    let listed = files.iter().take(MOST).map(|leaf| build_file(leaf, place)).collect();
    (listed, files.len().saturating_sub(MOST))
}

fn is_file(leaf: &MailLeaf<'_>) -> bool {
    if UNSEEN.contains(&leaf.media_type.as_str()) || leaf.media_type.starts_with("multipart/") {
        return false;
    }
    let is_words = leaf.is_type("text/plain") || leaf.is_type("text/html");
    if is_words && !leaf.is_attachment && leaf.name.is_none() {
        return false;
    }
    let is_picture = leaf.media_type.starts_with("image/");
    let is_shown = !leaf.is_attachment && (leaf.content_id.is_some() || leaf.is_within("related"));
    // Its bytes are fewer than what they are written with.
    let is_small = leaf.body().len() < DECORATION * 4 / 3;
    let is_decoration = is_picture && is_shown && is_small;
    !is_decoration && !leaf.body().is_empty()
}

fn build_file(leaf: &MailLeaf<'_>, place: &FilePlace) -> ArrivedFile {
    let reference = match place {
        FilePlace::Mailbox { validity, mail } => format!("{IN_MAILBOX}:{validity}:{mail}:{}", leaf.number),
        FilePlace::Nowhere => format!("{IN_ITSELF}{}", STANDARD.encode(leaf.bytes())),
    };
    let name = leaf.name.clone().or_else(|| name_message(leaf));
    ArrivedFile { reference, media_type: leaf.media_type.clone(), name, size: None }
}

/// A mail within a mail is called by its subject.
fn name_message(leaf: &MailLeaf<'_>) -> Option<String> {
    if !leaf.is_type("message/rfc822") {
        return None;
    }
    let (header, _) = split_header(leaf.body());
    let headers = MailHeaders::parse(header);
    let subject: String = headers
        .first("subject")
        .unwrap_or("mail")
        .chars()
        .filter(|c| c.is_alphanumeric() || *c == ' ')
        .take(60)
        .collect();
    Some(format!("{}.eml", subject.trim()))
}

/// None where it is none of ours.
pub(super) fn read_reference(text: &str) -> Option<FileReference> {
    if let Some(encoded) = text.strip_prefix(IN_ITSELF) {
        return STANDARD.decode(encoded).ok().map(FileReference::Bytes);
    }
    let mut words = text.strip_prefix(IN_MAILBOX)?.strip_prefix(':')?.split(':');
    let (validity, mail, leaf) =
        (words.next()?.parse().ok()?, words.next()?.parse().ok()?, words.next()?.parse().ok()?);
    Some(FileReference::Mailbox { validity, mail, leaf })
}

/// The bytes of a part of a mail, by its place in it.
pub(super) fn find_file(raw: &[u8], number: usize) -> Option<Vec<u8>> {
    list_leaves(raw).into_iter().find(|leaf| leaf.number == number).map(|leaf| leaf.bytes())
}
