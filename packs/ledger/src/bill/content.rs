//! All that is printed on a bill. It is kept as it was, so that it prints the same for ever.

use munshi_types::Money;
use serde::{Deserialize, Serialize};

use crate::books::GstScheme;
use crate::books::documents::DocumentKind;
use crate::tax::{GstSupplyType, TaxBreakdown, TaxRate};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bill {
    pub kind: DocumentKind,
    pub series: String,
    /// As people write it, `2026-11-15`.
    pub day: String,
    pub seller: BillSeller,
    pub buyer: Option<BillBuyer>,
    pub way: GstSupplyType,
    pub lines: Vec<BillLine>,
    pub taxed: TaxBreakdown,
    pub total: Money,
    /// What of it was paid at once.
    pub paid: Money,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BillSeller {
    pub name: String,
    pub place: String,
    /// The two digits of the state; empty while unknown.
    pub state: String,
    pub phone: Option<String>,
    pub gstin: Option<String>,
    pub upi: Option<String>,
    pub scheme: GstScheme,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BillBuyer {
    pub name: String,
    pub phone: Option<String>,
    pub gstin: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BillLine {
    pub what: String,
    pub hsn: String,
    /// Such as `2 kg`; empty where nobody said.
    pub quantity: String,
    pub amount: Money,
    pub rate: TaxRate,
    pub taxed: TaxBreakdown,
}

impl Bill {
    /// The number as it is printed.
    pub fn number(&self, number: i64) -> String {
        format!("{}/{number}", self.series)
    }

    /// Its name at the head of the page.
    pub fn title(&self) -> &'static str {
        match self.kind {
            DocumentKind::Invoice => "Tax invoice",
            _ => "Bill of supply",
        }
    }
}
