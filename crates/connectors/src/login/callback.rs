//! The end of a login in a browser: what somebody brought back, for what opens the door.

use munshi_identity::SecretToken;
use munshi_store::PlatformTx;
use munshi_types::TenantId;
use serde::Deserialize;
use zeroize::Zeroizing;

use super::client::OAuthClient;
use super::discover::OAuthServerMetadata;
use super::flow::{OAuthFlow, STATE, VERIFIER};
use super::rows::{self, LoginRowKind};
use super::stored_login::StoredOAuthLogin;
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
    pub async fn load_callback_owner(
        &self,
        token: &SecretToken,
        returned: &OAuthCallback,
    ) -> Result<OAuthCallbackOwner> {
        if !token.verify_derived(STATE, &returned.state) {
            return Err(unknown_login_error());
        }
        let (state, now) = (returned.state.clone(), self.0.clock.now());
        let find =
            move |tx: &mut PlatformTx<'_>| rows::find::<OAuthFlow>(tx, (LoginRowKind::State, &state), now);
        let found = self.0.db.platform(CONNECTORS).read(find).await?.ok_or_else(unknown_login_error)?;
        Ok(OAuthCallbackOwner { tenant: found.tenant, who: found.body.who })
    }

    /// What became of a login that this browser began and came back from; none where it has not let us in. So a page that
    /// says so can be loaded again.
    pub async fn find_completed(&self, token: &SecretToken) -> Result<Option<CompletedOAuthLogin>> {
        let (state, now) = (token.derive(STATE), self.0.clock.now());
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
        if !token.verify_derived(STATE, &returned.state) {
            return Err(unknown_login_error());
        }
        let (logins, token) = (self.clone(), token.clone());
        self.run_to_completion(async move { logins.complete_login(&token, returned, who).await }).await
    }

    async fn complete_login(
        &self,
        token: &SecretToken,
        returned: OAuthCallback,
        who: Option<ConnectorLoginUser>,
    ) -> Result<CompletedOAuthLogin> {
        let (state, now) = (returned.state.clone(), self.0.clock.now());
        let used = move |tx: &mut PlatformTx<'_>| {
            let is_theirs = |way: &OAuthFlow| way.who == who;
            rows::redeem(tx, (LoginRowKind::State, &state), now, is_theirs)
        };
        let used = self.0.db.platform(CONNECTORS).write(used).await?;
        let rows::LoginRow { tenant, connector, body: way } = used.ok_or_else(unknown_login_error)?;
        check_issuer(&way.found, returned.iss.as_deref())?;
        if let Some(error) = &returned.error {
            let error: String = error.chars().filter(|letter| !letter.is_control()).take(100).collect();
            return Err(Error::NoLogin(format!("{} refused the login: {error}", way.found.issuer)));
        }
        let code = returned.code.map(Zeroizing::new);
        let code = code
            .ok_or_else(|| Error::NoLogin(format!("{} returned no authorization code", way.found.issuer)))?;
        let (entry, _) = self.load_entry(tenant, &connector).await?;
        let client = self.load_flow_client(tenant, &connector, &entry, &way).await?;
        let verifier = Zeroizing::new(token.derive(VERIFIER));
        let given = [
            ("grant_type", "authorization_code"),
            ("code", code.as_str()),
            ("redirect_uri", way.redirect.as_str()),
            ("code_verifier", verifier.as_str()),
        ];
        let kept = match self.exchange(&way.found, client, &given, way.scope.clone()).await? {
            Ok(kept) => kept,
            Err(no) => {
                self.remove_rejected_client(tenant, &connector, &no).await?;
                return Err(Error::NoLogin(format!("{} refused the login: {no}", way.found.issuer)));
            }
        };
        if !self.store_login(tenant, &connector, &kept, (&way.by, way.link)).await? {
            self.revoke_quietly(&kept).await;
            return Err(Error::NoLogin("another login was completed meanwhile".to_owned()));
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
        let login = client.add_credentials(&mut pairs);
        let address = self.0.fetch.parse_url(&found.token)?;
        let answered = self.0.fetch.post_form(&address, &pairs, login.as_ref()).await?;
        if !answered.status.is_success() {
            return Ok(Err(answered.error_code()));
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
        kept.apply_response(&answered, self.0.clock.now())?;
        Ok(Ok(kept))
    }
}

/// Whose answer it is (RFC 9207): one that names itself must be the one that was asked, and one that always does must.
fn check_issuer(found: &OAuthServerMetadata, iss: Option<&str>) -> Result<()> {
    match iss {
        Some(iss) if iss != found.issuer => {
            Err(Error::NoLogin(format!("the response comes from another issuer than {}", found.issuer)))
        }
        None if found.names_itself => {
            Err(Error::NoLogin(format!("the response does not name its issuer {}", found.issuer)))
        }
        _ => Ok(()),
    }
}

fn unknown_login_error() -> Error {
    Error::NoLogin("this login is unknown, already used or expired: start it again".to_owned())
}
