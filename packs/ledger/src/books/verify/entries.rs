//! Entries among themselves and against their postings.

use munshi_store::{Tx, params};
use munshi_types::Money;

use super::FigureMismatch;
use crate::books::day::LedgerDay;
use crate::books::stored_enums::LedgerEntryKind;
use crate::error::Result;

/// Numbers run from one on without a gap, and the amount of an entry is that of its postings: compared by day and kind
/// with the turnover of days, and looked for within.
pub(super) fn amounts(tx: &mut Tx<'_>) -> Result<Option<FigureMismatch>> {
    let (count, day, kind): (i64, Option<LedgerDay>, Option<LedgerEntryKind>) = tx.one(
        "WITH entered AS MATERIALIZED (
           SELECT day, kind, sum(amount) AS amount, count(*) AS many FROM ledger_entries WHERE tenant_id = $1
           GROUP BY day, kind
         ), unlike AS (
           SELECT day, kind FROM (
             SELECT day, kind, amount AS kept, 0 AS found FROM entered
             UNION ALL
             SELECT day, kind, 0, sum(amount) FROM ledger_days WHERE tenant_id = $1 GROUP BY day, kind
           ) AS sides GROUP BY day, kind HAVING sum(kept) <> sum(found) ORDER BY day, kind LIMIT 1
         ), total AS (SELECT CAST(coalesce(sum(many), 0) AS BIGINT) AS many FROM entered)
         SELECT total.many, unlike.day, unlike.kind FROM total LEFT JOIN unlike ON 1 = 1",
        &[],
        |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
    )?;
    if let (Some(day), Some(kind)) = (day, kind) {
        let elsewhere = FigureMismatch::new(
            "postings of",
            &format!("{kind} on {day}"),
            "on another day or of another kind",
            "where their entry is",
        );
        return Ok(Some(find_amount_mismatch(tx, day, kind)?.unwrap_or(elsewhere)));
    }
    numbers(tx, count)
}

fn numbers(tx: &mut Tx<'_>, count: i64) -> Result<Option<FigureMismatch>> {
    let kept: Option<i64> =
        tx.optional("SELECT entries FROM ledger_books WHERE tenant_id = $1", &[], |row| row.get(0))?;
    let last: i64 =
        tx.one("SELECT coalesce(max(number), 0) FROM ledger_entries WHERE tenant_id = $1", &[], |row| {
            row.get(0)
        })?;
    let kept = kept.unwrap_or_default();
    if kept != count {
        return Ok(Some(FigureMismatch::new("number of", "entries", &kept, &count)));
    }
    Ok((last != count).then(|| FigureMismatch::new("last number of", "entries", &last, &count)))
}

/// Which entry of a day and kind has another amount than its postings.
pub(super) fn find_amount_mismatch(
    tx: &mut Tx<'_>,
    day: LedgerDay,
    kind: LedgerEntryKind,
) -> Result<Option<FigureMismatch>> {
    Ok(tx.optional(
        "SELECT e.number, e.amount, CAST(coalesce(sum(p.amount), 0) AS BIGINT) FROM ledger_entries e
         LEFT JOIN ledger_postings p ON p.tenant_id = $1 AND p.entry_id = e.id
         WHERE e.tenant_id = $1 AND e.day = $2 AND e.kind = $3
         GROUP BY e.number, e.amount HAVING e.amount <> coalesce(sum(p.amount), 0) ORDER BY e.number LIMIT 1",
        params![day, kind],
        |row| {
            let (number, kept, found): (i64, Money, Money) = (row.get(0)?, row.get(1)?, row.get(2)?);
            Ok(FigureMismatch::new("amount of entry", &number, &kept, &found))
        },
    )?)
}

/// What cancels an entry moves back exactly what it moved. Looked up one by one: cancelled entries are few, and a planner
/// that sees a join would read all the others too.
pub(super) fn reversals(tx: &mut Tx<'_>) -> Result<Option<FigureMismatch>> {
    let number = tx.optional(
        "SELECT r.number FROM ledger_entries r WHERE r.tenant_id = $1 AND r.reverses IS NOT NULL AND (
           (SELECT count(*) FROM ledger_entries e WHERE e.tenant_id = $1 AND e.id = r.reverses
              AND e.amount = -r.amount AND e.day = r.day AND e.kind = r.kind) <> 1
           OR (SELECT count(*) FROM ledger_postings p WHERE p.tenant_id = $1 AND p.entry_id = r.id)
              <> (SELECT count(*) FROM ledger_postings p
                  JOIN ledger_postings o ON o.tenant_id = $1 AND o.entry_id = r.reverses AND o.line = p.line
                    AND o.debit = p.debit AND o.credit = p.credit AND o.amount = -p.amount
                    AND (o.contact_id = p.contact_id OR (o.contact_id IS NULL AND p.contact_id IS NULL))
                  WHERE p.tenant_id = $1 AND p.entry_id = r.id)
         ) ORDER BY r.number LIMIT 1",
        &[],
        |row| row.get::<i64>(0),
    )?;
    Ok(number.map(|number| {
        FigureMismatch::new("reversal", &number, "its own postings", "those of what it cancels")
    }))
}
