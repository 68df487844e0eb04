//! Mails that nobody answers: programs wrote them, or we did.

use munshi_types::Timestamp;

use super::mime::MailHeaders;
use crate::email::format::LOOP_HEADER;

/// What stands before the `@` of addresses behind which nobody reads.
const UNREAD: [&str; 14] = [
    "mailer-daemon",
    "postmaster",
    "daemon",
    "noreply",
    "no-reply",
    "no_reply",
    "donotreply",
    "do-not-reply",
    "do_not_reply",
    "bounce",
    "bounces",
    "notifications",
    "notification",
    "mailer",
];
/// Subjects that programs give to answers of their own, where they say nowhere else that they are that.
const ABSENT: [&str; 12] = [
    "automatic reply:",
    "auto reply:",
    "auto-reply:",
    "autoreply:",
    "out of office",
    "automatische antwort:",
    "réponse automatique",
    "respuesta automática",
    "resposta automática",
    "risposta automatica:",
    "स्वत: उत्तर",
    "स्वचालित उत्तर",
];

/// Why nobody answers a mail; none where somebody does. All addresses are in small letters.
pub(super) fn find_reason(
    headers: &MailHeaders,
    from: &str,
    subject: &str,
    own: &[String],
) -> Option<String> {
    let named = |name: &str| headers.first(name).map(str::trim).unwrap_or_default().to_ascii_lowercase();
    let is_ours = |address: &str| own.iter().any(|known| known == address);
    if is_ours(from) {
        return Some("it is from our own address".to_owned());
    }
    if headers.all(LOOP_HEADER).any(|value| is_ours(&value.trim().to_ascii_lowercase())) {
        return Some("it is our own mail, come back".to_owned());
    }
    let submitted = named("auto-submitted");
    if !submitted.is_empty() && submitted.split(';').next().map(str::trim) != Some("no") {
        return Some(format!("a program sent it ({})", shorten(&submitted)));
    }
    if headers.first("return-path").is_some_and(|path| path.trim() == "<>") {
        return Some("it has nobody to answer to (Return-Path)".to_owned());
    }
    let precedence = named("precedence");
    if matches!(precedence.as_str(), "bulk" | "list" | "junk" | "auto_reply") {
        return Some(format!("it is sent to many (Precedence: {precedence})"));
    }
    for name in ["list-id", "x-autoreply", "x-autorespond", "x-autoresponse", "x-auto-reply-from"] {
        let value = named(name);
        if !value.is_empty() && value != "no" && value != "false" {
            return Some(format!("it is of a list or a program ({name})"));
        }
    }
    let suppressed = named("x-auto-response-suppress");
    if suppressed.split(',').map(str::trim).any(|word| matches!(word, "all" | "autoreply")) {
        return Some("it asks for no answer of a program (X-Auto-Response-Suppress)".to_owned());
    }
    let mailbox = from.split('@').next().unwrap_or_default();
    let is_unread = UNREAD.iter().any(|name| {
        mailbox
            .strip_prefix(name)
            .is_some_and(|rest| rest.is_empty() || rest.starts_with(['+', '-', '.', '_']))
    });
    if is_unread || from.is_empty() {
        return Some("nobody reads what is sent to its sender".to_owned());
    }
    let subject = subject.trim().to_lowercase();
    ABSENT
        .iter()
        .any(|words| subject.starts_with(words))
        .then(|| "it says that somebody is away (by its subject)".to_owned())
}

fn shorten(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(40).collect()
}

/// How many mails somebody sent of late. Two programs that answer each other say so nowhere, at times.
#[derive(Debug, Default)]
pub(super) struct SenderPace(std::collections::HashMap<String, Vec<Timestamp>>);

impl SenderPace {
    /// In an hour. A person writes fewer.
    const MOST: usize = 60;
    const HOUR: std::time::Duration = std::time::Duration::from_secs(3600);
    /// Of so many senders at once.
    const MOST_SENDERS: usize = 10_000;

    /// Whether one more of somebody's is too much. `when` is when it arrived, so that what waited for long is no crowd.
    pub(super) fn exceeds(&mut self, from: &str, when: Timestamp) -> bool {
        let earliest = when.minus(Self::HOUR);
        if self.0.len() >= Self::MOST_SENDERS {
            self.0.retain(|_, times| times.iter().any(|time| *time > earliest));
        }
        if self.0.len() >= Self::MOST_SENDERS {
            return false;
        }
        let times = self.0.entry(from.to_owned()).or_default();
        times.retain(|time| *time > earliest);
        if times.len() >= Self::MOST {
            return true;
        }
        times.push(when);
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reason(header: &str, from: &str, subject: &str) -> Option<String> {
        let headers = MailHeaders::parse(header.as_bytes());
        find_reason(&headers, from, subject, &["shop@example.com".to_owned()])
    }

    #[test]
    fn programs_are_not_answered() {
        for header in [
            "Auto-Submitted: auto-replied",
            "Auto-Submitted: auto-generated; owner-email=\"a\"",
            "Return-Path: <>",
            "Precedence: Bulk",
            "List-Id: <a.example>",
            "X-Autoreply: yes",
            "X-Auto-Response-Suppress: DR, OOF, AutoReply",
            "X-Loop: shop@example.com",
        ] {
            assert!(reason(header, "meera@example.org", "Order").is_some(), "{header}");
        }
        for from in [
            "shop@example.com",
            "no-reply@bank.example",
            "MAILER-DAEMON@mx.example",
            "bounce+7@x.example",
            "",
        ] {
            assert!(reason("", &from.to_lowercase(), "Order").is_some(), "{from}");
        }
        assert!(reason("", "meera@example.org", "Automatic reply: Order").is_some());
    }

    #[test]
    fn people_are_answered() {
        for header in [
            "",
            "Auto-Submitted: no",
            "Return-Path: <meera@example.org>",
            "Precedence: normal",
            "X-Autorespond: no",
            "X-Auto-Response-Suppress: DR, RN",
            "X-Loop: other@example.com",
        ] {
            assert_eq!(reason(header, "meera@example.org", "Re: Order"), None, "{header}");
        }
        assert_eq!(reason("", "bouncer.rao@example.org", "Hello"), None);
    }

    #[test]
    fn a_flood_ends() {
        let mut pace = SenderPace::default();
        let start = Timestamp::from_micros(1_800_000_000_000_000);
        assert!((0..SenderPace::MOST).all(|_| !pace.exceeds("a@b.example", start)));
        assert!(pace.exceeds("a@b.example", start) && !pace.exceeds("c@b.example", start));
        assert!(!pace.exceeds("a@b.example", start.plus(SenderPace::HOUR)));
    }
}
