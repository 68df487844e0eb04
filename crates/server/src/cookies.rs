//! Cookies: what a browser keeps for us. No script can read them, and no other site makes a browser send them along with
//! anything but a link that was followed.

use std::time::Duration;

use axum::http::header::COOKIE;
use axum::http::{HeaderMap, HeaderValue};

/// Who is signed in.
pub const SIGN_IN: &str = "munshi_sign_in";
/// That somebody has signed in here before.
pub const BROWSER: &str = "munshi_browser";
/// What pages are read in.
pub const LANGUAGE: &str = "munshi_language";
/// That the link of the machine's terminal was opened here.
pub const LOCAL: &str = "munshi_local";
/// On the way to a connector's service and back.
pub const CONNECTOR: &str = "munshi_connector";
/// Whoever opened a link to a connector's service, and shows in a conversation that it is theirs.
pub const OPENED: &str = "munshi_opened";
/// On the way to another service and back.
pub const ELSEWHERE: &str = "munshi_elsewhere";

/// How a browser reaches us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConnectionSecurity {
    Secure,
    Open,
}

/// With TLS a name that browsers take from this very host alone, so that no neighbour under the same domain plants one.
fn full_name(name: &str, secure: bool) -> String {
    if secure { format!("__Host-{name}") } else { name.to_owned() }
}

/// The value of a cookie. Where it was sent twice, none: one of them is not ours.
pub fn read<'h>(headers: &'h HeaderMap, name: &str, secure: bool) -> Option<&'h str> {
    let name = full_name(name, secure);
    let sent = headers.get_all(COOKIE).into_iter().filter_map(|value| value.to_str().ok());
    let mut found = sent.flat_map(|value| value.split(';')).filter_map(|pair| {
        let (known, value) = pair.trim().split_once('=')?;
        (known == name).then_some(value)
    });
    match (found.next(), found.next()) {
        (Some(value), None) => Some(value),
        _ => None,
    }
}

/// The header that makes a browser keep a value of letters and digits for so long.
pub fn build(name: &str, value: &str, life: Duration, secure: bool) -> Option<HeaderValue> {
    let (name, end) = (full_name(name, secure), if secure { "; Secure" } else { "" });
    let seconds = life.as_secs();
    HeaderValue::try_from(format!("{name}={value}; Path=/; Max-Age={seconds}; HttpOnly; SameSite=Lax{end}"))
        .ok()
}

pub fn build_expired(name: &str, secure: bool) -> Option<HeaderValue> {
    build(name, "", Duration::ZERO, secure)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(text: &'static str) -> HeaderMap {
        HeaderMap::from_iter([(COOKIE, HeaderValue::from_static(text))])
    }

    #[test]
    fn a_cookie_is_read_by_its_whole_name_and_once() {
        let headers = sent("a=1; munshi_sign_in=abc; x_munshi_sign_in=no");
        assert_eq!(read(&headers, SIGN_IN, false), Some("abc"));
        assert_eq!(read(&headers, SIGN_IN, true), None, "a plain name is not taken where there is TLS");
        assert_eq!(read(&sent("__Host-munshi_sign_in=t"), SIGN_IN, true), Some("t"));
        assert_eq!(read(&sent("munshi_sign_in=a; munshi_sign_in=b"), SIGN_IN, false), None);
        assert_eq!(read(&HeaderMap::new(), SIGN_IN, false), None);
    }

    #[test]
    fn no_script_reads_it_and_no_other_site_sends_it() {
        let header = build(SIGN_IN, "abc", Duration::from_secs(60), true).unwrap();
        let expected = "__Host-munshi_sign_in=abc; Path=/; Max-Age=60; HttpOnly; SameSite=Lax; Secure";
        assert_eq!(header, expected);
        assert!(!build(SIGN_IN, "abc", Duration::ZERO, false).unwrap().to_str().unwrap().contains("Secure"));
        assert!(build(SIGN_IN, "a\nb", Duration::ZERO, false).is_none());
    }
}
