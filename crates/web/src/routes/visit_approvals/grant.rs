//! `POST /visit/{place}/approvals/{id}/grant`: somebody at a page says yes.

use munshi_safety::approvals::{ApprovalAnswer, ApprovalCoverage, ApprovalDecision, answer};
use munshi_store::Tx;
use munshi_types::ApprovalId;
use serde::Deserialize;
use utoipa::ToSchema;

use super::read::{own, shown};
use crate::api::ask::{UrlPathParameterPair, invalid};
use crate::error::ApiError;
use crate::json::Json;
use crate::routes::approvals::grant::{go_on, read};
use crate::views::visit::VisitAnswerResult;
use crate::visitor::guest::PageVisitor;

/// More than any digest has.
const LONGEST: usize = 200;

/// What is answered.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct VisitAnswer {
    /// The `digest` that was shown: if the act is not that one any more, nothing is answered.
    #[schema(max_length = 200)]
    pub(crate) digest: String,
}

/// Says yes to a question of one's own thread. The turn that waits goes on by itself.
#[utoipa::path(post, path = "/visit/{place}/approvals/{id}/grant", tag = "visit_approvals",
    params(
        ("place" = String, Path, description = "A handle, or `tenant:binding`."),
        ("id" = uuid::Uuid, Path, description = "Which question."),
    ),
    responses((status = 200, description = "Granted, now or before.", body = VisitAnswerResult)))]
pub(crate) async fn grant_visit_approval(
    guest: PageVisitor,
    UrlPathParameterPair(_place, id): UrlPathParameterPair<String, ApprovalId>,
    Json(given): Json<VisitAnswer>,
) -> Result<Json<VisitAnswerResult>, ApiError> {
    give(&guest, id, ApprovalDecision::Yes, given.digest).await
}

pub(crate) async fn give(
    guest: &PageVisitor,
    id: ApprovalId,
    said: ApprovalDecision,
    digest: String,
) -> Result<Json<VisitAnswerResult>, ApiError> {
    if digest.chars().count() > LONGEST {
        return Err(invalid("digest", "it is the one that was shown, twelve digits and letters"));
    }
    let tenant = guest.place.tenant;
    let (proved, binding) = (guest.proved.clone(), guest.place.binding_id);
    let (office, now, quoted) = (guest.api.office.clone(), guest.api.clock.now(), digest.clone());
    let unit = move |tx: &mut Tx<'_>| -> Result<_, ApiError> {
        let asked = own(tx, &proved, binding, id)?;
        let who = asked.person.principal(tx);
        let said = ApprovalAnswer {
            who: &who,
            answer: said,
            shown: Some(&quoted),
            covers: ApprovalCoverage::Act,
            via: "web",
            key: None,
        };
        let answered = answer(tx, &office, id, &said, now)?;
        Ok((asked, answered))
    };
    let (asked, answered) = guest.api.db.write(tenant, unit).await?;
    let approval = read(answered, said, &digest)?;
    let run = go_on(&guest.api, tenant, &approval).await?;
    let api = guest.api.clone();
    let look = move |tx: &mut Tx<'_>| shown(tx, &api, &asked, &approval);
    Ok(Json(VisitAnswerResult { approval: guest.api.db.read(tenant, look).await?, run }))
}
