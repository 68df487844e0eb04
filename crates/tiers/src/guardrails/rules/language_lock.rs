//! The persona speaks its own languages.

use std::borrow::Cow;

use munshi_lang::detect;
use munshi_types::{Language, Script};

use crate::guardrails::context::{Context, Tongue};
use crate::guardrails::lexicon::{self, lexicon};
use crate::guardrails::rule::{Check, Found, Rule, Scope, Severity, Tier, View};
use crate::guardrails::sentences::ends;
use crate::guardrails::table::Classes;

/// Fewer words than this tell no language: names, thanks, an address.
const FEWEST: usize = 3;

pub(crate) fn rule() -> Rule {
    Rule {
        id: Cow::Borrowed("language-lock"),
        tier: Tier::Human,
        severity: Severity::Block,
        scope: Scope::Sentence,
        prompt: Cow::Borrowed("Speak only your own languages; money and safety may be told in the person's."),
        phrase: "guard-my-language",
        check: Check::Sentences(check),
    }
}

fn check(view: &View<'_>) -> Vec<Found> {
    let mut found = Vec::new();
    if view.context.lock.is_empty() {
        return found;
    }
    let mut start = 0;
    for (sentence, end) in ends(view.text).into_iter().enumerate() {
        let text = view.text.get(start..end).unwrap_or_default();
        let spoken = view.reading.sentence_mask(sentence);
        if let Some(language) = foreign(text, view.context)
            && !(Some(language) == view.context.person_language && concerns(spoken))
        {
            let lead = text.len() - text.trim_start().len();
            found.push(Found::new(start + lead..end, "a language that is not the persona's"));
        }
        start = end;
    }
    found
}

/// Money and safety are told in the person's language, whatever the lock.
fn concerns(spoken: Classes) -> bool {
    spoken.meets(Classes::of(lexicon::MONEY)) || spoken.meets(lexicon().class("red-flag.escalate"))
}

/// The language of a sentence, when it is surely none of the persona's.
fn foreign(text: &str, context: &Context) -> Option<Language> {
    if text.split_whitespace().filter(|word| word.chars().any(char::is_alphabetic)).count() < FEWEST {
        return None;
    }
    let told = detect(text)?;
    let sure = told.is_sure() || !matches!(told.script, Script::Latin | Script::Devanagari);
    let fits = |tongue: &Tongue, language: Language| {
        tongue.language == language
            && (language == Language::English || tongue.form.is_none_or(|form| form == told.form()))
    };
    let allowed = context.lock.iter().any(|tongue| told.plausible.iter().any(|one| fits(tongue, *one)));
    (sure && !allowed).then_some(told.language)
}

#[cfg(test)]
mod tests {
    use munshi_lang::Form;
    use munshi_types::Language;

    use crate::guardrails::rules::trial::check;
    use crate::guardrails::{Context, Tongue};

    #[test]
    fn hinglish_is_not_hindi_in_its_own_script() {
        let latin = Tongue { language: Language::Hindi, form: Some(Form::Latin) };
        let english = Tongue { language: Language::English, form: None };
        let context = Context { lock: vec![latin, english], ..Context::default() };
        for fine in ["Haan ji, aapka order kal tak aa jayega.", "Your order is on its way.", "धन्यवाद"] {
            assert!(check("language-lock", fine, &context).is_clean(), "{fine}");
        }
        for other in ["आपका ऑर्डर कल तक आ जाएगा।", "உங்கள் ஆர்டர் நாளை வரும்."] {
            assert!(!check("language-lock", other, &context).is_clean(), "{other}");
        }
    }

    #[test]
    fn money_is_told_in_the_persons_language() {
        let english = Tongue { language: Language::English, form: None };
        let context =
            Context { lock: vec![english], person_language: Some(Language::Hindi), ..Context::default() };
        assert!(check("language-lock", "आपके खाते से ₹500 कट गए हैं।", &context).is_clean());
        assert!(!check("language-lock", "आपका दिन बहुत अच्छा हो।", &context).is_clean());
    }
}
