//! Whose page a request came from.

use axum::http::HeaderMap;
use axum::http::header::{HOST, ORIGIN};

/// As the browser tells it: pages can't change these headers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RequestOrigin {
    /// One of ours, or nobody's: the person wrote the address themself.
    Ours,
    Others,
    /// It was not told; no browser of these years leaves it out of a form.
    Untold,
}

/// `Sec-Fetch-Site` where there is one, else `Origin`. A sister host under the same domain is another's.
pub(super) fn classify(headers: &HeaderMap, public_url: Option<&str>) -> RequestOrigin {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    if let Some(site) = text("sec-fetch-site") {
        return if matches!(site, "same-origin" | "none") {
            RequestOrigin::Ours
        } else {
            RequestOrigin::Others
        };
    }
    let Some(origin) = headers.get(ORIGIN) else { return RequestOrigin::Untold };
    let Ok(origin) = origin.to_str() else { return RequestOrigin::Others };
    if public_url.is_some_and(|url| url.eq_ignore_ascii_case(origin)) {
        return RequestOrigin::Ours;
    }
    let place = origin.strip_prefix("https://").or_else(|| origin.strip_prefix("http://"));
    match (place, text(HOST.as_str())) {
        (Some(place), Some(host)) if !place.is_empty() && place.eq_ignore_ascii_case(host) => {
            RequestOrigin::Ours
        }
        _ => RequestOrigin::Others,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::{HeaderName, HeaderValue};

    #[test]
    fn only_our_own_pages_are_ours() {
        let table: &[(&[(&str, &str)], RequestOrigin)] = &[
            (&[("sec-fetch-site", "same-origin"), ("origin", "null")], RequestOrigin::Ours),
            (&[("sec-fetch-site", "none")], RequestOrigin::Ours),
            (&[("sec-fetch-site", "same-site"), ("origin", "https://munshi.example")], RequestOrigin::Others),
            (&[("sec-fetch-site", "cross-site")], RequestOrigin::Others),
            (&[("origin", "https://munshi.example")], RequestOrigin::Ours),
            (&[("origin", "http://localhost:8400"), ("host", "localhost:8400")], RequestOrigin::Ours),
            (&[("origin", "http://localhost:8401"), ("host", "localhost:8400")], RequestOrigin::Others),
            (&[("origin", "https://evil.example"), ("host", "localhost:8400")], RequestOrigin::Others),
            (&[("origin", "https://munshi.example.evil.example")], RequestOrigin::Others),
            (&[("origin", "null"), ("host", "null")], RequestOrigin::Others),
            (&[("origin", "file://"), ("host", "")], RequestOrigin::Others),
            (&[("host", "localhost:8400")], RequestOrigin::Untold),
        ];
        for (sent, expected) in table {
            let headers: HeaderMap = sent
                .iter()
                .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)))
                .collect();
            assert_eq!(classify(&headers, Some("https://munshi.example")), *expected, "{sent:?}");
        }
    }
}
