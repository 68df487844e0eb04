//! Sign-in with another service: a certified provider that nobody here wrote.

use std::collections::BTreeMap;

use http_body_util::{BodyExt, Full};
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use munshi_identity::Role;
use munshi_test_support::TestDb;
use munshi_test_support::environment::openid_provider;
use munshi_types::{Clock, SystemClock};
use munshi_web::SignInServices;
use munshi_web::account::oidc::{OidcClient, OidcSettings};
use munshi_web::http_client::OutboundHttpClient;
use zeroize::Zeroizing;

use crate::api::support::{Browser, Installation, PASSWORD, Setup, account, encoded};

const SECRET: &str = "s3cret/+ and more";

fn settings() -> OidcSettings {
    OidcSettings {
        issuer: openid_provider(),
        client_id: "munshi".to_owned(),
        client_secret: Some(Zeroizing::new(SECRET.to_owned())),
        domains: Vec::new(),
        newcomers: None,
    }
}

async fn house(test: &TestDb, settings: OidcSettings) -> Installation {
    // The provider has the machine's own clock.
    test.clock.set(SystemClock.now());
    let oidc = Some(OidcClient::new(settings, OutboundHttpClient::new().unwrap()));
    let account = SignInServices { oidc, ..account() };
    Installation::open_with(test, [], Setup { account, ..Setup::default() }).await
}

/// One request to the provider, with the cookies it gave: status, where to go on, and the page.
async fn ask(
    cookies: &mut BTreeMap<String, String>,
    method: &str,
    url: &str,
    form: &str,
) -> (u16, String, String) {
    let client: Client<_, Full<bytes::Bytes>> = Client::builder(TokioExecutor::new()).build_http();
    let jar: Vec<String> = cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let request = axum::http::Request::builder()
        .method(method)
        .uri(url)
        .header("cookie", jar.join("; "))
        .header("content-type", "application/x-www-form-urlencoded")
        .body(Full::from(form.to_owned()))
        .unwrap();
    let (head, body) = client.request(request).await.unwrap().into_parts();
    for header in head.headers.get_all("set-cookie") {
        let (name, rest) = header.to_str().unwrap().split_once('=').unwrap();
        cookies.insert(name.to_owned(), rest.split(';').next().unwrap().to_owned());
    }
    let location = head.headers.get("location").map_or("", |value| value.to_str().unwrap()).to_owned();
    let text = String::from_utf8(body.collect().await.unwrap().to_bytes().to_vec()).unwrap();
    (head.status.as_u16(), location, text)
}

/// Signs in at the provider; gives the path with which the browser comes back.
async fn come_back(start: &str, login: &str) -> String {
    let provider = openid_provider();
    let (mut cookies, mut url) = (BTreeMap::new(), start.to_owned());
    for _ in 0..10 {
        let (status, location, page) = ask(&mut cookies, "GET", &url, "").await;
        url = if status == 303 {
            location
        } else {
            assert_eq!(status, 200, "{page}");
            let action = page.split("action=\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
            let form = format!("prompt=login&login={login}&password=x");
            ask(&mut cookies, "POST", &action, &form).await.1
        };
        if let Some(path) = url.strip_prefix("http://munshi.example") {
            return path.to_owned();
        }
        if url.starts_with('/') {
            url = format!("{provider}{url}");
        }
    }
    panic!("the provider leads in a circle");
}

async fn start(browser: &mut Browser<'_>, next: &str) -> String {
    let reply = browser.get(&format!("/account/oidc/start?next={}", encoded(next))).await;
    assert_eq!(reply.status, 303, "{}", reply.text());
    assert!(reply.header("location").starts_with(&openid_provider()));
    reply.header("location").to_owned()
}

async fn sign_in(browser: &mut Browser<'_>, login: &str, next: &str) -> crate::api::support::Reply {
    let there = start(browser, next).await;
    let back = come_back(&there, login).await;
    browser.get(&back).await
}

on_both! {
    async fn an_operator_comes_in_by_their_verified_email_and_then_by_who_they_are(test: TestDb) {
        let house = house(&test, settings()).await;
        house.operator("asha@shop.example", house.shop.tenant, Role::Owner).await;
        house.browser().get("/account/sign-in").await.says(200, "Sign in with 127.0.0.1");
        let mut browser = house.browser();
        sign_in(&mut browser, "asha", "/account/keys").await.moved("/account/keys");
        browser.get("/account/keys").await.says(200, "API keys of shop");
        assert!(!browser.cookies.contains_key("munshi_elsewhere"));
        browser.get("/account/sign-ins").await.says(200, "with another service");
        // Whoever chose the password before has not shown that the e-mail is theirs. The way on stays here.
        assert_eq!(house.browser().sign_in("asha@shop.example", PASSWORD).await.status, 401);
        sign_in(&mut house.browser(), "asha", "//evil.example").await.moved("/account");
        // Somebody without an account, or whose e-mail nobody has verified, is sent away.
        house.operator("unverified@shop.example", house.shop.tenant, Role::Owner).await;
        for login in ["nobody", "unverified"] {
            sign_in(&mut house.browser(), login, "/account").await.says(403, "No account here matches");
        }
        let told = "SELECT COUNT(*) FROM audit_entries WHERE tenant_id = $1 AND event = 'sign_in.began' AND payload LIKE '%oidc%'";
        assert_eq!(house.number(house.shop.tenant, told).await, 2);
    }

    async fn an_account_made_under_anothers_email_is_lost_when_they_come(test: TestDb) {
        let house = house(&test, settings()).await;
        let mut mallory = house.operator("mallory@other.example", house.other.tenant, Role::Owner).await;
        // She invites an e-mail that is not hers, and uses the link herself.
        let made = mallory.submit("/account/operators", &[("email", "asha@shop.example"), ("role", "viewer")]).await;
        let mut posing = house.browser();
        posing.post(&made.shown_link(), &[("name", "Asha"), ("password", PASSWORD)]).await.moved("/account");
        // Another business invites whoever has the e-mail. That account can't take it.
        let link = house.invitation("asha@shop.example", house.shop.tenant, Role::Owner).await;
        let path = format!("/account/link/{link}");
        posing.submit(&format!("{path}/accept"), &[]).await.says(403, "munshi operator prove");
        assert!(!posing.get("/account").await.text().contains("<strong>shop</strong>"));
        // Asha herself comes by the service: from now on nobody else is in the account.
        let mut asha = house.browser();
        sign_in(&mut asha, "asha", &path).await.moved("/account");
        asha.get("/account").await.says(200, "<strong>shop</strong>");
        assert!(!posing.is_in().await);
        assert_eq!(house.browser().sign_in("asha@shop.example", PASSWORD).await.status, 401);
        let told = "SELECT COUNT(*) FROM audit_entries WHERE tenant_id = $1 AND event = 'operator.proved'";
        assert_eq!(house.number(house.other.tenant, told).await, 1);
        // She stays in when she comes again.
        sign_in(&mut house.browser(), "asha", "/account").await.moved("/account");
        assert!(asha.is_in().await);
    }

    async fn a_recovery_by_an_owner_takes_the_proof_back(test: TestDb) {
        let house = house(&test, settings()).await;
        let mut mallory = house.operator("mallory@other.example", house.other.tenant, Role::Owner).await;
        house.operator("asha@shop.example", house.other.tenant, Role::Viewer).await;
        sign_in(&mut house.browser(), "asha", "/account").await.moved("/account");
        let page = mallory.get("/account/operators").await.text();
        let part = page.split("action=\"/account/operators/").find(|part| part.contains("Role: asha\"")).unwrap();
        let made = mallory.submit(&format!("/account/operators/{}/link", part.split('/').next().unwrap()), &[]).await;
        let mut posing = house.browser();
        posing.post(&made.shown_link(), &[("password", "another good password")]).await.moved("/account");
        let link = house.invitation("asha@shop.example", house.shop.tenant, Role::Owner).await;
        posing.submit(&format!("/account/link/{link}/accept"), &[]).await.says(403, "munshi operator prove");
    }

    async fn an_answer_is_good_in_the_browser_that_asked_and_once(test: TestDb) {
        let house = house(&test, settings()).await;
        house.operator("asha@shop.example", house.shop.tenant, Role::Owner).await;
        let mut asha = house.browser();
        let back = come_back(&start(&mut asha, "/account").await, "asha").await;
        // Another's browser: without a beginning, with its own, or with an altered state.
        house.browser().get(&back).await.says(403, "not started in this browser");
        let mut evil = house.browser();
        start(&mut evil, "/account").await;
        evil.get(&back).await.says(403, "not started in this browser");
        let state = back.split("state=").nth(1).unwrap().split('&').next().unwrap();
        asha.get(&back.replace(state, "x")).await.says(403, "not started in this browser");
        asha.get("/account/oidc/back?error=access_denied&state=x").await.says(403, "refused the sign-in");
        asha.get(&back).await.moved("/account");
        let mut again = house.browser();
        again.cookies = asha.cookies.clone();
        assert!(again.get(&back).await.status == 403, "a code is used once");
        // The code of another sign-in does not fit the verifier of this one.
        let (mut one, mut other) = (house.browser(), house.browser());
        let stolen = come_back(&start(&mut one, "/account").await, "asha").await;
        let own = come_back(&start(&mut other, "/account").await, "asha").await;
        let code = |path: &str| path.split("code=").nth(1).unwrap().split('&').next().unwrap().to_owned();
        other.get(&own.replace(&code(&own), &code(&stolen))).await.says(403, "refused the sign-in");
    }

    async fn changed_keys_are_found_and_a_client_without_a_secret_works(test: TestDb) {
        let open = OidcSettings { client_id: "public".to_owned(), client_secret: None, ..settings() };
        let house = house(&test, open).await;
        house.operator("asha@shop.example", house.shop.tenant, Role::Owner).await;
        sign_in(&mut house.browser(), "asha", "/account").await.moved("/account");
        ask(&mut BTreeMap::new(), "POST", &format!("{}/rotate", openid_provider()), "").await;
        // Keys are read again, but not for every stranger at once.
        test.clock.advance(std::time::Duration::from_secs(31));
        sign_in(&mut house.browser(), "asha", "/account").await.moved("/account");
    }

    async fn an_invitation_is_taken_with_another_service(test: TestDb) {
        let house = house(&test, settings()).await;
        let link = house.invitation("meera@shop.example", house.shop.tenant, Role::Staff).await;
        let path = format!("/account/link/{link}");
        house.browser().get(&path).await.says(200, "Join with 127.0.0.1");
        sign_in(&mut house.browser(), "asha", &path).await.says(403, "No account here matches");
        let mut meera = house.browser();
        sign_in(&mut meera, "meera", &path).await.moved("/account");
        let page = meera.get("/account").await.says(200, "<strong>shop</strong>");
        assert!(page.contains("meera &#60;b&#62;Devi") && page.contains("staff"), "{page}");
        house.browser().get(&path).await.says(410, "not good any more");
        // Without a password, none is guessed.
        assert_eq!(house.browser().sign_in("meera@shop.example", "").await.status, 401);
    }

    async fn domains_and_newcomers_are_as_the_settings_say(test: TestDb) {
        let shop = ("shop".parse().unwrap(), Role::Viewer);
        let open = house(&test, OidcSettings { newcomers: Some(shop), domains: vec!["Shop.example".to_owned()], ..settings() }).await;
        let mut browser = open.browser();
        sign_in(&mut browser, "newcomer", "/account").await.moved("/account");
        browser.get("/account").await.says(200, "viewer");
        sign_in(&mut open.browser(), "unverified", "/account").await.says(403, "domain");
    }

    async fn only_those_of_the_domain_come_in(test: TestDb) {
        let house = house(&test, OidcSettings { domains: vec!["other.example".to_owned()], ..settings() }).await;
        house.operator("asha@shop.example", house.shop.tenant, Role::Owner).await;
        sign_in(&mut house.browser(), "asha", "/account").await.says(403, "domain");
    }
}
