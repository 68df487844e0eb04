//! Being let into a service: a certified authorization server and the official SDK's own server behind it, on both engines.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use munshi_connectors::login::{OAuthCallback, OAuthReturnUrls, PendingOAuthLogin};
use munshi_connectors::{AllowedHosts, ConnectorState, Error};
use munshi_http::{Client, HttpClientBuilder, ReachableAddresses};
use munshi_safety::audit::{AuditActor, AuditActorKind};
use munshi_safety::vault;
use munshi_test_support::guarded_service::{Browser, DeviceCodeSupport, GuardedService as Service};
use munshi_test_support::{PATIENCE, TestDb};
use munshi_tools::NoActJournal;
use munshi_types::{Autonomy, Clock};
use serde_json::{Value, json};
use tokio::io::AsyncReadExt;
use url::Url;

use crate::support::{MIGRATIONS, Node, Shop};

const BACK: &str = "http://munshi.example/connectors/back";

/// A shop that has a guarded service as a connector.
pub(crate) struct Guarded {
    pub(crate) shop: Shop,
    pub(crate) service: Service,
}

pub(crate) fn client() -> Client {
    HttpClientBuilder::new().unwrap().build(PATIENCE, ReachableAddresses::Any).unwrap()
}

pub(crate) fn browse(from: &Url) -> OAuthCallback {
    let (at, seen) = Browser::default().follow(from.as_str(), BACK);
    assert!(at.starts_with(BACK), "{at}: {}", seen.text);
    returned(&at.parse().unwrap())
}

/// What stands in the address that somebody is sent back to.
pub(crate) fn returned(at: &Url) -> OAuthCallback {
    let of = |name: &str| at.query_pairs().find(|(key, _)| key == name).map(|(_, value)| value.into_owned());
    OAuthCallback {
        state: of("state").unwrap_or_default(),
        code: of("code"),
        iss: of("iss"),
        error: of("error"),
    }
}

pub(crate) fn by() -> AuditActor {
    AuditActor::new(AuditActorKind::Operator, "farid")
}

pub(crate) fn allowed() -> AllowedHosts {
    AllowedHosts::new(["127.0.0.1".to_owned()])
}

pub(crate) fn back() -> OAuthReturnUrls {
    OAuthReturnUrls { redirect: BACK.to_owned(), document: None }
}

/// With as much time as it wants.
pub(crate) fn declared(service: &Service) -> String {
    format!(
        "[far]\nurl = \"{}\"\nstart_seconds = 120\ntimeout_seconds = 120\n\
         [far.tools.note]\neffect = \"once\"\nscope = \"note.add\"\n",
        service.url
    )
}

impl Guarded {
    pub(crate) async fn open(test: TestDb) -> Self {
        let service = Service::start(&test.place.folder(), DeviceCodeSupport::Given);
        let shop = Shop::with(test, &declared(&service), allowed(), BTreeMap::new()).await;
        shop.start().await;
        shop.until_state("far", ConnectorState::WantsLogin).await;
        Self { shop, service }
    }

    pub(crate) async fn begin(&self) -> PendingOAuthLogin {
        let name = "far".parse().unwrap();
        self.shop.logins.begin(self.shop.tenant, &name, &back(), by()).await.unwrap()
    }

    pub(crate) async fn log_in(&self) {
        let begun = self.begin().await;
        let returned = browse(&begun.to);
        self.shop.logins.finish(&begun.token, returned, None).await.unwrap();
        self.shop.until_state("far", ConnectorState::Ready).await;
    }

    /// The same call through another process.
    pub(crate) async fn said_at(&self, node: &Node, text: &str) -> Value {
        let want = self.shop.want("far_note", json!({ "text": text }), Autonomy::Act);
        node.dispatcher.call(want, Arc::new(NoActJournal)).await.unwrap().render_for_model()
    }

    pub(crate) async fn said(&self, text: &str) -> Value {
        self.shop.said("far_note", json!({ "text": text })).await
    }
}

async fn refused(guarded: &Guarded, begun: &PendingOAuthLogin, returned: OAuthCallback) -> String {
    match guarded.shop.logins.finish(&begun.token, returned, None).await {
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
        let returned = browse(&begun.to);
        guarded.shop.logins.finish(&begun.token, returned, None).await.unwrap();
        guarded.shop.until_state("far", ConnectorState::Ready).await;
        let said = guarded.said("one").await;
        assert_eq!(said["ok"], true, "{said}");
        assert_eq!(guarded.service.recorded_calls(), ["one"]);
        let events = guarded.shop.events().await;
        let told = events.iter().find(|(event, _)| event == "connector.logged_in").unwrap();
        assert_eq!(told.1["at"], guarded.service.issuer);
        let name = munshi_safety::vault::SecretRef::from_name("connector/far/login").unwrap();
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
        let shown = tokio::time::timeout(PATIENCE, async {
            tokio::select! { shown = shown => shown, _ = async { host.start_tenant(tenant).await.unwrap(); std::future::pending::<()>().await } => String::new() }
        });
        let shown = shown.await.expect("it is tried");
        assert!(shown.starts_with("post /mcp") && !shown.contains("authorization"), "{shown}");
        guarded.shop.host.stop().await;
    }

    /// The same with a code that is typed on another device.
    async fn somebody_lets_us_in_with_a_code(test: TestDb) {
        let guarded = Guarded::open(test).await;
        let (logins, name) = (&guarded.shop.logins, "far".parse().unwrap());
        assert!(logins.supports_device_code(guarded.shop.tenant, &name).await.unwrap());
        let back = OAuthReturnUrls { redirect: "http://127.0.0.1/".to_owned(), document: None };
        let code = logins.begin_device_login(guarded.shop.tenant, &name, &back, by()).await.unwrap();
        let page = Browser::default().enter_code(&code.place, &code.user_code);
        assert_eq!(page, "let in");
        logins.finish_device_login(code).await.unwrap();
        guarded.shop.until_state("far", ConnectorState::Ready).await;
        assert_eq!(guarded.said("by code").await["ok"], true);
        guarded.shop.host.stop().await;
    }

    /// Another's state, one that was used, one that is too old, another issuer, none at all, a no.
    async fn what_comes_back_has_to_be_what_was_sent(test: TestDb) {
        let guarded = Guarded::open(test).await;
        let (begun, other) = (guarded.begin().await, guarded.begin().await);
        let good = browse(&begun.to);
        let anew = "start it again";
        assert!(refused(&guarded, &other, good.clone()).await.contains(anew), "a state of somebody else's login");
        let strange = OAuthCallback { state: "x".repeat(43), ..good.clone() };
        assert!(refused(&guarded, &begun, strange).await.contains(anew));
        guarded.shop.logins.finish(&begun.token, good.clone(), None).await.unwrap();
        assert!(refused(&guarded, &begun, good.clone()).await.contains(anew), "a state is good once");
        for (iss, words) in [(Some("https://evil.example".to_owned()), "another issuer"), (None, "does not name")] {
            let begun = guarded.begin().await;
            let returned = OAuthCallback { iss, ..browse(&begun.to) };
            assert!(refused(&guarded, &begun, returned.clone()).await.contains(words));
            let again = OAuthCallback { iss: Some(guarded.service.issuer.clone()), ..returned };
            assert!(refused(&guarded, &begun, again).await.contains(anew), "it was used up");
        }
        let begun = guarded.begin().await;
        let no = OAuthCallback { code: None, error: Some("access_denied".to_owned()), ..browse(&begun.to) };
        assert!(refused(&guarded, &begun, no).await.contains("access_denied"));
        let begun = guarded.begin().await;
        let late = browse(&begun.to);
        guarded.shop.test.clock.advance(Duration::from_secs(16 * 60));
        assert!(refused(&guarded, &begun, late).await.contains(anew), "a quarter of an hour is over");
        guarded.shop.host.stop().await;
    }

    /// Its time is nearly over: it is renewed before the call, once for all who call at that moment.
    async fn what_ends_is_renewed_once_for_all(test: TestDb) {
        let guarded = Guarded::open(test).await;
        guarded.log_in().await;
        assert_eq!(guarded.said("before").await["ok"], true);
        assert_eq!(guarded.service.count_grants("refresh_token"), 0);
        guarded.shop.test.clock.advance(Duration::from_secs(3_595));
        let (one, two, three) = tokio::join!(guarded.said("a"), guarded.said("b"), guarded.said("c"));
        assert!([&one, &two, &three].iter().all(|said| said["ok"] == true), "{one} {two} {three}");
        assert_eq!(guarded.service.count_grants("refresh_token"), 1);
        assert_eq!(guarded.service.recorded_calls().len(), 4);
        let name = vault::SecretRef::from_name("connector/far/login").unwrap();
        let at = guarded.shop.test.db.read(guarded.shop.tenant, move |tx| vault::find_set_at(tx, &name)).await.unwrap();
        assert!(at.is_some_and(|at| at <= guarded.shop.test.clock.now()));
        guarded.shop.host.stop().await;
    }

    /// Two processes on one database: whoever comes first renews it, at the same moment or later, and the others use what
    /// came of it. A second renewal with the same would end the whole login there.
    async fn what_ends_is_renewed_once_by_all_processes(test: TestDb) {
        let guarded = Guarded::open(test).await;
        guarded.log_in().await;
        let other = guarded.shop.again(allowed()).await;
        assert_eq!(guarded.said_at(&other, "known there, too").await["ok"], true);
        for round in 1..=3 {
            guarded.shop.test.clock.advance(Duration::from_secs(3_595));
            let (one, two, three, four) = tokio::join!(
                guarded.said("a"), guarded.said_at(&other, "b"), guarded.said("c"), guarded.said_at(&other, "d")
            );
            assert!([&one, &two, &three, &four].iter().all(|said| said["ok"] == true), "{one} {two} {three} {four}");
            assert_eq!(guarded.service.count_grants("refresh_token"), round, "once in each round");
        }
        guarded.shop.test.clock.advance(Duration::from_secs(3_595));
        let (one, two) = (guarded.said_at(&other, "first").await, guarded.said("after it").await);
        assert!(one["ok"] == true && two["ok"] == true, "{one} {two}");
        assert_eq!(guarded.service.count_grants("refresh_token"), 4);
        assert_eq!(guarded.service.recorded_calls().len(), 15);
        let left = "SELECT COUNT(*) FROM connector_logins WHERE tenant_id = $1 AND kind = 'renewal'";
        let left = move |tx: &mut munshi_store::Tx<'_>| tx.one(left, munshi_store::params![], |row| row.get::<i64>(0));
        assert_eq!(guarded.shop.test.db.read(guarded.shop.tenant, left).await.unwrap(), 0, "nobody renews any more");
        other.host.stop().await;
        guarded.shop.host.stop().await;
    }

    /// Refused at the door though it should be good, and the renewal is refused too: somebody has to log in, and the
    /// call that was refused was not made. After that the very same act is done, once.
    async fn what_can_not_be_renewed_wants_a_person(test: TestDb) {
        let guarded = Guarded::open(test).await;
        guarded.log_in().await;
        guarded.service.revoke_all();
        let said = guarded.said("lost").await;
        assert_eq!((said["ok"].as_bool(), said["code"].as_str()), (Some(false), Some("login_needed")), "{said}");
        assert!(guarded.service.recorded_calls().is_empty());
        guarded.log_in().await;
        assert_eq!(guarded.said("found").await["ok"], true);
        assert_eq!(guarded.service.recorded_calls(), ["found"]);
        guarded.shop.host.stop().await;
    }
}
