//! Arguments from what was said, each in the form its schema wants.

use munshi_lang::{Certainty, MeasureUnit, Number, NumberKind, NumberMention};
use munshi_types::Language;
use serde_json::{Map, Value};

use crate::date_arguments;
use crate::name_roles::NameRole;
use crate::prepared_tools::{
    ArgumentChoice, ArgumentField, ArgumentJsonType, PreparedTool, ToolArgumentKind,
};
use crate::reading::OfflineReading;
use crate::small_words::{SmallWordClass, SmallWordClassSet, SmallWords};
use crate::spans::NameSpan;
use crate::tool_view::{MessageToolView, person_likelihood};

/// What could be filled, and what is open.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct FilledArguments {
    pub arguments: Map<String, Value>,
    /// Fields with more than one reading, with the readings.
    pub doubts: Vec<(String, Vec<Value>)>,
    /// A number has one reading, but not a certain one.
    pub is_faint: bool,
    /// Words that name something no field has a place for.
    pub left_over: usize,
    /// Numbers that no field has a place for.
    pub unplaced: usize,
    /// The words taken for a person.
    pub person: Option<NameSpan>,
    /// The words taken for a thing, as places in the reading.
    pub item: Option<NameSpan>,
}

impl FilledArguments {
    /// The first required field that nothing fills.
    pub(crate) fn first_missing<'t>(&self, tool: &'t PreparedTool) -> Option<&'t ArgumentField> {
        let open = |field: &&ArgumentField| field.is_required && !self.arguments.contains_key(&field.name);
        tool.fields.iter().filter(open).min_by_key(|field| order(&field.kind))
    }
}

impl FilledArguments {
    /// Cuts from a name without a case what may be one, where the phrase wants an owner: Anitar koto baki. Whether
    /// it did.
    pub(crate) fn strip_owner_ending(&mut self, tool: &PreparedTool, reading: &OfflineReading<'_>) -> bool {
        // Bengali's "kache" wants an owner before it: Kobitar kache.
        let is_bengali = reading.languages.first() == Some(&Language::Bengali);
        let may_own =
            |span: &&NameSpan| span.told.is_none() || (is_bengali && !span.is_fused && span.takes_part());
        let Some(person) = self.person.as_ref().filter(may_own) else { return false };
        let wanted = SmallWordClassSet::of(&[SmallWordClass::Own]);
        let cut = SmallWords::get().strip_ending(&person.text, &reading.languages, wanted);
        let ends_open = |front: &str| front.ends_with(['a', 'e', 'i', 'o', 'u']) && front.len() > 2;
        let Some((front, _)) = cut.filter(|(front, _)| ends_open(front)) else { return false };
        let Some(field) = tool.find_field(&ToolArgumentKind::Person) else { return false };
        self.arguments.insert(field.name.clone(), Value::from(front));
        true
    }
}

/// What is asked for first.
const fn order(kind: &ToolArgumentKind) -> u8 {
    match kind {
        ToolArgumentKind::Person => 0,
        ToolArgumentKind::Item => 1,
        ToolArgumentKind::Money | ToolArgumentKind::Quantity => 2,
        _ => 3,
    }
}

/// Fills a tool's fields from a message. `wanted` is the field that was asked for: an answer to it needs no more
/// than a bare number or a name.
pub(crate) fn fill(
    sight: &MessageToolView<'_>,
    spans: &[NameSpan],
    fields: &[ArgumentField],
    wanted: Option<&str>,
) -> FilledArguments {
    let mut filled = FilledArguments::default();
    let reading = &sight.reading;
    numbers(reading, fields, wanted, &mut filled);
    names(sight, spans, fields, wanted, &mut filled);
    for field in fields {
        let value = match &field.kind {
            ToolArgumentKind::Date => date_arguments::resolve_day(reading, field, &mut filled),
            ToolArgumentKind::Period => date_arguments::find_period(reading),
            ToolArgumentKind::Phone => {
                reading.numbers.iter().find_map(|number| number.digits.clone()).map(Value::from)
            }
            ToolArgumentKind::Words | ToolArgumentKind::Sentence => Some(Value::from(reading.message.trim())),
            ToolArgumentKind::Choice(choices) => find_choice(reading, choices),
            _ => None,
        };
        if let Some(value) = value {
            filled.arguments.insert(field.name.clone(), value);
        }
    }
    filled
}

fn numbers(
    reading: &OfflineReading<'_>,
    fields: &[ArgumentField],
    wanted: Option<&str>,
    filled: &mut FilledArguments,
) {
    let find = |kind: &ToolArgumentKind| fields.iter().find(|field| field.kind == *kind);
    let (money, quantity) = (find(&ToolArgumentKind::Money), find(&ToolArgumentKind::Quantity));
    let wants = |field: &ArgumentField| wanted == Some(field.name.as_str());
    for number in &reading.numbers {
        let field = match number.kind {
            NumberKind::Money => money,
            NumberKind::Quantity if number.unit.is_some_and(is_time) => None,
            NumberKind::Quantity => quantity.or(money.filter(|field| wants(field) && number.unit.is_none())),
            // A bare number is what there is a place for; with two places only the one that was asked for.
            NumberKind::Plain => match (money, quantity) {
                (Some(money), Some(quantity)) if wants(quantity) || !wants(money) && !money.is_required => {
                    Some(quantity)
                }
                (Some(money), _) => Some(money),
                (None, quantity) => quantity,
            },
            NumberKind::Phone | NumberKind::Date | NumberKind::Account => continue,
        };
        let Some(field) = field else {
            filled.unplaced += usize::from(!number.unit.is_some_and(is_time));
            continue;
        };
        set_number(number, field, filled);
        if let (Some(unit), Some(place)) = (number.unit, find(&ToolArgumentKind::Unit))
            && field.kind == ToolArgumentKind::Quantity
            && let Ok(unit) = serde_json::to_value(unit)
        {
            filled.arguments.insert(place.name.clone(), unit);
        }
    }
}

pub(crate) const fn is_time(unit: MeasureUnit) -> bool {
    matches!(
        unit,
        MeasureUnit::Minute
            | MeasureUnit::Hour
            | MeasureUnit::Day
            | MeasureUnit::Week
            | MeasureUnit::Month
            | MeasureUnit::Year
            | MeasureUnit::Percent
            | MeasureUnit::Times
            | MeasureUnit::Person
    )
}

/// Puts a number into its field; a second number there, or a second reading, makes it doubtful.
fn set_number(number: &NumberMention, field: &ArgumentField, filled: &mut FilledArguments) {
    // Nothing is neither owed nor sold; it is asked about.
    let mut readings: Vec<Value> = number
        .readings
        .iter()
        .filter(|value| **value != Number::ZERO)
        .filter_map(|value| to_json_value(*value, field))
        .collect();
    readings.dedup();
    let Some(first) = readings.first().cloned() else {
        filled.unplaced += 1;
        return;
    };
    if let Some((_, known)) = filled.doubts.iter_mut().find(|(name, _)| *name == field.name) {
        known.extend(readings);
        return;
    }
    if let Some(before) = filled.arguments.remove(&field.name) {
        readings.insert(0, before);
        filled.doubts.push((field.name.clone(), readings));
    } else if readings.len() > 1 {
        filled.doubts.push((field.name.clone(), readings));
    } else {
        filled.is_faint |= number.certainty == Certainty::Ambiguous;
        filled.arguments.insert(field.name.clone(), first);
    }
}

/// A number as the schema wants it: money in whole paise, in rupees where the type allows a fraction.
pub(crate) fn to_json_value(value: Number, field: &ArgumentField) -> Option<Value> {
    if field.kind == ToolArgumentKind::Money {
        let money = value.as_money()?;
        return match field.form {
            ArgumentJsonType::Integer => Some(Value::from(money.as_paise())),
            ArgumentJsonType::Number => to_json_number(value),
            ArgumentJsonType::Text => Some(Value::from(value.to_string())),
        };
    }
    match field.form {
        ArgumentJsonType::Integer => value.as_whole().map(Value::from),
        ArgumentJsonType::Number => to_json_number(value),
        ArgumentJsonType::Text => Some(Value::from(value.to_string())),
    }
}

fn to_json_number(value: Number) -> Option<Value> {
    value.as_whole().map(Value::from).or_else(|| serde_json::from_str(&value.to_string()).ok())
}

fn names(
    sight: &MessageToolView<'_>,
    spans: &[NameSpan],
    fields: &[ArgumentField],
    wanted: Option<&str>,
    filled: &mut FilledArguments,
) {
    let find = |kind: &ToolArgumentKind| fields.iter().find(|field| field.kind == *kind);
    let (person, item) = (find(&ToolArgumentKind::Person), find(&ToolArgumentKind::Item));
    let mut left: Vec<&NameSpan> = spans.iter().collect();
    let wants =
        |field: Option<&ArgumentField>| field.is_some_and(|field| wanted == Some(field.name.as_str()));
    let nobody = person.is_none();
    if wants(item) {
        take_item(sight, item, nobody, &mut left, filled);
    }
    if let Some(person) = person {
        take_person(person, item.is_some(), wants(Some(person)), &mut left, filled);
        take_other(person, fields, filled);
    }
    take_item(sight, item, nobody, &mut left, filled);
    filled.left_over = left.len();
}

fn take_person(
    field: &ArgumentField,
    has_item: bool,
    is_wanted: bool,
    left: &mut Vec<&NameSpan>,
    filled: &mut FilledArguments,
) {
    let least = match (field.is_required || is_wanted, has_item) {
        (true, false) => 0.0,
        (true, true) => 0.4,
        // An optional person needs more than not being a thing.
        (false, _) => 2.0,
    };
    let mut likely: Vec<&NameSpan> =
        left.iter().copied().filter(|span| person_likelihood(span) > least).collect();
    likely.sort_by(|one, other| {
        person_likelihood(other).total_cmp(&person_likelihood(one)).then(one.from.cmp(&other.from))
    });
    let Some(best) = likely.first().copied() else { return };
    // Two people in the same part: Ramesh aur Suresh ko.
    let rival = likely.get(1).filter(|other| {
        other.takes_part()
            && (person_likelihood(other) - person_likelihood(best)).abs() < 0.3
            && (!has_item || person_likelihood(other) >= 3.0)
    });
    left.retain(|span| span.from != best.from);
    match rival {
        Some(rival) => {
            let rival_from = rival.from;
            let both = vec![Value::from(best.text.clone()), Value::from(rival.text.clone())];
            left.retain(|span| span.from != rival_from);
            filled.doubts.push((field.name.clone(), both));
        }
        None => {
            filled.arguments.insert(field.name.clone(), Value::from(best.text.clone()));
            filled.person = Some(best.clone());
        }
    }
}

/// Two people are no doubt where the tool is about two: each has its field.
fn take_other(person: &ArgumentField, fields: &[ArgumentField], filled: &mut FilledArguments) {
    let mut others =
        fields.iter().filter(|field| field.kind == ToolArgumentKind::Person && field.name != person.name);
    let Some(other) = others.next() else { return };
    let doubt = filled.doubts.iter().find(|(name, _)| *name == person.name);
    let Some([first, second]) = doubt.map(|(_, both)| both.as_slice()) else { return };
    let both = [(person.name.clone(), first.clone()), (other.name.clone(), second.clone())];
    filled.doubts.retain(|(name, _)| *name != person.name);
    filled.arguments.extend(both);
}

/// Takes what is likeliest a thing. Where the tool knows of nobody, what has a person's case is one too: spent on tea.
fn take_item(
    sight: &MessageToolView<'_>,
    field: Option<&ArgumentField>,
    nobody: bool,
    left: &mut Vec<&NameSpan>,
    filled: &mut FilledArguments,
) {
    let Some(field) = field.filter(|field| !filled.arguments.contains_key(&field.name)) else { return };
    let likely = |span: &&NameSpan| nobody || !span.takes_part() || span.is_counted;
    let best = left
        .iter()
        .copied()
        .filter(likely)
        .max_by_key(|span| (span.is_counted, !span.takes_part(), std::cmp::Reverse(span.from)));
    let Some(best) = best else { return };
    let whole = extend_item(sight, best, left);
    left.retain(|span| span.from != best.from);
    filled.arguments.insert(field.name.clone(), Value::from(whole.text.clone()));
    filled.item = Some(whole);
}

/// An item with what hangs on it by a genitive: bijli ka bill.
fn extend_item(sight: &MessageToolView<'_>, span: &NameSpan, left: &mut Vec<&NameSpan>) -> NameSpan {
    if span.role() == Some(NameRole::Of)
        && let Some(next) = left.iter().copied().find(|next| next.from == span.to + 1 || next.from == span.to)
    {
        left.retain(|span| span.from != next.from);
        let text = sight.reading.text(span.from, next.to).to_owned();
        let mut whole = span.clone();
        (whole.text, whole.to) = (text, next.to);
        return whole;
    }
    join_items(sight, span, left).unwrap_or_else(|| span.clone())
}

/// Two things of which nothing is said apart: tea and snacks.
fn join_items(sight: &MessageToolView<'_>, span: &NameSpan, left: &mut Vec<&NameSpan>) -> Option<NameSpan> {
    let join = sight.reading.words.get(span.to)?;
    let next = left.iter().copied().find(|next| next.from == span.to + 1)?;
    let is_plain = |span: &NameSpan| span.told.is_none() && !span.is_counted && !span.is_capital;
    if !join.classes.has(SmallWordClass::And) || !is_plain(span) || !is_plain(next) {
        return None;
    }
    left.retain(|span| span.from != next.from);
    let text = sight.reading.text(span.from, next.to).to_owned();
    Some(NameSpan { text, to: next.to, ..span.clone() })
}

/// The choice whose words were said; none when two were.
fn find_choice(reading: &OfflineReading<'_>, choices: &[ArgumentChoice]) -> Option<Value> {
    let key = |text: &str| {
        let words: Vec<String> = text.split_whitespace().map(munshi_lang::fold::key).collect();
        format!(" {} ", words.join(" "))
    };
    let said: Vec<&str> = reading.words.iter().map(|word| word.key.as_str()).collect();
    let said = format!(" {} ", said.join(" "));
    let is_said = |choice: &&ArgumentChoice| {
        choice.words.iter().map(|words| key(words)).any(|words| words.trim() != "" && said.contains(&words))
    };
    let mut found = choices.iter().filter(is_said);
    let first = found.next()?;
    found.next().is_none().then(|| first.value.clone())
}
