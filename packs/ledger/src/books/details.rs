//! What is known of a contact beside the account: the language to write to them in, where by mail, and their number at the tax office.

use munshi_identity::ContactAddress;
use munshi_store::{Tx, params};
use munshi_types::Timestamp;
use munshi_types::tier::LanguageCode;
use serde::Serialize;

use super::contacts;
use super::ids::ContactId;
use crate::error::{Error, Result};

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ContactDetails {
    pub language: Option<LanguageCode>,
    pub gstin: Option<String>,
    pub email: Option<String>,
}

/// Of a contact, and where it does not know, of those merged into it.
pub fn get(tx: &mut Tx<'_>, contact: ContactId) -> Result<ContactDetails> {
    let root = contacts::get(tx, contact)?.id;
    let mut known = ContactDetails::default();
    for one in contacts::list_group(tx, root)? {
        let own = get_own(tx, one)?;
        known.language = known.language.or(own.language);
        known.gstin = known.gstin.or(own.gstin);
        known.email = known.email.or(own.email);
    }
    Ok(known)
}

/// Of this contact alone.
pub fn get_own(tx: &mut Tx<'_>, contact: ContactId) -> Result<ContactDetails> {
    let row = tx.optional(
        "SELECT language, gstin, email FROM ledger_contact_details WHERE tenant_id = $1 AND contact_id = $2",
        params![contact],
        |row| {
            let language: Option<String> = row.get(0)?;
            let language = language.and_then(|code| code.parse().ok());
            Ok(ContactDetails { language, gstin: row.get(1)?, email: row.get(2)? })
        },
    )?;
    Ok(row.unwrap_or_default())
}

/// Keeps what was said; what was not stays as it is.
pub fn update(tx: &mut Tx<'_>, contact: ContactId, said: &ContactDetails, now: Timestamp) -> Result<()> {
    let root = contacts::get(tx, contact)?.id;
    let gstin = said.gstin.as_deref().map(parse_gstin).transpose()?;
    let email = said.email.as_deref().map(ContactAddress::email).transpose()?;
    let language = said.language.as_ref().map(LanguageCode::as_str);
    tx.execute(
        "INSERT INTO ledger_contact_details (tenant_id, contact_id, language, gstin, email, changed_at)
         VALUES ($1, $2, $3, $4, $5, $6)
         ON CONFLICT (tenant_id, contact_id) DO UPDATE SET
           language = coalesce(excluded.language, ledger_contact_details.language),
           gstin = coalesce(excluded.gstin, ledger_contact_details.gstin),
           email = coalesce(excluded.email, ledger_contact_details.email), changed_at = excluded.changed_at",
        params![root, language, gstin, email.as_ref().map(ContactAddress::as_str), now],
    )?;
    Ok(())
}

/// A GSTIN as it is written, if its own sum is right.
pub fn parse_gstin(gstin: &str) -> Result<String> {
    let gstin = gstin.trim().to_ascii_uppercase();
    match munshi_lang::checksums::is_gstin(&gstin) {
        true => Ok(gstin),
        false => {
            Err(Error::BadGstin(format!("{gstin} is no GSTIN: it has 15 letters and digits that add up")))
        }
    }
}
