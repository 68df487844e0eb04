//! The chart of accounts. An account is told by its code; expenses have one for each category.

use munshi_lang::fold;
use munshi_store::{Tx, params};
use munshi_types::Money;
use serde::Serialize;

use super::stored_enums::PaymentMeans;
use crate::error::{Error, Result};

/// An account and the name it gets when it is first used.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct LedgerAccount {
    code: String,
    name: String,
}

const EXPENSE: &str = "expense:";

impl LedgerAccount {
    fn fixed(code: &str, name: &str) -> Self {
        Self { code: code.to_owned(), name: name.to_owned() }
    }

    pub fn money(means: PaymentMeans) -> Self {
        match means {
            PaymentMeans::Cash => Self::fixed("cash", "Cash"),
            PaymentMeans::Bank => Self::fixed("bank", "Bank"),
        }
    }

    /// Of all contacts together; which one stands in the posting.
    pub fn contacts() -> Self {
        Self::fixed("contacts", "Contacts")
    }

    pub fn sales() -> Self {
        Self::fixed("sales", "Sales")
    }

    pub fn purchases() -> Self {
        Self::fixed("purchases", "Purchases")
    }

    /// Against which the first figures are booked.
    pub fn opening() -> Self {
        Self::fixed("opening", "Opening balances")
    }

    /// Money of which nobody has said yet who or what it was for.
    pub fn unsorted() -> Self {
        Self::fixed("unsorted", "Unsorted")
    }

    /// Spellings of one category in any script share an account; the first one names it.
    pub fn expense(category: &str) -> Result<Self> {
        let name = category.split_whitespace().collect::<Vec<_>>().join(" ");
        let keys: Vec<String> =
            name.split(' ').map(fold::key).filter(|key: &String| !key.is_empty()).collect();
        let key = if keys.is_empty() { fold::normalize_spelling(&name) } else { keys.join("-") };
        if key.is_empty() || name.chars().count() > 60 {
            return Err(Error::invalid("an expense needs a category of at most 60 letters, such as rent"));
        }
        Ok(Self { code: format!("{EXPENSE}{key}"), name })
    }

    /// One that is in the books, by its code.
    pub(crate) fn from_code(code: String) -> Self {
        Self { name: code.clone(), code }
    }

    pub fn code(&self) -> &str {
        &self.code
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn is_contacts(&self) -> bool {
        self.code == "contacts"
    }

    /// Cash or bank.
    pub fn is_money(&self) -> bool {
        PaymentMeans::ALL.iter().any(|means| means.as_str() == self.code)
    }

    pub fn is_expense(&self) -> bool {
        self.code.starts_with(EXPENSE)
    }
}

/// Makes the account if it is new, and keeps its balance.
pub(super) fn add_to_balance(tx: &mut Tx<'_>, account: &LedgerAccount, amount: Money) -> Result<()> {
    tx.send(
        "INSERT INTO ledger_accounts (tenant_id, code, name, balance) VALUES ($1, $2, $3, $4)
         ON CONFLICT (tenant_id, code) DO UPDATE SET balance = ledger_accounts.balance + excluded.balance",
        params![account.code, account.name, amount],
    )?;
    Ok(())
}

/// Every account with its balance: what is in it, or what it has brought (below zero).
pub fn chart(tx: &mut Tx<'_>) -> Result<Vec<(LedgerAccount, Money)>> {
    Ok(tx.all(
        "SELECT code, name, balance FROM ledger_accounts WHERE tenant_id = $1 ORDER BY code",
        &[],
        |row| Ok((LedgerAccount { code: row.get(0)?, name: row.get(1)? }, row.get(2)?)),
    )?)
}

/// The categories that expenses were booked under.
pub fn categories(tx: &mut Tx<'_>) -> Result<Vec<String>> {
    Ok(tx.all(
        "SELECT name FROM ledger_accounts WHERE tenant_id = $1 AND code LIKE 'expense:%'
         ORDER BY name",
        &[],
        |row| row.get(0),
    )?)
}
