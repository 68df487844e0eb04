//! What editors read to complete and check a file as it is written.

use munshi_types::tier::TierKind;
use serde_json::{Map, Value, json};

use super::{FieldRequirement, TierField, ValueShape, fields, prose_key};

/// The JSON schema of a kind's file; of a human's or team's, that of the front matter.
pub fn build_schema(kind: TierKind) -> Value {
    let mut schema = table(fields(kind), prose_key(kind));
    if let Some(fields) = schema.as_object_mut() {
        let title = format!("Munshi {kind}: {}/NAME.{}", kind.folder(), kind.extension());
        fields.insert("$schema".to_owned(), json!("https://json-schema.org/draft/2020-12/schema"));
        fields.insert("title".to_owned(), json!(title));
    }
    schema
}

fn table(fields: &[TierField], skip: Option<&str>) -> Value {
    let known = || fields.iter().filter(|field| Some(field.name) != skip);
    let mut properties = Map::new();
    for field in known() {
        let mut schema = build_value_schema(&field.shape);
        if let Some(fields) = schema.as_object_mut() {
            fields.insert("description".to_owned(), json!(field.doc));
        }
        properties.insert(field.name.to_owned(), schema);
    }
    let required: Vec<&str> =
        known().filter(|field| field.needed == FieldRequirement::Always).map(|field| field.name).collect();
    json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
}

fn build_value_schema(shape_of: &ValueShape) -> Value {
    match shape_of {
        ValueShape::Text => json!({ "type": "string" }),
        ValueShape::Word(form) => match form.pattern {
            Some(pattern) => json!({ "type": "string", "pattern": pattern }),
            None => json!({ "type": "string" }),
        },
        ValueShape::Number { least, most } => json!({ "type": "integer", "minimum": least, "maximum": most }),
        ValueShape::Flag => json!({ "type": "boolean" }),
        ValueShape::Choice(words) => json!({ "enum": words }),
        ValueShape::List(inner) => json!({ "type": "array", "items": build_value_schema(inner) }),
        ValueShape::Table(fields) => table(fields, None),
        ValueShape::Map { values, .. } => {
            json!({ "type": "object", "additionalProperties": build_value_schema(values) })
        }
        ValueShape::Guardrail => json!({ "anyOf": [
            { "type": "string" },
            { "type": "object", "properties": { "id": { "type": "string" } }, "required": ["id"] },
        ] }),
        ValueShape::Free => json!({ "type": "object" }),
    }
}
