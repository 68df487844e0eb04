//! Arguments that fit a schema, to call a tool with that only looks.

use serde_json::{Map, Value, json};

/// Deeper than this nothing is made up.
const DEEPEST: usize = 4;

/// The required arguments with the plainest values that fit; texts are `text`.
pub(super) fn arguments(schema: &Map<String, Value>, text: &str) -> Option<Map<String, Value>> {
    match value(&Value::Object(schema.clone()), text, DEEPEST)? {
        Value::Object(arguments) => Some(arguments),
        _ => None,
    }
}

fn value(schema: &Value, text: &str, levels: usize) -> Option<Value> {
    let levels = levels.checked_sub(1)?;
    if let Some(one) = schema.get("const").or_else(|| schema.get("default")) {
        return Some(one.clone());
    }
    if let Some(one) = schema.get("enum").and_then(Value::as_array).and_then(|list| list.first()) {
        return Some(one.clone());
    }
    if let Some(one) = ["anyOf", "oneOf"].iter().find_map(|key| schema.get(key)?.as_array()?.first()) {
        return value(one, text, levels);
    }
    let kind = match schema.get("type") {
        Some(Value::Array(kinds)) => kinds.first().and_then(Value::as_str),
        Some(kind) => kind.as_str(),
        None => schema.get("properties").map(|_| "object"),
    };
    Some(match kind? {
        "string" if schema.get("format").is_some() || schema.get("pattern").is_some() => return None,
        "string" => json!(text),
        "integer" | "number" => schema.get("minimum").cloned().unwrap_or(json!(1)),
        "boolean" => json!(false),
        "array" if schema.get("minItems").and_then(Value::as_u64).unwrap_or(0) == 0 => json!([]),
        "array" => json!([value(schema.get("items")?, text, levels)?]),
        "object" => object(schema, text, levels)?,
        _ => Value::Null,
    })
}

fn object(schema: &Value, text: &str, levels: usize) -> Option<Value> {
    let required = schema.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    let mut made = Map::new();
    for name in required.iter().filter_map(Value::as_str) {
        let of = schema.get("properties")?.get(name)?;
        made.insert(name.to_owned(), value(of, text, levels)?);
    }
    Some(Value::Object(made))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_required_is_made_up_and_nothing_else() {
        let schema = json!({ "type": "object", "required": ["path", "many", "how", "inner"], "properties": {
            "path": { "type": "string" }, "many": { "type": "integer", "minimum": 3 }, "how": { "enum": ["a", "b"] },
            "inner": { "type": "object", "required": ["x"], "properties": { "x": { "type": ["boolean", "null"] } } },
            "more": { "type": "string" } } });
        let made = arguments(schema.as_object().unwrap(), "t").unwrap();
        assert_eq!(
            Value::Object(made),
            json!({ "path": "t", "many": 3, "how": "a", "inner": { "x": false } })
        );
        let odd = json!({ "type": "object", "required": ["day"], "properties": { "day": { "type": "string", "format": "date" } } });
        assert_eq!(arguments(odd.as_object().unwrap(), "t"), None);
    }
}
