//! Services that take their time: an answer that never ends, letter by letter or without pause, ends in time here, and
//! next to nothing of it is read.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use munshi_connectors::login::{LoginRevocation, OAuthCallback, RevocableLogin};
use munshi_connectors::{AllowedHosts, ConnectorLoginParts, ConnectorLogins, Error};
use munshi_test_support::TestDb;
use munshi_types::{ConnectorName, SystemRandom};
use serde_json::json;

use crate::login::{back, by};
use crate::login_hostile::Evil;
use crate::support::{MIGRATIONS, Shop};

/// So long a service has here for one answer.
const PATIENCE: Duration = Duration::from_secs(2);
/// What ten that write without pause may take from whoever measures; without an end they would take for ever.
const BUSY: Duration = Duration::from_secs(120);
/// What lies in the buffers of both ends of a line, and some more.
const MOST: u64 = 24 * 1024 * 1024;

const HEAD: &str = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n";

/// How an answer never ends.
#[derive(Clone, Copy, Debug)]
enum Mood {
    Silent,
    /// The first line, letter by letter.
    DripsStatus,
    /// One header, letter by letter.
    DripsHeader,
    DripsBody,
    DripsChunks,
    /// Headers without pause.
    Headers,
    /// One header without pause.
    Header,
    Body,
    Trailers,
    /// That it will answer soon, again and again.
    Soon,
}

impl Mood {
    const ALL: [Self; 10] = [
        Self::Silent,
        Self::DripsStatus,
        Self::DripsHeader,
        Self::DripsBody,
        Self::DripsChunks,
        Self::Headers,
        Self::Header,
        Self::Body,
        Self::Trailers,
        Self::Soon,
    ];

    /// What comes first, what comes then without end, and how often.
    fn parts(self) -> (String, Vec<u8>, Duration) {
        let (slowly, at_once) = (Duration::from_millis(100), Duration::ZERO);
        let long = |text: &str| text.repeat(64 * 1024 / text.len()).into_bytes();
        match self {
            Self::Silent => (String::new(), Vec::new(), slowly),
            Self::DripsStatus => ("HTTP/1.1 200 O".to_owned(), b"K".to_vec(), slowly),
            Self::DripsHeader => (format!("{HEAD}x-long: "), b"y".to_vec(), slowly),
            Self::DripsBody => {
                (format!("{HEAD}content-length: 200000\r\n\r\n{{\"issuer\": \""), b"x".to_vec(), slowly)
            }
            Self::DripsChunks => {
                (format!("{HEAD}transfer-encoding: chunked\r\n\r\n"), b"1\r\n \r\n".to_vec(), slowly)
            }
            Self::Headers => (HEAD.to_owned(), long("x-more: yes\r\n"), at_once),
            Self::Header => (format!("{HEAD}x-long: "), long("y"), at_once),
            Self::Body => (format!("{HEAD}\r\n"), long(" "), at_once),
            Self::Trailers => {
                (format!("{HEAD}transfer-encoding: chunked\r\n\r\n0\r\n"), long("x-more: yes\r\n"), at_once)
            }
            Self::Soon => (String::new(), long("HTTP/1.1 102 Processing\r\n\r\n"), at_once),
        }
    }
}

/// A server that is in one mood, whatever it is asked.
struct Slow {
    base: String,
    written: Arc<AtomicU64>,
}

impl Slow {
    fn start(mood: Mood) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let written = Arc::new(AtomicU64::new(0));
        let count = written.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let count = count.clone();
                std::thread::spawn(move || answer(stream, mood, &count));
            }
        });
        Self { base, written }
    }
}

/// Goes on until nobody reads it any more.
fn answer(mut stream: TcpStream, mood: Mood, written: &AtomicU64) {
    let mut asked = [0; 16 * 1024];
    if stream.read(&mut asked).is_err() {
        return;
    }
    let (first, more, pause) = mood.parts();
    let mut next = first.as_bytes();
    while stream.write_all(next).is_ok() {
        written.fetch_add(next.len() as u64, Ordering::Relaxed);
        next = &more;
        std::thread::sleep(pause);
    }
}

/// A service of each mood, and one that means well and can name it. Each is a connector of its own.
struct Street {
    shop: Shop,
    logins: ConnectorLogins,
    houses: Vec<(Mood, Slow, Evil)>,
}

impl Street {
    /// `url` says where a house's connector is.
    async fn of(test: TestDb, url: impl Fn(&Slow, &Evil) -> String) -> Self {
        let houses: Vec<_> =
            Mood::ALL.into_iter().map(|mood| (mood, Slow::start(mood), Evil::start())).collect();
        let places = houses.iter().flat_map(|(_, slow, evil)| [place(&slow.base), place(&evil.base)]);
        let allowed = AllowedHosts::new(places);
        let entries = houses.iter().enumerate();
        let entries =
            entries.map(|(at, (_, slow, evil))| format!("[far{at}]\nurl = \"{}\"\n", url(slow, evil)));
        let file: String = entries.collect();
        let shop = Shop::with(test, &file, allowed.clone(), BTreeMap::new()).await;
        let logins = hasty(&shop, allowed);
        Self { shop, logins, houses }
    }

    /// The same at every house at once.
    async fn all<'s, F: Future<Output = ()>>(
        &'s self,
        act: impl Fn(ConnectorName, &'s (Mood, Slow, Evil)) -> F,
    ) {
        let named = self.houses.iter().enumerate();
        join_all(named.map(|(at, house)| act(format!("far{at}").parse().unwrap(), house))).await;
        for (mood, slow, _) in &self.houses {
            let written = slow.written.load(Ordering::Relaxed);
            // Word that it will answer soon is dropped as it comes, for as long as it may come.
            let is_kept = !matches!(mood, Mood::Soon);
            assert!(!is_kept || written < MOST, "{mood:?}: {written} letters were taken");
        }
    }

    /// Goes there with as much time as it takes, and comes back with a code.
    async fn log_in(&self, name: &ConnectorName, logins: &ConnectorLogins) -> Result<(), Error> {
        let begun = self.shop.logins.begin(self.shop.tenant, name, &back(), by()).await.unwrap();
        let state = begun.to.query_pairs().find(|(key, _)| key == "state").unwrap().1.into_owned();
        let returned = OAuthCallback { state, code: Some("thecode".to_owned()), ..OAuthCallback::default() };
        logins.finish(&begun.token, returned, None).await.map(drop)
    }

    async fn last(&self, name: &ConnectorName) -> Option<RevocableLogin> {
        self.logins.find_revocable(self.shop.tenant, name).await.unwrap()
    }
}

/// The shop's ways in, for whoever has less patience.
fn hasty(shop: &Shop, allowed: AllowedHosts) -> ConnectorLogins {
    let logins = ConnectorLogins::new(ConnectorLoginParts {
        db: shop.test.db.clone(),
        vault: shop.vault.clone(),
        allowed,
        clock: shop.test.clock.clone(),
        random: Arc::new(SystemRandom),
        ids: shop.test.ids.clone(),
        timeout: PATIENCE,
    });
    logins.unwrap()
}

/// One that answers everything, that nobody is let in, and a little less late than it may.
fn late() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            std::thread::spawn(move || {
                let mut asked = [0; 16 * 1024];
                let _heard = stream.read(&mut asked);
                std::thread::sleep(PATIENCE - Duration::from_millis(500));
                let answer = "HTTP/1.1 401 No\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
                let _gone = stream.write_all(answer.as_bytes());
            });
        }
    });
    base
}

fn place(base: &str) -> String {
    base.strip_prefix("http://").unwrap().to_owned()
}

/// That it was given up in time and in a short word.
#[track_caller]
fn given_up<T>(came: Result<T, Error>, begun: Instant, mood: impl std::fmt::Debug) {
    let took = begun.elapsed();
    match came {
        Err(Error::TooSlow(words) | Error::Unreachable(words) | Error::NoLogin(words)) => {
            assert!(words.len() < 300, "{mood:?}: {words}");
        }
        Err(other) => panic!("{mood:?}: {other}"),
        Ok(_) => panic!("{mood:?}: it was believed"),
    }
    assert!(took < PATIENCE * 2 + BUSY, "{mood:?} took {took:?}");
}

munshi_test_support::on_both_engines! {
    with [MIGRATIONS[0], MIGRATIONS[1], MIGRATIONS[2], MIGRATIONS[3], MIGRATIONS[4]];

    /// It is asked at several places where its documents may be; none of them has that long.
    async fn a_service_that_never_ends_is_given_up(test: TestDb) {
        let street = Street::of(test, |slow, _| format!("{}/a/b/mcp", slow.base)).await;
        street.all(async |name, (mood, ..)| {
            let begun = Instant::now();
            given_up(street.logins.supports_device_code(street.shop.tenant, &name).await, begun, *mood);
        }).await;
    }

    /// Whoever answers each of many questions in the last moment has not that long for all of them: with all its answers
    /// there would be a way in.
    async fn many_late_answers_are_given_up_together(test: TestDb) {
        let base = late();
        let allowed = AllowedHosts::new([place(&base)]);
        let file = format!("[far]\nurl = \"{base}/a/b/mcp\"\n");
        let shop = Shop::with(test, &file, allowed.clone(), BTreeMap::new()).await;
        let (logins, begun) = (hasty(&shop, allowed), Instant::now());
        given_up(logins.supports_device_code(shop.tenant, &"far".parse().unwrap()).await, begun, "late");
    }

    async fn one_that_lets_people_in_and_never_ends_is_given_up(test: TestDb) {
        let street = Street::of(test, |_, evil| format!("{}/mcp", evil.base)).await;
        street.all(async |name, (mood, slow, evil)| {
            let resource = json!({ "resource": format!("{}/mcp", evil.base), "authorization_servers": [slow.base] });
            evil.json("/.well-known/oauth-protected-resource/mcp", &resource);
            let begun = Instant::now();
            given_up(street.logins.begin(street.shop.tenant, &name, &back(), by()).await, begun, *mood);
        }).await;
    }

    async fn a_token_that_never_comes_is_given_up(test: TestDb) {
        let street = Street::of(test, |_, evil| format!("{}/mcp", evil.base)).await;
        street.all(async |name, (mood, slow, evil)| {
            evil.describes(&json!({ "token_endpoint": format!("{}/token", slow.base) }));
            let begun = Instant::now();
            given_up(street.log_in(&name, &street.logins).await, begun, *mood);
            assert!(street.last(&name).await.is_none(), "{mood:?}");
        }).await;
    }

    /// It is forgotten here, whatever the service says of it, and however long.
    async fn a_login_is_given_back_in_time(test: TestDb) {
        let street = Street::of(test, |_, evil| format!("{}/mcp", evil.base)).await;
        street.all(async |name, (mood, slow, evil)| {
            evil.json("/token", &json!({ "access_token": "a1" }));
            evil.describes(&json!({ "revocation_endpoint": format!("{}/revoke", slow.base) }));
            street.log_in(&name, &street.shop.logins).await.unwrap();
            let (last, begun) = (street.last(&name).await.unwrap(), Instant::now());
            let given = street.logins.revoke_login(&last).await;
            assert!(matches!(given, LoginRevocation::NotHeard { .. }), "{mood:?}: {given:?}");
            assert!(begun.elapsed() < PATIENCE + BUSY, "{mood:?}: {:?}", begun.elapsed());
        }).await;
    }
}
