//! The people a tool's result speaks of, so that no model elsewhere reads their names.
//!
//! Too many are found rather than too few: a name that is hidden comes back as it was, whoever it was.

use munshi_lang::token::digit_value;
use serde_json::{Map, Value};

use crate::entities::SessionEntities;

/// More of a result is not looked at.
const MOST_VALUES: usize = 20_000;
const DEEPEST: usize = 12;
/// In letters; longer is a text and no name.
const LONGEST: usize = 80;

/// What somebody is to a business. The plural and `_name` are meant too.
const PEOPLE: [&str; 44] = [
    "people",
    "person",
    "customer",
    "client",
    "contact",
    "patient",
    "member",
    "lead",
    "user",
    "staff",
    "employee",
    "worker",
    "student",
    "pupil",
    "teacher",
    "parent",
    "guardian",
    "guest",
    "visitor",
    "owner",
    "supplier",
    "vendor",
    "dealer",
    "buyer",
    "seller",
    "party",
    "payee",
    "payer",
    "debtor",
    "creditor",
    "borrower",
    "lender",
    "sender",
    "recipient",
    "receiver",
    "beneficiary",
    "nominee",
    "driver",
    "doctor",
    "agent",
    "author",
    "father",
    "mother",
    "spouse",
];
/// Who has one of these is somebody.
const REACHED: [&str; 8] =
    ["phone", "mobile", "whatsapp", "email", "person", "person_id", "customer_id", "upi"];
const NAMES: [&str; 7] =
    ["name", "full_name", "display_name", "first_name", "last_name", "nickname", "alias"];
/// Names of things, under which everything is named likewise.
const KINDS: [&str; 3] = ["kind", "type", "object"];

/// The names in a result of a tool that is about `scope`, each once.
pub(crate) fn extract_people(result: &Value, scope: &str) -> Vec<String> {
    let mut walk = Walk { names: Vec::new(), left: MOST_VALUES };
    let about = scope.split(['.', '/', '_']).any(is_person);
    walk.value(result, about, DEEPEST);
    walk.names.sort_unstable();
    walk.names.dedup();
    walk.names
}

/// Those the conversation has spoken of before.
pub(crate) fn list_known_people(entities: &SessionEntities) -> Vec<String> {
    entities.known().filter(|one| is_person(&one.kind)).map(|one| one.name).collect()
}

struct Walk {
    names: Vec<String>,
    left: usize,
}

impl Walk {
    /// `about` says that what is named here is somebody.
    fn value(&mut self, value: &Value, about: bool, depth: usize) {
        let (Some(left), Some(depth)) = (self.left.checked_sub(1), depth.checked_sub(1)) else { return };
        self.left = left;
        match value {
            Value::Object(fields) => self.object(fields, about, depth),
            Value::Array(items) => items.iter().for_each(|item| self.value(item, about, depth)),
            _ => {}
        }
    }

    fn object(&mut self, fields: &Map<String, Value>, about: bool, depth: usize) {
        let kind = KINDS.iter().find_map(|key| fields.get(*key)?.as_str());
        let about = kind.map_or(about, is_person) || REACHED.iter().any(|key| fields.contains_key(*key));
        for (key, value) in fields {
            let key = key.to_lowercase();
            let is_theirs = names_somebody(&key);
            match value {
                Value::String(text) if about && NAMES.contains(&key.as_str()) => self.take(text),
                // An id of somebody is no name of theirs.
                Value::String(text) if is_theirs && !has_digits(text) => self.take(text),
                Value::Array(items) if is_theirs => {
                    let texts = items.iter().filter_map(Value::as_str);
                    texts.filter(|text| !has_digits(text)).for_each(|text| self.take(text));
                    self.value(value, true, depth);
                }
                // Whoever may have been meant is asked for by these.
                Value::Object(asked) if key == "choices" => {
                    let of = asked.get("of").and_then(Value::as_array).into_iter().flatten();
                    let labels = of.filter_map(|choice| choice.get("label")?.as_str());
                    labels.filter(|label| !has_digits(label)).for_each(|label| self.take(label));
                }
                // What hangs on somebody is not somebody: a customer's orders have names of their own.
                Value::Object(_) | Value::Array(_) => {
                    self.value(value, is_theirs || (about && is_generic_list(&key)), depth);
                }
                _ => {}
            }
        }
    }

    fn take(&mut self, text: &str) {
        let text = text.trim();
        let fits = text.chars().any(char::is_alphabetic) && text.chars().count() <= LONGEST;
        if fits {
            self.names.push(text.to_owned());
        }
    }
}

fn has_digits(text: &str) -> bool {
    text.chars().any(|letter| digit_value(letter).is_some())
}

/// `customer`, `customers`, `customer_name`, `paid_by` not.
fn names_somebody(key: &str) -> bool {
    let key = key.strip_suffix("_name").or_else(|| key.strip_suffix("_names")).unwrap_or(key);
    key.rsplit('_').next().is_some_and(is_person)
}

fn is_person(word: &str) -> bool {
    let word = word.trim().to_lowercase();
    let one = word.strip_suffix("ies").map(|front| format!("{front}y"));
    let one = one.as_deref().or_else(|| word.strip_suffix('s')).unwrap_or(&word);
    PEOPLE.contains(&word.as_str()) || PEOPLE.contains(&one)
}

/// Words for a list that do not say of what.
fn is_generic_list(key: &str) -> bool {
    ["items", "results", "result", "data", "rows", "records", "entries", "list", "matches", "found"]
        .contains(&key)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn people_are_found_wherever_a_result_names_them() {
        for (result, scope, names) in [
            (
                json!({ "customers": [{ "name": "Asha" }, { "name": "रवि" }] }),
                "shop.look",
                vec!["Asha", "रवि"],
            ),
            (json!({ "customer": { "id": 4, "full_name": "Asha Rao" } }), "shop.look", vec!["Asha Rao"]),
            (json!({ "rows": [{ "name": "Asha", "phone": "98" }] }), "shop.look", vec!["Asha"]),
            (
                json!({ "sale": { "customer_name": "Asha", "party": "Ravi", "payee": "c-17" } }),
                "",
                vec!["Asha", "Ravi"],
            ),
            (json!({ "members": ["Asha", "Ravi", "m-2"] }), "", vec!["Asha", "Ravi"]),
            (
                json!([{ "type": "lead", "name": "Asha" }, { "type": "product", "name": "Soap" }]),
                "",
                vec!["Asha"],
            ),
            (
                json!({ "count": 1, "results": [{ "name": "Asha", "balance": 5 }] }),
                "customers.find",
                vec!["Asha"],
            ),
            (json!({ "parties": [{ "name": "Asha", "orders": [{ "name": "Soap" }] }] }), "", vec!["Asha"]),
            (
                json!({ "ok": false, "choices": { "of": [{ "value": 1, "label": "Asha Rao" }] } }),
                "",
                vec!["Asha Rao"],
            ),
            (json!({ "items": [{ "sku": "A1", "name": "Soap" }], "title": "Stock" }), "shop.stock", vec![]),
        ] {
            assert_eq!(extract_people(&result, scope), names, "{result}");
        }
        assert!(extract_people(&json!({ "customer": "x".repeat(200) }), "").is_empty());
    }
}
