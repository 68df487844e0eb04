//! Who answers: somebody of the workspace that the question is of, whichever workspace is open.

use munshi_operations::HouseCall;
use munshi_operations::approvals::ApprovalView;
use munshi_safety::approvals;
use munshi_server::account::signed_in_operator::{OpenWorkspace, SignedInOperator};
use munshi_server::error::{ApiError, ApiErrorCode};
use munshi_server::page_error::HtmlPageError;
use munshi_store::Tx;
use serde::Deserialize;

use crate::app::api::Api;
use crate::operations::build_colleague_call;

/// What was shown: an answer is for that and nothing else.
#[derive(Deserialize)]
pub(crate) struct ApprovalForm {
    pub(super) digest: String,
}

/// A call as the person whom they are in a workspace.
pub(super) async fn open_workspace(
    api: &Api,
    who: &SignedInOperator,
    name: &str,
) -> Result<(HouseCall, OpenWorkspace), HtmlPageError> {
    let all = who.list_workspaces().await?;
    let found = all.into_iter().find(|one| one.tenant.name.as_str() == name);
    let missing =
        || ApiError::new(ApiErrorCode::NotFound, "You have no role in this workspace, or it does not exist.");
    let workspace = found.ok_or_else(missing)?;
    Ok((build_colleague_call(api, who, &workspace).await?, workspace))
}

/// Refuses whoever may not answer it: they are shown nothing of it either.
pub(super) async fn check_addressed(
    api: &Api,
    call: &HouseCall,
    approval: &ApprovalView,
) -> Result<(), HtmlPageError> {
    let principal = call.caller.api_caller().map(|caller| caller.principal.clone());
    let (id, act_services) = (approval.id, api.act_services.clone());
    let look = move |tx: &mut Tx<'_>| -> Result<bool, ApiError> {
        let (Some(who), Some(asked)) = (principal, approvals::find(tx, id)?) else { return Ok(false) };
        Ok(approvals::is_addressed_to(tx, &act_services, &asked, &who)?)
    };
    if call.db.read(call.tenant.id, look).await? {
        return Ok(());
    }
    let error = ApiError::new(ApiErrorCode::Forbidden, "You may not answer this approval; it is unchanged.");
    Err(error.hint("Ask an owner or admin of the workspace.").into())
}

pub(super) fn approval_path(workspace: &OpenWorkspace, approval: &ApprovalView) -> String {
    format!("/account/approvals/{}/{}", workspace.tenant.name, approval.id)
}
