//! Why a mail was not handed over, and at which step.

use std::error::Error as _;
use std::fmt;
use std::time::Duration;

use lettre::Address;
use lettre::transport::smtp::Error as SmtpError;
use munshi_conversations::outbox::SendFault;
use serde::{Deserialize, Serialize};

use crate::send_rate::SendLimit;

/// So much of what a server says is repeated.
const LONGEST_REPLY: usize = 300;

/// The steps in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MailStage {
    /// The mail is written, and the password opened.
    Prepare,
    /// The server's name leads to an address.
    Resolve,
    Connect,
    Encrypt,
    Greet,
    Login,
    /// The server takes mails from our address.
    Sender,
    /// The server takes mails to theirs.
    Recipient,
    /// The mail itself is written to it.
    Content,
    /// The server says that it has it.
    Acceptance,
}

/// Why, in words for whoever looks after the tenant: no secret, and nobody's address but our own.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct MailFault {
    pub stage: MailStage,
    pub what: String,
    pub outcome: MailOutcome,
}

/// What a fault means for the mail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MailOutcome {
    /// Surely not taken; another try may pass.
    Passing,
    /// Not even tried, since too much leaves at once; not before so long from now.
    Limited { after: Duration },
    /// Surely not taken, and it never will be.
    Refused,
    /// All of it was written, and no answer came: it may have been taken.
    Unknown,
}

impl MailStage {
    pub const ALL: [Self; 10] = [
        Self::Prepare,
        Self::Resolve,
        Self::Connect,
        Self::Encrypt,
        Self::Greet,
        Self::Login,
        Self::Sender,
        Self::Recipient,
        Self::Content,
        Self::Acceptance,
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Prepare => "prepare",
            Self::Resolve => "resolve",
            Self::Connect => "connect",
            Self::Encrypt => "encrypt",
            Self::Greet => "greet",
            Self::Login => "login",
            Self::Sender => "sender",
            Self::Recipient => "recipient",
            Self::Content => "content",
            Self::Acceptance => "acceptance",
        }
    }
}

impl fmt::Display for MailStage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl MailFault {
    pub(crate) fn passing(stage: MailStage, what: impl Into<String>) -> Self {
        Self { stage, what: what.into(), outcome: MailOutcome::Passing }
    }

    pub(crate) fn refused(stage: MailStage, what: impl Into<String>) -> Self {
        Self { stage, what: what.into(), outcome: MailOutcome::Refused }
    }

    pub(crate) fn unknown(what: impl Into<String>) -> Self {
        Self { stage: MailStage::Acceptance, what: what.into(), outcome: MailOutcome::Unknown }
    }

    /// Without whom the mail was for: servers repeat the mailbox's name with and without what stands behind the `@`.
    pub(crate) fn hide_recipient(self, to: &Address) -> Self {
        let name = to.user().to_lowercase();
        let mailbox = name.split('+').next().unwrap_or_default().to_owned();
        Self { what: hide_names(&self.what, &[name, mailbox]), ..self }
    }

    /// What a server's answer, or none, means at a step before the mail's last byte: it was not taken.
    pub(crate) fn from_smtp(stage: MailStage, doing: &str, error: &SmtpError) -> Self {
        let what = format!("{doing}: {}", describe(error));
        let never = error.is_permanent() && stage >= MailStage::Recipient && !is_accounts(error);
        if never { Self::refused(stage, what) } else { Self::passing(stage, what) }
    }

    /// The same after the last byte: without an answer nobody knows.
    pub(crate) fn from_acceptance(error: &SmtpError) -> Self {
        let words = describe(error);
        match error.status() {
            Some(_) if error.is_permanent() => {
                let what = format!("the server refused the mail: {words}");
                match is_accounts(error) {
                    true => Self::passing(MailStage::Acceptance, what),
                    false => Self::refused(MailStage::Acceptance, what),
                }
            }
            Some(_) => Self::passing(MailStage::Acceptance, format!("the server put the mail off: {words}")),
            None => Self::unknown(format!("the connection broke after the whole mail was sent: {words}")),
        }
    }
}

impl From<SendLimit> for MailFault {
    fn from(limit: SendLimit) -> Self {
        let outcome = MailOutcome::Limited { after: limit.after };
        Self { stage: MailStage::Prepare, what: limit.what, outcome }
    }
}

impl From<MailFault> for SendFault {
    fn from(fault: MailFault) -> Self {
        match fault.outcome {
            MailOutcome::Passing => Self::passing(fault.what),
            MailOutcome::Limited { after } => Self::limited(fault.what, after),
            MailOutcome::Refused if fault.stage == MailStage::Recipient => Self::unreachable(fault.what),
            MailOutcome::Refused => Self::refused(fault.what),
            MailOutcome::Unknown => Self::unknown(fault.what),
        }
    }
}

/// Whether a refusal is of who we are or how much we send, and not of this mail. It is for the operator or the provider to mend, and what
/// waits is sent then.
fn is_accounts(error: &SmtpError) -> bool {
    let code = error.status().map(|code| code.to_string());
    let words = error.source().map(ToString::to_string).unwrap_or_default();
    names_account(&code.unwrap_or_default(), &words)
}

/// By the code, or the first of the words where it is an enhanced code (RFC 3463): 5.7 is security and policy, 5.4.5 how much one may send.
fn names_account(code: &str, words: &str) -> bool {
    let enhanced = words.split_whitespace().next().unwrap_or_default();
    code == "530" || enhanced.starts_with("5.7.") || enhanced == "5.4.5"
}

/// The words without these names, wherever one stands by itself.
fn hide_names(words: &str, names: &[String]) -> String {
    let is_part = |letter: char| letter.is_alphanumeric() || "._-+".contains(letter);
    let mut hidden = String::with_capacity(words.len());
    let mut rest = words;
    while let Some(first) = rest.chars().next() {
        let end = rest.find(|letter: char| is_part(letter) != is_part(first)).unwrap_or(rest.len());
        let (run, behind) = rest.split_at(end);
        let name = run.trim_end_matches('.');
        match !name.is_empty() && names.contains(&name.to_lowercase()) {
            true => hidden.extend(["(recipient)", &run[name.len()..]]),
            false => hidden.push_str(run),
        }
        rest = behind;
    }
    hidden
}

/// A server's code and words, or what broke.
fn describe(error: &SmtpError) -> String {
    let cause = error.source().map_or_else(|| error.to_string(), ToString::to_string);
    let words = redact_reply(&cause);
    match error.status() {
        Some(code) if words.is_empty() => code.to_string(),
        Some(code) => format!("{code} {words}"),
        None if is_closed(error) => "it closed the connection".to_owned(),
        None => words,
    }
}

/// Whether the line ended, however the system says so. The client has its own words for an end between two answers.
fn is_closed(error: &SmtpError) -> bool {
    use std::io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, UnexpectedEof};
    let Some(cause) = error.source() else { return false };
    match cause.downcast_ref::<std::io::Error>() {
        Some(broken) => {
            matches!(broken.kind(), BrokenPipe | ConnectionAborted | ConnectionReset | UnexpectedEof)
        }
        None => cause.to_string() == "incomplete response",
    }
}

/// What a server said on one line and within bounds, without addresses: it repeats the recipient's.
pub(crate) fn redact_reply(text: &str) -> String {
    let words = text.split_whitespace().map(|word| if word.contains('@') { "(address)" } else { word });
    let line = words.collect::<Vec<_>>().join(" ");
    let line: String = line.chars().filter(|letter| !letter.is_control()).collect();
    match line.char_indices().nth(LONGEST_REPLY) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use munshi_conversations::outbox::FaultSubject;

    use super::*;

    #[test]
    fn a_reply_tells_nobodys_address_and_has_an_end() {
        assert_eq!(
            redact_reply("5.1.1 <meera@example.com>: no such user\r\n here"),
            "5.1.1 (address) no such user here"
        );
        assert_eq!(redact_reply(&"नमस्ते ".repeat(100)).chars().count(), LONGEST_REPLY + 1);
        assert_eq!(redact_reply("\u{1b}[31mred"), "[31mred");
    }

    #[test]
    fn a_refusal_of_who_we_are_is_not_of_the_mail() {
        for (code, words) in [
            ("530", "authentication required"),
            ("530", ""),
            ("550", "5.7.1 relaying denied"),
            ("554", "5.7.26 this mail is not signed"),
            ("550", "5.4.5 daily limit exceeded"),
        ] {
            assert!(names_account(code, words), "{code} {words}");
        }
        for (code, words) in
            [("550", "5.1.1 no such user"), ("552", "5.2.3 too large"), ("550", "no"), ("554", "15.7.1")]
        {
            assert!(!names_account(code, words), "{code} {words}");
        }
    }

    #[test]
    fn only_a_recipient_that_is_refused_is_the_recipients() {
        for stage in MailStage::ALL {
            let fault: SendFault = MailFault::refused(stage, "no").into();
            let is_theirs = fault.subject == FaultSubject::Recipient;
            assert_eq!(is_theirs, stage == MailStage::Recipient, "{stage}");
        }
        let fault: SendFault = MailFault::passing(MailStage::Recipient, "full").into();
        assert_eq!(fault.subject, FaultSubject::Account);
    }

    #[test]
    fn whom_a_mail_was_for_is_in_no_words() {
        for (to, words, hidden) in [
            ("Meera.Rao+7@example.com", "no mailbox meera.rao here", "no mailbox (recipient) here"),
            ("meera+7@example.com", "user=meera+7. Bye", "user=(recipient). Bye"),
            ("meera@example.com", "MEERA: unknown (meera)", "(recipient): unknown ((recipient))"),
            ("meera@example.com", "5.1.1 meeras is another", "5.1.1 meeras is another"),
            ("मीरा@example.com", "«मीरा» नहीं", "«(recipient)» नहीं"),
        ] {
            let fault = MailFault::passing(MailStage::Recipient, words).hide_recipient(&to.parse().unwrap());
            assert_eq!(fault.what, hidden);
        }
    }

    #[test]
    fn steps_are_in_their_order() {
        assert!(MailStage::ALL.is_sorted());
    }
}
