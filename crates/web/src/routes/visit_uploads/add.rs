//! `POST /visit/{place}/uploads`: somebody at a page adds a file to what they are about to say.

use axum::body::Body;
use axum::http::{HeaderMap, StatusCode};
use munshi_server::error::{ApiError, ApiErrorCode};
use munshi_server::json::Json;
use munshi_server::parameters::UrlQueryParameters;
use munshi_store::Tx;
use munshi_types::Id;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::files::body::{FileOwner, take_file};
use crate::views::file::FileView;
use crate::visitor::page_visitor::PageVisitor;

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct AddVisitUploadQuery {
    /// What the person calls the file.
    #[param(example = "bill.jpg")]
    name: Option<String>,
}

/// Upload a file for a message from a page.
///
/// Whoever is new here says something first: a file belongs to somebody.
#[utoipa::path(post, path = "/visit/{place}/uploads", tag = "visit_uploads",
    params(("place" = String, Path, description = "A handle, or `tenant:binding`.", example = "rangoli"), AddVisitUploadQuery),
    request_body(content = Vec<u8>, content_type = "application/octet-stream", description = "The file."),
    responses((status = 201, description = "The file is stored.", body = FileView)))]
pub(crate) async fn add_visit_upload(
    visitor: PageVisitor,
    UrlQueryParameters(query): UrlQueryParameters<AddVisitUploadQuery>,
    headers: HeaderMap,
    body: Body,
) -> Result<(StatusCode, Json<FileView>), ApiError> {
    let Some((person, session)) = visitor.find_thread().await? else {
        return Err(ApiError::new(ApiErrorCode::Forbidden, "Nobody is known here yet.")
            .hint("Send a message first, then the file."));
    };
    let (tenant, limits) = (visitor.binding.tenant, &visitor.api.limits);
    let _counted_here = limits.check_person(tenant, &person.id.to_string())?;
    if person.visitor && person.role.is_none() {
        let who = session.id.as_uuid().to_string();
        let _counted_here = limits.check_visit(tenant, &who, visitor.binding.binding_id)?;
    }
    let owner = FileOwner { tenant, person: person.id };
    let (blob, name) = take_file(&visitor.api.files, owner, query.name, &headers, body).await?;
    let terms = visitor.api.address_terms();
    let view = move |tx: &mut Tx<'_>| FileView::build(tx, &blob, name, terms);
    Ok((StatusCode::CREATED, Json(visitor.api.db.read(tenant, view).await?)))
}
