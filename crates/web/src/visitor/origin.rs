//! Whose page a request is from. Our own pages may ask for anything a visitor may; the pages of others only where one of
//! the tenant's hosts is theirs, and never with our cookies.

use axum::http::header::{HOST, ORIGIN};
use axum::http::{HeaderMap, HeaderValue};
use munshi_tiers::{Answer, Resolution};
use munshi_types::tier::{KeyKind, RoutingKey};

use super::token::Line;
use crate::api::Inner;
use crate::error::{ApiError, Code};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// A page of ours, or no page at all. Says how the browser reaches us, where it does say so.
    Own(Line),
    /// A page on another host; the name without its port.
    Host(String),
    /// A page that hides where it is: a file, a sandboxed frame.
    Hidden,
}

impl Origin {
    pub(crate) fn of(headers: &HeaderMap) -> Self {
        let text = |value: &HeaderValue| value.to_str().ok().map(str::to_ascii_lowercase);
        let Some(origin) = headers.get(ORIGIN) else { return Self::Own(Line::Open) };
        let Some(origin) = text(origin) else { return Self::Hidden };
        let Some((scheme, place)) = origin.split_once("://") else { return Self::Hidden };
        let line = if scheme == "https" { Line::Secure } else { Line::Open };
        if headers.get(HOST).and_then(text).is_some_and(|host| host == place) {
            return Self::Own(line);
        }
        match host_of(place) {
            "" => Self::Hidden,
            host => Self::Host(host.to_owned()),
        }
    }

    /// The same where more is known of the line: browsers do not name the page with everything they ask our own for.
    pub(crate) fn over(self, line: Line) -> Self {
        match self {
            Self::Own(Line::Open) => Self::Own(line),
            other => other,
        }
    }

    /// How the browser reaches us, as far as it is known.
    pub(crate) fn line(&self) -> Line {
        if let Self::Own(line) = self { *line } else { Line::Open }
    }

    pub(crate) fn is_own(&self) -> bool {
        matches!(self, Self::Own(_))
    }

    /// Whether a page there may talk to this binding.
    pub(crate) async fn may_reach(&self, api: &Inner, place: &Resolution) -> Result<bool, ApiError> {
        let host = match self {
            Self::Own(_) => return Ok(true),
            Self::Hidden => return Ok(false),
            Self::Host(host) => host,
        };
        let Ok(key) = RoutingKey::new(KeyKind::Host, host) else { return Ok(false) };
        match api.resolver.resolve(&key, None).await? {
            Answer::Bound(found) => Ok(found.tenant == place.tenant),
            _ => Ok(false),
        }
    }
}

/// Without the port.
pub(crate) fn host_of(place: &str) -> &str {
    match place.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => place.split(':').next().unwrap_or_default(),
    }
}

/// For a page that may not ask, in words for whoever put the widget there.
pub(crate) fn foreign(origin: &Origin) -> ApiError {
    let what = match origin {
        Origin::Host(host) => {
            format!("Pages on {} may not talk to this binding.", crate::json::shorten(host))
        }
        Origin::Own(_) | Origin::Hidden => "A page that hides where it is may not talk here.".to_owned(),
    };
    ApiError::new(Code::Forbidden, what)
        .hint("Add `host:NAME` to the keys of a binding of this workspace, and apply it.")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(origin: Option<&'static str>, host: &'static str) -> Origin {
        let mut headers = HeaderMap::from_iter([(HOST, HeaderValue::from_static(host))]);
        headers.extend(origin.map(|origin| (ORIGIN, HeaderValue::from_static(origin))));
        Origin::of(&headers)
    }

    #[test]
    fn a_page_is_ours_where_the_whole_address_is() {
        assert_eq!(of(None, "chat.example"), Origin::Own(Line::Open));
        assert_eq!(of(Some("https://chat.example"), "chat.example"), Origin::Own(Line::Secure));
        assert_eq!(of(Some("http://127.0.0.1:8400"), "127.0.0.1:8400"), Origin::Own(Line::Open));
        let host = |name: &str| Origin::Host(name.to_owned());
        assert_eq!(of(Some("http://127.0.0.1:9000"), "127.0.0.1:8400"), host("127.0.0.1"));
        assert_eq!(of(Some("https://shop.example:8443"), "chat.example"), host("shop.example"));
        assert_eq!(of(Some("http://[::1]:80"), "chat.example"), host("::1"));
        for hidden in ["null", "", "chat.example", "https://", "file://"] {
            assert_eq!(of(Some(hidden), "chat.example"), Origin::Hidden, "{hidden}");
        }
    }
}
