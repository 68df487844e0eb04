//! A bill as a page, to be printed or sent.

use munshi_lang::format::rupees;
use munshi_pack::{Html, PackPageContent};
use munshi_types::Money;

use super::content::{Bill, BillLine};
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

pub(crate) fn render(document: &LedgerDocument, standing: BillStatus) -> Result<PackPageContent> {
    let bill = read(document)?;
    let number = bill.number(document.number);
    let title = format!("{} {number}", bill.title());
    let html = Html::new().markup("<article class=\"bill\">");
    let html = match standing {
        BillStatus::Stands => html,
        BillStatus::Cancelled => html.markup("<p class=\"void\">Cancelled</p>"),
    };
    let html = lines(parties(head(html, &bill, &number), &bill), &bill);
    Ok(PackPageContent::html(title, foot(html, &bill)?.markup("</article>")))
}

fn head(html: Html, bill: &Bill, number: &str) -> Html {
    let seller = &bill.seller;
    let html =
        html.markup("<header><p class=\"kind\">").text(bill.title()).markup("</p><h1>").text(&seller.name);
    let html = detail(html.markup("</h1>"), "", &seller.place);
    let html = detail(html, "GSTIN ", seller.gstin.as_deref().unwrap_or_default());
    let html = detail(html, "State ", &state(&seller.state));
    let html = detail(html, "Phone ", seller.phone.as_deref().unwrap_or_default());
    let html = if seller.scheme == GstScheme::Composition { detail(html, "", COMPOSITION) } else { html };
    let html = html.markup("</header><dl><dt>Number</dt><dd>").text(number);
    html.markup("</dd><dt>Date</dt><dd>").text(&bill.day).markup("</dd></dl>")
}

/// `27 Maharashtra`
fn state(number: &str) -> String {
    state_name(number).map(|name| format!("{number} {name}")).unwrap_or_default()
}

fn detail(html: Html, name: &'static str, value: &str) -> Html {
    if value.is_empty() {
        return html;
    }
    html.markup("<p>").text(name).text(value).markup("</p>")
}

fn parties(html: Html, bill: &Bill) -> Html {
    let Some(buyer) = &bill.buyer else { return html };
    let html = html.markup("<section class=\"buyer\"><h2>For</h2><p>").text(&buyer.name).markup("</p>");
    let html = detail(html, "Phone ", buyer.phone.as_deref().unwrap_or_default());
    let html = detail(html, "GSTIN ", buyer.gstin.as_deref().unwrap_or_default());
    let place = match bill.way {
        GstSupplyType::Within => state(&bill.seller.state),
        GstSupplyType::Across => {
            state(buyer.gstin.as_deref().and_then(|gstin| gstin.get(..2)).unwrap_or_default())
        }
    };
    detail(html, "Place of supply ", &place).markup("</section>")
}

fn lines(html: Html, bill: &Bill) -> Html {
    let is_taxed = bill.kind == DocumentKind::Invoice;
    let html = html.markup("<table class=\"figures\"><thead><tr><th>What</th><th>HSN</th><th>Quantity</th>");
    let html = match is_taxed {
        true => html.markup("<th class=\"number\">GST</th><th class=\"number\">Taxable</th>"),
        false => html,
    };
    let html = html.markup("<th class=\"number\">Amount</th></tr></thead><tbody>");
    let html = bill.lines.iter().fold(html, |html, line| row(html, line, is_taxed));
    html.markup("</tbody></table>")
}

fn row(html: Html, line: &BillLine, is_taxed: bool) -> Html {
    let html = html.markup("<tr><td>").text(&line.what).markup("</td><td>").text(&line.hsn);
    let html = html.markup("</td><td>").text(&line.quantity).markup("</td>");
    let html = match is_taxed {
        true => cell(cell(html, &line.rate.to_string()), &rupees(line.taxed.taxable)),
        false => html,
    };
    cell(html, &rupees(line.amount)).markup("</tr>")
}

fn cell(html: Html, value: &str) -> Html {
    html.markup("<td class=\"number\">").text(value).markup("</td>")
}

fn foot(html: Html, bill: &Bill) -> Result<Html> {
    let (taxed, mut html) = (bill.taxed, html.markup("<dl class=\"sums\">"));
    if bill.kind == DocumentKind::Invoice {
        html = sum(html, "Taxable", taxed.taxable);
        html = match bill.way {
            GstSupplyType::Within => sum(sum(html, "CGST", taxed.cgst), "SGST", taxed.sgst),
            GstSupplyType::Across => sum(html, "IGST", taxed.igst),
        };
    }
    html = sum(html, "Total", bill.total);
    let due = bill.total.minus(bill.paid)?;
    if due > Money::ZERO {
        html = sum(sum(html, "Paid", bill.paid), "To pay", due);
    }
    html = html.markup("</dl>");
    let upi = bill.seller.upi.as_deref().filter(|_| due > Money::ZERO).unwrap_or_default();
    Ok(detail(html, "Pay by UPI to ", upi))
}

fn sum(html: Html, name: &'static str, amount: Money) -> Html {
    html.markup("<dt>").text(name).markup("</dt><dd class=\"number\">").text(rupees(amount)).markup("</dd>")
}
