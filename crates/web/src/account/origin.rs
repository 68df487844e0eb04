//! Whose page a request came from.

use axum::http::HeaderMap;
use axum::http::header::{HOST, ORIGIN};

/// As the browser tells it: pages can't change these headers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum From {
    /// One of ours, or nobody's: the person wrote the address themself.
    Ours,
    Others,
    /// It was not told; no browser of these years leaves it out of a form.
    Untold,
}

/// `Sec-Fetch-Site` where there is one, else `Origin`. A sister host under the same domain is another's.
pub(crate) fn of(headers: &HeaderMap, public_url: Option<&str>) -> From {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    if let Some(site) = text("sec-fetch-site") {
        return if matches!(site, "same-origin" | "none") { From::Ours } else { From::Others };
    }
    let Some(origin) = headers.get(ORIGIN) else { return From::Untold };
    let Ok(origin) = origin.to_str() else { return From::Others };
    if public_url.is_some_and(|url| url.eq_ignore_ascii_case(origin)) {
        return From::Ours;
    }
    let place = origin.strip_prefix("https://").or_else(|| origin.strip_prefix("http://"));
    match (place, text(HOST.as_str())) {
        (Some(place), Some(host)) if !place.is_empty() && place.eq_ignore_ascii_case(host) => From::Ours,
        _ => From::Others,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::{HeaderName, HeaderValue};

    #[test]
    fn only_our_own_pages_are_ours() {
        let table: &[(&[(&str, &str)], From)] = &[
            (&[("sec-fetch-site", "same-origin"), ("origin", "null")], From::Ours),
            (&[("sec-fetch-site", "none")], From::Ours),
            (&[("sec-fetch-site", "same-site"), ("origin", "https://munshi.example")], From::Others),
            (&[("sec-fetch-site", "cross-site")], From::Others),
            (&[("origin", "https://munshi.example")], From::Ours),
            (&[("origin", "http://localhost:8400"), ("host", "localhost:8400")], From::Ours),
            (&[("origin", "http://localhost:8401"), ("host", "localhost:8400")], From::Others),
            (&[("origin", "https://evil.example"), ("host", "localhost:8400")], From::Others),
            (&[("origin", "https://munshi.example.evil.example")], From::Others),
            (&[("origin", "null"), ("host", "null")], From::Others),
            (&[("origin", "file://"), ("host", "")], From::Others),
            (&[("host", "localhost:8400")], From::Untold),
        ];
        for (sent, expected) in table {
            let headers: HeaderMap = sent
                .iter()
                .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)))
                .collect();
            assert_eq!(of(&headers, Some("https://munshi.example")), *expected, "{sent:?}");
        }
    }
}
