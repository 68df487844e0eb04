//! A file as it leaves: what its bytes are, never to be guessed at, and nothing in it may run.

use axum::body::Body;
use axum::http::header::{
    CACHE_CONTROL, CONTENT_DISPOSITION, CONTENT_LENGTH, CONTENT_SECURITY_POLICY, CONTENT_TYPE,
};
use axum::http::{HeaderName, HeaderValue};
use axum::response::Response;
use munshi_blobs::references::clean_name;
use munshi_blobs::{BlobContent, BlobVariant, MediaType};
use munshi_types::Timestamp;

/// Whatever it is, it has no origin, runs nothing, loads nothing, and stands in no frame.
const POLICY: &str = "default-src 'none'; sandbox; frame-ancestors 'none'";

/// `name` is as the address says it, which anybody may alter: it is cleaned, and its ending is the type's.
pub(crate) fn respond(
    content: BlobContent,
    name: &str,
    (now, expires_at): (Timestamp, Timestamp),
) -> Response {
    let BlobContent { blob, variant, bytes } = content;
    let media_type = if variant == BlobVariant::Preview { MediaType::Jpeg } else { blob.media_type };
    let mut response = Response::new(Body::from_stream(bytes));
    let headers = response.headers_mut();
    let kind = match media_type {
        MediaType::Text => HeaderValue::from_static("text/plain; charset=utf-8"),
        other => HeaderValue::from_static(other.as_str()),
    };
    headers.insert(CONTENT_TYPE, kind);
    if variant == BlobVariant::Original {
        headers.insert(CONTENT_LENGTH, HeaderValue::from(blob.size));
    }
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    // Pages of other sites show them too; whoever has the address may see the file.
    headers.insert(
        HeaderName::from_static("cross-origin-resource-policy"),
        HeaderValue::from_static("cross-origin"),
    );
    let seconds = expires_at.since(now).as_secs();
    headers.extend(
        HeaderValue::try_from(format!("private, max-age={seconds}, immutable"))
            .map(|age| (CACHE_CONTROL, age)),
    );
    headers.extend(
        HeaderValue::try_from(disposition(name, media_type, variant))
            .map(|value| (CONTENT_DISPOSITION, value)),
    );
    response
}

/// Only what was made anew here is shown in place.
fn disposition(name: &str, media_type: MediaType, variant: BlobVariant) -> String {
    let way = if variant == BlobVariant::Preview { "inline" } else { "attachment" };
    let name = clean_name(name).unwrap_or_else(|| "file".to_owned());
    let stem = name.rsplit_once('.').map_or(name.as_str(), |(stem, _)| stem);
    format!("{way}; filename*=UTF-8''{}", encode(&format!("{stem}.{}", media_type.extension())))
}

/// As a part of an address and of a header.
pub(crate) fn encode(text: &str) -> String {
    let encode = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    };
    text.bytes().map(encode).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_download_is_called_what_it_is() {
        let name = |name| disposition(name, MediaType::Jpeg, BlobVariant::Original);
        assert_eq!(name("bill.exe"), "attachment; filename*=UTF-8''bill.jpg");
        assert_eq!(name("../बिल"), "attachment; filename*=UTF-8''%E0%A4%AC%E0%A4%BF%E0%A4%B2.jpg");
        assert_eq!(name("a\"\r\nx: y"), "attachment; filename*=UTF-8''a%22x%3A%20y.jpg");
        assert_eq!(
            disposition("", MediaType::Jpeg, BlobVariant::Preview),
            "inline; filename*=UTF-8''file.jpg"
        );
    }
}
