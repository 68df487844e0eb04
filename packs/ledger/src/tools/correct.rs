//! Putting another amount in the place of an entry: the last one, or one that is named by its number.

use munshi_safety::acts::Permit;
use munshi_store::Tx;
use munshi_tools::{ToolFailure, ToolOutput, WriteToolHandler};
use munshi_types::Money;

use super::book::verify_booked;
use super::call::{LedgerServices, build_changed_failure};
use super::cancel::resolve_entry;
use super::owner_authority;
use super::result::LedgerToolResult;
use crate::books::{
    self, CreditAsset, ItemQuantity, LedgerAccount, LedgerEntry, LedgerEntryKind, LedgerEntrySource,
    PaymentMeans, PaymentTerms, Posting, Quantity, ShopTransaction, chart, entry,
};
use crate::check;
use crate::error::Result as Booking;

const REASON: &str = "the amount was corrected by the one who said it";

/// How it is asked whether an entry should have another amount.
pub(crate) const CORRECT_ASK: &str = "ledger-correct-ask";
pub(crate) const CORRECT_SCOPE: &str = "ledger.entry.correct";

pub(crate) struct CorrectLastTool(pub(crate) LedgerServices);

impl WriteToolHandler for CorrectLastTool {
    fn write(&self, permit: &Permit, tx: &mut Tx<'_>) -> Result<ToolOutput, ToolFailure> {
        let call = self.0.load_call(permit, tx)?;
        let amount = call.amount()?;
        let before = entry::find_by_key(tx, call.key)?.and_then(|right| right.corrects);
        let wrong = match before.map(|id| entry::find(tx, id)).transpose()?.flatten() {
            Some(wrong) => wrong,
            None => {
                books::lock_until_commit(tx)?;
                let wrong = resolve_entry(tx, &call, (CORRECT_ASK, CORRECT_SCOPE))?;
                if let Some(found) = check::since_corrected(tx, &wrong, amount, &call.agreed)? {
                    return Err(build_changed_failure(&found.phrase));
                }
                wrong
            }
        };
        let act = rebuild_with_amount(tx, &wrong, amount)?.ok_or_else(|| {
            let what =
                "an entry of several parts can't be corrected by its amount: cancel it and write it anew";
            ToolFailure::permanent("not_booked", what)
        })?;
        // It happened when it happened, however late the amount is put right.
        let mut right = call.new_entry_at(act, wrong.happened_at);
        // What a bank's message told is known again by its words and marks, whatever amount it has now.
        if wrong.source == LedgerEntrySource::Sms {
            right.said.source = wrong.source;
            right.said.words.clone_from(&wrong.words);
        }
        right.said.reference.clone_from(&wrong.reference);
        right.said.fingerprint.clone_from(&wrong.fingerprint);
        let corrected = books::correct(tx, &call.booking_context(), wrong.id, &right, REASON)?;
        if !corrected.is_repeat && amount > wrong.amount {
            owner_authority::ensure_authorized(tx, &call, &corrected.right)?;
        }
        let told = LedgerToolResult::default()
            .entry(&corrected.right)
            .money("old_amount", wrong.amount)
            .phrase("corrected");
        Ok(match corrected.right.contact {
            Some(contact) => told.balance_of(tx, contact)?,
            None => told,
        }
        .build())
    }

    fn read_back(
        &self,
        permit: &Permit,
        done: &ToolOutput,
        tx: &mut Tx<'_>,
    ) -> Result<Option<String>, ToolFailure> {
        let call = self.0.load_call(permit, tx)?;
        verify_booked(tx, &call, done)
    }
}

/// The act of an entry, of another amount. None where the amount alone does not say what it would be.
fn rebuild_with_amount(
    tx: &mut Tx<'_>,
    entry: &LedgerEntry,
    amount: Money,
) -> Booking<Option<ShopTransaction>> {
    let postings = entry::postings(tx, entry.id)?;
    let [posting] = postings.as_slice() else { return Ok(None) };
    let lines: Vec<ItemQuantity> = entry::movements(tx, entry.id)?.into_iter().map(line).collect();
    let party = entry.contact;
    Ok(match (entry.kind, party) {
        (LedgerEntryKind::Sale, _) => {
            Some(ShopTransaction::Sale { amount, settled: to_payment_terms(&posting.debit), party, lines })
        }
        (LedgerEntryKind::Purchase, _) => Some(ShopTransaction::Purchase {
            amount,
            settled: to_payment_terms(&posting.credit),
            party,
            lines,
        }),
        (LedgerEntryKind::Expense, _) => {
            let category = category(tx, posting)?;
            Some(ShopTransaction::Expense {
                amount,
                category,
                settled: to_payment_terms(&posting.credit),
                party,
            })
        }
        (LedgerEntryKind::CreditGiven, Some(party)) => Some(ShopTransaction::CreditGiven {
            party,
            amount,
            lent: to_credit_asset(&posting.credit),
            lines,
        }),
        (LedgerEntryKind::CreditTaken, Some(party)) => {
            Some(ShopTransaction::CreditTaken { party, amount, lent: to_credit_asset(&posting.debit), lines })
        }
        (LedgerEntryKind::PaymentReceived, _) => Some(ShopTransaction::PaymentReceived {
            party,
            amount,
            means: means(&posting.debit).unwrap_or(PaymentMeans::Cash),
        }),
        (LedgerEntryKind::PaymentMade, _) => Some(ShopTransaction::PaymentMade {
            party,
            amount,
            means: means(&posting.credit).unwrap_or(PaymentMeans::Cash),
        }),
        _ => None,
    })
}

fn means(account: &LedgerAccount) -> Option<PaymentMeans> {
    PaymentMeans::ALL.iter().find(|means| means.as_str() == account.code()).copied()
}

fn to_payment_terms(account: &LedgerAccount) -> PaymentTerms {
    means(account).map_or(PaymentTerms::Credit, PaymentTerms::Now)
}

fn to_credit_asset(account: &LedgerAccount) -> CreditAsset {
    means(account).map_or(CreditAsset::Goods, CreditAsset::Money)
}

fn line(movement: books::StockMovement) -> ItemQuantity {
    let size = movement.quantity.as_thousandths().abs();
    ItemQuantity { item: movement.item, quantity: Quantity::from_thousandths(size) }
}

/// The category's own name, as the chart of accounts has it.
fn category(tx: &mut Tx<'_>, posting: &Posting) -> Booking<String> {
    let known = chart(tx)?.into_iter().find(|(account, _)| account.code() == posting.debit.code());
    Ok(known.map_or_else(|| posting.debit.name().to_owned(), |(account, _)| account.name().to_owned()))
}
