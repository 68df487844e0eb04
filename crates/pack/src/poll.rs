//! What a pack asks others for by the clock, from where it left off.

use async_trait::async_trait;
use munshi_jobs::JobFailure;
use munshi_store::{Result, RowId, RowMark, SealedBy, SealedColumn, Tx, is_sealed, params};
use munshi_types::Timestamp;

use crate::foreign::Foreign;
use crate::job::PackJobCall;
use crate::schedule::PackScheduleTime;
use crate::webhook::PackDeliveryCall;

const CURSOR: SealedColumn = SealedColumn::new("pack_cursors", "cursor");

/// One poll of one tenant.
pub type PackPollCall = PackJobCall<PollCursor>;

#[async_trait]
pub trait PackPoll: Send + Sync {
    /// A plain word, the only one of its pack: `tickets`.
    fn name(&self) -> &'static str;

    /// What its ids belong to. A webhook of the same sender says the same, so that nothing is taken by both.
    fn source(&self) -> &'static str {
        self.name()
    }

    /// When it asks, for each tenant. One at a time: while the last poll of a tenant goes on, no other begins.
    fn schedule(&self) -> PackScheduleTime;

    /// Asks for what is new since the cursor. It writes nothing: items and cursor are stored together, or neither is. A tenant that
    /// has no such secret as is asked for with `?` has not set it up: there is nothing new then, and nothing has failed.
    async fn poll(&self, call: &PackPollCall) -> Result<PolledPage, JobFailure>;

    /// Takes in a stored item, as [`PackWebhook::handle`](crate::PackWebhook::handle) does.
    async fn handle(&self, call: &PackDeliveryCall) -> Result<(), JobFailure>;
}

/// Where the last page ended; none the first time. Its words are the pack's own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PollCursor(pub Option<String>);

/// What was read in one go.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PolledPage {
    pub items: Vec<PolledItem>,
    /// Where the next one begins; none leaves the cursor where it is.
    pub next: Option<String>,
    /// Whether to ask for the next page at once.
    pub has_more: bool,
}

/// Something that was read, to be handled once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolledItem {
    /// What the sender calls it: where it can change, with the time of its change.
    pub sender_id: String,
    pub body: Foreign<Vec<u8>>,
}

pub(crate) fn find_cursor(tx: &mut Tx<'_>, pack: &str, poll: &str) -> Result<Option<String>> {
    tx.optional(
        "SELECT cursor FROM pack_cursors WHERE tenant_id = $1 AND pack = $2 AND poll = $3",
        params![pack, poll],
        |row| row.get_sealed(0, CURSOR.cell(RowId::named(&[pack, poll]))),
    )
}

pub(crate) fn move_cursor(
    tx: &mut Tx<'_>,
    (pack, poll): (&str, &str),
    cursor: &str,
    now: Timestamp,
) -> Result<()> {
    let cursor = tx.seal(SealedBy::Tenant, CURSOR.cell(RowId::named(&[pack, poll])), cursor)?;
    tx.execute(
        "INSERT INTO pack_cursors (tenant_id, pack, poll, cursor, moved_at) VALUES ($1, $2, $3, $4, $5)
         ON CONFLICT (tenant_id, pack, poll) DO UPDATE SET cursor = excluded.cursor, moved_at = excluded.moved_at",
        params![pack, poll, cursor, now],
    )?;
    Ok(())
}

/// Seals the cursors from before they were sealed. A tenant has as many as packs have polls, so all of them at once.
pub(crate) fn seal_cursors_of_before(tx: &mut Tx<'_>, _: RowMark, _: u32) -> Result<Option<RowMark>> {
    let cursors: Vec<(String, String, String)> = tx.all(
        (
            "SELECT pack, poll, cursor FROM pack_cursors
             WHERE tenant_id = $1 ORDER BY pack, poll",
            "SELECT pack, poll, cursor FROM pack_cursors
             WHERE tenant_id = $1 ORDER BY pack, poll FOR NO KEY UPDATE",
        ),
        params![],
        |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
    )?;
    for (pack, poll, cursor) in cursors.into_iter().filter(|(_, _, cursor)| !is_sealed(cursor)) {
        let sealed = tx.seal(SealedBy::Tenant, CURSOR.cell(RowId::named(&[&pack, &poll])), &cursor)?;
        tx.execute(
            "UPDATE pack_cursors SET cursor = $4 WHERE tenant_id = $1 AND pack = $2 AND poll = $3",
            params![pack, poll, sealed],
        )?;
    }
    Ok(None)
}
