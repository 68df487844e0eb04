//! `GET /v1/approvals`: questions before an act.

use munshi_safety::approvals::{self, ApprovalFilter};
use munshi_server::error::ApiError;
use munshi_server::json::Json;
use munshi_server::parameters::{ListLimit, ListResponse, UrlQueryParameters, build_page_request};
use munshi_store::Cursor;
use serde::Deserialize;
use utoipa::IntoParams;

use super::read::is_reachable;
use crate::api::access::AuthorizedCaller;
use crate::views::approval::ApprovalView;

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ListApprovalsQuery {
    /// Include answered and expired approvals.
    all: Option<bool>,
    /// The `next` of the previous page.
    #[param(value_type = Option<String>)]
    after: Option<Cursor>,
    /// Page size; default 25.
    #[param(value_type = Option<u32>, minimum = 1, maximum = 100)]
    limit: Option<ListLimit>,
}

/// List pending approvals, newest first.
#[utoipa::path(get, path = "/v1/approvals", tag = "approvals", params(ListApprovalsQuery),
    responses((status = 200, description = "A page of approvals.", body = ListResponse<ApprovalView>)))]
pub(crate) async fn list_approvals(
    key: AuthorizedCaller,
    UrlQueryParameters(which): UrlQueryParameters<ListApprovalsQuery>,
) -> Result<Json<ListResponse<ApprovalView>>, ApiError> {
    let wanted = if which.all == Some(true) { ApprovalFilter::All } else { ApprovalFilter::Pending };
    let (request, caller) = (build_page_request(which.after, which.limit), key.caller.clone());
    let read = move |tx: &mut munshi_store::Tx<'_>| -> Result<_, ApiError> {
        let mut page = approvals::list(tx, wanted, &request)?;
        let mut open = Vec::with_capacity(page.items.len());
        for approval in page.items {
            if is_reachable(tx, &caller, &approval)? {
                open.push(approval);
            }
        }
        page.items = open;
        Ok(page)
    };
    let found = key.api.db.read(key.tenant(), read).await?;
    Ok(Json(ListResponse::from_page(found, |approval| Some(approval.into()))))
}
