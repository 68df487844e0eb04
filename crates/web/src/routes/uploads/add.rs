//! `POST /v1/uploads`: a file, to be attached to a message.

use axum::body::Body;
use axum::http::{HeaderMap, StatusCode};
use munshi_server::error::ApiError;
use munshi_server::json::Json;
use munshi_server::parameters::{UrlQueryParameters, field_error};
use munshi_store::Tx;
use munshi_types::PersonId;
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};

use crate::api::access::AuthorizedCaller;
use crate::api::speaker::{ApiSpeaker, SpeakerReference};
use crate::files::body::{FileOwner, take_file};
use crate::views::file::FileView;

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct AddUploadQuery {
    /// What the person calls the file. It decides nothing about its type.
    #[param(example = "bill.jpg")]
    name: Option<String>,
    /// The person whose file it is, from an earlier response. Default: the key's person.
    #[param(value_type = Option<uuid::Uuid>)]
    person: Option<PersonId>,
}

/// A form with a file.
#[derive(ToSchema)]
#[allow(dead_code, reason = "it describes the form, which is read as it comes")]
pub(crate) struct UploadForm {
    /// The first file of the form is taken.
    #[schema(value_type = String, format = Binary)]
    file: Vec<u8>,
}

/// Upload a file for a message.
///
/// Send the file as the body, or as `multipart/form-data`. Its type is found by its bytes. Name the returned id in
/// `attachments` of `POST /v1/chat` within a day.
#[utoipa::path(post, path = "/v1/uploads", tag = "uploads",
    params(AddUploadQuery),
    request_body(content((Vec<u8> = "application/octet-stream"), (UploadForm = "multipart/form-data")), description = "The file."),
    responses((status = 201, description = "The file is stored.", body = FileView)))]
pub(crate) async fn add_upload(
    key: AuthorizedCaller,
    UrlQueryParameters(query): UrlQueryParameters<AddUploadQuery>,
    headers: HeaderMap,
    body: Body,
) -> Result<(StatusCode, Json<FileView>), ApiError> {
    let owner = find_owner(&key, query.person).await?;
    let _counted_here = key.api.limits.check_person(owner.tenant, &owner.person.to_string())?;
    let tenant = owner.tenant;
    let (blob, name) = take_file(&key.api.files, owner, query.name, &headers, body).await?;
    let terms = key.api.address_terms();
    let view = move |tx: &mut Tx<'_>| FileView::build(tx, &blob, name, terms);
    Ok((StatusCode::CREATED, Json(key.api.db.read(tenant, view).await?)))
}

/// Whom the key may speak for, and speaks for here.
pub(super) async fn find_owner(
    key: &AuthorizedCaller,
    person: Option<PersonId>,
) -> Result<FileOwner, ApiError> {
    let speaker = ApiSpeaker::resolve(key, person.map(SpeakerReference::Id))?;
    let Some(person) = speaker.sender.person else {
        let what = "required with a key that stands for a role: the person whose file it is";
        return Err(field_error("person", what));
    };
    let tenant = key.tenant();
    let caller = AuthorizedCaller { api: key.api.clone(), caller: key.caller.clone() };
    key.api.db.read(tenant, move |tx| speaker.load(tx, &caller).map(drop)).await?;
    Ok(FileOwner { tenant, person })
}
