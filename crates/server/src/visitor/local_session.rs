//! Proof that somebody sits at the machine: a link that its terminal shows, and the cookie that opening it leaves.
//!
//! Nothing of either is stored: both say until when they are good, sealed with the installation's own key (the platform's,
//! `TenantId::PLATFORM`). Neither opens
//! anything from elsewhere: whoever shows the cookie must also come from this machine (see `here`).

use std::time::Duration;

use axum::http::{HeaderMap, HeaderValue};
use munshi_identity::codes::CodeKey;
use munshi_types::Timestamp;

use crate::{cookies, local_path};

const PATH: &str = "/start/local/";
const LINK: &str = "local.link";
const SESSION: &str = "local.session";
/// How long a link can be opened. Its terminal may stay open as long.
const LINK_LIFE: Duration = Duration::from_secs(24 * 60 * 60);
/// How long a browser is known.
const SESSION_LIFE: Duration = Duration::from_secs(7 * 24 * 60 * 60);
/// No text of ours is longer.
const LONGEST: usize = 120;

/// The path of a link that leads on to `next`, a path of ours.
pub fn link_path(key: &CodeKey, next: &str, now: Timestamp) -> String {
    let token = seal(key, LINK, now.plus(LINK_LIFE));
    match next {
        "/" => format!("{PATH}{token}"),
        next => format!("{PATH}{token}?next={}", local_path::percent_encode(next)),
    }
}

pub fn is_valid_link(key: &CodeKey, token: &str, now: Timestamp) -> bool {
    is_sealed(key, LINK, token, now)
}

/// What a browser keeps once the link was opened.
pub fn build_cookie(key: &CodeKey, now: Timestamp) -> Option<HeaderValue> {
    cookies::build(cookies::LOCAL, &seal(key, SESSION, now.plus(SESSION_LIFE)), SESSION_LIFE, false)
}

/// The session that a browser sent, whether it is good or not.
pub fn read_cookie(headers: &HeaderMap) -> Option<&str> {
    cookies::read(headers, cookies::LOCAL, false)
}

pub fn is_valid_session(key: &CodeKey, sent: &str, now: Timestamp) -> bool {
    is_sealed(key, SESSION, sent, now)
}

fn seal(key: &CodeKey, purpose: &str, ends: Timestamp) -> String {
    let ends = ends.as_micros().to_string();
    let seal: String = key.sign(purpose, &[&ends]).iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{ends}.{seal}")
}

fn is_sealed(key: &CodeKey, purpose: &str, text: &str, now: Timestamp) -> bool {
    let Some((ends, seal)) = text.split_once('.').filter(|_| text.len() <= LONGEST) else { return false };
    let is_ours = key.verify_signature(purpose, &[ends], seal);
    is_ours && ends.parse::<i64>().is_ok_and(|ends| now < Timestamp::from_micros(ends))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_micros(1_700_000_000_000_000);

    #[test]
    fn a_link_is_good_for_a_day_and_is_no_session() {
        let key = CodeKey::new(&[7; 32]);
        let path = link_path(&key, "/c/shop?x=1", NOW);
        let (token, next) = path.strip_prefix(PATH).unwrap().split_once("?next=").unwrap();
        assert_eq!(next, "%2Fc%2Fshop%3Fx%3D1");
        assert!(is_valid_link(&key, token, NOW) && !is_valid_session(&key, token, NOW));
        assert!(!is_valid_link(&key, token, NOW.plus(LINK_LIFE)));
        assert!(!is_valid_link(&CodeKey::new(&[8; 32]), token, NOW), "another installation's");
        let later = token.replacen('1', "2", 1);
        for bad in ["", ".", "1.", &later, &token[..token.len() - 2], &"9".repeat(500)] {
            assert!(!is_valid_link(&key, bad, NOW), "{bad}");
        }
    }
}
