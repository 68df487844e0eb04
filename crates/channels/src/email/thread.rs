//! Which mails an answer stands behind, and under which subject.

use munshi_types::OutboundMessage;
use serde::{Deserialize, Serialize};

/// What another's program calls a mail is no longer.
const LONGEST_ID: usize = 900;
/// Of all ids together. Header lines are cut by servers beyond some thousand bytes.
const LONGEST_CHAIN: usize = 3000;
const LONGEST_SUBJECT: usize = 200;

/// What came before a mail. Its own id is not in it: an answer knows which message it is for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct MailThread {
    /// The first mail of the thread, and those that came last, in their order.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub before: Vec<String>,
    /// As they wrote it, without what says that it is an answer.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub subject: String,
}

impl MailThread {
    /// Behind a mail with these headers.
    pub(super) fn new(before: Vec<String>, subject: &str) -> Self {
        let subject: String = strip_reply_words(subject).chars().take(LONGEST_SUBJECT).collect();
        Self { before: shorten_chain(before), subject }
    }

    /// What a message answers, as its address says.
    pub(super) fn of(outbound: &OutboundMessage) -> Self {
        let stored = outbound.to.thread.as_deref();
        stored.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()
    }

    /// As it is stored with the address.
    pub(super) fn to_text(&self) -> Option<String> {
        if *self == Self::default() { None } else { serde_json::to_string(self).ok() }
    }

    /// `Re: …`; none where nobody gave it any.
    pub(super) fn build_subject(&self) -> Option<String> {
        (!self.subject.trim().is_empty()).then(|| format!("Re: {}", self.subject.trim()))
    }

    /// All that came before, the mail that is answered last.
    pub(super) fn list_ids(&self, answers: Option<&str>) -> Vec<String> {
        let answers = answers.map(|answers| read_mail_name(answers).to_owned());
        let all = self.before.iter().filter(|id| answers.as_ref() != Some(*id)).cloned();
        let all: Vec<String> = all.chain(answers.clone()).filter(|id| is_mail_id(id)).collect();
        shorten_chain(all)
    }
}

/// What a mail is known by: its id, and what stands for whoever sent it. The same id of somebody else's is another mail.
pub(super) fn name_mail(id: &str, sender: &str) -> String {
    format!("{id}#{sender}")
}

/// The id in it. Mails that came long ago have nothing behind it.
fn read_mail_name(name: &str) -> &str {
    let name = name.trim();
    let is_sender = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let parts = name.rsplit_once('#').filter(|(id, sender)| id.ends_with('>') && is_sender(sender));
    parts.map_or(name, |(id, _)| id)
}

/// The first, and as many of the last as there is room for.
fn shorten_chain(ids: Vec<String>) -> Vec<String> {
    let mut left = LONGEST_CHAIN;
    let Some(first) = ids.first().cloned() else { return ids };
    left = left.saturating_sub(first.len() + 1);
    let mut kept: Vec<String> = Vec::new();
    for id in ids.into_iter().skip(1).rev() {
        if id.len() + 1 > left {
            break;
        }
        left -= id.len() + 1;
        kept.push(id);
    }
    kept.push(first);
    kept.reverse();
    kept
}

pub(super) fn is_mail_id(text: &str) -> bool {
    let inner = text.strip_prefix('<').and_then(|text| text.strip_suffix('>'));
    inner.is_some_and(|inner| {
        inner.len() <= LONGEST_ID
            && inner.split_once('@').is_some_and(|(left, right)| !left.is_empty() && !right.is_empty())
            && inner.bytes().all(|byte| byte.is_ascii_graphic() && !matches!(byte, b'<' | b'>'))
    })
}

/// Every id in a header, in its order, however they are separated.
pub(super) fn read_ids(header: &str) -> Vec<String> {
    const MOST: usize = 200;
    let mut ids = Vec::new();
    let mut rest = header;
    while let Some(start) = rest.find('<') {
        let inner = &rest[start + 1..];
        let Some(end) = inner.find(['<', '>']) else { break };
        let id = format!("<{}>", &inner[..end]);
        // An id that another begins in is none.
        if inner[end..].starts_with('>') && is_mail_id(&id) && !ids.contains(&id) && ids.len() < MOST {
            ids.push(id);
        }
        rest = &inner[end..];
    }
    ids
}

/// `Re:`, `AW:` and what else says that a mail is an answer, however often.
pub(super) fn strip_reply_words(subject: &str) -> &str {
    const WORDS: [&str; 15] = [
        "re",
        "aw",
        "sv",
        "vs",
        "antw",
        "odp",
        "ynt",
        "rif",
        "res",
        "ref",
        "回复",
        "回覆",
        "答复",
        "उत्तर",
        "جواب",
    ];
    let mut rest = subject.trim();
    while let Some((word, behind)) = rest.split_once([':', '：']) {
        // `Re[2]:` is what some programs count with.
        let bare = word.split(['[', '(']).next().unwrap_or_default().trim().to_lowercase();
        if !WORDS.contains(&bare.as_str()) {
            break;
        }
        rest = behind.trim_start();
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_has_its_first_and_its_last() {
        let ids: Vec<String> = (0..500).map(|number| format!("<{number}@mail.example.org>")).collect();
        let thread = MailThread::new(ids.clone(), "Re: Order");
        let chain = thread.list_ids(Some("<500@mail.example.org>"));
        assert_eq!((chain.first(), chain.last()), (ids.first(), Some(&"<500@mail.example.org>".to_owned())));
        assert!(chain.join(" ").len() <= LONGEST_CHAIN);
        let named = name_mail("<500@mail.example.org>", "0a1b");
        assert_eq!(thread.list_ids(Some(&named)), chain, "who sent it is no part of its id");
        assert_eq!(MailThread::default().list_ids(Some("hash:7")), Vec::<String>::new(), "no id of a mail");
    }

    #[test]
    fn ids_are_found_however_they_stand() {
        for (header, ids) in [
            ("<a@b> <c@d>", vec!["<a@b>", "<c@d>"]),
            ("<a@b><c@d>,<a@b>", vec!["<a@b>", "<c@d>"]),
            ("a@b <broken <c@d> <no> <>", vec!["<c@d>"]),
            ("Your mail of Tuesday", vec![]),
        ] {
            assert_eq!(read_ids(header), ids, "{header}");
        }
    }

    #[test]
    fn a_subject_stays_what_it_was() {
        for (subject, bare) in [
            ("Re: Order 7", "Order 7"),
            ("AW: Re: RE[2]: Order 7", "Order 7"),
            ("回复：Order", "Order"),
            ("Fwd: Order", "Fwd: Order"),
            ("Order: rice", "Order: rice"),
            ("Re:", ""),
        ] {
            assert_eq!(strip_reply_words(subject), bare);
        }
        let stored = MailThread::new(vec!["<a@b>".to_owned()], "Re: Order").to_text().unwrap();
        let read: MailThread = serde_json::from_str(&stored).unwrap();
        assert_eq!(read.build_subject().as_deref(), Some("Re: Order"));
        assert_eq!(MailThread::new(Vec::new(), "").to_text(), None);
    }
}
