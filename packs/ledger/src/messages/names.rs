//! Whether two names of the other side of a payment may be one person's.

use munshi_lang::fold;
use munshi_lang::names::name_key;

/// How two names agree. Banks cut names short, and a payment address says little of who has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NameAgreement {
    Same,
    /// One of them is an address or nobody, or they share a word.
    Near,
    Others,
}

/// A shorter word is a title or the first letter of a name, and a shorter beginning is shared by many.
const LETTERS: usize = 3;
const BEGINNING: usize = 4;

pub(crate) fn compare_names(one: Option<&str>, other: Option<&str>) -> NameAgreement {
    let (Some(one), Some(other)) = (one, other) else { return NameAgreement::Near };
    if munshi_sms::normalize_identifier(one) == munshi_sms::normalize_identifier(other) {
        return NameAgreement::Same;
    }
    match (is_address(one), is_address(other)) {
        (true, true) => NameAgreement::Others,
        (false, false) if !share_a_word(one, other) => NameAgreement::Others,
        _ => NameAgreement::Near,
    }
}

fn is_address(name: &str) -> bool {
    name.contains('@')
}

/// In whatever script they are written. One may be cut off in the middle of a word.
fn share_a_word(one: &str, other: &str) -> bool {
    let words = |name: &str| -> Vec<(String, String)> {
        let long = name.split_whitespace().filter(|word| word.chars().count() >= LETTERS);
        long.map(|word| (name_key(word), fold::key(word))).filter(|(bones, _)| !bones.is_empty()).collect()
    };
    let begins = |one: &str, other: &str| one.len() >= BEGINNING && other.starts_with(one);
    let (one, other) = (words(one), words(other));
    one.iter().any(|(bones, key)| {
        other.iter().any(|(known, other)| bones == known || begins(key, other) || begins(other, key))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_cut_short_or_in_another_script_may_be_the_same() {
        for (one, other) in [
            ("RAMESH KUMAR", "Ramesh"),
            ("Mr RAMESH K", "ramesh kumar"),
            ("रमेश कुमार", "RAMESH"),
            ("RAMESH KUMAR", "ramesh.k@ybl"),
            ("q77@ybl", "Sita"),
        ] {
            assert_eq!(compare_names(Some(one), Some(other)), NameAgreement::Near, "{one} {other}");
        }
        assert_eq!(compare_names(Some("RAMESH KUMAR"), Some("Ramesh  Kumar")), NameAgreement::Same);
        assert_eq!(compare_names(None, Some("Ramesh")), NameAgreement::Near);
        for (one, other) in [("Ramesh", "Sita"), ("ramesh@ybl", "sita@ybl"), ("Mr Rajan", "Mr Gupta")] {
            assert_eq!(compare_names(Some(one), Some(other)), NameAgreement::Others, "{one} {other}");
        }
    }
}
