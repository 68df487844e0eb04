//! What came from outside, in the table where it waits to be handled.

use std::time::Duration;

use munshi_jobs::{JobQueue, NewJob};
use munshi_store::{PlatformScope, PlatformTx, Result, Row, Tx, across_tenants, params};
use munshi_types::{DeliveryId, IdGenerator, Timestamp};
use ring::digest::{SHA256, digest};

use crate::delivery_job::{DELIVERY_KIND, PackDeliveryPayload};
use crate::foreign::Foreign;
use crate::run_starter::{NewPackRun, PackRunCause};
use crate::sealed_deliveries::{OpenedDelivery, SealedDelivery, SenderKey};

/// Opens the rows of all tenants, for sweeping.
pub const DELIVERIES: PlatformScope = PlatformScope::new("deliveries");

/// A body is kept this long after it was handled.
const BODY_LIFE: Duration = Duration::from_secs(7 * 86_400);
/// A body that nobody could handle is kept this long.
const UNHANDLED_BODY_LIFE: Duration = Duration::from_secs(30 * 86_400);
/// The sender's ids are kept as they are up to this length, longer ones as their hash.
const LONGEST_ID: usize = 200;
/// No body is larger, by whichever way it came.
pub const LARGEST_DELIVERY: usize = 1024 * 1024;

/// The header of a row that stands for something too large to be stored: how many bytes it had.
const TOO_LARGE: &str = "munshi-too-large";

/// How a delivery came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DeliveryOrigin {
    Webhook,
    Poll,
}

impl DeliveryOrigin {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Webhook => "webhook",
            Self::Poll => "poll",
        }
    }
}

/// A delivery to be stored.
pub struct NewDelivery<'a> {
    pub pack: &'static str,
    pub source: &'static str,
    pub origin: DeliveryOrigin,
    /// Of the webhook or the poll.
    pub name: &'static str,
    /// None: the same body is the same delivery.
    pub sender_id: Option<&'a str>,
    pub headers: &'a [(String, String)],
    pub body: &'a [u8],
}

/// Where deliveries are stored from.
#[derive(Clone)]
pub struct DeliveryQueue {
    pub queue: JobQueue,
    pub ids: IdGenerator,
}

/// What came of storing one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeliveryOutcome {
    Stored(DeliveryId),
    /// The sender's id was there before. Where it still waits and a webhook brought it again, it has a job again.
    Known,
}

impl DeliveryQueue {
    /// Stores it with the job that handles it, in the caller's transaction.
    pub fn store(
        &self,
        tx: &mut Tx<'_>,
        new: &NewDelivery<'_>,
        now: Timestamp,
    ) -> munshi_jobs::Result<DeliveryOutcome> {
        let key = new.key(tx)?;
        if let Some(id) = self.add(tx, new, &key, (now, None))? {
            self.enqueue(tx, id)?;
            return Ok(DeliveryOutcome::Stored(id));
        }
        // A poll reads the same again by itself, so it would try what can't be handled for ever.
        if new.origin == DeliveryOrigin::Webhook {
            self.revive(tx, new, &key, now)?;
        }
        Ok(DeliveryOutcome::Known)
    }

    /// Stores that something came which is too large to be stored: nobody handles it, and its id is known from now on.
    pub(crate) fn store_too_large(
        &self,
        tx: &mut Tx<'_>,
        new: &NewDelivery<'_>,
        now: Timestamp,
    ) -> Result<DeliveryOutcome> {
        let headers = [(TOO_LARGE.to_owned(), new.body.len().to_string())];
        let (key, marker) = (new.key(tx)?, NewDelivery { headers: &headers, body: &[], ..*new });
        let added = self.add(tx, &marker, &key, (now, Some(now)))?;
        Ok(added.map_or(DeliveryOutcome::Known, DeliveryOutcome::Stored))
    }

    /// None where the sender's id was there before.
    fn add(
        &self,
        tx: &mut Tx<'_>,
        new: &NewDelivery<'_>,
        key: &SenderKey,
        (now, handled_at): (Timestamp, Option<Timestamp>),
    ) -> Result<Option<DeliveryId>> {
        // The index does not know that a row from before is of the same id.
        if find_plain(tx, new, key)?.is_some() {
            return Ok(None);
        }
        let id: DeliveryId = self.ids.next();
        let sealed = SealedDelivery::seal(tx, id, new, &key.plain)?;
        let (state, body) = match handled_at {
            Some(_) => ("handled", None),
            None => ("waiting", Some(sealed.body)),
        };
        let added = tx.execute(
            "INSERT INTO pack_deliveries (tenant_id, id, pack, source, sender_id, origin, name, received_at, headers,
                                          body, state, handled_at, shown_sender)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
             ON CONFLICT (tenant_id, pack, source, sender_id) DO NOTHING",
            params![
                id,
                new.pack,
                new.source,
                key.hashed,
                new.origin.as_str(),
                new.name,
                now,
                sealed.headers,
                body,
                state,
                handled_at,
                sealed.shown_sender
            ],
        )?;
        Ok((added == 1).then_some(id))
    }

    /// Has a delivery that waits handled, though its job is dead. A body that has gone meanwhile is the one that was sent now.
    fn revive(
        &self,
        tx: &mut Tx<'_>,
        new: &NewDelivery<'_>,
        key: &SenderKey,
        now: Timestamp,
    ) -> munshi_jobs::Result<()> {
        let waiting: Option<DeliveryId> = tx.optional(
            "SELECT id FROM pack_deliveries
             WHERE tenant_id = $1 AND pack = $2 AND source = $3 AND sender_id IN ($4, $5) AND state = 'waiting'",
            params![new.pack, new.source, key.hashed, key.plain],
            |row| row.get(0),
        )?;
        let Some(id) = waiting else { return Ok(()) };
        let SealedDelivery { shown_sender, headers, body } = SealedDelivery::seal(tx, id, new, &key.plain)?;
        tx.execute(
            "UPDATE pack_deliveries SET origin = $3, name = $4, received_at = $5, headers = $6, body = $7,
                    sender_id = $8, shown_sender = $9
             WHERE tenant_id = $1 AND id = $2 AND body IS NULL",
            params![id, new.origin.as_str(), new.name, now, headers, body, key.hashed, shown_sender],
        )?;
        self.enqueue(tx, id)
    }

    /// One job at a time for each delivery.
    fn enqueue(&self, tx: &mut Tx<'_>, id: DeliveryId) -> munshi_jobs::Result<()> {
        let job = NewJob::new(DELIVERY_KIND, &PackDeliveryPayload { delivery: id })?;
        self.queue.enqueue(tx, &job.unique(id.to_string())).map(drop)
    }
}

impl NewDelivery<'_> {
    fn key(&self, tx: &Tx<'_>) -> Result<SenderKey> {
        SenderKey::of(tx, (self.pack, self.source), build_sender_id(self))
    }
}

/// A delivery of the same id from before ids were hashed.
fn find_plain(tx: &mut Tx<'_>, new: &NewDelivery<'_>, key: &SenderKey) -> Result<Option<DeliveryId>> {
    tx.optional(
        "SELECT id FROM pack_deliveries WHERE tenant_id = $1 AND pack = $2 AND source = $3 AND sender_id = $4",
        params![new.pack, new.source, key.plain],
        |row| row.get(0),
    )
}

/// The sender's own id, or a hash where there is none that can be kept.
fn build_sender_id(new: &NewDelivery<'_>) -> String {
    let hash = |bytes: &[u8]| {
        let hex: String = digest(&SHA256, bytes).as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
        format!("sha256:{hex}")
    };
    match new.sender_id {
        Some(id) if !id.is_empty() && id.len() <= LONGEST_ID && !id.contains('\0') => id.to_owned(),
        Some(id) if !id.is_empty() => hash(id.as_bytes()),
        _ => hash(new.body),
    }
}

/// A stored delivery, as its pack gets it.
#[derive(Clone, Debug)]
pub struct PackDelivery {
    pub id: DeliveryId,
    pub source: String,
    /// The sender's id; `sha256:` and a hash where it had none.
    pub sender_id: String,
    pub received_at: Timestamp,
    /// Those that the webhook keeps.
    pub headers: Vec<(String, String)>,
    pub body: Foreign<Vec<u8>>,
}

impl PackDelivery {
    /// A run that this delivery begins: once for a kind, however often the delivery is handled. One that brings several things adds
    /// to the key which of them it is.
    pub fn build_run(&self, kind: impl Into<String>, input: Foreign<serde_json::Value>) -> NewPackRun {
        NewPackRun {
            kind: kind.into(),
            cause: PackRunCause::Event,
            cause_key: Some(format!("delivery/{}", self.id)),
            input: input.into_inner(),
        }
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }
}

/// A row, with who handles it.
pub(crate) struct DeliveryRow {
    pub(crate) pack: String,
    pub(crate) origin: String,
    pub(crate) name: String,
    pub(crate) is_handled: bool,
    /// Not once it was kept for too long.
    pub(crate) has_body: bool,
    pub(crate) delivery: PackDelivery,
}

pub(crate) fn find(tx: &mut Tx<'_>, id: DeliveryId) -> Result<Option<DeliveryRow>> {
    tx.optional(
        "SELECT id, pack, source, sender_id, shown_sender, origin, name, received_at, headers, body, state
         FROM pack_deliveries
         WHERE tenant_id = $1 AND id = $2",
        params![id],
        read,
    )
}

fn read(row: &Row<'_>) -> Result<DeliveryRow> {
    let id = row.get("id")?;
    let OpenedDelivery { sender_id, headers, body } = OpenedDelivery::read(row, id)?;
    Ok(DeliveryRow {
        pack: row.get("pack")?,
        origin: row.get("origin")?,
        name: row.get("name")?,
        is_handled: row.get::<String>("state")? == "handled",
        has_body: body.is_some(),
        delivery: PackDelivery {
            id,
            source: row.get("source")?,
            sender_id,
            received_at: row.get("received_at")?,
            headers,
            body: Foreign::new(body.unwrap_or_default()),
        },
    })
}

/// False where another job has handled it meanwhile.
pub(crate) fn mark_handled(tx: &mut Tx<'_>, id: DeliveryId, now: Timestamp) -> Result<bool> {
    let marked = tx.execute(
        "UPDATE pack_deliveries SET state = 'handled', handled_at = $3
         WHERE tenant_id = $1 AND id = $2 AND state = 'waiting'",
        params![id, now],
    )?;
    Ok(marked == 1)
}

/// Removes the bodies of what was handled a week ago, and of what nobody could handle for a month, for all tenants; says how many
/// those were.
pub fn sweep(tx: &mut PlatformTx<'_>, now: Timestamp) -> Result<u64> {
    let sql = across_tenants(
        "UPDATE pack_deliveries SET body = NULL, headers = '[]' WHERE handled_at < $1 AND body IS NOT NULL",
    );
    let handled = tx.execute(sql, params![now.minus(BODY_LIFE)])?;
    let sql = across_tenants(
        "UPDATE pack_deliveries SET body = NULL, headers = '[]'
         WHERE handled_at IS NULL AND received_at < $1 AND body IS NOT NULL",
    );
    let unhandled = tx.execute(sql, params![now.minus(UNHANDLED_BODY_LIFE)])?;
    if unhandled > 0 {
        tracing::warn!(unhandled, "removed the bodies of deliveries that no pack could handle for 30 days");
    }
    Ok(handled + unhandled)
}
