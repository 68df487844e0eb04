//! Which of a list somebody means: "2", "the second one", दूसरा वाला, rendavadhu.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use munshi_types::word_list::read_entries;

use crate::fold;
use crate::number::Number;
use crate::numbers::digits;
use crate::ordinal::ENDINGS;
use crate::token::digit_value;
use crate::understand::{UnderstandingContext, understand};

/// A place in a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ListPosition {
    /// From 1.
    Nth(usize),
    Last,
}

impl ListPosition {
    /// Where that is in a list of so many, from 0.
    pub fn index(self, count: usize) -> Option<usize> {
        match self {
            Self::Nth(number) => number.checked_sub(1).filter(|at| *at < count),
            Self::Last => count.checked_sub(1),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sense {
    /// A place also among other words.
    Plain(ListPosition),
    /// A place alone, or before a mark: `first` and `last` mean much else.
    Shy(ListPosition),
    Mark,
    Beside,
}

/// A longer message only picks something besides.
const MOST_WORDS: usize = 8;
/// A longer text is read no further.
const MOST_READ: usize = 200;
/// Nobody picks from a list that is longer.
const MOST: u64 = 99;

const PLACES: &str = include_str!("../lexicon/places.txt");

static LEXICON: LazyLock<HashMap<String, Sense>> = LazyLock::new(|| parse_lexicon(PLACES));

static SPELT_ENDINGS: LazyLock<HashSet<String>> =
    LazyLock::new(|| ENDINGS.iter().map(|ending| fold::normalize_spelling(ending)).collect());

/// The kinds of words that say there is one only.
const ONLY: [&str; 3] = ["only", "one", "only-one"];

static ONLY_ONE: LazyLock<[HashSet<String>; 3]> = LazyLock::new(|| {
    ONLY.map(|kind| {
        let own = read_entries(PLACES, ": ").filter(|(of, _)| *of == kind);
        own.flat_map(|(_, words)| words.split_whitespace()).map(key).collect()
    })
});

/// One table for all languages; what is a place in one of them is not beside the matter in another.
fn parse_lexicon(text: &str) -> HashMap<String, Sense> {
    let mut lexicon: HashMap<String, Sense> = HashMap::new();
    for (kind, words) in read_entries(text, ": ") {
        if ONLY.contains(&kind) {
            continue;
        }
        let is_plain = kind.ends_with('!');
        let place = match kind.trim_end_matches('!') {
            "last" => Some(ListPosition::Last),
            number => number.parse().ok().map(ListPosition::Nth),
        };
        let sense = match (place, is_plain, kind) {
            (Some(place), true, _) => Sense::Plain(place),
            (Some(place), false, _) => Sense::Shy(place),
            (None, _, "mark") => Sense::Mark,
            (None, _, _) => Sense::Beside,
        };
        for word in words.split_whitespace() {
            lexicon.entry(key(word)).or_insert(sense);
        }
    }
    lexicon
}

/// A word as the table has it. Digits fold away, so a word that has some keeps its spelling.
fn key(word: &str) -> String {
    let has_digit = word.chars().any(|letter| digit_value(letter).is_some());
    if has_digit { fold::normalize_spelling(word) } else { fold::key(word) }
}

/// What a message picks, when that is all it says. A number may be said as a word too.
pub fn parse_choice(message: &str) -> Option<ListPosition> {
    let words: Vec<&str> = words(message).collect();
    if words.is_empty() || words.len() > MOST_WORDS || has_amount_sign(message) {
        return None;
    }
    let mut places: Vec<ListPosition> = Vec::new();
    let mut left: Vec<&str> = Vec::new();
    for word in &words {
        match sense(word) {
            Some(Sense::Plain(place) | Sense::Shy(place)) => places.push(place),
            Some(Sense::Mark | Sense::Beside) => {}
            None => left.push(word),
        }
    }
    match (places.as_slice(), left.as_slice()) {
        ([place], []) => Some(*place),
        // `one` alone, and words such as `ek` that a table of another language has beside.
        ([], []) => number(&words.join(" ")),
        ([], left) => number(&left.join(" ")),
        _ => None,
    }
}

/// Whether a message says that there is one only: "I think I only have 1", sirf ek hi hai. As a number among others, one
/// is too often just `a`.
pub fn says_only_one(message: &str) -> bool {
    let words: Vec<String> = words(message).take(MOST_READ).map(key).collect();
    let [only, one, both] = &*ONLY_ONE;
    let has = |set: &HashSet<String>| words.iter().any(|word| set.contains(word));
    has(both) || (has(only) && has(one))
}

/// Whether a word says nothing more about which one is meant: `the`, `wala`, `please`.
pub fn is_filler_word(word: &str) -> bool {
    matches!(sense(word), Some(Sense::Mark | Sense::Beside))
}

/// The places a message speaks of among its other words: "call the second one".
pub fn find_mentioned(message: &str) -> Vec<ListPosition> {
    let words: Vec<&str> = words(message).take(MOST_READ).collect();
    let mut places: Vec<ListPosition> = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let is_marked = words.get(at + 1).is_some_and(|next| sense(next) == Some(Sense::Mark));
        let place = match sense(word) {
            Some(Sense::Plain(place)) => Some(place),
            Some(Sense::Shy(place)) if is_marked => Some(place),
            _ => None,
        };
        places.extend(place.filter(|place| !places.contains(place)));
    }
    places
}

/// Signs of money, parts and sums, and a point within digits: 1.5 and ₹2 say how much, not which.
fn has_amount_sign(message: &str) -> bool {
    let mut before = None;
    let mut letters = message.chars().peekable();
    while let Some(letter) = letters.next() {
        let within = |next: Option<&char>| next.is_some_and(|next| digit_value(*next).is_some());
        let parts =
            matches!(letter, '.' | ',' | ':' | '-') && before.is_some_and(|c| digit_value(c).is_some());
        if matches!(letter, '₹' | '$' | '€' | '£' | '%' | '/' | '+' | '*' | '=' | '@')
            || (parts && within(letters.peek()))
        {
            return true;
        }
        before = Some(letter);
    }
    false
}

fn sense(word: &str) -> Option<Sense> {
    parse_ordinal_digits(word).map(Sense::Plain).or_else(|| LEXICON.get(&key(word)).copied())
}

/// Digits with what makes an ordinal of them: 2nd, 2रा.
fn parse_ordinal_digits(word: &str) -> Option<ListPosition> {
    let end = word.char_indices().find(|(_, letter)| digit_value(*letter).is_none()).map(|(at, _)| at)?;
    let (number, ending) = word.split_at(end);
    let fits = !number.is_empty() && SPELT_ENDINGS.contains(&fold::normalize_spelling(ending));
    fits.then(|| to_position(Number::from_decimal(&digits::to_ascii(number))?)).flatten()
}

fn to_position(number: Number) -> Option<ListPosition> {
    let whole = number.as_whole().filter(|whole| (1..=MOST).contains(whole))?;
    usize::try_from(whole).ok().map(ListPosition::Nth)
}

/// The number that a text is, and nothing else.
fn number(text: &str) -> Option<ListPosition> {
    if text.chars().all(|letter| digit_value(letter).is_some()) {
        return to_position(Number::from_decimal(&digits::to_ascii(text))?);
    }
    let found = understand(text, &UnderstandingContext::default()).numbers;
    let [one] = found.as_slice() else { return None };
    (one.text.trim() == text.trim() && one.unit.is_none() && !one.range)
        .then(|| to_position(one.value))
        .flatten()
}

fn words(message: &str) -> impl Iterator<Item = &str> {
    let inside = |c: char| c.is_alphanumeric() || c == '\'' || c == '’' || is_indic_sign(c);
    message.split(move |c: char| !inside(c)).filter(|word| !word.is_empty())
}

/// Vowel signs, nasal signs and joiners of the Indian scripts, not their full stops.
fn is_indic_sign(c: char) -> bool {
    matches!(c, '\u{0900}'..='\u{0DFF}' | '\u{200c}' | '\u{200d}') && !matches!(c, '\u{0964}' | '\u{0965}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_place_alone_in_every_language_and_script() {
        for (texts, number) in [
            (
                &[
                    "1",
                    "1.",
                    "#1",
                    "number 1",
                    "१",
                    "the first one",
                    "one",
                    "pehla",
                    "पहला वाला",
                    "প্রথমটা",
                    "mudhalavadhu",
                ][..],
                1,
            ),
            (
                &[
                    "2",
                    "2)",
                    "no. 2",
                    "option 2",
                    "2nd",
                    "2nd one please",
                    "the second one",
                    "second",
                    "दूसरा वाला",
                    "दूसरे वाले को",
                    "doosra wala",
                    "dusra",
                    "दो नंबर",
                    "दुसरा",
                    "२",
                    "২",
                    "২ নম্বর",
                    "দ্বিতীয়টা",
                    "બીજું",
                    "ਦੂਜਾ",
                    "ଦ୍ୱିତୀୟଟି",
                    "இரண்டாவது",
                    "rendavathu",
                    "రెండవది",
                    "rendodi",
                    "ಎರಡನೆಯದು",
                    "eradanedu",
                    "രണ്ടാമത്തേത്",
                    "randamathe",
                    "two",
                    "number two",
                    "दो",
                ],
                2,
            ),
            (&["3", "third", "तीसरा", "teesra wala", "மூன்றாவது", "మూడోది", "the third one, please"], 3),
            (&["10", "10th", "tenth"], 10),
        ] {
            for text in texts {
                assert_eq!(parse_choice(text), Some(ListPosition::Nth(number)), "{text}");
            }
        }
        for text in ["last", "the last one", "आखिरी वाला", "aakhri", "শেষেরটা", "கடைசி", "చివరిది", "ಕೊನೆಯದು"]
        {
            assert_eq!(parse_choice(text), Some(ListPosition::Last), "{text}");
        }
    }

    #[test]
    fn what_says_more_or_nothing_picks_nothing() {
        for text in [
            "",
            "?",
            "no",
            "the one",
            "first and second",
            "1 or 2",
            "second last",
            "2000",
            "0",
            "₹2",
            "2 kg",
            "raju",
            "2 raju",
            "1.5",
            "2/3",
            "10:30",
            "2-3",
            "send 2 bags of rice",
            "wala",
        ] {
            assert_eq!(parse_choice(text), None, "{text}");
        }
    }

    #[test]
    fn one_only_in_every_language_and_script() {
        for text in [
            "I think I only have 1",
            "just one",
            "sirf ek hi hai",
            "मेरे पास केवल एक है",
            "শুধু একটা আছে",
            "ફક્ત એક છે",
            "माझ्याकडे एकच आहे",
            "ਸਿਰਫ਼ ਇੱਕ ਹੈ",
            "କେବଳ ଗୋଟିଏ ଅଛି",
            "ஒன்று மட்டும் தான்",
            "okkate undi",
            "ఒకటి మాత్రమే ఉంది",
            "ಒಂದೇ ಇದೆ",
            "ഒന്ന് മാത്രം",
        ] {
            assert!(says_only_one(text), "{text}");
        }
        for text in ["I have one", "only two", "ek baat batao", "just a moment", "", "sirf do hai"] {
            assert!(!says_only_one(text), "{text}");
        }
    }

    #[test]
    fn a_place_among_other_words() {
        for (text, place) in [
            ("call the second one tomorrow", ListPosition::Nth(2)),
            ("दूसरे वाले को फ़ोन करो", ListPosition::Nth(2)),
            ("third ko bhej do", ListPosition::Nth(3)),
            ("இரண்டாவது ஆளுக்கு அனுப்பு", ListPosition::Nth(2)),
            ("delete the last one", ListPosition::Last),
            ("what does the 3rd say", ListPosition::Nth(3)),
        ] {
            assert_eq!(find_mentioned(text), [place], "{text}");
        }
        for text in ["wait a second", "first tell me the price", "last month", "pehle bata do", "who is next"]
        {
            assert!(find_mentioned(text).is_empty(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_text_breaks_it(text: String) {
            let _ = (parse_choice(&text), find_mentioned(&text));
        }

        #[test]
        fn a_number_picks_itself(number in 1usize..100) {
            prop_assert_eq!(parse_choice(&format!("{number}.")), Some(ListPosition::Nth(number)));
            prop_assert_eq!(ListPosition::Nth(number).index(99), Some(number - 1));
        }
    }
}
