//! What entries keep of a contact.

use munshi_store::{Tx, params};
use munshi_types::Money;

use super::Contact;
use crate::books::head::BooksHead;
use crate::books::stored_enums::LedgerEntryKind;
use crate::error::Result;

/// Sets what a contact owes. The books are locked by the caller, and the contact was read since.
pub(in crate::books) fn set_balance(
    tx: &mut Tx<'_>,
    head: &mut BooksHead,
    contact: &Contact,
    balance: Money,
) -> Result<()> {
    head.apply_balance_change(contact.balance, balance)?;
    tx.send(
        "UPDATE ledger_contacts SET balance = $3 WHERE tenant_id = $1 AND id = $2",
        params![contact.id, balance],
    )?;
    Ok(())
}

/// Whoever buys is a customer, and whoever sells is a supplier.
pub(in crate::books) fn add_role(tx: &mut Tx<'_>, contact: &Contact, kind: LedgerEntryKind) -> Result<()> {
    let customer =
        contact.roles.customer || matches!(kind, LedgerEntryKind::Sale | LedgerEntryKind::CreditGiven);
    let supplier =
        contact.roles.supplier || matches!(kind, LedgerEntryKind::Purchase | LedgerEntryKind::CreditTaken);
    if (customer, supplier) != (contact.roles.customer, contact.roles.supplier) {
        tx.send(
            "UPDATE ledger_contacts SET is_customer = $3, is_supplier = $4 WHERE tenant_id = $1 AND id = $2",
            params![contact.id, customer, supplier],
        )?;
    }
    Ok(())
}
