//! After something was written: its row is read back, and what is kept of it must follow from what was booked.

use munshi_pack::Objection;
use munshi_store::Tx;
use munshi_types::Money;
use serde_json::Value;

use crate::books::{LedgerEntry, LedgerEntryId, contacts, entry, verify};
use crate::error::Result;

/// What does not agree with what was told of an entry, or with what was booked.
pub(super) fn mismatch(tx: &mut Tx<'_>, result: &Value) -> Result<Option<Objection>> {
    let Some(told) = Told::of(result) else { return Ok(None) };
    let found = match entry::find(tx, told.entry)? {
        Some(entry) => disagreement(tx, &told, &entry)?,
        None => Some("it is not in the books".to_owned()),
    };
    Ok(found.map(|what| objection(told.number, &what)))
}

/// What a result says of an entry.
struct Told<'r> {
    entry: LedgerEntryId,
    number: i64,
    amount: Option<Money>,
    /// With whom, and how much is open with them.
    contact: Option<&'r str>,
    name: Option<&'r str>,
    open: Option<Money>,
}

impl<'r> Told<'r> {
    fn of(result: &'r Value) -> Option<Self> {
        let money = |name: &str| result.get(name).and_then(Value::as_i64).map(Money::from_paise);
        Some(Self {
            entry: result.pointer("/entry/id")?.as_str()?.parse().ok()?,
            number: result.pointer("/entry/number").and_then(Value::as_i64).unwrap_or_default(),
            amount: money("amount"),
            contact: result.pointer("/contact/id").and_then(Value::as_str),
            name: result.pointer("/contact/name").and_then(Value::as_str),
            open: money("balance"),
        })
    }
}

fn disagreement(tx: &mut Tx<'_>, told: &Told<'_>, entry: &LedgerEntry) -> Result<Option<String>> {
    if let Some(amount) = told.amount.filter(|amount| *amount != entry.amount) {
        return Ok(Some(format!("{amount} was told, and {} is booked", entry.amount)));
    }
    let around = verify::check_entry(tx, entry)?;
    if let Some(finding) = around.finding {
        return Ok(Some(finding.to_string()));
    }
    let (Some(contact), Some(open)) = (told.contact.and_then(|id| id.parse().ok()), told.open) else {
        return Ok(None);
    };
    // What was told was true when it was told; what was booked since has changed it.
    if around.entries != entry.number {
        return Ok(None);
    }
    let kept = match around.owed {
        Some(owed) => owed,
        // The entry is nobody's any more, and it was told how things stand with whose it was.
        None => contacts::get(tx, contact)?.balance,
    };
    let size = if kept.is_negative() { kept.negated()? } else { kept };
    let who = told.name.unwrap_or("them");
    Ok((open != size).then(|| format!("{open} was told to be open with {who}, and {size} is kept")))
}

fn objection(number: i64, what: &str) -> Objection {
    Objection {
        what: format!("entry {number}: {what}"),
        phrase: "ledger-mismatch".to_owned(),
        slots: vec![("number".to_owned(), number.to_string())],
        replaces: false,
    }
}
