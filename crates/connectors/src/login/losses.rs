//! Logins that their service takes no more, until somebody logs in again.

use munshi_store::{Result as StoreResult, Tx, params};
use munshi_tools::LostLogin;
use munshi_types::{LoginLossId, TenantId, Timestamp};

use super::ConnectorLogins;
use crate::error::Result;

/// Those that are lost now, the oldest first.
pub(crate) fn list(tx: &mut Tx<'_>) -> StoreResult<Vec<LostLogin>> {
    tx.all(
        "SELECT id, connector, lost_at FROM lost_connector_logins WHERE tenant_id = $1 ORDER BY lost_at, connector",
        params![],
        |row| Ok(LostLogin { id: row.get(0)?, connector: row.get(1)?, lost_at: row.get(2)? }),
    )
}

/// Whatever was lost of a connector is there again, or wanted no more.
pub(super) fn clear(tx: &mut Tx<'_>, connector: &str) -> StoreResult<()> {
    tx.execute(
        "DELETE FROM lost_connector_logins WHERE tenant_id = $1 AND connector = $2",
        params![connector],
    )?;
    Ok(())
}

/// Written once, whichever connection and node finds it first. Not where somebody has logged in since `known`.
fn insert(
    tx: &mut Tx<'_>,
    (id, connector): (LoginLossId, &str),
    known: Option<Timestamp>,
    now: Timestamp,
) -> Result<bool> {
    if super::find_login_time(tx, connector)? != known {
        return Ok(false);
    }
    let added = tx.execute(
        "INSERT INTO lost_connector_logins (tenant_id, connector, id, lost_at) VALUES ($1, $2, $3, $4)
         ON CONFLICT (tenant_id, connector) DO NOTHING",
        params![connector, id, now],
    )?;
    Ok(added > 0)
}

impl ConnectorLogins {
    /// Notes that a service takes the login no more that was there since `known`: a person has to log in again.
    pub(super) async fn record_loss(
        &self,
        tenant: TenantId,
        connector: &str,
        known: Option<Timestamp>,
    ) -> Result<()> {
        let (name, now) = (connector.to_owned(), self.0.clock.now());
        let id = self.0.ids.next();
        let note = move |tx: &mut Tx<'_>| insert(tx, (id, &name), known, now);
        if self.0.db.write(tenant, note).await? {
            tracing::warn!(%tenant, connector, "connector login lost; somebody has to log in again");
        }
        Ok(())
    }
}
