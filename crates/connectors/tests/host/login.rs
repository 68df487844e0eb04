//! Being let into a service: a certified authorization server and the official SDK's own server behind it, on both engines.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use munshi_connectors::login::{Back, Begun, Returned};
use munshi_connectors::{Allowed, Error, State};
use munshi_safety::audit::{Actor, ActorKind};
use munshi_safety::vault;
use munshi_test_support::{TestDb, environment};
use munshi_types::Clock;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};
use tokio::process::{Child, Command};
use url::Url;

use crate::support::{MIGRATIONS, Shop, basics, server};

const BACK: &str = "http://munshi.example/connectors/back";

/// The authorization server, the service behind it, and a shop that has it as a connector. Both end with it.
struct Guarded {
    shop: Shop,
    issuer: String,
    notes: PathBuf,
    _authority: Child,
    _service: Child,
}

async fn authority() -> (Child, String) {
    let mut child = Command::new("node")
        .arg(server("authority.mjs"))
        .arg(environment::openid_provider_home())
        .env_clear()
        .envs(basics())
        .kill_on_drop(true)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let issuer = lines.next_line().await.unwrap().expect("the authorization server starts");
    (child, issuer)
}

async fn service(issuer: &str, notes: &std::path::Path) -> (Child, u16) {
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let child = Command::new("python3")
        .arg(server("guarded.py"))
        .args([&port.to_string(), issuer])
        .arg(notes)
        .env_clear()
        .envs(basics())
        .env("PYTHONPATH", environment::connectors().join("python"))
        .kill_on_drop(true)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    for _ in 0..300 {
        if tokio::net::TcpStream::connect(("127.0.0.1", port)).await.is_ok() {
            return (child, port);
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("the service does not listen");
}

pub(crate) fn client() -> reqwest::Client {
    let tls = munshi_llm::transport::tls::config().unwrap();
    reqwest::Client::builder()
        .tls_backend_preconfigured(tls)
        .redirect(reqwest::redirect::Policy::none())
        .build()
        .unwrap()
}

/// A browser: goes where it is sent, with what it was given to keep.
struct Browser {
    client: reqwest::Client,
    cookies: BTreeMap<String, String>,
}

impl Browser {
    fn new() -> Self {
        Self { client: client(), cookies: BTreeMap::new() }
    }

    /// Where it is sent next, and what the page says.
    async fn open(&mut self, request: reqwest::RequestBuilder) -> (Option<Url>, String) {
        let kept = self.cookies.iter().map(|(name, value)| format!("{name}={value}"));
        let response = request.header("cookie", kept.collect::<Vec<_>>().join("; ")).send().await.unwrap();
        for cookie in response.headers().get_all("set-cookie") {
            let pair = cookie.to_str().unwrap().split(';').next().unwrap();
            let (name, value) = pair.split_once('=').unwrap();
            self.cookies.insert(name.to_owned(), value.to_owned());
        }
        let next = response.headers().get("location").map(|next| next.to_str().unwrap().to_owned());
        let next = next.map(|next| response.url().join(&next).unwrap());
        (next, response.text().await.unwrap())
    }

    /// Follows until a page says something, or it is sent to where we wait for it.
    async fn follow(&mut self, from: &Url) -> (Url, String) {
        let mut at = from.clone();
        for _ in 0..12 {
            if at.as_str().starts_with(BACK) {
                return (at, String::new());
            }
            match self.open(self.client.get(at.clone())).await {
                (Some(next), _) => at = next,
                (None, page) => return (at, page),
            }
        }
        panic!("it never comes to an end: {at}");
    }

    /// Types a code, says that it is theirs, and consents.
    async fn type_code(&mut self, place: &str, code: &str) -> String {
        let (place, page) = self.follow(&place.parse().unwrap()).await;
        let xsrf = page.split("name=\"xsrf\" value=\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
        let post = |more: &str| {
            let form = format!("xsrf={xsrf}&user_code={code}{more}");
            let request = self.client.post(format!("{}/device", place.origin().ascii_serialization()));
            request.header("content-type", "application/x-www-form-urlencoded").body(form)
        };
        let (typed, confirmed) = (post(""), post("&confirm=yes"));
        self.open(typed).await;
        let (next, _) = self.open(confirmed).await;
        self.follow(&next.unwrap()).await.1
    }
}

async fn browse(from: &Url) -> Returned {
    let (at, page) = Browser::new().follow(from).await;
    assert!(at.as_str().starts_with(BACK), "{at}: {page}");
    returned(&at)
}

/// What stands in the address that somebody is sent back to.
pub(crate) fn returned(at: &Url) -> Returned {
    let of = |name: &str| at.query_pairs().find(|(key, _)| key == name).map(|(_, value)| value.into_owned());
    Returned { state: of("state").unwrap_or_default(), code: of("code"), iss: of("iss"), error: of("error") }
}

fn by() -> Actor {
    Actor::new(ActorKind::Operator, "farid")
}

fn back() -> Back {
    Back { redirect: BACK.to_owned(), document: None }
}

impl Guarded {
    async fn open(test: TestDb) -> Self {
        let notes = test.place.folder().join("notes");
        let (authority, issuer) = authority().await;
        let (service, port) = service(&issuer, &notes).await;
        let file = format!(
            "[far]\nurl = \"http://127.0.0.1:{port}/mcp\"\n[far.tools.note]\neffect = \"once\"\nscope = \"note.add\"\n"
        );
        let allowed = Allowed::new(["127.0.0.1".to_owned()]);
        let shop = Shop::with(test, &file, allowed, BTreeMap::new()).await;
        shop.start().await;
        shop.until_state("far", State::WantsLogin).await;
        Self { shop, issuer, notes, _authority: authority, _service: service }
    }

    async fn begin(&self) -> Begun {
        let name = "far".parse().unwrap();
        self.shop.logins.begin(self.shop.tenant, &name, &back(), by()).await.unwrap()
    }

    async fn log_in(&self) {
        let begun = self.begin().await;
        let returned = browse(&begun.to).await;
        self.shop.logins.finish(&begun.token, returned).await.unwrap();
        self.shop.until_state("far", State::Ready).await;
    }

    async fn said(&self, text: &str) -> Value {
        self.shop.said("far_note", json!({ "text": text })).await
    }

    fn notes(&self) -> Vec<String> {
        let text = std::fs::read_to_string(&self.notes).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    async fn grants(&self, kind: &str) -> u64 {
        let count = client().get(format!("{}/count", self.issuer)).send().await.unwrap();
        let count: Value = serde_json::from_slice(&count.bytes().await.unwrap()).unwrap();
        count[kind].as_u64().unwrap_or_default()
    }

    async fn forget(&self) {
        client().post(format!("{}/forget", self.issuer)).send().await.unwrap();
    }
}

async fn refused(guarded: &Guarded, begun: &Begun, returned: Returned) -> String {
    match guarded.shop.logins.finish(&begun.token, returned).await {
        Err(Error::NoLogin(words)) => words,
        other => panic!("{other:?}"),
    }
}

munshi_test_support::on_both_engines! {
    with [MIGRATIONS[0], MIGRATIONS[1], MIGRATIONS[2], MIGRATIONS[3], MIGRATIONS[4]];

    /// Nobody is in; a person logs in; a call is made; what was kept is sealed, and told to nobody.
    async fn somebody_lets_us_in_and_the_call_is_made(test: TestDb) {
        let guarded = Guarded::open(test).await;
        let begun = guarded.begin().await;
        let asked: BTreeMap<_, _> = begun.to.query_pairs().into_owned().collect();
        assert_eq!(asked["code_challenge_method"], "S256");
        assert!(asked["resource"].ends_with("/mcp") && asked["scope"].contains("files"), "{asked:?}");
        let returned = browse(&begun.to).await;
        guarded.shop.logins.finish(&begun.token, returned).await.unwrap();
        guarded.shop.until_state("far", State::Ready).await;
        let said = guarded.said("one").await;
        assert_eq!(said["ok"], true, "{said}");
        assert_eq!(guarded.notes(), ["one"]);
        let events = guarded.shop.events().await;
        let told = events.iter().find(|(event, _)| event == "connector.logged_in").unwrap();
        assert_eq!(told.1["at"], guarded.issuer);
        let name = munshi_safety::vault::SecretRef::named("connector/far/login").unwrap();
        let kept = guarded.shop.vault.open(guarded.shop.tenant, &name).await.unwrap();
        let kept: Value = serde_json::from_str(kept.expose()).unwrap();
        let (access, refresh) = (kept["access"].as_str().unwrap(), kept["refresh"].as_str().unwrap());
        let everything = format!("{events:?}{}", guarded.shop.log("far"));
        assert!(!everything.contains(access) && !everything.contains(refresh), "no token is written down");
        guarded.shop.host.stop().await;
    }

    /// The name is the same, the place is another: it is shown nothing.
    async fn a_login_is_for_the_place_it_was_made_at(test: TestDb) {
        let guarded = Guarded::open(test).await;
        guarded.log_in().await;
        let other = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = other.local_addr().unwrap().port();
        guarded.shop.declare(&format!("[far]\nurl = \"http://127.0.0.1:{port}/mcp\"\n")).await;
        let (host, tenant) = (&guarded.shop.host, guarded.shop.tenant);
        let shown = async {
            let (mut line, _) = other.accept().await.unwrap();
            let mut heard = vec![0; 8_192];
            let length = line.read(&mut heard).await.unwrap();
            String::from_utf8_lossy(&heard[..length]).to_lowercase()
        };
        let shown = tokio::time::timeout(Duration::from_secs(20), async {
            tokio::select! { shown = shown => shown, _ = async { host.open(tenant).await.unwrap(); std::future::pending::<()>().await } => String::new() }
        });
        let shown = shown.await.expect("it is tried");
        assert!(shown.starts_with("post /mcp") && !shown.contains("authorization"), "{shown}");
        guarded.shop.host.stop().await;
    }

    /// The same with a code that is typed on another device.
    async fn somebody_lets_us_in_with_a_code(test: TestDb) {
        let guarded = Guarded::open(test).await;
        let (logins, name) = (&guarded.shop.logins, "far".parse().unwrap());
        assert!(logins.takes_codes(guarded.shop.tenant, &name).await.unwrap());
        let back = Back { redirect: "http://127.0.0.1/".to_owned(), document: None };
        let code = logins.begin_with_code(guarded.shop.tenant, &name, &back, by()).await.unwrap();
        let page = Browser::new().type_code(&code.place, &code.user_code).await;
        assert_eq!(page, "let in");
        logins.finish_with_code(code).await.unwrap();
        guarded.shop.until_state("far", State::Ready).await;
        assert_eq!(guarded.said("by code").await["ok"], true);
        guarded.shop.host.stop().await;
    }

    /// Another's state, one that was used, one that is too old, another issuer, none at all, a no.
    async fn what_comes_back_has_to_be_what_was_sent(test: TestDb) {
        let guarded = Guarded::open(test).await;
        let (begun, other) = (guarded.begin().await, guarded.begin().await);
        let good = browse(&begun.to).await;
        let anew = "begin it anew";
        assert!(refused(&guarded, &other, good.clone()).await.contains(anew), "a state of somebody else's login");
        let strange = Returned { state: "x".repeat(43), ..good.clone() };
        assert!(refused(&guarded, &begun, strange).await.contains(anew));
        guarded.shop.logins.finish(&begun.token, good.clone()).await.unwrap();
        assert!(refused(&guarded, &begun, good.clone()).await.contains(anew), "a state is good once");
        for (iss, words) in [(Some("https://evil.example".to_owned()), "not of"), (None, "does not say")] {
            let begun = guarded.begin().await;
            let returned = Returned { iss, ..browse(&begun.to).await };
            assert!(refused(&guarded, &begun, returned.clone()).await.contains(words));
            let again = Returned { iss: Some(guarded.issuer.clone()), ..returned };
            assert!(refused(&guarded, &begun, again).await.contains(anew), "it was used up");
        }
        let begun = guarded.begin().await;
        let no = Returned { code: None, error: Some("access_denied".to_owned()), ..browse(&begun.to).await };
        assert!(refused(&guarded, &begun, no).await.contains("access_denied"));
        let begun = guarded.begin().await;
        let late = browse(&begun.to).await;
        guarded.shop.test.clock.advance(Duration::from_secs(16 * 60));
        assert!(refused(&guarded, &begun, late).await.contains(anew), "a quarter of an hour is over");
        guarded.shop.host.stop().await;
    }

    /// The process dies when it has the code and not yet the token: the state is used up, the link still leads there.
    async fn a_crash_between_code_and_token_costs_another_click(test: TestDb) {
        let guarded = Guarded::open(test).await;
        let (logins, tenant) = (&guarded.shop.logins, guarded.shop.tenant);
        let link = logins.link(tenant, "far", "http://munshi.example", by()).await.unwrap();
        let token = munshi_identity::Token::parse(link.rsplit('/').next().unwrap()).unwrap();
        let begun = logins.follow(logins.led(&token).await.unwrap().unwrap(), &back()).await.unwrap();
        let returned = browse(&begun.to).await;
        let finishing = logins.finish(&begun.token, returned.clone());
        // Dropped while the token is being fetched, as a crash would.
        let _ = tokio::time::timeout(Duration::from_millis(1), finishing).await;
        if logins.last(tenant, "far").await.unwrap().is_none() {
            let again = logins.finish(&begun.token, returned).await;
            assert!(matches!(again, Ok(_) | Err(Error::NoLogin(_))), "{again:?}");
        }
        let led = logins.led(&token).await.unwrap();
        if logins.last(tenant, "far").await.unwrap().is_none() {
            let begun = logins.follow(led.expect("the link still leads there"), &back()).await.unwrap();
            let returned = browse(&begun.to).await;
            logins.finish(&begun.token, returned).await.unwrap();
        }
        assert!(logins.led(&token).await.unwrap().is_none(), "whoever is in needs no link");
        guarded.shop.until_state("far", State::Ready).await;
        assert_eq!(guarded.said("after").await["ok"], true);
        guarded.shop.host.stop().await;
    }

    /// Its time is nearly over: it is renewed before the call, once for all who call at that moment.
    async fn what_ends_is_renewed_once_for_all(test: TestDb) {
        let guarded = Guarded::open(test).await;
        guarded.log_in().await;
        assert_eq!(guarded.said("before").await["ok"], true);
        assert_eq!(guarded.grants("refresh_token").await, 0);
        guarded.shop.test.clock.advance(Duration::from_secs(3_595));
        let (one, two, three) = tokio::join!(guarded.said("a"), guarded.said("b"), guarded.said("c"));
        assert!([&one, &two, &three].iter().all(|said| said["ok"] == true), "{one} {two} {three}");
        assert_eq!(guarded.grants("refresh_token").await, 1);
        assert_eq!(guarded.notes().len(), 4);
        let name = vault::SecretRef::named("connector/far/login").unwrap();
        let at = guarded.shop.test.db.read(guarded.shop.tenant, move |tx| vault::set_at(tx, &name)).await.unwrap();
        assert!(at.is_some_and(|at| at <= guarded.shop.test.clock.now()));
        guarded.shop.host.stop().await;
    }

    /// Refused at the door though it should be good, and the renewal is refused too: somebody has to log in, and the
    /// call that was refused was not made. After that the very same act is done, once.
    async fn what_can_not_be_renewed_wants_a_person(test: TestDb) {
        let guarded = Guarded::open(test).await;
        guarded.log_in().await;
        guarded.forget().await;
        let said = guarded.said("lost").await;
        assert_eq!((said["ok"].as_bool(), said["code"].as_str()), (Some(false), Some("login_needed")), "{said}");
        assert!(guarded.notes().is_empty());
        guarded.log_in().await;
        assert_eq!(guarded.said("found").await["ok"], true);
        assert_eq!(guarded.notes(), ["found"]);
        guarded.shop.host.stop().await;
    }
}
