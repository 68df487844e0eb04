//! Numbers, as WhatsApp and as everybody else writes them.

use munshi_types::tier::{RoutingKey, RoutingKeyKind};

/// With `+` and nothing between the digits; none for what is no number.
pub(crate) fn read_number(text: &str) -> Option<String> {
    let digits = text.trim().trim_start_matches('+');
    let key = RoutingKey::new(RoutingKeyKind::Number, &format!("+{digits}"));
    key.ok().map(|key| key.text().to_owned())
}

/// What it is to WhatsApp: digits alone. None for a person who is known by something else.
pub(crate) fn to_digits(address: &str) -> Option<String> {
    let number = address.strip_prefix('+').and_then(read_number)?;
    Some(number.trim_start_matches('+').to_owned())
}

/// A provider's words without any number that may be somebody's.
pub(crate) fn mask_numbers(text: &str) -> String {
    const LONGEST_SHOWN: usize = 6;
    let mut out = String::with_capacity(text.len());
    let mut digits = String::new();
    // One sign more than there is, so that digits at the end are looked at.
    for c in text.chars().map(Some).chain([None]) {
        if let Some(digit) = c.filter(char::is_ascii_digit) {
            digits.push(digit);
            continue;
        }
        out.push_str(if digits.len() > LONGEST_SHOWN { "…" } else { &digits });
        digits.clear();
        out.extend(c);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_has_one_spelling() {
        for text in ["919812345678", "+919812345678", "+91 98123-45678"] {
            assert_eq!(read_number(text).as_deref(), Some("+919812345678"), "{text}");
        }
        for text in ["", "IN.13491208655302741918", "98", "+", "919812345678901234"] {
            assert_eq!(read_number(text), None, "{text}");
        }
        assert_eq!(to_digits("+919812345678").as_deref(), Some("919812345678"));
        assert_eq!(to_digits("IN.13491208655302741918"), None);
    }

    #[test]
    fn nobodys_number_is_told() {
        assert_eq!(mask_numbers("(#131026) to 919812345678"), "(#131026) to …");
        assert_eq!(mask_numbers("919812345678"), "…");
        assert_eq!(mask_numbers("code 100, field 3"), "code 100, field 3");
    }
}
