//! Administration in tests: what only a transaction of administration may change, without an operation and its audit.

use munshi_store::{AdminTx, Error, Tx};
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
