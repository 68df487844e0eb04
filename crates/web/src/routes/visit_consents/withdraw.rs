//! `POST /visit/{place}/consents/{id}/withdraw`: somebody at a page takes back what they agreed to.

use munshi_conversations::sessions;
use munshi_safety::consents::{self, WithdrawalRequest};
use munshi_safety::policy;
use munshi_server::error::{ApiError, ApiErrorCode};
use munshi_server::json::Json;
use munshi_server::parameters::UrlPathParameterPair;
use munshi_store::Tx;
use munshi_types::ConsentId;

use crate::views::visit_consent::VisitConsent;
use crate::visitor::page_visitor::{PageVisitor, find_person};

/// Withdraw one's own consent, and with it all that one has consented to for its purpose. What waits for it is not done.
#[utoipa::path(post, path = "/visit/{place}/consents/{id}/withdraw", tag = "visit_consents",
    params(
        ("place" = String, Path, description = "A handle, or `tenant:binding`."),
        ("id" = uuid::Uuid, Path, description = "The consent."),
    ),
    responses((status = 200, description = "Withdrawn, now or earlier.", body = VisitConsent)))]
pub(crate) async fn withdraw_visit_consent(
    visitor: PageVisitor,
    UrlPathParameterPair(_place, id): UrlPathParameterPair<String, ConsentId>,
) -> Result<Json<VisitConsent>, ApiError> {
    let (proved, now) = (visitor.proved.clone(), visitor.api.clock.now());
    let (act_services, binding) = (visitor.api.act_services.clone(), visitor.binding.binding_id);
    let unit = move |tx: &mut Tx<'_>| {
        let gone = || ApiError::new(ApiErrorCode::NotFound, "No such consent of yours.");
        let person = find_person(tx, &proved)?.ok_or_else(gone)?;
        let request = WithdrawalRequest {
            person: person.id,
            via: "web",
            message: None,
            key: None,
            is_vouched: proved.is_vouched(),
        };
        // Their other tabs and devices have the same page.
        if let Some(session) = sessions::find_by_person(tx, binding, person.id)? {
            sessions::touch(tx, session.id, now)?;
        }
        let withdrawn = consents::withdraw_own(tx, &act_services, id, &request, now)?;
        let (_, policy) = policy::load_current(tx)?;
        Ok::<_, ApiError>(VisitConsent::new(withdrawn.ok_or_else(gone)?, &policy.consent, now))
    };
    Ok(Json(visitor.api.db.write(visitor.binding.tenant, unit).await?))
}
