//! Administration in tests: what only a transaction of administration may change, without an operation and its audit.

use munshi_store::{AdminTx, Error, PlatformAdminTx, PlatformTx, Tx};
use munshi_types::TenantId;
use serde_json::json;

/// Runs a unit as an administrative one; nobody is told.
#[allow(clippy::disallowed_methods, reason = "tests set the scene without an operation")]
pub fn administer<T, E: From<Error>>(
    tx: &mut Tx<'_>,
    unit: impl FnOnce(&mut AdminTx<'_, '_>) -> Result<T, E>,
) -> Result<T, E> {
    let (answer, _) = AdminTx::run(tx, |tx| {
        tx.note("test.changed", "test", json!({}));
        unit(tx)
    })?;
    Ok(answer)
}

/// The same for what belongs to the installation.
#[allow(clippy::disallowed_methods, reason = "tests set the scene without an operation")]
pub fn administer_platform<T, E: From<Error>>(
    tx: &mut PlatformTx<'_>,
    unit: impl FnOnce(&mut PlatformAdminTx<'_, '_>) -> Result<T, E>,
) -> Result<T, E> {
    let (answer, _) = PlatformAdminTx::run(tx, |tx| {
        tx.note([TenantId::PLATFORM], "test.changed", "test", json!({}));
        unit(tx)
    })?;
    Ok(answer)
}
