//! Services and authorization servers that mean harm, or break: nobody is led into our own network, nothing grows without
//! end, and no secret stands in what is said of it.

use std::collections::{BTreeMap, VecDeque};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use munshi_connectors::login::{OAuthCallback, OAuthReturnUrls};
use munshi_connectors::{AllowedHosts, Error};
use munshi_test_support::TestDb;
use munshi_types::Clock;
use serde_json::{Value, json};

use crate::login::{back, by};
use crate::support::{MIGRATIONS, Shop};

type Answers = Arc<Mutex<BTreeMap<String, VecDeque<String>>>>;

/// Answers as it is told to, and notes what it was asked, and when.
#[derive(Clone)]
pub(crate) struct Evil {
    pub(crate) base: String,
    answers: Answers,
    asked: Arc<Mutex<Vec<(Instant, String)>>>,
}

fn answer(status: &str, more: &str, body: &str) -> String {
    format!(
        "HTTP/1.1 {status}\r\n{more}content-type: application/json\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
}

impl Evil {
    /// A whole service that lets people in, itself.
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let evil = Self { base, answers: Answers::default(), asked: Arc::default() };
        let serving = evil.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let serving = serving.clone();
                std::thread::spawn(move || serving.serve(stream));
            }
        });
        evil.says_where(&format!("{}/.well-known/oauth-protected-resource/mcp", evil.base));
        let resource =
            json!({ "resource": format!("{}/mcp", evil.base), "authorization_servers": [evil.base] });
        evil.json("/.well-known/oauth-protected-resource/mcp", &resource);
        evil.describes(&json!({}));
        evil.json("/register", &json!({ "client_id": "us" }));
        evil
    }

    fn serve(&self, mut stream: TcpStream) {
        let mut heard = Vec::new();
        let mut piece = [0; 4096];
        loop {
            let Ok(length @ 1..) = stream.read(&mut piece) else { return };
            heard.extend_from_slice(&piece[..length]);
            let text = String::from_utf8_lossy(&heard);
            let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
            let wanted = head.lines().find_map(|line| line.strip_prefix("content-length: "));
            if body.len() >= wanted.and_then(|wanted| wanted.parse().ok()).unwrap_or(0) {
                break;
            }
        }
        let text = String::from_utf8_lossy(&heard).into_owned();
        let path = text.split(' ').nth(1).unwrap_or_default().to_owned();
        self.asked.lock().unwrap().push((Instant::now(), text));
        let answer = {
            let mut answers = self.answers.lock().unwrap();
            let known = answers.get_mut(&path);
            known.and_then(|known| if known.len() > 1 { known.pop_front() } else { known.front().cloned() })
        };
        let answer = answer.unwrap_or_else(|| self::answer("404 Not Found", "", ""));
        // Who has heard enough hangs up.
        let _ = stream.write_all(answer.as_bytes());
    }

    fn raw(&self, path: &str, answers: impl IntoIterator<Item = String>) {
        self.answers.lock().unwrap().insert(path.to_owned(), answers.into_iter().collect());
    }

    pub(crate) fn json(&self, path: &str, body: &Value) {
        self.raw(path, [answer("200 OK", "", &body.to_string())]);
    }

    /// What it says to somebody without a login.
    pub(crate) fn says_where(&self, place: &str) {
        let where_to = format!("www-authenticate: Bearer resource_metadata=\"{place}\"\r\n");
        self.raw("/mcp", [answer("401 Unauthorized", &where_to, "")]);
    }

    /// What it says of itself, but for this.
    pub(crate) fn describes(&self, but: &Value) {
        let at = |path: &str| format!("{}{path}", self.base);
        let mut about = json!({
            "issuer": self.base, "authorization_endpoint": at("/authorize"), "token_endpoint": at("/token"),
            "registration_endpoint": at("/register"), "code_challenge_methods_supported": ["S256"],
        });
        for (key, value) in but.as_object().unwrap() {
            about[key] = value.clone();
        }
        self.json("/.well-known/oauth-authorization-server", &about);
    }

    fn asked(&self, path: &str) -> Vec<Instant> {
        let begins = [format!("GET {path} "), format!("POST {path} ")];
        let asked = self.asked.lock().unwrap();
        let those = asked.iter().filter(|(_, text)| begins.iter().any(|begin| text.starts_with(begin)));
        those.map(|(at, _)| *at).collect()
    }

    /// A shop that has it as a connector, and the one port of it that was allowed.
    async fn shop(&self, test: TestDb) -> Shop {
        let allowed = AllowedHosts::new([self.base.strip_prefix("http://").unwrap().to_owned()]);
        let file = format!("[far]\nurl = \"{}/mcp\"\n", self.base);
        Shop::with(test, &file, allowed, BTreeMap::new()).await
    }
}

/// Why nobody can be sent there.
async fn refused(shop: &Shop) -> String {
    match shop.logins.begin(shop.tenant, &"far".parse().unwrap(), &back(), by()).await {
        Err(Error::NoLogin(words) | Error::Unreachable(words)) => words,
        other => panic!("{:?}", other.map(|begun| begun.to)),
    }
}

/// Goes there and comes back with a code; what came of it.
async fn finished(shop: &Shop) -> Result<(), String> {
    let begun = shop.logins.begin(shop.tenant, &"far".parse().unwrap(), &back(), by()).await.unwrap();
    let state = begun.to.query_pairs().find(|(key, _)| key == "state").unwrap().1.into_owned();
    let returned = OAuthCallback { state, code: Some("thecode".to_owned()), ..OAuthCallback::default() };
    let ended = shop.logins.finish(&begun.token, returned, None).await;
    ended.map(drop).map_err(|error| error.to_string())
}

munshi_test_support::on_both_engines! {
    with [MIGRATIONS[0], MIGRATIONS[1], MIGRATIONS[2], MIGRATIONS[3], MIGRATIONS[4]];

    /// Whatever address its documents name: none that is not public is asked, nor another port of a host of which one is
    /// allowed.
    async fn no_document_leads_into_our_own_network(test: TestDb) {
        let (evil, inner) = (Evil::start(), Evil::start());
        let shop = evil.shop(test).await;
        let port = inner.base.rsplit(':').next().unwrap();
        let inward = [
            format!("http://127.0.0.1:{port}/x"), format!("https://127.0.0.1:{port}/x"), format!("https://localhost:{port}/x"),
            format!("http://localhost:{port}/x"), format!("https://[::ffff:127.0.0.1]:{port}/x"), format!("https://2130706433:{port}/x"),
            "http://169.254.169.254/latest".to_owned(), "https://10.0.0.1/x".to_owned(), "file:///etc/passwd".to_owned(),
            "https://user:word@example.com/".to_owned(), "javascript:alert(1)".to_owned(), String::new(),
        ];
        let begun = Instant::now();
        for place in &inward {
            evil.says_where(place);
            refused(&shop).await;
        }
        evil.says_where(&format!("{}/.well-known/oauth-protected-resource/mcp", evil.base));
        // A login would be shown where everybody reads along.
        shop.declare("[far]\nurl = \"http://books.example/mcp\"\n").await;
        assert!(refused(&shop).await.contains("https://"));
        shop.declare(&format!("[far]\nurl = \"{}/mcp\"\n", evil.base)).await;
        for key in ["authorization_endpoint", "token_endpoint", "registration_endpoint"] {
            // A name is resolved when it is asked, and not before.
            for place in inward.iter().filter(|place| !place.contains("localhost")) {
                evil.describes(&json!({ key: place }));
                refused(&shop).await;
            }
        }
        evil.describes(&json!({ "registration_endpoint": format!("https://localhost:{port}/x") }));
        assert!(refused(&shop).await.contains("private"));
        assert!(inner.asked.lock().unwrap().is_empty(), "nobody knocked there");
        assert!(begun.elapsed() < Duration::from_secs(60), "and nobody waited for it");
    }

    /// Redirects, documents without end, in pieces, of another shape, of somebody else.
    async fn no_document_is_believed_that_is_none(test: TestDb) {
        let (evil, elsewhere) = (Evil::start(), Evil::start());
        let shop = evil.shop(test).await;
        let (own, server) = ("/.well-known/oauth-protected-resource/mcp", "/.well-known/oauth-authorization-server");
        let moved = answer("302 Found", &format!("location: {}/x\r\n", elsewhere.base), "");
        let huge = format!("{{\"issuer\": \"{}\"}}", "x".repeat(8 * 1024 * 1024));
        let odd = ["[]", "null", "{", "<html>", "{\"resource\": 7}", "\u{feff}{}"].map(|body| answer("200 OK", "", body));
        for path in [server, own] {
            for body in odd.iter().chain([&moved, &answer("200 OK", "", &huge), &answer("500 No", "", "")]) {
                evil.raw(path, [body.clone()]);
                let words = refused(&shop).await;
                assert!(words.len() < 400, "{words}");
            }
        }
        assert!(elsewhere.asked.lock().unwrap().is_empty());
        let resource = |resource: &str| json!({ "resource": resource, "authorization_servers": [evil.base] });
        evil.json(own, &resource("https://bank.example/mcp"));
        assert!(refused(&shop).await.contains("bank.example"));
        evil.json(own, &resource(&format!("{}/mcp", evil.base)));
        for (but, words) in [
            (json!({ "issuer": "https://bank.example" }), "bank.example"),
            (json!({ "issuer": format!("{}/", evil.base) }), "names another issuer"),
            (json!({ "code_challenge_methods_supported": ["plain"] }), "S256"),
            (json!({ "code_challenge_methods_supported": Value::Null }), "S256"),
        ] {
            evil.describes(&but);
            let said = refused(&shop).await;
            assert!(said.contains(words), "{but}: {said}");
        }
    }

    /// What it gives for the code: nothing that can't be sent or kept is kept, and nothing is repeated of what it says.
    async fn no_token_is_kept_that_is_none(test: TestDb) {
        let evil = Evil::start();
        let shop = evil.shop(test).await;
        let told = |status: &str, body: &Value| answer(status, "", &body.to_string());
        let good = json!({ "access_token": "a1", "token_type": "Bearer" });
        let with = |key: &str, value: Value| {
            let mut answer = good.clone();
            answer[key] = value;
            answer
        };
        for bad in [
            told("200 OK", &json!({})),
            told("200 OK", &with("access_token", json!("a\r\nx: y"))),
            told("200 OK", &with("access_token", json!("a".repeat(20_000)))),
            told("200 OK", &with("token_type", json!("mac"))),
            answer("200 OK", "", "<html>"),
            answer("200 OK", "", &"x".repeat(400_000)),
            answer("302 Found", "location: https://evil.example/\r\n", ""),
            told("400 No", &json!({ "error": "we got thecode from you" })),
            told("400 No", &json!({ "error": "thecode", "error_description": "thecode" })),
            told("500 No", &good),
        ] {
            evil.raw("/token", [bad.clone()]);
            let said = finished(&shop).await.unwrap_err();
            assert!(said.len() < 300 && !said.contains('<'), "{said}");
            assert!(!said.contains("from you"), "{said}");
            let kept = shop.vault.list(shop.tenant).await.unwrap();
            assert!(kept.iter().all(|secret| secret.name != "connector/far/login"), "{kept:?}");
        }
        let long = with("scope", json!("x".repeat(100_000)));
        evil.raw("/token", [told("200 OK", &long)]);
        finished(&shop).await.unwrap();
        let events = shop.events().await;
        let told = events.iter().find(|(event, _)| event == "connector.logged_in").unwrap();
        assert!(told.1.to_string().len() < 500, "the audit is no place for it");
    }

    /// It has forgotten who we are: the next one who goes there is sent with a new name.
    async fn who_is_no_longer_known_is_noted_down_anew(test: TestDb) {
        let evil = Evil::start();
        let shop = evil.shop(test).await;
        evil.raw("/token", [answer("401 No", "", "{\"error\": \"invalid_client\"}")]);
        assert!(finished(&shop).await.unwrap_err().contains("invalid_client"));
        assert_eq!(evil.asked("/register").len(), 1);
        evil.json("/token", &json!({ "access_token": "a1" }));
        finished(&shop).await.unwrap();
        assert_eq!(evil.asked("/register").len(), 2);
        finished(&shop).await.unwrap();
        assert_eq!(evil.asked("/register").len(), 2, "once it is good it is kept");
        // Nobody came back: they may have been told so there.
        let name = "far".parse().unwrap();
        shop.logins.begin(shop.tenant, &name, &back(), by()).await.unwrap();
        shop.test.clock.advance(Duration::from_secs(16 * 60));
        evil.json("/register", &json!({ "client_id": "us anew" }));
        for _ in 0..2 {
            finished(&shop).await.unwrap();
            assert_eq!(evil.asked("/register").len(), 3);
        }
        // One whose secret ends soon is not gone on with.
        let soon = shop.test.clock.now().as_millis() / 1_000 + 60;
        evil.json("/register", &json!({ "client_id": "us", "client_secret": "s", "client_secret_expires_at": soon }));
        shop.declare("").await;
        shop.declare(&format!("[far]\nurl = \"{}/mcp\"\n", evil.base)).await;
        finished(&shop).await.unwrap();
        finished(&shop).await.unwrap();
        assert_eq!(evil.asked("/register").len(), 5);
    }

    /// Slow down means slow down, a no is a no, and a code has its end.
    async fn a_code_is_asked_about_as_often_as_it_may(test: TestDb) {
        let evil = Evil::start();
        evil.describes(&json!({ "device_authorization_endpoint": format!("{}/device", evil.base) }));
        let shop = evil.shop(test).await;
        let code = json!({ "device_code": "d", "user_code": "AB\u{1b}[2J-CD", "verification_uri": format!("{}/type", evil.base),
                           "interval": "1", "expires_in": 600 });
        evil.json("/device", &code);
        let back = OAuthReturnUrls { redirect: "http://127.0.0.1/".to_owned(), document: None };
        let name = "far".parse().unwrap();
        let begin = async || shop.logins.begin_device_login(shop.tenant, &name, &back, by()).await.unwrap();
        let code = begin().await;
        assert_eq!(code.user_code, "AB[2J-CD", "nothing that a terminal obeys");
        let no = |error: &str| answer("400 No", "", &json!({ "error": error }).to_string());
        evil.raw("/token", [no("authorization_pending"), no("slow_down"), no("access_denied")]);
        let said = shop.logins.finish_device_login(code).await.unwrap_err().to_string();
        assert!(said.contains("access_denied"), "{said}");
        let asked = evil.asked("/token");
        assert_eq!(asked.len(), 3);
        let mut waits = vec![asked[1] - asked[0]];
        assert!(waits[0] >= Duration::from_millis(950), "{waits:?}");
        assert!(asked[2] - asked[1] >= Duration::from_millis(5_950), "five seconds more");
        for (error, words) in [("expired_token", "expired_token"), ("AB d", "HTTP 400")] {
            evil.raw("/token", [no(error)]);
            let (code, begun) = (begin().await, Instant::now());
            let said = shop.logins.finish_device_login(code).await.unwrap_err().to_string();
            assert!(said.contains(words), "{said}");
            waits.push(*evil.asked("/token").last().unwrap() - begun);
        }
        // One that is busy with other things is late, but not every time.
        assert!(*waits.iter().min().unwrap() < Duration::from_secs(4), "a second, as it said: {waits:?}");
        let late = begin().await;
        shop.test.clock.advance(Duration::from_secs(601));
        let said = shop.logins.finish_device_login(late).await.unwrap_err().to_string();
        assert!(said.contains("the code expired before it was entered"), "{said}");
    }
}
