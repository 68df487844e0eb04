//! A request's body as an upload: the file itself, or a form with the file in it.

use std::time::Duration;

use axum::body::Body;
use axum::http::HeaderMap;
use axum::http::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE};
use bytes::Bytes;
use futures_util::stream::{self, BoxStream};
use futures_util::{StreamExt, TryStreamExt};
use munshi_blobs::references::clean_name;
use munshi_blobs::{Blob, BlobService, UploadRefusal, UploadRequest, UploadStream};
use munshi_privacy::find_aadhaar;
use munshi_server::error::{ApiError, ApiErrorCode};
use munshi_types::{PersonId, TenantId};
use tokio::time::Instant;

use super::errors::convert_file_error;
use super::multipart::{FormError, FormReader, find_boundary};

/// Whose file comes.
pub(crate) struct FileOwner {
    pub(crate) tenant: TenantId,
    pub(crate) person: PersonId,
}

/// Takes the file of a request, and says what it is called.
pub(crate) async fn take_file(
    files: &BlobService,
    owner: FileOwner,
    name: Option<String>,
    headers: &HeaderMap,
    body: Body,
) -> Result<(Blob, Option<String>), ApiError> {
    if headers.contains_key(CONTENT_ENCODING) {
        return Err(ApiError::new(ApiErrorCode::UnsupportedMediaType, "The body is compressed.")
            .hint("Send the file as it is, without `content-encoding`."));
    }
    let request =
        UploadRequest { tenant: owner.tenant, person: Some(owner.person), name, declared_size: None };
    // Before anything is read: what comes before a form's file takes time too.
    let slot = files.acquire_slot(owner.tenant, Some(owner.person)).map_err(convert_file_error)?;
    let pieces = read_body(body, files.limits().upload_time);
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    let media_type = text(CONTENT_TYPE).unwrap_or_default();
    if !media_type.to_ascii_lowercase().starts_with("multipart/") {
        let declared_size = text(CONTENT_LENGTH).and_then(|length| length.parse().ok());
        let name = request.name.as_deref().and_then(choose_name);
        let request = UploadRequest { name: name.clone(), ..request };
        let upload = files.upload_in_slot(slot, UploadRequest { declared_size, ..request }, pieces).await;
        return Ok((upload.map_err(convert_file_error)?, name));
    }
    let boundary = find_boundary(media_type).ok_or_else(no_boundary)?;
    let mut form = FormReader::new(pieces, &boundary);
    let in_form = form.find_file().await.map_err(convert_form_error)?;
    let name = request.name.clone().or(in_form).as_deref().and_then(choose_name);
    let request = UploadRequest { name: name.clone(), ..request };
    let upload = files.upload_in_slot(slot, request, read_file(&mut form)).await;
    Ok((upload.map_err(convert_file_error)?, name))
}

/// A body that ends in time: all of it, whatever stands before the file.
fn read_body(body: Body, limit: Duration) -> BoxStream<'static, Result<Bytes, UploadRefusal>> {
    let end = Instant::now() + limit;
    let pieces = body.into_data_stream().map_err(|_| UploadRefusal::BrokenOff);
    stream::unfold(pieces, move |mut pieces| async move {
        let piece = match tokio::time::timeout_at(end, pieces.next()).await {
            Ok(piece) => piece?,
            Err(_) => Err(UploadRefusal::TooSlow { limit }),
        };
        Some((piece, pieces))
    })
    .boxed()
}

/// What a file is called, as far as that may be kept. As with people's names, one with an Aadhaar number is left out, and the file is taken.
fn choose_name(name: &str) -> Option<String> {
    clean_name(name).filter(|name| find_aadhaar(name).is_none())
}

fn read_file(form: &mut FormReader) -> UploadStream<'_> {
    stream::unfold(form, |form| async move {
        let piece = form.next_piece().await.transpose()?;
        Some((piece, form))
    })
    .boxed()
}

fn no_boundary() -> ApiError {
    ApiError::new(ApiErrorCode::BadRequest, "The form has no boundary.")
        .hint("Send `multipart/form-data` with its boundary, or the file itself as the body.")
}

fn convert_form_error(error: FormError) -> ApiError {
    match error {
        FormError::Refused(refusal) => convert_file_error(refusal.into()),
        FormError::Malformed(what) => ApiError::new(ApiErrorCode::BadRequest, what)
            .hint("Send `multipart/form-data` with one file in it, or the file itself as the body."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_an_aadhaar_number_is_left_out() {
        assert_eq!(choose_name("../bill 12.jpg").as_deref(), Some("bill 12.jpg"));
        for name in ["2345 6789 0124.jpg", "aadhaar_234567890124.pdf"] {
            assert_eq!(choose_name(name), None, "{name}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_form_that_keeps_its_file_waiting_ends_as_a_slow_upload_does() {
        let limit = Duration::from_secs(300);
        let head = stream::iter([Ok::<_, std::io::Error>(Bytes::from_static(b"--XX\r\ncontent-dis"))]);
        let body = Body::from_stream(head.chain(stream::pending()));
        let mut form = FormReader::new(read_body(body, limit), "XX");
        let slow = FormError::Refused(UploadRefusal::TooSlow { limit });
        assert_eq!(form.find_file().await.unwrap_err(), slow);
    }
}
