//! A login in a browser: to the service and back.

use munshi_identity::SecretToken;
use munshi_safety::audit::AuditActor;
use munshi_types::{ConnectorName, TenantId, Timestamp};
use serde::{Deserialize, Serialize};
use url::Url;
use zeroize::Zeroizing;

use super::callback::OAuthCallback;
use super::challenge::AuthChallenge;
use super::client::OAuthClient;
use super::discover::{self, LASTING, OAuthServerMetadata};
use super::rows::{self, LoginRowKind};
use super::{ConnectorLoginUser, ConnectorLogins, LIFE};
use crate::entries::{ConnectorEntries, ConnectorEntry, ConnectorTransport, MaybeSecret};
use crate::error::{Error, Result};
use crate::rows::load_entries;

pub(super) const STATE: &str = "connector.login.state";
pub(super) const VERIFIER: &str = "connector.login.verifier";
/// What we ask for, in letters; more is nobody's wish.
pub(super) const LONGEST_SCOPE: usize = 2_000;

/// Where people come back to, and where our own document is, which some services know us by.
#[derive(Clone, Debug)]
pub struct OAuthReturnUrls {
    pub redirect: String,
    /// Only an address that everybody reaches, over https.
    pub document: Option<String>,
}

impl OAuthReturnUrls {
    /// At a server of ours that people open by this address.
    pub fn from_base(base: &str) -> Self {
        let base = base.trim_end_matches('/');
        let is_public = base.starts_with("https://");
        Self {
            redirect: format!("{base}/connectors/back"),
            document: is_public.then(|| format!("{base}/connectors/client.json")),
        }
    }
}

/// A login that was begun.
pub struct PendingOAuthLogin {
    /// Where to send the person.
    pub to: Url,
    /// What whoever comes back must have: their browser keeps it, and nobody else.
    pub token: SecretToken,
    pub expires_at: Timestamp,
    /// Who lets them in there, for people.
    pub issuer: String,
}

impl PendingOAuthLogin {
    /// Whether somebody brings the answer to this very login.
    pub fn matches_callback(&self, returned: &OAuthCallback) -> bool {
        self.token.verify_derived(STATE, &returned.state)
    }
}

/// What a login is asked for with.
pub(super) struct OAuthAuthorizationRequest<'a> {
    pub(super) entry: &'a ConnectorEntry,
    pub(super) found: &'a OAuthServerMetadata,
    pub(super) scope: Option<&'a str>,
    pub(super) back: &'a OAuthReturnUrls,
}

/// Who begins a login, and by which link.
pub(super) struct OAuthInitiator {
    pub(super) by: AuditActor,
    /// None where the command waits for the answer itself.
    pub(super) who: Option<ConnectorLoginUser>,
    /// Its hash: it is used up with the login.
    pub(super) link: Option<Vec<u8>>,
}

/// What a state stands for.
#[derive(Serialize, Deserialize)]
pub(super) struct OAuthFlow {
    pub(super) found: OAuthServerMetadata,
    pub(super) client_id: String,
    pub(super) redirect: String,
    pub(super) scope: Option<String>,
    pub(super) by: AuditActor,
    #[serde(default)]
    pub(super) who: Option<ConnectorLoginUser>,
    #[serde(default)]
    pub(super) link: Option<Vec<u8>>,
}

impl ConnectorLogins {
    /// Begins a login, for whoever sends the person there.
    pub async fn begin(
        &self,
        tenant: TenantId,
        connector: &ConnectorName,
        back: &OAuthReturnUrls,
        by: AuditActor,
    ) -> Result<PendingOAuthLogin> {
        let beginning = OAuthInitiator { by, who: None, link: None };
        self.begin_for(tenant, connector.as_str(), back, &AuthChallenge::default(), beginning).await
    }

    pub(super) async fn begin_for(
        &self,
        tenant: TenantId,
        connector: &str,
        back: &OAuthReturnUrls,
        said: &AuthChallenge,
        OAuthInitiator { by, who, link }: OAuthInitiator,
    ) -> Result<PendingOAuthLogin> {
        let (entry, url) = self.load_entry(tenant, connector).await?;
        let found = discover::discover(&self.0.fetch, &url, said).await?;
        let Some(authorize) = found.authorize.clone() else {
            return Err(Error::NoLogin(format!("{} supports only device login: use --device", found.issuer)));
        };
        let scope = self.resolve_scope(tenant, connector, &entry, &found, said).await?;
        let asked = OAuthAuthorizationRequest { entry: &entry, found: &found, scope: scope.as_deref(), back };
        let client = self.resolve_client(tenant, connector, &asked, &by).await?;
        let token = SecretToken::random(self.0.random.as_ref());
        let state = token.derive(STATE);
        let mut to = self.0.fetch.parse_url(&authorize)?;
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
        let way = OAuthFlow { found, client_id, redirect, scope, by, who, link };
        let name = connector.to_owned();
        let put = move |tx: &mut munshi_store::Tx<'_>| {
            rows::insert(tx, (LoginRowKind::State, &state), &name, &way, (now, expires_at))
        };
        self.0.db.write(tenant, put).await?;
        Ok(PendingOAuthLogin { to, token, expires_at, issuer })
    }

    /// The connector as it is declared, where it can be logged in at.
    pub(super) async fn load_entry(
        &self,
        tenant: TenantId,
        connector: &str,
    ) -> Result<(ConnectorEntry, Url)> {
        let (_, declared) = self.0.db.read(tenant, load_entries).await?;
        find_login_entry(declared, connector)
    }

    pub(super) async fn resolve_client(
        &self,
        tenant: TenantId,
        connector: &str,
        asked: &OAuthAuthorizationRequest<'_>,
        by: &AuditActor,
    ) -> Result<OAuthClient> {
        let OAuthAuthorizationRequest { entry, found, scope, back } = asked;
        if let Some(given) = self.find_configured_client(tenant, entry, found).await? {
            return Ok(given);
        }
        if let (true, Some(address)) = (found.takes_documents, &back.document) {
            return Ok(OAuthClient::from_document(found, address));
        }
        let (known, now) = (self.find_client(tenant, connector).await?, self.0.clock.now());
        if let Some(known) = known.filter(|known| known.is_reusable(found, (*scope, &back.redirect), now)) {
            // Whoever went there in vain may have been told that nobody knows us: that is not said to us.
            let name = connector.to_owned();
            let last =
                move |tx: &mut munshi_store::Tx<'_>| rows::find_last_abandoned::<OAuthFlow>(tx, &name, now);
            let last = self.0.db.read(tenant, last).await?;
            if last.is_none_or(|last| last.client_id != known.id) {
                return Ok(known);
            }
        }
        let client = OAuthClient::register(&self.0.fetch, found, *scope, &back.redirect).await?;
        self.store_client(tenant, connector, &client, by).await?;
        Ok(client)
    }

    async fn find_configured_client(
        &self,
        tenant: TenantId,
        entry: &ConnectorEntry,
        found: &OAuthServerMetadata,
    ) -> Result<Option<OAuthClient>> {
        let Some(id) = &entry.client.id else { return Ok(None) };
        let secret = match &entry.client.secret {
            None => None,
            Some(MaybeSecret::Plain(text)) => Some(Zeroizing::new(text.clone())),
            Some(MaybeSecret::Secret(name)) => {
                let opened = self.0.vault.open(tenant, name).await?;
                Some(Zeroizing::new(opened.expose().to_owned()))
            }
        };
        Ok(Some(OAuthClient::from_config(found, id.clone(), secret)))
    }

    /// The one that the login was begun with.
    pub(super) async fn load_flow_client(
        &self,
        tenant: TenantId,
        connector: &str,
        entry: &ConnectorEntry,
        way: &OAuthFlow,
    ) -> Result<OAuthClient> {
        let given = self.find_configured_client(tenant, entry, &way.found).await?;
        if let Some(given) = given.filter(|given| given.id == way.client_id) {
            return Ok(given);
        }
        let known = self.find_client(tenant, connector).await?;
        let is_same = |known: &OAuthClient| known.id == way.client_id && known.issuer == way.found.issuer;
        Ok(known.filter(is_same).unwrap_or_else(|| OAuthClient::from_document(&way.found, &way.client_id)))
    }

    /// What is asked for: as the operator says, or what the service wants beside what we have already.
    pub(super) async fn resolve_scope(
        &self,
        tenant: TenantId,
        connector: &str,
        entry: &ConnectorEntry,
        found: &OAuthServerMetadata,
        said: &AuthChallenge,
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
            if let Some(more) = said.scope.as_deref().filter(|_| said.needs_more_scope()) {
                let before = self.find_login(tenant, connector).await?;
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
            return Err(Error::NoLogin("the requested scopes are too long: set client.scopes".to_owned()));
        }
        Ok((!scope.is_empty()).then_some(scope))
    }
}

/// One of these connectors, where it can be logged in at.
pub(super) fn find_login_entry(
    mut declared: ConnectorEntries,
    connector: &str,
) -> Result<(ConnectorEntry, Url)> {
    let name: Option<ConnectorName> = connector.parse().ok();
    let entry = name.and_then(|name| declared.0.remove(&name));
    let entry = entry.ok_or_else(|| Error::NoLogin(format!("connector {connector} not found")))?;
    match entry.resolve_transport() {
        Ok(ConnectorTransport::Http(url)) if entry.asks_for_login() => Ok((entry, url)),
        Ok(ConnectorTransport::Http(_)) => {
            let given = format!("{connector} uses a token: change it, or remove it from connectors.toml");
            Err(Error::NoLogin(given))
        }
        Ok(_) => Err(Error::NoLogin(format!("{connector} has no url, so it supports no login"))),
        Err(what) => Err(Error::Invalid(what)),
    }
}
