//! Links by mail: who reads an account gets no link that opens more than they have.

use std::io::{Read, Write};
use std::net::TcpStream;

use munshi_test_support::environment::{self, MailServer};
use munshi_test_support::{DatabaseEngine, PATIENCE};
use serde_json::{Value, json};

use super::channel::{add_mail, reach};
use crate::app::support::{Installation, Running};

const PLACE: &str = "https://munshi.example";

/// A tenant with its own account, which the tenant's admins read, at an installation that has one too.
struct Shop {
    server: MailServer,
    installation: Installation,
    running: Running,
    keeper: String,
    owner: String,
}

impl Shop {
    fn open(engine: DatabaseEngine) -> Self {
        let server = environment::mail();
        let installation = reach(&server, engine)
            .with("MUNSHI__SERVER__PUBLIC_URL", PLACE)
            .with("MUNSHI__MAIL__HOST", "127.0.0.1")
            .with("MUNSHI__MAIL__PORT", server.plain_port.to_string())
            .with("MUNSHI__MAIL__SECURITY", "none")
            .with("MUNSHI__MAIL__FROM", "Munshi <munshi@example.com>");
        installation.run(&["tenant", "add", "rangoli"]).ok();
        add_mail(&installation, &server, "a");
        let key = |words: &[&str]| installation.json(words)["text"].as_str().unwrap().to_owned();
        let keeper = key(&["keeper-key", "add", "desk", "--speaks-as", "person"]);
        let owner = ["key", "add", "till", "--role", "owner", "--speaks-as", "person", "--tenant", "rangoli"];
        let owner = key(&[&owner[..], &["--area", "operators"]].concat());
        let running = installation.serve();
        Self { server, installation, running, keeper, owner }
    }

    /// An address that no other test has.
    fn address(&self, name: &str) -> String {
        let own = self.installation.folder().file_name().unwrap().to_string_lossy().to_lowercase();
        format!("{name}+{own}@example.org")
    }

    /// What a key asks of the tenant.
    fn call(&self, key: &str, path: &str, body: &Value) -> Value {
        let head = format!(
            "authorization: Bearer {key}\r\nx-munshi-tenant: rangoli\r\ncontent-type: application/json\r\n"
        );
        let (status, answer) = self.send(path, &head, &body.to_string());
        assert_eq!(status, 201, "{answer}");
        let body = answer.split_once("\r\n\r\n").unwrap().1;
        serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {answer}"))
    }

    /// What somebody posts from a page of this server.
    fn post(&self, path: &str, form: &str) -> (u16, String) {
        let head = format!(
            "origin: {PLACE}\r\nsec-fetch-site: same-origin\r\ncontent-type: application/x-www-form-urlencoded\r\n"
        );
        self.send(path, &head, form)
    }

    fn send(&self, path: &str, head: &str, body: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(self.running.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let length = body.len();
        write!(
            stream,
            "POST {path} HTTP/1.1\r\nhost: munshi.example\r\n{head}connection: close\r\ncontent-length: {length}\r\n\r\n{body}"
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        (answer.split(' ').nth(1).unwrap().parse().unwrap(), answer)
    }

    /// Whose account the last of somebody's mails came by, and the path of its link.
    fn read_link(&self, email: &str, count: usize) -> (&'static str, String) {
        let mails = self.server.read_mailbox(email);
        assert_eq!(mails.len(), count, "{mails:?}");
        let mail = mails.last().unwrap();
        let by = match mail.contains("munshi@example.com") {
            true => "installation",
            false => "tenant",
        };
        // A long line of a mail may be broken in two.
        let whole = mail.replace("=\r\n", "");
        let token = whole.split_once("/account/link/").unwrap().1;
        let is_token = |letter: &char| letter.is_ascii_alphanumeric() || "-_".contains(*letter);
        let token: String = token.chars().take_while(is_token).collect();
        (by, format!("/account/link/{token}"))
    }
}

fn an_account_of_the_tenant_carries_no_link_to_more_than_its_readers_have(engine: DatabaseEngine) {
    let shop = Shop::open(engine);
    for (maker, key) in [("keeper", &shop.keeper), ("owner", &shop.owner)] {
        for (role, by) in
            [("owner", "installation"), ("admin", "installation"), ("staff", "tenant"), ("viewer", "tenant")]
        {
            let email = shop.address(&format!("{maker}-{role}"));
            let made = shop.call(key, "/v1/invitations", &json!({ "email": email, "role": role }));
            assert_eq!((&made["delivery"], &made["link"]), (&json!("mailed"), &json!(null)), "{made}");
            assert_eq!(shop.read_link(&email, 1).0, by, "{maker} invites an {role}");
        }
    }
    // A whole account is opened by the installation's alone, whoever makes the link.
    let email = shop.address("keeper-staff");
    let (_, invitation) = shop.read_link(&email, 1);
    let (status, answer) = shop.post(&invitation, "name=Asha&password=correct+horse+battery");
    assert_eq!(status, 303, "{answer}");
    for (nth, key) in [(2, &shop.keeper), (3, &shop.owner)] {
        let made = shop.call(key, &format!("/v1/operators/{email}/link"), &json!({}));
        assert_eq!((&made["delivery"], &made["link"]), (&json!("mailed"), &json!(null)), "{made}");
        assert_eq!(shop.read_link(&email, nth).0, "installation");
    }
    let unknown = shop.call(
        &shop.owner,
        "/v1/invitations",
        &json!({ "email": shop.address("silent"), "role": "owner" }),
    );
    assert_eq!((&unknown["delivery"], &unknown["link"]), (&json!("unknown"), &json!(null)), "{unknown}");
}

#[test]
fn an_account_of_the_tenant_carries_no_link_to_more_than_its_readers_have_on_sqlite() {
    an_account_of_the_tenant_carries_no_link_to_more_than_its_readers_have(DatabaseEngine::Sqlite);
}

#[test]
fn an_account_of_the_tenant_carries_no_link_to_more_than_its_readers_have_on_postgres() {
    an_account_of_the_tenant_carries_no_link_to_more_than_its_readers_have(DatabaseEngine::Postgres);
}

fn who_brings_a_link_that_only_their_mailbox_had_has_proved_the_address(engine: DatabaseEngine) {
    let shop = Shop::open(engine);
    let is_proved = |email: &str| {
        let listed = shop.installation.json(&["operator", "list"]);
        let found = listed["items"].as_array().unwrap().iter().find(|one| one["email"] == email).unwrap();
        found["proved_at"].is_string()
    };
    let invite = |email: &str, role: &str| {
        shop.call(&shop.owner, "/v1/invitations", &json!({ "email": email, "role": role }));
        let (status, answer) =
            shop.post(&shop.read_link(email, 1).1, "name=Asha&password=correct+horse+battery");
        assert_eq!(status, 303, "{answer}");
    };
    let (owner, staff) = (shop.address("owner"), shop.address("staff"));
    invite(&owner, "owner");
    invite(&staff, "staff");
    assert!(is_proved(&owner), "the installation's account is read by keepers alone");
    assert!(!is_proved(&staff), "others read what the tenant's account sends");
    // Whoever made it has not seen it, and the first proof ends what was before.
    shop.call(&shop.owner, &format!("/v1/operators/{staff}/link"), &json!({}));
    let (status, answer) = shop.post(&shop.read_link(&staff, 2).1, "password=another+good+one");
    assert!(status == 303 && is_proved(&staff), "{answer}");
    let sign_in = |password: &str| {
        let form = format!("email={}&password={password}", staff.replace('+', "%2B").replace('@', "%40"));
        shop.post("/account/sign-in", &form).0
    };
    assert_eq!((sign_in("correct+horse+battery"), sign_in("another+good+one")), (401, 303));
    // One that was shown may have been used by whoever made it.
    let shown = shop.call(&shop.owner, &format!("/v1/operators/{staff}/link"), &json!({ "show": true }));
    let link = shown["link"].as_str().unwrap().trim_start_matches(PLACE).to_owned();
    let (status, answer) = shop.post(&link, "password=a+third+good+one");
    assert!(status == 303 && !is_proved(&staff), "{answer}");
    let told = shop.installation.json(&["audit", "tail", "--tenant", "rangoli", "--limit", "50"]).to_string();
    assert!(told.contains("link.mailed") && told.contains("operator.proved"), "{told}");
    assert!(!told.contains("@example.org") && !told.contains("/account/link/"), "{told}");
}

#[test]
fn who_brings_a_link_that_only_their_mailbox_had_has_proved_the_address_on_sqlite() {
    who_brings_a_link_that_only_their_mailbox_had_has_proved_the_address(DatabaseEngine::Sqlite);
}

#[test]
fn who_brings_a_link_that_only_their_mailbox_had_has_proved_the_address_on_postgres() {
    who_brings_a_link_that_only_their_mailbox_had_has_proved_the_address(DatabaseEngine::Postgres);
}

#[test]
fn without_an_account_of_the_installation_such_links_are_shown() {
    let server = environment::mail();
    let installation = reach(&server, DatabaseEngine::Sqlite).with("MUNSHI__SERVER__PUBLIC_URL", PLACE);
    installation.run(&["tenant", "add", "rangoli"]).ok();
    add_mail(&installation, &server, "a");
    let own = installation.folder().file_name().unwrap().to_string_lossy().to_lowercase();
    let email = format!("heir+{own}@example.org");
    let made = installation.json(&["operator", "invite", &email, "--role", "owner", "--tenant", "rangoli"]);
    assert!(made["link"].is_string() && made["delivery"] == "shown", "{made}");
    assert_eq!(server.read_mailbox(&email), Vec::<String>::new());
}
