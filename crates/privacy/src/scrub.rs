//! Secrets in tool results, errors and logs: keys of known shapes, and the very values that were opened for a call.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, MatchKind};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use munshi_detect::secrets::{self, is_key_byte};
use serde_json::Value;

/// What stands where a secret was.
pub const HIDDEN: &str = "[secret hidden]";

/// Words before a secret, and how long it is at least.
const NAMES: &[(&str, usize)] = &[
    ("password", 4),
    ("passwd", 4),
    ("passphrase", 4),
    ("pwd", 4),
    ("client_secret", 6),
    ("secret_key", 6),
    ("secret_access_key", 6),
    ("secret", 8),
    ("api_key", 8),
    ("apikey", 8),
    ("api-key", 8),
    ("access_key", 8),
    ("private_key", 8),
    ("access_token", 8),
    ("refresh_token", 8),
    ("auth_token", 8),
    ("token", 16),
    ("bearer", 16),
    ("basic", 16),
];

static WORDS: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    let names = NAMES.iter().map(|name| name.0);
    AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .match_kind(MatchKind::LeftmostLongest)
        .build(names)
        .ok()
});

/// Takes secrets out of whatever a tool, an error or a log says.
#[derive(Clone, Default)]
pub struct Scrubber {
    opened: Option<AhoCorasick>,
}

impl Scrubber {
    /// With the values that were opened for this call. They are found as they are, and as URLs, JSON and base64 write them.
    /// A value of fewer than four letters is found by its name alone.
    pub fn new<S: AsRef<str>>(opened: impl IntoIterator<Item = S>) -> Self {
        let mut forms: Vec<String> = Vec::new();
        for secret in opened {
            let secret = secret.as_ref();
            if secret.len() < 4 {
                continue;
            }
            forms.extend([secret.to_owned(), percent_encode(secret), json_escaped(secret)]);
            if secret.len() >= 8 {
                forms.extend([STANDARD_NO_PAD.encode(secret), URL_SAFE_NO_PAD.encode(secret)]);
            }
        }
        let opened = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(&forms).ok();
        Self { opened: opened.filter(|_| !forms.is_empty()) }
    }

    /// A text without its secrets. It is looked at again as long as taking one out shows another.
    pub fn scrub_text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        const MOST: usize = 4;
        let mut clean = Cow::Borrowed(text);
        for _ in 0..MOST {
            let found = self.find(&clean);
            if found.is_empty() {
                return clean;
            }
            clean = Cow::Owned(replace_ranges(&clean, found));
        }
        if self.find(&clean).is_empty() { clean } else { Cow::Borrowed(HIDDEN) }
    }

    fn find(&self, text: &str) -> Vec<Range<usize>> {
        let opened = self.opened.iter().flat_map(|opened| opened.find_iter(text));
        let mut found: Vec<Range<usize>> = opened.map(|one| one.range()).collect();
        found.extend(secrets::locate_keys(text));
        find_named(text, &mut found);
        find_pem(text, &mut found);
        find_link_passwords(text, &mut found);
        found
    }

    /// Scrubs every string in place, keys too.
    pub fn scrub_json(&self, value: &mut Value) {
        match value {
            Value::String(text) => {
                let clean = self.scrub_text(text);
                if clean != *text {
                    *text = clean.into_owned();
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.scrub_json(item)),
            Value::Object(fields) => {
                let all = std::mem::take(fields);
                for (key, mut item) in all {
                    self.scrub_json(&mut item);
                    let secret = item.as_str().is_some_and(|text| text != HIDDEN && names_secret(&key, text));
                    let item = if secret { Value::String(HIDDEN.to_owned()) } else { item };
                    fields.insert(self.scrub_text(&key).into_owned(), item);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}

impl fmt::Debug for Scrubber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scrubber").finish_non_exhaustive()
    }
}

/// Whether a field is called what secrets are called, and is as long as they are.
fn names_secret(key: &str, value: &str) -> bool {
    let key = key.to_ascii_lowercase().replace('-', "_");
    NAMES.iter().any(|(name, least)| key.ends_with(name) && value.len() >= *least && !value.contains(' '))
}

fn replace_ranges(text: &str, mut found: Vec<Range<usize>>) -> String {
    found.sort_by_key(|range| (range.start, std::cmp::Reverse(range.end)));
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for range in found {
        if range.end <= at {
            continue;
        }
        if range.start >= at {
            out.push_str(text.get(at..range.start).unwrap_or_default());
            out.push_str(HIDDEN);
        }
        at = range.end;
    }
    out.push_str(text.get(at..).unwrap_or_default());
    out
}

/// What follows a word for a secret: `password=…`, `"api_key": "…"`, `Bearer …`.
fn find_named(text: &str, found: &mut Vec<Range<usize>>) {
    let Some(words) = WORDS.as_ref() else { return };
    let mut from = 0;
    for one in words.find_iter(text) {
        let Some((name, least)) = NAMES.get(one.pattern().as_usize()) else { continue };
        if one.start() < from {
            continue;
        }
        let rest = text.get(one.end()..).unwrap_or_default();
        let header = matches!(*name, "bearer" | "basic");
        let Some(value) = (if header { parse_after_space(rest) } else { parse_after_sign(rest) }) else {
            continue;
        };
        let range = one.end() + value.start..one.end() + value.end;
        let said = text.get(range.clone()).unwrap_or_default();
        let opaque = !header || said.bytes().any(|byte| byte.is_ascii_digit() || byte.is_ascii_uppercase());
        if text.get(range.start..).is_some_and(|rest| rest.starts_with(HIDDEN)) {
            from = range.start + HIDDEN.len();
        } else if said.len() >= *least && opaque {
            from = range.end;
            found.push(range);
        }
    }
}

/// The word after spaces.
fn parse_after_space(rest: &str) -> Option<Range<usize>> {
    let spaces = rest.bytes().take_while(|byte| *byte == b' ').count();
    if spaces == 0 {
        return None;
    }
    let length =
        rest.bytes().skip(spaces).take_while(|byte| is_key_byte(*byte) || b".~+/=".contains(byte)).count();
    (length > 0).then_some(spaces..spaces + length)
}

/// The value after a colon or an equals sign, in quotes or not.
fn parse_after_sign(rest: &str) -> Option<Range<usize>> {
    let bytes = rest.as_bytes();
    let skip = |from: usize, set: &[u8]| {
        from + bytes.iter().skip(from).take(4).take_while(|byte| set.contains(byte)).count()
    };
    let sign = skip(0, b"\"' \\");
    let after = sign + usize::from(matches!(bytes.get(sign), Some(b':' | b'=')));
    if after == sign {
        return None;
    }
    let mut start = skip(after, b" ");
    let quote = bytes.get(start).copied().filter(|byte| matches!(byte, b'"' | b'\''));
    start += usize::from(quote.is_some());
    let ends = |byte: u8| match quote {
        Some(quote) => byte == quote,
        None => byte.is_ascii_whitespace() || b",;&)}]\"'<".contains(&byte),
    };
    let mut escaped = false;
    let length = bytes
        .iter()
        .skip(start)
        .take_while(|byte| {
            let stop = ends(**byte) && !escaped;
            escaped = **byte == b'\\' && !escaped;
            !stop
        })
        .count();
    (length > 0).then_some(start..start + length)
}

/// Private keys between their marks; one without an end goes on to the end.
fn find_pem(text: &str, found: &mut Vec<Range<usize>>) {
    let mut from = 0;
    while let Some(at) = text.get(from..).and_then(|rest| rest.find("-----BEGIN ")).map(|at| at + from) {
        let rest = text.get(at..).unwrap_or_default();
        let head = rest
            .get(11..)
            .and_then(|head| head.find("-----"))
            .map_or("", |to| rest.get(..to + 16).unwrap_or_default());
        let end = rest.find("-----END ").and_then(|end| {
            let last = rest.get(end + 9..)?.find("-----")?;
            Some(end + 9 + last + 5)
        });
        let to = at + end.unwrap_or(rest.len());
        if head.contains("PRIVATE KEY") {
            found.push(at..to);
        }
        from = to;
    }
}

/// Passwords in addresses: `https://user:password@host`, `https://token@host`.
fn find_link_passwords(text: &str, found: &mut Vec<Range<usize>>) {
    for (at, sign) in text.match_indices("://") {
        let start = at + sign.len();
        let rest = text.get(start..).unwrap_or_default();
        let host = rest.get(
            ..rest
                .find(|letter: char| letter.is_whitespace() || matches!(letter, '/' | '?' | '#' | '"'))
                .unwrap_or(rest.len()),
        );
        let Some(user) = host.and_then(|host| host.rfind('@').and_then(|to| host.get(..to))) else {
            continue;
        };
        match user.find(':') {
            Some(colon) if colon + 1 < user.len() && user.get(colon + 1..) != Some(HIDDEN) => {
                found.push(start + colon + 1..start + user.len());
            }
            None if user.len() >= 16 && user != HIDDEN => found.push(start..start + user.len()),
            _ => {}
        }
    }
}

/// As an address writes it.
fn percent_encode(secret: &str) -> String {
    let mut out = String::with_capacity(secret.len());
    for byte in secret.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'~') {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

/// As JSON writes it.
fn json_escaped(secret: &str) -> String {
    let quoted = Value::String(secret.to_owned()).to_string();
    quoted.get(1..quoted.len().saturating_sub(1)).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_key_of_every_known_shape_is_hidden() {
        let scrubber = Scrubber::default();
        let missed = munshi_detect::secrets::KEY_SHAPES.iter().filter(|shape| {
            let clean = scrubber.scrub_text(&format!("failed with {}, retry", shape.example())).into_owned();
            clean != format!("failed with {HIDDEN}, retry") || scrubber.scrub_text(&clean) != clean
        });
        assert_eq!(missed.map(|shape| shape.prefix).collect::<Vec<_>>(), Vec::<&str>::new());
    }

    #[test]
    fn secrets_are_known_by_what_stands_beside_them() {
        let scrubber = Scrubber::default();
        for (text, clean) in [
            ("password=hunter22&x=1", "password=[secret hidden]&x=1"),
            (r#"{"api_key": "abc\"defgh", "n": 1}"#, r#"{"api_key": "[secret hidden]", "n": 1}"#),
            ("Authorization: Bearer abcdef1234567890XY ok", "Authorization: Bearer [secret hidden] ok"),
            ("postgres://munshi:s3cret@db:5432/x", "postgres://munshi:[secret hidden]@db:5432/x"),
            ("https://user:p@ss@host/", "https://user:[secret hidden]@host/"),
            ("-----BEGIN RSA PRIVATE KEY-----\nAAA\n-----END RSA PRIVATE KEY----- x", "[secret hidden] x"),
            ("-----BEGIN PRIVATE KEY-----\nAAA", "[secret hidden]"),
            ("bot 123456789:AAaaBBbbCCccDDddEEeeFFffGGggHHhhIIi up", "bot [secret hidden] up"),
        ] {
            assert_eq!(scrubber.scrub_text(text), clean);
            assert_eq!(scrubber.scrub_text(clean), clean);
        }
        for plain in [
            "the token is 5",
            "password: ",
            "a basic understanding-of-things",
            "bearer of good news everyone",
            "https://example.com/a@b",
            "-----BEGIN CERTIFICATE-----\nAAA\n-----END CERTIFICATE-----",
            "ask-me-anything-about-the-price",
            "paid ₹500 to Ramesh",
        ] {
            assert_eq!(scrubber.scrub_text(plain), plain);
        }
    }

    #[test]
    fn opened_values_are_hidden_however_they_are_written() {
        let secret = "p/ss \"wörd\" 1";
        let scrubber = Scrubber::new([secret, "abc"]);
        for form in [
            secret.to_owned(),
            percent_encode(secret),
            json_escaped(secret),
            STANDARD_NO_PAD.encode(secret),
            URL_SAFE_NO_PAD.encode(secret),
        ] {
            assert_eq!(scrubber.scrub_text(&format!("<{form}>")), format!("<{HIDDEN}>"));
        }
        assert_eq!(scrubber.scrub_text("abc"), "abc");
        let mut value = json!({"a": [secret, 1], "password": "short1", "note": "fine", secret: true});
        scrubber.scrub_json(&mut value);
        assert_eq!(value, json!({"a": [HIDDEN, 1], "password": HIDDEN, "note": "fine", HIDDEN: true}));
        assert_eq!(format!("{scrubber:?}"), "Scrubber { .. }");
    }
}
