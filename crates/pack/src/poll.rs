//! What a pack asks others for by the clock, from where it left off.

use async_trait::async_trait;
use munshi_jobs::JobFailure;
use munshi_store::{Result, Tx, params};
use munshi_types::Timestamp;

use crate::foreign::Foreign;
use crate::job::PackJobCall;
use crate::schedule::PackScheduleTime;
use crate::webhook::PackDeliveryCall;

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
        |row| row.get(0),
    )
}

pub(crate) fn move_cursor(
    tx: &mut Tx<'_>,
    (pack, poll): (&str, &str),
    cursor: &str,
    now: Timestamp,
) -> Result<()> {
    tx.execute(
        "INSERT INTO pack_cursors (tenant_id, pack, poll, cursor, moved_at) VALUES ($1, $2, $3, $4, $5)
         ON CONFLICT (tenant_id, pack, poll) DO UPDATE SET cursor = excluded.cursor, moved_at = excluded.moved_at",
        params![pack, poll, cursor, now],
    )?;
    Ok(())
}
