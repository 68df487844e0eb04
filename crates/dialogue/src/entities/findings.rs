//! What a tool's result speaks of: things with an id and a name, lists of them, and how many there are.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// So many things are kept, the newest.
pub const MOST: usize = 20;
/// In letters.
pub(super) const LONGEST_NAME: usize = 80;
/// In bytes.
pub(super) const LONGEST_ID: usize = 64;
pub(super) const LONGEST_KIND: usize = 32;
/// So many values of a result are looked at, so deep.
const MOST_VALUES: usize = 2_000;
const DEEPEST: usize = 12;

const IDS: [&str; 6] = ["id", "uuid", "key", "code", "number", "reference"];
const NAMES: [&str; 7] = ["name", "full_name", "display_name", "title", "label", "subject", "summary"];
const KINDS: [&str; 3] = ["kind", "type", "object"];
const COUNTS: [&str; 6] = ["count", "total", "total_count", "found", "matches", "size"];
/// Words for a list that do not say of what.
const ANY: [&str; 12] = [
    "items", "results", "result", "data", "rows", "records", "entries", "list", "matches", "found", "value",
    "hits",
];

/// Something with an id and a name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EntityRef {
    pub kind: String,
    pub id: String,
    pub name: String,
}

/// A list in a result, with as many of its things as are kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ResultList {
    pub kind: String,
    pub count: u64,
    pub of: Vec<EntityRef>,
}

#[derive(Debug, Default)]
pub(super) struct ResultFindings {
    /// In the order of the result.
    pub things: Vec<EntityRef>,
    /// The last is the one the result ends with.
    pub lists: Vec<ResultList>,
}

/// Reads a result. `kind` is what the tool is about, where nothing says more.
pub(super) fn scan(result: &Value, kind: &str) -> ResultFindings {
    let mut walk = Walk {
        found: ResultFindings::default(),
        left: MOST_VALUES,
        kind: parse_kind(kind).unwrap_or_else(|| "thing".to_owned()),
    };
    let kind = walk.kind.clone();
    walk.value(result, &kind, DEEPEST);
    walk.found
}

struct Walk {
    found: ResultFindings,
    left: usize,
    kind: String,
}

impl Walk {
    fn value(&mut self, value: &Value, kind: &str, depth: usize) {
        let (Some(left), Some(depth)) = (self.left.checked_sub(1), depth.checked_sub(1)) else { return };
        self.left = left;
        match value {
            Value::Object(fields) => self.object(fields, kind, depth),
            Value::Array(items) => self.array(items, kind, None, depth),
            Value::String(text) => self.text(text),
            _ => {}
        }
    }

    fn object(&mut self, fields: &Map<String, Value>, kind: &str, depth: usize) {
        let thing = parse_entity(fields, kind);
        self.found.things.extend(thing.filter(|thing| !self.found.things.contains(thing)));
        let told = COUNTS.iter().find_map(|name| fields.get(*name).and_then(Value::as_u64));
        let lists = fields.values().filter(|value| value.is_array()).count();
        for (key, value) in fields {
            match value {
                // A count beside two lists is of neither.
                Value::Array(items) => {
                    let told = told.filter(|_| lists == 1);
                    self.array(items, &self.kind_of(key), told, depth);
                }
                Value::Object(_) => self.value(value, &self.kind_of(key), depth),
                Value::String(text) => self.text(text),
                Value::Number(number) => self.visit_count(key, number.as_u64(), lists),
                _ => {}
            }
        }
    }

    fn array(&mut self, items: &[Value], kind: &str, told: Option<u64>, depth: usize) {
        let of: Vec<EntityRef> =
            items.iter().filter_map(|item| parse_entity(item.as_object()?, kind)).take(MOST).collect();
        for item in items {
            self.value(item, kind, depth);
        }
        let count = told.filter(|told| *told >= items.len() as u64).unwrap_or(items.len() as u64);
        let said_of = of.first().map_or_else(|| kind.to_owned(), |first| first.kind.clone());
        let is_of_things = !of.is_empty() || items.is_empty();
        if is_of_things {
            self.list(ResultList { kind: said_of, count, of });
        }
    }

    /// `{"count": 3}` without a list, or `{"leads_found": 3}`.
    fn visit_count(&mut self, key: &str, count: Option<u64>, lists: usize) {
        let Some(count) = count else { return };
        let named = ["_count", "_total", "_found"].iter().find_map(|end| key.strip_suffix(end));
        let kind = match named.filter(|kind| !kind.is_empty() && *kind != "total") {
            Some(kind) => self.kind_of(kind),
            None if COUNTS.contains(&key) && lists == 0 => self.kind.clone(),
            None => return,
        };
        self.list(ResultList { kind, count, of: Vec::new() });
    }

    /// `1 lead found`
    fn text(&mut self, text: &str) {
        let mut words = text.split_whitespace();
        let (Some(number), Some(kind), Some(found)) = (words.next(), words.next(), words.next()) else {
            return;
        };
        let is_found = found.trim_matches(|c: char| !c.is_alphanumeric()).eq_ignore_ascii_case("found");
        if let (true, Ok(count), Some(kind)) = (is_found, number.parse(), parse_kind(&singular(kind))) {
            self.list(ResultList { kind, count, of: Vec::new() });
        }
    }

    fn list(&mut self, list: ResultList) {
        if self.found.lists.len() < MOST {
            self.found.lists.push(list);
        }
    }

    fn kind_of(&self, key: &str) -> String {
        if ANY.contains(&key) {
            self.kind.clone()
        } else {
            parse_kind(&singular(key)).unwrap_or_else(|| self.kind.clone())
        }
    }
}

fn parse_entity(fields: &Map<String, Value>, kind: &str) -> Option<EntityRef> {
    let name = NAMES.iter().find_map(|name| fields.get(*name)?.as_str());
    let name = line(name?, LONGEST_NAME).filter(|name| name.chars().any(char::is_alphanumeric))?;
    let said = KINDS.iter().find_map(|key| parse_kind(fields.get(*key)?.as_str()?));
    let (own, id) = id_of(fields)?;
    Some(EntityRef { kind: said.or(own).unwrap_or_else(|| kind.to_owned()), id, name })
}

/// The id, and the kind that its field names: `lead_id`.
fn id_of(fields: &Map<String, Value>) -> Option<(Option<String>, String)> {
    let plain = IDS.iter().find_map(|key| Some((None, id_text(fields.get(*key)?)?)));
    plain.or_else(|| {
        fields.iter().find_map(|(key, value)| {
            let kind = key.strip_suffix("_id").and_then(parse_kind)?;
            Some((Some(kind), id_text(value)?))
        })
    })
}

/// An id that is cut is another's.
fn id_text(value: &Value) -> Option<String> {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        _ => return None,
    };
    let fits = !text.is_empty()
        && text.len() <= LONGEST_ID
        && !text.chars().any(|c| c.is_control() || c.is_whitespace());
    fits.then_some(text)
}

/// On one line, not longer than so many letters, without signs that nobody sees.
pub(super) fn line(text: &str, most: usize) -> Option<String> {
    let words = text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty());
    let mut out = String::new();
    for (at, letter) in words.flat_map(|word| std::iter::once(' ').chain(word.chars())).skip(1).enumerate() {
        if at == most {
            out.push('…');
            break;
        }
        out.push(letter);
    }
    (!out.is_empty()).then_some(out)
}

/// A kind: small letters, not long.
fn parse_kind(text: &str) -> Option<String> {
    let plain = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    let fits = !text.is_empty() && text.len() <= LONGEST_KIND && text.chars().all(plain);
    fits.then(|| text.to_lowercase().replace(['_', '-'], " "))
}

fn singular(key: &str) -> String {
    let key = key.trim_matches(|c: char| !c.is_alphanumeric());
    if key == "people" {
        return "person".to_owned();
    }
    if let Some(front) = key.strip_suffix("ies").filter(|front| front.len() > 1) {
        return format!("{front}y");
    }
    let sibilant = ["sses", "xes", "ches", "shes", "zes"].iter().any(|end| key.ends_with(end));
    let cut = match key.strip_suffix('s') {
        _ if sibilant => key.strip_suffix("es"),
        Some(front) if !front.ends_with(['s', 'u', 'i']) && front.len() > 1 => Some(front),
        _ => None,
    };
    cut.unwrap_or(key).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn kinds_are_said_in_the_singular() {
        for (many, one) in [
            ("leads", "lead"),
            ("companies", "company"),
            ("boxes", "box"),
            ("addresses", "address"),
            ("people", "person"),
            ("status", "status"),
            ("lead", "lead"),
            ("s", "s"),
            ("expenses", "expense"),
        ] {
            assert_eq!(singular(many), one);
        }
    }

    #[test]
    fn things_lists_and_counts_are_found_wherever_they_stand() {
        let result = json!({
            "total": 12,
            "leads": [
                { "id": 17, "name": "Ramesh\n Kumar", "company": { "company_id": "c-1", "title": "Sharma Stores" } },
                { "lead_id": "L2", "full_name": "Suresh" },
                { "id": "no name" },
            ],
        });
        let found = scan(&result, "crm");
        let told: Vec<String> =
            found.things.iter().map(|t| format!("{} {} {}", t.kind, t.id, t.name)).collect();
        assert_eq!(told, ["lead 17 Ramesh Kumar", "company c-1 Sharma Stores", "lead L2 Suresh"]);
        assert_eq!(found.lists.len(), 1);
        assert_eq!(
            (found.lists[0].kind.as_str(), found.lists[0].count, found.lists[0].of.len()),
            ("lead", 12, 2)
        );
        for (result, kind, count) in [
            (json!({ "count": 0, "items": [] }), "lead", 0),
            (json!({ "count": 3 }), "lead", 3),
            (json!({ "orders_found": 2 }), "order", 2),
            (json!({ "text": "1 invoice found: 2024/7" }), "invoice", 1),
            (json!([{ "id": 1, "name": "a" }]), "lead", 1),
        ] {
            let list = scan(&result, "lead").lists.pop().unwrap();
            assert_eq!((list.kind.as_str(), list.count), (kind, count), "{result}");
        }
        assert!(scan(&json!({ "amount": 5, "note": "nothing was found here" }), "sale").lists.is_empty());
    }
}
