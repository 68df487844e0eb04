use munshi_types::tier::Channel;
use munshi_types::{MessageId, ReplyAddress};
use proptest::prelude::*;

use super::*;
use crate::accounts::{ChannelAccount, ChannelAccountKind, ChannelTransport};

const NOON: Timestamp = Timestamp::from_micros(1_800_000_000_000_000);

fn account() -> MailAccount {
    let account = ChannelAccount {
        host: Some("smtp.example.com".to_owned()),
        from: Some("Sharma Traders <shop@example.com>".to_owned()),
        ..ChannelAccount::new(ChannelAccountKind::Email)
    };
    match account.resolve_transport().unwrap() {
        ChannelTransport::Email(account) => *account,
        ChannelTransport::Link(_) | ChannelTransport::Log => unreachable!(),
    }
}

fn message(text: &str) -> OutboundMessage {
    let id: MessageId = "01a1dd41-32c0-704f-b28c-400adb3d8fd2".parse().unwrap();
    let to = ReplyAddress::new(Channel::Email, "meera@example.org".to_owned());
    OutboundMessage::new(id, to, text.to_owned())
}

fn write(outbound: &OutboundMessage, files: Vec<LoadedFile>) -> String {
    let to = outbound.to.address.parse().unwrap();
    String::from_utf8(format_mail((&account(), None), outbound, to, files, None, NOON).unwrap().bytes)
        .unwrap()
}

/// The lines of the first part, folded ones joined.
fn headers(mail: &str) -> Vec<String> {
    mail.split("\r\n\r\n").next().unwrap().replace("\r\n ", " ").lines().map(str::to_owned).collect()
}

#[test]
fn a_reply_is_a_mail_in_its_thread() {
    let outbound = OutboundMessage {
        answers: Some("<abc@mail.example.org>".to_owned()),
        language: Some("en".parse().unwrap()),
        suggestions: vec!["Yes".to_owned(), "No".to_owned()],
        ..message("Your order is ready.\nShall we send it?")
    };
    let mail = write(&outbound, Vec::new());
    let lines = headers(&mail);
    for line in [
        "To: meera@example.org",
        "Subject: Sharma Traders",
        "Message-ID: <01a1dd41-32c0-704f-b28c-400adb3d8fd2@example.com>",
        "In-Reply-To: <abc@mail.example.org>",
        "References: <abc@mail.example.org>",
        "Auto-Submitted: auto-replied",
        "MIME-Version: 1.0",
    ] {
        assert!(lines.iter().any(|found| found == line), "{line}: {mail}");
    }
    let has =
        |name: &str, words: &str| lines.iter().any(|line| line.starts_with(name) && line.contains(words));
    assert!(has("From: ", "Sharma Traders") && has("From: ", "<shop@example.com>"), "{mail}");
    assert!(has("Date: ", "15 Jan 2027 08:00:00"), "{mail}");
    assert!(has("Content-Type: ", "multipart/alternative"), "{mail}");
    let (text, html) =
        (mail.find("Content-Type: text/plain").unwrap(), mail.find("Content-Type: text/html").unwrap());
    assert!(text < html, "programs show the last that they can");
    assert_eq!(mail.matches("Shall we send it?").count(), 2, "{mail}");
    assert!(mail[text..html].contains("- Yes\r\n- No"), "{mail}");
    assert_eq!(write(&outbound, Vec::new()), mail, "the same message is the same mail");
}

#[test]
fn a_reply_stands_behind_all_that_came_before() {
    let thread = r#"{"before":["<first@mail.example.org>","<second@example.com>"],"subject":"Order 7"}"#;
    let to = ReplyAddress {
        thread: Some(thread.to_owned()),
        ..ReplyAddress::new(Channel::Email, "meera@example.org".to_owned())
    };
    let answers = Some("<third@mail.example.org>".to_owned());
    let mail = write(&OutboundMessage { to, answers, ..message("Yes.") }, Vec::new());
    let lines = headers(&mail);
    for line in [
        "Subject: Re: Order 7",
        "In-Reply-To: <third@mail.example.org>",
        "References: <first@mail.example.org> <second@example.com> <third@mail.example.org>",
        "X-Loop: shop@example.com",
    ] {
        assert!(lines.iter().any(|found| found == line), "{line}: {lines:?}");
    }
}

#[test]
fn an_alert_has_no_address_of_a_stranger_that_a_program_could_press() {
    let forged = "Session ended: https://evil.example/in";
    let outbound = OutboundMessage {
        purpose: OutboundPurpose::Alert,
        ..message(&format!("{forged}\n\nAnswer here:\nhttps://munshi.example/account/approvals/7"))
    };
    let to = outbound.to.address.parse().unwrap();
    let place = Some("https://munshi.example");
    let mail = format_mail((&account(), place), &outbound, to, Vec::new(), None, NOON).unwrap();
    // A long line of a mail may be broken in two.
    let mail = String::from_utf8(mail.bytes).unwrap().replace("=\r\n", "");
    assert!(!mail.contains("https://evil"), "{mail}");
    assert_eq!(mail.matches("https[:]//evil[.]example/in").count(), 2, "as words, in text and HTML: {mail}");
    assert_eq!(mail.matches("https://munshi.example/account/approvals/7").count(), 3, "{mail}");
    let reply = write(&message(forged), Vec::new());
    assert!(reply.contains(forged), "what we say ourselves is as it is: {reply}");
}

#[test]
fn words_in_every_script_survive() {
    let text = "आपका ऑर्डर तैयार है। ₹500 बाकी।";
    let mail = write(&OutboundMessage { subject: Some("आपका बिल".to_owned()), ..message(text) }, Vec::new());
    assert!(mail.is_ascii(), "every server takes it");
    assert!(headers(&mail).iter().any(|line| line.starts_with("Subject: =?utf-8?")), "{mail}");
    assert!(mail.lines().all(|line| line.len() <= 998), "{mail}");
}

#[test]
fn what_a_program_wrote_says_so() {
    for purpose in OutboundPurpose::ALL {
        let mail = write(&OutboundMessage { purpose, ..message("x") }, Vec::new());
        let has = |name: &str| headers(&mail).iter().any(|line| line.starts_with(name));
        assert_eq!(has("Auto-Submitted: auto-"), purpose != OutboundPurpose::Colleague, "{mail}");
        assert!(!has("List-Unsubscribe"), "what leads nowhere is not offered: {mail}");
    }
}

#[test]
fn a_program_ends_it_by_one_press() {
    let outbound = OutboundMessage { purpose: OutboundPurpose::Reminder, ..message("x") };
    let (to, link) = (
        outbound.to.address.parse().unwrap(),
        "https://munshi.example/unsubscribe/".to_owned() + &"a".repeat(130),
    );
    let mail = format_mail((&account(), None), &outbound, to, Vec::new(), Some(link.clone()), NOON).unwrap();
    let mail = String::from_utf8(mail.bytes).unwrap();
    let lines = headers(&mail);
    let find = |name: &str| {
        lines.iter().find_map(|line| line.strip_prefix(name)).map(|value| value.trim().to_owned())
    };
    assert_eq!(find("List-Unsubscribe:"), Some(format!("<{link}>")), "{mail}");
    assert_eq!(find("List-Unsubscribe-Post:").as_deref(), Some("List-Unsubscribe=One-Click"), "{mail}");
}

#[test]
fn files_and_codes_go_along() {
    let file = LoadedFile {
        name: "bill/../7\r\n.pdf".to_owned(),
        media_type: "application/pdf".to_owned(),
        bytes: b"%PDF-1.7".to_vec(),
    };
    let link =
        OutboundAttachment::Link { url: "https://shop.example/7".to_owned(), title: "Bill 7".to_owned() };
    let mail = write(&OutboundMessage { attachments: vec![link], ..message("Your bill") }, vec![file]);
    assert!(mail.contains("Content-Type: application/pdf\r\n"), "{mail}");
    assert!(mail.contains("filename=\"bill_.._7  .pdf\""), "{mail}");
    assert!(mail.contains("JVBERi0xLjc="), "{mail}");
    assert!(mail.contains("Bill 7\r\nhttps://shop.example/7"), "{mail}");
    assert!(mail.contains("multipart/mixed"), "{mail}");
}

/// A dot on a line of its own ends a mail where lines end as a server does not expect.
#[test]
fn lines_end_in_one_way_alone() {
    let file = LoadedFile {
        name: "notes.txt".to_owned(),
        media_type: "text/plain".to_owned(),
        bytes: b"one\n.\nMAIL FROM:<x@y.example>\r.\r".to_vec(),
    };
    let link = OutboundAttachment::Link {
        url: "https://shop.example/\r.\rRCPT TO:<x@y.example>\r\0".to_owned(),
        title: "Bill\r.\r7".to_owned(),
    };
    let outbound = OutboundMessage {
        attachments: vec![link],
        suggestions: vec!["Yes\r.\rno".to_owned()],
        subject: Some("Bill\r.\r7".to_owned()),
        ..message("one\r.\rtwo\n.\nthree\0\u{85}\u{b}")
    };
    let mail = write(&outbound, vec![file]);
    let bare = mail.replace("\r\n", "");
    assert!(!bare.contains(['\r', '\n', '\0']), "{mail:?}");
    assert!(!mail.contains("MAIL FROM"), "files are encoded: {mail:?}");
}

#[test]
fn half_of_a_lines_end_is_seen() {
    for whole in ["", "a", "a\r\n", "\r\n\r\n.\r\n"] {
        assert!(!has_lone_line_end(whole.as_bytes()), "{whole:?}");
    }
    for half in ["\r", "\n", "a\r.\r\n", "a\n.\r\n", "\r\r\n", "\r\n\n", "a\r\n\r"] {
        assert!(has_lone_line_end(half.as_bytes()), "{half:?}");
    }
}

#[test]
fn what_is_no_id_begins_no_thread() {
    for id in ["wamid.1", "<a b@c>", "<a@c>\r\nBcc: x@y.example", "<@c>", ""] {
        let mail = write(&OutboundMessage { answers: Some(id.to_owned()), ..message("x") }, Vec::new());
        assert!(!mail.contains("In-Reply-To") && !mail.contains("Bcc"), "{id}: {mail}");
    }
}

proptest! {
    /// Whatever is said, the mail has the headers that it has without it.
    #[test]
    fn nobodys_words_become_headers(subject in "\\PC{0,40}|[a-z\r\n:]{0,40}", text in "[ -~\r\n.]{0,200}") {
        let names = |mail: &str| {
            let all = headers(mail);
            all.iter().map(|line| line.split(':').next().unwrap().to_owned()).collect::<Vec<_>>()
        };
        let bare = write(&message("x"), Vec::new());
        let said = write(&OutboundMessage { subject: Some(subject), ..message(&text) }, Vec::new());
        prop_assert_eq!(names(&said), names(&bare), "{}", said);
        prop_assert!(!has_lone_line_end(said.as_bytes()), "{:?}", said);
    }
}
