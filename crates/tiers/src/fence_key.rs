//! The installation's key for fences: made by whoever needs it first, and the same ever after.
//!
//! It is kept in the database and not in a file beside it: all nodes of an installation must write the same prompt to the
//! byte, or the providers' caches miss, and a copy of the database that is put back must bring its key along.

use munshi_store::{Db, PlatformScope, PlatformTx, across_tenants, params};
use munshi_types::{Random, Timestamp};

use crate::error::{Error, Result};
use crate::prompt::FenceKey;

/// Reading the key for fences, and nothing else.
const FENCES: PlatformScope = PlatformScope::new("fences");

/// The key, which is made now if there is none yet. A node asks once and holds it.
pub async fn ensure_fence_key(db: &Db, random: &dyn Random, now: Timestamp) -> Result<FenceKey> {
    if let Some(key) = db.platform(FENCES).read(read).await? {
        return Ok(key);
    }
    let mut secret = [0; FenceKey::BYTES];
    random.fill(&mut secret);
    db.platform(FENCES)
        .write(move |tx| {
            // Another node may have been quicker; then its key counts.
            tx.execute(
                across_tenants(
                    "INSERT INTO fence_key (id, secret, made_at) VALUES (1, $1, $2) ON CONFLICT (id) DO NOTHING",
                ),
                params![secret.as_slice(), now],
            )?;
            read(tx)?.ok_or_else(|| Error::Unreadable("failed to store the key for fences".to_owned()))
        })
        .await
}

fn read(tx: &mut PlatformTx<'_>) -> Result<Option<FenceKey>> {
    let secret: Option<Vec<u8>> =
        tx.optional(across_tenants("SELECT secret FROM fence_key WHERE id = 1"), &[], |row| row.get(0))?;
    let key = |secret: Vec<u8>| secret.try_into().map(FenceKey::new);
    let unreadable = |_| Error::Unreadable("the key for fences has the wrong length".to_owned());
    secret.map(key).transpose().map_err(unreadable)
}
