//! A bill, for those who work here and for whoever has its link.

use munshi_identity::Token;
use munshi_pack::{Page, Shown, Visit};
use munshi_store::{Result, Tx};
use munshi_types::TenantId;

use super::as_store;
use crate::bill::page::{self, Standing};
use crate::books::{DocumentId, documents, entry, shares};

pub(crate) struct Bills;

const PATH: &str = "bills";

/// Where whoever has this path sees the bill. Pages of packs stand below `/pages`.
pub(crate) fn path(tenant: TenantId, document: DocumentId, key: &Token) -> String {
    format!("/pages/{tenant}/ledger/{PATH}/{document}/{}", key.reveal())
}

impl Page for Bills {
    fn path(&self) -> &'static str {
        PATH
    }

    fn scope(&self) -> &'static str {
        "ledger.bill.read"
    }

    fn opens(&self, tx: &mut Tx<'_>, visit: &Visit) -> Result<bool> {
        let (Some(document), Some(key)) = asked(visit) else { return Ok(false) };
        shares::opens(tx, key, document, visit.now).map_err(as_store)
    }

    fn show(&self, tx: &mut Tx<'_>, visit: &Visit) -> Result<Option<Shown>> {
        let (Some(id), _) = asked(visit) else { return Ok(None) };
        shown(tx, id).map_err(as_store)
    }
}

fn shown(tx: &mut Tx<'_>, id: DocumentId) -> crate::Result<Option<Shown>> {
    let Some(document) = documents::find(tx, id)?.filter(documents::Document::is_bill) else {
        return Ok(None);
    };
    let sale = document.entry.map(|sale| entry::find(tx, sale)).transpose()?.flatten();
    let stands = sale.is_none_or(|sale| sale.stands());
    page::page(&document, if stands { Standing::Stands } else { Standing::Cancelled }).map(Some)
}

/// The bill, and the key where the link has one.
fn asked(visit: &Visit) -> (Option<DocumentId>, Option<&str>) {
    let (id, key) = match visit.rest.split_once('/') {
        Some((id, key)) => (id, Some(key)),
        None => (visit.rest.as_str(), None),
    };
    (id.parse().ok(), key)
}
