//! Connectors as the store keeps them: what was declared, which lists of tools were seen, how each one is.

use std::collections::BTreeMap;
use std::time::Duration;

use munshi_safety::audit::{self, AuditActor, AuditActorKind, AuditEvent, NewAuditEntry};
use munshi_store::{AdminTx, JsonText, PlatformScope, PlatformTx, Tx, across_tenants, params};
use munshi_types::{IdGenerator, TenantId, Timestamp};
use serde::Serialize;
use serde_json::json;
use uuid::Uuid;

use crate::entries::ConnectorEntries;
use crate::error::Result;
use crate::login;
use crate::manifest::ConnectorManifest;
use crate::state::ConnectorStatus;
use crate::translate::ManifestAcceptance;

/// Looking after connectors, across tenants.
pub const CONNECTORS: PlatformScope = PlatformScope::new("connectors");
/// A node that has not renewed its word for so long is gone.
pub const SILENT: Duration = Duration::from_secs(90);

/// What is declared, and its version; nothing and 0 where there is no file.
pub fn load_entries(tx: &mut Tx<'_>) -> Result<(i64, ConnectorEntries)> {
    let found = tx.optional(
        "SELECT version, body FROM connector_files WHERE tenant_id = $1 ORDER BY version DESC LIMIT 1",
        &[],
        |row| Ok((row.get::<i64>(0)?, row.get::<JsonText>(1)?)),
    )?;
    match found {
        None => Ok((0, ConnectorEntries::default())),
        Some((version, body)) => Ok((version, body.read()?)),
    }
}

/// Puts a file in force. Gives its version. What let us into a connector that is no longer in it, or no longer there, is
/// forgotten.
pub fn save_entries(
    tx: &mut Tx<'_>,
    declared: &ConnectorEntries,
    author: &str,
    note: &str,
    now: Timestamp,
) -> Result<i64> {
    let (version, known) = load_entries(tx)?;
    if version > 0 && known == *declared {
        return Ok(version);
    }
    for gone in known.list_stale_logins(declared) {
        login::delete_credentials(tx, gone.as_str())?;
    }
    tx.execute(
        "INSERT INTO connector_files (tenant_id, version, body, author, note, made_at)
         VALUES ($1, $2, $3, $4, $5, $6)",
        params![version + 1, JsonText::of(declared)?, author, note, now],
    )?;
    Ok(version + 1)
}

/// The newest version of a tenant's file.
pub(crate) struct FileVersion {
    pub tenant: TenantId,
    pub version: i64,
    /// Whether something may be done for the tenant now.
    pub is_active: bool,
}

/// Which version each tenant is at that has a file.
pub(crate) fn list_versions(tx: &mut PlatformTx<'_>) -> Result<Vec<FileVersion>> {
    Ok(tx.all(
        across_tenants(
            "SELECT f.tenant_id, MAX(f.version), t.status FROM connector_files f JOIN tenants t ON t.id = f.tenant_id
             GROUP BY f.tenant_id, t.status",
        ),
        &[],
        |row| {
            let status: String = row.get(2)?;
            Ok(FileVersion { tenant: row.get(0)?, version: row.get(1)?, is_active: status == "active" })
        },
    )?)
}

/// How many tenants there are: also those that were archived, whose data is still here.
pub(crate) fn count_tenants(tx: &mut PlatformTx<'_>) -> Result<i64> {
    let statement = across_tenants("SELECT COUNT(*) FROM tenants");
    Ok(tx.optional(statement, &[], |row| row.get::<i64>(0))?.unwrap_or_default())
}

/// A list of tools that was seen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ManifestRecord {
    pub hash: String,
    pub server: String,
    pub version: String,
    /// Each tool's own hash.
    pub tools: BTreeMap<String, String>,
    pub seen_at: Timestamp,
    pub accepted_at: Option<Timestamp>,
    pub accepted_by: Option<String>,
}

/// Every list of a connector, the newest first; of two of one moment, the one that nobody has accepted.
pub fn list_manifests(tx: &mut Tx<'_>, connector: &str) -> Result<Vec<ManifestRecord>> {
    Ok(tx.all(
        "SELECT hash, server, version, body, seen_at, accepted_at, accepted_by FROM connector_manifests
         WHERE tenant_id = $1 AND connector = $2
         ORDER BY seen_at DESC, CASE WHEN accepted_at IS NULL THEN 0 ELSE 1 END, hash",
        params![connector],
        |row| {
            Ok(ManifestRecord {
                hash: row.get(0)?,
                server: row.get(1)?,
                version: row.get(2)?,
                tools: row.get::<JsonText>(3)?.read()?,
                seen_at: row.get(4)?,
                accepted_at: row.get(5)?,
                accepted_by: row.get(6)?,
            })
        },
    )?)
}

/// Notes a list of tools and says whether it may be used as declared. The first that a connector ever shows is accepted
/// with it; every other waits for a person. The audit is told of each, once.
pub(crate) fn record_manifest(
    tx: &mut Tx<'_>,
    connector: &str,
    manifest: &ConnectorManifest,
    now: Timestamp,
    ids: &IdGenerator,
) -> Result<ManifestAcceptance> {
    let known = list_manifests(tx, connector)?;
    if let Some(seen) = known.iter().find(|seen| seen.hash == manifest.hash) {
        return Ok(if seen.accepted_at.is_some() {
            ManifestAcceptance::Yes
        } else {
            ManifestAcceptance::Held
        });
    }
    let is_first = known.is_empty();
    let accepted = is_first.then_some(now);
    let by = is_first.then_some("first seen");
    tx.execute(
        "INSERT INTO connector_manifests
           (tenant_id, connector, hash, server, version, body, seen_at, accepted_at, accepted_by)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
        params![
            connector,
            &manifest.hash,
            &manifest.server,
            &manifest.version,
            JsonText::of(&manifest.hashes())?,
            now,
            accepted,
            by
        ],
    )?;
    let last = known.iter().find(|seen| seen.accepted_at.is_some());
    let changed = last.map(|last| differences(&last.tools, &manifest.hashes())).unwrap_or_default();
    let entry = NewAuditEntry {
        actor: AuditActor::new(AuditActorKind::System, "connectors"),
        event: if is_first { AuditEvent::CONNECTOR_SEEN } else { AuditEvent::CONNECTOR_CHANGED },
        subject: connector.to_owned(),
        payload: json!({ "server": manifest.server, "version": manifest.version, "manifest": manifest.hash,
                         "tools": manifest.tools.len(), "changed": changed }),
    };
    audit::append(tx, &entry, now, ids)?;
    Ok(if is_first { ManifestAcceptance::Yes } else { ManifestAcceptance::Held })
}

/// Accepts the newest list of a connector. None where it has shown none; false where it was accepted already.
pub fn accept_manifest(
    tx: &mut AdminTx<'_, '_>,
    connector: &str,
    by: &str,
    now: Timestamp,
) -> Result<Option<bool>> {
    let Some(newest) = list_manifests(tx, connector)?.into_iter().next() else { return Ok(None) };
    if newest.accepted_at.is_some() {
        return Ok(Some(false));
    }
    tx.execute(
        "UPDATE connector_manifests SET accepted_at = $4, accepted_by = $5
         WHERE tenant_id = $1 AND connector = $2 AND hash = $3",
        params![connector, &newest.hash, now, by],
    )?;
    let payload = json!({ "server": newest.server, "version": newest.version, "manifest": newest.hash });
    tx.note("connector.accepted", connector, payload);
    Ok(Some(true))
}

/// What differs between two lists, in words: `+` new, `-` gone, `~` changed.
pub fn differences(before: &BTreeMap<String, String>, after: &BTreeMap<String, String>) -> Vec<String> {
    let gone = before.keys().filter(|name| !after.contains_key(*name)).map(|name| format!("- {name}"));
    let others = after.iter().filter_map(|(name, hash)| match before.get(name) {
        None => Some(format!("+ {name}")),
        Some(known) if known != hash => Some(format!("~ {name}")),
        Some(_) => None,
    });
    gone.chain(others).take(100).collect()
}

/// Says how a connector is here.
pub(crate) fn upsert_state(
    tx: &mut Tx<'_>,
    connector: &str,
    node: Uuid,
    standing: &ConnectorStatus,
    now: Timestamp,
) -> Result<()> {
    tx.execute(
        "INSERT INTO connector_states (tenant_id, connector, node, body, renewed_at) VALUES ($1, $2, $3, $4, $5)
         ON CONFLICT (tenant_id, connector, node) DO UPDATE
         SET body = excluded.body, renewed_at = excluded.renewed_at",
        params![connector, node, JsonText::of(standing)?, now],
    )?;
    tx.execute(
        "DELETE FROM connector_states WHERE tenant_id = $1 AND connector = $2 AND renewed_at < $3",
        params![connector, now.minus(SILENT)],
    )?;
    Ok(())
}

pub(crate) fn delete_state(tx: &mut Tx<'_>, connector: &str, node: Uuid) -> Result<()> {
    tx.execute(
        "DELETE FROM connector_states WHERE tenant_id = $1 AND connector = $2 AND node = $3",
        params![connector, node],
    )?;
    Ok(())
}

/// How a tenant's connectors are, on every node that runs them.
pub fn list_states(tx: &mut Tx<'_>, now: Timestamp) -> Result<Vec<(String, ConnectorStatus)>> {
    let rows = tx.all(
        "SELECT connector, body FROM connector_states WHERE tenant_id = $1 AND renewed_at >= $2 ORDER BY connector, node",
        params![now.minus(SILENT)],
        |row| Ok((row.get::<String>(0)?, row.get::<JsonText>(1)?)),
    )?;
    rows.into_iter().map(|(connector, body)| Ok((connector, body.read()?))).collect()
}
