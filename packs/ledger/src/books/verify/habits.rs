//! What is usual, worked out again for all contacts at once.

use munshi_store::{Row, Tx, params};
use munshi_types::Timestamp;

use super::FigureMismatch;
use crate::books::ids::ContactId;
use crate::books::stored_enums::HabitSide;
use crate::error::Result;

/// How many entries stand: all, less those that were cancelled and those that cancel.
pub(super) fn counts(tx: &mut Tx<'_>) -> Result<Option<FigureMismatch>> {
    Ok(tx.optional(
        "SELECT contact_id, side, CAST(sum(kept) AS BIGINT), CAST(sum(found) AS BIGINT) FROM (
           SELECT contact_id, side, seen AS kept, 0 AS found FROM ledger_habits WHERE tenant_id = $1
           UNION ALL
           SELECT coalesce(c.merged_into, c.id), e.side, 0, e.found FROM (
             SELECT contact_id, side, count(*) AS found FROM ledger_entries
             WHERE tenant_id = $1 AND contact_id IS NOT NULL AND side IS NOT NULL GROUP BY contact_id, side
             UNION ALL
             SELECT contact_id, side, -2 * count(*) FROM ledger_entries
             WHERE tenant_id = $1 AND reverses IS NOT NULL AND side IS NOT NULL GROUP BY contact_id, side
           ) AS e JOIN ledger_contacts c ON c.tenant_id = $1 AND c.id = e.contact_id
         ) AS sides GROUP BY contact_id, side HAVING sum(kept) <> sum(found) ORDER BY contact_id, side LIMIT 1",
        &[],
        |row| {
            let (kept, found): (i64, i64) = (row.get(2)?, row.get(3)?);
            Ok(FigureMismatch::new("number of entries of contact", &describe_owner(row)?, &kept, &found))
        },
    )?)
}

/// The median, the quarters, the rhythm and the last time, of the latest twenty. For each contact an index says since when
/// those are; of contacts that were merged, the latest twenty of all are among the latest twenty of each.
pub(super) fn statistics(tx: &mut Tx<'_>) -> Result<Option<FigureMismatch>> {
    Ok(tx.optional(
        "WITH edges AS MATERIALIZED (
           SELECT h.contact_id, h.side,
                  coalesce((SELECT e.happened_at FROM ledger_entries e
                   WHERE e.tenant_id = $1 AND e.contact_id = h.contact_id AND e.side = h.side AND e.reverses IS NULL
                     AND NOT EXISTS (SELECT 1 FROM ledger_entries r WHERE r.tenant_id = $1 AND r.reverses = e.id)
                   ORDER BY e.happened_at DESC, e.number DESC LIMIT 1 OFFSET 19), $2) AS edge
           FROM ledger_habits h WHERE h.tenant_id = $1
         ), gathered AS (
           SELECT coalesce(c.merged_into, c.id) AS root, e.side, e.happened_at, e.number, e.day, e.amount
           FROM edges
           JOIN ledger_contacts c ON c.tenant_id = $1 AND c.id = edges.contact_id
           JOIN ledger_entries e ON e.tenant_id = $1 AND e.contact_id = edges.contact_id AND e.side = edges.side
             AND e.happened_at >= edges.edge
           WHERE e.reverses IS NULL
             AND NOT EXISTS (SELECT 1 FROM ledger_entries r WHERE r.tenant_id = $1 AND r.reverses = e.id)
         ), placed AS (
           SELECT root, side, happened_at, number, day, amount,
                  row_number() OVER (PARTITION BY root, side ORDER BY happened_at DESC, number DESC) AS place
           FROM gathered
         ), latest AS MATERIALIZED (
           SELECT root, side, happened_at, number, day, amount FROM placed WHERE place <= 20
         ), ranked AS (
           SELECT root, side, happened_at, amount,
                  row_number() OVER (PARTITION BY root, side ORDER BY amount, number) AS place,
                  count(*) OVER (PARTITION BY root, side) AS many
           FROM latest
         ), gaps AS (
           SELECT root, side,
                  day - lead(day) OVER (PARTITION BY root, side ORDER BY happened_at DESC, number DESC) AS gap
           FROM latest
         ), ranked_gaps AS (
           SELECT root, side, gap, row_number() OVER (PARTITION BY root, side ORDER BY gap) AS place,
                  count(*) OVER (PARTITION BY root, side) AS many
           FROM gaps WHERE gap > 0
         ), rhythms AS (
           SELECT root, side, max(CASE WHEN place = (many + 1) / 2 THEN gap END) AS rhythm
           FROM ranked_gaps GROUP BY root, side
         ), amounts AS (
           SELECT root, side, max(happened_at) AS last_at,
                  max(CASE WHEN place = (many + 1) / 2 THEN amount END) AS usual,
                  max(CASE WHEN place = (many + 3) / 4 THEN amount END) AS low,
                  max(CASE WHEN place = (3 * many + 3) / 4 THEN amount END) AS high
           FROM ranked GROUP BY root, side
         ), sides AS (
           SELECT contact_id, side, last_at, usual, low, high, rhythm FROM ledger_habits
           WHERE tenant_id = $1 AND seen > 0
           UNION ALL
           SELECT root, side, max(last_at), max(usual), max(low), max(high), max(rhythm) FROM (
             SELECT root, side, last_at, usual, low, high, NULL AS rhythm FROM amounts
             UNION ALL SELECT root, side, NULL, NULL, NULL, NULL, rhythm FROM rhythms
           ) AS parts GROUP BY root, side
         )
         SELECT contact_id, side FROM sides GROUP BY contact_id, side
         HAVING count(*) <> 2 OR count(last_at) <> 2 OR min(last_at) <> max(last_at)
           OR count(usual) <> 2 OR min(usual) <> max(usual) OR count(low) <> 2 OR min(low) <> max(low)
           OR count(high) <> 2 OR min(high) <> max(high) OR count(rhythm) = 1 OR min(rhythm) <> max(rhythm)
         ORDER BY contact_id, side LIMIT 1",
        params![Timestamp::EPOCH],
        |row| Ok(FigureMismatch::new("habits of contact", &describe_owner(row)?, "one", "another")),
    )?)
}

fn describe_owner(row: &Row<'_>) -> munshi_store::Result<String> {
    let (contact, side): (ContactId, HabitSide) = (row.get(0)?, row.get(1)?);
    Ok(format!("{contact} ({side})"))
}
