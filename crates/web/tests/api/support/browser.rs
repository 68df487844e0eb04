//! A browser with its cookies, as an operator has one.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};

use axum::body::Body;
use axum::http::{HeaderMap, Request};
use munshi_identity::links::{self, LinkPurpose, NewOneTimeLink};
use munshi_identity::operators::{self, AddOperatorOutcome, NewOperator, OPERATORS, roles};
use munshi_identity::{Error, Role};
use munshi_store::{PlatformTx, across_tenants, params};
use munshi_test_support::administer_platform;
use munshi_types::{OperatorId, SystemRandom, TenantId};
use munshi_web::Peer;

use super::Installation;
use super::client::Reply;

pub(crate) const PASSWORD: &str = "correct horse battery";
const HOST: &str = "munshi.example";

pub(crate) struct Browser<'h> {
    house: &'h Installation,
    pub(crate) cookies: BTreeMap<String, String>,
    address: IpAddr,
}

impl Installation {
    pub(crate) fn browser(&self) -> Browser<'_> {
        Browser { house: self, cookies: BTreeMap::new(), address: IpAddr::from([198, 51, 100, 7]) }
    }

    /// A link's text.
    pub(crate) async fn link(&self, purpose: LinkPurpose) -> String {
        let (ids, now) = (self.ids.clone(), self.now());
        let unit = move |tx: &mut PlatformTx<'_>| -> Result<_, Error> {
            let life = if matches!(purpose, LinkPurpose::Invitation { .. }) {
                links::INVITATION_LIFE
            } else {
                links::LIFE
            };
            Ok(links::make(
                tx,
                &ids,
                &SystemRandom,
                &NewOneTimeLink { purpose: &purpose, made_by: "test", life },
                now,
            )?
            .1)
        };
        self.db.platform(OPERATORS).write(unit).await.unwrap().reveal().to_owned()
    }

    /// An account with a role, without a browser. Its e-mail is not proved.
    pub(crate) async fn add_operator(&self, email: &str, tenant: TenantId, role: Role) -> OperatorId {
        let (ids, now) = (self.ids.clone(), self.now());
        let new = NewOperator {
            email: email.to_owned(),
            name: email.split('@').next().unwrap().to_owned(),
            password: None,
            elsewhere: None,
            keeper: false,
            first: false,
            proved: false,
            home: Some(tenant),
        };
        let unit = move |tx: &mut PlatformTx<'_>| -> Result<_, Error> {
            let AddOperatorOutcome::Made(made) = operators::add(tx, &ids, &new, now)? else {
                panic!("the e-mail is taken")
            };
            administer_platform(tx, |tx| roles::grant(tx, made.id, tenant, role, now))?;
            Ok(made.id)
        };
        self.db.platform(OPERATORS).write(unit).await.unwrap()
    }

    pub(crate) async fn invitation(&self, email: &str, tenant: TenantId, role: Role) -> String {
        let place = links::InvitationScope::Workspace { tenant, role };
        self.link(LinkPurpose::Invitation { email: email.to_owned(), place }).await
    }

    /// The first operator, signed in.
    pub(crate) async fn keeper(&self) -> Browser<'_> {
        let mut browser = self.browser();
        let link = self.link(LinkPurpose::First).await;
        let form = [("email", "farid@house.example"), ("name", "Farid"), ("password", PASSWORD)];
        browser.post(&format!("/account/link/{link}"), &form).await.moved("/account");
        browser
    }

    /// Somebody's e-mail counts as theirs, and nothing of the account ends.
    pub(crate) async fn vouch(&self, email: &str) {
        let (email, now) = (email.to_owned(), self.now());
        let sql = "UPDATE operators SET proved_at = $2 WHERE email = $1";
        let unit = move |tx: &mut PlatformTx<'_>| tx.execute(across_tenants(sql), params![email, now]);
        assert_eq!(self.db.platform(OPERATORS).write(unit).await.unwrap(), 1);
    }

    /// Somebody with a role in a tenant, signed in.
    pub(crate) async fn operator(&self, email: &str, tenant: TenantId, role: Role) -> Browser<'_> {
        let mut browser = self.browser();
        let link = self.invitation(email, tenant, role).await;
        let name = email.split('@').next().unwrap();
        let form = [("name", name), ("password", PASSWORD)];
        browser.post(&format!("/account/link/{link}"), &form).await.moved("/account");
        browser
    }
}

impl<'h> Browser<'h> {
    /// The same at another address.
    pub(crate) fn at(mut self, last: u8) -> Self {
        self.address = IpAddr::from([198, 51, 100, last]);
        self
    }

    /// The same behind a proxy on this machine that tells nobody's address.
    pub(crate) fn behind_proxy(mut self) -> Self {
        self.address = IpAddr::from([127, 0, 0, 1]);
        self
    }

    pub(crate) async fn get(&mut self, path: &str) -> Reply {
        self.send("GET", path, &[], None).await
    }

    /// A form from one of our own pages.
    pub(crate) async fn post(&mut self, path: &str, form: &[(&str, &str)]) -> Reply {
        let ours = [("origin", format!("http://{HOST}"))];
        let ours: Vec<(&str, &str)> = ours.iter().map(|(name, value)| (*name, value.as_str())).collect();
        self.send("POST", path, &ours, Some(form)).await
    }

    /// A form with the token of this browser's own pages.
    pub(crate) async fn submit(&mut self, path: &str, form: &[(&str, &str)]) -> Reply {
        let token = self.token().await;
        let form: Vec<(&str, &str)> = form.iter().copied().chain([("form", token.as_str())]).collect();
        self.post(path, &form).await
    }

    pub(crate) async fn token(&mut self) -> String {
        let page = self.get("/account").await;
        assert_eq!(page.status, 200, "{}", page.text());
        page.between("name=\"form\" value=\"", "\"")
    }

    pub(crate) async fn sign_in(&mut self, email: &str, password: &str) -> Reply {
        self.post("/account/sign-in", &[("email", email), ("password", password)]).await
    }

    pub(crate) async fn is_in(&mut self) -> bool {
        self.get("/account").await.status == 200
    }

    pub(crate) async fn send(
        &mut self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        form: Option<&[(&str, &str)]>,
    ) -> Reply {
        let mut request = Request::builder().method(method).uri(path).header("host", HOST);
        if !self.cookies.is_empty() {
            let pairs: Vec<String> =
                self.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
            request = request.header("cookie", pairs.join("; "));
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let body = match form {
            Some(form) => {
                request = request.header("content-type", "application/x-www-form-urlencoded");
                Body::from(
                    form.iter()
                        .map(|(name, value)| format!("{name}={}", encoded(value)))
                        .collect::<Vec<_>>()
                        .join("&"),
                )
            }
            None => Body::empty(),
        };
        let mut request = request.body(body).unwrap();
        request.extensions_mut().insert(Peer(SocketAddr::new(self.address, 4000)));
        let reply = Reply::of(self.house.send(request).await).await;
        self.keep(&reply.headers);
        reply
    }

    fn keep(&mut self, headers: &HeaderMap) {
        for header in headers.get_all("set-cookie") {
            let text = header.to_str().unwrap();
            assert!(text.contains("; HttpOnly; SameSite=Lax") && text.contains("Path=/;"), "{text}");
            let (name, rest) = text.split_once('=').unwrap();
            let value = rest.split(';').next().unwrap();
            if value.is_empty() {
                self.cookies.remove(name);
            } else {
                self.cookies.insert(name.to_owned(), value.to_owned());
            }
        }
    }
}

pub(crate) fn encoded(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric();
    text.bytes()
        .map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}

impl Reply {
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// Asserts that the browser was sent on.
    #[track_caller]
    pub(crate) fn moved(&self, path: &str) {
        assert_eq!((self.status, self.header("location")), (303, path), "{}", self.text());
    }

    /// Asserts a page with these words.
    #[track_caller]
    pub(crate) fn says(&self, status: u16, words: &str) -> String {
        let text = self.text();
        assert_eq!(self.status, status, "{text}");
        assert!(text.contains(words), "`{words}` is not in {text}");
        assert!(self.header("content-type").starts_with("text/html"));
        let policy = self.header("content-security-policy");
        assert!(policy.contains("default-src 'none'; script-src 'self'; style-src 'self'"), "{policy}");
        assert!(policy.contains("frame-ancestors 'none'") && !policy.contains("unsafe"), "{policy}");
        assert_eq!(self.header("cache-control"), "no-store");
        assert_eq!(self.header("x-content-type-options"), "nosniff");
        text
    }

    #[track_caller]
    pub(crate) fn between(&self, before: &str, after: &str) -> String {
        let text = self.text();
        let (_, rest) = text.split_once(before).unwrap_or_else(|| panic!("`{before}` is not in {text}"));
        rest.split_once(after).unwrap().0.to_owned()
    }

    /// The one-time link that a page shows.
    pub(crate) fn shown_link(&self) -> String {
        let link = self.between("<pre class=\"once\">", "</pre>");
        link.strip_prefix("http://munshi.example").unwrap().to_owned()
    }
}
