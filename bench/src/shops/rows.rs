//! Sales at the counter written as the rows that booking them leaves, since a million one by one would take an hour.

use std::collections::BTreeMap;
use std::ops::Range;
use std::time::Duration;

use munshi_ledger::books::{LedgerDay, LedgerEntryId};
use munshi_store::{Result, Tx, params};
use munshi_types::{IdGenerator, Timestamp, Zone};

use super::books::DAYS;

const SECONDS: u64 = 86_400;

pub(super) fn insert_sales(tx: &mut Tx<'_>, now: Timestamp, numbers: Range<usize>) -> Result<()> {
    let (ids, zone) = (IdGenerator::system(), Zone::default());
    let mut turnover: BTreeMap<LedgerDay, (i64, i64)> = BTreeMap::new();
    let count = numbers.len();
    for number in numbers {
        let small = i64::try_from(number).unwrap_or(0);
        let back = u64::try_from((small * 7_919).rem_euclid(DAYS)).unwrap_or(0);
        let happened = now.minus(Duration::from_secs(back * SECONDS));
        let (day, amount) = (LedgerDay::of(happened, &zone), 1_000 + (small * 37).rem_euclid(90_000));
        sale(tx, &ids, small + 1, (happened, day), amount)?;
        let (sum, many) = turnover.entry(day).or_default();
        (*sum, *many) = (*sum + amount, *many + 1);
    }
    update_totals(tx, &turnover, i64::try_from(count).unwrap_or(0))
}

fn sale(
    tx: &mut Tx<'_>,
    ids: &IdGenerator,
    number: i64,
    (happened, day): (Timestamp, LedgerDay),
    amount: i64,
) -> Result<()> {
    let (id, key): (LedgerEntryId, LedgerEntryId) = (ids.next(), ids.next());
    tx.send(
        "INSERT INTO ledger_entries (tenant_id, id, number, key, kind, happened_at, day, made_at, source, words, amount, flow)
         VALUES ($1, $2, $3, $4, 'sale', $5, $6, $5, 'owner', '', $7, 1)",
        params![id, number, key, happened, day, amount],
    )?;
    tx.send(
        "INSERT INTO ledger_postings (tenant_id, entry_id, line, debit, credit, amount, kind, day)
         VALUES ($1, $2, 1, 'cash', 'sales', $3, 'sale', $4)",
        params![id, amount, day],
    )
}

/// What is kept of them.
fn update_totals(tx: &mut Tx<'_>, turnover: &BTreeMap<LedgerDay, (i64, i64)>, count: i64) -> Result<()> {
    for (day, (sum, many)) in turnover {
        tx.send(
            "INSERT INTO ledger_days (tenant_id, day, kind, debit, credit, amount, postings)
             VALUES ($1, $2, 'sale', 'cash', 'sales', $3, $4)
             ON CONFLICT (tenant_id, day, kind, debit, credit) DO UPDATE
             SET amount = ledger_days.amount + excluded.amount, postings = ledger_days.postings + excluded.postings",
            params![day, sum, many],
        )?;
    }
    let total: i64 = turnover.values().map(|(sum, _)| sum).sum();
    for (code, change) in [("cash", total), ("sales", -total)] {
        let sql = "UPDATE ledger_accounts SET balance = balance + $3 WHERE tenant_id = $1 AND code = $2";
        tx.send(sql, params![code, change])?;
    }
    tx.send("UPDATE ledger_books SET entries = entries + $2 WHERE tenant_id = $1", params![count])
}
