//! Channels from the command line and a folder; a code that really leaves makes a visitor known.

use std::io::{Read, Write};
use std::net::TcpStream;

use munshi_test_support::environment::{self, MailServer};
use munshi_test_support::{DatabaseEngine, PATIENCE};
use serde_json::{Value, json};

use crate::app::support::{Installation, Running};

const RANGOLI: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tenants/rangoli");

pub(super) fn reach(server: &MailServer, engine: DatabaseEngine) -> Installation {
    let allowed = format!("127.0.0.1:{}", server.plain_port);
    Installation::migrated(engine).with("MUNSHI__CONNECTORS__PRIVATE_HOSTS", allowed)
}

pub(super) fn add_mail(installation: &Installation, server: &MailServer, name: &str) {
    let port = server.plain_port.to_string();
    let place = [
        "--host",
        "127.0.0.1",
        "--port",
        &port,
        "--security",
        "none",
        "--from",
        "Rangoli <shop@example.com>",
    ];
    installation.run(&[&["channel", "add", name, "--tenant", "rangoli"], &place[..]].concat()).ok();
}

fn a_channel_is_added_tested_and_exported(engine: DatabaseEngine) {
    let server = environment::mail();
    let installation = reach(&server, engine);
    installation.run(&["tenant", "add", "rangoli"]).ok();
    let none = installation.run(&["channel", "list", "--tenant", "rangoli"]).ok();
    assert!(none.contains("munshi channel add"), "{none}");
    add_mail(&installation, &server, "mail");
    let to = format!("meera+{}@example.org", installation.folder().file_name().unwrap().to_string_lossy());
    let tested = installation.run(&["channel", "test", "mail", "--tenant", "rangoli", "--to", &to]).ok();
    assert!(tested.contains("pass acceptance"), "{tested}");
    assert_eq!(server.read_mailbox(&to).len(), 1);
    let refused =
        installation.run(&["channel", "test", "mail", "--tenant", "rangoli", "--to", "unknown@example.org"]);
    assert!(refused.code != 0 && refused.out.contains("FAIL recipient"), "{refused:?}");
    let listed = installation.json(&["channel", "list", "--tenant", "rangoli"]);
    assert_eq!(listed["items"][0]["address"], "shop@example.com", "{listed}");
    let export = installation.folder().join("export").display().to_string();
    installation.run(&["export", "rangoli", &export]).ok();
    let written = std::fs::read_to_string(installation.folder().join("export/channels.toml")).unwrap();
    assert!(written.contains("[mail]\nkind = \"email\"\nhost = \"127.0.0.1\""), "{written}");
    let again = installation.json(&["diff", &export, "--tenant", "rangoli"]).to_string();
    assert!(!again.contains("\"what\":\"channels\""), "what is exported changes nothing: {again}");
    std::fs::write(installation.folder().join("export/channels.toml"), "[mail]\nkind = \"log\"\n").unwrap();
    let applied = installation.run(&["apply", &export, "--tenant", "rangoli"]).ok();
    assert!(applied.contains("channels") && applied.contains("sends nothing"), "{applied}");
    installation.run(&["channel", "remove", "mail", "--tenant", "rangoli"]).ok();
    assert_eq!(installation.json(&["channel", "list", "--tenant", "rangoli"])["items"], json!([]));
}

#[test]
fn a_channel_is_added_tested_and_exported_on_sqlite() {
    a_channel_is_added_tested_and_exported(DatabaseEngine::Sqlite);
}

#[test]
fn a_channel_is_added_tested_and_exported_on_postgres() {
    a_channel_is_added_tested_and_exported(DatabaseEngine::Postgres);
}

fn a_messenger_is_added_by_what_the_command_says(engine: DatabaseEngine) {
    let installation = Installation::migrated(engine);
    installation.run(&["tenant", "add", "rangoli"]).ok();
    let bare = installation.run(&["channel", "add", "bot", "--kind", "telegram", "--tenant", "rangoli"]);
    assert!(bare.code != 0 && bare.err.contains("token"), "{bare:?}");
    let add = ["channel", "add", "bot", "--kind", "telegram", "--token", "vault:bot", "--tenant", "rangoli"];
    let added = installation.run(&add).ok();
    // Nobody outside reaches this machine: what to do is said, and what needs no address.
    assert!(added.contains("server.public_url") && added.contains("--receive poll"), "{added}");
    assert!(added.contains("munshi channel test bot"), "{added}");
    let polled = installation.run(&[&add[..], &["--receive", "poll", "--replace"]].concat()).ok();
    assert!(!polled.contains("server.public_url"), "{polled}");
    let listed = installation.json(&["channel", "list", "--tenant", "rangoli"]);
    assert_eq!(listed["items"][0]["receive"], "poll", "{listed}");
    let public = installation.with("MUNSHI__SERVER__PUBLIC_URL", "https://munshi.example");
    let sms =
        ["channel", "add", "sms", "--kind", "twilio", "--account-id", "AC0", "--number", "+14155550100"];
    let added = public.run(&[&sms[..], &["--token", "vault:sms", "--tenant", "rangoli"]].concat()).ok();
    assert!(added.contains("https://munshi.example/channels/rangoli/sms"), "{added}");
}

#[test]
fn a_messenger_is_added_by_what_the_command_says_on_sqlite() {
    a_messenger_is_added_by_what_the_command_says(DatabaseEngine::Sqlite);
}

#[test]
fn a_messenger_is_added_by_what_the_command_says_on_postgres() {
    a_messenger_is_added_by_what_the_command_says(DatabaseEngine::Postgres);
}

fn links_go_by_mail_and_are_shown_to_nobody_else(engine: DatabaseEngine) {
    let server = environment::mail();
    let installation = reach(&server, engine)
        .with("MUNSHI__SERVER__PUBLIC_URL", "https://munshi.example")
        .with("MUNSHI__MAIL__HOST", "127.0.0.1")
        .with("MUNSHI__MAIL__PORT", server.plain_port.to_string())
        .with("MUNSHI__MAIL__SECURITY", "none")
        .with("MUNSHI__MAIL__FROM", "Munshi <munshi@example.com>");
    installation.run(&["tenant", "add", "rangoli"]).ok();
    let own = installation.folder().file_name().unwrap().to_string_lossy().to_lowercase();
    let (keeper, staff) = (format!("keeper+{own}@example.org"), format!("staff+{own}@example.org"));
    let invite = |email: &str, more: &[&str]| {
        installation
            .json(&[&["operator", "invite", email, "--role", "staff", "--tenant", "rangoli"], more].concat())
    };
    let made = installation.json(&["operator", "invite", &keeper, "--keeper"]);
    assert_eq!((&made["delivery"], &made["link"]), (&json!("mailed"), &json!(null)), "{made}");
    assert_eq!(made["sent_to"], "k…@example.org");
    let mails = server.read_mailbox(&keeper);
    assert_eq!(mails.len(), 1, "{mails:?}");
    assert!(mails[0].contains("/account/link/") && mails[0].contains("munshi@example.com"), "{}", mails[0]);
    assert!(
        mails[0].contains("invited to munshi.example"),
        "the installation has no name of its own: {}",
        mails[0]
    );
    add_mail(&installation, &server, "mail");
    assert_eq!(invite(&staff, &[])["delivery"], "mailed");
    let mails = server.read_mailbox(&staff);
    assert!(
        mails.len() == 1 && mails[0].contains("shop@example.com"),
        "by the tenant's own account: {mails:?}"
    );
    let shown = invite(&staff, &["--show"]);
    assert!(shown["link"].is_string() && shown["delivery"] == "shown", "{shown}");
    assert_eq!(server.read_mailbox(&staff).len(), 1);
    let refused = invite("unknown@example.org", &[]);
    assert!(
        refused["link"].is_string() && refused["not_mailed"].is_string(),
        "it surely did not leave: {refused}"
    );
}

#[test]
fn links_go_by_mail_and_are_shown_to_nobody_else_on_sqlite() {
    links_go_by_mail_and_are_shown_to_nobody_else(DatabaseEngine::Sqlite);
}

#[test]
fn links_go_by_mail_and_are_shown_to_nobody_else_on_postgres() {
    links_go_by_mail_and_are_shown_to_nobody_else(DatabaseEngine::Postgres);
}

/// A visitor's request and its answer: status, head and body.
fn ask(server: &Running, line: &str, cookie: &str, body: Option<&Value>) -> (u16, String, String) {
    let mut stream = TcpStream::connect(server.address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let body = body.map(ToString::to_string).unwrap_or_default();
    let (host, length) = (server.address, body.len());
    let cookie = if cookie.is_empty() { String::new() } else { format!("cookie: {cookie}\r\n") };
    let kind = if body.is_empty() { "" } else { "content-type: application/json\r\n" };
    write!(
        stream,
        "{line} HTTP/1.1\r\nhost: {host}\r\n{cookie}{kind}connection: close\r\ncontent-length: {length}\r\n\r\n{body}"
    )
    .unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    let answer = String::from_utf8_lossy(&answer).into_owned();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head.split(' ').nth(1).unwrap().parse().unwrap(), head.to_owned(), body.to_owned())
}

fn a_code_by_mail_makes_a_visitor_known(engine: DatabaseEngine) {
    let server = environment::mail();
    let installation = reach(&server, engine);
    installation.run(&["apply", RANGOLI]).ok();
    let running = installation.serve();
    let secret =
        json!({ "text": "hello", "message_id": "visitor-0123456789abcdef", "secret": "a".repeat(40) });
    let (status, head, body) = ask(&running, "POST /visit/rangoli/messages", "", Some(&secret));
    assert_eq!(status, 200, "{body}");
    let cookies = head.lines().filter_map(|line| line.split_once(": "));
    let mut cookies = cookies.filter(|(name, _)| name.eq_ignore_ascii_case("set-cookie"));
    let cookie = cookies.next().and_then(|(_, cookie)| cookie.split(';').next()).unwrap();
    let show =
        || -> Value { serde_json::from_str(&ask(&running, "GET /visit/rangoli", cookie, None).2).unwrap() };
    assert_eq!((&show()["link"], &show()["link_with"]), (&json!(false), &json!([])), "nothing can leave yet");
    let to = format!("meera+{}@example.org", installation.folder().file_name().unwrap().to_string_lossy())
        .to_lowercase();
    let wish = json!({ "email": to });
    assert_eq!(ask(&running, "POST /visit/rangoli/link", cookie, Some(&wish)).0, 409);

    add_mail(&installation, &server, "mail");
    assert_eq!(
        (&show()["link"], &show()["link_with"]),
        (&json!(true), &json!(["email"])),
        "it counts at once"
    );
    for (bad, status) in [
        (json!({ "email": "nobody" }), 422),
        (json!({}), 422),
        (json!({ "email": to, "phone": "9812345678" }), 422),
        (json!({ "phone": "9812345678" }), 409),
        (json!({ "email": "unknown@example.org" }), 422),
    ] {
        let (heard, _, body) = ask(&running, "POST /visit/rangoli/link", cookie, Some(&bad));
        assert_eq!(heard, status, "{bad}: {body}");
    }
    let (status, _, body) = ask(&running, "POST /visit/rangoli/link", cookie, Some(&wish));
    assert_eq!(status, 202, "{body}");
    let mails = server.read_mailbox(&to);
    assert_eq!(mails.len(), 1, "{mails:?}");
    // What is said stands behind the head of its part.
    let plain = mails[0].split("text/plain").nth(1).and_then(|part| part.split("\r\n\r\n").nth(1)).unwrap();
    let code: String = plain.chars().take_while(char::is_ascii_digit).collect();
    assert_eq!(code.len(), 6, "{mails:?}");
    let (status, _, body) =
        ask(&running, "POST /visit/rangoli/confirm", cookie, Some(&json!({ "code": code })));
    assert_eq!(status, 204, "{body}");
    assert_eq!(show()["link"], false, "they are known now");
    let found = installation.json(&["person", "show", &to, "--tenant", "rangoli"]).to_string();
    assert!(found.contains(&to), "{found}");
}

#[test]
fn a_code_by_mail_makes_a_visitor_known_on_sqlite() {
    a_code_by_mail_makes_a_visitor_known(DatabaseEngine::Sqlite);
}

#[test]
fn a_code_by_mail_makes_a_visitor_known_on_postgres() {
    a_code_by_mail_makes_a_visitor_known(DatabaseEngine::Postgres);
}
