//! `GET /v1/approvals/{id}`: one question.

use munshi_agent::sessions;
use munshi_identity::keys::ApiCaller;
use munshi_safety::acts;
use munshi_safety::approvals::{self, Approval};
use munshi_server::error::ApiError;
use munshi_server::error_conversions::not_found_error;
use munshi_server::json::Json;
use munshi_server::parameters::UrlPathParameter;
use munshi_store::Tx;
use munshi_types::{ApprovalId, SessionId};

use crate::api::access::AuthorizedCaller;
use crate::views::approval::ApprovalView;

/// Get an approval, with the digest that an answer must quote.
#[utoipa::path(get, path = "/v1/approvals/{id}", tag = "approvals",
    params(("id" = uuid::Uuid, Path, description = "The approval.")),
    responses((status = 200, description = "The approval.", body = ApprovalView)))]
pub(crate) async fn read_approval(
    key: AuthorizedCaller,
    UrlPathParameter(id): UrlPathParameter<ApprovalId>,
) -> Result<Json<ApprovalView>, ApiError> {
    let caller = key.caller.clone();
    let read = move |tx: &mut Tx<'_>| load_approval(tx, &caller, id);
    Ok(Json(key.api.db.read(key.tenant(), read).await?.into()))
}

/// The question, if the key reaches the binding it was asked in.
pub(crate) fn load_approval(
    tx: &mut Tx<'_>,
    caller: &ApiCaller,
    id: ApprovalId,
) -> Result<Approval, ApiError> {
    let gone = || not_found_error("approval", &id.to_string());
    let approval = approvals::find(tx, id)?.ok_or_else(gone)?;
    if is_reachable(tx, caller, &approval)? { Ok(approval) } else { Err(gone()) }
}

pub(crate) fn is_reachable(
    tx: &mut Tx<'_>,
    caller: &ApiCaller,
    approval: &Approval,
) -> Result<bool, ApiError> {
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
