//! Links that lead a person to a connector's service, from wherever they are met. A link opens nothing by itself: whoever
//! follows it has to be somebody who may let us in.

use munshi_identity::SecretToken;
use munshi_safety::audit::AuditActor;
use munshi_store::{PlatformTx, Tx};
use munshi_types::{PersonId, TenantId, Timestamp};
use serde::{Deserialize, Serialize};

use super::browser_verification::PendingBrowser;
use super::challenge::AuthChallenge;
use super::flow::{OAuthInitiator, OAuthReturnUrls, PendingOAuthLogin, find_login_entry};
use super::rows::{self, LoginRowKind};
use super::{ConnectorLoginUser, ConnectorLogins, LINK_LIFE};
use crate::error::{Error, Result};
use crate::rows::{CONNECTORS, load_entries};

/// Where a link leads.
#[derive(Clone, Debug)]
pub struct ConnectorLoginLink {
    pub tenant: TenantId,
    pub connector: String,
    /// Where that is, for people.
    pub server: String,
    /// Whom it was sent to; nobody where an operator asked for it.
    pub to: Option<PersonId>,
    pub(super) hash: Vec<u8>,
    pub(super) waiting: Vec<PendingBrowser>,
    by: AuditActor,
    said: AuthChallenge,
}

/// What is kept of a link.
#[derive(Serialize, Deserialize)]
pub(super) struct ConnectorLoginLinkBody {
    /// Who asked for it.
    by: AuditActor,
    #[serde(default)]
    pub(super) to: Option<PersonId>,
    #[serde(default)]
    said: AuthChallenge,
    /// Browsers in which it was opened by somebody who has not shown yet who they are, or has.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) waiting: Vec<PendingBrowser>,
}

/// Makes a link for somebody; gives what it ends with. It is good for one login, within a day.
pub(crate) fn insert_link(
    tx: &mut Tx<'_>,
    connector: &str,
    (by, to): (AuditActor, Option<PersonId>),
    said: AuthChallenge,
    (random, now): (&dyn munshi_types::Random, Timestamp),
) -> Result<SecretToken> {
    let token = SecretToken::random(random);
    let body = ConnectorLoginLinkBody { by, to, said, waiting: Vec::new() };
    rows::insert(tx, (LoginRowKind::Link, token.reveal()), connector, &body, (now, now.plus(LINK_LIFE)))?;
    Ok(token)
}

/// A link at a server of ours, in the transaction of whoever wants it.
pub fn add_link(
    tx: &mut Tx<'_>,
    connector: &str,
    base: &str,
    whose: (AuditActor, Option<PersonId>),
    chance: (&dyn munshi_types::Random, Timestamp),
) -> Result<String> {
    let (_, declared) = load_entries(tx)?;
    find_login_entry(declared, connector)?;
    let token = insert_link(tx, connector, whose, AuthChallenge::default(), chance)?;
    Ok(build_link_url(base, &token))
}

/// Whether somebody has logged in since a link was made that ends so.
pub fn is_link_used(tx: &mut Tx<'_>, link: &str) -> Result<bool> {
    rows::is_used(tx, &rows::hash(link.rsplit('/').next().unwrap_or_default()))
}

impl ConnectorLogins {
    /// A link at a server of ours that people open by this address: for a person, or whoever looks after the tenant.
    pub async fn create_link(
        &self,
        tenant: TenantId,
        connector: &str,
        base: &str,
        (by, to): (AuditActor, Option<PersonId>),
    ) -> Result<String> {
        let (name, random, now) = (connector.to_owned(), self.0.random.clone(), self.0.clock.now());
        let base = base.to_owned();
        let offered = move |tx: &mut Tx<'_>| add_link(tx, &name, &base, (by, to), (random.as_ref(), now));
        self.0.db.write(tenant, offered).await
    }

    /// Where a link leads; none where it is over. Looking changes nothing.
    pub async fn find_link(&self, token: &SecretToken) -> Result<Option<ConnectorLoginLink>> {
        let (text, now) = (token.reveal().to_owned(), self.0.clock.now());
        let find = move |tx: &mut PlatformTx<'_>| {
            rows::find::<ConnectorLoginLinkBody>(tx, (LoginRowKind::Link, &text), now)
        };
        let Some(found) = self.0.db.platform(CONNECTORS).read(find).await? else { return Ok(None) };
        let rows::LoginRow { tenant, connector, body: ConnectorLoginLinkBody { by, to, said, waiting } } =
            found;
        let server = match self.load_entry(tenant, &connector).await {
            Ok((_, url)) => url.origin().ascii_serialization(),
            // Nobody logs in there any more.
            Err(Error::NoLogin(_) | Error::Invalid(_)) => return Ok(None),
            Err(error) => return Err(error),
        };
        Ok(Some(ConnectorLoginLink {
            tenant,
            connector,
            server,
            to,
            hash: rows::hash(token.reveal()),
            waiting,
            by,
            said,
        }))
    }

    /// Begins the login that a link leads to, for somebody who may: whoever asks has seen to that.
    pub async fn begin_from_link(
        &self,
        led: ConnectorLoginLink,
        back: &OAuthReturnUrls,
        who: ConnectorLoginUser,
    ) -> Result<PendingOAuthLogin> {
        let ConnectorLoginLink { tenant, connector, hash, by, said, .. } = led;
        let beginning = OAuthInitiator { by: who.to_audit_actor(by), who: Some(who), link: Some(hash) };
        self.begin_for(tenant, &connector, back, &said, beginning).await
    }

    /// Whether somebody has logged in since a link was made that ends so.
    pub async fn is_link_used(&self, tenant: TenantId, link: &str) -> Result<bool> {
        let link = link.to_owned();
        self.0.db.read(tenant, move |tx| is_link_used(tx, &link)).await
    }

    /// When somebody last logged in at a connector, or the login was renewed.
    pub async fn find_login_time(&self, tenant: TenantId, connector: &str) -> Result<Option<Timestamp>> {
        let name = connector.to_owned();
        self.0.db.read(tenant, move |tx| -> Result<_, Error> { super::find_login_time(tx, &name) }).await
    }
}

pub(crate) fn build_link_url(base: &str, token: &SecretToken) -> String {
    format!("{}/connectors/login/{}", base.trim_end_matches('/'), token.reveal())
}
