//! The turnover of days, kept by each entry, and the totals people ask for.

use munshi_store::{Tx, params};
use munshi_types::Money;
use serde::Serialize;

use super::account::LedgerAccount;
use super::day::{DayRange, LedgerDay};
use super::stored_enums::LedgerEntryKind;
use super::transaction::Posting;
use crate::error::Result;

/// What happened in a stretch of days. What was cancelled is in none of these.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PeriodTotals {
    /// All that was sold, and how much of it on credit.
    pub sales: Money,
    pub sales_on_credit: Money,
    pub purchases: Money,
    pub purchases_on_credit: Money,
    pub expenses: Money,
    pub payments_received: Money,
    pub payments_made: Money,
    /// Into and out of cash and bank together; what only went from one to the other is not in it.
    pub money_in: Money,
    pub money_out: Money,
    /// How many postings these are.
    pub postings: i64,
}

/// One row of turnover.
struct Turnover {
    kind: LedgerEntryKind,
    debit: LedgerAccount,
    credit: LedgerAccount,
    amount: Money,
    postings: i64,
}

/// Adds a posting to the turnover of its day. The books are locked by the caller.
pub(super) fn add(tx: &mut Tx<'_>, day: LedgerDay, kind: LedgerEntryKind, posting: &Posting) -> Result<()> {
    let count: i64 = if posting.amount.is_negative() { -1 } else { 1 };
    tx.send(
        "INSERT INTO ledger_days (tenant_id, day, kind, debit, credit, amount, postings)
         VALUES ($1, $2, $3, $4, $5, $6, $7)
         ON CONFLICT (tenant_id, day, kind, debit, credit) DO UPDATE
         SET amount = ledger_days.amount + excluded.amount, postings = ledger_days.postings + excluded.postings",
        params![day, kind, posting.debit.code(), posting.credit.code(), posting.amount, count],
    )?;
    Ok(())
}

/// What happened in a stretch of days.
pub fn totals(tx: &mut Tx<'_>, days: DayRange) -> Result<PeriodTotals> {
    let mut totals = PeriodTotals::default();
    for turnover in turnover(tx, days)? {
        totals.add(&turnover)?;
    }
    Ok(totals)
}

fn turnover(tx: &mut Tx<'_>, days: DayRange) -> Result<Vec<Turnover>> {
    Ok(tx.all(
        "SELECT kind, debit, credit, CAST(sum(amount) AS BIGINT), CAST(sum(postings) AS BIGINT) FROM ledger_days
         WHERE tenant_id = $1 AND day BETWEEN $2 AND $3 GROUP BY kind, debit, credit",
        params![days.from, days.to],
        |row| {
            let account = |at: usize| row.get(at).map(LedgerAccount::from_code);
            Ok(Turnover {
                kind: row.get(0)?,
                debit: account(1)?,
                credit: account(2)?,
                amount: row.get(3)?,
                postings: row.get(4)?,
            })
        },
    )?)
}

/// What was spent on what, the largest first.
pub fn sum_by_category(tx: &mut Tx<'_>, days: DayRange) -> Result<Vec<(String, Money)>> {
    Ok(tx.all(
        "SELECT a.name, CAST(sum(d.amount) AS BIGINT) FROM ledger_days d
         JOIN ledger_accounts a ON a.tenant_id = $1 AND a.code = d.debit
         WHERE d.tenant_id = $1 AND d.day BETWEEN $2 AND $3 AND d.kind = 'expense'
         GROUP BY a.name, a.code HAVING sum(d.amount) <> 0 ORDER BY 2 DESC, 1",
        params![days.from, days.to],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?)
}

impl PeriodTotals {
    fn add(&mut self, turnover: &Turnover) -> Result<()> {
        let Turnover { kind, debit, credit, amount, postings } = turnover;
        let put = |to: &mut Money| -> Result<()> {
            *to = to.plus(*amount)?;
            Ok(())
        };
        self.postings += postings;
        if credit.code() == LedgerAccount::sales().code() {
            put(&mut self.sales)?;
            if debit.is_contacts() {
                put(&mut self.sales_on_credit)?;
            }
        }
        if debit.code() == LedgerAccount::purchases().code() {
            put(&mut self.purchases)?;
            if credit.is_contacts() {
                put(&mut self.purchases_on_credit)?;
            }
        }
        match kind {
            LedgerEntryKind::Expense => put(&mut self.expenses)?,
            LedgerEntryKind::PaymentReceived => put(&mut self.payments_received)?,
            LedgerEntryKind::PaymentMade => put(&mut self.payments_made)?,
            _ => {}
        }
        match (kind, debit.is_money(), credit.is_money()) {
            (LedgerEntryKind::Opening, ..) => Ok(()),
            (_, true, false) => put(&mut self.money_in),
            (_, false, true) => put(&mut self.money_out),
            _ => Ok(()),
        }
    }
}
