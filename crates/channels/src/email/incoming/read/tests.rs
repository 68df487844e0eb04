use proptest::prelude::*;

use super::*;
use crate::accounts::{ChannelAccount, ChannelAccountKind, ChannelTransport};

const OURS: &str = "<01a1dd41-32c0-704f-b28c-400adb3d8fd2@example.com>";

fn account() -> MailAccount {
    let account = ChannelAccount {
        host: Some("smtp.example.com".to_owned()),
        from: Some("Sharma Traders <shop@example.com>".to_owned()),
        auth_server: Some("mx.example.com".to_owned()),
        ..ChannelAccount::new(ChannelAccountKind::Email)
    };
    match account.resolve_transport().unwrap() {
        ChannelTransport::Email(account) => *account,
        ChannelTransport::Link(_) | ChannelTransport::Log => unreachable!(),
    }
}

fn read_event(raw: &[u8]) -> ChannelEvent {
    let trusted = TrustedResults::of(Some("mx.example.com"), None);
    let account = account();
    let place = FilePlace::Mailbox { validity: 9, mail: 7 };
    let mail = RawMail { bytes: raw, too_large: None, received_at: None, place };
    MailReader { account: &account, trusted: &trusted }.read(&mail)
}

fn read(raw: &str) -> ArrivedMessage {
    match read_event(raw.replace('\n', "\r\n").as_bytes()).what {
        ChannelHappening::Message(message) => *message,
        other => panic!("{other:?}"),
    }
}

const PROVED: &str = "Authentication-Results: mx.example.com; dkim=pass header.d=example.org\n";
const HEADER: &str = "From: Meera Rao <Meera@Example.org>\nTo: shop@example.com\nMessage-ID: <1@mail.example.org>\n\
                      Date: Tue, 3 Mar 2026 10:00:00 +0530\n";

#[test]
fn a_first_mail_begins_with_its_subject() {
    let mail = read(&format!(
        "{PROVED}{HEADER}Subject: =?utf-8?B?4KSo4KSu4KS4?=\n\nTen bags, please.\n-- \nMeera\n"
    ));
    assert_eq!(mail.text, "नमस\n\nTen bags, please.");
    assert!(mail.outside_id.starts_with("<1@mail.example.org>#"), "{}", mail.outside_id);
    assert_eq!(mail.reply_to, "meera@example.org");
    assert_eq!(mail.from.name.as_deref(), Some("Meera Rao"));
    assert_eq!(mail.sent_at, Some(Timestamp::from_micros(1_772_512_200_000_000)));
    assert!(mail.unanswerable.is_none() && mail.quoted.is_none() && mail.files.is_empty());
}

#[test]
fn nobody_becomes_somebody_by_what_they_write_above_a_mail() {
    let proved = read(&format!("{PROVED}{HEADER}Reply-To: orders@mail.example.org\n\nhi\n"));
    assert_eq!(proved.from.email.as_deref(), Some("meera@example.org"));
    let theirs = "orders@mail.example.org";
    assert_eq!((proved.from.proof.as_deref(), proved.reply_to.as_str()), (Some("dkim"), theirs));
    // A mail of hers that somebody sends on: her signature need not cover what they write above it.
    let sent_on = read(&format!("{PROVED}{HEADER}Reply-To: thief@example.net\n\nhi\n"));
    assert_eq!(
        (sent_on.from.proof.as_deref(), sent_on.reply_to.as_str()),
        (Some("dkim"), "meera@example.org")
    );
    let at_gmail = |text: &str| text.replace("example.org", "gmail.com").replace("Example.org", "gmail.com");
    let shared = read(&at_gmail(&format!("{PROVED}{HEADER}Reply-To: thief@example.org\n\nhi\n")));
    assert_eq!((shared.from.proof.as_deref(), shared.reply_to.as_str()), (Some("dkim"), "meera@gmail.com"));
    for above in ["", "Authentication-Results: mx.evil.example; dkim=pass header.d=example.org\n"] {
        let forged = read(&format!("{above}{HEADER}Reply-To: thief@example.org\n\nhi\n"));
        assert_eq!((forged.from.email, forged.from.phone), (None, None));
        assert_ne!(forged.from.channel_id, proved.from.channel_id, "they are strangers to each other");
        assert_eq!(forged.reply_to, "meera@example.org", "nobody else hears what is said to them");
    }
}

#[test]
fn a_reply_is_what_it_says_and_knows_what_it_answers() {
    let mail = read(&format!(
        "{HEADER}Subject: Re: Order 7\nIn-Reply-To: {OURS}\nReferences: <0@mail.example.org> {OURS}\n\n\
         Yes.\n\nOn Mon, 2 Mar 2026, Shop <shop@example.com> wrote:\n> Shall we send it?\n"
    ));
    assert_eq!((mail.text.as_str(), mail.quoted.as_deref()), ("Yes.", Some(OURS)));
    let thread: MailThread = serde_json::from_str(mail.thread.as_deref().unwrap()).unwrap();
    assert_eq!(
        thread.list_ids(Some(&mail.outside_id)),
        ["<0@mail.example.org>", OURS, "<1@mail.example.org>"]
    );
    assert_eq!(thread.build_subject().as_deref(), Some("Re: Order 7"));
    // Whoever answers a mail of a colleague's, that answers ours, answers ours.
    let behind = read(&format!(
        "{HEADER}References: {OURS} <c@example.net>\nIn-Reply-To: <c@example.net>\nSubject: Re: x\n\nok\n"
    ));
    assert_eq!(behind.quoted.as_deref(), Some(OURS));
    let renamed = read(&format!("{HEADER}In-Reply-To: {OURS}\nSubject: Something else\n\nok\n"));
    assert_eq!(renamed.text, "Something else\n\nok");
}

#[test]
fn of_two_forms_the_plain_one_is_read_if_it_says_anything() {
    let build = |plain: &str| {
        format!(
            "{HEADER}Subject: Re: x\nIn-Reply-To: {OURS}\nContent-Type: multipart/alternative; boundary=b\n\n--b\n\
             Content-Type: text/plain\n\n{plain}\n--b\nContent-Type: text/html\n\n<p>Ten <b>bags</b></p>\
             <div class=\"gmail_quote\">old</div>\n--b--\n"
        )
    };
    assert_eq!(read(&build("Ten bags")).text, "Ten bags");
    assert_eq!(read(&build("  ")).text, "Ten bags");
}

#[test]
fn files_are_found_again_and_decoration_is_none() {
    let mail = format!(
        "{HEADER}Subject: Bill\nContent-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: multipart/related; boundary=c\n\n\
         --c\nContent-Type: text/html\n\n<p>See the bill <img src=\"cid:logo\"></p>\n--c\nContent-Type: image/png\n\
         Content-ID: <logo>\nContent-Transfer-Encoding: base64\n\niVBORw0K\n--c--\n--b\nContent-Type: application/pdf; name=bill.pdf\n\
         Content-Disposition: attachment\nContent-Transfer-Encoding: base64\n\nJVBERg==\n--b\nContent-Type: message/rfc822\n\n\
         Subject: Older\n\nold\n--b\nContent-Type: application/pkcs7-signature; name=smime.p7s\n\nxx\n--b--\n"
    );
    let mail = mail.replace('\n', "\r\n");
    let message = read(&mail.replace("\r\n", "\n"));
    assert_eq!(message.text, "Bill\n\nSee the bill");
    let names: Vec<_> = message.files.iter().map(|file| file.name.as_deref().unwrap()).collect();
    assert_eq!(names, ["bill.pdf", "Older.eml"]);
    let Some(super::super::files::FileReference::Mailbox { validity: 9, mail: 7, leaf }) =
        super::super::files::read_reference(&message.files[0].reference)
    else {
        panic!("{:?}", message.files)
    };
    assert_eq!(super::super::files::find_file(mail.as_bytes(), leaf).unwrap(), b"%PDF");
}

#[test]
fn what_is_too_large_is_told_of() {
    let account = account();
    let mail = RawMail {
        bytes: HEADER.as_bytes(),
        too_large: Some(31 * 1024 * 1024),
        received_at: None,
        place: FilePlace::Mailbox { validity: 9, mail: 7 },
    };
    let event = MailReader { account: &account, trusted: &TrustedResults::Nobodys }.read(&mail);
    let ChannelHappening::Message(message) = event.what else { panic!("no message") };
    assert!(message.text.contains("31 MB") && message.unanswerable.is_none(), "{}", message.text);
}

#[test]
fn programs_and_reports_are_no_messages_of_people() {
    assert!(read(&format!("Auto-Submitted: auto-replied\n{HEADER}\naway\n")).unanswerable.is_some());
    assert!(read("From: Shop <shop@example.com>\nSubject: x\n\nours\n").unanswerable.is_some());
    assert!(read("Subject: nobody's\n\nx\n").unanswerable.is_some());
    let report = format!(
        "From: MAILER-DAEMON@mx.example\nContent-Type: multipart/report; report-type=delivery-status; boundary=b\n\n--b\n\
         Content-Type: message/delivery-status\n\nReporting-MTA: dns; a\n\nAction: failed\nStatus: 5.1.1\n\n--b\n\
         Content-Type: text/rfc822-headers\n\nMessage-ID: {OURS}\n--b--\n"
    );
    let ChannelHappening::Receipt { message, receipt, .. } = read_event(report.as_bytes()).what else {
        panic!("no receipt")
    };
    assert_eq!(message, OURS);
    assert!(matches!(receipt, ArrivedReceipt::Returned { .. }));
}

#[test]
fn the_same_mail_is_the_same_event_wherever_it_lies() {
    let mail = format!("{HEADER}Subject: x\n\nhi\n");
    let moved = format!("X-Moved: yes\n{mail}");
    assert_eq!(read_event(mail.as_bytes()).id, read_event(moved.as_bytes()).id);
    let other = mail.replace("Meera@", "else@");
    assert_ne!(
        read_event(mail.as_bytes()).id,
        read_event(other.as_bytes()).id,
        "somebody else's, with a copied id"
    );
    assert_eq!(read(&mail).outside_id, read(&moved).outside_id);
    assert_ne!(read(&mail).outside_id, read(&other).outside_id, "both are taken");
    let nameless = "From: a@example.org\n\nhi\n";
    let message = read(nameless);
    assert!(message.outside_id.starts_with("hash:") && read(nameless).outside_id == message.outside_id);
    assert_ne!(read("From: a@example.org\n\nho\n").outside_id, message.outside_id);
}

#[test]
fn whom_else_it_went_to_does_not_matter() {
    let header = HEADER.replace("To: shop@example.com", "To: sales@example.com\nCc: other@example.net");
    let mail = read(&format!("{header}Subject: x\n\nhi\n"));
    assert_eq!(
        (mail.to.as_deref(), mail.reply_to.as_str()),
        (Some("sales@example.com"), "meera@example.org")
    );
    assert_eq!(read(&format!("{HEADER}Subject: x\n\nhi\n")).to, None);
}

proptest! {
    #[test]
    fn whatever_is_sent_is_read(raw in proptest::collection::vec(any::<u8>(), 0..1500)) {
        let event = read_event(&raw);
        prop_assert!(!event.id.is_empty());
        if let ChannelHappening::Message(message) = event.what {
            prop_assert!(!message.text.trim().is_empty() && message.text.len() <= 64 * 1024);
            prop_assert!(!message.outside_id.is_empty() && message.outside_id.len() <= 512);
        }
    }

    #[test]
    fn whatever_looks_like_a_mail_is_read(
        lines in proptest::collection::vec(
            prop_oneof![
                Just("From: \"a\" <a@b.example>, c@d.example".to_owned()),
                Just("From: =?utf-8?q?=F0=9F?= <@>".to_owned()),
                Just("Subject: =?gb2312?B?xOO6w?=".to_owned()),
                Just("Message-ID: <<a@b>".to_owned()),
                Just("References: <a@b> <c@d".to_owned()),
                Just("Date: 99 Foo 2026 99:99:99 +9999".to_owned()),
                Just("Authentication-Results: ;;;(((\"".to_owned()),
                Just("Content-Type: multipart/report; boundary=b; report-type=delivery-status".to_owned()),
                Just("Content-Type: message/delivery-status".to_owned()),
                Just("Content-Type: text/html".to_owned()),
                Just("--b".to_owned()),
                Just(String::new()),
                "[ -~é]{0,60}",
            ],
            0..40,
        )
    ) {
        let event = read_event(lines.join("\n").as_bytes());
        prop_assert!(event.lane.len() <= LONGEST_ADDRESS);
    }
}
