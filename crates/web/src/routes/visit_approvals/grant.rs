//! `POST /visit/{place}/approvals/{id}/grant`: somebody at a page says yes.

use munshi_conversations::sessions;
use munshi_operations::approvals::{resolve_outcome, resume_run};
use munshi_safety::approvals::{
    AnswerSource, ApprovalAnswer, ApprovalCoverage, ApprovalDecision, ApprovalStatus, answer,
};
use munshi_server::error::ApiError;
use munshi_server::json::Json;
use munshi_server::parameters::{UrlPathParameterPair, field_error};
use munshi_store::Tx;
use munshi_types::ApprovalId;
use serde::Deserialize;
use utoipa::ToSchema;

use super::read::{build_view, load_own_approval};
use crate::views::visit::VisitAnswerResult;
use crate::visitor::page_visitor::PageVisitor;

/// More than any digest has.
const LONGEST: usize = 200;

/// An answer to an approval.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct VisitAnswer {
    /// The `digest` that was shown. If the act has changed since, the answer is rejected.
    #[schema(max_length = 200)]
    pub(crate) digest: String,
}

/// Grant an approval in one's own session. The waiting run resumes.
#[utoipa::path(post, path = "/visit/{place}/approvals/{id}/grant", tag = "visit_approvals",
    params(
        ("place" = String, Path, description = "A handle, or `tenant:binding`."),
        ("id" = uuid::Uuid, Path, description = "The approval."),
    ),
    responses((status = 200, description = "Granted, now or earlier.", body = VisitAnswerResult)))]
pub(crate) async fn grant_visit_approval(
    visitor: PageVisitor,
    UrlPathParameterPair(_place, id): UrlPathParameterPair<String, ApprovalId>,
    Json(given): Json<VisitAnswer>,
) -> Result<Json<VisitAnswerResult>, ApiError> {
    answer_approval(&visitor, id, ApprovalDecision::Yes, given.digest).await
}

pub(crate) async fn answer_approval(
    visitor: &PageVisitor,
    id: ApprovalId,
    said: ApprovalDecision,
    digest: String,
) -> Result<Json<VisitAnswerResult>, ApiError> {
    if digest.chars().count() > LONGEST {
        return Err(field_error("digest", "must be the digest that was shown: twelve hexadecimal digits"));
    }
    let tenant = visitor.binding.tenant;
    let (proved, binding) = (visitor.proved.clone(), visitor.binding.binding_id);
    let (act_services, now, quoted) =
        (visitor.api.act_services.clone(), visitor.api.clock.now(), digest.clone());
    let unit = move |tx: &mut Tx<'_>| -> Result<_, ApiError> {
        let asked = load_own_approval(tx, &proved, binding, id)?;
        let who = asked.person.principal(tx);
        let source = if proved.is_vouched() { AnswerSource::Other } else { AnswerSource::Page };
        let said = ApprovalAnswer {
            who: &who,
            answer: said,
            shown: Some(&quoted),
            covers: ApprovalCoverage::Act,
            via: "web",
            key: None,
            source,
        };
        if asked.approval.state == ApprovalStatus::Pending {
            sessions::touch_asked(tx, asked.approval.session, now)?;
        }
        let answered = answer(tx, &act_services, id, &said, now)?;
        Ok((asked, answered))
    };
    let (asked, answered) = visitor.api.db.write(tenant, unit).await?;
    let approval = resolve_outcome(answered, said, Some(&digest))?;
    let run = resume_run(&visitor.api.db, &visitor.api.engine, tenant, &approval).await?;
    let api = visitor.api.clone();
    let proved = visitor.proved.clone();
    let look = move |tx: &mut Tx<'_>| build_view(tx, &api, (&asked, &proved), &approval);
    Ok(Json(VisitAnswerResult { approval: visitor.api.db.read(tenant, look).await?, run }))
}
