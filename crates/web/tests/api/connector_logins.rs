//! Letting us into a connector's service by a link: with a certified authorization server and the official SDK's own
//! server behind it.

use std::collections::BTreeMap;
use std::io::Write;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use munshi_connectors::{AllowedHosts, ConnectorLoginParts, ConnectorLogins, entries, rows};
use munshi_identity::Role;
use munshi_safety::audit::{AuditActor, AuditActorKind};
use munshi_safety::vault::{MasterKeySource, SecretRef, Vault};
use munshi_store::{PlatformTx, Tx, tenants};
use munshi_test_support::database::MORNING;
use munshi_test_support::guarded_service::{Browser as Elsewhere, DeviceCodeSupport, GuardedService};
use munshi_test_support::{PATIENCE, TestDb, administer_platform};
use munshi_types::{Clock, FakeClock, PersonId, SystemRandom, TenantId, TenantStatus};
use munshi_web::{SignInServices, telemetry};
use serde_json::Value;

use crate::api::support::{Browser, Installation, Reply, Setup, account};

const LOGGED_IN: &str =
    "SELECT COUNT(*) FROM audit_entries WHERE tenant_id = $1 AND event = 'connector.logged_in'";
const NOT_BEGUN: &str = "not started in this browser";
pub(crate) const ANEW: &str = "start it again";
const BACK: &str = "/connectors/back";
const OVER: &str = "This link was used or has expired";
const ASKED: &str = "Let Munshi use far?";
pub(crate) const OWNERS: [&str; 2] = ["asha@shop.example", "ravi@other.example"];

/// Every line that this process logs, of whatever level.
#[derive(Clone, Default)]
struct Logged(Arc<Mutex<Vec<u8>>>);

impl Write for Logged {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// The first who asks starts it, for all threads.
fn logged() -> Logged {
    static LOGGED: OnceLock<Logged> = OnceLock::new();
    let start = || {
        let logged = Logged::default();
        let options = telemetry::TelemetryOptions {
            filter: "trace".to_owned(),
            ..telemetry::TelemetryOptions::default()
        };
        let clock = Arc::new(FakeClock::new(MORNING));
        let (subscriber, guard) = telemetry::subscriber(&options, clock, logged.clone()).unwrap();
        std::mem::forget(guard);
        tracing::subscriber::set_global_default(subscriber).unwrap();
        logged
    };
    LOGGED.get_or_init(start).clone()
}

pub(crate) struct House {
    pub(crate) installation: Installation,
    logins: ConnectorLogins,
    vault: Vault,
    pub(crate) service: GuardedService,
    base: String,
    /// Of an owner of each business, who is signed in.
    owners: BTreeMap<TenantId, BTreeMap<String, String>>,
}

impl House {
    /// Both businesses have the service as a connector.
    pub(crate) async fn open(test: &TestDb, public_url: Option<&str>) -> Self {
        let folder = test.place.folder();
        let service = GuardedService::start(&folder, DeviceCodeSupport::Given);
        let source = MasterKeySource::File(folder.join("vault.key"));
        let random = Arc::new(SystemRandom);
        let vault = Vault::start(test.db.clone(), source, random.clone(), test.ids.clone(), test.clock.now());
        let vault = vault.await.unwrap();
        let parts = ConnectorLoginParts {
            db: test.db.clone(),
            vault: vault.clone(),
            allowed: AllowedHosts::new(["127.0.0.1".to_owned()]),
            clock: test.clock.clone(),
            random,
            ids: test.ids.clone(),
            timeout: PATIENCE,
        };
        let logins = ConnectorLogins::new(parts).unwrap();
        let account = SignInServices { public_url: public_url.map(str::to_owned), ..account() };
        let setup = Setup { account, logins: Some(logins.clone()), ..Setup::default() };
        let installation = Installation::open_with(test, [], setup).await;
        let declared = entries::parse(&format!("[far]\nurl = \"{}\"\n", service.url)).unwrap();
        for tenant in [installation.shop.tenant, installation.other.tenant] {
            let (declared, now) = (declared.clone(), test.clock.now());
            let put = move |tx: &mut Tx<'_>| rows::save_entries(tx, &declared, "test", "", now).map(drop);
            test.db.write(tenant, put).await.unwrap();
        }
        let base = public_url.unwrap_or("http://munshi.example").to_owned();
        let mut owners = BTreeMap::new();
        for (tenant, email) in [installation.shop.tenant, installation.other.tenant].into_iter().zip(OWNERS) {
            owners.insert(tenant, installation.operator(email, tenant, Role::Owner).await.cookies);
        }
        Self { installation, logins, vault, service, base, owners }
    }

    /// The browser of a business's owner.
    pub(crate) fn owner(&self, tenant: TenantId) -> Browser<'_> {
        let mut browser = self.installation.browser();
        browser.cookies = self.owners[&tenant].clone();
        browser
    }

    /// The path of a link for somebody of a tenant.
    pub(crate) async fn link(&self, tenant: TenantId) -> String {
        self.link_for(tenant, None).await
    }

    pub(crate) async fn link_for(&self, tenant: TenantId, person: Option<PersonId>) -> String {
        let by = AuditActor::new(AuditActorKind::Operator, "farid");
        let link = self.logins.create_link(tenant, "far", &self.base, (by, person)).await.unwrap();
        link.strip_prefix(&self.base).unwrap().to_owned()
    }

    /// Follows a link here and says yes; gives where it leads.
    pub(crate) async fn begin(&self, browser: &mut Browser<'_>, link: &str) -> String {
        let page = browser.get(link).await;
        page.says(200, ASKED);
        let form = page.between("name=\"form\" value=\"", "\"");
        let going = browser.post(link.split('?').next().unwrap(), &[("form", &form)]).await;
        going.says(200, "On to http://127.0.0.1:");
        let to = going.between("content=\"0; url=", "\"").replace("&#38;", "&");
        assert!(to.starts_with(&format!("{}/auth?", self.service.issuer)), "nobody is led elsewhere: {to}");
        to
    }

    /// Consents there, or says no; gives the path with which the browser comes back.
    pub(crate) fn come_back(&self, to: &str) -> String {
        let back = format!("{}/connectors/back?", self.base);
        let (at, seen) = Elsewhere::default().follow(to, &back);
        at.strip_prefix(&self.base).unwrap_or_else(|| panic!("{at}: {}", seen.text)).to_owned()
    }

    /// The same in one: a browser that has a good answer in hand.
    pub(crate) async fn returning(&self, tenant: TenantId) -> (Browser<'_>, String) {
        let mut browser = self.owner(tenant);
        let to = self.begin(&mut browser, &self.link(tenant).await).await;
        let back = self.come_back(&to);
        (browser, back)
    }

    /// Comes back, and is in. The page says so as often as it is loaded, and its address holds nothing that was brought.
    pub(crate) async fn is_in(&self, browser: &mut Browser<'_>, back: &str) -> Reply {
        browser.get(back).await.moved(BACK);
        browser.get(BACK).await.says(200, "Signed in at far");
        browser.get(BACK).await
    }

    pub(crate) async fn kept(&self, tenant: TenantId) -> Option<Value> {
        let name = SecretRef::from_name("connector/far/login").unwrap();
        let secret = self.vault.open(tenant, &name).await.ok()?;
        Some(serde_json::from_str(secret.expose()).unwrap())
    }

    pub(crate) fn shop(&self) -> TenantId {
        self.installation.shop.tenant
    }
}

/// One value of an address.
fn part(address: &str, name: &str) -> String {
    let query = address.split_once('?').unwrap().1;
    let pairs: BTreeMap<String, String> = serde_urlencoded::from_str(query).unwrap();
    pairs[name].clone()
}

/// The same address with another value, or without it.
fn with(address: &str, name: &str, value: Option<&str>) -> String {
    let (path, query) = address.split_once('?').unwrap();
    let pairs: Vec<(String, String)> = serde_urlencoded::from_str(query).unwrap();
    let mut pairs: Vec<_> = pairs.into_iter().filter(|(known, _)| known != name).collect();
    pairs.extend(value.map(|value| (name.to_owned(), value.to_owned())));
    format!("{path}?{}", serde_urlencoded::to_string(pairs).unwrap())
}

on_both! {
    /// From the link to what opens the door, in the reader's own language; and nothing secret is told on the way.
    async fn a_link_leads_there_and_back(test: TestDb) {
        let logged = logged();
        let house = House::open(&test, None).await;
        let link = house.link(house.shop()).await;
        let mut browser = house.owner(house.shop());
        let reply = browser.send("GET", &link, &[("accept-language", "hi-IN, en;q=0.5")], None).await;
        let page = reply.says(200, "क्या Munshi far इस्तेमाल करे?");
        let server = house.service.url.strip_suffix("/mcp").unwrap();
        assert!(page.contains("shop") && page.contains(server), "whose, and where: {page}");
        for (name, value) in [("referrer-policy", "same-origin"), ("x-frame-options", "DENY")] {
            assert_eq!(reply.header(name), value, "{name}");
        }
        let to = house.begin(&mut browser, &link).await;
        assert_eq!(part(&to, "redirect_uri"), "http://munshi.example/connectors/back");
        assert_eq!((part(&to, "code_challenge_method").as_str(), part(&to, "resource")), ("S256", house.service.url.clone()));
        let cookie = browser.cookies["munshi_connector"].clone();
        let back = house.come_back(&to);
        browser.get(&back).await.moved(BACK);
        let page = browser.send("GET", BACK, &[("accept-language", "hi-IN, en;q=0.5")], None).await;
        let page = page.says(200, "far में साइन इन हो गया");
        assert!(page.contains("<html lang=\"hi\"") && page.contains("चैट पर लौट सकते हैं"), "{page}");
        browser.get(&back).await.says(403, ANEW);
        house.installation.browser().get(BACK).await.says(403, NOT_BEGUN);

        let kept = house.kept(house.shop()).await.unwrap();
        assert_eq!(house.service.count_grants("authorization_code"), 1);
        assert_eq!(house.installation.number(house.shop(), LOGGED_IN).await, 1);
        assert!(house.kept(house.installation.other.tenant).await.is_none(), "another tenant has none of it");
        browser.get(&link).await.says(404, OVER);

        let (access, refresh) = (kept["access"].as_str().unwrap(), kept["refresh"].as_str().unwrap());
        let (state, code) = (part(&back, "state"), part(&back, "code"));
        let log = String::from_utf8(logged.0.lock().unwrap().clone()).unwrap();
        assert!(log.contains("/connectors/back"), "there is a log: {log}");
        let told = "SELECT COUNT(*) FROM audit_entries WHERE tenant_id = $1";
        assert!(house.installation.number(house.shop(), told).await > 0);
        for secret in [access, refresh, &state, &code, &cookie, link.rsplit('/').next().unwrap()] {
            assert!(secret.len() > 20 && !page.contains(secret), "{secret} is in the page");
            assert!(!log.contains(secret), "{:?}", log.lines().find(|line| line.contains(secret)));
        }
    }

    async fn only_a_link_that_is_good_leads_there(test: TestDb) {
        let house = House::open(&test, None).await;
        let mut browser = house.owner(house.shop());
        let forged = ["x".repeat(43), "x".to_owned(), "..%2Fback".to_owned(), "%00".to_owned(), "x".repeat(5_000)];
        for token in forged {
            let page = browser.get(&format!("/connectors/login/{token}")).await.says(404, OVER);
            assert!(!page.contains("xxxx"), "{page}");
        }
        assert!(!browser.cookies.contains_key("munshi_connector"));
        let hindi = [("accept-language", "hi")];
        let page = browser.send("GET", "/connectors/login/x", &hindi, None).await.says(404, "lang=\"hi\"");
        assert!(page.contains("यह लिंक इस्तेमाल हो चुका है") && !page.contains(OVER), "{page}");

        // A link of another tenant leads to that tenant's login, and to no other's.
        let (ours, other) = (house.link(house.shop()).await, house.installation.other.tenant);
        let (mut theirs, back) = house.returning(other).await;
        house.is_in(&mut theirs, &back).await;
        assert!(house.kept(other).await.is_some() && house.kept(house.shop()).await.is_none());
        assert_eq!(house.installation.number(house.shop(), LOGGED_IN).await, 0);
        // Ours is still good, and twice: somebody may have closed the page. Whoever is in first closes it.
        house.begin(&mut browser, &ours).await;
        let to = house.begin(&mut browser, &ours).await;
        house.is_in(&mut browser, &house.come_back(&to)).await;
        browser.get(&ours).await.says(404, OVER);

        let (old, resting) = (house.link(house.shop()).await, house.link(other).await);
        let rest = move |tx: &mut PlatformTx<'_>| administer_platform(tx, |tx| tenants::set_status(tx, other, TenantStatus::Paused));
        test.db.platform(tenants::TENANTS).write(rest).await.unwrap();
        house.owner(other).get(&resting).await.says(404, OVER);
        test.clock.advance(Duration::from_secs(24 * 3600 - 1));
        house.begin(&mut browser, &old).await;
        test.clock.advance(Duration::from_secs(1));
        browser.get(&old).await.says(404, OVER);
    }

    async fn an_answer_is_good_in_the_browser_that_asked_and_once(test: TestDb) {
        let house = House::open(&test, None).await;
        let (mut browser, back) = house.returning(house.shop()).await;
        // A browser without a beginning, and one with its own, of whichever tenant.
        let page = house.installation.browser().get(&back).await.says(403, NOT_BEGUN);
        assert!(!page.contains(&part(&back, "code")), "{page}");
        let (mut evil, own) = house.returning(house.installation.other.tenant).await;
        evil.get(&back).await.says(403, ANEW);
        let lured = with(&own, "state", Some(&part(&back, "state")));
        evil.get(&lured).await.says(403, ANEW);
        // A state that is altered, twice there, or not at all.
        for bad in [with(&back, "state", Some(&"x".repeat(43))), with(&back, "state", None)] {
            browser.get(&bad).await.says(403, ANEW);
        }
        browser.get(&format!("{back}&state=x")).await.says(403, NOT_BEGUN);
        browser.get(BACK).await.says(403, NOT_BEGUN);
        assert!(house.kept(house.shop()).await.is_none() && house.service.count_grants("authorization_code") == 0);
        // Nothing of that has used it up. Two at once: one is in.
        let mut again = house.installation.browser();
        again.cookies = browser.cookies.clone();
        let (one, two) = tokio::join!(browser.get(&back), again.get(&back));
        let mut both = [one.status, two.status];
        both.sort_unstable();
        assert_eq!(both, [303, 403], "{} {}", one.text(), two.text());
        let mut later = house.installation.browser();
        later.cookies = again.cookies.clone();
        assert_eq!(later.get(&back).await.status, 403);
        assert_eq!(house.installation.number(house.shop(), LOGGED_IN).await, 1);
        // A quarter of an hour is over.
        let (mut late, back) = house.returning(house.shop()).await;
        test.clock.advance(Duration::from_secs(15 * 60));
        late.get(&back).await.says(403, ANEW);
    }

    /// An answer of another authorization server, or of nobody; the code of another login.
    async fn an_answer_is_of_whoever_was_asked(test: TestDb) {
        let house = House::open(&test, None).await;
        for (iss, words) in [(Some("https://evil.example"), "another issuer"), (None, "does not name")] {
            let (mut browser, back) = house.returning(house.shop()).await;
            browser.get(&with(&back, "iss", iss)).await.says(403, words);
            browser.get(&back).await.says(403, ANEW);
        }
        let ((_, stolen), (mut browser, own)) =
            (house.returning(house.shop()).await, house.returning(house.shop()).await);
        let mixed = with(&own, "code", Some(&part(&stolen, "code")));
        browser.get(&mixed).await.says(403, "invalid_grant");
        assert!(house.kept(house.shop()).await.is_none(), "a stolen code opens nothing");
    }

    async fn a_no_is_told_and_the_link_still_leads_there(test: TestDb) {
        let house = House::open(&test, None).await;
        let (mut lured, back) = house.returning(house.shop()).await;
        let marked = with(&with(&back, "code", None), "error", Some("<script>x</script>"));
        let page = lured.get(&marked).await.says(403, "refused the login");
        assert!(!page.contains("<script>x"), "{page}");
        house.service.deny_all();
        let link = house.link(house.shop()).await;
        let mut browser = house.owner(house.shop());
        let to = house.begin(&mut browser, &link).await;
        let back = house.come_back(&to);
        assert_eq!(part(&back, "error"), "access_denied");
        browser.get(&back).await.says(403, "refused the login: access_denied");
        let to = house.begin(&mut browser, &link).await;
        let reply = browser.send("GET", &house.come_back(&to), &[("accept-language", "hi")], None).await;
        let page = reply.says(403, "साइन इन नहीं हुआ");
        assert!(page.contains("<html lang=\"hi\"") && !page.contains("मालिक"), "no owner can change it: {page}");
        assert!(house.kept(house.shop()).await.is_none());
        assert_eq!(house.installation.number(house.shop(), LOGGED_IN).await, 0);
    }

    /// Whatever else stands in an address: one comes back to the address that the operator set, and stays there.
    async fn nobody_is_led_elsewhere(test: TestDb) {
        let house = House::open(&test, Some("https://shop.example")).await;
        let mut browser = house.owner(house.shop());
        let link = house.link(house.shop()).await;
        let evil = [("x-forwarded-host", "evil.example"), ("forwarded", "host=evil.example"), ("origin", "https://shop.example")];
        let page = browser.send("GET", &format!("{link}?next=//evil.example"), &evil, None).await;
        let form = page.between("name=\"form\" value=\"", "\"");
        let link = format!("{link}?next=//evil.example&redirect_uri=https://evil.example");
        let reply = browser.send("POST", &link, &evil, Some(&[("form", &form)])).await;
        let to = reply.between("content=\"0; url=", "\"").replace("&#38;", "&");
        let cookie = reply.header("set-cookie");
        assert_eq!(part(&to, "redirect_uri"), "https://shop.example/connectors/back");
        assert!(to.starts_with(&house.service.issuer) && !reply.text().contains("evil"), "{to}");
        assert!(cookie.starts_with("__Host-munshi_connector=") && cookie.ends_with("; Secure"), "{cookie}");
        let back = format!("{}&next=//evil.example", house.come_back(&to));
        let reply = house.is_in(&mut browser, &back).await;
        assert!(!reply.text().contains("evil"));

        let document = house.installation.get("/connectors/client.json", "").await;
        assert_eq!(document.header("content-type"), "application/json");
        let document = document.is(200);
        assert_eq!(document["client_id"], "https://shop.example/connectors/client.json");
        assert_eq!(document["redirect_uris"], serde_json::json!(["https://shop.example/connectors/back"]));
        assert_eq!(document["token_endpoint_auth_method"], "none");
    }

    /// Where no service could fetch it, there is no document; and without logins there is no way in.
    async fn what_is_not_there_is_not_found(test: TestDb) {
        let plain = Installation::open(&test, []).await;
        plain.get("/connectors/client.json", "").await.refused(404, "not_found");
        plain.browser().get("/connectors/login/x").await.says(404, "Connector sign-in is not set up");
        plain.browser().get("/connectors/back?state=x").await.says(403, NOT_BEGUN);
    }
}
