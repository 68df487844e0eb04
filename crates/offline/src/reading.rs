//! A message as the offline model sees it: what `lang` found in it, and the words between.

use jiff::civil::Date;
use munshi_lang::lexicon::{Languages, Meaning};
use munshi_lang::names::is_honorific;
use munshi_lang::token::{self, MessageToken};
use munshi_lang::{
    DateMention, Locale, MessageUnderstanding, NumberMention, ScriptForm, UnderstandingContext, detect, fold,
    understand,
};
use munshi_types::Language;

use crate::mood::{SentenceActor, SentenceMood, detect_mood, find_actor};
use crate::name_roles::{CASES, is_trade};
use crate::prepared_tools::strip_suffixes;
use crate::reclassify::{reclassify_first_word, reclassify_possessive, reclassify_vocatives};
use crate::small_words::{SmallWordClass, SmallWordClassSet, SmallWords};

/// What is known before a message is read.
#[derive(Clone, Debug, Default)]
pub(crate) struct OfflineReadingContext {
    pub last_languages: Vec<Language>,
    /// The voice of the turn before, for messages that tell none.
    pub voice: Option<Locale>,
    pub today: Option<Date>,
    /// Set for text whose language is declared, such as a tool's phrase.
    pub language: Option<Language>,
}

#[derive(Clone, Debug)]
pub(crate) struct OfflineReading<'m> {
    pub message: &'m str,
    pub voice: Locale,
    /// Those the message may be in, the likeliest first.
    pub languages: Vec<Language>,
    pub numbers: Vec<NumberMention>,
    pub dates: Vec<DateMention>,
    pub words: Vec<OfflineWord<'m>>,
    pub mood: SentenceMood,
    pub actor: Option<SentenceActor>,
    before: OfflineReadingContext,
}

#[derive(Clone, Debug)]
pub(crate) struct OfflineWord<'m> {
    pub text: &'m str,
    pub start: usize,
    pub key: String,
    /// The fold that merges what spellings mix; empty for signs.
    pub stem: String,
    pub classes: SmallWordClassSet,
    pub held: Option<WordOwner>,
    pub is_sign: bool,
    pub is_capital: bool,
    /// A trade, be it with an ending.
    pub is_trade: bool,
    /// It says in what something is counted: packets.
    pub is_unit: bool,
}

/// A word that belongs to something `lang` has read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WordOwner {
    Number(usize),
    Date(usize),
    Time,
}

/// Words that say nothing about what is wanted.
const GRAMMAR: SmallWordClassSet = SmallWordClassSet::of(&[
    SmallWordClass::To,
    SmallWordClass::By,
    SmallWordClass::From,
    SmallWordClass::Of,
    SmallWordClass::In,
    SmallWordClass::Me,
    SmallWordClass::ToMe,
    SmallWordClass::Small,
    SmallWordClass::And,
    SmallWordClass::Tell,
]);

pub(crate) const CAREFUL: SmallWordClassSet = SmallWordClassSet::of(&[
    SmallWordClass::Question,
    SmallWordClass::Not,
    SmallWordClass::If,
    SmallWordClass::Will,
    SmallWordClass::Yes,
    SmallWordClass::No,
    SmallWordClass::Stop,
    SmallWordClass::Hello,
    SmallWordClass::Thanks,
    SmallWordClass::Help,
]);

/// What is said in English between words of another language.
const MIXED: SmallWordClassSet = SmallWordClassSet::of(&[
    SmallWordClass::Doubt,
    SmallWordClass::Not,
    SmallWordClass::Yes,
    SmallWordClass::No,
    SmallWordClass::Stop,
]);

impl OfflineWord<'_> {
    pub(crate) fn end(&self) -> usize {
        self.start + self.text.len()
    }

    /// Whether it may say what is wanted, or name something.
    pub(crate) fn is_content(&self) -> bool {
        !self.is_sign && self.held.is_none() && !self.classes.intersects(GRAMMAR) && !self.stem.is_empty()
    }
}

impl<'m> OfflineReading<'m> {
    pub(crate) fn new(message: &'m str, before: &OfflineReadingContext) -> Self {
        let context = UnderstandingContext {
            language: before.language,
            last_languages: &before.last_languages,
            profile: before.voice.map(|voice| voice.language),
            today: before.today,
            contacts: None,
        };
        let mut found = understand(message, &context);
        drop_names(&mut found.numbers);
        let has_letters = message.chars().any(char::is_alphabetic);
        let voice = match before.voice {
            Some(voice) if !has_letters => voice,
            _ => Locale::new(found.language, found.script),
        };
        let languages = languages(message, found.language, found.confidence, before.language.is_some());
        let tokens = token::tokenize(message);
        let mut words: Vec<OfflineWord<'m>> = tokens.iter().map(|token| word(token, &languages)).collect();
        reclassify_vocatives(&mut words);
        reclassify_first_word(&mut words, &languages);
        mark_found(&mut words, &found);
        reclassify_possessive(&mut words);
        let mood = detect_mood(&words, &tokens, &languages, &found.dates);
        let actor = find_actor(&words, &languages);
        Self {
            message,
            voice,
            languages,
            numbers: found.numbers,
            dates: found.dates,
            words,
            mood,
            actor,
            before: before.clone(),
        }
    }

    /// What it was read with.
    pub(crate) fn context(&self) -> OfflineReadingContext {
        self.before.clone()
    }

    /// Whether every word that is no sign has one of these classes, and there is one.
    pub(crate) fn is_only(&self, wanted: SmallWordClass) -> bool {
        let allowed = SmallWordClassSet::of(&[wanted, SmallWordClass::Small, SmallWordClass::In]);
        let said = || self.words.iter().filter(|word| !word.is_sign);
        said().any(|word| word.classes.has(wanted))
            && said().all(|word| word.held.is_none() && word.classes.intersects(allowed))
    }

    /// Whether the speaker receives: mujhe, enakku.
    pub(crate) fn has_receiver(&self) -> bool {
        self.words.iter().any(|word| word.held.is_none() && word.classes.has(SmallWordClass::ToMe))
    }

    /// Whether it refuses: a word says no, or the verb denies.
    pub(crate) fn refuses(&self) -> bool {
        let refusal = SmallWordClassSet::of(&[SmallWordClass::No, SmallWordClass::Not, SmallWordClass::Stop]);
        self.mood.has(SentenceMood::NEGATED)
            || self.words.iter().any(|word| word.held.is_none() && word.classes.intersects(refusal))
    }

    /// Whether it is nothing but a refusal.
    pub(crate) fn is_refusal(&self) -> bool {
        let allowed = SmallWordClassSet::of(&[
            SmallWordClass::No,
            SmallWordClass::Not,
            SmallWordClass::Stop,
            SmallWordClass::Small,
            SmallWordClass::In,
            SmallWordClass::Thanks,
        ]);
        self.refuses()
            && self
                .words
                .iter()
                .filter(|word| !word.is_sign)
                .all(|word| word.held.is_none() && word.classes.intersects(allowed))
    }

    /// Whether the message is a greeting, thanks or a call for help in whatever language, with no more beside it than
    /// people add to one.
    pub(crate) fn is_small_talk(&self, wanted: SmallWordClass) -> bool {
        let small = SmallWords::get();
        let said: Vec<&OfflineWord<'_>> = self.words.iter().filter(|word| !word.is_sign).collect();
        let keys: Vec<&str> = said.iter().map(|word| word.key.as_str()).collect();
        let answer = small.find_answer(&keys, wanted);
        let is_answer = |at: usize| answer.is_some_and(|(from, to)| (from..to).contains(&at));
        let beside = SmallWordClassSet::of(&[
            wanted,
            SmallWordClass::Talk,
            SmallWordClass::Small,
            SmallWordClass::In,
            SmallWordClass::Hello,
            SmallWordClass::ToMe,
        ]);
        let is_wanted = |word: &&OfflineWord<'_>| small.classes_anywhere(&word.key).has(wanted);
        // "Munshi ji": whoever is greeted.
        let is_titled = |at: usize| said.get(at + 1).is_some_and(|next| is_honorific(&next.key));
        (answer.is_some() || said.iter().any(is_wanted))
            && said.iter().enumerate().all(|(at, word)| {
                is_answer(at)
                    || (word.held.is_none()
                        && (is_honorific(&word.key)
                            || is_titled(at)
                            || small.classes_anywhere(&word.key).intersects(beside)))
            })
    }

    /// Takes back as words the bare numbers in words that are something else: आठवण is no 58 where it is asked for.
    pub(crate) fn release_numbers(&mut self, is_word: impl Fn(&str) -> bool) {
        for (at, number) in self.numbers.iter_mut().enumerate() {
            let held: Vec<usize> = (0..self.words.len())
                .filter(|word| {
                    self.words.get(*word).is_some_and(|word| word.held == Some(WordOwner::Number(at)))
                })
                .collect();
            let [only] = held.as_slice() else { continue };
            let Some(word) = self.words.get_mut(*only) else { continue };
            if number.kind == munshi_lang::NumberKind::Plain && !word.key.is_empty() && is_word(&word.key) {
                word.held = None;
                // It stays in its place, so that the others keep theirs, and counts nothing.
                number.kind = munshi_lang::NumberKind::Date;
            }
        }
    }

    /// "Onnu parayamo" is no one thing, but please; and what asks to be told at the end is no ten.
    pub(crate) fn release_polite(&mut self) {
        let tells = |word: &OfflineWord<'_>| word.held.is_none() && word.classes.has(SmallWordClass::Tell);
        for at in 0..self.words.len() {
            let is_asked = self.words.get(at + 1).is_some_and(tells);
            let is_last = at > 0 && at + 1 == self.words.len();
            let Some(word) = self.words.get_mut(at) else { continue };
            let is_polite = is_asked && word.classes.has(SmallWordClass::Small);
            if let Some(WordOwner::Number(number)) = word.held
                && (is_polite || (is_last && word.classes.has(SmallWordClass::Tell)))
                && let Some(number) = self.numbers.get_mut(number)
                && number.text == word.text
            {
                word.held = None;
                number.kind = munshi_lang::NumberKind::Date;
            }
        }
    }

    pub(crate) fn text(&self, from: usize, to: usize) -> &'m str {
        let start = self.words.get(from).map_or(0, |word| word.start);
        let end = to.checked_sub(1).and_then(|last| self.words.get(last)).map_or(start, OfflineWord::end);
        self.message.get(start..end).unwrap_or_default()
    }

    pub(crate) fn is_latin(&self) -> bool {
        self.voice.form == ScriptForm::Latin
    }
}

/// Shah is a hundred and Dutta two, but not beside another number and with a capital.
fn drop_names(numbers: &mut Vec<NumberMention>) {
    let is_name = |number: &NumberMention| {
        let is_capital = number.text.chars().next().is_some_and(char::is_uppercase);
        number.kind == munshi_lang::NumberKind::Plain && is_capital && !number.text.contains(' ')
    };
    if numbers.iter().any(|number| !is_name(number)) {
        numbers.retain(|number| !is_name(number));
    }
}

/// The language, and others that explain the words nearly as well where it is not sure.
fn languages(message: &str, chosen: Language, confidence: f32, is_told: bool) -> Vec<Language> {
    let mut all = vec![chosen];
    if !is_told && confidence < 0.6 {
        let found = detect(message).map(|found| found.plausible).unwrap_or_default();
        all.extend(found.into_iter().filter(|other| *other != chosen).take(2));
    }
    all
}

fn word<'m>(token: &MessageToken<'m>, languages: &[Language]) -> OfflineWord<'m> {
    let words = SmallWords::get();
    // A small word of a language that is only possible may be a word that matters: diye. What asks or denies in any of
    // them is believed.
    let mut likeliest = words.classes(&token.key, languages.get(..1).unwrap_or_default());
    let stem = fold::stem(&token.key);
    if likeliest == SmallWordClassSet::NONE
        && let Some(language) = languages.first()
    {
        likeliest = classify_inflected(&stem, *language);
    }
    let mut careful = words.classes(&token.key, languages).intersection(CAREFUL);
    // "Ramesh ki limit": what marks a case in the likeliest language asks in no other.
    if likeliest.intersects(CASES) && !likeliest.has(SmallWordClass::Question) {
        careful = careful.without(SmallWordClassSet::of(&[SmallWordClass::Question]));
    }
    let mut classes = likeliest.with(careful);
    // English is mixed into all languages.
    if classes == SmallWordClassSet::NONE && token.text.is_ascii() {
        classes = words.classes(&token.key, &[Language::English]).intersection(MIXED);
    }
    let is_sign = matches!(token.kind, token::MessageTokenKind::Sign);
    let is_capital = token.text.chars().next().is_some_and(char::is_uppercase);
    OfflineWord {
        text: token.text,
        start: token.start,
        key: token.key.clone(),
        stem,
        classes,
        held: None,
        is_sign,
        is_capital,
        is_trade: classes.has(SmallWordClass::Trade) || is_trade(token.text, languages),
        is_unit: token
            .find(Languages::EVERY, |meaning| matches!(meaning, Meaning::Unit(_)).then_some(()))
            .is_some(),
    }
}

/// What a question's word is with something hung on it: ethrayaanu asks as ethra does.
fn classify_inflected(stem: &str, language: Language) -> SmallWordClassSet {
    let asks = SmallWordClassSet::of(&[SmallWordClass::Question]);
    strip_suffixes(stem, language, 3).fold(SmallWordClassSet::NONE, |set, front| {
        set.with(SmallWords::get().classes(&front, &[language]).intersection(asks))
    })
}

/// Marks the words that belong to what was read.
fn mark_found(words: &mut [OfflineWord<'_>], found: &MessageUnderstanding) {
    for (at, number) in found.numbers.iter().enumerate() {
        mark_owner(words, number.start, number.text.len(), WordOwner::Number(at));
    }
    for (at, date) in found.dates.iter().enumerate() {
        if !is_marker(words, date) {
            mark_owner(words, date.start, date.text.len(), WordOwner::Date(at));
        }
    }
    for time in &found.times {
        mark_owner(words, time.start, time.text.len(), WordOwner::Time);
    }
}

/// "Babu traders inu": a case word behind a trade, though "innu", which is typed with two, is today.
fn is_marker(words: &[OfflineWord<'_>], date: &DateMention) -> bool {
    let at = words.iter().position(|word| word.start == date.start && word.text.len() == date.text.len());
    let before = at.and_then(|at| words.get(at.checked_sub(1)?));
    let word = at.and_then(|at| words.get(at));
    let is_case = |word: &OfflineWord<'_>| word.classes.has(SmallWordClass::To) && word.text == word.key;
    word.is_some_and(is_case) && before.is_some_and(|before| before.is_trade || before.is_capital)
}

fn mark_owner(words: &mut [OfflineWord<'_>], start: usize, length: usize, held: WordOwner) {
    let inside = |word: &&mut OfflineWord<'_>| word.start >= start && word.start < start + length;
    for word in words.iter_mut().filter(inside) {
        word.held.get_or_insert(held);
    }
}
