//! A bill, for those who work here and for whoever has its link.

use munshi_identity::SecretToken;
use munshi_pack::{PackPageContent, PackPageHandler, PackPageRequest};
use munshi_store::{Result, Tx};
use munshi_types::TenantId;

use super::as_store;
use crate::bill::page::{self, BillStatus};
use crate::books::{DocumentId, documents, entry, shares};

pub(crate) struct BillPage;

const PATH: &str = "bills";

/// Where whoever has this path sees the bill. Pages of packs stand below `/pages`.
pub(crate) fn build_path(tenant: TenantId, document: DocumentId, key: &SecretToken) -> String {
    format!("/pages/{tenant}/ledger/{PATH}/{document}/{}", key.reveal())
}

impl PackPageHandler for BillPage {
    fn path(&self) -> &'static str {
        PATH
    }

    fn scope(&self) -> &'static str {
        "ledger.bill.read"
    }

    fn allows_link_access(&self, tx: &mut Tx<'_>, visit: &PackPageRequest) -> Result<bool> {
        let (Some(document), Some(key)) = parse_request(visit) else { return Ok(false) };
        shares::opens(tx, key, document, visit.now).map_err(as_store)
    }

    fn show(&self, tx: &mut Tx<'_>, visit: &PackPageRequest) -> Result<Option<PackPageContent>> {
        let (Some(id), _) = parse_request(visit) else { return Ok(None) };
        load_page(tx, id).map_err(as_store)
    }
}

fn load_page(tx: &mut Tx<'_>, id: DocumentId) -> crate::Result<Option<PackPageContent>> {
    let Some(document) = documents::find(tx, id)?.filter(documents::LedgerDocument::is_bill) else {
        return Ok(None);
    };
    let sale = document.entry.map(|sale| entry::find(tx, sale)).transpose()?.flatten();
    let stands = sale.is_none_or(|sale| sale.is_active());
    page::render(&document, if stands { BillStatus::Stands } else { BillStatus::Cancelled }).map(Some)
}

/// The bill, and the key where the link has one.
fn parse_request(visit: &PackPageRequest) -> (Option<DocumentId>, Option<&str>) {
    let (id, key) = match visit.rest.split_once('/') {
        Some((id, key)) => (id, Some(key)),
        None => (visit.rest.as_str(), None),
    };
    (id.parse().ok(), key)
}
