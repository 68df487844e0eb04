//! What heartbeats found: stored under its key, told once, cleared when a beat comes without it. What the house finds by itself is raised
//! and cleared one by one.

use std::collections::{BTreeMap, BTreeSet};

use munshi_identity::PersonalData;
use munshi_safety::audit::{self, AuditActor, AuditActorKind, AuditEvent, NewAuditEntry};
use munshi_store::{
    Cursor, Error, JsonText, Page, PageRequest, PlainColumn, Result, Row, SealedBy, SealedColumn, SealedKey,
    SealedTable, SealedText, Tx, params, sql_in_both_orders,
};
use munshi_types::{AlertId, Id, IdGenerator, Timestamp};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::heartbeat::{Alert, AlertSeverity};
use crate::subjects::RecordData;

const TEXT: SealedColumn = SealedColumn::new("pack_alerts", "text");
const SLOTS: SealedColumn = SealedColumn::new("pack_alerts", "slots");

/// Alerts from before they were sealed.
pub(crate) const ALERTS_OF_BEFORE: SealedTable = SealedTable {
    name: "pack_alerts",
    key: SealedKey::Id,
    next: (
        "SELECT id AS row_id, NULL AS person, text, slots FROM pack_alerts
         WHERE tenant_id = $1 AND id > $2 ORDER BY id LIMIT $3",
        "SELECT id AS row_id, NULL AS person, text, slots FROM pack_alerts
         WHERE tenant_id = $1 AND id > $2 ORDER BY id LIMIT $3 FOR NO KEY UPDATE",
    ),
    update: "UPDATE pack_alerts SET text = $3, slots = $4 WHERE tenant_id = $1 AND id = $2",
    columns: &[PlainColumn::Text(TEXT), PlainColumn::Json(SLOTS)],
};

/// A stored alert.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredAlert {
    pub id: AlertId,
    pub pack: String,
    pub heartbeat: String,
    pub key: String,
    pub severity: AlertSeverity,
    /// In English.
    pub text: String,
    pub phrase: String,
    pub slots: Vec<(String, String)>,
    pub first_seen: Timestamp,
    pub last_seen: Timestamp,
    /// When it was told: today in the log and the tenant's audit.
    pub told_at: Option<Timestamp>,
    /// When a beat came without it; none while it is open.
    pub cleared_at: Option<Timestamp>,
}

/// An alert with its words, as a beat found it.
pub struct WordedAlert {
    pub alert: Alert,
    /// In English.
    pub text: String,
}

/// Whose alerts are brought up to date, and when.
pub struct AlertSource {
    pub pack: &'static str,
    pub heartbeat: &'static str,
    pub now: Timestamp,
    pub ids: IdGenerator,
}

/// What a beat changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct AlertChanges {
    pub(crate) raised: usize,
    pub(crate) cleared: usize,
}

/// Makes the open alerts of a heartbeat what this beat found. What is new is told, in the audit of the same transaction; what
/// was there is seen once more; what is gone is cleared.
pub(crate) fn record_beat(
    tx: &mut Tx<'_>,
    source: &AlertSource,
    found: &[WordedAlert],
) -> Result<AlertChanges, munshi_safety::Error> {
    let open = list_open_keys(tx, source)?;
    let mut keys = BTreeSet::new();
    let mut entries = Vec::new();
    let mut changes = AlertChanges::default();
    for one in found.iter().filter(|one| keys.insert(one.alert.key.clone())) {
        match open.get(&one.alert.key) {
            Some(id) => update_seen(tx, source, *id, one)?,
            None => {
                insert(tx, source, one)?;
                changes.raised += 1;
                entries.push(build_entry(source, AuditEvent::ALERT_RAISED, &one.alert.key, Some(one)));
            }
        }
    }
    for (key, id) in open.iter().filter(|(key, _)| !keys.contains(*key)) {
        let clear = "UPDATE pack_alerts SET cleared_at = $3 WHERE tenant_id = $1 AND id = $2";
        tx.execute(clear, params![*id, source.now])?;
        changes.cleared += 1;
        entries.push(build_entry(source, AuditEvent::ALERT_CLEARED, key, None));
    }
    audit::append_all(tx, &entries, source.now, &source.ids)?;
    Ok(changes)
}

/// Raises one alert, whatever else its source has open; one that is open already is seen once more. Call it last: it writes to the audit.
pub fn raise(tx: &mut Tx<'_>, source: &AlertSource, one: &WordedAlert) -> Result<(), munshi_safety::Error> {
    if let Some(id) = list_open_keys(tx, source)?.get(&one.alert.key) {
        return Ok(update_seen(tx, source, *id, one)?);
    }
    insert(tx, source, one)?;
    let entry = build_entry(source, AuditEvent::ALERT_RAISED, &one.alert.key, Some(one));
    audit::append_all(tx, &[entry], source.now, &source.ids)
}

/// Clears the open alerts with a key, or with one that goes on behind it and a slash. Call it last: it writes to the audit.
pub fn clear_under(tx: &mut Tx<'_>, source: &AlertSource, key: &str) -> Result<(), munshi_safety::Error> {
    let below = format!("{key}/");
    let open = list_open_keys(tx, source)?;
    let mut entries = Vec::new();
    for (key, id) in open.iter().filter(|(open, _)| *open == key || open.starts_with(&below)) {
        let clear = "UPDATE pack_alerts SET cleared_at = $3 WHERE tenant_id = $1 AND id = $2";
        tx.execute(clear, params![*id, source.now])?;
        entries.push(build_entry(source, AuditEvent::ALERT_CLEARED, key, None));
    }
    match entries.is_empty() {
        true => Ok(()),
        false => audit::append_all(tx, &entries, source.now, &source.ids),
    }
}

/// Alerts about somebody: those whose key names their id.
pub const PERSONAL_DATA: &[PersonalData] = &[PersonalData {
    name: "alerts",
    list_next: |tx, person, after, limit| list_about(tx, person.as_uuid(), after, limit),
    show: show_alert,
    erase: delete,
}];

/// Alerts about a pack's record of somebody.
pub const RECORD_DATA: RecordData = RecordData { name: "alerts", list_next: list_about, show: show_alert };

fn list_about(tx: &mut Tx<'_>, subject: Uuid, after: Uuid, limit: u32) -> Result<Vec<Uuid>> {
    tx.all(
        "SELECT id FROM pack_alerts WHERE tenant_id = $1 AND key LIKE $2 AND id > $3 ORDER BY id LIMIT $4",
        params![format!("%{subject}%"), after, limit],
        |row| row.get(0),
    )
}

fn show_alert(tx: &mut Tx<'_>, id: Uuid) -> Result<Option<Value>> {
    let found = find(tx, AlertId::from_uuid(id))?;
    Ok(found.map(|alert| {
        json!({
            "text": alert.text,
            "severity": alert.severity.as_str(),
            "first_seen": alert.first_seen,
            "last_seen": alert.last_seen,
            "cleared_at": alert.cleared_at,
        })
    }))
}

fn delete(tx: &mut Tx<'_>, alerts: &[Uuid]) -> Result<u64> {
    let mut deleted = 0;
    for alert in alerts {
        deleted += tx.execute("DELETE FROM pack_alerts WHERE tenant_id = $1 AND id = $2", params![*alert])?;
    }
    Ok(deleted)
}

/// Deletes the alerts whose key names a record of somebody who was forgotten. One that still holds is raised again by the
/// next beat, without their name.
pub fn delete_about(tx: &mut Tx<'_>, subject: Uuid) -> Result<u64> {
    tx.execute(
        "DELETE FROM pack_alerts WHERE tenant_id = $1 AND key LIKE $2",
        params![format!("%{subject}%")],
    )
}

fn list_open_keys(tx: &mut Tx<'_>, source: &AlertSource) -> Result<BTreeMap<String, AlertId>> {
    let rows = tx.all(
        "SELECT key, id FROM pack_alerts
         WHERE tenant_id = $1 AND pack = $2 AND heartbeat = $3 AND cleared_at IS NULL",
        params![source.pack, source.heartbeat],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?;
    Ok(rows.into_iter().collect())
}

/// The words may have changed: a balance is lower than it was.
fn update_seen(tx: &mut Tx<'_>, source: &AlertSource, id: AlertId, one: &WordedAlert) -> Result<()> {
    let Alert { severity, phrase, .. } = &one.alert;
    let (text, slots) = seal_words(tx, id, one)?;
    tx.execute(
        "UPDATE pack_alerts SET last_seen = $3, severity = $4, text = $5, phrase = $6, slots = $7
         WHERE tenant_id = $1 AND id = $2",
        params![id, source.now, severity.as_str(), text, phrase, slots],
    )?;
    Ok(())
}

fn insert(tx: &mut Tx<'_>, source: &AlertSource, one: &WordedAlert) -> Result<()> {
    let (id, Alert { key, severity, phrase, .. }) = (source.ids.next::<AlertId>(), &one.alert);
    let (pack, heartbeat, now) = (source.pack, source.heartbeat, source.now);
    let (text, slots) = seal_words(tx, id, one)?;
    tx.execute(
        "INSERT INTO pack_alerts (tenant_id, id, pack, heartbeat, key, severity, text, phrase, slots, first_seen,
                                  last_seen, told_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $10, $10)",
        params![id, pack, heartbeat, key, severity.as_str(), text, phrase, slots, now],
    )?;
    Ok(())
}

/// They name people and amounts, and belong to no one person.
fn seal_words(tx: &Tx<'_>, id: AlertId, one: &WordedAlert) -> Result<(SealedText, JsonText)> {
    let text = tx.seal(SealedBy::Tenant, TEXT.cell(id), &one.text)?;
    Ok((text, tx.seal_json(SealedBy::Tenant, SLOTS.cell(id), &one.alert.slots)?))
}

fn build_entry(
    source: &AlertSource,
    event: AuditEvent,
    key: &str,
    one: Option<&WordedAlert>,
) -> NewAuditEntry {
    let mut payload = json!({ "key": key });
    if let Some(one) = one {
        payload["severity"] = json!(one.alert.severity.as_str());
        payload["phrase"] = json!(one.alert.phrase);
    }
    let subject = format!("{}.{}", source.pack, source.heartbeat);
    let actor = AuditActor::new(AuditActorKind::System, format!("heartbeat {subject}"));
    NewAuditEntry { actor, event, subject, payload }
}

/// Which alerts are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AlertFilter {
    Open,
    All,
}

/// Alerts by when they were first seen.
pub fn list(tx: &mut Tx<'_>, filter: AlertFilter, request: &PageRequest) -> Result<Page<StoredAlert>> {
    let rows = tx.all(
        request.choose(sql_in_both_orders!(
            "SELECT id, pack, heartbeat, key, severity, text, phrase, slots, first_seen, last_seen, told_at, cleared_at
             FROM pack_alerts
             WHERE tenant_id = $1 AND (first_seen, id) < ($2, $3) AND (cleared_at IS NULL OR $4)
             ORDER BY first_seen DESC, id DESC LIMIT $5"
        )),
        params![request.after.time, request.after.id, filter == AlertFilter::All, request.fetch_limit()],
        read,
    )?;
    Ok(Page::from_rows(rows, request, |alert| Cursor { time: alert.first_seen, id: alert.id.as_uuid() }))
}

/// Open alerts that don't wait for the next summary.
pub fn list_pressing(tx: &mut Tx<'_>, request: &PageRequest) -> Result<Page<StoredAlert>> {
    let rows = tx.all(
        request.choose(sql_in_both_orders!(
            "SELECT id, pack, heartbeat, key, severity, text, phrase, slots, first_seen, last_seen, told_at, cleared_at
             FROM pack_alerts
             WHERE tenant_id = $1 AND (first_seen, id) < ($2, $3) AND cleared_at IS NULL
               AND severity IN ('warning', 'urgent')
             ORDER BY first_seen DESC, id DESC LIMIT $4"
        )),
        params![request.after.time, request.after.id, request.fetch_limit()],
        read,
    )?;
    Ok(Page::from_rows(rows, request, |alert| Cursor { time: alert.first_seen, id: alert.id.as_uuid() }))
}

/// Those of them that were seen first since a time, the oldest first: so many at most.
pub fn list_pressing_since(tx: &mut Tx<'_>, since: Timestamp, most: u32) -> Result<Vec<StoredAlert>> {
    tx.all(
        "SELECT id, pack, heartbeat, key, severity, text, phrase, slots, first_seen, last_seen, told_at, cleared_at
         FROM pack_alerts
         WHERE tenant_id = $1 AND first_seen > $2 AND cleared_at IS NULL AND severity IN ('warning', 'urgent')
         ORDER BY first_seen, id LIMIT $3",
        params![since, most],
        read,
    )
}

pub fn find(tx: &mut Tx<'_>, id: AlertId) -> Result<Option<StoredAlert>> {
    tx.optional(
        "SELECT id, pack, heartbeat, key, severity, text, phrase, slots, first_seen, last_seen, told_at, cleared_at
         FROM pack_alerts WHERE tenant_id = $1 AND id = $2",
        params![id],
        read,
    )
}

fn read(row: &Row<'_>) -> Result<StoredAlert> {
    let id: AlertId = row.get("id")?;
    Ok(StoredAlert {
        id,
        pack: row.get("pack")?,
        heartbeat: row.get("heartbeat")?,
        key: row.get("key")?,
        severity: row.get::<String>("severity")?.parse().map_err(Error::Decode)?,
        text: row.get_sealed("text", TEXT.cell(id))?,
        phrase: row.get("phrase")?,
        slots: row.get_sealed::<JsonText>("slots", SLOTS.cell(id))?.read()?,
        first_seen: row.get("first_seen")?,
        last_seen: row.get("last_seen")?,
        told_at: row.get("told_at")?,
        cleared_at: row.get("cleared_at")?,
    })
}
