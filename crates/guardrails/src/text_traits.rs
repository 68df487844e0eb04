//! What kinds of character a text has at all, so that a search for what cannot be there is left out.

/// Gathered while a text is cut into tokens.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TextTraits {
    /// Characters that are not seen.
    pub unseen: bool,
    /// Digits of any script.
    pub digits: bool,
    /// The ASCII signs, a bit each.
    signs: u128,
}

impl TextTraits {
    pub(crate) fn add_sign(&mut self, sign: char) {
        let sign = if matches!(sign, '“' | '”') { '"' } else { sign };
        if sign.is_ascii() {
            self.signs |= 1 << sign as u32;
        }
    }

    /// Whether any of some ASCII signs stands in the text.
    pub(crate) fn has_sign(self, signs: &str) -> bool {
        let wanted = signs.bytes().filter(u8::is_ascii).fold(0, |all: u128, sign| all | 1 << sign);
        self.signs & wanted != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_that_stood_in_the_text_are_known() {
        let mut traits = TextTraits::default();
        "{“".chars().for_each(|sign| traits.add_sign(sign));
        assert!(traits.has_sign("x{") && traits.has_sign("\"") && !traits.has_sign("}[]"));
    }
}
