//! The tables of tiers: every statement that reads or writes them, but for the addresses'.

use std::collections::BTreeMap;

use munshi_store::{JsonText, PlatformTx, Row, Tx, across_tenants, params};
use munshi_types::tier::{TierKind, TierName, TierStatus};
use munshi_types::{Id, TenantId, TierId, Timestamp};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::draft::TierBody;
use crate::error::Result;
use crate::plan::{StoredTier, TierTitle};
use crate::token_counts::TierTokenCounts;

/// A new version, ready to be written.
pub(crate) struct NewTierVersion {
    pub(crate) version: u32,
    pub(crate) body: JsonText,
    pub(crate) tokens: JsonText,
}

/// Who made a version, why and when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Authorship {
    pub author: String,
    pub note: String,
    pub made_at: Timestamp,
}

/// A line of a tier's history.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TierVersionView {
    pub version: u32,
    /// Whether it is the one in force.
    pub is_current: bool,
    pub author: String,
    pub note: String,
    pub made_at: Timestamp,
    pub tokens: TierTokenCounts,
    #[serde(skip)]
    pub body: TierBody,
}

/// Every tier of the tenant with the body of its version in force.
pub(crate) fn load_all(tx: &mut Tx<'_>) -> Result<BTreeMap<TierTitle, StoredTier>> {
    let rows = tx.all(
        "SELECT t.id, t.kind, t.name, t.status, t.version, t.latest, v.body, v.tokens
         FROM tiers t JOIN tier_versions v
           ON v.tenant_id = t.tenant_id AND v.tier_id = t.id AND v.version = t.version
         WHERE t.tenant_id = $1 AND v.tenant_id = $1",
        &[],
        read_stored_tier,
    )?;
    Ok(rows.into_iter().map(|tier| ((tier.kind, tier.name.clone()), tier)).collect())
}

/// Which version of each tier is in force; what a plan is held against.
pub(crate) fn load_heads(tx: &mut Tx<'_>) -> Result<BTreeMap<TierTitle, (TierId, u32, TierStatus)>> {
    let rows =
        tx.all("SELECT id, kind, name, status, version FROM tiers WHERE tenant_id = $1", &[], |row| {
            let title: TierTitle = (parse_column(row, "kind")?, parse_column(row, "name")?);
            Ok((title, (row.get("id")?, read_version(row, "version")?, parse_column(row, "status")?)))
        })?;
    Ok(rows.into_iter().collect())
}

/// A tier's id and the version in force.
pub(crate) fn find_head(tx: &mut Tx<'_>, kind: TierKind, name: &TierName) -> Result<Option<(TierId, u32)>> {
    Ok(tx.optional(
        "SELECT id, version FROM tiers WHERE tenant_id = $1 AND kind = $2 AND name = $3",
        params![kind.as_str(), name.as_str()],
        |row| Ok((row.get("id")?, read_version(row, "version")?)),
    )?)
}

/// One tier at the version in force.
pub(crate) fn find(tx: &mut Tx<'_>, kind: TierKind, name: &TierName) -> Result<Option<StoredTier>> {
    Ok(tx.optional(
        "SELECT t.id, t.kind, t.name, t.status, t.version, t.latest, v.body, v.tokens
         FROM tiers t JOIN tier_versions v
           ON v.tenant_id = t.tenant_id AND v.tier_id = t.id AND v.version = t.version
         WHERE t.tenant_id = $1 AND v.tenant_id = $1 AND t.kind = $2 AND t.name = $3",
        params![kind.as_str(), name.as_str()],
        read_stored_tier,
    )?)
}

pub(crate) fn find_by_id(tx: &mut Tx<'_>, id: TierId) -> Result<Option<StoredTier>> {
    Ok(tx.optional(
        "SELECT t.id, t.kind, t.name, t.status, t.version, t.latest, v.body, v.tokens
         FROM tiers t JOIN tier_versions v
           ON v.tenant_id = t.tenant_id AND v.tier_id = t.id AND v.version = t.version
         WHERE t.tenant_id = $1 AND v.tenant_id = $1 AND t.id = $2",
        params![id],
        read_stored_tier,
    )?)
}

/// One tier as it was at a version.
pub(crate) fn find_at(
    tx: &mut Tx<'_>,
    kind: TierKind,
    name: &TierName,
    version: u32,
) -> Result<Option<StoredTier>> {
    let at = tx.optional(
        "SELECT t.id, t.kind, t.name, t.status, v.version, t.latest, v.body, v.tokens
         FROM tiers t JOIN tier_versions v ON v.tenant_id = t.tenant_id AND v.tier_id = t.id
         WHERE t.tenant_id = $1 AND v.tenant_id = $1 AND t.kind = $2 AND t.name = $3 AND v.version = $4",
        params![kind.as_str(), name.as_str(), i64::from(version)],
        read_stored_tier,
    )?;
    Ok(at)
}

/// The bodies of these versions, as far as they are there.
pub(crate) fn load_pinned(
    tx: &mut Tx<'_>,
    named: Vec<(TierTitle, u32)>,
) -> Result<BTreeMap<(TierTitle, u32), TierBody>> {
    let mut bodies = BTreeMap::new();
    for (title, version) in named {
        if let Some(tier) = find_at(tx, title.0, &title.1, version)? {
            bodies.insert((title, version), tier.body);
        }
    }
    Ok(bodies)
}

/// Every version of a tier, the newest first.
pub(crate) fn list_versions(tx: &mut Tx<'_>, tier: &StoredTier) -> Result<Vec<TierVersionView>> {
    let current = tier.version;
    Ok(tx.all(
        "SELECT version, body, tokens, author, note, made_at FROM tier_versions
         WHERE tenant_id = $1 AND tier_id = $2 ORDER BY version DESC",
        params![tier.id],
        |row| {
            let version = read_version(row, "version")?;
            Ok(TierVersionView {
                version,
                is_current: version == current,
                author: row.get("author")?,
                note: row.get("note")?,
                made_at: row.get("made_at")?,
                tokens: json(row, "tokens")?,
                body: json(row, "body")?,
            })
        },
    )?)
}

pub(crate) fn add(tx: &mut Tx<'_>, id: TierId, (kind, name): &TierTitle, made_at: Timestamp) -> Result<()> {
    tx.execute(
        "INSERT INTO tiers (tenant_id, id, kind, name, status, version, latest, made_at)
         VALUES ($1, $2, $3, $4, 'active', 1, 1, $5)",
        params![id, kind.as_str(), name.as_str(), made_at],
    )?;
    Ok(())
}

/// Writes a version down and puts it in force.
pub(crate) fn add_version(tx: &mut Tx<'_>, id: TierId, new: &NewTierVersion, by: &Authorship) -> Result<()> {
    tx.execute(
        "INSERT INTO tier_versions (tenant_id, tier_id, version, body, tokens, author, note, made_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
        params![id, i64::from(new.version), new.body, new.tokens, by.author, by.note, by.made_at],
    )?;
    tx.execute(
        "UPDATE tiers SET version = $3, latest = $3, status = 'active' WHERE tenant_id = $1 AND id = $2",
        params![id, i64::from(new.version)],
    )?;
    Ok(())
}

pub(crate) fn set_status(tx: &mut Tx<'_>, id: TierId, status: TierStatus) -> Result<()> {
    tx.execute(
        "UPDATE tiers SET status = $3 WHERE tenant_id = $1 AND id = $2",
        params![id, status.as_str()],
    )?;
    Ok(())
}

/// Takes the next number of the count. Whoever holds it goes first until its transaction ends, so changes of tiers
/// happen one after the other and their numbers become visible in order.
pub(crate) fn claim_change_number(tx: &mut PlatformTx<'_>) -> Result<i64> {
    Ok(tx.one(
        across_tenants(
            "INSERT INTO tier_changes (tenant_id, change) VALUES ($1, 1)
             ON CONFLICT (tenant_id) DO UPDATE SET change = tier_changes.change + 1 RETURNING change",
        ),
        params![TenantId::PLATFORM],
        |row| row.get(0),
    )?)
}

/// Says that this tenant's tiers are no longer what they were.
pub(crate) fn mark_changed(tx: &mut PlatformTx<'_>, tenant: TenantId, change: i64) -> Result<()> {
    tx.execute(
        across_tenants(
            "INSERT INTO tier_changes (tenant_id, change) VALUES ($1, $2)
             ON CONFLICT (tenant_id) DO UPDATE SET change = excluded.change",
        ),
        params![tenant, change],
    )?;
    Ok(())
}

/// How many changes there were.
pub(crate) fn current_change(tx: &mut PlatformTx<'_>) -> Result<i64> {
    let count = tx.optional(
        across_tenants("SELECT change FROM tier_changes WHERE tenant_id = $1"),
        params![TenantId::PLATFORM],
        |row| row.get(0),
    )?;
    Ok(count.unwrap_or(0))
}

/// The tenants that changed past a number, and the count itself under [`TenantId::PLATFORM`].
pub(crate) fn list_changed_since(tx: &mut PlatformTx<'_>, change: i64) -> Result<Vec<(TenantId, i64)>> {
    Ok(tx.all(
        across_tenants("SELECT tenant_id, change FROM tier_changes WHERE change > $1"),
        params![change],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?)
}

fn read_stored_tier(row: &Row<'_>) -> munshi_store::Result<StoredTier> {
    Ok(StoredTier {
        id: row.get("id")?,
        kind: parse_column(row, "kind")?,
        name: parse_column(row, "name")?,
        status: parse_column(row, "status")?,
        version: read_version(row, "version")?,
        latest: read_version(row, "latest")?,
        body: json(row, "body")?,
        tokens: json(row, "tokens")?,
    })
}

pub(crate) fn parse_column<T>(row: &Row<'_>, column: &str) -> munshi_store::Result<T>
where
    T: std::str::FromStr,
    T::Err: std::fmt::Display,
{
    let text: String = row.get(column)?;
    text.parse().map_err(|error| munshi_store::Error::Decode(format!("column `{column}`: {error}")))
}

pub(crate) fn read_version(row: &Row<'_>, column: &str) -> munshi_store::Result<u32> {
    let number: i64 = row.get(column)?;
    u32::try_from(number)
        .map_err(|_| munshi_store::Error::Decode(format!("column `{column}`: {number} is not a version")))
}

fn json<T: DeserializeOwned>(row: &Row<'_>, column: &str) -> munshi_store::Result<T> {
    row.get::<JsonText>(column)?.read()
}

impl NewTierVersion {
    pub(crate) fn new(version: u32, body: &TierBody, tokens: &TierTokenCounts) -> Result<Self> {
        Ok(Self { version, body: JsonText::of(body)?, tokens: JsonText::of(tokens)? })
    }
}

/// A binding's id is its tier's.
pub(crate) fn as_binding(id: TierId) -> munshi_types::BindingId {
    munshi_types::BindingId::from_uuid(id.as_uuid())
}
