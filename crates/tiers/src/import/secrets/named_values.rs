//! A value that somebody called by the name of something secret.

use std::sync::LazyLock;

use regex::Regex;

pub(super) const KIND: &str = "a password or token";

/// What is secret whatever it looks like.
const SURE: &str = r"pass ?words?|passwd|passcodes?|pass ?phrases?|pwd|api[ _-]?keys?|access[ _-]keys?|secret[ _-]keys?|private[ _-]keys?|(?:access|auth|bot|api|refresh|session)[ _-]tokens?|client[ _-]secrets?|credentials?|पासवर्ड|கடவுச்சொல்|পাসওয়ার্ড";
/// What is secret where it is a short number.
const NUMBER: &str = r"pins?|[mt]pins?|otps?|cvv2?|cvc|one[ -]time (?:code|password)s?|verification codes?|पिन|ओटीपी|পিন|ஓடிபி";
/// What is secret where it looks like one.
const LOOSE: &str = r"tokens?|pass|bearer|keys?|secrets?";

/// Between a name and its value: what it is for, and a mark or a word that says that the value follows.
const TAIL: &str = r#"(?i)^["'`*_)\]]*(?:\s*\([^)]*\))?(?:\s+(?:for|of|to|on|at)\s(?:[^\s:=|]+\s){0,3}?[^\s:=|]+?)?["'`*_)\]]*\s*(?P<mark>:|=>?|\||→|–|—|\s-\s|\s(?:is|was|are|hai|है)\b)[\s:="'`*_|]*(?P<value>.*)$"#;

/// `DB_PASS=`, `smtp_password:`.
const SETTING: &str =
    r#"(?i)(?:^|[^a-z0-9_])(?P<name>[a-z0-9]+(?:_[a-z0-9]+)+)["'`]?\s*[:=]\s*(?P<value>\S+)"#;

static NAMES: LazyLock<[Option<Regex>; 3]> = LazyLock::new(|| {
    [SURE, NUMBER, LOOSE].map(|names| {
        Regex::new(&format!(r"(?i)(?:^|[^\p{{L}}\p{{M}}\p{{N}}_])(?:{names})(?:$|[^\p{{L}}\p{{M}}\p{{N}}_])"))
            .ok()
    })
});
static AFTER: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(TAIL).ok());
static SETTINGS: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(SETTING).ok());

/// Whether a secret is told in this line, under its name.
pub(super) fn has_named_secret(line: &str) -> bool {
    let [sure, number, loose] = &*NAMES;
    values(sure.as_ref(), line).any(|value| value.is_sure())
        || values(number.as_ref(), line).any(|value| value.is_number(line))
        || values(loose.as_ref(), line).any(|value| looks_secret(first(value.text)))
        || has_secret_setting(line)
        || is_secret_pair(line)
}

/// `secret: hunter22` and nothing more; with more it may be that of a good chai.
fn is_secret_pair(line: &str) -> bool {
    let plain = line.trim_start_matches(['-', '*', ' ', '`', '"']);
    let Some((name, value)) = plain.split_once([':', '=']) else { return false };
    let value = unquoted(value.trim());
    name.trim_end_matches(['*', ' ', '`', '"']).eq_ignore_ascii_case("secret")
        && value.len() >= 6
        && !value.contains(' ')
        && can_be_secret(value)
}

/// Whether the line only says that a secret comes next: `Password:`, `## Gmail password`.
pub(super) fn announces_secret(line: &str) -> bool {
    let words = line.split_whitespace().count();
    let plain = line.trim_end_matches([' ', ':', '*', '=', '`']);
    let ends = |names: &Option<Regex>| {
        names.as_ref().is_some_and(|names| names.find_iter(plain).any(|name| name.end() == plain.len()))
    };
    (1..=4).contains(&words) && NAMES.iter().take(2).any(ends)
}

/// Whether the line is one word that can be what was announced.
pub(super) fn is_value(line: &str) -> bool {
    let value = unquoted(line.trim().trim_start_matches(['-', ' ']));
    value.split_whitespace().count() == 1
        && can_be_secret(value)
        && value.len() >= 4
        && !line.starts_with('#')
}

/// What follows a name.
struct Value<'a> {
    /// None where it follows at once.
    mark: Option<&'a str>,
    text: &'a str,
}

fn values<'a>(names: Option<&'a Regex>, line: &'a str) -> impl Iterator<Item = Value<'a>> {
    names.into_iter().flat_map(move |names| names.find_iter(line)).filter_map(move |name| {
        // The letter that ended the name is the first of what follows.
        let last = name.as_str().chars().next_back().filter(|letter| !letter.is_alphanumeric());
        let combining = |letter: &char| ('\u{900}'..='\u{dff}').contains(letter);
        let back = last.filter(|letter| !combining(letter)).map_or(0, char::len_utf8);
        let rest = line.get(name.end() - back..)?;
        let told = AFTER.as_ref().and_then(|after| after.captures(rest));
        let part = |of: &str| told.as_ref().and_then(|told| told.name(of)).map(|part| part.as_str());
        let text = part("value").unwrap_or(rest).trim_matches([' ', '"', '\'', '`', '*', '|']);
        Some(Value { mark: part("mark"), text })
    })
}

impl Value<'_> {
    fn is_sure(&self) -> bool {
        let words: Vec<&str> = self.text.split_whitespace().map(unquoted).collect();
        match (self.mark.map(str::trim), words.as_slice()) {
            (_, [one, ..]) if looks_secret(one) => true,
            (Some(_), [one]) => can_be_secret(one) && one.len() >= 4 && !one.ends_with("ed"),
            // Words that make no sentence are a phrase to remember.
            (Some(_), [_, _, ..]) => words.len() <= 8 && words.iter().all(|word| can_be_secret(word)),
            _ => false,
        }
    }

    /// Six digits and nothing about money or a phone around them are where letters are delivered.
    fn is_number(&self, line: &str) -> bool {
        let value = first(self.text);
        let is_short = (3..=8).contains(&value.len()) && value.bytes().all(|byte| byte.is_ascii_digit());
        let lower = line.to_lowercase();
        let about = |words: &[&str]| words.iter().any(|word| lower.contains(word));
        let is_postal = value.len() == 6
            && !about(&[
                "upi",
                "atm",
                "card",
                "mpin",
                "tpin",
                "bank",
                "sim",
                "otp",
                "code",
                "login",
                "ओटीपी",
            ]);
        // `I pin 4821 notes`: without a mark there is nothing after it.
        let is_told = self.mark.is_some() || self.text.split_whitespace().count() == 1;
        is_short && is_told && !is_postal
    }
}

fn has_secret_setting(line: &str) -> bool {
    let Some(settings) = SETTINGS.as_ref() else { return false };
    settings.captures_iter(line).any(|setting| {
        let part = |of: &str| setting.name(of).map_or("", |part| part.as_str());
        let name = part("name").to_lowercase();
        let value = unquoted(part("value"));
        let has = |words: &[&str]| name.split('_').any(|word| words.contains(&word));
        let sure = ["pass", "password", "passwd", "pwd", "secret", "pin", "otp", "credential", "credentials"];
        (has(&sure) && can_be_secret(value) && value.len() >= 4)
            || (has(&["key", "token", "salt", "auth", "private"]) && looks_secret(value))
    })
}

fn first(text: &str) -> &str {
    unquoted(text.split_whitespace().next().unwrap_or_default())
}

fn unquoted(word: &str) -> &str {
    word.trim_matches(['"', '\'', '`', '*', ',', ';', '.', '|', '(', ')'])
}

/// Whether it can be a value: no placeholder, no address, no word of an ordinary sentence.
fn can_be_secret(word: &str) -> bool {
    let stands_for = word.starts_with(['$', '<', '{', '[', '…'])
        || word.starts_with("vault:")
        || word.contains("{{")
        || word.contains("://")
        || word.chars().all(|letter| matches!(letter, '*' | 'x' | 'X' | '.' | '-' | '_' | '•' | '?'));
    !stands_for && !PLAIN.contains(&word.to_lowercase().as_str())
}

/// Letters with digits or marks among them, or more letters than a word has.
fn looks_secret(word: &str) -> bool {
    let has = |test: fn(&char) -> bool| word.chars().any(|letter| test(&letter));
    let letters = has(|letter| letter.is_alphabetic());
    let digits = has(char::is_ascii_digit);
    let marks = has(|letter| matches!(letter, '@' | '#' | '!' | '%' | '&' | '^' | '+'));
    let is_mixed = letters && (digits || marks) && word.chars().count() >= 6;
    can_be_secret(word) && (is_mixed || word.len() >= 20 && !word.contains('/'))
}

/// Words of sentences about secrets.
const PLAIN: [&str; 72] = [
    "a",
    "an",
    "the",
    "it",
    "its",
    "to",
    "of",
    "for",
    "in",
    "on",
    "at",
    "by",
    "from",
    "with",
    "and",
    "or",
    "not",
    "no",
    "never",
    "always",
    "only",
    "ask",
    "see",
    "do",
    "don't",
    "none",
    "n/a",
    "tbd",
    "nil",
    "null",
    "unknown",
    "is",
    "are",
    "be",
    "must",
    "should",
    "may",
    "can",
    "can't",
    "will",
    "if",
    "when",
    "who",
    "what",
    "where",
    "your",
    "my",
    "our",
    "their",
    "his",
    "her",
    "you",
    "me",
    "them",
    "this",
    "that",
    "any",
    "every",
    "each",
    "people",
    "please",
    "required",
    "needed",
    "optional",
    "wrong",
    "safe",
    "secret",
    "private",
    "confidential",
    "sacred",
    "important",
    "hidden",
];
