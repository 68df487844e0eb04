//! What a tool wants to know, read from the JSON schema of its arguments.
//!
//! A property says what it is by `format` (`money`, `person`, `item`, `quantity`, `unit`, `date`, `period`, `phone`,
//! `text`, `sentence`); without one its type and name are looked at. `docs/models.md` has the table.

use serde_json::Value;

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ArgumentField {
    pub name: String,
    pub kind: ToolArgumentKind,
    pub is_required: bool,
    /// Of the JSON value: paise for an integer, rupees for a number, a string as money is written.
    pub form: ArgumentJsonType,
    /// A day that has been: a reading that is to come is none (`"when": "past"`).
    pub is_past: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ArgumentJsonType {
    Integer,
    Number,
    Text,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ToolArgumentKind {
    Money,
    Quantity,
    Unit,
    Person,
    Item,
    Date,
    Period,
    Phone,
    /// The message as it was said.
    Words,
    /// The same, for a tool that reads it itself: it answers for what it makes of every word.
    Sentence,
    /// One of these, each with the words people use for it.
    Choice(Vec<ArgumentChoice>),
    /// Nothing a message can be searched for.
    Unknown,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ArgumentChoice {
    pub value: Value,
    pub words: Vec<String>,
}

impl ToolArgumentKind {
    /// The keys of the single words that stand for its choices.
    pub(crate) fn choice_keys(&self) -> Vec<String> {
        let Self::Choice(choices) = self else { return Vec::new() };
        let words = choices.iter().flat_map(|choice| &choice.words).filter(|words| !words.contains(' '));
        words.map(|word| munshi_lang::fold::key(word)).filter(|key| !key.is_empty()).collect()
    }
}

/// The fields of a schema in the order it gives them.
pub(crate) fn parse_fields(schema: &Value) -> Vec<ArgumentField> {
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else { return Vec::new() };
    let required = schema.get("required").and_then(Value::as_array);
    let is_required =
        |name: &str| required.is_some_and(|all| all.iter().any(|one| one.as_str() == Some(name)));
    let field = |(name, property): (&String, &Value)| ArgumentField {
        name: name.clone(),
        kind: kind(name, property),
        is_required: is_required(name),
        form: parse_json_type(property),
        is_past: property.get("when").and_then(Value::as_str) == Some("past"),
    };
    properties.iter().map(field).collect()
}

fn parse_json_type(property: &Value) -> ArgumentJsonType {
    match property.get("type").and_then(Value::as_str) {
        Some("integer") => ArgumentJsonType::Integer,
        Some("number") => ArgumentJsonType::Number,
        _ => ArgumentJsonType::Text,
    }
}

fn kind(name: &str, property: &Value) -> ToolArgumentKind {
    if let Some(values) = property.get("enum").and_then(Value::as_array) {
        return ToolArgumentKind::Choice(values.iter().map(|value| choice(value, property)).collect());
    }
    if let Some(kind) = property.get("format").and_then(Value::as_str).and_then(kind_by_format) {
        return kind;
    }
    let is_number = parse_json_type(property) != ArgumentJsonType::Text;
    let said = |key| property.get(key).and_then(Value::as_str).unwrap_or_default();
    [name, said("title"), said("description")]
        .into_iter()
        .find_map(|text| kind_by_name(text, is_number))
        .unwrap_or(ToolArgumentKind::Unknown)
}

/// The words for a value: its own, and those under `words` in the property.
fn choice(value: &Value, property: &Value) -> ArgumentChoice {
    let own = value.as_str().map(|text| text.replace('_', " "));
    let more = value.as_str().and_then(|text| property.get("words")?.get(text)?.as_array());
    let more = more.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned);
    ArgumentChoice { value: value.clone(), words: own.into_iter().chain(more).collect() }
}

fn kind_by_format(format: &str) -> Option<ToolArgumentKind> {
    Some(match format {
        "money" => ToolArgumentKind::Money,
        "quantity" => ToolArgumentKind::Quantity,
        "unit" => ToolArgumentKind::Unit,
        "person" => ToolArgumentKind::Person,
        "item" => ToolArgumentKind::Item,
        "date" => ToolArgumentKind::Date,
        "period" => ToolArgumentKind::Period,
        "phone" => ToolArgumentKind::Phone,
        "text" => ToolArgumentKind::Words,
        "sentence" => ToolArgumentKind::Sentence,
        _ => return None,
    })
}

/// What a name says of its field, such as `amount` or `customer_name`.
fn kind_by_name(text: &str, is_number: bool) -> Option<ToolArgumentKind> {
    let text = text.to_ascii_lowercase();
    let has = |words: &[&str]| {
        text.split(|letter: char| !letter.is_ascii_alphanumeric()).any(|word| words.contains(&word))
    };
    if is_number {
        if has(&[
            "amount", "price", "total", "money", "paise", "rupees", "balance", "cost", "paid", "owed", "due",
        ]) {
            return Some(ToolArgumentKind::Money);
        }
        return has(&["quantity", "qty", "count", "number", "weight"]).then_some(ToolArgumentKind::Quantity);
    }
    for (words, kind) in [
        (&["unit"][..], ToolArgumentKind::Unit),
        (&["phone", "mobile", "telephone"], ToolArgumentKind::Phone),
        (&["date", "day", "when", "due"], ToolArgumentKind::Date),
        (&["period"], ToolArgumentKind::Period),
        (
            &["person", "customer", "supplier", "party", "contact", "who", "whom", "name"],
            ToolArgumentKind::Person,
        ),
        (&["item", "product", "goods", "thing", "what", "category"], ToolArgumentKind::Item),
        (&["note", "text", "remark", "message", "reason", "query"], ToolArgumentKind::Words),
    ] {
        if has(words) {
            return Some(kind);
        }
    }
    None
}

/// Whether a result's field is money, by its name.
pub(crate) fn names_money(name: &str) -> bool {
    kind_by_name(name, true) == Some(ToolArgumentKind::Money)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_property_is_told_by_its_format_or_its_name() {
        let schema = json!({
            "properties": {
                "how_much": {"type": "integer", "format": "money"},
                "total": {"type": "number"},
                "customer_name": {"type": "string"},
                "mode": {"enum": ["upi", "cash"], "words": {"cash": ["nakad"]}},
                "on": {"type": "string", "format": "date"},
                "flag": {"type": "boolean"},
            },
            "required": ["how_much"],
        });
        let found = parse_fields(&schema);
        let kind = |name: &str| found.iter().find(|field| field.name == name).unwrap().kind.clone();
        assert_eq!(kind("how_much"), ToolArgumentKind::Money);
        assert_eq!(kind("total"), ToolArgumentKind::Money);
        assert_eq!(kind("customer_name"), ToolArgumentKind::Person);
        assert_eq!(kind("on"), ToolArgumentKind::Date);
        assert_eq!(kind("flag"), ToolArgumentKind::Unknown);
        let ToolArgumentKind::Choice(choices) = kind("mode") else { panic!("no choice") };
        assert_eq!(choices[1].words, ["cash", "nakad"]);
        assert!(found.iter().filter(|field| field.is_required).count() == 1);
    }
}
