//! Results: fields for the model, and which phrases tell them to a person.

use munshi_store::Tx;
use munshi_types::Money;
use serde_json::{Map, Value, json};

use super::cancel;
use super::contact_match::EntryParty;
use crate::books::contacts::{self, Contact};
use crate::books::{ContactId, LedgerEntry, balances};
use crate::error::Result;

/// A result that is put together.
#[derive(Default)]
pub(crate) struct LedgerToolResult {
    fields: Map<String, Value>,
    phrases: Vec<String>,
}

impl LedgerToolResult {
    pub(crate) fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.fields.insert(name.to_owned(), value.into());
        self
    }

    /// An amount in paise. Its name must have a word for money in it, such as `total`, so that it is told as money.
    pub(crate) fn money(self, name: &str, amount: Money) -> Self {
        self.with(name, amount.as_paise())
    }

    pub(crate) fn phrase(mut self, phrase: &str) -> Self {
        self.phrases.push(format!("ledger-{phrase}"));
        self
    }

    pub(crate) fn entry(self, entry: &LedgerEntry) -> Self {
        self.with("entry", json!({ "id": entry.id, "number": entry.number, "kind": entry.kind }))
            .money("amount", entry.amount)
    }

    /// Whom it was for, and how things stand with them now.
    pub(crate) fn party(self, tx: &mut Tx<'_>, party: &EntryParty) -> Result<Self> {
        let told = self.balance_of(tx, party.contact.id)?;
        Ok(if party.is_new { told.phrase("new") } else { told })
    }

    pub(crate) fn balance_of(self, tx: &mut Tx<'_>, contact: ContactId) -> Result<Self> {
        let contact = contacts::get(tx, contact)?;
        self.contact(&contact)
    }

    pub(crate) fn contact(self, contact: &Contact) -> Result<Self> {
        let phrase = match contact.balance {
            Money::ZERO => "even",
            balance if balance.is_negative() => "owed",
            _ => "owes",
        };
        let size = if contact.balance.is_negative() { contact.balance.negated()? } else { contact.balance };
        let contact_told = json!({ "id": contact.id, "name": contact.name });
        Ok(self
            .with("contact", contact_told)
            .with("name", contact.name.as_str())
            .with(
                "owes",
                match phrase {
                    "owes" => "they owe the shop",
                    "owed" => "the shop owes them",
                    _ => "nothing",
                },
            )
            .money("balance", size)
            .phrase(phrase))
    }

    /// That there is less than no cash, where what was paid has made it so.
    pub(crate) fn cash_warning(self, tx: &mut Tx<'_>, paid: Money) -> Result<Self> {
        let cash = balances::load_totals(tx)?.cash;
        let is_first = cash.is_negative() && !cash.plus(paid)?.is_negative();
        Ok(if is_first { self.money("cash_balance", cash).phrase("cash-below") } else { self })
    }

    /// The same for what wrote an entry: it can be taken back by its number.
    pub(crate) fn build_undoable(self, entry: &LedgerEntry) -> munshi_tools::ToolOutput {
        let undo = cancel::undo_call(entry.number);
        munshi_tools::ToolOutput { undo, ..self.build() }
    }

    pub(crate) fn build(mut self) -> munshi_tools::ToolOutput {
        self.fields.insert("reply".to_owned(), self.phrases.into());
        munshi_tools::ToolOutput::new(Value::Object(self.fields))
    }
}
