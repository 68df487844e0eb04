//! Keys and tokens by how they begin.

use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, MatchKind};

/// How the keys of one maker look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyShape {
    pub prefix: &'static str,
    /// So many letters follow at least.
    least: usize,
    tail: KeyTail,
}

/// What follows the beginning of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum KeyTail {
    /// Letters, digits, dashes and underscores.
    Plain,
    /// The same, where names may begin so too, such as `npm_config_cache` or `pk_orders_2024`: they have to look drawn by
    /// lot, or be longer than names are.
    Drawn,
    /// Points may part it.
    Dotted,
    /// Large letters and digits alone, so that `ASIA-PACIFIC` is none.
    Capitals,
    /// Parts with points between, two at least.
    WebToken,
}

/// No name is longer.
const LONGEST_NAME: usize = 60;
/// A piece without a sign in it that is longer than words are.
const LONG_PIECE: usize = 16;
/// A piece with letters and digits in it, longer than `v2` and `2024q3`.
const MIXED_PIECE: usize = 8;
/// The parts of a web token are no shorter.
const SHORTEST_PART: usize = 8;
/// A web token of three parts is no shorter, whatever its parts.
const SHORTEST_WEB_TOKEN: usize = 20;

/// Every beginning that is known. A number is the fewest letters after it that any of the crates asked for.
pub const KEY_SHAPES: &[KeyShape] = &[
    // Our own: `mk_` (`kk_` for a keeper's), a handle, the secret and its check.
    plain_shape("mk_", 57),
    plain_shape("kk_", 57),
    plain_shape("sk_live_", 8),
    plain_shape("sk_test_", 8),
    plain_shape("rk_live_", 8),
    plain_shape("rk_test_", 8),
    plain_shape("pk_live_", 8),
    plain_shape("pk_test_", 8),
    plain_shape("rzp_live_", 8),
    plain_shape("rzp_test_", 8),
    plain_shape("whsec_", 8),
    plain_shape("ghp_", 16),
    plain_shape("gho_", 16),
    plain_shape("ghs_", 16),
    plain_shape("ghu_", 16),
    plain_shape("ghr_", 16),
    plain_shape("github_pat_", 16),
    plain_shape("glpat-", 12),
    plain_shape("xoxa-", 8),
    plain_shape("xoxb-", 8),
    plain_shape("xoxp-", 8),
    plain_shape("xoxr-", 8),
    plain_shape("xoxs-", 8),
    plain_shape("AIza", 24),
    plain_shape("shpat_", 16),
    plain_shape("dop_v1_", 16),
    random_shape("sk-", 16),
    random_shape("sk_", 16),
    random_shape("pk-", 16),
    random_shape("pk_", 16),
    random_shape("rk-", 16),
    random_shape("rk_", 16),
    random_shape("xapp-", 8),
    random_shape("hf_", 16),
    random_shape("gsk_", 16),
    random_shape("xai-", 16),
    random_shape("pplx-", 16),
    random_shape("r8_", 16),
    random_shape("npm_", 16),
    random_shape("pypi-", 16),
    random_shape("EAA", 30),
    KeyShape { prefix: "ya29.", least: 16, tail: KeyTail::Dotted },
    KeyShape { prefix: "SG.", least: 16, tail: KeyTail::Dotted },
    KeyShape { prefix: "AKIA", least: 16, tail: KeyTail::Capitals },
    KeyShape { prefix: "ASIA", least: 16, tail: KeyTail::Capitals },
    KeyShape { prefix: "eyJ", least: 17, tail: KeyTail::WebToken },
];

const fn plain_shape(prefix: &'static str, least: usize) -> KeyShape {
    KeyShape { prefix, least, tail: KeyTail::Plain }
}

const fn random_shape(prefix: &'static str, least: usize) -> KeyShape {
    KeyShape { prefix, least, tail: KeyTail::Drawn }
}

static PREFIXES: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    let prefixes = KEY_SHAPES.iter().map(|shape| shape.prefix);
    AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(prefixes).ok()
});

impl KeyShape {
    /// The shortest key of this shape, which nobody has: for tests that go through all shapes.
    pub fn example(&self) -> String {
        let tail = match self.tail {
            KeyTail::Plain | KeyTail::Drawn | KeyTail::Dotted => "g1h2k3m4".repeat(self.least / 8 + 1),
            KeyTail::Capitals => "G1H2K3M4".repeat(self.least / 8 + 1),
            KeyTail::WebToken => "hbGciOiJ.eyJzdWIi".to_owned(),
        };
        format!("{}{}", self.prefix, tail.get(..self.least).unwrap_or(&tail))
    }

    /// How much of what follows the beginning is the key's, and whether it is one.
    fn match_tail(&self, rest: &str) -> (usize, bool) {
        let dotted = matches!(self.tail, KeyTail::Dotted | KeyTail::WebToken);
        let letters = rest.bytes().take_while(|byte| is_key_byte(*byte) || dotted && *byte == b'.').count();
        // A point at the end ends the sentence.
        let tail = rest.get(..letters).unwrap_or_default().trim_end_matches('.');
        let looks = match self.tail {
            KeyTail::Plain | KeyTail::Dotted => true,
            KeyTail::Drawn => tail.len() >= LONGEST_NAME || looks_random(tail),
            KeyTail::Capitals => {
                let capital = |byte: &u8| byte.is_ascii_uppercase() || byte.is_ascii_digit();
                tail.bytes().take_while(capital).count() >= self.least
            }
            KeyTail::WebToken => is_web_token(tail),
        };
        (tail.len(), looks && tail.len() >= self.least)
    }
}

/// Where keys and tokens of known shapes stand in a text, in order. What is taken is not looked at again, so a text is read
/// once.
pub fn locate_keys(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut from = 0;
    for one in PREFIXES.iter().flat_map(|prefixes| prefixes.find_iter(text)) {
        let before = one.start().checked_sub(1).and_then(|at| text.as_bytes().get(at));
        let Some(shape) = KEY_SHAPES.get(one.pattern().as_usize()) else { continue };
        if one.start() < from || before.is_some_and(u8::is_ascii_alphanumeric) {
            continue;
        }
        let (length, is_key) = shape.match_tail(text.get(one.end()..).unwrap_or_default());
        if is_key {
            found.push(one.start()..one.end() + length);
        }
        from = one.end() + length;
    }
    add_bot_tokens(text, &mut found);
    found.sort_by_key(|range| range.start);
    found
}

/// Letters that keys are written in.
pub const fn is_key_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

/// Whether some piece of it is nothing that a person would name something.
fn looks_random(tail: &str) -> bool {
    tail.split(['-', '_', '.']).any(|piece| {
        let mixed = piece.bytes().any(|byte| byte.is_ascii_digit())
            && piece.bytes().any(|byte| byte.is_ascii_alphabetic());
        piece.len() >= LONG_PIECE || (mixed && piece.len() >= MIXED_PIECE)
    })
}

/// Without a point it is JSON in base64, as cursors are: no secret.
fn is_web_token(tail: &str) -> bool {
    let mut parts = tail.split('.').map(str::len);
    let long = |part: Option<usize>| part.is_some_and(|part| part >= SHORTEST_PART);
    let two = long(parts.next()) && long(parts.next());
    two || (tail.len() >= SHORTEST_WEB_TOKEN && tail.matches('.').count() >= 2)
}

/// Keys of Telegram bots: eight to ten digits, a colon, 35 letters.
fn add_bot_tokens(text: &str, found: &mut Vec<Range<usize>>) {
    for (at, _) in text.match_indices(':') {
        let (front, rest) = text.as_bytes().split_at(at);
        let digits = front.iter().rev().take(11).take_while(|byte| byte.is_ascii_digit()).count();
        let letters = rest.iter().skip(1).take(36).take_while(|byte| is_key_byte(**byte)).count();
        if (8..=10).contains(&digits) && letters == 35 {
            found.push(at - digits..at + 36);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(text: &str) -> Vec<&str> {
        locate_keys(text).into_iter().map(|range| &text[range]).collect()
    }

    #[test]
    fn a_key_of_every_shape_is_found_whole() {
        for shape in KEY_SHAPES {
            let key = shape.example();
            for text in [format!("failed with {key}, retry"), format!("கீ{key}."), key.clone()] {
                assert_eq!(said(&text), [key.as_str()], "{text}");
            }
            assert_eq!(said(&format!("x{key}")), Vec::<&str>::new(), "{key} within a word");
            let short = &key[..key.len() - 1];
            assert_eq!(said(short), Vec::<&str>::new(), "{short} is too short");
        }
        let bot = "123456789:AAaaBBbbCCccDDddEEeeFFffGGggHHhhIIi";
        assert_eq!(said(&format!("bot {bot} up")), [bot]);
        assert_eq!(said("sk-proj-abcdefghijklmnopqrst and hf_abcdefghijklmnopqrstuvwx").len(), 2);
        assert_eq!(said("eyJhbGciOiJIUzI1NiJ9.eyJ1IjoxfQ.abcDEF123").len(), 1);
    }

    #[test]
    fn no_beginning_stands_twice() {
        let mut prefixes: Vec<&str> = KEY_SHAPES.iter().map(|shape| shape.prefix).collect();
        prefixes.sort_unstable();
        prefixes.dedup();
        assert_eq!(prefixes.len(), KEY_SHAPES.len());
    }

    #[test]
    fn names_cursors_and_talk_are_no_keys() {
        for text in [
            "npm_config_registry_url is not set",
            "duplicate key violates pk_customer_orders_2024",
            "hf_hub_enable_hf_transfer",
            "sk-learn-tutorial-basics",
            "the xapp-orchestrator and pypi-publish-example-action",
            "ASIA-PACIFIC-REGION-2024",
            "ask-me-anything-about-the-price-of-2kg",
            "EAA-european-accessibility-act-checklist",
            "next: eyJpZCI6MTIzNDU2Nzg5MCwiYWZ0ZXIiOiIyMDI2LTExLTE3In0",
            "12345678:30",
            "",
        ] {
            assert_eq!(said(text), Vec::<&str>::new(), "{text}");
        }
    }
}
