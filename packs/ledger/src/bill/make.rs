//! Making a bill of an entry.

use munshi_store::{JsonText, Tx, params};
use munshi_types::{IdGenerator, Money, Timestamp};

use super::content::{Bill, BillBuyer, BillSeller};
use super::lines::{UnnamedGoods, lines};
use crate::books::contacts::{self, Contact};
use crate::books::documents::{self, DocumentKind, LedgerDocument, NewLedgerDocument};
use crate::books::profile::{self, ShopProfile};
use crate::books::{
    ContactId, DayRange, GstScheme, LedgerEntry, LedgerEntryId, LedgerEntryKind, details, entry,
};
use crate::error::{Error, Result};
use crate::tax::{GstSupplyType, TaxBreakdown, TaxRate, find_state_number};

/// What is wanted of a bill, beside what the books know.
#[derive(Clone, Copy, Debug, Default)]
pub struct BillRequest<'a> {
    /// What was sold, where the books name no goods.
    pub what: Option<&'a str>,
    /// The rate, where the item has none.
    pub rate: Option<TaxRate>,
}

/// The bill of an entry. An entry has one: asked again, it is the same.
pub fn make(
    tx: &mut Tx<'_>,
    ids: &IdGenerator,
    now: Timestamp,
    entry: &LedgerEntry,
    wish: BillRequest<'_>,
) -> Result<(LedgerDocument, Bill)> {
    let made = documents::list_for_entry(tx, entry.id)?;
    if let Some(document) = made.into_iter().find(LedgerDocument::is_bill) {
        let bill = read(&document)?;
        return Ok((document, bill));
    }
    if !matches!(entry.kind, LedgerEntryKind::Sale | LedgerEntryKind::CreditGiven) || !entry.is_active() {
        return Err(Error::invalid("a bill is made of a sale that stands"));
    }
    let bill = build(tx, entry, wish)?;
    let new = NewLedgerDocument {
        kind: bill.kind,
        series: bill.series.clone(),
        entry: Some(entry.id),
        contact: entry.contact,
        body: JsonText::of(&bill)?,
    };
    Ok((documents::add(tx, ids, now, &new)?, bill))
}

/// A bill as it was kept.
pub(super) fn read(document: &LedgerDocument) -> Result<Bill> {
    Ok(document.body.read()?)
}

fn build(tx: &mut Tx<'_>, entry: &LedgerEntry, wish: BillRequest<'_>) -> Result<Bill> {
    let profile = profile::get(tx)?;
    if profile.scheme != GstScheme::Unregistered {
        ensure_seller_named(&profile)?;
    }
    let buyer = entry.contact.map(|id| buyer(tx, id)).transpose()?;
    let way = resolve_supply_type(&profile, buyer.as_ref());
    let said = UnnamedGoods { what: wish.what, rate: wish.rate };
    let lines = lines(tx, entry, profile.scheme, way, &said)?;
    let taxed = lines.iter().try_fold(TaxBreakdown::default(), |sum, line| sum.plus(line.taxed))?;
    // Goods without tax are on a bill of supply, whoever sells them.
    let is_taxed =
        profile.scheme == GstScheme::Regular && lines.iter().any(|line| line.rate != TaxRate::ZERO);
    let kind = if is_taxed { DocumentKind::Invoice } else { DocumentKind::BillOfSupply };
    Ok(Bill {
        kind,
        series: series(kind, entry),
        day: entry.day.to_string(),
        seller: seller(profile),
        buyer,
        way,
        lines,
        taxed,
        total: entry.amount,
        paid: sum_paid(tx, entry)?,
    })
}

/// Refuses a paper for the tax office that does not say who sells and where.
fn ensure_seller_named(profile: &ShopProfile) -> Result<()> {
    let parts = [("name", &profile.business), ("address", &profile.place)];
    let missing: Vec<&str> =
        parts.into_iter().filter(|(_, said)| said.trim().is_empty()).map(|(name, _)| name).collect();
    if missing.is_empty() {
        return Ok(());
    }
    Err(Error::NoSeller { what: missing.join(" and ") })
}

/// `INV/26-27`: a series of its own for each kind and each year of accounts.
fn series(kind: DocumentKind, entry: &LedgerEntry) -> String {
    let year = DayRange::fiscal_year(entry.day);
    let short = |day: crate::books::LedgerDay| day.to_date().year().rem_euclid(100);
    let name = if kind == DocumentKind::Invoice { "INV" } else { "BOS" };
    format!("{name}/{:02}-{:02}", short(year.from), short(year.to))
}

/// Goods leave the state where the buyer is registered in another one. Whoever buys at the counter buys here.
fn resolve_supply_type(profile: &ShopProfile, buyer: Option<&BillBuyer>) -> GstSupplyType {
    let own = profile.gstin.as_deref().and_then(find_state_number).or(Some(profile.state.as_str()));
    let theirs = buyer.and_then(|buyer| buyer.gstin.as_deref()).and_then(find_state_number);
    match (own.filter(|own| !own.is_empty()), theirs) {
        (Some(own), Some(theirs)) if own != theirs => GstSupplyType::Across,
        _ => GstSupplyType::Within,
    }
}

fn buyer(tx: &mut Tx<'_>, id: ContactId) -> Result<BillBuyer> {
    let Contact { id, name, phone, .. } = contacts::get(tx, id)?;
    Ok(BillBuyer { name, phone, gstin: details::get(tx, id)?.gstin })
}

fn seller(profile: ShopProfile) -> BillSeller {
    let state = profile.gstin.as_deref().and_then(find_state_number).unwrap_or(&profile.state).to_owned();
    BillSeller {
        name: profile.business,
        place: profile.place,
        state,
        phone: profile.phone,
        gstin: profile.gstin,
        upi: profile.upi,
        scheme: profile.scheme,
    }
}

fn sum_paid(tx: &mut Tx<'_>, entry: &LedgerEntry) -> Result<Money> {
    let postings = entry::postings(tx, entry.id)?;
    let now = postings.iter().filter(|posting| posting.debit.is_money());
    Ok(Money::sum(now.map(|posting| posting.amount))?)
}

/// The latest sale that stands: of a contact and those merged into it, or of anybody; where an amount is said, of that.
pub fn find_latest_sale(
    tx: &mut Tx<'_>,
    of: Option<ContactId>,
    amount: Option<Money>,
) -> Result<Option<LedgerEntry>> {
    let amount = amount.unwrap_or(Money::ZERO);
    let found: Option<LedgerEntryId> = match of {
        None => find_newest(tx, amount)?,
        Some(contact) => {
            let root = contacts::get(tx, contact)?.id;
            let mut newest: Option<LedgerEntry> = None;
            for one in contacts::list_group(tx, root)? {
                let entry = find_newest_of_contact(tx, one, amount)?
                    .map(|id| entry::find(tx, id))
                    .transpose()?
                    .flatten();
                newest = newest.into_iter().chain(entry).max_by_key(|entry| entry.number);
            }
            return Ok(newest);
        }
    };
    Ok(found.map(|id| entry::find(tx, id)).transpose()?.flatten())
}

/// Of an amount, or of zero for any.
fn find_newest(tx: &mut Tx<'_>, amount: Money) -> Result<Option<LedgerEntryId>> {
    Ok(tx.optional(
        "SELECT e.id FROM ledger_entries e
         WHERE e.tenant_id = $1 AND e.kind IN ('sale', 'credit_given') AND e.reverses IS NULL
           AND ($2 = 0 OR e.amount = $2)
           AND NOT EXISTS (SELECT 1 FROM ledger_entries r WHERE r.tenant_id = $1 AND r.reverses = e.id)
         ORDER BY e.number DESC LIMIT 1",
        params![amount],
        |row| row.get(0),
    )?)
}

fn find_newest_of_contact(
    tx: &mut Tx<'_>,
    contact: ContactId,
    amount: Money,
) -> Result<Option<LedgerEntryId>> {
    Ok(tx.optional(
        "SELECT e.id FROM ledger_entries e
         WHERE e.tenant_id = $1 AND e.contact_id = $2 AND e.kind IN ('sale', 'credit_given') AND e.reverses IS NULL
           AND ($3 = 0 OR e.amount = $3)
           AND NOT EXISTS (SELECT 1 FROM ledger_entries r WHERE r.tenant_id = $1 AND r.reverses = e.id)
         ORDER BY e.number DESC LIMIT 1",
        params![contact, amount],
        |row| row.get(0),
    )?)
}
