//! Whether somebody takes back what they have consented to. It is read generously: what ends too early is asked for again, and what goes
//! on against somebody's will is not made good. Each clause is read by itself and in its own language: what is denied or asked elsewhere in
//! the message says nothing of it.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use munshi_types::word_list::read_lines;

use crate::yes_no::{YesNoAnswer, classify_reply, is_question_mark, split_words};

/// A longer clause tells of something.
const MOST_CLAUSE_WORDS: usize = 14;
/// A longer message may be somebody else's text.
const MOST_WORDS: usize = 60;
/// Its words hang together by their order, and those of the other languages by what stands next to the verb.
const ENGLISH: &str = "en";

/// What a message says of taking consents back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WithdrawalIntent {
    /// They are taken back.
    Clear,
    /// It speaks of that, and whether it is meant is for the person to say.
    Unsure,
    /// It is about something else, or denies it.
    None,
}

/// What a clause says of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ClauseReading {
    Clear,
    Unsure,
    Denied,
}

#[derive(Default)]
struct WithdrawalLexicon {
    language: String,
    consent: Vec<Vec<String>>,
    back: Vec<Vec<String>>,
    denies: Vec<Vec<String>>,
    doubts: Vec<Vec<String>>,
    begins: Vec<Vec<String>>,
    endings: Vec<Vec<String>>,
    tags: Vec<Vec<String>>,
}

static LEXICONS: LazyLock<Vec<WithdrawalLexicon>> = LazyLock::new(|| {
    let mut lexicons: Vec<WithdrawalLexicon> = Vec::new();
    for line in read_lines(include_str!("../lexicon/withdrawal.txt")) {
        let Some((kind, entries)) = line.text.split_once(": ") else { continue };
        if lexicons.last().is_none_or(|last| last.language != line.section) {
            lexicons.push(WithdrawalLexicon {
                language: line.section.to_owned(),
                ..WithdrawalLexicon::default()
            });
        }
        let Some(lexicon) = lexicons.last_mut() else { continue };
        let list = match kind {
            "consent" => &mut lexicon.consent,
            "back" => &mut lexicon.back,
            "denies" => &mut lexicon.denies,
            "begins" => &mut lexicon.begins,
            "endings" => &mut lexicon.endings,
            "tags" => &mut lexicon.tags,
            _ => &mut lexicon.doubts,
        };
        list.extend(entries.split_whitespace().map(|entry| entry.split('_').flat_map(split_words).collect()));
    }
    lexicons
});

/// Whether a message takes consents back.
pub fn classify_consent_withdrawal(message: &str) -> WithdrawalIntent {
    let clauses = split_clauses(message);
    let topic = match clauses.iter().any(Clause::names_consent) {
        true => ConsentTopic::Named,
        false => ConsentTopic::None,
    };
    classify_clauses(&clauses, topic)
}

/// Whether the answer to the question if all consents are to end takes them back: it need not name them.
pub fn classify_withdrawal_answer(message: &str) -> WithdrawalIntent {
    let (clauses, topic) = (split_clauses(message), ConsentTopic::Understood);
    // "No, cancel that": what is cancelled then is the question.
    let says_no = |clause: &Clause| {
        clause.read(topic).is_none() && classify_reply(&clause.words.join(" ")) == YesNoAnswer::No
    };
    match clauses.iter().any(says_no) {
        true => WithdrawalIntent::None,
        false => classify_clauses(&clauses, topic),
    }
}

/// Whether consents are spoken of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ConsentTopic {
    None,
    /// In some clause.
    Named,
    /// They were asked about.
    Understood,
}

fn classify_clauses(clauses: &[Clause], topic: ConsentTopic) -> WithdrawalIntent {
    let readings: Vec<ClauseReading> = clauses.iter().filter_map(|clause| clause.read(topic)).collect();
    let has = |reading| readings.contains(&reading);
    let is_long = clauses.iter().map(|clause| clause.words.len()).sum::<usize>() > MOST_WORDS;
    match (has(ClauseReading::Clear), has(ClauseReading::Unsure)) {
        (true, _) if is_long || has(ClauseReading::Denied) => WithdrawalIntent::Unsure,
        (true, _) => WithdrawalIntent::Clear,
        (false, true) if !is_long => WithdrawalIntent::Unsure,
        (false, _) => WithdrawalIntent::None,
    }
}

/// What stands between two signs.
struct Clause {
    words: Vec<String>,
    is_question: bool,
}

fn split_clauses(message: &str) -> Vec<Clause> {
    let mut clauses: Vec<Clause> = Vec::new();
    for piece in message.split_inclusive(ends_clause) {
        let words = split_words(piece);
        if !words.is_empty() {
            clauses.push(Clause { words, is_question: false });
        }
        if let (true, Some(last)) = (piece.ends_with(is_question_mark), clauses.last_mut()) {
            last.is_question = true;
        }
    }
    clauses
}

fn ends_clause(sign: char) -> bool {
    let others =
        ['.', ',', ';', ':', '!', '…', '–', '—', '(', ')', '"', '“', '”', '\n', '\u{0964}', '\u{0965}'];
    is_question_mark(sign) || others.contains(&sign)
}

impl Clause {
    fn names_consent(&self) -> bool {
        LEXICONS.iter().any(|lexicon| self.find_stems(&lexicon.consent).is_some())
    }

    /// What it says of taking back; none where it says nothing of that.
    fn read(&self, topic: ConsentTopic) -> Option<ClauseReading> {
        let backs: Vec<(&WithdrawalLexicon, usize)> = LEXICONS
            .iter()
            .filter_map(|lexicon| self.find_stems(&lexicon.back).map(|at| (lexicon, at)))
            .collect();
        if backs.is_empty() || topic == ConsentTopic::None {
            return None;
        }
        // English words are at home in all the others: they alone don't tell which language it is.
        let spoken: BTreeSet<&str> = backs
            .iter()
            .filter(|(lexicon, _)| self.find_stems(&lexicon.consent).is_some())
            .map(|(lexicon, _)| lexicon.language.as_str())
            .filter(|language| *language != ENGLISH)
            .collect();
        let is_spoken = |language: &str| spoken.is_empty() || spoken.contains(language);
        let own: Vec<(&WithdrawalLexicon, usize)> =
            backs.into_iter().filter(|(lexicon, _)| is_spoken(&lexicon.language)).collect();
        let length = self.length_without_tags(&own);
        let words = &self.words[..length];
        if own.iter().any(|(lexicon, at)| is_denied(words, lexicon, *at)) {
            return Some(ClauseReading::Denied);
        }
        let first = own.iter().map(|(_, at)| *at).min().unwrap_or_default();
        let is_doubtful = LEXICONS
            .iter()
            .filter(|lexicon| is_spoken(&lexicon.language))
            .any(|lexicon| is_doubted(words, lexicon, first));
        let is_named = topic == ConsentTopic::Understood || self.names_consent();
        let is_unsure = is_doubtful || self.is_question || !is_named || length > MOST_CLAUSE_WORDS;
        Some(if is_unsure { ClauseReading::Unsure } else { ClauseReading::Clear })
    }

    /// Where the first word of an entry stands all of whose words begin words of the clause.
    fn find_stems(&self, entries: &[Vec<String>]) -> Option<usize> {
        let find = |stem: &String| self.words.iter().position(|word| word.starts_with(stem.as_str()));
        let places = |entry: &Vec<String>| entry.iter().map(find).collect::<Option<Vec<usize>>>();
        entries.iter().filter_map(places).filter_map(|places| places.into_iter().min()).min()
    }

    fn length_without_tags(&self, own: &[(&WithdrawalLexicon, usize)]) -> usize {
        let is_tag = |word: &String| {
            own.iter().any(|(lexicon, _)| lexicon.tags.iter().any(|tag| tag.as_slice() == [word.clone()]))
        };
        self.words.iter().rposition(|word| !is_tag(word)).map_or(0, |last| last + 1)
    }
}

/// Whether the word for taking back, at its place, is surely denied. English says so before it, and until something new begins; others
/// between it and the verb that it stands with.
fn is_denied(words: &[String], lexicon: &WithdrawalLexicon, at: usize) -> bool {
    if lexicon.language != ENGLISH {
        let verb = words.get(at + 2);
        return verb.is_some() && stands_at(words, &lexicon.denies, at + 1);
    }
    let denied = (0..at).rev().find(|place| stands_at(words, &lexicon.denies, *place));
    denied.is_some_and(|denied| !(denied + 1..at).any(|place| stands_at(words, &lexicon.begins, place)))
}

/// Whether a clause may mean something else than it seems to. What English denies behind the word for taking back is something else.
fn is_doubted(words: &[String], lexicon: &WithdrawalLexicon, back: usize) -> bool {
    let reach = if lexicon.language == ENGLISH { back } else { words.len() };
    let is_denied = (0..reach).any(|place| stands_at(words, &lexicon.denies, place));
    let is_doubted = (0..words.len()).any(|place| stands_at(words, &lexicon.doubts, place));
    let ends = |word: &String| lexicon.endings.iter().flatten().any(|ending| word.ends_with(ending.as_str()));
    is_denied || is_doubted || words.iter().any(ends)
}

fn stands_at(words: &[String], entries: &[Vec<String>], place: usize) -> bool {
    entries.iter().any(|entry| !entry.is_empty() && words[place..].starts_with(entry))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Locale, Phrasebook};

    #[test]
    fn consents_are_taken_back_in_every_language() {
        for message in [
            "I withdraw my consent.",
            "please revoke my consent",
            "I take my consent back",
            "cancel consent",
            "मैं अपनी सहमति वापस लेता हूँ",
            "meri sahmati wapas lo",
            "আমি আমার সম্মতি প্রত্যাহার করছি",
            "હું મારી સંમતિ પાછી લઉં છું",
            "ನನ್ನ ಒಪ್ಪಿಗೆಯನ್ನು ಹಿಂಪಡೆಯುತ್ತೇನೆ",
            "എന്റെ സമ്മതം പിൻവലിക്കുന്നു",
            "मी माझी संमती मागे घेतो",
            "ମୁଁ ମୋର ସମ୍ମତି ପ୍ରତ୍ୟାହାର କରୁଛି",
            "ਮੈਂ ਆਪਣੀ ਸਹਿਮਤੀ ਵਾਪਸ ਲੈਂਦਾ ਹਾਂ",
            "என் சம்மதத்தை திரும்பப் பெறுகிறேன்",
            "నా సమ్మతిని వెనక్కి తీసుకుంటున్నాను",
        ] {
            assert_eq!(classify_consent_withdrawal(message), WithdrawalIntent::Clear, "{message}");
        }
    }

    #[test]
    fn what_is_denied_or_asked_beside_it_changes_nothing() {
        for message in [
            "I withdraw my consent, do not use my data",
            "Please cancel my consent, I don't want this",
            "please cancel my consent because I do not want this",
            "I don't want this. Cancel my consent!",
            "I withdraw my consent. Is that clear?",
            "Hello, I was in your shop in May and you asked about my credit there. After thinking it over with my family \
             I have changed my mind. I withdraw my consent.",
            "na sammathi venakki teesukuntunnanu",
            "mera consent wapas le lo na",
            "meri sahmati wapas le lo na",
            "मैं अपनी सहमति वापस लेता हूँ, मेरा डेटा मत रखो",
            "ನನ್ನ ಒಪ್ಪಿಗೆಯನ್ನು ಹಿಂಪಡೆಯುತ್ತೇನೆ. ನನಗೆ ಬೇಡ",
            "என் சம்மதத்தை திரும்பப் பெறுகிறேன், எனக்கு வேண்டாம்",
        ] {
            assert_eq!(classify_consent_withdrawal(message), WithdrawalIntent::Clear, "{message}");
        }
    }

    #[test]
    fn an_answer_need_not_name_them() {
        for (message, expected) in [
            ("cancel it", WithdrawalIntent::Clear),
            ("yes, cancel all", WithdrawalIntent::Clear),
            ("हाँ वापस लो", WithdrawalIntent::Clear),
            ("no, don't cancel", WithdrawalIntent::None),
            ("can I cancel later?", WithdrawalIntent::Unsure),
            ("yes", WithdrawalIntent::None),
        ] {
            assert_eq!(classify_withdrawal_answer(message), expected, "{message}");
        }
        // What is offered beside the question is no withdrawal where it says no.
        let book = Phrasebook::core().unwrap();
        for voice in Locale::all() {
            let no = book.render("say-no", voice, &[]).unwrap();
            assert_eq!(classify_withdrawal_answer(&no), WithdrawalIntent::None, "{} {no}", voice.code());
        }
    }

    #[test]
    fn what_may_be_meant_is_asked() {
        for message in [
            "how do I withdraw my consent?",
            "Can you cancel my consent, please?",
            "I don't want this please cancel my consent",
            "about my consent: cancel it",
            "I consent to cancel the order",
            "Asha withdrew her consent",
            "I withdraw my consent. No wait, I do not withdraw my consent.",
            "मैं अपनी सहमति वापस लेता हूँ मेरा डेटा मत रखो",
            "mera consent cancel mat karo",
            "ನನ್ನ ಒಪ್ಪಿಗೆಯನ್ನು ಹಿಂಪಡೆಯುತ್ತೇನೆ ನನಗೆ ಬೇಡ",
            "ನನ್ನ ಒಪ್ಪಿಗೆಯನ್ನು ಹಿಂಪಡೆಯಬೇಡಿ",
            "என் சம்மதத்தை திரும்பப் பெறுகிறேன் எனக்கு வேண்டாம்",
            "sommoti batil korbo na",
        ] {
            assert_eq!(classify_consent_withdrawal(message), WithdrawalIntent::Unsure, "{message}");
        }
    }

    #[test]
    fn what_only_speaks_of_it_takes_nothing_back() {
        for message in [
            "",
            "yes",
            "cancel the order",
            "take it back",
            "I do not withdraw my consent",
            "please don't cancel my consent",
            "I do not want to withdraw my consent",
            "why withdraw consent",
            "I consent",
            "मैं अपनी सहमति वापस नहीं लेता",
            "meri sahmati wapas mat lo",
            "Ramesh came to the shop and asked whether anybody may withdraw their consent later on at all",
        ] {
            assert_eq!(classify_consent_withdrawal(message), WithdrawalIntent::None, "{message}");
        }
    }
}
