//! Entries among themselves and against their postings.

use munshi_store::{Tx, params};
use munshi_types::Money;

use super::Finding;
use crate::books::day::Day;
use crate::books::words::Kind;
use crate::error::Result;

/// Numbers run from one on without a gap, and the books know how many there are.
pub(super) fn numbers(tx: &mut Tx<'_>) -> Result<Option<Finding>> {
    let kept: Option<i64> =
        tx.optional("SELECT entries FROM ledger_books WHERE tenant_id = $1", &[], |row| row.get(0))?;
    let (count, last): (i64, i64) = tx.one(
        "SELECT count(*), coalesce(max(number), 0) FROM ledger_entries WHERE tenant_id = $1",
        &[],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?;
    let kept = kept.unwrap_or_default();
    if kept != count {
        return Ok(Some(Finding::new("number of", "entries", &kept, &count)));
    }
    Ok((last != count).then(|| Finding::new("last number of", "entries", &last, &count)))
}

/// The amount of an entry is that of its postings: compared by day and kind, and looked for within.
pub(super) fn amounts(tx: &mut Tx<'_>) -> Result<Option<Finding>> {
    let part: Option<(Day, Kind)> = tx.optional(
        "SELECT day, kind FROM (
           SELECT day, kind, sum(amount) AS kept, 0 AS found FROM ledger_entries WHERE tenant_id = $1 GROUP BY day, kind
           UNION ALL
           SELECT day, kind, 0, sum(amount) FROM ledger_postings WHERE tenant_id = $1 GROUP BY day, kind
         ) AS sides GROUP BY day, kind HAVING sum(kept) <> sum(found) ORDER BY day, kind LIMIT 1",
        &[],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?;
    let Some((day, kind)) = part else { return Ok(None) };
    let entry = tx.optional(
        "SELECT e.number, e.amount, CAST(coalesce(sum(p.amount), 0) AS BIGINT) FROM ledger_entries e
         LEFT JOIN ledger_postings p ON p.tenant_id = $1 AND p.entry_id = e.id
         WHERE e.tenant_id = $1 AND e.day = $2 AND e.kind = $3
         GROUP BY e.number, e.amount HAVING e.amount <> coalesce(sum(p.amount), 0) ORDER BY e.number LIMIT 1",
        params![day, kind],
        |row| {
            let (number, kept, found): (i64, Money, Money) = (row.get(0)?, row.get(1)?, row.get(2)?);
            Ok(Finding::new("amount of entry", &number, &kept, &found))
        },
    )?;
    let elsewhere =
        || Finding::new("postings of", &format!("{kind} on {day}"), "another day or kind", "the entry's");
    Ok(Some(entry.unwrap_or_else(elsewhere)))
}

/// What cancels an entry moves back exactly what it moved.
pub(super) fn reversals(tx: &mut Tx<'_>) -> Result<Option<Finding>> {
    let unlike = tx.optional(
        "SELECT r.number FROM ledger_entries r
         JOIN ledger_postings p ON p.tenant_id = $1 AND p.entry_id = r.id
         LEFT JOIN ledger_postings o ON o.tenant_id = $1 AND o.entry_id = r.reverses AND o.line = p.line
           AND o.debit = p.debit AND o.credit = p.credit AND o.amount = -p.amount
           AND (o.contact_id = p.contact_id OR (o.contact_id IS NULL AND p.contact_id IS NULL))
         WHERE r.tenant_id = $1 AND r.reverses IS NOT NULL AND o.entry_id IS NULL ORDER BY r.number LIMIT 1",
        &[],
        |row| row.get::<i64>(0),
    )?;
    let uneven = tx.optional(
        "SELECT r.number FROM ledger_entries r JOIN ledger_entries e ON e.tenant_id = $1 AND e.id = r.reverses
         WHERE r.tenant_id = $1 AND r.reverses IS NOT NULL AND (r.amount <> -e.amount OR r.day <> e.day)
         ORDER BY r.number LIMIT 1",
        &[],
        |row| row.get::<i64>(0),
    )?;
    let number = unlike.or(uneven);
    Ok(number.map(|number| Finding::new("reversal", &number, "its own postings", "those of what it cancels")))
}
