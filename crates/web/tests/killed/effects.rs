//! What causes have led to, as the database and the world tell it: everything counted, so that what is there twice is seen.

use std::collections::BTreeMap;

use munshi_store::{Db, Result, Row, SealedColumn, Tx, params};
use munshi_types::{DeliveryId, MessageId, RunId, TenantId, Timestamp};

use super::world::World;

/// Each line has a name and how often there is such a thing.
const COUNTED: [&str; 8] = [
    "SELECT 'notice ' || title, COUNT(*) FROM notices WHERE tenant_id = $1 GROUP BY title",
    "SELECT 'message of ' || speaker, COUNT(*) FROM messages WHERE tenant_id = $1 AND speaker <> 'persona' GROUP BY speaker",
    "SELECT 'reply', COUNT(*) FROM messages m WHERE tenant_id = $1
       AND EXISTS (SELECT 1 FROM runs r WHERE r.tenant_id = $1 AND r.reply_id = m.id)",
    "SELECT 'act ' || tool || ' ' || state || coalesce(' by ' || stage || ', ' || code, ''), COUNT(*) FROM acts
     WHERE tenant_id = $1 GROUP BY tool, state, stage, code",
    "SELECT 'approval of ' || a.tool || ' ' || p.state, COUNT(*)
     FROM approvals p JOIN acts a ON a.tenant_id = $1 AND a.id = p.act_id WHERE p.tenant_id = $1 GROUP BY a.tool, p.state",
    "SELECT 'told ' || event, COUNT(*) FROM audit_entries WHERE tenant_id = $1
       AND event IN ('board.pinned', 'board.unpinned', 'alert.raised') GROUP BY event",
    "SELECT 'still set aside', COUNT(*) FROM usage_reservations WHERE tenant_id = $1 AND (state = 'held' OR interactions > 0)
     HAVING COUNT(*) > 0",
    // Others come again by the clock, or once for each reason to go on with a run.
    "SELECT 'job ' || kind || ' ' || state, COUNT(*) FROM jobs WHERE tenant_id = $1
       AND (state = 'dead' OR kind IN ('board.sweep', 'board.digest', 'pack.delivery')) GROUP BY kind, state",
];

/// Runs by how they ended; why is sealed.
fn count_runs(tx: &mut Tx<'_>, all: &mut Effects) -> Result<()> {
    let read = |row: &Row<'_>| -> Result<String> {
        let (id, kind, state): (RunId, String, String) = (row.get(0)?, row.get(1)?, row.get(2)?);
        let reason: Option<String> = row.get_sealed(3, SealedColumn::new("runs", "reason").cell(id))?;
        let because = reason.map(|reason| format!(" because {reason}")).unwrap_or_default();
        Ok(format!("run {kind} {state}{because}"))
    };
    let runs = tx.all("SELECT id, kind, state, reason FROM runs WHERE tenant_id = $1", params![], read)?;
    runs.into_iter().for_each(|run| *all.entry(run).or_default() += 1);
    Ok(())
}

/// Deliveries by what the sender calls them, which is sealed.
fn count_deliveries(tx: &mut Tx<'_>, all: &mut Effects) -> Result<()> {
    let read = |row: &Row<'_>| -> Result<String> {
        let (id, state): (DeliveryId, String) = (row.get(0)?, row.get(2)?);
        let sender: String =
            row.get_sealed(1, SealedColumn::new("pack_deliveries", "shown_sender").cell(id))?;
        Ok(format!("delivery {sender} {state}"))
    };
    let sql = "SELECT id, shown_sender, state FROM pack_deliveries WHERE tenant_id = $1";
    let deliveries = tx.all(sql, params![], read)?;
    deliveries.into_iter().for_each(|delivery| *all.entry(delivery).or_default() += 1);
    Ok(())
}

/// A question is told in the conversation where it was not answered before that; none has the words of another. Those that
/// were told more than once.
fn count_told_again(tx: &mut Tx<'_>, all: &mut Effects) -> Result<()> {
    let read = |row: &Row<'_>| -> Result<String> {
        let id: MessageId = row.get(0)?;
        row.get_sealed(1, SealedColumn::new("messages", "text").cell(id))
    };
    let told = tx.all(
        "SELECT id, text FROM messages m WHERE tenant_id = $1 AND speaker = 'persona'
           AND NOT EXISTS (SELECT 1 FROM runs r WHERE r.tenant_id = $1 AND r.reply_id = m.id)",
        params![],
        read,
    )?;
    let mut times = Effects::new();
    told.into_iter().for_each(|text| *times.entry(format!("told again: {text}")).or_default() += 1);
    all.extend(times.into_iter().filter(|(_, times)| *times > 1));
    Ok(())
}

/// What there is when each cause has had its effect once, two days later.
pub(crate) const WANTED: &[(&str, i64)] = &[
    // The message that needs no model; its turn has a sweep done, and the schedule has one done each night.
    ("notice Water", 1),
    ("act pin_notice applied", 11),
    ("job board.sweep done", 3),
    // What tools handed over: one run, and one with two of its own.
    ("notice Rent", 1),
    ("notice Reminder: Rent", 1),
    ("notice Lift", 1),
    ("notice Reminder: Lift", 1),
    ("notice Roof", 1),
    ("notice Reminder: Roof", 1),
    ("act remind_me applied", 1),
    ("act remind_all applied", 1),
    ("run board.announce done", 1),
    // Two of announcing, one of reminding, and one for each delivery.
    ("run board.remind done", 5),
    // Sent, and found in the feed under the same id; and one that the feed alone has. Each is put up when it comes, and twice more by
    // its run.
    ("delivery sent-1 handled", 1),
    ("delivery feed-1 handled", 1),
    ("job pack.delivery done", 2),
    ("notice Gas", 2),
    ("notice Reminder: Gas", 1),
    ("notice Power", 2),
    ("notice Reminder: Power", 1),
    // Whatever is put up is asked about first, each once.
    ("approval of pin_notice granted", 11),
    // Elsewhere.
    ("act send_circular applied", 1),
    ("circular sent", 1),
    // The turns, and what they said.
    ("run message done", 4),
    ("message of person", 4),
    ("reply", 4),
    // The job, the heartbeat, the form and the operation.
    ("job board.digest done", 1),
    ("notice Digest", 1),
    ("notice Stale", 1),
    ("told alert.raised", 1),
    ("notice Form", 1),
    ("told board.pinned", 1),
    ("told board.unpinned", 1),
];

pub(crate) type Effects = BTreeMap<String, i64>;

pub(crate) async fn count(db: &Db, tenant: TenantId, world: &World) -> Effects {
    let read = |tx: &mut Tx<'_>| -> Result<Effects> {
        let mut all = Effects::new();
        for sql in COUNTED {
            all.extend(tx.all(sql, params![], |row| Ok((row.get(0)?, row.get::<i64>(1)?)))?);
        }
        count_runs(tx, &mut all)?;
        count_deliveries(tx, &mut all)?;
        count_told_again(tx, &mut all)?;
        Ok(all)
    };
    let mut all = db.read(tenant, read).await.unwrap();
    let sent: usize = world.ledger.lock().unwrap().circulars.values().sum();
    if sent > 0 {
        all.insert("circular sent".to_owned(), i64::try_from(sent).unwrap());
    }
    all
}

/// What is missing, double, or there without a cause.
pub(crate) fn compare(found: &Effects) -> Vec<String> {
    let wanted: Effects = WANTED.iter().map(|(name, count)| ((*name).to_owned(), *count)).collect();
    let names = wanted.keys().chain(found.keys().filter(|name| !wanted.contains_key(*name)));
    let differs = |name: &String| {
        let (found, wanted) = (found.get(name).unwrap_or(&0), wanted.get(name).unwrap_or(&0));
        (found != wanted).then(|| format!("{name}: {found} instead of {wanted}"))
    };
    names.filter_map(differs).collect()
}

/// What is still under way: jobs that are due within the hour, runs that wait for neither a time nor for others, and acts.
pub(crate) async fn list_open(db: &Db, tenant: TenantId, now: Timestamp) -> Vec<String> {
    let soon = now.plus(std::time::Duration::from_secs(3600));
    let read = move |tx: &mut Tx<'_>| -> Result<Vec<String>> {
        tx.all(
            "SELECT 'job ' || kind || ' ' || state || coalesce(' after ' || last_error, '') FROM jobs WHERE tenant_id = $1
               AND (state IN ('ready', 'running') OR (state = 'scheduled' AND run_at < $2))
             UNION ALL SELECT 'run ' || kind || ' ' || state FROM runs WHERE tenant_id = $1 AND ended_at IS NULL
               AND state NOT IN ('waiting_timer', 'waiting_child')
             UNION ALL SELECT 'act ' || a.tool || ' ' || a.state FROM act_leases l
               JOIN acts a ON a.tenant_id = $1 AND a.id = l.act_id WHERE l.tenant_id = $1",
            params![soon],
            |row| row.get(0),
        )
    };
    db.read(tenant, read).await.unwrap()
}
