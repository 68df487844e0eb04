//! Giving a login back: the service is told that nobody uses it any more (RFC 7009).

use munshi_types::{ConnectorName, TenantId};

use super::ConnectorLogins;
use super::discover;
use super::stored_login::StoredOAuthLogin;
use crate::error::{Error, Result};

/// What lets us into a connector, as it was when that was about to be taken away.
pub struct RevocableLogin(StoredOAuthLogin);

impl std::fmt::Debug for RevocableLogin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("RevocableLogin")
    }
}

/// What became of a login at the service that gave it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoginRevocation {
    /// It is good no more.
    Revoked,
    /// The service takes nothing back: it is good there until it ends, or somebody ends it there.
    NotTaken { at: String },
    /// The service was not reached, or said no.
    NotHeard { at: String, why: String },
}

impl LoginRevocation {
    /// In a word: whether it is good no more, or only forgotten here.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Revoked => "revoked",
            Self::NotTaken { .. } | Self::NotHeard { .. } => "forgotten",
        }
    }

    /// In words for people, with what is left to do.
    pub fn describe(&self, name: &ConnectorName) -> String {
        match self {
            Self::Revoked => format!("Removed the login of {name} and revoked it at the service."),
            Self::NotTaken { at } => format!(
                "Removed the login of {name}. {at} does not support revocation: revoke the access of {name} there."
            ),
            Self::NotHeard { at, why } => format!(
                "Removed the login of {name}, but could not revoke it: {why}. Revoke the access of {name} at {at}."
            ),
        }
    }
}

impl ConnectorLogins {
    /// What lets us in there now, to be given back once it is forgotten here; none where nobody has logged in.
    pub async fn find_revocable(
        &self,
        tenant: TenantId,
        connector: &ConnectorName,
    ) -> Result<Option<RevocableLogin>> {
        Ok(self.find_login(tenant, connector.as_str()).await?.map(RevocableLogin))
    }

    /// Gives a login back. Whatever comes of it, it is forgotten here.
    pub async fn revoke_login(&self, last: &RevocableLogin) -> LoginRevocation {
        let at = last.0.client.issuer.clone();
        match self.send_revocation(&last.0).await {
            Ok(true) => LoginRevocation::Revoked,
            Ok(false) => LoginRevocation::NotTaken { at },
            Err(error) => LoginRevocation::NotHeard { at, why: error.to_string() },
        }
    }

    /// The same where nobody waits to hear of it.
    pub(super) async fn revoke_quietly(&self, kept: &StoredOAuthLogin) {
        if let Err(error) = self.send_revocation(kept).await {
            tracing::info!(%error, at = kept.client.issuer, "revoking unused login failed");
        }
    }

    /// False where the service has no place for that. What renews it takes the rest with it; else it is all there is.
    async fn send_revocation(&self, kept: &StoredOAuthLogin) -> Result<bool> {
        let place = match &kept.revoke {
            Some(place) => Some(place.clone()),
            None => discover::find_revocation_endpoint(&self.0.fetch, &kept.client.issuer).await?,
        };
        let Some(place) = place else { return Ok(false) };
        let address = self.0.fetch.parse_url(&place)?;
        let (token, hint) = match &kept.refresh {
            Some(refresh) => (refresh, "refresh_token"),
            None => (&kept.access, "access_token"),
        };
        let mut pairs = vec![("token", token.as_str()), ("token_type_hint", hint)];
        let login = kept.client.add_credentials(&mut pairs);
        let answered = self.0.fetch.post_form(&address, &pairs, login.as_ref()).await?;
        match answered.status.is_success() {
            true => Ok(true),
            false => Err(Error::NoLogin(format!("revocation refused: {}", answered.error_code()))),
        }
    }
}
