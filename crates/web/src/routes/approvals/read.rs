//! `GET /v1/approvals/{id}`: one question.

use munshi_agent::sessions;
use munshi_identity::keys::ApiCaller;
use munshi_safety::acts;
use munshi_safety::approvals::{self, Approval as Stored};
use munshi_store::Tx;
use munshi_types::{ApprovalId, SessionId};

use crate::api::access::AuthorizedCaller;
use crate::api::ask::UrlPathParameter;
use crate::api::missing;
use crate::error::ApiError;
use crate::json::Json;
use crate::views::approval::ApprovalView;

/// One question, with the digest that an answer quotes.
#[utoipa::path(get, path = "/v1/approvals/{id}", tag = "approvals",
    params(("id" = uuid::Uuid, Path, description = "Which one.")),
    responses((status = 200, description = "The question.", body = ApprovalView)))]
pub(crate) async fn read_approval(
    key: AuthorizedCaller,
    UrlPathParameter(id): UrlPathParameter<ApprovalId>,
) -> Result<Json<ApprovalView>, ApiError> {
    let caller = key.caller.clone();
    let read = move |tx: &mut Tx<'_>| find(tx, &caller, id);
    Ok(Json(key.api.db.read(key.tenant(), read).await?.into()))
}

/// The question, if the key reaches the binding it was asked in.
pub(crate) fn find(tx: &mut Tx<'_>, caller: &ApiCaller, id: ApprovalId) -> Result<Stored, ApiError> {
    let gone = || missing("approval", &id.to_string());
    let approval = approvals::find(tx, id)?.ok_or_else(gone)?;
    if reached(tx, caller, &approval)? { Ok(approval) } else { Err(gone()) }
}

pub(crate) fn reached(tx: &mut Tx<'_>, caller: &ApiCaller, approval: &Stored) -> Result<bool, ApiError> {
    if caller.bindings.is_none() {
        return Ok(true);
    }
    let Some(session) = approval.session.map(SessionId::from_uuid) else {
        // A program called the tool itself, in a binding's name.
        let act = acts::find(tx, approval.act)?;
        return Ok(act.and_then(|act| act.rests_on.caller.binding).is_some_and(|id| caller.reaches(id)));
    };
    Ok(sessions::find(tx, session)?.is_some_and(|session| caller.reaches(session.binding)))
}
