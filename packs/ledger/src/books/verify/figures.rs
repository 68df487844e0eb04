//! Kept sums against the rows they are sums of.

use munshi_store::Tx;
use munshi_types::Money;

use super::{FigureMismatch, entries};
use crate::books::day::LedgerDay;
use crate::books::ids::{ContactId, ItemId};
use crate::books::quantity::Quantity;
use crate::books::stored_enums::LedgerEntryKind;
use crate::error::Result;

/// Where a day's turnover is not that of its postings, an entry that disagrees with its own is named before the day is.
pub(super) fn days(tx: &mut Tx<'_>) -> Result<Option<FigureMismatch>> {
    let Some((day, kind, finding)) = turnover(tx)? else { return Ok(None) };
    Ok(Some(entries::find_amount_mismatch(tx, day, kind)?.unwrap_or(finding)))
}

fn turnover(tx: &mut Tx<'_>) -> Result<Option<(LedgerDay, LedgerEntryKind, FigureMismatch)>> {
    Ok(tx.optional(
        "SELECT day, kind, debit, credit, CAST(sum(kept) AS BIGINT), CAST(sum(found) AS BIGINT) FROM (
           SELECT day, kind, debit, credit, amount AS kept, 0 AS found, postings AS kept_count, 0 AS found_count
           FROM ledger_days WHERE tenant_id = $1
           UNION ALL
           SELECT day, kind, debit, credit, 0, sum(amount), 0, sum(CASE WHEN amount < 0 THEN -1 ELSE 1 END)
           FROM ledger_postings WHERE tenant_id = $1 GROUP BY day, kind, debit, credit
         ) AS sides GROUP BY day, kind, debit, credit
         HAVING sum(kept) <> sum(found) OR sum(kept_count) <> sum(found_count) ORDER BY day, kind LIMIT 1",
        &[],
        |row| {
            let (day, kind): (LedgerDay, LedgerEntryKind) = (row.get(0)?, row.get(1)?);
            let (debit, credit): (String, String) = (row.get(2)?, row.get(3)?);
            let (kept, found): (Money, Money) = (row.get(4)?, row.get(5)?);
            let finding = FigureMismatch::new("turnover of", &format!("{day} {kind} {credit} to {debit}"), &kept, &found);
            Ok((day, kind, finding))
        },
    )?)
}

pub(super) fn accounts(tx: &mut Tx<'_>) -> Result<Option<FigureMismatch>> {
    Ok(tx.optional(
        "SELECT code, CAST(sum(kept) AS BIGINT), CAST(sum(found) AS BIGINT) FROM (
           SELECT code, balance AS kept, 0 AS found FROM ledger_accounts WHERE tenant_id = $1
           UNION ALL SELECT debit, 0, sum(amount) FROM ledger_days WHERE tenant_id = $1 GROUP BY debit
           UNION ALL SELECT credit, 0, -sum(amount) FROM ledger_days WHERE tenant_id = $1 GROUP BY credit
         ) AS sides GROUP BY code HAVING sum(kept) <> sum(found) ORDER BY code LIMIT 1",
        &[],
        |row| {
            let (kept, found): (Money, Money) = (row.get(1)?, row.get(2)?);
            Ok(FigureMismatch::new("balance of account", &row.get::<String>(0)?, &kept, &found))
        },
    )?)
}

pub(super) fn contacts(tx: &mut Tx<'_>) -> Result<Option<FigureMismatch>> {
    Ok(tx.optional(
        "SELECT id, CAST(sum(kept) AS BIGINT), CAST(sum(found) AS BIGINT) FROM (
           SELECT id, balance AS kept, 0 AS found FROM ledger_contacts WHERE tenant_id = $1
           UNION ALL
           SELECT coalesce(c.merged_into, c.id), 0, p.found FROM (
             SELECT contact_id, sum(CASE WHEN debit = 'contacts' THEN amount ELSE -amount END) AS found
             FROM ledger_postings WHERE tenant_id = $1 AND contact_id IS NOT NULL GROUP BY contact_id
           ) AS p JOIN ledger_contacts c ON c.tenant_id = $1 AND c.id = p.contact_id
         ) AS sides GROUP BY id HAVING sum(kept) <> sum(found) ORDER BY id LIMIT 1",
        &[],
        |row| {
            let (kept, found): (Money, Money) = (row.get(1)?, row.get(2)?);
            Ok(FigureMismatch::new("balance of contact", &row.get::<ContactId>(0)?, &kept, &found))
        },
    )?)
}

/// A contact that was merged leads to one that was not.
pub(super) fn merged(tx: &mut Tx<'_>) -> Result<Option<FigureMismatch>> {
    Ok(tx.optional(
        "SELECT a.id FROM ledger_contacts a JOIN ledger_contacts b ON b.tenant_id = $1 AND b.id = a.merged_into
         WHERE a.tenant_id = $1 AND a.merged_into IS NOT NULL AND b.merged_into IS NOT NULL ORDER BY a.id LIMIT 1",
        &[],
        |row| Ok(FigureMismatch::new("merged contact", &row.get::<ContactId>(0)?, "one that was merged too", "the last of them")),
    )?)
}

/// What all owe and are owed, and the account of all contacts.
pub(super) fn sums(tx: &mut Tx<'_>) -> Result<Option<FigureMismatch>> {
    let (owed, owing): (Money, Money) = tx.one(
        "SELECT CAST(coalesce(sum(CASE WHEN balance > 0 THEN balance ELSE 0 END), 0) AS BIGINT),
                CAST(coalesce(sum(CASE WHEN balance < 0 THEN -balance ELSE 0 END), 0) AS BIGINT)
         FROM ledger_contacts WHERE tenant_id = $1",
        &[],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?;
    let kept: Option<(Money, Money)> =
        tx.optional("SELECT receivable, payable FROM ledger_books WHERE tenant_id = $1", &[], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })?;
    let (receivable, payable) = kept.unwrap_or_default();
    let account: Option<Money> = tx.optional(
        "SELECT balance FROM ledger_accounts WHERE tenant_id = $1 AND code = 'contacts'",
        &[],
        |row| row.get(0),
    )?;
    let pairs = [
        ("sum of what", "contacts owe", receivable, owed),
        ("sum of what", "is owed to contacts", payable, owing),
        ("balance of account", "contacts", account.unwrap_or_default(), owed.minus(owing)?),
    ];
    let wrong = pairs.into_iter().find(|(_, _, kept, found)| kept != found);
    Ok(wrong.map(|(figure, which, kept, found)| FigureMismatch::new(figure, which, &kept, &found)))
}

pub(super) fn stock(tx: &mut Tx<'_>) -> Result<Option<FigureMismatch>> {
    Ok(tx.optional(
        "SELECT id, CAST(sum(kept) AS BIGINT), CAST(sum(found) AS BIGINT) FROM (
           SELECT id, stock AS kept, 0 AS found FROM ledger_items WHERE tenant_id = $1
           UNION ALL
           SELECT item_id, 0, sum(quantity) FROM ledger_movements WHERE tenant_id = $1 GROUP BY item_id
         ) AS sides GROUP BY id HAVING sum(kept) <> sum(found) ORDER BY id LIMIT 1",
        &[],
        |row| {
            let (kept, found): (Quantity, Quantity) = (row.get(1)?, row.get(2)?);
            Ok(FigureMismatch::new("stock of item", &row.get::<ItemId>(0)?, &kept, &found))
        },
    )?)
}
