//! A mail as everything else that arrives.

use mail_parser::{Address, DateTime, MessageParser};
use munshi_identity::ContactAddress;
use munshi_types::Timestamp;
use ring::digest::{SHA256, digest};

use super::authentication::{SenderProof, TrustedResults, is_aligned, prove_sender};
use super::automatic::find_reason;
use super::files::{FilePlace, list_files};
use super::html_text::{QuoteHandling, read_html};
use super::mime::{MailHeaders, MailLeaf, guard, list_leaves, split_header};
use super::quotes::{cut_quotes, is_forward};
use super::report::{MailReport, find_own_id, read_report};
use crate::accounts::MailAccount;
use crate::email::thread::{MailThread, is_mail_id, name_mail, read_ids, strip_reply_words};
use crate::incoming::{ArrivedMessage, ArrivedReceipt, ArrivedSender, ChannelEvent, ChannelHappening};

/// A message has no more.
const LONGEST_TEXT: usize = 60 * 1024;
const LONGEST_SUBJECT: usize = 500;
const LONGEST_NAME: usize = 120;
const LONGEST_ADDRESS: usize = 254;
const LONGEST_ID: usize = 460;
/// What the name of somebody begins with whose address nobody has proved: they are not whom they say they are.
const UNPROVED: &str = "unproved:";

/// Where anybody gets an address: another of them is not the same organisation's.
const PUBLIC_PROVIDERS: [&str; 28] = [
    "aol.com",
    "fastmail.com",
    "gmail.com",
    "gmx.com",
    "gmx.de",
    "gmx.net",
    "googlemail.com",
    "hotmail.com",
    "icloud.com",
    "live.com",
    "mac.com",
    "mail.com",
    "mail.ru",
    "me.com",
    "msn.com",
    "outlook.com",
    "outlook.in",
    "pm.me",
    "proton.me",
    "protonmail.com",
    "rediffmail.com",
    "web.de",
    "yahoo.co.in",
    "yahoo.com",
    "yahoo.in",
    "yandex.com",
    "ymail.com",
    "zohomail.in",
];

/// A mail as it came.
pub(super) struct RawMail<'a> {
    pub bytes: &'a [u8],
    /// All of it, where only its header was fetched since it is too large.
    pub too_large: Option<u64>,
    pub received_at: Option<Timestamp>,
    pub place: FilePlace,
}

/// How mails of an account are read.
pub(super) struct MailReader<'a> {
    pub account: &'a MailAccount,
    pub trusted: &'a TrustedResults,
}

/// Who it is from and for.
struct MailPeople {
    /// In small letters; empty where there is none.
    from: String,
    name: Option<String>,
    reply_to: Option<String>,
    to: Vec<String>,
}

impl MailReader<'_> {
    pub(super) fn read(&self, mail: &RawMail<'_>) -> ChannelEvent {
        let (header, _) = split_header(mail.bytes);
        let headers = MailHeaders::parse(header);
        let (people, subject, sent_at) = read_header(header);
        let id =
            headers.first("message-id").and_then(|id| read_ids(id).pop()).filter(|id| id.len() <= LONGEST_ID);
        let outside_id = match &id {
            // Anybody may write the id of somebody else's mail above theirs.
            Some(id) => name_mail(id, &hash(&[people.from.as_bytes()])),
            None => format!("hash:{}", hash(&[mail.bytes])),
        };
        let event = match &id {
            Some(id) => hash(&[b"mail".as_slice(), id.as_bytes(), people.from.as_bytes()]),
            None => hash(&[mail.bytes]),
        };
        let leaves = if mail.too_large.is_some() { Vec::new() } else { list_leaves(mail.bytes) };
        let domain = self.account.domain();
        let report = read_report(&headers, &leaves, &people.from, domain);
        let build = |what| ChannelEvent {
            id: event.clone(),
            lane: people.from.clone(),
            happened_at: mail.received_at,
            what,
        };
        let unanswerable = match report {
            Some(MailReport::Returned { message, why }) => {
                return build(ChannelHappening::Receipt {
                    message,
                    receipt: ArrivedReceipt::Returned { why },
                    own: None,
                });
            }
            Some(MailReport::Delivered { message }) => {
                return build(ChannelHappening::Receipt {
                    message,
                    receipt: ArrivedReceipt::Delivered,
                    own: None,
                });
            }
            Some(MailReport::Idle(why)) => Some(why.to_owned()),
            None => find_reason(&headers, &people.from, &subject, &self.list_own()),
        };
        let proof = prove_sender(&headers, &people.from, self.trusted);
        let (quoted, thread) = read_thread(&headers, &subject, domain);
        let is_answer = quoted.is_some() && strip_reply_words(&subject) != subject.trim();
        let (files, left_out) = list_files(&leaves, &mail.place);
        let text = self.build_text(mail, &leaves, &subject, is_answer, left_out);
        let message = ArrivedMessage {
            outside_id,
            reply_to: choose_reply_address(&people, &proof),
            to: self.find_own_address(&people),
            from: build_sender(&people, &proof),
            text,
            files,
            quoted,
            sent_at,
            thread: thread.to_text(),
            unanswerable,
            ..ArrivedMessage::default()
        };
        build(ChannelHappening::Message(Box::new(message)))
    }

    /// In small letters.
    fn list_own(&self) -> Vec<String> {
        let own = [Some(&self.account.from), self.account.reply_to.as_ref()];
        own.into_iter().flatten().map(|mailbox| mailbox.email.to_string().to_lowercase()).collect()
    }

    /// Another name of ours that it was written to.
    fn find_own_address(&self, people: &MailPeople) -> Option<String> {
        let own = self.list_own();
        if people.to.iter().any(|address| own.contains(address)) {
            return None;
        }
        let domain = format!("@{}", self.account.domain().to_lowercase());
        people.to.iter().find(|address| address.ends_with(&domain)).cloned()
    }

    fn build_text(
        &self,
        mail: &RawMail<'_>,
        leaves: &[MailLeaf<'_>],
        subject: &str,
        is_answer: bool,
        left_out: usize,
    ) -> String {
        let words = read_words(leaves, is_forward(subject));
        let mut parts: Vec<String> = Vec::new();
        if !is_answer && !subject.trim().is_empty() {
            parts.push(subject.trim().to_owned());
        }
        if !words.is_empty() {
            parts.push(shorten(&words, LONGEST_TEXT));
        }
        if let Some(size) = mail.too_large {
            let mebibytes = size.div_ceil(1024 * 1024);
            parts.push(format!(
                "[This mail has {mebibytes} MB: it is too large to be read, and is still in the mailbox]"
            ));
        }
        if left_out > 0 {
            parts.push(format!("[{left_out} more files are still in the mailbox]"));
        }
        let text = parts.join("\n\n");
        if text.is_empty() { "[empty mail]".to_owned() } else { text }
    }
}

/// What its header says, as far as anybody can read it.
fn read_header(header: &[u8]) -> (MailPeople, String, Option<Timestamp>) {
    let nobody = || MailPeople { from: String::new(), name: None, reply_to: None, to: Vec::new() };
    let read = guard(|| {
        let parsed = MessageParser::default().parse_headers(header)?;
        let sender = parsed.from().and_then(Address::first);
        let from = sender.and_then(|from| from.address()).and_then(clean_address).unwrap_or_default();
        let name = sender.and_then(|from| from.name()).map(|name| clean_line(name, LONGEST_NAME));
        let reply_to =
            parsed.reply_to().and_then(Address::first).and_then(|to| to.address()).and_then(clean_address);
        let to = [parsed.to(), parsed.cc()].into_iter().flatten().flat_map(Address::iter);
        let to = to.filter_map(|to| clean_address(to.address()?)).take(100).collect();
        let subject = clean_line(parsed.subject().unwrap_or_default(), LONGEST_SUBJECT);
        let sent_at = parsed.date().filter(|date| date.is_valid()).and_then(convert_date);
        let name = name.filter(|name| !name.is_empty());
        Some((MailPeople { from, name, reply_to, to }, subject, sent_at))
    });
    read.unwrap_or_else(|| (nobody(), String::new(), None))
}

pub(super) fn convert_date(date: &DateTime) -> Option<Timestamp> {
    date.to_timestamp().checked_mul(1_000_000).map(Timestamp::from_micros)
}

/// In small letters; none where it can't be one.
fn clean_address(text: &str) -> Option<String> {
    let address = text.trim().to_lowercase();
    let fits = address.len() <= LONGEST_ADDRESS
        && address.split_once('@').is_some_and(|(name, domain)| !name.is_empty() && !domain.is_empty())
        && !address.chars().any(|c| c.is_control() || c.is_whitespace() || matches!(c, '<' | '>' | ','));
    fits.then_some(address)
}

fn clean_line(text: &str, longest: usize) -> String {
    let line: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(longest).collect();
    line.trim().to_owned()
}

fn build_sender(people: &MailPeople, proof: &SenderProof) -> ArrivedSender {
    let (how, is_proved) = match proof {
        SenderProof::Proved(how) => (Some((*how).to_owned()), true),
        SenderProof::Refuted => (Some("refuted".to_owned()), false),
        SenderProof::Unproved => (None, false),
    };
    let is_fit = ContactAddress::email(&people.from).is_ok();
    let address = shorten_name(&people.from);
    ArrivedSender {
        channel_id: if is_proved && is_fit { address } else { format!("{UNPROVED}{address}") },
        email: Some(people.from.clone()).filter(|_| is_proved && is_fit),
        name: people.name.clone(),
        proof: how,
        ..ArrivedSender::default()
    }
}

/// Of names that are too long to be one, what stands for them.
fn shorten_name(address: &str) -> String {
    const LONGEST: usize = 180;
    if address.len() <= LONGEST { address.to_owned() } else { hash(&[address.as_bytes()]) }
}

/// Where they ask to be answered, if that is their own organisation's; else where it came from. Whoever has got a signed mail of theirs may
/// send it on with another address above it, which no signature need cover. Others who got the mail are told nothing.
fn choose_reply_address(people: &MailPeople, proof: &SenderProof) -> String {
    let is_proved = matches!(proof, SenderProof::Proved(_));
    let is_own = |reply_to: &String| is_proved && is_same_organisation(reply_to, &people.from);
    people.reply_to.clone().filter(is_own).unwrap_or_else(|| people.from.clone())
}

fn is_same_organisation(one: &str, other: &str) -> bool {
    let domains = one.rsplit_once('@').zip(other.rsplit_once('@'));
    domains.is_some_and(|((_, one), (_, other))| {
        let is_public = [one, other].iter().any(|domain| PUBLIC_PROVIDERS.contains(domain));
        !is_public && is_aligned(one, other)
    })
}

/// The mail that it answers, one of ours before any other; and what its own answer stands behind.
fn read_thread(headers: &MailHeaders, subject: &str, domain: &str) -> (Option<String>, MailThread) {
    let mut chain = headers.first("references").map(read_ids).unwrap_or_default();
    for id in headers.first("in-reply-to").map(read_ids).unwrap_or_default() {
        if !chain.contains(&id) {
            chain.push(id);
        }
    }
    let ours = chain.iter().rev().find_map(|id| find_own_id(id, domain));
    let quoted = ours.or_else(|| chain.last().cloned()).filter(|id| is_mail_id(id));
    (quoted, MailThread::new(chain, subject))
}

/// What somebody wrote: of several forms of the same the plain one, if there is any in it.
fn read_words(leaves: &[MailLeaf<'_>], keeps_quotes: bool) -> String {
    let is_words = |leaf: &&MailLeaf<'_>| {
        let is_text = leaf.is_type("text/plain") || leaf.is_type("text/html");
        is_text && !leaf.is_attachment && leaf.name.is_none()
    };
    let shown: Vec<&MailLeaf<'_>> = leaves.iter().filter(is_words).collect();
    let find_choice = |leaf: &MailLeaf<'_>| {
        leaf.within.iter().rev().find(|place| place.subtype == "alternative").map(|place| place.number)
    };
    let mut parts: Vec<(Option<usize>, bool, String)> = Vec::new();
    for leaf in shown {
        let choice = find_choice(leaf);
        let is_html = leaf.is_type("text/html");
        let known = parts.iter().position(|(of, _, _)| choice.is_some() && *of == choice);
        // The other form of what is there already.
        if let Some(known) = known
            && parts[known].1 != is_html
        {
            if !is_html {
                let words = read_plain(&leaf.text(), keeps_quotes);
                if !words.is_empty() {
                    parts[known] = (choice, false, words);
                }
            }
            continue;
        }
        let words = match is_html {
            true => read_markup(&leaf.text(), keeps_quotes),
            false => read_plain(&leaf.text(), keeps_quotes),
        };
        if !words.is_empty() {
            parts.push((choice, is_html, words));
        }
    }
    let words: Vec<String> = parts.into_iter().map(|(_, _, words)| words).collect();
    words.join("\n\n")
}

fn read_plain(text: &str, keeps_quotes: bool) -> String {
    let text = clean_text(text);
    if keeps_quotes { text.trim().to_owned() } else { cut_quotes(&text) }
}

fn read_markup(html: &str, keeps_quotes: bool) -> String {
    if keeps_quotes {
        return clean_text(&read_html(html, QuoteHandling::Kept)).trim().to_owned();
    }
    let own = cut_quotes(&clean_text(&read_html(html, QuoteHandling::LeftOut)));
    if own.is_empty() { cut_quotes(&clean_text(&read_html(html, QuoteHandling::Kept))) } else { own }
}

/// One kind of line end, and nothing that is no letter.
fn clean_text(text: &str) -> String {
    let lines = shorten(text, 8 * LONGEST_TEXT).replace("\r\n", "\n").replace('\r', "\n");
    lines.chars().filter(|c| !c.is_control() || matches!(c, '\n' | '\t')).collect()
}

fn shorten(text: &str, longest: usize) -> String {
    if text.len() <= longest {
        return text.to_owned();
    }
    let mut end = longest;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}\n\n[The rest of this mail is left out: it is too long]", &text[..end])
}

/// What stands for bytes, the same each time.
pub(super) fn hash(words: &[&[u8]]) -> String {
    let hashed = digest(&SHA256, &words.join(&0_u8));
    hashed.as_ref()[..20].iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests;
