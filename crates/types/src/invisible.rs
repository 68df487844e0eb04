//! Letters that are there and can't be seen.

/// Control characters, marks that take no room or turn the direction of writing, and blanks that look like nothing. The
/// two joiners are not among them: Indian words are written with them.
pub fn is_invisible(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}')
        || matches!(letter, '\u{180b}'..='\u{180f}' | '\u{200b}' | '\u{200e}'..='\u{200f}' | '\u{2028}'..='\u{202e}')
        || matches!(letter, '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}')
        || matches!(letter, '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_seen_and_what_hides_is_not() {
        assert!("Raju राजू ரா క్\u{200d}ష -_.“”₹".chars().all(|letter| !is_invisible(letter)));
        for letter in
            ['\0', '\n', '\u{1b}', '\u{200b}', '\u{202e}', '\u{2066}', '\u{feff}', '\u{e0041}', '\u{3164}']
        {
            assert!(is_invisible(letter), "{letter:?}");
        }
    }
}
