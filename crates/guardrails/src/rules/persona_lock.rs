//! The persona stays who it is.

use std::borrow::Cow;

use crate::lexicon::{NamedPatterns, NamedWordClass};
use crate::reading::Clause;
use crate::rule::{
    GuardrailCheck, GuardrailFinding, GuardrailRule, GuardrailScope, GuardrailSeverity, GuardrailTier,
    GuardrailView,
};
use crate::table::fold_word;

static PATTERNS: NamedPatterns = NamedPatterns::new("persona-lock");
static MY_NAME: NamedWordClass = NamedWordClass::new("persona-lock.my-name");
static FILLER: NamedWordClass = NamedWordClass::new("persona-lock.filler");
static FORGET: NamedWordClass = NamedWordClass::new("persona-lock.forget");
static KEEP: NamedWordClass = NamedWordClass::new("persona-lock.keep");
static I_AM: NamedWordClass = NamedWordClass::new("persona-lock.i-am");
static I_MAY: NamedWordClass = NamedWordClass::new("persona-lock.i-may");
static AM: NamedWordClass = NamedWordClass::new("verb");
static NOW: NamedWordClass = NamedWordClass::new("persona-lock.now");
static ME: NamedWordClass = NamedWordClass::new("me");
static NO: NamedWordClass = NamedWordClass::new("no");
static YOU: NamedWordClass = NamedWordClass::new("you");

pub(crate) fn rule() -> GuardrailRule {
    GuardrailRule {
        id: Cow::Borrowed("persona-lock"),
        tier: GuardrailTier::Human,
        severity: GuardrailSeverity::Block,
        scope: GuardrailScope::Sentence,
        prompt: Cow::Borrowed("Stay who you are: never take another name, and never call this a role."),
        phrase: "guard-still-me",
        check: GuardrailCheck::Sentences(check),
    }
}

fn check(view: &GuardrailView<'_>) -> Vec<GuardrailFinding> {
    let mut found: Vec<GuardrailFinding> = PATTERNS
        .find(view.reading)
        .into_iter()
        .map(|span| GuardrailFinding::new(span, "it broke its persona"))
        .collect();
    if let Some(persona) = view
        .context
        .persona
        .as_ref()
        .filter(|_| [&ME, &MY_NAME, &FORGET, &I_MAY].iter().any(|class| view.reading.has(class.get())))
    {
        let names: Vec<String> = persona.split_whitespace().map(fold_word).collect();
        found.extend(find_other_name(view, &names));
        found.extend(find_denial(view, &names));
        found.extend(find_renaming(view, &names));
        found.extend(find_dismissal(view, &names));
    }
    found
}

/// `My name is …`, and not the persona's.
fn find_other_name(view: &GuardrailView<'_>, names: &[String]) -> Option<GuardrailFinding> {
    let (mine, filler) = (MY_NAME.get(), FILLER.get());
    let reading = view.reading;
    let at = (0..reading.tokens.len()).find(|at| reading.has_class(*at, mine))?;
    let mut next = reading.next_after_phrase(at);
    while reading.has_class(next, filler)
        || (reading.tokens.get(next).is_some() && !reading.is_word_or_number(next))
    {
        next += 1;
    }
    let token = reading.tokens.get(next).filter(|token| token.is_word())?;
    let own = names.iter().any(|name| reading.fold(next).starts_with(name.as_str()));
    // A name in Latin letters has a capital; `my name is not` and `my name is on the list` have none.
    let named = !token.is_latin() || view.text.get(token.start..)?.starts_with(char::is_uppercase);
    let known = reading.has_class(next, NO.get()) || reading.has_class(next, YOU.get());
    (!own && named && !known)
        .then(|| GuardrailFinding::new(reading.tokens[at].start..token.end, "another name"))
}

/// `I'm Max now`: a name alone after `I am`. Scripts without capitals need the `now` to tell it from a mood.
fn find_renaming(view: &GuardrailView<'_>, names: &[String]) -> Option<GuardrailFinding> {
    let reading = view.reading;
    let (am, now) = (AM.get(), NOW.get());
    let mut me = I_AM.get();
    me.add_all(I_MAY.get());
    let fits = |clause: &&Clause| clause.mask.intersects(me) && !clause.mask.intersects(NO.get());
    reading.clauses.iter().filter(fits).find_map(|clause| {
        let at = clause.tokens().find(|at| reading.has_class(*at, me))?;
        let mut rest =
            (reading.next_after_phrase(at)..clause.to).filter(|next| reading.is_word_or_number(*next));
        let name = rest.find(|next| !reading.has_class(*next, now))?;
        let token = reading.tokens.get(name).filter(|token| token.is_word() && token.len() > 2)?;
        let alone = rest.clone().all(|next| reading.has_class(next, now) || reading.has_class(next, am));
        let told = reading.has_class(at, I_AM.get()) || clause.mask.intersects(now) || rest.next().is_some();
        let letters = view.text.get(token.start..token.end)?;
        let capital = letters.starts_with(char::is_uppercase) && letters.contains(char::is_lowercase);
        let named = if token.is_latin() { capital } else { clause.mask.intersects(now) };
        let own = names.iter().any(|own| !own.is_empty() && reading.fold(name).starts_with(own.as_str()));
        let known = !reading.classes_of(name).is_empty();
        (alone && told && named && !own && !known)
            .then(|| GuardrailFinding::new(reading.tokens[at].start..token.end, "another name"))
    })
}

/// `Forget` and the persona's name.
fn find_dismissal(view: &GuardrailView<'_>, names: &[String]) -> Option<GuardrailFinding> {
    let reading = view.reading;
    let named =
        |at: usize| names.iter().any(|name| !name.is_empty() && reading.fold(at).starts_with(name.as_str()));
    if reading.has(KEEP.get()) {
        return None;
    }
    let at = (0..reading.tokens.len()).find(|at| reading.has_class(*at, FORGET.get()))?;
    let near = (at.saturating_sub(3)..at + 4).find(|near| named(*near))?;
    let (first, last) = (at.min(near), at.max(near));
    let span = reading.tokens.get(first)?.start..reading.tokens.get(last)?.end;
    Some(GuardrailFinding::new(span, "it denied its persona"))
}

/// `I am not` and the persona's name.
fn find_denial(view: &GuardrailView<'_>, names: &[String]) -> Option<GuardrailFinding> {
    let (me, no) = (ME.get(), NO.get());
    let reading = view.reading;
    reading.clauses.iter().filter(|clause| clause.mask.intersects(me) && clause.mask.intersects(no)).find_map(
        |clause| {
            let named = |at: &usize| names.iter().any(|name| !name.is_empty() && reading.fold(*at) == name);
            let at = clause.tokens().find(named)?;
            let close = |other: usize| reading.has_class(other, no) && other.abs_diff(at) <= 3;
            let token = reading.tokens.get(at)?;
            clause
                .tokens()
                .any(close)
                .then(|| GuardrailFinding::new(token.start..token.end, "it denied its persona"))
        },
    )
}

#[cfg(test)]
mod tests {
    use crate::GuardrailContext;
    use crate::rules::trial::check;

    #[test]
    fn another_name_and_a_denied_one_are_caught() {
        let context = GuardrailContext { persona: Some("Meera".into()), ..GuardrailContext::default() };
        for broken in [
            "My name is Priya.",
            "I am not Meera.",
            "मेरा नाम राहुल है।",
            "Okay, I will drop the act.",
            "என் பெயர் கவிதா.",
        ] {
            assert!(!check("persona-lock", broken, &context).is_clean(), "{broken}");
        }
        for fine in ["My name is Meera.", "मेरा नाम मीरा है।", "I'm not sure, let me ask.", "என் பெயர் மீரா."]
        {
            let verdict = check("persona-lock", fine, &context);
            assert!(verdict.is_clean(), "{fine}: {verdict:?}");
        }
    }
}
