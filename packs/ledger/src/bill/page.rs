//! A bill as a page, to be printed or sent.

use askama::Template;
use munshi_lang::format::rupees;
use munshi_pack::PackPageContent;
use munshi_types::Money;

use super::content::{Bill, BillBuyer};
use super::make::read;
use crate::books::GstScheme;
use crate::books::documents::{DocumentKind, LedgerDocument};
use crate::error::Result;
use crate::tax::{GstSupplyType, state_name};

/// What the law wants on the bills of those who pay by composition.
const COMPOSITION: &str = "Composition taxable person, not eligible to collect tax on supplies";

/// Whether the sale that a bill is of still stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BillStatus {
    Stands,
    Cancelled,
}

/// Names of details with their values; those without a value are left out.
type Details = Vec<(&'static str, String)>;

#[derive(Template)]
#[template(path = "bill.html")]
struct BillTemplate<'a> {
    bill: &'a Bill,
    number: &'a str,
    is_cancelled: bool,
    is_taxed: bool,
    seller: Details,
    buyer_details: Details,
    sums: Details,
    /// Where to pay, while something is due.
    upi: &'a str,
}

pub(crate) fn render(document: &LedgerDocument, standing: BillStatus) -> Result<PackPageContent> {
    let bill = read(document)?;
    let number = bill.number(document.number);
    let page = BillTemplate::new(&bill, &number, standing)?;
    Ok(PackPageContent::html(format!("{} {number}", bill.title()), &page)?)
}

impl<'a> BillTemplate<'a> {
    fn new(bill: &'a Bill, number: &'a str, standing: BillStatus) -> Result<Self> {
        let due = bill.total.minus(bill.paid)?;
        Ok(Self {
            bill,
            number,
            is_cancelled: standing == BillStatus::Cancelled,
            is_taxed: bill.kind == DocumentKind::Invoice,
            seller: list_seller_details(bill),
            buyer_details: bill
                .buyer
                .as_ref()
                .map(|buyer| list_buyer_details(bill, buyer))
                .unwrap_or_default(),
            sums: list_sums(bill, due),
            upi: bill.seller.upi.as_deref().filter(|_| due > Money::ZERO).unwrap_or_default(),
        })
    }
}

fn list_seller_details(bill: &Bill) -> Details {
    let seller = &bill.seller;
    let scheme = if seller.scheme == GstScheme::Composition { COMPOSITION } else { "" };
    keep_given([
        ("", seller.place.clone()),
        ("GSTIN ", seller.gstin.clone().unwrap_or_default()),
        ("State ", state(&seller.state)),
        ("Phone ", seller.phone.clone().unwrap_or_default()),
        ("", scheme.to_owned()),
    ])
}

fn list_buyer_details(bill: &Bill, buyer: &BillBuyer) -> Details {
    let place = match bill.way {
        GstSupplyType::Within => state(&bill.seller.state),
        GstSupplyType::Across => {
            state(buyer.gstin.as_deref().and_then(|gstin| gstin.get(..2)).unwrap_or_default())
        }
    };
    keep_given([
        ("Phone ", buyer.phone.clone().unwrap_or_default()),
        ("GSTIN ", buyer.gstin.clone().unwrap_or_default()),
        ("Place of supply ", place),
    ])
}

fn keep_given<const N: usize>(details: [(&'static str, String); N]) -> Details {
    details.into_iter().filter(|(_, value)| !value.is_empty()).collect()
}

/// `27 Maharashtra`
fn state(number: &str) -> String {
    state_name(number).map(|name| format!("{number} {name}")).unwrap_or_default()
}

fn list_sums(bill: &Bill, due: Money) -> Details {
    let (taxed, mut sums) = (bill.taxed, Vec::new());
    if bill.kind == DocumentKind::Invoice {
        sums.push(("Taxable", taxed.taxable));
        match bill.way {
            GstSupplyType::Within => sums.extend([("CGST", taxed.cgst), ("SGST", taxed.sgst)]),
            GstSupplyType::Across => sums.push(("IGST", taxed.igst)),
        }
    }
    sums.push(("Total", bill.total));
    if due > Money::ZERO {
        sums.extend([("Paid", bill.paid), ("To pay", due)]);
    }
    sums.into_iter().map(|(name, amount)| (name, rupees(amount))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bill::content::{BillLine, BillSeller};
    use crate::tax::{TaxBreakdown, TaxRate};

    #[test]
    fn a_bill_prints_to_the_byte() {
        let rupees = |amount: i64| Money::from_paise(amount * 100);
        let taxed = TaxBreakdown { taxable: rupees(100), cgst: rupees(2), sgst: rupees(3), igst: rupees(5) };
        let mut bill = Bill {
            kind: DocumentKind::Invoice,
            series: "INV/26-27".to_owned(),
            day: "2026-11-15".to_owned(),
            seller: BillSeller {
                name: "Gupta & Sons".to_owned(),
                place: "12 MG Road".to_owned(),
                state: "27".to_owned(),
                phone: None,
                gstin: Some("27AAPFU0939F1ZV".to_owned()),
                upi: Some("gupta@upi".to_owned()),
                scheme: GstScheme::Regular,
            },
            buyer: Some(BillBuyer { name: "`Ramesh`".to_owned(), phone: Some("98".to_owned()), gstin: None }),
            way: GstSupplyType::Within,
            lines: vec![BillLine {
                what: "cheeni <fine>".to_owned(),
                hsn: "1701".to_owned(),
                quantity: "2 kg".to_owned(),
                amount: rupees(105),
                rate: TaxRate::from_hundredths(500),
                taxed,
            }],
            taxed,
            total: rupees(105),
            paid: rupees(5),
        };
        let page = BillTemplate::new(&bill, "INV/26-27/1", BillStatus::Cancelled).unwrap().render().unwrap();
        let wanted = concat!(
            "<article class=\"bill\"><p class=\"void\">Cancelled</p>",
            "<header><p class=\"kind\">Tax invoice</p><h1>Gupta &amp; Sons</h1><p>12 MG Road</p>",
            "<p>GSTIN 27AAPFU0939F1ZV</p><p>State 27 Maharashtra</p></header>",
            "<dl><dt>Number</dt><dd>INV/26-27/1</dd><dt>Date</dt><dd>2026-11-15</dd></dl>",
            "<section class=\"buyer\"><h2>For</h2><p>&#96;Ramesh&#96;</p><p>Phone 98</p>",
            "<p>Place of supply 27 Maharashtra</p></section>",
            "<table class=\"figures\"><thead><tr><th>What</th><th>HSN</th><th>Quantity</th>",
            "<th class=\"number\">GST</th><th class=\"number\">Taxable</th><th class=\"number\">Amount</th></tr></thead>",
            "<tbody><tr><td>cheeni &lt;fine&gt;</td><td>1701</td><td>2 kg</td><td class=\"number\">5%</td>",
            "<td class=\"number\">₹100</td><td class=\"number\">₹105</td></tr></tbody></table>",
            "<dl class=\"sums\"><dt>Taxable</dt><dd class=\"number\">₹100</dd><dt>CGST</dt><dd class=\"number\">₹2</dd>",
            "<dt>SGST</dt><dd class=\"number\">₹3</dd><dt>Total</dt><dd class=\"number\">₹105</dd>",
            "<dt>Paid</dt><dd class=\"number\">₹5</dd><dt>To pay</dt><dd class=\"number\">₹100</dd></dl>",
            "<p>Pay by UPI to gupta@upi</p></article>",
        );
        assert_eq!(page, wanted);
        (bill.kind, bill.buyer, bill.paid) = (DocumentKind::BillOfSupply, None, bill.total);
        bill.lines.clear();
        let page = BillTemplate::new(&bill, "1", BillStatus::Stands).unwrap().render().unwrap();
        assert!(page.starts_with("<article class=\"bill\"><header>"), "{page}");
        let end = concat!(
            "</dl><table class=\"figures\"><thead><tr><th>What</th><th>HSN</th><th>Quantity</th>",
            "<th class=\"number\">Amount</th></tr></thead><tbody></tbody></table>",
            "<dl class=\"sums\"><dt>Total</dt><dd class=\"number\">₹105</dd></dl></article>",
        );
        assert!(page.ends_with(end), "{page}");
    }
}
