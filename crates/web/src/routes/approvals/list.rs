//! `GET /v1/approvals`: questions before an act.

use munshi_safety::approvals::{self, ApprovalFilter};
use munshi_store::Cursor;
use serde::Deserialize;
use utoipa::IntoParams;

use super::read::reached;
use crate::api::access::AuthorizedCaller;
use crate::api::ask::{ListLimit, ListResponse, UrlQueryParameters, page};
use crate::error::ApiError;
use crate::json::Json;
use crate::views::approval::ApprovalView;

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ListApprovalsQuery {
    /// Those that were answered or have ended too.
    all: Option<bool>,
    /// The `next` of the page before.
    #[param(value_type = Option<String>)]
    after: Option<Cursor>,
    /// How many; 25 without it.
    #[param(value_type = Option<u32>, minimum = 1, maximum = 100)]
    limit: Option<ListLimit>,
}

/// Questions before an act that wait for an answer, newest first.
#[utoipa::path(get, path = "/v1/approvals", tag = "approvals", params(ListApprovalsQuery),
    responses((status = 200, description = "Some of them.", body = ListResponse<ApprovalView>)))]
pub(crate) async fn list_approvals(
    key: AuthorizedCaller,
    UrlQueryParameters(which): UrlQueryParameters<ListApprovalsQuery>,
) -> Result<Json<ListResponse<ApprovalView>>, ApiError> {
    let wanted = if which.all == Some(true) { ApprovalFilter::All } else { ApprovalFilter::Pending };
    let (request, caller) = (page(which.after, which.limit), key.caller.clone());
    let read = move |tx: &mut munshi_store::Tx<'_>| -> Result<_, ApiError> {
        let mut page = approvals::list(tx, wanted, &request)?;
        let mut open = Vec::with_capacity(page.items.len());
        for approval in page.items {
            if reached(tx, &caller, &approval)? {
                open.push(approval);
            }
        }
        page.items = open;
        Ok(page)
    };
    let found = key.api.db.read(key.tenant(), read).await?;
    Ok(Json(ListResponse::of(found, |approval| Some(approval.into()))))
}
