//! Finds a file's type while it comes in, and refuses it as soon as it can be nothing that is taken.

use crate::media_type::{MediaType, describe_refused, recognise};
use crate::refusal::UploadRefusal;

/// So much of a file's beginning is looked at. An Office document names its folders within.
const HEAD: usize = 8 * 1024;

/// Fed with a file in pieces.
#[derive(Debug, Default)]
pub(crate) struct TypeDetector {
    head: Vec<u8>,
    text: TextCheck,
    found: Option<MediaType>,
}

impl TypeDetector {
    pub(crate) fn push(&mut self, piece: &[u8]) -> Result<(), UploadRefusal> {
        if self.found.is_none() {
            let room = HEAD - self.head.len();
            self.head.extend_from_slice(&piece[..piece.len().min(room)]);
            self.text.push(piece);
            // An archive's type shows only with its third entry.
            let is_decided = self.head.len() == HEAD || !self.head.starts_with(b"PK");
            self.found = recognise(&self.head).filter(|_| is_decided);
        }
        match self.found {
            None if self.head.len() == HEAD && !self.text.is_text => Err(self.refuse()),
            _ => Ok(()),
        }
    }

    /// The type of all that was pushed.
    pub(crate) fn finish(&self) -> Result<MediaType, UploadRefusal> {
        if self.head.is_empty() {
            return Err(UploadRefusal::Empty);
        }
        let found = self.found.or_else(|| recognise(&self.head));
        found.or_else(|| self.text.is_whole_text().then_some(MediaType::Text)).ok_or_else(|| self.refuse())
    }

    fn refuse(&self) -> UploadRefusal {
        describe_refused(&self.head)
            .map_or(UploadRefusal::UnknownType, |found| UploadRefusal::NotTaken { found })
    }
}

/// Whether what comes in pieces is UTF-8 without control characters.
#[derive(Debug)]
struct TextCheck {
    is_text: bool,
    /// The beginning of a character whose end has not come.
    cut: Vec<u8>,
}

impl Default for TextCheck {
    fn default() -> Self {
        Self { is_text: true, cut: Vec::new() }
    }
}

impl TextCheck {
    fn push(&mut self, piece: &[u8]) {
        if !self.is_text {
            return;
        }
        let mut rest = piece;
        // At most three bytes are missing to a character.
        while !self.cut.is_empty() && !rest.is_empty() {
            let (next, after) = rest.split_at(1);
            self.cut.extend_from_slice(next);
            rest = after;
            let cut = std::mem::take(&mut self.cut);
            self.check(&cut);
            if !self.is_text {
                return;
            }
        }
        if self.cut.is_empty() {
            self.check(rest);
        }
    }

    fn check(&mut self, bytes: &[u8]) {
        let (valid, cut) = match std::str::from_utf8(bytes) {
            Ok(text) => (text, &[][..]),
            Err(error) => {
                let (valid, rest) = bytes.split_at(error.valid_up_to());
                let is_cut = error.error_len().is_none();
                match std::str::from_utf8(valid) {
                    Ok(text) if is_cut => (text, rest),
                    _ => return self.is_text = false,
                }
            }
        };
        self.is_text = !valid.chars().any(is_refused);
        self.cut.clear();
        self.cut.extend_from_slice(cut);
    }

    fn is_whole_text(&self) -> bool {
        self.is_text && self.cut.is_empty()
    }
}

/// Controls, except those that lay a text out.
fn is_refused(letter: char) -> bool {
    letter.is_control() && !matches!(letter, '\n' | '\r' | '\t' | '\u{c}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn detect(pieces: &[&[u8]]) -> Result<MediaType, UploadRefusal> {
        let mut detector = TypeDetector::default();
        pieces.iter().try_for_each(|piece| detector.push(piece))?;
        detector.finish()
    }

    #[test]
    fn a_text_is_utf8_without_controls_and_nothing_else() {
        assert_eq!(detect(&["नमस्ते\r\n\tRamesh,500\n".as_bytes()]), Ok(MediaType::Text));
        assert_eq!(detect(&[b"<script>alert(1)</script>"]), Ok(MediaType::Text), "a page is a text here");
        assert_eq!(detect(&[b"MZ is how it begins"]), Ok(MediaType::Text));
        for bad in [&b"a\0b"[..], b"a\x1b[31mred", b"caf\xe9", b"\xe0\xa4", "a\u{85}b".as_bytes()] {
            assert_eq!(detect(&[bad]), Err(UploadRefusal::UnknownType), "{bad:?}");
        }
        assert_eq!(detect(&[]), Err(UploadRefusal::Empty));
        assert_eq!(detect(&[b"", b""]), Err(UploadRefusal::Empty));
    }

    #[test]
    fn what_is_nothing_is_refused_before_its_end() {
        let mut detector = TypeDetector::default();
        assert_eq!(detector.push(&[0; HEAD - 1]), Ok(()));
        assert_eq!(detector.push(&[0]), Err(UploadRefusal::UnknownType));
        let mut late = TypeDetector::default();
        late.push(&[b'a'; HEAD]).unwrap();
        assert_eq!(late.push(b"\0"), Err(UploadRefusal::UnknownType));
    }

    #[test]
    fn a_program_is_called_one() {
        let refused = |found| Err(UploadRefusal::NotTaken { found });
        assert_eq!(detect(&[b"MZ\x90\0\x03"]), refused("a Windows program"));
        assert_eq!(detect(&[b"\x7fELF\x02\x01\x01\0"]), refused("a program"));
        assert_eq!(detect(&[b"\x1f\x8b\x08\0"]), refused("an archive"));
    }

    proptest! {
        #[test]
        fn pieces_change_nothing(text in "\\PC{0,60}", tail in proptest::collection::vec(any::<u8>(), 0..4), cuts in proptest::collection::vec(1..5_usize, 1..40)) {
            let bytes = [text.as_bytes(), &tail].concat();
            let (mut pieces, mut rest) = (Vec::new(), &bytes[..]);
            for cut in cuts.iter().cycle() {
                if rest.is_empty() { break }
                let (piece, after) = rest.split_at((*cut).min(rest.len()));
                pieces.push(piece);
                rest = after;
            }
            prop_assert_eq!(detect(&pieces), detect(&[&bytes]));
        }
    }
}
