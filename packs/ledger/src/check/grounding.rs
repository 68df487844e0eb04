//! Whether a person has said what is about to be written. A model may have made it up, or taken it from something else:
//! then it is put before the person first.

use munshi_lang::names::strip_case_words as bare_name;
use munshi_lang::{ContactDirectory, UnderstandingContext, format, understand, yes_no};
use munshi_pack::{EarlierMessage, EarlierSpeaker, PackTurnContext};
use munshi_safety::pipeline::ActConcern;
use munshi_store::Tx;
use munshi_types::Money;
use serde_json::Value;

use super::figures;
use crate::books::{ContactId, contacts};
use crate::error::Result;
use crate::messages::names::{NameAgreement, compare_names};
use crate::tools::{amount, text};

/// What was said longer ago is not what a message goes on with.
const BACK: usize = 6;
/// Arguments that name people, and those that must stand in what was said letter by letter.
const PEOPLE: [&str; 4] = ["person", "buyer", "first", "second"];
const MARKS: [&str; 5] = ["upi", "phone", "gstin", "email", "text"];

/// What of an act nobody has said: an amount, a name, an address to pay to. An act of which nothing stands in the message
/// itself has not been asked for by it, unless the message answers a question.
pub(super) fn find_unsaid(
    tx: &mut Tx<'_>,
    scene: &PackTurnContext,
    arguments: &Value,
) -> Result<Option<ActConcern>> {
    let heard = Heard::of(scene);
    let mut parts = Vec::new();
    if let Some(amount) = amount(arguments).filter(|amount| *amount > Money::ZERO) {
        parts.push((format::rupees(amount), heard.amount(amount)));
    }
    for name in PEOPLE.into_iter().filter_map(|field| text(arguments, field)) {
        let (name, is_picked) = resolve_name(tx, name)?;
        let place = if is_picked && heard.is_pick() { Some(Place::Now) } else { heard.name(&name) };
        parts.push((name, place));
    }
    for mark in MARKS.into_iter().filter_map(|field| text(arguments, field)) {
        parts.push((mark.to_owned(), heard.mark(mark)));
    }
    let is_known = |place: &Option<Place>| place.is_some();
    let is_now = parts.iter().any(|(_, place)| *place == Some(Place::Now)) || heard.is_answer();
    let missing: Vec<String> =
        parts.into_iter().filter(|(_, place)| !is_now || !is_known(place)).map(|(part, _)| part).collect();
    let slots = vec![("list".to_owned(), missing.join(", "))];
    Ok((!missing.is_empty()).then(|| ActConcern { phrase: "ledger-unsaid".to_owned(), slots }))
}

/// Whom an argument names, and whether they were picked from choices rather than named.
fn resolve_name(tx: &mut Tx<'_>, said: &str) -> Result<(String, bool)> {
    if let Ok(id) = said.parse::<ContactId>() {
        return Ok((contacts::get(tx, id)?.name, true));
    }
    let new = said.strip_prefix('+').map(str::trim);
    Ok((bare_name(new.unwrap_or(said)).to_owned(), new.is_some()))
}

/// Where something was said.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Now,
    Before,
}

/// What was said now and lately. Our own words are what a person has said only where their message answers them.
struct Heard<'s> {
    message: &'s str,
    before: &'s [EarlierMessage],
}

impl<'s> Heard<'s> {
    fn of(scene: &'s PackTurnContext) -> Self {
        let from = scene.before.len().saturating_sub(BACK);
        Self { message: &scene.message, before: scene.before.get(from..).unwrap_or_default() }
    }

    fn locate(&self, holds: impl Fn(&str) -> bool) -> Option<Place> {
        if holds(self.message) {
            return Some(Place::Now);
        }
        let answered = self.before.last().filter(|_| self.is_answer());
        let theirs = self.before.iter().filter(|said| said.by == EarlierSpeaker::Person).chain(answered);
        theirs.map(|said| said.text.as_str()).any(holds).then_some(Place::Before)
    }

    fn amount(&self, amount: Money) -> Option<Place> {
        self.locate(|said| amounts(said).contains(&amount))
    }

    /// Somebody whom the books have named lately may be meant by "them" or "the second one".
    fn name(&self, name: &str) -> Option<Place> {
        let directory = ContactDirectory::new([name]);
        let holds = |said: &str| {
            !directory.find(said).is_empty()
                || compare_names(Some(name), Some(&said.replace('@', " "))) != NameAgreement::Others
        };
        let mut results = self.before.iter().flat_map(|said| &said.results);
        self.locate(holds)
            .or_else(|| results.any(|result| contains_name(result, name)).then_some(Place::Before))
    }

    fn mark(&self, mark: &str) -> Option<Place> {
        let mark = munshi_sms::normalize_identifier(mark);
        self.locate(|said| munshi_sms::normalize_identifier(said).contains(&mark))
    }

    /// Whether the message agrees to what was proposed.
    fn is_answer(&self) -> bool {
        // A colleague's question is no proposal of ours.
        self.before.last().is_some_and(|last| last.by != EarlierSpeaker::Colleague)
            && (yes_no::classify_reply(self.message) == yes_no::YesNoAnswer::Yes || self.is_pick())
    }

    /// Whether choices were put before the person, and the message is short enough to pick one.
    fn is_pick(&self) -> bool {
        let listed =
            self.before.last().is_some_and(|last| last.text.lines().any(|line| line.starts_with("1. ")));
        listed && self.message.split_whitespace().count() <= PICK
    }
}

/// Whether a result has somebody of this name, by the name alone or in a list such as "Sita ₹300".
fn contains_name(result: &Value, name: &str) -> bool {
    match result {
        Value::String(text) => !ContactDirectory::new([name]).find(text).is_empty(),
        Value::Array(values) => values.iter().any(|value| contains_name(value, name)),
        Value::Object(fields) => fields.values().any(|value| contains_name(value, name)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// The words of somebody who picks.
const PICK: usize = 6;

/// The amounts of a message, in digits and in words.
pub(super) fn amounts(message: &str) -> Vec<Money> {
    let read = understand(message, &UnderstandingContext::default()).numbers;
    let readings = read.iter().flat_map(|number| &number.readings).filter_map(|reading| reading.as_money());
    figures::numbers(message).into_iter().chain(readings).collect()
}
