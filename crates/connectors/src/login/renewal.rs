//! Renewing a login. What is given for it is good once, so it goes on to its end once begun: whoever waited may be gone, and
//! what came of it is kept before anybody uses it.

use std::time::Duration;

use munshi_store::Tx;
use munshi_types::{TenantId, Timestamp};
use zeroize::Zeroizing;

use super::{ConnectorLogins, rows};
use crate::error::Result;

/// Renewing takes no longer; who has not come back by then is dead.
pub(super) const RENEWING: Duration = Duration::from_secs(40);

/// One login to be renewed.
pub(super) struct LoginRenewal {
    pub(super) tenant: TenantId,
    pub(super) connector: String,
    /// What it opened the door with: where that is another by now, somebody was quicker.
    pub(super) access: Zeroizing<String>,
}

/// What came of it.
pub(super) enum LoginRenewalOutcome {
    /// Whatever is kept now is the newest there is.
    Done,
    /// The service takes this one no more.
    Refused(Zeroizing<String>),
    /// Another is at it.
    Elsewhere,
}

impl ConnectorLogins {
    pub(super) async fn renew(&self, renewal: LoginRenewal) -> Result<LoginRenewalOutcome> {
        let logins = self.clone();
        self.run_to_completion(async move { logins.renew_exclusively(&renewal).await }).await
    }

    async fn renew_exclusively(&self, renewal: &LoginRenewal) -> Result<LoginRenewalOutcome> {
        let now = self.0.clock.now();
        let until = now.plus(RENEWING);
        if !self.claim_renewal(renewal, (now, until)).await? {
            return Ok(LoginRenewalOutcome::Elsewhere);
        }
        let came = self.refresh_token(renewal).await;
        let name = renewal.connector.clone();
        let end = move |tx: &mut Tx<'_>| rows::release_renewal(tx, &name, until);
        if let Err(error) = self.0.db.write(renewal.tenant, end).await {
            tracing::debug!(%error, "releasing renewal lease failed; it expires by itself");
        }
        came
    }

    async fn claim_renewal(&self, renewal: &LoginRenewal, times: (Timestamp, Timestamp)) -> Result<bool> {
        let name = renewal.connector.clone();
        self.0.db.write(renewal.tenant, move |tx| rows::claim_renewal(tx, &name, times)).await
    }

    async fn refresh_token(&self, renewal: &LoginRenewal) -> Result<LoginRenewalOutcome> {
        let LoginRenewal { tenant, connector, access } = renewal;
        let Some((mut kept, known)) = self.find_login_with_secret(*tenant, connector).await? else {
            return Ok(LoginRenewalOutcome::Done);
        };
        // Another may have ended just before it became ours.
        let refresh = kept.refresh.clone().filter(|_| kept.access == *access);
        let Some(refresh) = refresh else { return Ok(LoginRenewalOutcome::Done) };
        let address = self.0.fetch.parse_url(&kept.token)?;
        let mut pairs = vec![
            ("grant_type", "refresh_token"),
            ("refresh_token", refresh.as_str()),
            ("resource", kept.resource.as_str()),
        ];
        let login = kept.client.add_credentials(&mut pairs);
        let answered = self.0.fetch.post_form(&address, &pairs, login.as_ref()).await?;
        drop(pairs);
        if !answered.status.is_success() {
            let error = answered.error_code();
            tracing::warn!(%connector, error, "login renewal refused; a person must log in again");
            return Ok(LoginRenewalOutcome::Refused(refresh));
        }
        kept.apply_response(&answered, self.0.clock.now())?;
        if !self.replace_login(*tenant, connector, (known, &kept)).await? {
            tracing::info!(%connector, "renewed login was replaced meanwhile; discarding it");
        }
        Ok(LoginRenewalOutcome::Done)
    }
}
