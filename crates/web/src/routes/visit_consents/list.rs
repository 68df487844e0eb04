//! `GET /visit/{place}/consents`: what somebody at a page has agreed to.

use munshi_safety::{consents, policy};
use munshi_server::error::ApiError;
use munshi_server::json::Json;
use munshi_store::{PageRequest, Tx};

use crate::views::visit_consent::{VisitConsent, VisitConsentList};
use crate::visitor::page_visitor::{PageVisitor, find_person};

/// Nobody has agreed to more than a few things; what is older has ended long ago.
const MOST: u32 = 100;

/// List what the visitor has consented to, newest first, wherever they did so.
#[utoipa::path(get, path = "/visit/{place}/consents", tag = "visit_consents",
    params(("place" = String, Path, description = "A handle, or `tenant:binding`.")),
    responses((status = 200, description = "The consents.", body = VisitConsentList)))]
pub(crate) async fn list_visit_consents(visitor: PageVisitor) -> Result<Json<VisitConsentList>, ApiError> {
    let (proved, now) = (visitor.proved.clone(), visitor.api.clock.now());
    let read = move |tx: &mut Tx<'_>| {
        let Some(person) = find_person(tx, &proved)? else { return Ok(VisitConsentList::default()) };
        let (_, policy) = policy::load_current(tx)?;
        let page = consents::list(tx, person.id, &PageRequest::new(None, MOST))?;
        let given = page.items.into_iter().map(|consent| VisitConsent::new(consent, &policy.consent, now));
        Ok::<_, ApiError>(VisitConsentList { consents: given.collect() })
    };
    Ok(Json(visitor.api.db.read(visitor.binding.tenant, read).await?))
}
