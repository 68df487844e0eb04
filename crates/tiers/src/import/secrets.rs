//! Lines that hold a secret or somebody's number.

/// The text without such lines; each is told to `found` with its number and what it is, never what it says. The lines
/// stay as empty ones, so that the numbers of the others hold.
pub(super) fn removed(text: &str, mut found: impl FnMut(usize, &'static str)) -> String {
    let mut in_key = false;
    let lines = text.lines().enumerate().map(|(at, line)| {
        let begins = line.contains("-----BEGIN") && line.contains("PRIVATE KEY");
        let inside = in_key || begins;
        in_key = inside && !line.contains("-----END");
        match if begins { Some("a private key") } else { kind(line) } {
            Some(kind) => {
                found(at + 1, kind);
                ""
            }
            None if inside => "",
            None => line,
        }
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Beginnings of keys that everybody knows, and how much must follow.
const BEGINNINGS: [(&str, usize); 14] = [
    ("sk-", 16),
    ("pk_live_", 8),
    ("sk_live_", 8),
    ("rzp_live_", 8),
    ("rzp_test_", 8),
    ("ghp_", 16),
    ("gho_", 16),
    ("github_pat_", 16),
    ("xoxb-", 8),
    ("xoxp-", 8),
    ("AKIA", 16),
    ("AIza", 24),
    ("eyJ", 40),
    ("glpat-", 12),
];

const NAMES: [&str; 13] = [
    "password",
    "passwd",
    "passphrase",
    "secret",
    "api key",
    "api_key",
    "apikey",
    "access token",
    "access_token",
    "auth token",
    "bot token",
    "bearer",
    "private_key",
];

fn kind(line: &str) -> Option<&'static str> {
    let is_key = |word: &str| {
        BEGINNINGS.iter().any(|(start, more)| {
            let Some(at) = word.find(start) else { return false };
            let begins = !word.get(..at).is_some_and(|before| before.ends_with(char::is_alphanumeric));
            begins && word.get(at + start.len()..).is_some_and(|rest| token(rest) >= *more)
        })
    };
    if line.split_whitespace().any(is_key) {
        return Some("a key");
    }
    if is_named(line) {
        return Some("a password or token");
    }
    if has_address_with_password(line) {
        return Some("an address with a password in it");
    }
    is_identity_number(line).then_some("an identity or card number")
}

fn token(text: &str) -> usize {
    text.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.')).count()
}

/// `api_key = abc123…`: a name of something secret, then a value that is one word and no placeholder.
fn is_named(line: &str) -> bool {
    let lower = line.to_ascii_lowercase();
    NAMES.iter().any(|name| {
        let Some(rest) = lower.find(name).and_then(|at| line.get(at + name.len()..)) else { return false };
        let rest = rest.trim_start_matches(['*', '`', '"', '\'', ' ', 's']);
        let Some(value) =
            rest.strip_prefix([':', '=']).map(|value| value.trim_matches([' ', '`', '"', '\'', '*']))
        else {
            return *name == "bearer" && token(rest) >= 16;
        };
        let is_word = value.len() >= 6 && !value.contains(' ');
        let stands_for =
            value.starts_with(['$', '<', '{', '[']) || value.starts_with("vault:") || value.contains("{{");
        is_word && !stands_for
    })
}

fn has_address_with_password(line: &str) -> bool {
    line.match_indices("://").any(|(at, _)| {
        let rest = line.get(at + 3..).unwrap_or_default();
        let login = rest.split(['/', ' ']).next().unwrap_or_default();
        login
            .split_once('@')
            .is_some_and(|(login, _)| login.split_once(':').is_some_and(|(_, word)| !word.is_empty()))
    })
}

/// Twelve digits as an Aadhaar is written, or sixteen as on a card.
fn is_identity_number(line: &str) -> bool {
    let mut digits = 0;
    let mut longest = 0;
    let mut last = ' ';
    for letter in line.chars().chain(['\n']) {
        match letter {
            '0'..='9' => digits += 1,
            ' ' | '-' if last.is_ascii_digit() && digits % 4 == 0 && digits > 0 => {}
            _ => {
                longest = longest.max(if matches!(digits, 12 | 16) { digits } else { 0 });
                digits = 0;
            }
        }
        last = letter;
    }
    longest > 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_found_and_not_repeated() {
        for line in [
            "OpenAI: sk-proj-abcdefghijklmnopqrst",
            "- **API key:** 9f8e7d6c5b4a",
            "password = hunter22",
            "Authorization: Bearer abcdefghijklmnop1234",
            "db: postgres://munshi:geheim@db.example/munshi",
            "aws AKIAABCDEFGHIJKLMNOP",
            "Aadhaar 1234 5678 9012",
            "card 4111-1111-1111-1111",
            "token eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0",
        ] {
            let mut seen = Vec::new();
            let safe = removed(&format!("before\n{line}\nafter"), |at, kind| seen.push((at, kind)));
            assert_eq!(safe, "before\n\nafter", "{line}");
            assert_eq!(seen.len(), 1, "{line}");
            assert_eq!(seen[0].0, 2);
        }
        let key = "-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabcd\n-----END RSA PRIVATE KEY-----\nhello";
        assert_eq!(removed(key, |_, _| {}), "\n\n\n\nhello");
    }

    #[test]
    fn honest_lines_stay() {
        for line in [
            "Never ask for a password.",
            "password: ask the owner for it",
            "api_key: $OPENAI_API_KEY",
            "token: vault:telegram",
            "Call +91 98123 45678 after 10",
            "secret: {{secret}}",
            "The secret of a good chai: patience.",
            "see https://docs.example/a:b and mail a@b.example",
            "ask-me-anything-about-the-shop-today",
        ] {
            assert_eq!(removed(line, |at, kind| panic!("{at} {kind}: {line}")), line);
        }
    }
}
