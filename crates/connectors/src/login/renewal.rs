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
        self.to_its_end(async move { logins.renew_in_turn(&renewal).await }).await
    }

    async fn renew_in_turn(&self, renewal: &LoginRenewal) -> Result<LoginRenewalOutcome> {
        let now = self.0.clock.now();
        let until = now.plus(RENEWING);
        if !self.begin_renewal(renewal, (now, until)).await? {
            return Ok(LoginRenewalOutcome::Elsewhere);
        }
        let came = self.renew_alone(renewal).await;
        let name = renewal.connector.clone();
        let end = move |tx: &mut Tx<'_>| rows::end_renewal(tx, &name, until);
        if let Err(error) = self.0.db.write(renewal.tenant, end).await {
            tracing::debug!(%error, "the end of a renewal can't be written down; it lapses");
        }
        came
    }

    async fn begin_renewal(&self, renewal: &LoginRenewal, times: (Timestamp, Timestamp)) -> Result<bool> {
        let name = renewal.connector.clone();
        self.0.db.write(renewal.tenant, move |tx| rows::begin_renewal(tx, &name, times)).await
    }

    async fn renew_alone(&self, renewal: &LoginRenewal) -> Result<LoginRenewalOutcome> {
        let LoginRenewal { tenant, connector, access } = renewal;
        let Some((mut kept, known)) = self.sealed(*tenant, connector).await? else {
            return Ok(LoginRenewalOutcome::Done);
        };
        // Another may have ended just before it became ours.
        let refresh = kept.refresh.clone().filter(|_| kept.access == *access);
        let Some(refresh) = refresh else { return Ok(LoginRenewalOutcome::Done) };
        let address = self.0.fetch.address(&kept.token)?;
        let mut pairs = vec![
            ("grant_type", "refresh_token"),
            ("refresh_token", refresh.as_str()),
            ("resource", kept.resource.as_str()),
        ];
        let login = kept.client.shown(&mut pairs);
        let answered = self.0.fetch.form(&address, &pairs, login.as_ref()).await?;
        drop(pairs);
        if !answered.status.is_success() {
            let error = answered.error();
            tracing::warn!(%connector, error, "a login is not renewed; somebody has to log in");
            return Ok(LoginRenewalOutcome::Refused(refresh));
        }
        kept.take(&answered, self.0.clock.now())?;
        if !self.renew_kept(*tenant, connector, (known, &kept)).await? {
            tracing::info!(%connector, "a login was renewed that is no longer the one kept; it is let go");
        }
        Ok(LoginRenewalOutcome::Done)
    }
}
