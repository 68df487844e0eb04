//! Whose page a request is from. Our own pages may ask for anything a visitor may; the pages of others only where one of
//! the tenant's hosts is theirs, and never with our cookies.

use axum::http::header::{HOST, ORIGIN};
use axum::http::{HeaderMap, HeaderValue};
use munshi_tiers::{AddressResolution, BindingResolution};
use munshi_types::tier::{RoutingKey, RoutingKeyKind};

use crate::access::AccessState;
use crate::cookies::ConnectionSecurity;
use crate::error::{ApiError, ApiErrorCode};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PageOrigin {
    /// A page of ours, or no page at all. Says how the browser reaches us, where it does say so.
    Own(ConnectionSecurity),
    /// A page on another host; the name without its port.
    Host(String),
    /// A page that hides where it is: a file, a sandboxed frame.
    Hidden,
}

impl PageOrigin {
    pub fn from_headers(headers: &HeaderMap) -> Self {
        let text = |value: &HeaderValue| value.to_str().ok().map(str::to_ascii_lowercase);
        let Some(origin) = headers.get(ORIGIN) else { return Self::Own(ConnectionSecurity::Open) };
        let Some(origin) = text(origin) else { return Self::Hidden };
        let Some((scheme, place)) = origin.split_once("://") else { return Self::Hidden };
        let line = if scheme == "https" { ConnectionSecurity::Secure } else { ConnectionSecurity::Open };
        if headers.get(HOST).and_then(text).is_some_and(|host| host == place) {
            return Self::Own(line);
        }
        match strip_port(place) {
            "" => Self::Hidden,
            host => Self::Host(host.to_owned()),
        }
    }

    /// The same where more is known of the line: browsers do not name the page with everything they ask our own for.
    pub fn with_security(self, line: ConnectionSecurity) -> Self {
        match self {
            Self::Own(ConnectionSecurity::Open) => Self::Own(line),
            other => other,
        }
    }

    /// How the browser reaches us, as far as it is known.
    pub fn connection_security(&self) -> ConnectionSecurity {
        if let Self::Own(line) = self { *line } else { ConnectionSecurity::Open }
    }

    pub fn is_own(&self) -> bool {
        matches!(self, Self::Own(_))
    }

    /// Whether a page there may talk to this binding.
    pub async fn can_reach(&self, access: &AccessState, place: &BindingResolution) -> Result<bool, ApiError> {
        let host = match self {
            Self::Own(_) => return Ok(true),
            Self::Hidden => return Ok(false),
            Self::Host(host) => host,
        };
        let Ok(key) = RoutingKey::new(RoutingKeyKind::Host, host) else { return Ok(false) };
        match access.resolver.resolve(&key, None).await? {
            AddressResolution::Bound(found) => Ok(found.tenant == place.tenant),
            _ => Ok(false),
        }
    }
}

/// Without the port.
pub fn strip_port(place: &str) -> &str {
    match place.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => place.split(':').next().unwrap_or_default(),
    }
}

/// For a page that may not ask, in words for whoever put the widget there.
pub fn forbidden_origin_error(origin: &PageOrigin) -> ApiError {
    let what = match origin {
        PageOrigin::Host(host) => {
            format!("Pages on {} may not use this binding.", crate::json::shorten(host))
        }
        PageOrigin::Own(_) | PageOrigin::Hidden => {
            "Pages without an origin may not use this binding.".to_owned()
        }
    };
    ApiError::new(ApiErrorCode::Forbidden, what)
        .hint("Add `host:NAME` to the keys of a binding of this workspace, and apply it.")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(origin: Option<&'static str>, host: &'static str) -> PageOrigin {
        let mut headers = HeaderMap::from_iter([(HOST, HeaderValue::from_static(host))]);
        headers.extend(origin.map(|origin| (ORIGIN, HeaderValue::from_static(origin))));
        PageOrigin::from_headers(&headers)
    }

    #[test]
    fn a_page_is_ours_where_the_whole_address_is() {
        assert_eq!(of(None, "chat.example"), PageOrigin::Own(ConnectionSecurity::Open));
        assert_eq!(
            of(Some("https://chat.example"), "chat.example"),
            PageOrigin::Own(ConnectionSecurity::Secure)
        );
        assert_eq!(
            of(Some("http://127.0.0.1:8400"), "127.0.0.1:8400"),
            PageOrigin::Own(ConnectionSecurity::Open)
        );
        let host = |name: &str| PageOrigin::Host(name.to_owned());
        assert_eq!(of(Some("http://127.0.0.1:9000"), "127.0.0.1:8400"), host("127.0.0.1"));
        assert_eq!(of(Some("https://shop.example:8443"), "chat.example"), host("shop.example"));
        assert_eq!(of(Some("http://[::1]:80"), "chat.example"), host("::1"));
        for hidden in ["null", "", "chat.example", "https://", "file://"] {
            assert_eq!(of(Some(hidden), "chat.example"), PageOrigin::Hidden, "{hidden}");
        }
    }
}
