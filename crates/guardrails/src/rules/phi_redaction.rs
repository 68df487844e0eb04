//! Who is ill is not told together with what ails them.

use std::borrow::Cow;
use std::ops::Range;

use crate::digits::find_runs;
use crate::lexicon::NamedWordClass;
use crate::reading::{Clause, GuardrailReading};
use crate::rule::{
    GuardrailCheck, GuardrailFinding, GuardrailRule, GuardrailScope, GuardrailSeverity, GuardrailTier,
    GuardrailView,
};
use crate::table::fold_word;
use crate::tokens::{GuardrailToken, GuardrailTokenKind};

const HIDDEN: &str = "•••";

static HEALTH: NamedWordClass = NamedWordClass::new("phi-redaction.health");
static PATIENT: NamedWordClass = NamedWordClass::new("phi-redaction.patient");
static RECORD: NamedWordClass = NamedWordClass::new("phi-redaction.record");
static TITLE: NamedWordClass = NamedWordClass::new("phi-redaction.title");
static STOP: NamedWordClass = NamedWordClass::new("phi-redaction.stop");
static HAS: NamedWordClass = NamedWordClass::new("phi-redaction.has");
static YOU: NamedWordClass = NamedWordClass::new("you");
static BORN: NamedWordClass = NamedWordClass::new("phi-redaction.born");

pub(crate) fn rule() -> GuardrailRule {
    GuardrailRule {
        id: Cow::Borrowed("phi-redaction"),
        tier: GuardrailTier::Agent,
        severity: GuardrailSeverity::Rewrite,
        scope: GuardrailScope::Sentence,
        prompt: Cow::Borrowed(
            "Never tell a patient's name, number or record together with anything about their health.",
        ),
        phrase: "guard-not-shared",
        check: GuardrailCheck::Sentences(check),
    }
}

fn check(view: &GuardrailView<'_>) -> Vec<GuardrailFinding> {
    let (health, patient) = (HEALTH.get(), PATIENT.get());
    if !view.reading.has(health) && !view.reading.has(RECORD.get()) {
        return Vec::new();
    }
    let mut spans: Vec<Range<usize>> = Vec::new();
    for clause in &view.reading.clauses {
        let sentence = view.reading.sentence_mask(clause.sentence);
        find_records(view, clause, &mut spans);
        if sentence.intersects(health) {
            find_names(view, clause, &mut spans);
            if sentence.intersects(patient) {
                find_birth_dates(view, clause, &mut spans);
            }
        }
    }
    find_numbers(view, &mut spans);
    spans.sort_by_key(|span| span.start);
    spans.dedup();
    spans
        .into_iter()
        .map(|span| GuardrailFinding::with_replacement(span, "a patient's details", HIDDEN.to_owned()))
        .collect()
}

/// The number of a record: `UHID 44213`, `patient id: AP-2291`.
fn find_records(view: &GuardrailView<'_>, clause: &Clause, spans: &mut Vec<Range<usize>>) {
    let record = RECORD.get();
    let reading = view.reading;
    for at in clause.tokens().filter(|at| reading.has_class(*at, record)) {
        let from = reading.next_after_phrase(at);
        let value = (from..reading.tokens.len().min(from + 5))
            .find(|next| reading.tokens[*next].is_number() && reading.tokens[*next].len() >= 3);
        let Some(value) = value.filter(|value| !reading.tokens.has_hidden(from..*value)) else { continue };
        let parted =
            (from..value).any(|at| reading.tokens[at].is_sign('.') || reading.tokens[at].is_sign('\n'));
        if !parted {
            spans.push(expand_glued(&reading.tokens, value));
        }
    }
}

/// The token with what is tied to it: AP-2291.
fn expand_glued(tokens: &[GuardrailToken], at: usize) -> Range<usize> {
    let tied = |token: &GuardrailToken| token.gap == crate::tokens::TokenGap::None;
    let inner = |token: &GuardrailToken| !matches!(token.kind, GuardrailTokenKind::Sign(sign) if !matches!(sign, '-' | '/'));
    let mut from = at;
    while from > 0 && tied(&tokens[from]) && inner(&tokens[from - 1]) {
        from -= 1;
    }
    let mut to = at;
    while to + 1 < tokens.len() && tied(&tokens[to + 1]) && inner(&tokens[to + 1]) {
        to += 1;
    }
    tokens[from].start..tokens[to].end
}

/// Names after a title or a word for patient, names that tools returned, and names that a condition is said of.
fn find_names(view: &GuardrailView<'_>, clause: &Clause, spans: &mut Vec<Range<usize>>) {
    let (title, stop) = (TITLE.get(), STOP.get());
    let reading = view.reading;
    let own: Vec<String> =
        view.context.person_name.iter().flat_map(|name| name.split_whitespace()).map(fold_word).collect();
    let people: Vec<Vec<String>> =
        view.context.people.iter().map(|name| name.split_whitespace().map(fold_word).collect()).collect();
    for at in clause.tokens() {
        if reading.has_class(at, title) {
            let mut from = reading.next_after_phrase(at);
            if reading.tokens.get(from).is_some_and(|token| token.is_sign('.') || token.is_sign(':')) {
                from += 1;
            }
            let name = |at: usize| is_name(view, at) && !reading.has_class(at, stop);
            let to = (from..from + 3).take_while(|at| name(*at)).last();
            let theirs = |to: &usize| {
                own.iter().any(|own| reading.fold(from).starts_with(own.as_str()))
                    || is_addressed(reading, at, *to)
            };
            if let Some(to) = to.filter(|to| !theirs(to)) {
                spans.push(reading.tokens[from].start..reading.tokens[to].end);
            }
        }
        for person in &people {
            let fits = |(nth, part): (usize, &String)| reading.fold(at + nth).starts_with(part.as_str());
            if !person.is_empty() && person.iter().enumerate().all(fits) {
                spans.push(reading.tokens[at].start..reading.tokens[at + person.len() - 1].end);
            }
        }
        if has_condition(view, clause, at) && !own.iter().any(|own| reading.fold(at) == own) {
            spans.push(reading.tokens[at].start..reading.tokens[at].end);
        }
    }
}

/// `Mr. Sharma, your …`: the person is called by name, and told what is theirs.
fn is_addressed(reading: &GuardrailReading, title: usize, to: usize) -> bool {
    let begins = title.checked_sub(1).is_none_or(|before| {
        let greeted = reading.tokens[..title].iter().filter(|token| token.is_word()).count() <= GREETING;
        greeted || reading.tokens[before].is_sign('.') || reading.tokens[before].is_sign('\n')
    });
    let comma = reading.tokens.get(to + 1).is_some_and(|token| token.is_sign(','));
    let mut after = (to + 1..reading.tokens.len()).filter(|at| reading.is_word_or_number(*at)).take(GREETING);
    begins && comma && after.any(|at| reading.has_class(at, YOU.get()))
}

/// So many words greet before a name, or stand between it and `your`.
const GREETING: usize = 2;

/// A word in Latin letters with a capital, or any word of another script.
fn is_name(view: &GuardrailView<'_>, at: usize) -> bool {
    let Some(token) = view.reading.tokens.get(at).filter(|token| token.is_word()) else { return false };
    let first = view.text.get(token.start..).and_then(|text| text.chars().next());
    !token.is_latin() || first.is_some_and(char::is_uppercase)
}

/// A capitalised word with a condition said of it: `Sunita has diabetes`, `Ramesh ko TB hai`.
fn has_condition(view: &GuardrailView<'_>, clause: &Clause, at: usize) -> bool {
    let reading = view.reading;
    let token = &reading.tokens[at];
    let latin = token.is_word() && token.is_latin() && token.len() > 2 && is_name(view, at);
    let shouted =
        view.text.get(token.start..token.end).is_some_and(|text| text.chars().all(char::is_uppercase));
    if !latin || shouted || reading.has_class(at, STOP.get()) || reading.has_class(at, HEALTH.get()) {
        return false;
    }
    let is = HAS.get();
    let owned = reading.spelling(at).ends_with("'s")
        || reading.has_class(at + 1, is)
        || (is_name(view, at + 1) && reading.has_class(at + 2, is));
    let health = HEALTH.get();
    owned && (at + 1..(at + 8).min(clause.to)).any(|near| reading.has_class(near, health))
}

/// A date after a word for birth.
fn find_birth_dates(view: &GuardrailView<'_>, clause: &Clause, spans: &mut Vec<Range<usize>>) {
    let words = BORN.get();
    let reading = view.reading;
    for at in clause.tokens().filter(|at| reading.has_class(*at, words)) {
        let numbers: Vec<usize> = (at + 1..reading.tokens.len().min(at + 9))
            .filter(|next| reading.tokens[*next].is_number())
            .collect();
        if let (Some(first), Some(last)) = (numbers.first(), numbers.last())
            && !reading.tokens.has_hidden(at..*first)
        {
            spans.push(reading.tokens[*first].start..reading.tokens[*last].end);
        }
    }
}

/// Health account numbers have fourteen digits; a patient's telephone goes with the patient.
fn find_numbers(view: &GuardrailView<'_>, spans: &mut Vec<Range<usize>>) {
    let told = view.reading.has(PATIENT.get()) && view.reading.has(HEALTH.get());
    let account = view.reading.has(RECORD.get());
    if !(told || account) || !view.reading.tokens.traits.digits {
        return;
    }
    for run in find_runs(view.text) {
        let long = run.len() == 14 && (account || told);
        let telephone = told && (run.len() == 10 || run.len() == 12 && run.dialled);
        if long || telephone {
            spans.push(run.span());
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::GuardrailContext;
    use crate::rules::trial::{check, passed};

    #[test]
    fn patients_are_hidden_and_doctors_are_not() {
        for (reply, sent) in [
            ("Mrs. Sunita Devi is HIV positive.", "Mrs. ••• is HIV positive."),
            ("UHID 442137 has an open report.", "UHID ••• has an open report."),
            ("श्रीमती सुनीता देवी को मधुमेह है।", "श्रीमती ••• को मधुमेह है।"),
            ("Ramesh has diabetes.", "••• has diabetes."),
        ] {
            assert_eq!(check("phi-redaction", reply, &GuardrailContext::default()).text(), sent);
        }
        passed(
            "phi-redaction",
            &["Dr. Rao treats diabetes.", "Mrs. Devi, your table is booked.", "Diabetes is common."],
        );
        let own = GuardrailContext { person_name: Some("Sunita Devi".into()), ..GuardrailContext::default() };
        assert!(check("phi-redaction", "Mrs. Sunita, your sugar test is due.", &own).is_clean());
    }
}
