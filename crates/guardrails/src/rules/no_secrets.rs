//! Keys, tokens, passwords, one-time codes. Keys of known makers are those of `munshi_detect`.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

use munshi_detect::secrets::locate_keys;
use regex::Regex;

use crate::letters::is_unseen;
use crate::lexicon::NamedWordClass;
use crate::rule::{
    GuardrailCheck, GuardrailFinding, GuardrailRule, GuardrailScope, GuardrailSeverity, GuardrailTier,
    GuardrailView,
};
use crate::shapes::compile_any;
use crate::tokens::{GuardrailTokenKind, GuardrailTokenList, TokenGap};

/// What stands where a secret stood.
const HIDDEN: &str = "•••";

/// A code has no fewer digits, but for the one on the back of a card.
const FEWEST_DIGITS: usize = 4;
const FEWEST_CARD: usize = 3;
/// A code has no more digits.
const MOST_DIGITS: usize = 8;
/// With the country's code.
const LONGEST_TELEPHONE: usize = 13;

/// So many words may lie between the name of a secret and the secret.
const FAR: usize = 8;

/// The fewest letters of a token that has the shape of a secret without a digit.
const SHORTEST_SHAPE: usize = 11;

static KEY: NamedWordClass = NamedWordClass::new("no-secrets.key");
static CODE: NamedWordClass = NamedWordClass::new("no-secrets.code");
static SHORT: NamedWordClass = NamedWordClass::new("no-secrets.short");
static POSTAL: NamedWordClass = NamedWordClass::new("no-secrets.postal");
static COUNTED: NamedWordClass = NamedWordClass::new("price.counted");

pub(crate) fn rule() -> GuardrailRule {
    GuardrailRule {
        id: Cow::Borrowed("no-secrets"),
        tier: GuardrailTier::Agent,
        severity: GuardrailSeverity::Rewrite,
        scope: GuardrailScope::Sentence,
        prompt: Cow::Borrowed("Never write out a password, PIN, one-time code, key or token."),
        phrase: "guard-not-shared",
        check: GuardrailCheck::Sentences(check),
    }
}

/// What is a secret by what stands around it: private keys, passwords in addresses, names in the vault.
static SHAPES: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let shapes = [
        r"-----BEGIN [A-Z ]*PRIVATE KEY-----[A-Za-z0-9+/=\s]*(?:-----END [A-Z ]*PRIVATE KEY-----)?",
        r"(?i)\bbearer\s+[A-Za-z0-9._~+/=-]{16,}",
        r"\b[a-z][a-z0-9+]{2,12}://[^\s:/@]+:[^\s/@]+@\S+",
        r"\bvault:[A-Za-z0-9_/.-]+",
    ];
    compile_any(&shapes)
});

fn check(view: &GuardrailView<'_>) -> Vec<GuardrailFinding> {
    let reading = view.reading;
    let mut found = find_shaped(view.text, &reading.tokens);
    let (key, coded, postal) = (KEY.get(), CODE.get(), POSTAL.get());
    if !reading.has(key) {
        return found;
    }
    for at in
        (0..reading.tokens.len()).filter(|at| reading.has_class(*at, key) && !reading.has_class(*at, postal))
    {
        if is_hidden_near(view, at) {
            continue;
        }
        let coded = match (reading.has_class(at, SHORT.get()), reading.has_class(at, coded)) {
            (true, _) => Some(FEWEST_CARD),
            (_, true) => Some(FEWEST_DIGITS),
            _ => None,
        };
        let value = find_after(view, at, coded).or_else(|| find_before(view, at, coded));
        if let Some((from, to)) = value {
            let span = reading.tokens[from].start..reading.tokens[to].end;
            found.push(GuardrailFinding::with_replacement(span, "a secret", HIDDEN.to_owned()));
        }
    }
    found
}

/// Shapes, looked for in the text without what is not seen.
fn find_shaped(text: &str, tokens: &GuardrailTokenList) -> Vec<GuardrailFinding> {
    // Every shape has a sign, a digit or a long word of Latin letters.
    let may = tokens.traits.digits
        || tokens.traits.unseen
        || tokens.traits.has_sign("-_:")
        || tokens.iter().any(|token| token.is_latin() && token.end - token.start >= SHORTEST_SHAPE);
    if !may {
        return Vec::new();
    }
    let hidden = |span| GuardrailFinding::with_replacement(span, "a secret", HIDDEN.to_owned());
    if !tokens.traits.unseen {
        return find_spans(text).into_iter().map(hidden).collect();
    }
    let mut seen = String::with_capacity(text.len());
    let mut places = Vec::with_capacity(text.len());
    for (at, letter) in text.char_indices().filter(|(_, letter)| !is_unseen(*letter)) {
        seen.push(letter);
        places.extend(std::iter::repeat_n(at, letter.len_utf8()));
    }
    places.push(text.len());
    find_spans(&seen).into_iter().map(|span| hidden(places[span.start]..places[span.end])).collect()
}

/// Where shapes and keys stand. A key within a shape is hidden with it.
fn find_spans(text: &str) -> Vec<Range<usize>> {
    let shapes = SHAPES.iter().flat_map(|shapes| shapes.find_iter(text));
    let mut spans: Vec<Range<usize>> = shapes.map(|one| one.range()).collect();
    for key in locate_keys(text) {
        if !spans.iter().any(|span| span.start <= key.start && key.end <= span.end) {
            spans.push(key);
        }
    }
    spans
}

/// Whether the secret of this name has been hidden already, so that what was rewritten is left alone.
fn is_hidden_near(view: &GuardrailView<'_>, at: usize) -> bool {
    let tokens = &view.reading.tokens;
    tokens.has_hidden(at.saturating_sub(8)..tokens.len().min(at + 2 * FAR))
}

/// The secret that is told after its name: `OTP: 482913`, `password is Blue@77`.
fn find_after(view: &GuardrailView<'_>, at: usize, coded: Option<usize>) -> Option<(usize, usize)> {
    let reading = view.reading;
    let mut words = 0;
    let mut next = reading.next_after_phrase(at);
    let mut told = false;
    while next < reading.tokens.len() && words < FAR {
        if let Some(to) = find_secret_end(view, next, coded, told) {
            return Some((next, to));
        }
        told =
            matches!(reading.tokens[next].kind, GuardrailTokenKind::Sign(':' | '=' | '"' | '“' | '`' | '\''));
        words += usize::from(reading.is_word_or_number(next));
        next += 1;
    }
    None
}

/// The secret that is told before its name: `482913 is your OTP`.
fn find_before(view: &GuardrailView<'_>, at: usize, coded: Option<usize>) -> Option<(usize, usize)> {
    let reading = view.reading;
    let from = at.saturating_sub(5);
    (from..at).rev().find_map(|place| {
        let parted = (place..at).any(|between| {
            matches!(reading.tokens[between].kind, GuardrailTokenKind::Sign('.' | '।' | '\n' | '?'))
        });
        let to = find_secret_end(view, place, coded, false).filter(|to| *to < at && !parted)?;
        Some((place, to))
    })
}

/// Whether what begins at a token is a secret, and the token it ends on.
fn find_secret_end(view: &GuardrailView<'_>, at: usize, coded: Option<usize>, told: bool) -> Option<usize> {
    let reading = view.reading;
    let token = reading.tokens.get(at)?;
    let to = (at + 1..reading.tokens.len())
        .find(|next| reading.tokens[*next].gap != TokenGap::None || reading.tokens[*next].is_sign('\n'))
        .unwrap_or(reading.tokens.len());
    // A closing mark is no part of it.
    let last = (at..to).rev().find(|last| reading.is_word_or_number(*last))?;
    let text = view.text.get(token.start..reading.tokens[last].end)?;
    let digits = text.chars().filter(|letter| letter.is_numeric()).count();
    let letters = text.chars().filter(|letter| letter.is_alphabetic()).count();
    if let Some(fewest) = coded.filter(|_| token.is_number()) {
        return find_code_end(view, at, fewest);
    }
    // A telephone number, an address and an amount are none; nor is a word with a dash.
    let mixed = digits > 0 && letters > 0 && text.len() >= 6 && text.is_ascii() && !text.contains("://");
    let signed =
        letters >= 4 && text.contains(['@', '#', '$', '%', '&', '!']) && !text.contains('.') && last > at;
    let plain =
        told && coded.is_none() && text.len() >= 4 && text.is_ascii() && last >= at && token.is_word();
    (token.is_word() && (mixed || signed || plain) || (token.is_number() && mixed)).then_some(last)
}

/// Digits of a code: `fewest` to eight of them, together or one by one.
fn find_code_end(view: &GuardrailView<'_>, at: usize, fewest: usize) -> Option<usize> {
    let reading = view.reading;
    // The second half of a telephone number is no code.
    if at.checked_sub(1).is_some_and(|before| reading.tokens[before].is_number()) {
        return None;
    }
    let mut digits = 0;
    let mut last = at;
    for next in at..reading.tokens.len().min(at + 16) {
        let token = &reading.tokens[next];
        match token.kind {
            GuardrailTokenKind::Number
                if reading.spelling(next).bytes().all(|byte| byte.is_ascii_digit()) =>
            {
                digits += token.len();
                last = next;
            }
            // The end of a sentence is no separator.
            GuardrailTokenKind::Sign('.')
                if reading.tokens.get(next + 1).is_none_or(|after| after.gap != TokenGap::None) =>
            {
                break;
            }
            GuardrailTokenKind::Sign('-' | '.' | ',' | '*' | '•') => {}
            _ => break,
        }
    }
    // Where more follows than a telephone number has, the code is the first of them.
    if digits > LONGEST_TELEPHONE && (fewest..=MOST_DIGITS).contains(&reading.tokens[at].len()) {
        return Some(at);
    }
    let counted = reading.has_class(last + 1, COUNTED.get());
    ((fewest..=MOST_DIGITS).contains(&digits) && !counted).then_some(last)
}

#[cfg(test)]
mod tests {
    use crate::GuardrailContext;
    use crate::rules::trial::{check, passed};

    #[test]
    fn secrets_are_hidden() {
        for (reply, sent) in [
            ("Use sk_live_4f9aK2mNq8ZrT1xW7bYc here.", "Use ••• here."),
            ("Your OTP is 482913.", "Your OTP is •••."),
            ("482913 is your OTP.", "••• is your OTP."),
            ("OTP is 482913. 4111 1111 1111 1112", "OTP is •••. 4111 1111 1111 1112"),
            ("Password: Blue@77sky", "Password: •••"),
            ("आपका ओटीपी ४८२९१३ है।", "आपका ओटीपी ••• है।"),
            ("The PIN is below.\n4 8 2 9", "The PIN is below.\n•••"),
        ] {
            assert_eq!(check("no-secrets", reply, &GuardrailContext::default()).text(), sent);
        }
    }

    #[test]
    fn a_key_of_every_known_shape_is_hidden() {
        let missed = munshi_detect::secrets::KEY_SHAPES.iter().filter(|shape| {
            let reply = format!("Use {} here.", shape.example());
            check("no-secrets", &reply, &GuardrailContext::default()).text() != "Use ••• here."
        });
        assert_eq!(missed.map(|shape| shape.prefix).collect::<Vec<_>>(), Vec::<&str>::new());
    }

    #[test]
    fn talk_of_secrets_is_free() {
        passed(
            "no-secrets",
            &[
                "Never share your OTP with anyone.",
                "The OTP is valid for 10 minutes.",
                "Your password must have 8 characters.",
                "Our PIN code is 560001.",
                "Reset your password from the app.",
            ],
        );
    }
}
