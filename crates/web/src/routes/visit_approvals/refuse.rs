//! `POST /visit/{place}/approvals/{id}/refuse`: somebody at a page says no.

use munshi_safety::approvals::ApprovalDecision;
use munshi_server::error::ApiError;
use munshi_server::json::Json;
use munshi_server::parameters::UrlPathParameterPair;
use munshi_types::ApprovalId;

use super::grant::{VisitAnswer, answer_approval};
use crate::views::visit::VisitAnswerResult;
use crate::visitor::page_visitor::PageVisitor;

/// Refuse an approval in one's own session. The waiting run resumes without the act.
#[utoipa::path(post, path = "/visit/{place}/approvals/{id}/refuse", tag = "visit_approvals",
    params(
        ("place" = String, Path, description = "A handle, or `tenant:binding`."),
        ("id" = uuid::Uuid, Path, description = "The approval."),
    ),
    responses((status = 200, description = "Refused, now or earlier.", body = VisitAnswerResult)))]
pub(crate) async fn refuse_visit_approval(
    visitor: PageVisitor,
    UrlPathParameterPair(_place, id): UrlPathParameterPair<String, ApprovalId>,
    Json(given): Json<VisitAnswer>,
) -> Result<Json<VisitAnswerResult>, ApiError> {
    answer_approval(&visitor, id, ApprovalDecision::No, given.digest).await
}
