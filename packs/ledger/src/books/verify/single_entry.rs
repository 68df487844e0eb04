//! One entry and what is kept of it, worked out again: cheap enough to be done after each.

use munshi_store::{Tx, params};
use munshi_types::Money;

use super::FigureMismatch;
use crate::books::entry::{self, LedgerEntry};
use crate::books::items;
use crate::books::quantity::Quantity;
use crate::error::Result;

/// What was looked at after an entry was booked.
pub struct EntryVerification {
    /// The first figure that does not follow.
    pub finding: Option<FigureMismatch>,
    /// What is kept of what the entry's contact owes.
    pub owed: Option<Money>,
    /// How many entries there are.
    pub entries: i64,
}

/// What is kept around an entry, and what follows from what was booked.
struct Figures {
    posted: Money,
    /// The turnover of the entry's day and kind.
    day_kept: Money,
    day_found: Money,
    /// Of the entry's contact, or of the one that it was merged into.
    owed_kept: Option<Money>,
    owed_found: Money,
    moves_stock: bool,
    entries: i64,
}

/// Works out the figures around an entry: its amount, its day, its contact, its stock.
pub fn check_entry(tx: &mut Tx<'_>, entry: &LedgerEntry) -> Result<EntryVerification> {
    let kept = figures(tx, entry)?;
    let finding = find_mismatch(tx, entry, &kept)?;
    Ok(EntryVerification { finding, owed: kept.owed_kept, entries: kept.entries })
}

fn find_mismatch(tx: &mut Tx<'_>, entry: &LedgerEntry, kept: &Figures) -> Result<Option<FigureMismatch>> {
    if kept.posted != entry.amount {
        return Ok(Some(FigureMismatch::new("amount of entry", &entry.number, &entry.amount, &kept.posted)));
    }
    if kept.day_kept != kept.day_found {
        let which = format!("{} {}", entry.day, entry.kind);
        return Ok(Some(FigureMismatch::new("turnover of", &which, &kept.day_kept, &kept.day_found)));
    }
    if let (Some(contact), Some(owed)) = (entry.contact, kept.owed_kept)
        && owed != kept.owed_found
    {
        return Ok(Some(FigureMismatch::new("balance of contact", &contact, &owed, &kept.owed_found)));
    }
    if kept.moves_stock { stock(tx, entry) } else { Ok(None) }
}

/// All of it in one question.
fn figures(tx: &mut Tx<'_>, entry: &LedgerEntry) -> Result<Figures> {
    Ok(tx.one(
        "WITH whose AS (
           SELECT coalesce(c.merged_into, c.id) AS id FROM ledger_contacts c WHERE c.tenant_id = $1 AND c.id = $3)
         SELECT
           CAST(coalesce((SELECT sum(p.amount) FROM ledger_postings p
             WHERE p.tenant_id = $1 AND p.entry_id = $2), 0) AS BIGINT),
           CAST(coalesce((SELECT sum(d.amount) FROM ledger_days d
             WHERE d.tenant_id = $1 AND d.day = $4 AND d.kind = $5), 0) AS BIGINT),
           CAST(coalesce((SELECT sum(p.amount) FROM ledger_postings p
             WHERE p.tenant_id = $1 AND p.day = $4 AND p.kind = $5), 0) AS BIGINT),
           (SELECT r.balance FROM ledger_contacts r JOIN whose ON r.id = whose.id WHERE r.tenant_id = $1),
           CAST(coalesce((SELECT sum(CASE WHEN p.debit = 'contacts' THEN p.amount ELSE -p.amount END)
             FROM ledger_postings p WHERE p.tenant_id = $1 AND p.contact_id IN (
               SELECT id FROM whose UNION ALL
               SELECT m.id FROM ledger_contacts m JOIN whose ON m.merged_into = whose.id WHERE m.tenant_id = $1)), 0)
             AS BIGINT),
           CASE WHEN EXISTS (SELECT 1 FROM ledger_movements m WHERE m.tenant_id = $1 AND m.entry_id = $2)
             THEN TRUE ELSE FALSE END,
           coalesce((SELECT b.entries FROM ledger_books b WHERE b.tenant_id = $1), 0)",
        params![entry.id, entry.contact, entry.day, entry.kind],
        |row| {
            Ok(Figures {
                posted: row.get(0)?,
                day_kept: row.get(1)?,
                day_found: row.get(2)?,
                owed_kept: row.get(3)?,
                owed_found: row.get(4)?,
                moves_stock: row.get(5)?,
                entries: row.get(6)?,
            })
        },
    )?)
}

fn stock(tx: &mut Tx<'_>, entry: &LedgerEntry) -> Result<Option<FigureMismatch>> {
    for movement in entry::movements(tx, entry.id)? {
        let kept = items::get(tx, movement.item)?.stock;
        let found: Quantity = tx.one(
            "SELECT CAST(coalesce(sum(quantity), 0) AS BIGINT) FROM ledger_movements
             WHERE tenant_id = $1 AND item_id = $2",
            params![movement.item],
            |row| row.get(0),
        )?;
        if kept != found {
            return Ok(Some(FigureMismatch::new("stock of item", &movement.item, &kept, &found)));
        }
    }
    Ok(None)
}
