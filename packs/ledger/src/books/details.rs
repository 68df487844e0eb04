//! What is known of a contact beside the account: the language to write to them in, and their number at the tax office.

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
}

/// Of a contact, and where it does not know, of those merged into it.
pub fn get(tx: &mut Tx<'_>, contact: ContactId) -> Result<ContactDetails> {
    let root = contacts::get(tx, contact)?.id;
    let mut known = ContactDetails::default();
    for one in contacts::list_group(tx, root)? {
        let row = tx.optional(
            "SELECT language, gstin FROM ledger_contact_details WHERE tenant_id = $1 AND contact_id = $2",
            params![one],
            |row| Ok((row.get::<Option<String>>(0)?, row.get::<Option<String>>(1)?)),
        )?;
        let Some((language, gstin)) = row else { continue };
        known.language = known.language.or_else(|| language.and_then(|code| code.parse().ok()));
        known.gstin = known.gstin.or(gstin);
    }
    Ok(known)
}

/// Keeps what was said; what was not stays as it is.
pub fn update(tx: &mut Tx<'_>, contact: ContactId, said: &ContactDetails, now: Timestamp) -> Result<()> {
    let root = contacts::get(tx, contact)?.id;
    let gstin = said.gstin.as_deref().map(parse_gstin).transpose()?;
    let language = said.language.as_ref().map(LanguageCode::as_str);
    tx.execute(
        "INSERT INTO ledger_contact_details (tenant_id, contact_id, language, gstin, changed_at)
         VALUES ($1, $2, $3, $4, $5)
         ON CONFLICT (tenant_id, contact_id) DO UPDATE SET
           language = coalesce(excluded.language, ledger_contact_details.language),
           gstin = coalesce(excluded.gstin, ledger_contact_details.gstin), changed_at = excluded.changed_at",
        params![root, language, gstin, now],
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
