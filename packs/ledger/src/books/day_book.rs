//! The day book: entries page by page, the latest first.

use munshi_store::{Cursor, Page, PageRequest, Tx, params};
use munshi_types::{Id, Timestamp};
use uuid::Uuid;

use super::contacts;
use super::entry::{self, Entry};
use super::ids::ContactId;
use crate::error::Result;

/// From a moment on, up to another that is not in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    pub from: Timestamp,
    pub until: Timestamp,
}

impl Span {
    pub const EVER: Self = Self { from: Timestamp::EPOCH, until: Timestamp::MAX };
}

/// What happened in a span, cancelled entries and what cancels them too.
pub fn page(tx: &mut Tx<'_>, span: Span, request: &PageRequest) -> Result<Page<Entry>> {
    let end = Cursor { time: span.until, id: Uuid::nil() };
    let after = if (end.time, end.id) < (request.after.time, request.after.id) { end } else { request.after };
    let rows = tx.all(
        "SELECT e.id, e.number, e.key, e.kind, e.happened_at, e.day, e.made_at, e.said_by, e.source, e.words,
                e.contact_id, e.amount, e.reference, e.fingerprint, e.reverses, e.reason, e.corrects,
                r.id AS by_id, r.made_at AS by_at, r.reason AS by_reason
         FROM ledger_entries e LEFT JOIN ledger_entries r ON r.tenant_id = $1 AND r.reverses = e.id
         WHERE e.tenant_id = $1 AND e.happened_at >= $2 AND (e.happened_at, e.id) < ($3, $4)
         ORDER BY e.happened_at DESC, e.id DESC LIMIT $5",
        params![span.from, after.time, after.id, request.fetch()],
        entry::read,
    )?;
    Ok(Page::of(rows, request, cursor))
}

/// The entries of a contact and of those merged into it.
pub fn of_contact(tx: &mut Tx<'_>, contact: ContactId, request: &PageRequest) -> Result<Page<Entry>> {
    let root = contacts::get(tx, contact)?.id;
    let mut rows = Vec::new();
    for one in contacts::group(tx, root)? {
        rows.extend(of_one(tx, one, request)?);
    }
    rows.sort_unstable_by_key(|entry: &Entry| std::cmp::Reverse((entry.happened_at, entry.id)));
    Ok(Page::of(rows, request, cursor))
}

fn of_one(tx: &mut Tx<'_>, contact: ContactId, request: &PageRequest) -> Result<Vec<Entry>> {
    Ok(tx.all(
        "SELECT e.id, e.number, e.key, e.kind, e.happened_at, e.day, e.made_at, e.said_by, e.source, e.words,
                e.contact_id, e.amount, e.reference, e.fingerprint, e.reverses, e.reason, e.corrects,
                r.id AS by_id, r.made_at AS by_at, r.reason AS by_reason
         FROM ledger_entries e LEFT JOIN ledger_entries r ON r.tenant_id = $1 AND r.reverses = e.id
         WHERE e.tenant_id = $1 AND e.contact_id = $2 AND (e.happened_at, e.id) < ($3, $4)
         ORDER BY e.happened_at DESC, e.id DESC LIMIT $5",
        params![contact, request.after.time, request.after.id, request.fetch()],
        entry::read,
    )?)
}

fn cursor(entry: &Entry) -> Cursor {
    Cursor { time: entry.happened_at, id: entry.id.as_uuid() }
}
