//! How deliveries stand in their rows: sealed by the tenant's key, and known by keyed hashes of what senders call them.

use munshi_store::{Error, JsonText, Result, Row, RowMark, SealedBy, SealedColumn, Tx, params};
use munshi_types::{DeliveryId, Id};

use crate::delivery::NewDelivery;

const HEADERS: SealedColumn = SealedColumn::new("pack_deliveries", "headers");
const BODY: SealedColumn = SealedColumn::new("pack_deliveries", "body");
const SHOWN_SENDER: SealedColumn = SealedColumn::new("pack_deliveries", "shown_sender");

/// What a hashed id of a sender begins with; `1` is this way of hashing it.
const HASHED: &str = "h1:";

/// Bodies have up to a megabyte, so few rows from before are sealed in one unit of work.
const MOST_AT_ONCE: u32 = 5;

/// The sender's id as statements look for it: by its hash, or as it stood before ids were hashed.
pub(crate) struct SenderKey {
    pub(crate) hashed: String,
    pub(crate) plain: String,
}

impl SenderKey {
    /// Within a pack's source.
    pub(crate) fn of(tx: &Tx<'_>, (pack, source): (&str, &str), sender_id: String) -> Result<Self> {
        let value = [pack, source, sender_id.as_str()].join("\0");
        let hash = tx.hash("pack_deliveries.sender_id", value.as_bytes())?;
        let hashed = hash.iter().fold(HASHED.to_owned(), |text, byte| format!("{text}{byte:02x}"));
        Ok(Self { hashed, plain: sender_id })
    }
}

/// What stands in a delivery's row in place of what came.
pub(crate) struct SealedDelivery {
    pub(crate) shown_sender: String,
    pub(crate) headers: JsonText,
    pub(crate) body: Vec<u8>,
}

impl SealedDelivery {
    pub(crate) fn seal(tx: &Tx<'_>, id: DeliveryId, new: &NewDelivery<'_>, sender_id: &str) -> Result<Self> {
        Ok(Self {
            shown_sender: tx.seal(SealedBy::Tenant, SHOWN_SENDER.cell(id), sender_id)?.into_text(),
            headers: tx.seal_json(SealedBy::Tenant, HEADERS.cell(id), &new.headers)?,
            body: tx.seal_bytes(SealedBy::Tenant, BODY.cell(id), new.body)?,
        })
    }
}

/// What came, as it was before it was sealed.
pub(crate) struct OpenedDelivery {
    pub(crate) sender_id: String,
    pub(crate) headers: Vec<(String, String)>,
    /// Not once it was kept for too long.
    pub(crate) body: Option<Vec<u8>>,
}

impl OpenedDelivery {
    /// Of a row that has `sender_id`, `shown_sender`, `headers` and `body`.
    pub(crate) fn read(row: &Row<'_>, id: DeliveryId) -> Result<Self> {
        let shown: Option<String> = row.get_sealed("shown_sender", SHOWN_SENDER.cell(id))?;
        let body = match shown {
            Some(_) => row.get_sealed_bytes("body", BODY.cell(id))?,
            None => row.get("body")?,
        };
        Ok(Self {
            sender_id: shown.map_or_else(|| row.get("sender_id"), Ok)?,
            headers: row.get_sealed::<JsonText>("headers", HEADERS.cell(id))?.read()?,
            body,
        })
    }
}

/// A delivery from before it was sealed.
struct PlainDelivery {
    id: DeliveryId,
    pack: String,
    source: String,
    sender_id: String,
    headers: JsonText,
    body: Option<Vec<u8>>,
}

/// Seals the next deliveries that stand plain.
pub(crate) fn seal_deliveries_of_before(
    tx: &mut Tx<'_>,
    after: RowMark,
    limit: u32,
) -> Result<Option<RowMark>> {
    let plain = tx.all(
        (
            "SELECT id, pack, source, sender_id, headers, body FROM pack_deliveries
             WHERE tenant_id = $1 AND id > $2 AND shown_sender IS NULL ORDER BY id LIMIT $3",
            "SELECT id, pack, source, sender_id, headers, body FROM pack_deliveries
             WHERE tenant_id = $1 AND id > $2 AND shown_sender IS NULL ORDER BY id LIMIT $3 FOR UPDATE",
        ),
        params![after.id, limit.min(MOST_AT_ONCE)],
        |row| {
            Ok(PlainDelivery {
                id: row.get("id")?,
                pack: row.get("pack")?,
                source: row.get("source")?,
                sender_id: row.get("sender_id")?,
                headers: row.get("headers")?,
                body: row.get("body")?,
            })
        },
    )?;
    let last = plain.last().map(|last| RowMark { id: last.id.as_uuid(), number: 0 });
    for delivery in plain {
        seal_plain(tx, delivery)?;
    }
    Ok(last)
}

/// Where the same came in its sealed form meanwhile, that one stays.
fn seal_plain(tx: &mut Tx<'_>, delivery: PlainDelivery) -> Result<()> {
    let PlainDelivery { id, pack, source, sender_id, headers, body } = delivery;
    let key = SenderKey::of(tx, (&pack, &source), sender_id)?;
    let shown = tx.seal(SealedBy::Tenant, SHOWN_SENDER.cell(id), &key.plain)?;
    let headers = tx.seal_written(SealedBy::Tenant, HEADERS.cell(id), &headers)?;
    let body = body.map(|body| tx.seal_bytes(SealedBy::Tenant, BODY.cell(id), &body)).transpose()?;
    let sealed = tx.attempt(|tx| {
        tx.execute(
            "UPDATE pack_deliveries SET sender_id = $3, shown_sender = $4, headers = $5, body = $6
             WHERE tenant_id = $1 AND id = $2",
            params![id, key.hashed, shown, headers, body],
        )
    });
    match sealed {
        Err(Error::Conflict { .. }) => {
            tx.execute("DELETE FROM pack_deliveries WHERE tenant_id = $1 AND id = $2", params![id])
        }
        sealed => sealed,
    }
    .map(drop)
}
