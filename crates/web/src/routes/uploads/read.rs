//! `GET /v1/uploads/{id}`: a file's description, with new addresses.

use munshi_blobs::references::{BlobHolder, find_name};
use munshi_blobs::{Error, rows};
use munshi_server::error::ApiError;
use munshi_server::json::Json;
use munshi_server::parameters::{UrlPathParameter, UrlQueryParameters};
use munshi_store::Tx;
use munshi_types::{BlobId, PersonId};
use serde::Deserialize;
use utoipa::IntoParams;

use super::add::find_owner;
use crate::api::access::AuthorizedCaller;
use crate::files::errors::convert_file_error;
use crate::views::file::FileView;

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ReadUploadQuery {
    /// The person whose file it is. Default: the key's person.
    #[param(value_type = Option<uuid::Uuid>)]
    person: Option<PersonId>,
}

/// Get an uploaded file's description, with addresses that have not expired.
#[utoipa::path(get, path = "/v1/uploads/{id}", tag = "uploads",
    params(("id" = uuid::Uuid, Path, description = "The file."), ReadUploadQuery),
    responses((status = 200, description = "The file.", body = FileView)))]
pub(crate) async fn read_upload(
    key: AuthorizedCaller,
    UrlPathParameter(id): UrlPathParameter<BlobId>,
    UrlQueryParameters(query): UrlQueryParameters<ReadUploadQuery>,
) -> Result<Json<FileView>, ApiError> {
    let owner = find_owner(&key, query.person).await?;
    let terms = key.api.address_terms();
    let view = move |tx: &mut Tx<'_>| {
        let blob =
            rows::find_theirs(tx, id, owner.person)?.ok_or_else(|| convert_file_error(Error::Unknown(id)))?;
        let name = find_name(tx, id, BlobHolder::Upload(blob.person))?;
        FileView::build(tx, &blob, name, terms)
    };
    Ok(Json(key.api.db.read(owner.tenant, view).await?))
}
