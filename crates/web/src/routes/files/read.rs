//! `GET /files/{address}/{name}`: a file, for whoever has an address of it that has not expired.

use axum::extract::State;
use axum::response::Response;
use munshi_server::error::ApiError;
use munshi_server::parameters::UrlPathParameterPair;

use crate::app::App;
use crate::files::errors::convert_file_error;
use crate::files::response::respond;

/// Get a file by an address that a response contained.
///
/// The address needs no key and expires. Pictures made for showing come inline; everything else is a download.
#[utoipa::path(get, path = "/files/{address}/{name}", tag = "files",
    params(("address" = String, Path, description = "From `url` of a file."), ("name" = String, Path, description = "What a download is called.")),
    responses((status = 200, description = "The file.", body = Vec<u8>, content_type = "application/octet-stream")))]
pub(crate) async fn read_file(
    State(app): State<App>,
    UrlPathParameterPair(address, name): UrlPathParameterPair<String, String>,
) -> Result<Response, ApiError> {
    let api = app.api()?;
    let (content, address) = api.files.open_address(&address).await.map_err(convert_file_error)?;
    Ok(respond(content, &name, (api.clock.now(), address.expires_at)))
}
