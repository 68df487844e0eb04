//! Links that show one document to whoever has them, until they end.

use std::time::Duration;

use munshi_identity::SecretToken;
use munshi_store::{Tx, params};
use munshi_types::{Random, Timestamp};
use sha2::{Digest, Sha256};

use super::ids::DocumentId;
use crate::error::Result;

/// How long a link is good for.
pub const GOOD_FOR: Duration = Duration::from_secs(30 * 24 * 3600);

/// Makes a link's key. It is told once; the books keep its hash.
pub fn add(
    tx: &mut Tx<'_>,
    random: &dyn Random,
    document: DocumentId,
    now: Timestamp,
) -> Result<SecretToken> {
    let key = SecretToken::random(random);
    tx.execute(
        "INSERT INTO ledger_shares (tenant_id, hash, document_id, made_at, ends_at) VALUES ($1, $2, $3, $4, $5)",
        params![hash(&key), document, now, now.plus(GOOD_FOR)],
    )?;
    Ok(key)
}

/// Whether a key opens a document now.
pub fn opens(tx: &mut Tx<'_>, key: &str, document: DocumentId, now: Timestamp) -> Result<bool> {
    let Some(key) = SecretToken::parse(key) else { return Ok(false) };
    let found: Option<i64> = tx.optional(
        "SELECT 1 FROM ledger_shares WHERE tenant_id = $1 AND hash = $2 AND document_id = $3 AND ends_at > $4",
        params![hash(&key), document, now],
        |row| row.get(0),
    )?;
    Ok(found.is_some())
}

fn hash(key: &SecretToken) -> Vec<u8> {
    Sha256::digest(key.reveal().as_bytes()).to_vec()
}
