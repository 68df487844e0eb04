//! Names and what is written onto them, where scripts write consonant and vowel as one.
//!
//! In ராஜனுக்கு the vowel of the ending hangs on the name's last consonant. A token has none, so the ending is written
//! as it stands alone (`XNM101உக்கு`), and hung on again when the name comes back.

/// The block of an Indic letter, and its place in it.
const fn block_offset(letter: char) -> Option<(u32, u32)> {
    let code = letter as u32;
    if code >= 0x900 && code < 0xD80 { Some((code & !0x7F, code & 0x7F)) } else { None }
}

/// The vowel letter that a vowel sign stands for.
pub(super) fn letter_of(sign: char) -> Option<char> {
    let (block, place) = block_offset(sign)?;
    matches!(place, 0x3E..=0x4C).then(|| char::from_u32(block + place - 0x38))?
}

/// The vowel letter that a consonant carries unwritten, in the script of a letter.
pub(super) fn inherent_of(letter: char) -> Option<char> {
    let (block, _) = block_offset(letter)?;
    char::from_u32(block + 0x05)
}

/// The consonant that a letter of Malayalam without a vowel is made of.
const fn consonant_of(chillu: char) -> Option<char> {
    match chillu {
        'ൺ' => Some('ണ'),
        'ൻ' => Some('ന'),
        'ർ' => Some('ര'),
        'ൽ' => Some('ല'),
        'ൾ' => Some('ള'),
        _ => None,
    }
}

/// Writes a name and takes the first letter of what follows it into it. Returns whether it was taken.
pub(super) fn push_joined(out: &mut String, name: &str, next: Option<char>) -> bool {
    out.push_str(name);
    let (Some(last), Some(next)) = (name.chars().last(), next) else { return false };
    if last == 'ൻ' && next == 'റ' {
        out.pop();
        out.push_str("ന്");
        return false;
    }
    let (Some((block, end)), Some((other, vowel))) = (block_offset(last), block_offset(next)) else {
        return false;
    };
    let open = matches!(end, 0x15..=0x39 | 0x4D | 0x58..=0x5F) || consonant_of(last).is_some();
    if block != other || !matches!(vowel, 0x05..=0x14) || !open {
        return false;
    }
    let closed = end == 0x4D;
    // A consonant that carries its vowel already takes no second one.
    if vowel == 0x05 && !closed && consonant_of(last).is_none() {
        return false;
    }
    if closed {
        out.pop();
    } else if let Some(consonant) = consonant_of(last) {
        out.pop();
        out.push(consonant);
    }
    if vowel > 0x05 {
        out.extend(char::from_u32(block + vowel + 0x38));
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endings_are_hung_on_again() {
        for (name, ending, whole) in [
            ("ராஜன்", "உக்கு", "ராஜனுக்கு"),
            ("রমেশ", "এর", "রমেশের"),
            ("ರಮೇಶ್", "ಅನಿಗೆ", "ರಮೇಶನಿಗೆ"),
            ("രാജൻ", "എ", "രാജനെ"),
            ("രാജൻ", "റെ", "രാജന്റെ"),
            ("রাজু", "র", "রাজুর"),
            ("राजू", "को", "राजूको"),
            ("Rajan", "உக்கு", "Rajanஉக்கு"),
            ("ராஜன்", " உம்", "ராஜன் உம்"),
        ] {
            let mut out = String::new();
            let next = ending.chars().next();
            let taken = push_joined(&mut out, name, next);
            out.extend(ending.chars().skip(usize::from(taken)));
            assert_eq!(out, whole);
        }
        assert_eq!(letter_of('ு'), Some('உ'));
        assert_eq!(letter_of('ক'), None);
        assert_eq!(inherent_of('ಶ'), Some('ಅ'));
    }
}
