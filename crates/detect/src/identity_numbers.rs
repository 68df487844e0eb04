//! Whether digits are a number that stands for a person: their count, how they begin, and the sum they keep.
//!
//! One number in ten keeps the sum by chance. What speaks against it, such as a word before it or a currency sign, depends
//! on who asks and is decided there.

use munshi_lang::checksums::{is_luhn_valid, is_verhoeff_valid};

/// Twelve digits, none of the first two, that keep Verhoeff's sum.
pub fn is_aadhaar_number(digits: &[u8]) -> bool {
    digits.len() == 12 && matches!(digits.first(), Some(2..=9)) && is_verhoeff_valid(digits)
}

/// 13 to 19 digits of a network, not all alike, that keep Luhn's sum.
pub fn is_card_number(digits: &[u8]) -> bool {
    let network = matches!(digits.first(), Some(3..=6));
    let alike = digits.iter().all(|value| Some(value) == digits.first());
    (13..=19).contains(&digits.len()) && network && !alike && is_luhn_valid(digits)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digits(text: &str) -> Vec<u8> {
        text.bytes().map(|byte| byte - b'0').collect()
    }

    #[test]
    fn aadhaar_and_card_numbers_are_told_from_others() {
        assert!(is_aadhaar_number(&digits("234567890124")));
        for other in ["234567890125", "134567890124", "23456789012", "2345678901240", ""] {
            assert!(!is_aadhaar_number(&digits(other)), "{other}");
        }
        assert!(is_card_number(&digits("4111111111111111")) && is_card_number(&digits("378282246310005")));
        for other in ["4111111111111112", "0000000000000000", "1111111111111117", "411111111111", ""] {
            assert!(!is_card_number(&digits(other)), "{other}");
        }
    }
}
