//! Schemas that are whole by themselves, in the words that our check and models' providers read.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::document::{ServiceDocument, parse_reference};

/// A schema that needs more others is no tool's.
const MOST_PARTS: usize = 100;
const DEEPEST: usize = 40;
/// Words that mean nothing for an argument.
const IDLE: [&str; 8] =
    ["example", "examples", "xml", "externalDocs", "discriminator", "deprecated", "$schema", "$id"];

/// Collects what the schemas of one tool refer to.
pub(super) struct SchemaCollector<'a> {
    document: &'a ServiceDocument,
    /// Place in the document, and what it is called in the tool's own schema.
    names: BTreeMap<String, String>,
    taken: BTreeSet<String>,
    waiting: Vec<String>,
}

impl<'a> SchemaCollector<'a> {
    pub(super) fn new(document: &'a ServiceDocument) -> Self {
        Self { document, names: BTreeMap::new(), taken: BTreeSet::new(), waiting: Vec::new() }
    }

    /// The schema with its references led to the tool's own parts.
    pub(super) fn resolve_references(&mut self, schema: &Value) -> Result<Value, String> {
        self.walk(schema, DEEPEST)
    }

    /// What was referred to, by name; what that refers to in turn is among it.
    pub(super) fn into_definitions(mut self) -> Result<Map<String, Value>, String> {
        let mut definitions = Map::new();
        while let Some(place) = self.waiting.pop() {
            if definitions.len() >= MOST_PARTS {
                return Err(format!("its schema references more than {MOST_PARTS} others"));
            }
            let schema = self.document.get_reference(&format!("#{place}"))?.clone();
            let schema = self.walk(&schema, DEEPEST)?;
            let name = self.names.get(&place).cloned().unwrap_or_default();
            definitions.insert(name, schema);
        }
        Ok(definitions)
    }

    fn walk(&mut self, schema: &Value, levels: usize) -> Result<Value, String> {
        let Some(below) = levels.checked_sub(1) else {
            return Err("its schema is nested too deeply".to_owned());
        };
        match schema {
            Value::Array(items) => {
                items.iter().map(|item| self.walk(item, below)).collect::<Result<_, _>>().map(Value::Array)
            }
            Value::Object(fields) => self.walk_object(fields, below).map(Value::Object),
            plain => Ok(plain.clone()),
        }
    }

    fn walk_object(
        &mut self,
        fields: &Map<String, Value>,
        below: usize,
    ) -> Result<Map<String, Value>, String> {
        if let Some(reference) = fields.get("$ref").and_then(Value::as_str) {
            let name = self.register_reference(reference)?;
            return Ok([("$ref".to_owned(), json!(format!("#/$defs/{name}")))].into_iter().collect());
        }
        let mut made = Map::new();
        for (key, value) in fields {
            match key.as_str() {
                // What stands under these is data, and not a schema.
                "const" | "enum" | "default" | "required" | "type" => {
                    made.insert(key.clone(), value.clone());
                }
                // Names of arguments may be any word.
                "properties" | "patternProperties" | "$defs" | "definitions" => {
                    made.insert(key.clone(), self.walk_properties(value, below)?);
                }
                idle if IDLE.contains(&idle) || idle.starts_with("x-") => {}
                _ => {
                    made.insert(key.clone(), self.walk(value, below)?);
                }
            }
        }
        upgrade_keywords(&mut made);
        Ok(made)
    }

    /// Schemas by name. What only answers have is no argument.
    fn walk_properties(&mut self, value: &Value, below: usize) -> Result<Value, String> {
        let Some(fields) = value.as_object() else { return Ok(json!({})) };
        let sent = fields.iter().filter(|(_, schema)| schema.get("readOnly") != Some(&json!(true)));
        let walked = sent.map(|(name, schema)| Ok((name.clone(), self.walk(schema, below)?)));
        walked.collect::<Result<Map<_, _>, String>>().map(Value::Object)
    }

    fn register_reference(&mut self, reference: &str) -> Result<String, String> {
        let place = parse_reference(reference)?;
        if let Some(name) = self.names.get(&place) {
            return Ok(name.clone());
        }
        self.document.get_reference(reference)?;
        let last = place.rsplit('/').next().unwrap_or_default();
        let plain: String = last
            .chars()
            .map(|letter| if letter.is_ascii_alphanumeric() || letter == '_' { letter } else { '_' })
            .take(48)
            .collect();
        let mut name = plain.clone();
        let mut number = 1;
        while !self.taken.insert(name.clone()) {
            number += 1;
            name = format!("{plain}_{number}");
        }
        self.names.insert(place.clone(), name.clone());
        self.waiting.push(place);
        Ok(name)
    }
}

/// What version 3.0 says in its own way, as JSON Schema says it.
fn upgrade_keywords(schema: &mut Map<String, Value>) {
    if schema.remove("nullable") == Some(json!(true)) {
        if let Some(Value::String(kind)) = schema.get("type").cloned() {
            schema.insert("type".to_owned(), json!([kind, "null"]));
        }
        if let Some(Value::Array(values)) = schema.get_mut("enum")
            && !values.contains(&Value::Null)
        {
            values.push(Value::Null);
        }
    }
    for (bound, strict) in [("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")] {
        match schema.get(strict) {
            Some(Value::Bool(true)) => {
                schema.remove(strict);
                if let Some(limit) = schema.remove(bound) {
                    schema.insert(strict.to_owned(), limit);
                }
            }
            Some(Value::Bool(false)) => {
                schema.remove(strict);
            }
            _ => {}
        }
    }
    for flag in ["readOnly", "writeOnly"] {
        schema.remove(flag);
    }
    // What can't be sent can't be required either.
    let properties = schema.get("properties").and_then(Value::as_object).cloned();
    if let (Some(properties), Some(Value::Array(required))) = (properties, schema.get_mut("required")) {
        required.retain(|name| name.as_str().is_some_and(|name| properties.contains_key(name)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schema_takes_along_what_it_refers_to() {
        let root = json!({ "openapi": "3.0.3", "components": { "schemas": {
            "Pet": { "type": "object", "required": ["name", "id"], "properties": {
                "id": { "type": "integer", "readOnly": true }, "name": { "type": "string", "example": "Rex" },
                "tag": { "type": "string", "nullable": true }, "age": { "type": "number", "minimum": 0, "exclusiveMinimum": true },
                "parent": { "$ref": "#/components/schemas/Pet" }, "example": { "type": "string" } } } } } });
        let document = ServiceDocument::parse(root.to_string().as_bytes()).unwrap();
        let mut parts = SchemaCollector::new(&document);
        let whole = parts
            .resolve_references(&json!({ "type": "array", "items": { "$ref": "#/components/schemas/Pet" } }))
            .unwrap();
        assert_eq!(whole, json!({ "type": "array", "items": { "$ref": "#/$defs/Pet" } }));
        let definitions = parts.into_definitions().unwrap();
        assert_eq!(
            Value::Object(definitions),
            json!({ "Pet": { "type": "object", "required": ["name"], "properties": {
                "name": { "type": "string" }, "tag": { "type": ["string", "null"] },
                "age": { "type": "number", "exclusiveMinimum": 0 }, "parent": { "$ref": "#/$defs/Pet" },
                "example": { "type": "string" } } } })
        );
    }

    #[test]
    fn what_leads_out_or_is_endless_is_refused() {
        let document = ServiceDocument::parse(br#"{"openapi": "3.1.0"}"#).unwrap();
        assert!(
            SchemaCollector::new(&document).resolve_references(&json!({ "$ref": "other.json#/A" })).is_err()
        );
        let deep = (0..100).fold(json!({}), |inner, _| json!({ "items": inner }));
        assert!(SchemaCollector::new(&document).resolve_references(&deep).unwrap_err().contains("deep"));
    }
}
