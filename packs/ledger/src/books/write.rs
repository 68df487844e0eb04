//! The one way rows come into the books: an entry with its postings and movements, and everything that is kept of them.

use std::collections::BTreeMap;

use munshi_store::{Tx, params};
use munshi_types::{Money, PersonId, Timestamp};

use super::account::{self, LedgerAccount};
use super::contacts::{Contact, entry_effects};
use super::day::LedgerDay;
use super::entry::LedgerEntry;
use super::habits;
use super::head::BooksHead;
use super::ids::{ContactId, EntryKey, LedgerEntryId};
use super::stored_enums::{HabitSide, LedgerEntryKind, LedgerEntrySource};
use super::transaction::{Posting, StockMovement};
use super::{daily_turnover, items};
use crate::error::Result;

/// An entry as its row will be.
#[derive(Clone, Debug)]
pub(super) struct NewEntryRow<'a> {
    pub id: LedgerEntryId,
    pub key: EntryKey,
    pub kind: LedgerEntryKind,
    pub side: Option<HabitSide>,
    pub happened_at: Timestamp,
    pub day: LedgerDay,
    pub made_at: Timestamp,
    pub said_by: Option<PersonId>,
    pub source: LedgerEntrySource,
    pub words: &'a str,
    pub words_key: Option<Vec<u8>>,
    pub contact: Option<ContactId>,
    pub amount: Money,
    pub flow: i64,
    pub reference: Option<&'a str>,
    pub fingerprint: Option<&'a str>,
    pub reverses: Option<LedgerEntryId>,
    pub corrects: Option<LedgerEntryId>,
    pub reason: Option<&'a str>,
}

impl NewEntryRow<'_> {
    /// The entry as it stands once its row is written.
    fn entry(&self, number: i64) -> LedgerEntry {
        LedgerEntry {
            id: self.id,
            number,
            key: self.key,
            kind: self.kind,
            happened_at: self.happened_at,
            day: self.day,
            made_at: self.made_at,
            said_by: self.said_by,
            source: self.source,
            words: self.words.to_owned(),
            contact: self.contact,
            amount: self.amount,
            reference: self.reference.map(str::to_owned),
            fingerprint: self.fingerprint.map(str::to_owned),
            reverses: self.reverses,
            reason: self.reason.map(str::to_owned),
            corrects: self.corrects,
            cancelled: None,
        }
    }
}

/// Writes an entry under the lock of the books. The party is the entry's contact, or the one it was merged into. The head
/// is the caller's to save.
pub(super) fn write(
    tx: &mut Tx<'_>,
    head: &mut BooksHead,
    row: &NewEntryRow<'_>,
    party: Option<&Contact>,
    postings: &[Posting],
    movements: &[StockMovement],
) -> Result<LedgerEntry> {
    head.entries += 1;
    update_accounts(tx, postings)?;
    insert(tx, row, head.entries)?;
    for (line, posting) in (1_i64..).zip(postings) {
        insert_posting(tx, row, line, posting)?;
        daily_turnover::add(tx, row.day, row.kind, posting)?;
    }
    for (line, movement) in (1_i64..).zip(movements) {
        insert_movement(tx, row.id, line, movement)?;
        items::add_stock(tx, movement.item, movement.quantity)?;
    }
    if let Some(party) = party {
        update_party(tx, head, row, party, postings)?;
    }
    Ok(row.entry(head.entries))
}

fn update_party(
    tx: &mut Tx<'_>,
    head: &mut BooksHead,
    row: &NewEntryRow<'_>,
    party: &Contact,
    postings: &[Posting],
) -> Result<()> {
    let mut balance = party.balance;
    for posting in postings.iter().filter(|posting| posting.contact.is_some()) {
        let change = if posting.debit.is_contacts() { posting.amount } else { posting.amount.negated()? };
        balance = balance.plus(change)?;
    }
    if balance != party.balance {
        entry_effects::set_balance(tx, head, party, balance)?;
    }
    let change = if row.reverses.is_some() { -1 } else { 1 };
    row.side.map_or(Ok(()), |side| habits::refresh(tx, party.id, side, change))
}

/// Each account once, in the order of their codes.
fn update_accounts(tx: &mut Tx<'_>, postings: &[Posting]) -> Result<()> {
    let mut changes: BTreeMap<&LedgerAccount, Money> = BTreeMap::new();
    for posting in postings {
        for (account, amount) in
            [(&posting.debit, posting.amount), (&posting.credit, posting.amount.negated()?)]
        {
            let change = changes.entry(account).or_default();
            *change = change.plus(amount)?;
        }
    }
    changes.into_iter().try_for_each(|(account, change)| account::add_to_balance(tx, account, change))
}

fn insert(tx: &mut Tx<'_>, row: &NewEntryRow<'_>, number: i64) -> Result<()> {
    tx.send(
        "INSERT INTO ledger_entries (tenant_id, id, number, key, kind, side, happened_at, day, made_at, said_by, source,
                                     words, words_key, contact_id, amount, flow, reference, fingerprint, reverses,
                                     corrects, reason)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21)",
        params![
            row.id,
            number,
            row.key,
            row.kind,
            row.side,
            row.happened_at,
            row.day,
            row.made_at,
            row.said_by,
            row.source,
            row.words,
            row.words_key,
            row.contact,
            row.amount,
            row.flow,
            row.reference,
            row.fingerprint,
            row.reverses,
            row.corrects,
            row.reason
        ],
    )?;
    Ok(())
}

fn insert_posting(tx: &mut Tx<'_>, row: &NewEntryRow<'_>, line: i64, posting: &Posting) -> Result<()> {
    tx.send(
        "INSERT INTO ledger_postings (tenant_id, entry_id, line, debit, credit, contact_id, amount, kind, day)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)",
        params![
            row.id,
            line,
            posting.debit.code(),
            posting.credit.code(),
            posting.contact,
            posting.amount,
            row.kind,
            row.day
        ],
    )?;
    Ok(())
}

fn insert_movement(tx: &mut Tx<'_>, entry: LedgerEntryId, line: i64, movement: &StockMovement) -> Result<()> {
    tx.send(
        "INSERT INTO ledger_movements (tenant_id, entry_id, line, item_id, quantity) VALUES ($1, $2, $3, $4, $5)",
        params![entry, line, movement.item, movement.quantity],
    )?;
    Ok(())
}
