//! The persona speaks its own languages.

use std::borrow::Cow;
use std::ops::Range;

use munshi_lang::detect;
use munshi_types::{Language, Script};

use crate::classes::WordClassSet;
use crate::context::{AllowedLanguage, GuardrailContext};
use crate::lexicon::{self, NamedWordClass};
use crate::rule::{
    GuardrailCheck, GuardrailFinding, GuardrailRule, GuardrailScope, GuardrailSeverity, GuardrailTier,
    GuardrailView,
};

/// Fewer words than this tell no language: names, thanks, an address.
const FEWEST: usize = 3;

static ESCALATE: NamedWordClass = NamedWordClass::new("red-flag.escalate");

pub(crate) fn rule() -> GuardrailRule {
    GuardrailRule {
        id: Cow::Borrowed("language-lock"),
        tier: GuardrailTier::Human,
        severity: GuardrailSeverity::Block,
        scope: GuardrailScope::Sentence,
        prompt: Cow::Borrowed("Speak only your own languages; money and safety may be told in the person's."),
        phrase: "guard-my-language",
        check: GuardrailCheck::Sentences(check),
    }
}

fn check(view: &GuardrailView<'_>) -> Vec<GuardrailFinding> {
    let mut found = Vec::new();
    if view.context.lock.is_empty() {
        return found;
    }
    let mut start = 0;
    for (sentence, end) in view.ends.iter().copied().enumerate() {
        let text = view.text.get(start..end).unwrap_or_default();
        let spoken = view.reading.sentence_mask(sentence);
        let language = find_foreign(text, &(start..end), view);
        let theirs = language.is_some() && language == view.context.person_language && is_exempt(spoken);
        if (language.is_some() && !theirs) || is_unknown_script(view, &(start..end)) {
            let lead = text.len() - text.trim_start().len();
            found.push(GuardrailFinding::new(start + lead..end, "a language that is not the persona's"));
        }
        start = end;
    }
    found
}

/// Money and safety are told in the person's language, whatever the lock.
fn is_exempt(spoken: WordClassSet) -> bool {
    spoken.intersects(WordClassSet::of(lexicon::MONEY)) || spoken.intersects(ESCALATE.get())
}

/// The language of a sentence, when it is surely none of the persona's.
fn find_foreign(text: &str, place: &Range<usize>, view: &GuardrailView<'_>) -> Option<Language> {
    let context = view.context;
    let letter = |letter: char| Script::from_char(letter).is_some() || letter.is_alphabetic();
    text.split_ascii_whitespace().filter(|word| word.chars().any(letter)).nth(FEWEST - 1)?;
    if let Some(language) = detect_by_script(view, place) {
        let spoken = context.lock.iter().any(|tongue| {
            tongue.language == language
                && tongue.form.is_none_or(|form| form == munshi_lang::ScriptForm::Native)
        });
        return (!spoken).then_some(language);
    }
    if is_own_language(text, context) {
        return None;
    }
    let told = detect(text)?;
    let sure = told.is_sure() || !matches!(told.script, Script::Latin | Script::Devanagari);
    let fits = |tongue: &AllowedLanguage, language: Language| {
        tongue.language == language
            && (language == Language::English || tongue.form.is_none_or(|form| form == told.form()))
    };
    let allowed = context.lock.iter().any(|tongue| told.plausible.iter().any(|one| fits(tongue, *one)));
    (sure && !allowed).then_some(told.language)
}

/// Whether a sentence is mostly in a script that no language here is written in: no persona speaks it.
fn is_unknown_script(view: &GuardrailView<'_>, place: &Range<usize>) -> bool {
    let tokens = &view.reading.tokens;
    let (mut strange, mut all, mut words, mut spoken) = (0, 0, 0, false);
    for (at, token) in tokens.iter().enumerate().filter(|(_, token)| token.is_word()) {
        let plain = tokens.spelling(at);
        all += if place.contains(&token.start) { token.len() } else { 0 };
        // A known first letter of another script tells the word; letters that look like Latin ones have been read as
        // such, so that a Latin word is asked for one that does not.
        let known = if token.is_latin() {
            plain.is_ascii()
                || plain.chars().all(|letter| Script::from_char(letter).is_some() || !letter.is_alphabetic())
        } else {
            plain
                .chars()
                .next()
                .is_none_or(|letter| Script::from_char(letter).is_some() || !letter.is_alphabetic())
        };
        if !known && place.contains(&token.start) {
            strange += token.len();
            words += 1;
            spoken |= plain.chars().count() > FEWEST && plain.chars().all(|letter| letter >= UNSPACED);
        }
    }
    strange * 2 > all && (words >= FEWEST || spoken)
}

/// From Thai on, scripts set no space between words.
const UNSPACED: char = '\u{0E00}';

/// Small words that only one of the languages of its script has: where every fifth is one of the persona's, nobody
/// need look closer.
const SMALL_WORDS: [(Language, munshi_lang::ScriptForm, &[&str]); 3] = [
    (
        Language::English,
        munshi_lang::ScriptForm::Latin,
        &[
            "the", "is", "are", "of", "and", "you", "your", "it", "for", "with", "this", "that", "we",
            "will", "by", "be", "our", "have", "has", "not", "can", "from", "there", "please", "was", "if",
            "when", "what", "would", "which", "they", "their",
        ],
    ),
    (
        Language::Hindi,
        munshi_lang::ScriptForm::Latin,
        &[
            "hai", "hain", "aap", "aapka", "aapki", "aapko", "mein", "ko", "ki", "ke", "ka", "aur", "yeh",
            "kar", "nahi", "hoon", "liye", "woh", "agar", "chahiye", "gaya", "gayi", "raha", "rahi", "tak",
            "aaj", "yahan", "wala", "jayega", "sakte", "mujhe", "aapke",
        ],
    ),
    (
        Language::Hindi,
        munshi_lang::ScriptForm::Native,
        &[
            "है",
            "हैं",
            "में",
            "को",
            "की",
            "के",
            "का",
            "और",
            "यह",
            "आप",
            "आपका",
            "आपकी",
            "आपको",
            "नहीं",
            "हूँ",
            "तक",
            "से",
            "लिए",
            "वह",
            "जो",
            "इसमें",
            "गया",
            "गई",
            "आपके",
            "रहा",
            "रही",
            "भी",
            "था",
            "साथ",
        ],
    ),
];

/// Whether a text is plainly in one of the persona's languages.
fn is_own_language(text: &str, context: &GuardrailContext) -> bool {
    let spoken = |(language, form, _): &&(Language, munshi_lang::ScriptForm, &[&str])| {
        context.lock.iter().any(|tongue| {
            tongue.language == *language
                && (*language == Language::English || tongue.form.is_none_or(|one| one == *form))
        })
    };
    SMALL_WORDS.iter().filter(spoken).any(|(_, _, small)| {
        let (mut words, mut known) = (0, 0);
        for word in text.split_ascii_whitespace() {
            words += 1;
            known += usize::from(small.iter().any(|one| one.eq_ignore_ascii_case(word)));
        }
        known * 5 >= words
    })
}

/// The language of a script that only one language is written in, when most letters are of it.
fn detect_by_script(view: &GuardrailView<'_>, place: &Range<usize>) -> Option<Language> {
    let tokens = &view.reading.tokens;
    let mut counts = [0usize; Script::ALL.len()];
    for (at, token) in tokens.iter().enumerate().filter(|(_, token)| place.contains(&token.start)) {
        let script =
            tokens.spelling(at).chars().next().and_then(Script::from_char).filter(|_| token.is_word());
        if let Some(script) = script {
            // Letters of other scripts have three bytes each.
            counts[script as usize] += if script == Script::Latin { token.len() } else { token.len() / 3 };
        }
    }
    let script = Script::ALL.into_iter().max_by_key(|script| counts[*script as usize])?;
    let most = counts[script as usize] * 2 > counts.iter().sum();
    let one = most && !matches!(script, Script::Latin | Script::Devanagari);
    Language::ALL.into_iter().find(|language| one && language.script() == script)
}

#[cfg(test)]
mod tests {
    use munshi_lang::ScriptForm;
    use munshi_types::Language;

    use crate::rules::trial::check;
    use crate::{AllowedLanguage, GuardrailContext};

    #[test]
    fn hinglish_is_not_hindi_in_its_own_script() {
        let latin = AllowedLanguage { language: Language::Hindi, form: Some(ScriptForm::Latin) };
        let english = AllowedLanguage { language: Language::English, form: None };
        let context = GuardrailContext { lock: vec![latin, english], ..GuardrailContext::default() };
        for fine in ["Haan ji, aapka order kal tak aa jayega.", "Your order is on its way.", "धन्यवाद"]
        {
            assert!(check("language-lock", fine, &context).is_clean(), "{fine}");
        }
        for other in ["आपका ऑर्डर कल तक आ जाएगा।", "உங்கள் ஆர்டர் நாளை வரும்."]
        {
            assert!(!check("language-lock", other, &context).is_clean(), "{other}");
        }
    }

    #[test]
    fn money_is_told_in_the_persons_language() {
        let english = AllowedLanguage { language: Language::English, form: None };
        let context = GuardrailContext {
            lock: vec![english],
            person_language: Some(Language::Hindi),
            ..GuardrailContext::default()
        };
        assert!(check("language-lock", "आपके खाते से ₹500 कट गए हैं।", &context).is_clean());
        assert!(!check("language-lock", "आपका दिन बहुत अच्छा हो।", &context).is_clean());
    }
}
