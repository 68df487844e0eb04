//! A chain to work on, and somebody with every right to spoil it.
#![allow(dead_code, reason = "each test file uses a part")]

use std::sync::Arc;

use munshi_jobs::JobQueue;
use munshi_safety::Result;
use munshi_safety::audit::anchors::{AnchorFile, AnchorService};
use munshi_safety::audit::{self, AuditActor, AuditActorKind, AuditEntry, AuditEvent, NewAuditEntry};
use munshi_store::DatabaseAddress;
use munshi_test_support::{DatabaseEngine, PATIENCE, TestDb};
use munshi_types::{EntryId, Id, TenantId};
use serde_json::json;

pub(crate) fn entry(number: i64) -> NewAuditEntry {
    NewAuditEntry {
        actor: AuditActor::new(AuditActorKind::Agent, format!("agent's {number}")),
        event: AuditEvent::ACT_APPLIED,
        subject: "ledger.add".to_owned(),
        payload: json!({ "amount": number, "to": "राजन", "why": ["a \"b\"", null, 0.5] }),
    }
}

pub(crate) async fn append(test: &TestDb, tenant: TenantId, number: i64) -> Result<EntryId> {
    let (ids, now) = (test.ids.clone(), munshi_types::Clock::now(test.clock.as_ref()));
    test.db.write(tenant, move |tx| audit::append(tx, &entry(number), now, &ids)).await
}

/// A tenant with a chain of so many entries.
pub(crate) async fn chain(test: &TestDb, name: &str, entries: i64) -> TenantId {
    let tenant = test.add_tenant(name).await;
    for number in 1..=entries {
        append(test, tenant, number).await.unwrap();
    }
    tenant
}

pub(crate) async fn entries(test: &TestDb, tenant: TenantId) -> Vec<AuditEntry> {
    test.db.read(tenant, |tx| audit::list_after(tx, i64::MIN, 10_000)).await.unwrap()
}

pub(crate) fn anchoring(test: &TestDb, every: i64) -> AnchorService {
    let file = AnchorFile::new(test.place.folder().join("anchors.jsonl"));
    let queue = JobQueue::new(test.clock.clone(), test.ids.clone());
    AnchorService::new(test.db.clone(), file, every, queue, test.clock.clone(), test.ids.clone())
}

pub(crate) fn bytes(test: &TestDb, bytes: &[u8]) -> String {
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    match test.engine() {
        DatabaseEngine::Sqlite => format!("x'{hex}'"),
        DatabaseEngine::Postgres => format!("'\\x{hex}'::bytea"),
    }
}

pub(crate) fn uuid(test: &TestDb, id: impl Id) -> String {
    match test.engine() {
        DatabaseEngine::Sqlite => bytes(test, id.as_uuid().as_bytes()),
        DatabaseEngine::Postgres => format!("'{id}'::uuid"),
    }
}

/// Those that stand in the way of somebody who has the file.
const TRIGGERS: &str = "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND name LIKE 'audit_%'";

/// Runs statements as somebody who is held by no rule: the server's superuser, or whoever has the file and takes the
/// triggers away.
pub(crate) fn by_force(test: &TestDb, statements: &str) {
    force(test, statements);
}

/// The same, with the triggers put back, so that others can go on.
pub(crate) fn by_force_keeping_triggers(test: &TestDb, statements: &str) {
    let triggers = force(test, statements);
    if let DatabaseAddress::Sqlite(path) = &test.address {
        let raw = rusqlite::Connection::open(path).unwrap();
        raw.busy_timeout(PATIENCE).unwrap();
        raw.execute_batch(&triggers.join(";\n")).unwrap();
    }
}

/// Gives the triggers that were taken away.
fn force(test: &TestDb, statements: &str) -> Vec<String> {
    let path = match &test.address {
        DatabaseAddress::Postgres(_) => {
            test.place.run_as_superuser(statements);
            return Vec::new();
        }
        DatabaseAddress::Sqlite(path) => path,
    };
    let raw = rusqlite::Connection::open(path).unwrap();
    raw.busy_timeout(PATIENCE).unwrap();
    let found: Vec<(String, String)> = raw
        .prepare(TRIGGERS)
        .unwrap()
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
        .unwrap()
        .collect::<rusqlite::Result<_>>()
        .unwrap();
    let drops: String = found.iter().map(|(name, _)| format!("DROP TRIGGER {name};")).collect();
    raw.execute_batch(&format!("BEGIN IMMEDIATE; {drops} {statements}; COMMIT")).unwrap();
    found.into_iter().map(|(_, text)| text).collect()
}

/// A statement with values in it: who works by force has no parameters.
pub(crate) fn filled(text: &str, values: &[String]) -> String {
    let numbered = values.iter().enumerate().rev();
    numbered.fold(text.to_owned(), |text, (at, value)| text.replace(&format!("${}", at + 1), value))
}

/// Puts these rows in the place of a tenant's chain; the head stays as it was.
pub(crate) fn rewrite(test: &TestDb, tenant: TenantId, rows: &[AuditEntry]) {
    let mut text = filled("DELETE FROM audit_entries WHERE tenant_id = $1;", &[uuid(test, tenant)]);
    for row in rows {
        let quoted = |text: &str| format!("'{}'", text.replace('\'', "''"));
        let time = match test.engine() {
            DatabaseEngine::Sqlite => row.made_at.as_micros().to_string(),
            DatabaseEngine::Postgres => format!("'{}'::timestamptz", row.made_at),
        };
        let values = [
            uuid(test, row.tenant),
            row.seq.to_string(),
            uuid(test, row.id),
            time,
            quoted(&row.actor_kind),
            quoted(&row.actor_id),
            quoted(&row.event),
            quoted(&row.subject),
            quoted(&row.payload),
            bytes(test, &row.prev.0),
            bytes(test, &row.hash.0),
        ];
        text += &filled("INSERT INTO audit_entries VALUES ($1);", &[values.join(", ")]);
    }
    by_force(test, &text);
}

/// What somebody does who knows how hashes are made: every row from here on follows the one before again.
pub(crate) fn rehash(rows: &mut [AuditEntry]) {
    let mut prev = audit::ChainHash::START;
    for (row, seq) in rows.iter_mut().zip(1..) {
        row.seq = seq;
        row.prev = prev;
        row.hash = row.computed_hash();
        prev = row.hash;
    }
}

/// And puts the head right, too.
pub(crate) fn set_head(test: &TestDb, tenant: TenantId, seq: i64, hash: audit::ChainHash) {
    let text = "UPDATE audit_heads SET seq = $1, hash = $2 WHERE tenant_id = $3";
    by_force(test, &filled(text, &[seq.to_string(), bytes(test, &hash.0), uuid(test, tenant)]));
}

pub(crate) fn shared<T>(value: T) -> Arc<T> {
    Arc::new(value)
}
