//! Who owes whom, and what is in the till: each one kept row, or one page of an index.

use munshi_store::{PageRequest, Tx, params};
use munshi_types::Money;
use serde::Serialize;

use super::contacts::{self, Contact};
use super::ids::ContactId;
use crate::error::Result;

/// How the books stand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct BooksBalance {
    pub cash: Money,
    pub bank: Money,
    /// What all who owe, owe together.
    pub receivable: Money,
    /// What is owed to others together.
    pub payable: Money,
    /// How many entries there are, cancelled ones and what cancels them too.
    pub entries: i64,
}

/// What a contact owes; below zero, what is owed to them.
pub fn get(tx: &mut Tx<'_>, contact: ContactId) -> Result<Money> {
    Ok(contacts::get(tx, contact)?.balance)
}

pub fn load_totals(tx: &mut Tx<'_>) -> Result<BooksBalance> {
    let standing = tx.optional(
        "SELECT b.receivable, b.payable, b.entries,
                coalesce((SELECT a.balance FROM ledger_accounts a WHERE a.tenant_id = $1 AND a.code = 'cash'), 0),
                coalesce((SELECT a.balance FROM ledger_accounts a WHERE a.tenant_id = $1 AND a.code = 'bank'), 0)
         FROM ledger_books b WHERE b.tenant_id = $1",
        &[],
        |row| {
            Ok(BooksBalance {
                receivable: row.get(0)?,
                payable: row.get(1)?,
                entries: row.get(2)?,
                cash: row.get(3)?,
                bank: row.get(4)?,
            })
        },
    )?;
    Ok(standing.unwrap_or_default())
}

/// Where a list of balances goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BalanceCursor {
    pub balance: Money,
    pub id: ContactId,
}

impl BalanceCursor {
    pub fn from_contact(contact: &Contact) -> Self {
        Self { balance: contact.balance, id: contact.id }
    }
}

/// Who owes, the largest sum first.
pub fn list_debtors(tx: &mut Tx<'_>, after: Option<BalanceCursor>, limit: u32) -> Result<Vec<Contact>> {
    let most = munshi_types::Id::from_uuid(uuid::Uuid::max());
    let after = after.unwrap_or(BalanceCursor { balance: Money::from_paise(i64::MAX), id: most });
    Ok(tx.all(
        "SELECT id, name, is_customer, is_supplier, is_staff, phone, credit_limit, balance, merged_into, made_at
         FROM ledger_contacts WHERE tenant_id = $1 AND balance > 0 AND (balance, id) < ($2, $3)
         ORDER BY balance DESC, id DESC LIMIT $4",
        params![after.balance, after.id, limit.min(PageRequest::LARGEST)],
        contacts::read,
    )?)
}

/// Who is owed, the largest sum first.
pub fn list_creditors(tx: &mut Tx<'_>, after: Option<BalanceCursor>, limit: u32) -> Result<Vec<Contact>> {
    let least = munshi_types::Id::from_uuid(uuid::Uuid::nil());
    let after = after.unwrap_or(BalanceCursor { balance: Money::from_paise(i64::MIN), id: least });
    Ok(tx.all(
        "SELECT id, name, is_customer, is_supplier, is_staff, phone, credit_limit, balance, merged_into, made_at
         FROM ledger_contacts WHERE tenant_id = $1 AND balance < 0 AND (balance, id) > ($2, $3)
         ORDER BY balance, id LIMIT $4",
        params![after.balance, after.id, limit.min(PageRequest::LARGEST)],
        contacts::read,
    )?)
}
