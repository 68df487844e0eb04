//! A message cut into words, digits and signs, each with what the lexicon knows of it.

use std::cell::OnceCell;

use munshi_types::{Language, Script};

use crate::fold;
use crate::lexicon::{self, Languages, Meaning, Sense};
use crate::numbers;

/// Longer text is cut here: a message is read, a book is not.
pub const MAX_TOKENS: usize = 2_000;

/// Words longer than this are kept but not looked up.
const MAX_WORD: usize = 120;

#[derive(Clone, Debug)]
pub struct MessageToken<'t> {
    pub text: &'t str,
    /// Where it begins in the message, in bytes.
    pub start: usize,
    pub kind: MessageTokenKind,
    /// Nothing lies between it and the token before.
    pub glued: bool,
    /// Its fold; empty for digits and signs.
    pub key: String,
    pub senses: &'static [Sense],
    /// It is also an ordinary word or a name; in these languages even before a scale.
    clashes: Option<Languages>,
    /// Whether it names somebody, whatever number it sounds like.
    pub(crate) named: NameLikelihood,
    /// Made when a reader first asks, since eleven languages may.
    stem: OnceCell<String>,
    near: OnceCell<&'static [Sense]>,
}

/// Whether a word is a name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum NameLikelihood {
    #[default]
    No,
    Maybe,
    Surely,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageTokenKind {
    Word(Script),
    /// Letters of an alphabet the crate does not read.
    Foreign,
    /// Digits of any script, with the commas and points inside them.
    Digits,
    Sign,
}

impl MessageToken<'_> {
    pub fn end(&self) -> usize {
        self.start + self.text.len()
    }

    pub fn is_word(&self) -> bool {
        matches!(self.kind, MessageTokenKind::Word(_))
    }

    pub fn script(&self) -> Option<Script> {
        match self.kind {
            MessageTokenKind::Word(script) => Some(script),
            _ => None,
        }
    }

    /// Whether it has a meaning in any of the languages.
    pub fn means(&self, meaning: Meaning, languages: Languages) -> bool {
        self.senses.iter().any(|sense| sense.meaning == meaning && sense.languages.intersects(languages))
    }

    /// The first meaning in any of the languages that a reader wants.
    pub fn find<T>(&self, languages: Languages, want: impl Fn(Meaning) -> Option<T>) -> Option<T> {
        self.senses
            .iter()
            .filter(|sense| sense.languages.intersects(languages))
            .find_map(|sense| want(sense.meaning))
    }

    /// Whether it is also an ordinary word or a name.
    pub const fn clashes(&self) -> bool {
        self.clashes.is_some()
    }

    /// Whether it is likely no number even before a scale.
    pub(crate) fn is_everyday(&self, language: Language) -> bool {
        self.clashes.is_some_and(|languages| languages.has(language))
    }

    /// Gives an English number word the senses its fold has, when a day of the languages is among them.
    pub(crate) fn read_as_day(&mut self, languages: Languages) {
        let day = |sense: &Sense| is_day(sense) && sense.languages.intersects(languages);
        let senses = lexicon::senses(&self.key);
        if senses.iter().any(day) {
            self.senses = senses;
        }
    }

    /// Its [`fold::stem`].
    pub fn stem(&self) -> &str {
        self.stem.get_or_init(|| fold::stem(&self.key))
    }

    /// The number senses of words spelled nearly like it.
    pub(crate) fn near_senses(&self) -> &'static [Sense] {
        self.near.get_or_init(|| lexicon::near_numbers(&fold::skeleton(&self.key)))
    }
}

/// The value of a digit in any of the scripts, and of those that stand in for them: full-width, Arabic, Urdu.
pub fn digit_value(letter: char) -> Option<u8> {
    if letter.is_ascii_digit() {
        return Some(letter as u8 - b'0');
    }
    let code = letter as u32;
    for zero in [0xFF10, 0x660, 0x6F0] {
        if (zero..zero + 10).contains(&code) {
            return Some((code - zero) as u8);
        }
    }
    let place = code % 0x80;
    let indic = (0x900..0xD80).contains(&code) && (0x66..=0x6F).contains(&place);
    indic.then(|| (place - 0x66) as u8)
}

/// The comma or point that a separator inside digits stands for.
pub(crate) const fn normalize_separator(letter: char) -> Option<char> {
    match letter {
        ',' | '，' | '٬' | '﹐' | '\'' | '’' | '_' => Some(','),
        '.' | '．' | '٫' | '﹒' | '·' => Some('.'),
        _ => None,
    }
}

/// Characters that are not seen and separate nothing: joiners, soft hyphens, marks of direction.
pub const fn is_unseen(letter: char) -> bool {
    matches!(
        letter,
        '\u{AD}' | '\u{61C}' | '\u{180E}' | '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}'
            | '\u{2060}'..='\u{206F}' | '\u{FE00}'..='\u{FE0F}' | '\u{FEFF}'
    )
}

/// Spaces that may group the digits of one number or part two.
pub const fn is_gap(letter: char) -> bool {
    matches!(letter, ' ' | '\u{A0}' | '\u{2000}'..='\u{200A}' | '\u{202F}' | '\u{205F}' | '\u{3000}')
}

/// Marks that belong to the word they stand in.
const fn is_joiner(letter: char) -> bool {
    is_unseen(letter) || matches!(letter, '\u{300}'..='\u{36F}')
}

fn classify(letter: char) -> Option<MessageTokenKind> {
    if digit_value(letter).is_some() {
        return Some(MessageTokenKind::Digits);
    }
    // Rupee signs of single scripts are signs, not letters.
    if matches!(letter, '৳' | '৲' | '૱' | '௹') {
        return Some(MessageTokenKind::Sign);
    }
    if let Some(script) = Script::from_char(letter) {
        return Some(MessageTokenKind::Word(script));
    }
    if letter.is_alphabetic() {
        return Some(MessageTokenKind::Foreign);
    }
    if letter.is_whitespace() || is_joiner(letter) || is_gap(letter) {
        return None;
    }
    Some(MessageTokenKind::Sign)
}

/// English words whose fold is another word: `call` is not kal, and nothing is `free` on Fridays.
const NO_SENSE: &[&str] = &["call", "calls", "called", "free"];

/// Words whose fold is another word's, with the spelling they are to be looked up by. Malayalam "gave" is written
/// with the soft t, which the fold does not tell from that of a tonne.
const LOOKED_UP_AS: &[(&str, &str)] = &[("തന്നു", "thannu"), ("തന്ന", "thannu"), ("tannu", "thannu")];

/// Cuts a message into tokens.
pub fn tokenize(text: &str) -> Vec<MessageToken<'_>> {
    let mut found: Vec<MessageToken<'_>> = Vec::with_capacity(text.len() / 4 + 1);
    let mut rest = text.char_indices().peekable();
    let mut last_end = usize::MAX;
    while let Some((start, letter)) = rest.next() {
        let Some(mut kind) = classify(letter) else { continue };
        // `.5` is a half; after a word the point ends an abbreviation.
        if letter == '.'
            && last_end != start
            && text.get(start + 1..).and_then(|rest| rest.chars().next()).and_then(digit_value).is_some()
        {
            kind = MessageTokenKind::Digits;
        }
        if found.len() == MAX_TOKENS {
            break;
        }
        let mut end = start + letter.len_utf8();
        while kind != MessageTokenKind::Sign
            && let Some(&(at, next)) = rest.peek()
            && continues(text, kind, at, next)
        {
            end = at + next.len_utf8();
            rest.next();
        }
        if kind == MessageTokenKind::Digits
            && !found.last().is_some_and(|last| stands_apart(last) || is_group(text, last, start))
            && let Some(far) = find_spaced_end(text, start, end, found.last())
        {
            end = far;
            while rest.next_if(|(at, _)| *at < end).is_some() {}
        }
        found.push(token(text.get(start..end).unwrap_or_default(), start, kind, last_end == start));
        last_end = end;
    }
    found
}

/// Whether a letter goes on with the token before it.
fn continues(text: &str, kind: MessageTokenKind, at: usize, next: char) -> bool {
    let after = || text.get(at + next.len_utf8()..).and_then(|rest| rest.chars().next());
    match kind {
        MessageTokenKind::Digits => {
            digit_value(next).is_some()
                || (normalize_separator(next).is_some() && after().and_then(digit_value).is_some())
                || (is_unseen(next) && has_digit_after_unseen(text, at))
        }
        MessageTokenKind::Word(_) if matches!(next, '\'' | '’') => {
            after().is_some_and(|letter| matches!(classify(letter), Some(MessageTokenKind::Word(_))))
        }
        MessageTokenKind::Word(script) => {
            is_joiner(next) || (classify(next) == Some(MessageTokenKind::Word(script)))
        }
        MessageTokenKind::Foreign => is_joiner(next) || classify(next) == Some(MessageTokenKind::Foreign),
        MessageTokenKind::Sign => false,
    }
}

/// Whether digits go on behind characters that are not seen.
fn has_digit_after_unseen(text: &str, at: usize) -> bool {
    let mut rest = text.get(at..).unwrap_or_default().chars().skip_while(|letter| is_unseen(*letter));
    rest.next().and_then(digit_value).is_some()
}

/// Whether digits after the token are no group of another number: in Aug 15 500 the 15 is a day, and 1800 123 456 is
/// dialled.
fn stands_apart(token: &MessageToken<'_>) -> bool {
    if token.kind == MessageTokenKind::Digits {
        return matches!(token.text, "1800" | "1860");
    }
    let dates = |meaning| matches!(meaning, Meaning::MonthName(_) | Meaning::DayOfMonth).then_some(());
    token.find(Languages::EVERY, dates).is_some()
}

/// Whether only a space parts a token of digits from a place: then no number of several groups begins there.
fn is_group(text: &str, last: &MessageToken<'_>, start: usize) -> bool {
    let between = text.get(last.end()..start).unwrap_or_default();
    last.kind == MessageTokenKind::Digits && !between.is_empty() && between.chars().all(is_gap)
}

/// More groups than this are a list of numbers.
const MOST_GROUPS: usize = 5;

/// Where a number ends whose groups are parted by spaces: 1 50 000, 1 500, Rs 1, 50, 000. The reader doubts it.
fn find_spaced_end(text: &str, start: usize, end: usize, before: Option<&MessageToken<'_>>) -> Option<usize> {
    let size = |group: &str| group.chars().filter(|letter| digit_value(*letter).is_some()).count();
    let plain = |group: &str| group.chars().all(|letter| digit_value(letter).is_some() || is_unseen(letter));
    let first = text.get(start..end).filter(|first| plain(first) && size(first) <= 3)?;
    let named = text.get(..start)?.trim_end().ends_with(['+', '-', '/', '#', '*']);
    if named || first.chars().next().and_then(digit_value) == Some(0) {
        return None;
    }
    let rupee = |token: &MessageToken<'_>| {
        matches!(token.text, "₹" | "." | ":") || ["rs", "inr"].contains(&token.key.as_str())
    };
    let mut far = end;
    let mut groups: Vec<&str> = Vec::new();
    let mut commas = 0;
    while groups.len() <= MOST_GROUPS
        && let Some((comma, skip)) = text.get(far..).and_then(parse_group_separator)
        && let Some(group) = text.get(far + skip..)
        && let length = group.find(|letter| digit_value(letter).is_none()).unwrap_or(group.len())
        && length > 0
    {
        far += skip + length;
        groups.push(group.get(..length)?);
        commas += usize::from(comma);
    }
    let (last, middle) = groups.split_last().filter(|_| groups.len() <= MOST_GROUPS)?;
    let alike = |width: usize| middle.iter().all(|group| size(group) == width);
    let noughts = |group: &str| group.chars().all(|letter| digit_value(letter) == Some(0));
    // Other digits that go on with a point or a letter are something else; `/-` only ends an amount.
    let rest = text.get(far..)?;
    let ends = rest.starts_with("/-") || rest.starts_with("/=") || !rest.starts_with(['-', '/', ':']);
    let whole = size(last) == 3 && (alike(2) || alike(3));
    // Numbers in a list have commas, too: 500, 200.
    let one = commas == 0 || noughts(last) || (before.is_some_and(rupee) && size(first) < 3);
    // 5 00, 50 00
    let pairs = commas == 0 && middle.is_empty() && size(last) == 2 && noughts(last);
    (ends && ((whole && one) || pairs)).then_some(far)
}

/// What parts two groups of one number, and how long it is; whether it has a comma.
fn parse_group_separator(rest: &str) -> Option<(bool, usize)> {
    let length: usize =
        rest.chars().take(3).take_while(|l| is_gap(*l) || *l == ',').map(char::len_utf8).sum();
    let sign = rest.get(..length)?;
    let spaces = sign.chars().filter(|letter| is_gap(*letter)).count();
    let commas = sign.chars().count() - spaces;
    (spaces == 1 && commas < 2).then_some((commas > 0, length))
}

fn is_day(sense: &Sense) -> bool {
    matches!(sense.meaning, Meaning::Day(_) | Meaning::Either(_))
}

fn find_clash(text: &str) -> Option<Languages> {
    if text.bytes().any(|b| b.is_ascii_uppercase()) {
        return lexicon::find_clash(&text.to_ascii_lowercase());
    }
    lexicon::find_clash(text)
}

fn token(text: &str, start: usize, kind: MessageTokenKind, glued: bool) -> MessageToken<'_> {
    let excluded = NO_SENSE.iter().any(|word| text.eq_ignore_ascii_case(word));
    let known = matches!(kind, MessageTokenKind::Word(_)) && text.len() <= MAX_WORD && !excluded;
    let other = LOOKED_UP_AS.iter().find(|(word, _)| text.eq_ignore_ascii_case(word));
    let mut key = if known { fold::key(other.map_or(text, |(_, other)| other)) } else { String::new() };
    let mut senses = if key.is_empty() { &[] } else { lexicon::senses(&key) };
    let native = match kind {
        MessageTokenKind::Word(script) if script != Script::Latin => Some(script),
        _ => None,
    };
    if let Some(script) = native.filter(|_| senses.is_empty() && known)
        && !numbers::is_run_together(text, &key, script)
    {
        // The lexicon may know the word only as it is typed in Latin letters.
        let spoken = fold::spoken_key(text);
        senses = lexicon::senses(&spoken);
        if !senses.is_empty() {
            key = spoken;
        }
    }
    if kind == MessageTokenKind::Word(Script::Latin) && senses.iter().any(is_day) {
        // `nine` is nine, though ninne folds to the same.
        let english = lexicon::english_number(text);
        senses = if english.is_empty() { senses } else { english };
    }
    let clashes = find_clash(text).filter(|_| known);
    MessageToken {
        text,
        start,
        kind,
        glued,
        key,
        senses,
        clashes,
        named: NameLikelihood::No,
        stem: OnceCell::new(),
        near: OnceCell::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(message: &str) -> Vec<String> {
        tokenize(message).iter().map(|token| token.text.to_owned()).collect()
    }

    #[test]
    fn cuts_words_digits_and_signs() {
        assert_eq!(texts("Rs.1,25,000/- diye"), ["Rs", ".", "1,25,000", "/", "-", "diye"]);
        assert_eq!(texts("2k, today's"), ["2", "k", ",", "today's"]);
        assert_eq!(texts("₹५०० में।"), ["₹", "५००", "में", "।"]);
        assert_eq!(texts("साढ़े-तीन 3.5."), ["साढ़े", "-", "तीन", "3.5", "."]);
        assert_eq!(texts("எண் 12ம்"), ["எண்", "12", "ம்"]);
        assert_eq!(texts("😀👍🏽 ok"), ["😀", "👍", "🏽", "ok"]);
    }

    #[test]
    fn digits_hold_together_over_what_is_not_seen() {
        for whole in
            ["1\u{200B}500", "1\u{A0}500", "1，500", "5\u{200D}00", "5\u{AD}00", "1 50 000", "５００", "۵۰۰"]
        {
            assert_eq!(texts(&format!("Rs {whole} diye")), ["Rs", whole, "diye"]);
        }
        for apart in ["98765 43210", "1234 5678 9012", "500 700 8", "022 500"] {
            assert!(texts(apart).len() > 1, "{apart}");
        }
    }

    #[test]
    fn gave_is_no_tonne() {
        use crate::amounts::NumberKind;
        for (message, value) in
            [("രാമൻ 500 തന്നു", "500"), ("രാമൻ ആയിരം തന്നു", "1000"), ("raman 500 tannu", "500")]
        {
            let found = crate::understand(message, &crate::UnderstandingContext::default()).numbers;
            let said: Vec<_> = found.iter().map(|one| (one.kind, one.value.to_string())).collect();
            assert_eq!(said, [(NumberKind::Money, value.to_owned())], "{message}");
        }
        let found = crate::understand("5 టన్ను", &crate::UnderstandingContext::default()).numbers;
        assert_eq!(found[0].unit, Some(crate::unit::MeasureUnit::Tonne));
    }

    #[test]
    fn tells_what_lies_glued() {
        let found = tokenize("2k 5 kg");
        assert_eq!(found.iter().map(|token| token.glued).collect::<Vec<_>>(), [false, true, false, false]);
    }
}
