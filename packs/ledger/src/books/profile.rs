//! Who keeps these books.

use munshi_identity::ContactAddress;
use munshi_store::{Row, Tx, params};
use munshi_types::{Money, Timestamp};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::stored_enums::GstScheme;
use crate::error::{Error, Result};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[schema(as = LedgerProfile)]
pub struct ShopProfile {
    pub business: String,
    pub owner: String,
    /// What it trades in: kirana, clothes, medicine.
    pub trade: String,
    pub place: String,
    /// The state as tax law counts them, `27`; empty while unknown.
    pub state: String,
    pub phone: Option<String>,
    /// Where people pay to: `name@bank`.
    pub upi: Option<String>,
    pub gstin: Option<String>,
    #[schema(value_type = String)]
    pub scheme: GstScheme,
    /// Above this the owner is asked before anything is booked, in paise.
    #[schema(value_type = i64)]
    pub confirm_above: Money,
}

impl Default for ShopProfile {
    fn default() -> Self {
        Self {
            business: String::new(),
            owner: String::new(),
            trade: String::new(),
            place: String::new(),
            state: String::new(),
            phone: None,
            upi: None,
            gstin: None,
            scheme: GstScheme::Unregistered,
            confirm_above: Money::from_paise(1_000_000),
        }
    }
}

/// The profile; what nobody has said yet is as it is for everybody.
pub fn get(tx: &mut Tx<'_>) -> Result<ShopProfile> {
    let profile = tx.optional(
        "SELECT business, owner, trade, place, state, phone, upi, gstin, scheme, confirm_above FROM ledger_profiles
         WHERE tenant_id = $1",
        &[],
        read,
    )?;
    Ok(profile.unwrap_or_default())
}

pub fn save(tx: &mut Tx<'_>, profile: &ShopProfile, now: Timestamp) -> Result<()> {
    let phone = profile.phone.as_deref().map(ContactAddress::phone).transpose()?;
    check(profile)?;
    tx.execute(
        "INSERT INTO ledger_profiles (tenant_id, business, owner, trade, place, state, phone, upi, gstin, scheme,
                                      confirm_above, changed_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
         ON CONFLICT (tenant_id) DO UPDATE SET business = excluded.business, owner = excluded.owner,
           trade = excluded.trade, place = excluded.place, state = excluded.state, phone = excluded.phone,
           upi = excluded.upi, gstin = excluded.gstin, scheme = excluded.scheme,
           confirm_above = excluded.confirm_above, changed_at = excluded.changed_at",
        params![
            profile.business,
            profile.owner,
            profile.trade,
            profile.place,
            profile.state,
            phone.as_ref().map(ContactAddress::as_str),
            profile.upi,
            profile.gstin,
            profile.scheme,
            profile.confirm_above,
            now
        ],
    )?;
    Ok(())
}

fn check(profile: &ShopProfile) -> Result<()> {
    let texts = [&profile.business, &profile.owner, &profile.trade, &profile.place, &profile.state];
    if texts.iter().any(|text| text.chars().count() > 200) {
        return Err(Error::invalid("each part of the profile has at most 200 letters"));
    }
    if profile.confirm_above.is_negative() {
        return Err(Error::invalid("the amount above which to ask is zero or more"));
    }
    if profile.gstin.as_deref().is_some_and(|gstin| !munshi_lang::checksums::is_gstin(gstin)) {
        return Err(Error::invalid(
            "the GSTIN does not add up: it has 15 letters and digits, look at it again",
        ));
    }
    let is_upi = |upi: &str| {
        upi.split_once('@')
            .is_some_and(|(name, bank)| !name.is_empty() && !bank.is_empty() && !bank.contains('@'))
    };
    if profile.upi.as_deref().is_some_and(|upi| !is_upi(upi)) {
        return Err(Error::invalid("a UPI address is written name@bank"));
    }
    if profile.scheme != GstScheme::Unregistered && profile.gstin.is_none() {
        return Err(Error::invalid("whoever is registered for GST has a GSTIN: give it too"));
    }
    Ok(())
}

fn read(row: &Row<'_>) -> munshi_store::Result<ShopProfile> {
    Ok(ShopProfile {
        business: row.get("business")?,
        owner: row.get("owner")?,
        trade: row.get("trade")?,
        place: row.get("place")?,
        state: row.get("state")?,
        phone: row.get("phone")?,
        upi: row.get("upi")?,
        gstin: row.get("gstin")?,
        scheme: row.get("scheme")?,
        confirm_above: row.get("confirm_above")?,
    })
}
