//! What one token contributes to a number.

use munshi_types::{Language, Script};

use super::compose::TensStyle;
use super::{Certainty, NumberPart, digits, segment};
use crate::fold;
use crate::lexicon::{self, Languages, MorphemeEnd, Sense};
use crate::token::{MessageToken, MessageTokenKind, NameLikelihood};

/// Where a token stands in the number being read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LexemePosition {
    First,
    Inside,
    /// After a word that only joins: two and a *half*.
    Joined,
}

/// How a token reads as parts of a number.
#[derive(Clone, Debug)]
pub(super) struct Lexeme {
    pub parts: Vec<NumberPart>,
    /// Other parts the same spelling may stand for in the same language.
    pub others: Vec<Vec<NumberPart>>,
    pub tens: TensStyle,
    /// It is also an ordinary word or a name, or only nearly a number word.
    pub weak: bool,
    /// Nothing says that this is how the word is spelled: the number is then in doubt.
    pub guessed: bool,
    /// The digits themselves are in doubt: 500,700.
    pub unclear: bool,
    /// It ends in a case ending: what follows it is another number.
    pub inflected: bool,
    /// Only another language knows it.
    pub foreign: bool,
}

impl Lexeme {
    /// What is known to mean just these parts.
    const fn plain(parts: Vec<NumberPart>, tens: TensStyle) -> Self {
        Self {
            parts,
            others: Vec::new(),
            tens,
            weak: false,
            guessed: false,
            unclear: false,
            inflected: false,
            foreign: false,
        }
    }

    /// What may be spelled wrong, or be no number at all.
    fn guess(parts: Vec<NumberPart>, tens: TensStyle) -> Self {
        Self { weak: true, guessed: true, ..Self::plain(parts, tens) }
    }
}

/// What a token contributes wherever it stands.
pub(super) fn read_lexeme(token: &MessageToken<'_>, language: Language) -> Option<Lexeme> {
    match token.kind {
        MessageTokenKind::Digits => {
            let written = digits::read(token.text)?;
            let unclear = written.certainty == Certainty::Ambiguous;
            let mut readings = written.readings.into_iter().map(|value| vec![NumberPart::Digits(value)]);
            let lexeme = Lexeme::plain(readings.next()?, TensStyle::InOneWord);
            Some(Lexeme { others: readings.collect(), unclear, ..lexeme })
        }
        MessageTokenKind::Word(_) if token.named == NameLikelihood::Surely => None,
        MessageTokenKind::Word(_) => word(token, language),
        MessageTokenKind::Sign => {
            let part = match token.text {
                "½" => NumberPart::Suffix(50),
                "¼" => NumberPart::Suffix(25),
                "¾" => NumberPart::Suffix(75),
                _ => return None,
            };
            Some(Lexeme::plain(vec![part], TensStyle::InOneWord))
        }
        MessageTokenKind::Foreign => None,
    }
}

fn word(token: &MessageToken<'_>, language: Language) -> Option<Lexeme> {
    let loan = || read_known(token, Language::English);
    if token.script() == Some(Script::Latin) {
        return read_known(token, language)
            .or_else(loan)
            .or_else(|| read_inflected(token, language))
            .or_else(|| with_last_vowel(token, language))
            .or_else(|| read_near(token, language))
            .or_else(|| read_near_morpheme(token, language))
            .or_else(|| read_foreign(token, language));
    }
    read_known(token, language)
        .or_else(|| read_inflected(token, language))
        .and_then(|lexeme| check_spelling(token, Languages::only(language), lexeme))
        .or_else(loan)
        .or_else(|| {
            read_foreign(token, language).and_then(|lexeme| check_spelling(token, Languages::EVERY, lexeme))
        })
}

/// A word of a native script counts for sure only when it is spelled as number words are. What only sounds like one
/// in Latin letters is a guess, and no guess where it is a word of its own.
fn check_spelling(token: &MessageToken<'_>, languages: Languages, lexeme: Lexeme) -> Option<Lexeme> {
    if lexicon::is_number_shaped(token.text, languages) || is_joined(token.text, languages) {
        return Some(lexeme);
    }
    // No number word begins so: ಗೋಧಿ is wheat, though the fold makes a crore of it.
    let guess = Lexeme { weak: true, guessed: true, ..lexeme };
    lexicon::starts_like_number(token.text, languages).then_some(guess)
}

/// Whether a word is made of whole number words: साडेआठ.
fn is_joined(word: &str, languages: Languages) -> bool {
    let is_whole = |part: &str| {
        let senses = lexicon::senses(&fold::key(part));
        lexicon::is_number_shaped(part, languages) && number_parts(senses, languages).next().is_some()
    };
    word.char_indices().skip(1).any(|(at, _)| {
        let (front, back) = word.split_at(at);
        is_whole(front) && (is_whole(back) || is_joined(back, languages))
    })
}

/// Whether a native word that is in no list is a number word run together.
pub(crate) fn is_run_together(word: &str, key: &str, script: Script) -> bool {
    let of = |language: &Language| {
        let only = Languages::only(*language);
        segment::parse_fused(key, script, only).is_some()
            && (lexicon::is_number_shaped(word, only) || is_joined(word, only))
    };
    Language::ALL.iter().filter(|language| language.script() == script).any(of)
}

/// What a token contributes only because of where it stands: `k`, `L` and `cr` after digits; English `half` and
/// `quarter` after a number, which they add to or count.
pub(super) fn read_positioned(token: &MessageToken<'_>, place: LexemePosition) -> Option<Lexeme> {
    let part = match (token.text, place) {
        (_, LexemePosition::First) => return None,
        ("k" | "K", _) if token.glued => NumberPart::Scale(1_000),
        ("L" | "l", _) if token.glued => NumberPart::Scale(100_000),
        ("lk" | "lkh" | "Lk", _) => NumberPart::Scale(100_000),
        ("cr" | "Cr" | "CR", _) => NumberPart::Scale(10_000_000),
        _ => match (token.key.as_str(), place) {
            ("half", _) => NumberPart::Suffix(50),
            ("kuarter" | "kuarters", LexemePosition::Joined) => NumberPart::Suffix(25),
            ("kuarter" | "kuarters" | "faurth" | "faurths", LexemePosition::Inside) => NumberPart::Quarters,
            _ => return None,
        },
    };
    Some(Lexeme::plain(vec![part], TensStyle::Apart))
}

/// Whether `Cr` after a figure is credit: for sure beside a bank's words or a figure written to the paisa, and as
/// likely as crore after thousands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CreditLikelihood {
    No,
    Maybe,
    Surely,
}

pub(crate) fn credit_likelihood(tokens: &[MessageToken<'_>], at: usize) -> CreditLikelihood {
    const BANK: &[&str] =
        &["bal", "balance", "avl", "avbl", "available", "credited", "debited", "dr", "a", "acct", "ac"];
    let Some(token) = tokens.get(at).filter(|token| token.text.eq_ignore_ascii_case("cr")) else {
        return CreditLikelihood::No;
    };
    let figure = at
        .checked_sub(1)
        .and_then(|at| tokens.get(at))
        .filter(|token| token.kind == MessageTokenKind::Digits);
    let Some(figure) = figure else { return CreditLikelihood::No };
    let plain = digits::to_ascii(figure.text);
    let bank = tokens.iter().take(at + 12).skip(at.saturating_sub(12)).any(|near| {
        near.start != token.start && BANK.iter().any(|word| near.text.eq_ignore_ascii_case(word))
    });
    let whole = plain.split('.').next().unwrap_or_default();
    let large = whole.bytes().filter(u8::is_ascii_digit).count() > 3;
    let written = whole.contains(',') || plain.ends_with(".00");
    match (large, bank || written) {
        (true, true) => CreditLikelihood::Surely,
        (false, false) => CreditLikelihood::No,
        _ => CreditLikelihood::Maybe,
    }
}

/// How a language itself reads the word.
fn read_known(token: &MessageToken<'_>, language: Language) -> Option<Lexeme> {
    if language == Language::English && token.script() != Some(Script::Latin) {
        let part = lexicon::find_loan(token.text).and_then(segment::to_number_part)?;
        return Some(Lexeme { weak: token.clashes(), ..Lexeme::plain(vec![part], TensStyle::Apart) });
    }
    if !script_fits(token, language) {
        return None;
    }
    let only = Languages::only(language);
    if number_parts(token.senses, only).next().is_some() {
        return Some(read_listed(token, language));
    }
    if Languages::DRAVIDIAN.has(language) {
        // Kannada says kodi and kottu for give and Telugu for a hen; their crore has a hard t.
        let gives = token.key.starts_with("kod") || token.text.to_lowercase().starts_with("kott");
        if matches!(language, Language::Kannada | Language::Telugu) && gives {
            return None;
        }
        let segment::SegmentedNumber { parts, end, rival, inflected } =
            segment::split_morphemes(token.stem(), language)?;
        return Some(Lexeme {
            others: rival.into_iter().collect(),
            weak: end == MorphemeEnd::Open || token.clashes(),
            inflected,
            ..Lexeme::plain(parts, TensStyle::Apart)
        });
    }
    let parts = segment::parse_fused(&token.key, token.script()?, only)?;
    Some(Lexeme { weak: token.clashes(), ..Lexeme::plain(parts, TensStyle::InOneWord) })
}

/// A word that the lexicon lists as a number of the language. Where its key means several, its spelling may tell.
fn read_listed(token: &MessageToken<'_>, language: Language) -> Lexeme {
    let only = Languages::only(language);
    let mut meant: Vec<NumberPart> = number_parts(token.senses, only).collect();
    if meant.len() > 1 {
        let spelled: Vec<NumberPart> = number_parts(lexicon::senses_by_spelling(token.text), only).collect();
        meant = if spelled.is_empty() { meant } else { spelled };
    } else if let Some(rival) = without_last_vowel(token, language).filter(|rival| !meant.contains(rival)) {
        meant.push(rival);
    }
    let mut parts = meant.into_iter().map(segment::split_hundreds);
    let tens = if language == Language::English { TensStyle::Apart } else { TensStyle::InOneWord };
    let first = Lexeme::plain(parts.next().unwrap_or_default(), tens);
    Lexeme { others: parts.collect(), weak: token.clashes(), ..first }
}

/// A scale, or a cardinal and its hundred in one word, under a case ending: hajarala, lakher, donsheche.
fn read_inflected(token: &MessageToken<'_>, language: Language) -> Option<Lexeme> {
    let everyday = token.senses.iter().any(|sense| sense.languages.has(language));
    if everyday || !script_fits(token, language) {
        return None;
    }
    let only = Languages::only(language);
    let parts = segment::parse_inflected(&token.key, token.script()?, only, language)?;
    Some(Lexeme { weak: token.clashes(), ..Lexeme::plain(parts, TensStyle::InOneWord) })
}

/// What a northern word that ends in a short `a` means without it: sattara may be satrah or sattar.
fn without_last_vowel(token: &MessageToken<'_>, language: Language) -> Option<NumberPart> {
    let short =
        token.text.ends_with('a') && !token.text.ends_with("aa") && token.script() == Some(Script::Latin);
    let bare = token.key.strip_suffix('a').filter(|bare| short && bare.len() > 2)?;
    number_parts(lexicon::senses(bare), Languages::only(language)).next()
}

/// The number meanings among senses.
fn number_parts(senses: &'static [Sense], languages: Languages) -> impl Iterator<Item = NumberPart> {
    senses
        .iter()
        .filter(move |sense| sense.languages.intersects(languages))
        .filter_map(|sense| segment::to_number_part(sense.meaning))
}

fn script_fits(token: &MessageToken<'_>, language: Language) -> bool {
    token.script().is_some_and(|script| script == Script::Latin || script == language.script())
}

/// A northern number word typed with the last vowel its script writes but nobody says: tina, hazara.
fn with_last_vowel(token: &MessageToken<'_>, language: Language) -> Option<Lexeme> {
    let everyday = token.senses.iter().any(|sense| sense.languages.has(language));
    if everyday || Languages::DRAVIDIAN.has(language) {
        return None;
    }
    let part = without_last_vowel(token, language)?;
    Some(Lexeme::guess(vec![part], TensStyle::InOneWord))
}

/// A spelling close to one number word of the language and to no other.
fn read_near(token: &MessageToken<'_>, language: Language) -> Option<Lexeme> {
    let everyday = token.senses.iter().any(|sense| sense.languages.has(language));
    let latin = token.script() == Some(Script::Latin);
    if token.key.len() < 4 || everyday || !latin || token.clashes() {
        return None;
    }
    let mut parts = number_parts(token.near_senses(), Languages::only(language)).map(|part| vec![part]);
    let first = Lexeme::guess(parts.next()?, TensStyle::InOneWord);
    Some(Lexeme { others: parts.collect(), ..first })
}

/// As [`read_near`] for a southern ten or more that is one letter off: arava for aravai. Names are left alone.
fn read_near_morpheme(token: &MessageToken<'_>, language: Language) -> Option<Lexeme> {
    let small = token.script() == Some(Script::Latin) && token.text.bytes().all(|b| b.is_ascii_lowercase());
    if !small || !token.senses.is_empty() || token.key.len() < 5 || token.clashes() {
        return None;
    }
    Some(Lexeme::guess(segment::find_near_morpheme(token.stem(), language)?, TensStyle::Apart))
}

/// A word of another language in a mixed message, when every language that has it means the same.
fn read_foreign(token: &MessageToken<'_>, language: Language) -> Option<Lexeme> {
    let everyday = token
        .senses
        .iter()
        .any(|sense| sense.languages.has(language) && segment::to_number_part(sense.meaning).is_none());
    let mut found: Option<NumberPart> = None;
    for sense in token.senses {
        let Some(part) = segment::to_number_part(sense.meaning) else { continue };
        let fits = sense.languages.iter().any(|language| script_fits(token, language));
        if !fits {
            continue;
        }
        if everyday || found.is_some_and(|other| other != part) {
            return None;
        }
        found = Some(part);
    }
    // A word that is something else in this language counts only inside a number, and in doubt: das hajar.
    let clashes = token.clashes();
    let part = found.filter(|part| !clashes || matches!(part, NumberPart::Cardinal(_)))?;
    let plain = Lexeme::plain(vec![part], TensStyle::InOneWord);
    Some(Lexeme { weak: clashes, guessed: clashes, foreign: true, ..plain })
}

/// Whether an unknown word shares at least so many letters with the beginning of a number word of the
/// language: it may be one, misspelled.
pub(crate) fn looks_like_number(token: &MessageToken<'_>, language: Language, least: usize) -> bool {
    if !token.is_word() || !token.senses.is_empty() || token.key.len() < 4 || !script_fits(token, language) {
        return false;
    }
    // Names in Latin letters are many; a native word must share less to be doubted.
    let least = least + usize::from(token.script() == Some(Script::Latin));
    if Languages::DRAVIDIAN.has(language) {
        return segment::begins_with_morpheme(token.stem(), language, least);
    }
    let Some(front) = token.key.get(..least) else { return false };
    let only = Languages::only(language);
    lexicon::list_with_prefix(front).iter().any(|(_, senses)| number_parts(senses, only).next().is_some())
}

/// The scale an unknown southern word begins with.
pub(crate) fn begins_with_scale(token: &MessageToken<'_>, language: Language) -> Option<u64> {
    let unknown = token.is_word() && token.senses.is_empty() && script_fits(token, language);
    segment::first_scale(token.stem(), language).filter(|_| unknown)
}

/// The languages among those given in which a word is a run-together number word.
pub(crate) fn find_number_languages(token: &MessageToken<'_>, languages: Languages) -> Languages {
    let Some(script) = token.script().filter(|_| token.key.len() > 2) else { return Languages::NONE };
    let is_number = |language: &Language| match Languages::DRAVIDIAN.has(*language) {
        true => segment::split_morphemes(token.stem(), *language).is_some(),
        false => segment::parse_fused(&token.key, script, Languages::only(*language)).is_some(),
    };
    languages.iter().filter(is_number).fold(Languages::NONE, Languages::with)
}
