//! The end of the books: the one lock of their writers.

use munshi_store::{Tx, params};
use munshi_types::Money;

use crate::error::Result;

/// The kept sums of the whole books, held by whoever writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BooksHead {
    /// How many entries there are; the next gets the number after.
    pub entries: i64,
    pub receivable: Money,
    pub payable: Money,
}

/// Locks the books until the transaction ends. Take it before any other row of theirs, and the audit after it.
pub(super) fn lock(tx: &mut Tx<'_>) -> Result<BooksHead> {
    if let Some(head) = select_head(tx)? {
        return Ok(head);
    }
    tx.execute(
        "INSERT INTO ledger_books (tenant_id, entries, receivable, payable) VALUES ($1, 0, 0, 0)
         ON CONFLICT (tenant_id) DO NOTHING",
        &[],
    )?;
    let nothing = BooksHead { entries: 0, receivable: Money::ZERO, payable: Money::ZERO };
    Ok(select_head(tx)?.unwrap_or(nothing))
}

/// Keeps others from writing until the transaction ends, so that what is looked at now holds when it is written.
pub fn lock_until_commit(tx: &mut Tx<'_>) -> Result<()> {
    lock(tx).map(|_| ())
}

fn select_head(tx: &mut Tx<'_>) -> Result<Option<BooksHead>> {
    Ok(tx.optional(
        (
            "SELECT entries, receivable, payable FROM ledger_books WHERE tenant_id = $1",
            "SELECT entries, receivable, payable FROM ledger_books WHERE tenant_id = $1 FOR UPDATE",
        ),
        &[],
        |row| Ok(BooksHead { entries: row.get(0)?, receivable: row.get(1)?, payable: row.get(2)? }),
    )?)
}

impl BooksHead {
    pub(super) fn save(&self, tx: &mut Tx<'_>) -> Result<()> {
        tx.send(
            "UPDATE ledger_books SET entries = $2, receivable = $3, payable = $4 WHERE tenant_id = $1",
            params![self.entries, self.receivable, self.payable],
        )?;
        Ok(())
    }

    /// A contact's balance went from one figure to another.
    pub(super) fn apply_balance_change(&mut self, from: Money, to: Money) -> Result<()> {
        let owed = |balance: Money| balance.max(Money::ZERO);
        let owing = |balance: Money| balance.min(Money::ZERO);
        self.receivable = self.receivable.minus(owed(from))?.plus(owed(to))?;
        self.payable = self.payable.plus(owing(from))?.minus(owing(to))?;
        Ok(())
    }
}
