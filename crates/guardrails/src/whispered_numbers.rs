//! Numbers that stand in whispers alone, such as a PIN: they come back neither written, nor parted, nor digit by digit in words.

use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;
use std::sync::LazyLock;

use super::context::merge_ranges;
use super::letters::{Glyph, to_glyph};
use super::rule::ReplyStretch;

/// A shorter number says little, and stands everywhere.
const FEWEST: usize = 4;
/// Parted by spaces or hyphens, such as a telephone number: shorter ones are hours and days.
const FEWEST_PARTED: usize = 6;
/// So many bytes of what was said before belong to a number that is parted over sentences.
const EARLIER: usize = 200;

/// From nought to nine, in each language by itself: a word of one is another word of the next.
const DIGIT_WORDS: [&str; 12] = [
    "zero/oh/nil one two three four five six seven eight nine",
    "शून्य एक दो तीन चार पांच छह/छः/छे सात आठ नौ",
    "shunya/zero ek do teen/tin char/chaar paanch/panch chhah/chhe/che/chah saat/sat aath/ath nau",
    "শূন্য এক দুই তিন চার পাঁচ/পাচ ছয় সাত আট নয়",
    "શૂન્ય એક બે ત્રણ ચાર પાંચ છ સાત આઠ નવ",
    "ಸೊನ್ನೆ ಒಂದು ಎರಡು ಮೂರು ನಾಲ್ಕು ಐದು ಆರು ಏಳು ಎಂಟು ಒಂಬತ್ತು",
    "പൂജ്യം ഒന്ന് രണ്ട് മൂന്ന് നാല് അഞ്ച് ആറ് ഏഴ് എട്ട് ഒൻപത്/ഒമ്പത്",
    "शून्य एक दोन तीन चार पाच सहा सात आठ नऊ",
    "ଶୂନ ଏକ ଦୁଇ ତିନି ଚାରି ପାଞ୍ଚ ଛଅ ସାତ ଆଠ ନଅ",
    "ਸਿਫ਼ਰ/ਜ਼ੀਰੋ ਇੱਕ/ਇਕ ਦੋ ਤਿੰਨ ਚਾਰ ਪੰਜ ਛੇ ਸੱਤ ਅੱਠ ਨੌਂ",
    "பூஜ்ஜியம்/பூஜ்யம் ஒன்று இரண்டு மூன்று நான்கு ஐந்து ஆறு ஏழு எட்டு ஒன்பது",
    "సున్నా ఒకటి రెండు మూడు నాలుగు ఐదు ఆరు ఏడు ఎనిమిది తొమ్మిది",
];

/// The words of a language, with the digit of each.
static LANGUAGES: LazyLock<Vec<Vec<(String, u8)>>> = LazyLock::new(|| {
    let read = |words: &&str| {
        let digits = words.split(' ').zip(0u8..);
        let each = digits.flat_map(|(spellings, digit)| spellings.split('/').map(move |one| (one, digit)));
        each.filter_map(|(word, digit)| match split_pieces(word).pop()?.what {
            PieceContent::Word(word) => Some((word, digit)),
            PieceContent::Digits(_) => None,
        })
        .collect()
    };
    DIGIT_WORDS.iter().map(read).collect()
});

/// The numbers to be held back. Printed, it says how many.
#[derive(Clone, Default, PartialEq, Eq)]
pub(crate) struct WhisperedNumbers(BTreeSet<Vec<u8>>);

impl fmt::Debug for WhisperedNumbers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} numbers", self.0.len())
    }
}

/// A group of digits, or a word, with what parts it from the piece before.
struct TextPiece {
    what: PieceContent,
    range: Range<usize>,
    gap: PieceGap,
}

enum PieceContent {
    Digits(Vec<u8>),
    Word(String),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum PieceGap {
    /// Nothing, as between the letters and the digits of one code.
    None,
    /// A comma, as in an amount.
    Comma,
    /// A space or a hyphen, as in a telephone number.
    Light,
    Wide,
}

impl WhisperedNumbers {
    pub(crate) fn add(&mut self, text: &str) {
        self.0.append(&mut collect_numbers(text));
    }

    /// Without those that stand in a text which is no secret.
    pub(crate) fn remove_known(&mut self, text: &str) {
        if !self.0.is_empty() {
            let known = collect_numbers(text);
            self.0.retain(|number| !known.contains(number));
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Everywhere that one of them ends in a text, whatever lies between its digits; a number of `open` is no secret.
    pub(crate) fn find(
        &self,
        text: &str,
        earlier: &[ReplyStretch],
        open: impl Fn(&[u8]) -> bool,
    ) -> Vec<Range<usize>> {
        let mut whole = take_last(earlier);
        let kept = whole.len();
        whole.push_str(text);
        let pieces = split_pieces(&whole);
        let held: Vec<&Vec<u8>> = self.0.iter().filter(|number| !open(number)).collect();
        let no_words = Vec::new();
        let found = std::iter::once(&no_words).chain(LANGUAGES.iter()).flat_map(|words| {
            let digits: Vec<_> = pieces.iter().filter_map(|piece| read_digits(piece, words)).collect();
            find_among(&digits, &held, kept)
        });
        merge_ranges(found.map(|range| range.start.max(kept) - kept..range.end - kept).collect())
    }
}

fn read_digits(piece: &TextPiece, words: &[(String, u8)]) -> Option<(Vec<u8>, Range<usize>)> {
    let digits = match &piece.what {
        PieceContent::Digits(digits) => digits.clone(),
        PieceContent::Word(word) => {
            vec![words.iter().find(|(known, _)| known == word).map(|(_, digit)| *digit)?]
        }
    };
    Some((digits, piece.range.clone()))
}

/// Those that are numbers of the groups, or groups in a row, and end behind what was said before.
fn find_among(groups: &[(Vec<u8>, Range<usize>)], held: &[&Vec<u8>], kept: usize) -> Vec<Range<usize>> {
    let longest = held.iter().map(|number| number.len()).max().unwrap_or_default();
    let mut found = Vec::new();
    for (at, (first, range)) in groups.iter().enumerate() {
        let is_inside = |number: &&Vec<u8>| first.windows(number.len()).any(|part| part == number.as_slice());
        if range.end > kept && held.iter().any(is_inside) {
            found.push(range.clone());
        }
        let mut together = Vec::new();
        for (digits, end) in groups.iter().skip(at) {
            together.extend_from_slice(digits);
            if together.len() > longest {
                break;
            }
            if end.end > kept && held.contains(&&together) {
                found.push(range.start..end.end);
            }
        }
    }
    found
}

/// The end of what was said before, in whole letters.
fn take_last(earlier: &[ReplyStretch]) -> String {
    let mut last = String::new();
    for part in earlier.iter().rev() {
        last.insert_str(0, &part.text);
        if last.len() >= EARLIER {
            break;
        }
    }
    let from = (last.len().saturating_sub(EARLIER)..=last.len()).find(|at| last.is_char_boundary(*at));
    last.split_off(from.unwrap_or_default())
}

/// The numbers of a text that are long enough: as they stand, and as one where they are parted lightly.
fn collect_numbers(text: &str) -> BTreeSet<Vec<u8>> {
    let mut found = BTreeSet::new();
    let mut add = |number: &[u8], fewest: usize| {
        if number.len() >= fewest {
            found.insert(number.to_vec());
        }
    };
    let (mut amount, mut parted) = (Vec::new(), Vec::new());
    for piece in split_pieces(text) {
        let PieceContent::Digits(digits) = piece.what else {
            (amount, parted) = (Vec::new(), Vec::new());
            continue;
        };
        if piece.gap != PieceGap::Comma {
            amount.clear();
        }
        if piece.gap == PieceGap::Wide {
            parted.clear();
        }
        amount.extend_from_slice(&digits);
        parted.extend_from_slice(&digits);
        add(&digits, FEWEST);
        add(&amount, FEWEST);
        add(&parted, FEWEST_PARTED);
    }
    found
}

fn split_pieces(text: &str) -> Vec<TextPiece> {
    let mut pieces: Vec<TextPiece> = Vec::new();
    let (mut gap, mut is_open) = (PieceGap::None, false);
    for (at, letter) in text.char_indices() {
        let end = at + letter.len_utf8();
        let glyph = to_glyph(letter);
        match glyph {
            Glyph::Nothing => continue,
            Glyph::Space | Glyph::Line | Glyph::Sign(_) => {
                gap = widen(gap, glyph);
                is_open = false;
                continue;
            }
            Glyph::Digit(_) | Glyph::Letter(_) => {}
        }
        let last = pieces.last_mut().filter(|_| is_open);
        match (glyph, last) {
            (Glyph::Digit(digit), Some(TextPiece { what: PieceContent::Digits(digits), range, .. })) => {
                digits.push(read_digit(digit));
                range.end = end;
            }
            (Glyph::Letter(letter), Some(TextPiece { what: PieceContent::Word(word), range, .. })) => {
                word.push(letter);
                range.end = end;
            }
            (Glyph::Digit(digit), _) => {
                let what = PieceContent::Digits(vec![read_digit(digit)]);
                pieces.push(TextPiece { what, range: at..end, gap });
            }
            (Glyph::Letter(letter), _) => {
                let what = PieceContent::Word(letter.to_string());
                pieces.push(TextPiece { what, range: at..end, gap });
            }
            _ => {}
        }
        (gap, is_open) = (PieceGap::None, true);
    }
    pieces
}

fn widen(gap: PieceGap, sign: Glyph) -> PieceGap {
    match (gap, sign) {
        (PieceGap::None, Glyph::Sign(',')) => PieceGap::Comma,
        (PieceGap::None, Glyph::Space | Glyph::Sign('-')) => PieceGap::Light,
        _ => PieceGap::Wide,
    }
}

fn read_digit(digit: char) -> u8 {
    digit.to_digit(10).and_then(|digit| u8::try_from(digit).ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_held(whisper: &str, reply: &str) -> bool {
        let mut numbers = WhisperedNumbers::default();
        numbers.add(whisper);
        !numbers.find(reply, &[], |_| false).is_empty()
    }

    #[test]
    fn a_number_comes_back_in_no_shape() {
        for reply in [
            "The PIN is 4711.",
            "4 7 1 1",
            "4-7-1-1",
            "47 and then 11",
            "४७११",
            "It is four, seven, one, one.",
            "chaar saat ek ek",
            "चार सात एक एक",
            "ఏమి? నాలుగు ఏడు ఒకటి ఒకటి",
            "Take AB4711X.",
            "four 7 one 1",
        ] {
            assert!(is_held("PIN 4711", reply), "{reply}");
        }
        assert!(is_held("She owes 4,500.", "You owe ₹4500."));
        assert!(is_held("Her number is 98123 45678.", "Call 9812345678."));
    }

    #[test]
    fn other_numbers_and_short_ones_are_said() {
        for reply in ["We open at 10, and close at 21.", "It is 471 steps.", "Seven of eleven.", "1147"] {
            assert!(!is_held("PIN 4711. Two of 300. Open 10-18.", reply), "{reply}");
        }
        assert!(!is_held("Open 10-18.", "We open at 10 and close at 18."));
    }

    #[test]
    fn what_is_known_already_is_no_secret() {
        let mut numbers = WhisperedNumbers::default();
        numbers.add("Order 4711 is late, and the code is 2209.");
        numbers.remove_known("where is my order 4711?");
        assert!(numbers.find("Order 4711 comes today.", &[], |_| false).is_empty());
        assert_eq!(numbers.find("It is 2209. 2209!", &[], |_| false), [6..10, 12..16]);
        assert!(numbers.find("It is 2209.", &[], |number| number == [2, 2, 0, 9]).is_empty());
    }
}
