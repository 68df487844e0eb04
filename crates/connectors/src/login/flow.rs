//! A login in a browser: to the service and back.

use munshi_identity::Token;
use munshi_safety::audit::Actor;
use munshi_types::{ConnectorName, TenantId, Timestamp};
use serde::{Deserialize, Serialize};
use url::Url;
use zeroize::Zeroizing;

use super::challenge::Challenge;
use super::client::Client;
use super::discover::{self, Found, LASTING};
use super::finish::Returned;
use super::rows::{self, Kind};
use super::{LIFE, Logins, Who};
use crate::declared::{Entry, Given, Reached};
use crate::error::{Error, Result};
use crate::rows::current;

pub(super) const STATE: &str = "connector.login.state";
pub(super) const VERIFIER: &str = "connector.login.verifier";
/// What we ask for, in letters; more is nobody's wish.
pub(super) const LONGEST_SCOPE: usize = 2_000;

/// Where people come back to, and where our own document is, which some services know us by.
#[derive(Clone, Debug)]
pub struct Back {
    pub redirect: String,
    /// Only an address that everybody reaches, over https.
    pub document: Option<String>,
}

impl Back {
    /// At a server of ours that people open by this address.
    pub fn to(base: &str) -> Self {
        let base = base.trim_end_matches('/');
        let is_public = base.starts_with("https://");
        Self {
            redirect: format!("{base}/connectors/back"),
            document: is_public.then(|| format!("{base}/connectors/client.json")),
        }
    }
}

/// A login that was begun.
pub struct Begun {
    /// Where to send the person.
    pub to: Url,
    /// What whoever comes back must have: their browser keeps it, and nobody else.
    pub token: Token,
    pub expires_at: Timestamp,
    /// Who lets them in there, for people.
    pub issuer: String,
}

impl Begun {
    /// Whether somebody brings the answer to this very login.
    pub fn is_answered_by(&self, returned: &Returned) -> bool {
        self.token.derives(STATE, &returned.state)
    }
}

/// What a login is asked for with.
pub(super) struct Asked<'a> {
    pub(super) entry: &'a Entry,
    pub(super) found: &'a Found,
    pub(super) scope: Option<&'a str>,
    pub(super) back: &'a Back,
}

/// Who begins a login, and by which link.
pub(super) struct Beginning {
    pub(super) by: Actor,
    /// None where the command waits for the answer itself.
    pub(super) who: Option<Who>,
    /// Its hash: it is used up with the login.
    pub(super) link: Option<Vec<u8>>,
}

/// What a state stands for.
#[derive(Serialize, Deserialize)]
pub(super) struct Way {
    pub(super) found: Found,
    pub(super) client_id: String,
    pub(super) redirect: String,
    pub(super) scope: Option<String>,
    pub(super) by: Actor,
    #[serde(default)]
    pub(super) who: Option<Who>,
    #[serde(default)]
    pub(super) link: Option<Vec<u8>>,
}

impl Logins {
    /// Begins a login, for whoever sends the person there.
    pub async fn begin(
        &self,
        tenant: TenantId,
        connector: &ConnectorName,
        back: &Back,
        by: Actor,
    ) -> Result<Begun> {
        let beginning = Beginning { by, who: None, link: None };
        self.begin_for(tenant, connector.as_str(), back, &Challenge::default(), beginning).await
    }

    pub(super) async fn begin_for(
        &self,
        tenant: TenantId,
        connector: &str,
        back: &Back,
        said: &Challenge,
        Beginning { by, who, link }: Beginning,
    ) -> Result<Begun> {
        let (entry, url) = self.entry(tenant, connector).await?;
        let found = discover::discover(&self.0.fetch, &url, said).await?;
        let Some(authorize) = found.authorize.clone() else {
            return Err(Error::NoLogin(format!("{} lets people in by a code only: --device", found.issuer)));
        };
        let scope = self.scope(tenant, connector, &entry, &found, said).await?;
        let asked = Asked { entry: &entry, found: &found, scope: scope.as_deref(), back };
        let client = self.client(tenant, connector, &asked, &by).await?;
        let token = Token::random(self.0.random.as_ref());
        let state = token.derived(STATE);
        let mut to = self.0.fetch.address(&authorize)?;
        to.query_pairs_mut()
            .append_pair("response_type", "code")
            .append_pair("client_id", &client.id)
            .append_pair("redirect_uri", &back.redirect)
            .append_pair("state", &state)
            .append_pair("code_challenge", &token.challenge(VERIFIER))
            .append_pair("code_challenge_method", "S256")
            .append_pair("resource", &found.resource)
            // Never in silence: whoever follows a link is to see whom they let in.
            .append_pair("prompt", "consent");
        if let Some(scope) = &scope {
            to.query_pairs_mut().append_pair("scope", scope);
        }
        let (now, issuer) = (self.0.clock.now(), found.issuer.clone());
        let expires_at = now.plus(LIFE);
        let (client_id, redirect) = (client.id, back.redirect.clone());
        let way = Way { found, client_id, redirect, scope, by, who, link };
        let name = connector.to_owned();
        let put = move |tx: &mut munshi_store::Tx<'_>| {
            rows::put(tx, (Kind::State, &state), &name, &way, (now, expires_at))
        };
        self.0.db.write(tenant, put).await?;
        Ok(Begun { to, token, expires_at, issuer })
    }

    /// The connector as it is declared, where it can be logged in at.
    pub(super) async fn entry(&self, tenant: TenantId, connector: &str) -> Result<(Entry, Url)> {
        let (_, mut declared) = self.0.db.read(tenant, current).await?;
        let name: Option<ConnectorName> = connector.parse().ok();
        let entry = name.and_then(|name| declared.0.remove(&name));
        let missing = || Error::NoLogin(format!("there is no connector called {connector}"));
        let entry = entry.ok_or_else(missing)?;
        match entry.reached() {
            Ok(Reached::Http(url)) if entry.asks_for_login() => Ok((entry, url)),
            Ok(Reached::Http(_)) => {
                let given =
                    format!("{connector} has a token: change that, or take it out of connectors.toml");
                Err(Error::NoLogin(given))
            }
            Ok(_) => {
                Err(Error::NoLogin(format!("{connector} is not reached by a url: nobody can log in there")))
            }
            Err(what) => Err(Error::Invalid(what)),
        }
    }

    pub(super) async fn client(
        &self,
        tenant: TenantId,
        connector: &str,
        asked: &Asked<'_>,
        by: &Actor,
    ) -> Result<Client> {
        let Asked { entry, found, scope, back } = asked;
        if let Some(given) = self.given_client(tenant, entry, found).await? {
            return Ok(given);
        }
        if let (true, Some(address)) = (found.takes_documents, &back.document) {
            return Ok(Client::document(found, address));
        }
        let (known, now) = (self.known_client(tenant, connector).await?, self.0.clock.now());
        if let Some(known) = known.filter(|known| known.fits(found, (*scope, &back.redirect), now)) {
            // Whoever went there in vain may have been told that nobody knows us: that is not said to us.
            let name = connector.to_owned();
            let last = move |tx: &mut munshi_store::Tx<'_>| rows::last_in_vain::<Way>(tx, &name, now);
            let last = self.0.db.read(tenant, last).await?;
            if last.is_none_or(|last| last.client_id != known.id) {
                return Ok(known);
            }
        }
        let client = Client::register(&self.0.fetch, found, *scope, &back.redirect).await?;
        self.keep_client(tenant, connector, &client, by).await?;
        Ok(client)
    }

    async fn given_client(&self, tenant: TenantId, entry: &Entry, found: &Found) -> Result<Option<Client>> {
        let Some(id) = &entry.client.id else { return Ok(None) };
        let secret = match &entry.client.secret {
            None => None,
            Some(Given::Plain(text)) => Some(Zeroizing::new(text.clone())),
            Some(Given::Secret(name)) => {
                let opened = self.0.vault.open(tenant, name).await?;
                Some(Zeroizing::new(opened.expose().to_owned()))
            }
        };
        Ok(Some(Client::given(found, id.clone(), secret)))
    }

    /// The one that the login was begun with.
    pub(super) async fn same_client(
        &self,
        tenant: TenantId,
        connector: &str,
        entry: &Entry,
        way: &Way,
    ) -> Result<Client> {
        let given = self.given_client(tenant, entry, &way.found).await?;
        if let Some(given) = given.filter(|given| given.id == way.client_id) {
            return Ok(given);
        }
        let known = self.known_client(tenant, connector).await?;
        let is_same = |known: &Client| known.id == way.client_id && known.issuer == way.found.issuer;
        Ok(known.filter(is_same).unwrap_or_else(|| Client::document(&way.found, &way.client_id)))
    }

    /// What is asked for: as the operator says, or what the service wants beside what we have already.
    pub(super) async fn scope(
        &self,
        tenant: TenantId,
        connector: &str,
        entry: &Entry,
        found: &Found,
        said: &Challenge,
    ) -> Result<Option<String>> {
        let mut scopes: Vec<String> = Vec::new();
        let mut add = |text: &str| {
            for one in text.split_ascii_whitespace() {
                if !scopes.iter().any(|known| known == one) {
                    scopes.push(one.to_owned());
                }
            }
        };
        if entry.client.scopes.is_empty() {
            if let Some(more) = said.scope.as_deref().filter(|_| said.wants_more()) {
                let before = self.kept(tenant, connector).await?;
                let before = before.filter(|kept| kept.client.issuer == found.issuer);
                before.and_then(|kept| kept.scope).iter().for_each(|scope| add(scope));
                add(more);
            } else {
                found.scope.iter().for_each(|scope| add(scope));
            }
        } else {
            add(&entry.client.scopes.join(" "));
        }
        if found.lasts_by_scope {
            add(LASTING);
        }
        let scope = scopes.join(" ");
        if scope.len() > LONGEST_SCOPE {
            return Err(Error::NoLogin("it wants more than can be asked for: name client.scopes".to_owned()));
        }
        Ok((!scope.is_empty()).then_some(scope))
    }
}
