//! `POST /visit/{place}/approvals/{id}/refuse`: somebody at a page says no.

use munshi_safety::approvals::ApprovalDecision;
use munshi_types::ApprovalId;

use super::grant::{VisitAnswer, give};
use crate::api::ask::UrlPathParameterPair;
use crate::error::ApiError;
use crate::json::Json;
use crate::views::visit::VisitAnswerResult;
use crate::visitor::guest::PageVisitor;

/// Says no to a question of one's own thread. The turn that waits goes on without the act.
#[utoipa::path(post, path = "/visit/{place}/approvals/{id}/refuse", tag = "visit_approvals",
    params(
        ("place" = String, Path, description = "A handle, or `tenant:binding`."),
        ("id" = uuid::Uuid, Path, description = "Which question."),
    ),
    responses((status = 200, description = "Refused, now or before.", body = VisitAnswerResult)))]
pub(crate) async fn refuse_visit_approval(
    guest: PageVisitor,
    UrlPathParameterPair(_place, id): UrlPathParameterPair<String, ApprovalId>,
    Json(given): Json<VisitAnswer>,
) -> Result<Json<VisitAnswerResult>, ApiError> {
    give(&guest, id, ApprovalDecision::No, given.digest).await
}
