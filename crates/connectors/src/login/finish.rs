//! The end of a login in a browser: what somebody brought back, for what opens the door.

use munshi_identity::SecretToken;
use munshi_store::PlatformTx;
use munshi_types::TenantId;
use serde::Deserialize;
use zeroize::Zeroizing;

use super::client::OAuthClient;
use super::discover::OAuthServerMetadata;
use super::flow::{OAuthFlow, STATE, VERIFIER};
use super::kept::StoredOAuthLogin;
use super::rows::{self, LoginRowKind};
use super::{ConnectorLoginUser, ConnectorLogins};
use crate::error::{Error, Result};
use crate::rows::CONNECTORS;

/// What somebody brought back, as it stood in the address.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct OAuthCallback {
    pub state: String,
    pub code: Option<String>,
    pub iss: Option<String>,
    pub error: Option<String>,
}

/// Whose login an answer is to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OAuthCallbackOwner {
    pub tenant: TenantId,
    /// Who began it at a page of ours.
    pub who: Option<ConnectorLoginUser>,
}

/// A login that is done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompletedOAuthLogin {
    pub tenant: TenantId,
    pub connector: String,
}

impl ConnectorLogins {
    /// Whose login somebody brings the answer to. Looking changes nothing.
    pub async fn returning(
        &self,
        token: &SecretToken,
        returned: &OAuthCallback,
    ) -> Result<OAuthCallbackOwner> {
        if !token.derives(STATE, &returned.state) {
            return Err(unknown());
        }
        let (state, now) = (returned.state.clone(), self.0.clock.now());
        let find =
            move |tx: &mut PlatformTx<'_>| rows::find::<OAuthFlow>(tx, (LoginRowKind::State, &state), now);
        let found = self.0.db.platform(CONNECTORS).read(find).await?.ok_or_else(unknown)?;
        Ok(OAuthCallbackOwner { tenant: found.tenant, who: found.body.who })
    }

    /// What became of a login that this browser began and came back from; none where it has not let us in. So a page that
    /// says so can be loaded again.
    pub async fn ended(&self, token: &SecretToken) -> Result<Option<CompletedOAuthLogin>> {
        let (state, now) = (token.derived(STATE), self.0.clock.now());
        let find = move |tx: &mut PlatformTx<'_>| {
            rows::find_used::<OAuthFlow>(tx, (LoginRowKind::State, &state), now)
        };
        let Some(found) = self.0.db.platform(CONNECTORS).read(find).await? else { return Ok(None) };
        let rows::LoginRow { tenant, connector, body: way } = found;
        let Some(link) = way.link else { return Ok(None) };
        let is_in = self.0.db.read(tenant, move |tx| rows::is_used(tx, &link)).await?;
        Ok(is_in.then_some(CompletedOAuthLogin { tenant, connector }))
    }

    /// Ends a login with what whoever began it brought back. The state is used up before anything else: whatever comes of
    /// it, it is good no more. From there on it goes on by itself, though the browser may have gone away.
    pub async fn finish(
        &self,
        token: &SecretToken,
        returned: OAuthCallback,
        who: Option<ConnectorLoginUser>,
    ) -> Result<CompletedOAuthLogin> {
        if !token.derives(STATE, &returned.state) {
            return Err(unknown());
        }
        let (logins, token) = (self.clone(), token.clone());
        self.to_its_end(async move { logins.end(&token, returned, who).await }).await
    }

    async fn end(
        &self,
        token: &SecretToken,
        returned: OAuthCallback,
        who: Option<ConnectorLoginUser>,
    ) -> Result<CompletedOAuthLogin> {
        let (state, now) = (returned.state.clone(), self.0.clock.now());
        let used = move |tx: &mut PlatformTx<'_>| {
            let is_theirs = |way: &OAuthFlow| way.who == who;
            rows::use_up(tx, (LoginRowKind::State, &state), now, is_theirs)
        };
        let used = self.0.db.platform(CONNECTORS).write(used).await?;
        let rows::LoginRow { tenant, connector, body: way } = used.ok_or_else(unknown)?;
        check_issuer(&way.found, returned.iss.as_deref())?;
        if let Some(error) = &returned.error {
            let error: String = error.chars().filter(|letter| !letter.is_control()).take(100).collect();
            return Err(Error::NoLogin(format!("{} said no: {error}", way.found.issuer)));
        }
        let code = returned.code.map(Zeroizing::new);
        let code = code.ok_or_else(|| Error::NoLogin(format!("{} gave no code", way.found.issuer)))?;
        let (entry, _) = self.entry(tenant, &connector).await?;
        let client = self.same_client(tenant, &connector, &entry, &way).await?;
        let verifier = Zeroizing::new(token.derived(VERIFIER));
        let given = [
            ("grant_type", "authorization_code"),
            ("code", code.as_str()),
            ("redirect_uri", way.redirect.as_str()),
            ("code_verifier", verifier.as_str()),
        ];
        let kept = match self.exchange(&way.found, client, &given, way.scope.clone()).await? {
            Ok(kept) => kept,
            Err(no) => {
                self.doubt_client(tenant, &connector, &no).await?;
                return Err(Error::NoLogin(format!("{} said no: {no}", way.found.issuer)));
            }
        };
        if !self.keep(tenant, &connector, &kept, (&way.by, way.link)).await? {
            self.revoke_quietly(&kept).await;
            return Err(Error::NoLogin("somebody else has signed in meanwhile".to_owned()));
        }
        Ok(CompletedOAuthLogin { tenant, connector })
    }

    /// Something that was given, for what opens the door; or the service's no, in a word.
    pub(super) async fn exchange(
        &self,
        found: &OAuthServerMetadata,
        client: OAuthClient,
        given: &[(&str, &str)],
        scope: Option<String>,
    ) -> Result<Result<StoredOAuthLogin, String>> {
        let mut pairs = given.to_vec();
        pairs.push(("resource", &found.resource));
        let login = client.shown(&mut pairs);
        let address = self.0.fetch.address(&found.token)?;
        let answered = self.0.fetch.form(&address, &pairs, login.as_ref()).await?;
        if !answered.status.is_success() {
            return Ok(Err(answered.error()));
        }
        drop(pairs);
        let mut kept = StoredOAuthLogin {
            client,
            token: found.token.clone(),
            revoke: found.revoke.clone(),
            resource: found.resource.clone(),
            scope,
            access: Zeroizing::new(String::new()),
            refresh: None,
            expires_at: None,
        };
        kept.take(&answered, self.0.clock.now())?;
        Ok(Ok(kept))
    }
}

/// Whose answer it is (RFC 9207): one that names itself must be the one that was asked, and one that always does must.
fn check_issuer(found: &OAuthServerMetadata, iss: Option<&str>) -> Result<()> {
    match iss {
        Some(iss) if iss != found.issuer => {
            Err(Error::NoLogin(format!("the answer is not of {}, who was asked", found.issuer)))
        }
        None if found.names_itself => {
            Err(Error::NoLogin(format!("the answer does not say that it is of {}", found.issuer)))
        }
        _ => Ok(()),
    }
}

fn unknown() -> Error {
    Error::NoLogin("this login was not begun here, is over, or took too long: begin it anew".to_owned())
}
