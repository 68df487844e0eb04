//! What servers and programs say of mails of ours: that one came back, is late, or was read.

use munshi_types::MessageId;

use super::mime::{MailHeaders, MailLeaf, split_header};
use crate::email::fault::redact_reply;

/// Of a note without a form so much is looked at.
const LONGEST_NOTE: usize = 64 * 1024;
const MOST_PARTS: usize = 5;
/// Our own ids are shorter.
const LONGEST_NAME: usize = 64;
/// Who sends notes without a form.
const SERVERS: [&str; 4] = ["mailer-daemon@", "postmaster@", "mail-daemon@", "mailerdaemon@"];

/// What a mail says of one of ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum MailReport {
    /// It will not arrive. `message` is its id as we gave it.
    Returned { message: String, why: String },
    /// It arrived, since somebody asked to be told.
    Delivered { message: String },
    /// Nothing that anybody acts on, and why.
    Idle(&'static str),
}

/// None where it is no such mail. `domain` is what stands behind the `@` of our ids.
pub(super) fn read_report(
    headers: &MailHeaders,
    leaves: &[MailLeaf<'_>],
    from: &str,
    domain: &str,
) -> Option<MailReport> {
    let media_type = headers.first("content-type").unwrap_or_default().to_ascii_lowercase();
    let is_report = media_type.starts_with("multipart/report");
    if is_report && media_type.contains("disposition-notification") {
        return Some(MailReport::Idle("it says that a mail was read"));
    }
    let status = leaves.iter().find(|leaf| leaf.is_type("message/delivery-status"));
    if let Some(status) = status.filter(|_| is_report) {
        return Some(read_status(&status.text(), leaves, domain));
    }
    let is_note = headers.first("return-path").is_some_and(|path| path.trim() == "<>")
        || headers.has("x-failed-recipients")
        || SERVERS.iter().any(|name| from.starts_with(name));
    if !is_note {
        return None;
    }
    let text: String =
        leaves.iter().take(MOST_PARTS).map(|leaf| bound(leaf.body())).collect::<Vec<_>>().join("\n");
    let message = find_own_id(&text, domain)?;
    let lower = text.to_lowercase();
    let is_late = ["delayed", "will be retried", "will retry", "temporarily deferred"]
        .iter()
        .any(|words| lower.contains(words))
        && !["failed permanently", "could not be delivered", "permanent error"]
            .iter()
            .any(|words| lower.contains(words));
    Some(match is_late {
        true => MailReport::Idle("a server says that a mail is late"),
        false => MailReport::Returned { message, why: find_reason(&text) },
    })
}

fn read_status(status: &str, leaves: &[MailLeaf<'_>], domain: &str) -> MailReport {
    let fields: Vec<MailHeaders> = status
        .replace("\r\n", "\n")
        .split("\n\n")
        .map(|group| MailHeaders::parse(group.as_bytes()))
        .collect();
    let find = |name: &str| fields.iter().find_map(|group| group.first(name).map(str::to_owned));
    let original = leaves.iter().filter(|leaf| {
        matches!(
            leaf.media_type.as_str(),
            "message/rfc822" | "message/global" | "text/rfc822-headers" | "message/rfc822-headers"
        )
    });
    let ids = original.filter_map(|leaf| {
        let (header, _) = split_header(leaf.body());
        MailHeaders::parse(header).first("message-id").map(str::to_owned)
    });
    let own = ids.chain(find("x-original-message-id")).find_map(|id| find_own_id(&id, domain));
    let action = find("action").unwrap_or_default().to_ascii_lowercase();
    let Some(message) = own else { return MailReport::Idle("it reports of a mail that is none of ours") };
    match action.split_ascii_whitespace().next().unwrap_or_default() {
        "failed" => {
            let code = find("diagnostic-code").or_else(|| find("status")).unwrap_or_default();
            let why = redact_reply(code.split_once(';').map_or(code.as_str(), |(_, words)| words));
            MailReport::Returned { message, why: format!("their server sent it back: {why}") }
        }
        "delivered" | "relayed" | "expanded" => MailReport::Delivered { message },
        _ => MailReport::Idle("a server says that a mail is late"),
    }
}

fn bound(bytes: &[u8]) -> String {
    String::from_utf8_lossy(&bytes[..bytes.len().min(LONGEST_NOTE)]).into_owned()
}

/// An id that we gave, anywhere in a text.
pub(super) fn find_own_id(text: &str, domain: &str) -> Option<String> {
    let end = format!("@{domain}>").to_ascii_lowercase();
    let lower = text.to_ascii_lowercase();
    lower.match_indices(&end).find_map(|(at, _)| {
        let near = at.saturating_sub(LONGEST_NAME);
        let start = near + lower.as_bytes()[near..at].iter().rposition(|byte| *byte == b'<')?;
        let name = text.get(start + 1..at)?;
        name.parse::<MessageId>().ok().map(|id| format!("<{id}@{domain}>"))
    })
}

/// The line with the server's code; none of it names anybody.
fn find_reason(text: &str) -> String {
    let has_code = |line: &&str| {
        let words: Vec<&str> = line.split(|c: char| !c.is_ascii_digit() && c != '.').collect();
        words.iter().any(|word| {
            (word.len() == 3 && word.starts_with('5'))
                || (word.starts_with("5.") && word.matches('.').count() == 2)
        })
    };
    match text.lines().find(has_code) {
        Some(line) => format!("their server sent it back: {}", redact_reply(line)),
        None => "their server sent it back".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::mime::list_leaves;
    use super::*;

    const ID: &str = "01a1dd41-32c0-704f-b28c-400adb3d8fd2";

    fn read(raw: &str, from: &str) -> Option<MailReport> {
        let (header, _) = split_header(raw.as_bytes());
        read_report(&MailHeaders::parse(header), &list_leaves(raw.as_bytes()), from, "example.com")
    }

    fn report(action: &str) -> String {
        format!(
            "Content-Type: multipart/report; report-type=delivery-status; boundary=b\n\n--b\n\nSorry.\n--b\n\
             Content-Type: message/delivery-status\n\nReporting-MTA: dns; mx.example\n\nFinal-Recipient: rfc822; meera@example.org\n\
             Action: {action}\nStatus: 5.1.1\nDiagnostic-Code: smtp; 550 5.1.1 <meera@example.org> no such user\n\n--b\n\
             Content-Type: message/rfc822\n\nFrom: shop@example.com\nMessage-ID: <{ID}@example.com>\n\nold\n--b--\n"
        )
    }

    #[test]
    fn a_mail_that_came_back_is_known_by_its_id() {
        let Some(MailReport::Returned { message, why }) = read(&report("failed"), "mailer-daemon@mx.example")
        else {
            panic!("not seen")
        };
        assert_eq!(message, format!("<{ID}@example.com>"));
        assert!(why.contains("550 5.1.1") && !why.contains("meera"), "{why}");
        assert!(matches!(read(&report("delayed"), "a@b.example"), Some(MailReport::Idle(_))));
        assert!(matches!(read(&report("delivered"), "a@b.example"), Some(MailReport::Delivered { .. })));
        let foreign = report("failed").replace("@example.com", "@other.example");
        assert!(matches!(read(&foreign, "a@b.example"), Some(MailReport::Idle(_))), "not ours");
    }

    #[test]
    fn a_note_without_a_form_is_read_too() {
        let raw = format!(
            "From: MAILER-DAEMON@mx.example\nContent-Type: text/plain\n\nI could not deliver your mail.\n\
             550 5.1.1 meera@example.org unknown\n\nMessage-ID: <{ID}@example.com>\n"
        );
        let found = read(&raw, "mailer-daemon@mx.example").unwrap();
        assert!(
            matches!(found, MailReport::Returned { ref why, .. } if why.contains("550 5.1.1")),
            "{found:?}"
        );
        assert_eq!(read(&raw, "meera@example.org"), None, "somebody who quotes one of ours");
        let late = raw.replace("I could not deliver your mail.", "Your mail is delayed and will be retried.");
        assert!(matches!(read(&late, "mailer-daemon@mx.example"), Some(MailReport::Idle(_))));
        assert_eq!(read("From: postmaster@mx.example\n\nHello", "postmaster@mx.example"), None);
    }

    #[test]
    fn that_a_mail_was_read_asks_for_nothing() {
        let raw = "Content-Type: multipart/report; report-type=disposition-notification; boundary=b\n\n--b\n\nRead.\n--b--\n";
        assert!(matches!(read(raw, "meera@example.org"), Some(MailReport::Idle(_))));
    }
}
