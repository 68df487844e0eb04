//! The document, and what it refers to within itself.

use serde_json::Value;

use super::LARGEST_STORED_DOCUMENT;

/// A reference that leads to another one, and so on: further than this it leads nowhere.
const MOST_HOPS: usize = 16;

pub(super) struct ServiceDocument(Value);

/// What is wrong with a document that is to be stored, if anything is.
pub fn check_document(text: &str) -> Result<(), String> {
    if text.len() > LARGEST_STORED_DOCUMENT {
        return Err(format!(
            "the document is larger than {LARGEST_STORED_DOCUMENT} bytes: give its address instead"
        ));
    }
    ServiceDocument::parse(text.as_bytes()).map(|_| ())
}

impl ServiceDocument {
    /// Reads a document of version 3, or says what is wrong with it.
    pub(super) fn parse(text: &[u8]) -> Result<Self, String> {
        let root: Value = serde_json::from_slice(text).map_err(|error| {
            format!("the document is not JSON ({error}): give the address of its JSON form")
        })?;
        match root.get("openapi").and_then(Value::as_str) {
            Some(version) if version.starts_with("3.") => Ok(Self(root)),
            Some(version) => {
                Err(format!("the document uses OpenAPI {version}; only 3.0 and 3.1 are supported"))
            }
            None if root.get("swagger").is_some() => {
                Err("the document uses Swagger 2; only OpenAPI 3.0 and 3.1 are supported".to_owned())
            }
            None => Err("not an OpenAPI document: `openapi` is missing".to_owned()),
        }
    }

    pub(super) fn get(&self, key: &str) -> Option<&Value> {
        self.0.get(key)
    }

    pub(super) fn text(&self, pointer: &str) -> &str {
        self.0.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
    }

    /// What a value stands for: itself, or what it refers to within the document.
    pub(super) fn resolve<'a>(&'a self, value: &'a Value) -> Result<&'a Value, String> {
        let mut value = value;
        for _ in 0..MOST_HOPS {
            match value.get("$ref").and_then(Value::as_str) {
                None => return Ok(value),
                Some(reference) => value = self.get_reference(reference)?,
            }
        }
        Err("a reference is circular".to_owned())
    }

    /// What a reference names.
    pub(super) fn get_reference(&self, reference: &str) -> Result<&Value, String> {
        let pointer = parse_reference(reference)?;
        self.0.pointer(&pointer).ok_or_else(|| format!("`{reference}` does not resolve"))
    }
}

/// The place within the document; what leads out of it is not followed.
pub(super) fn parse_reference(reference: &str) -> Result<String, String> {
    let inner =
        reference.strip_prefix('#').ok_or_else(|| format!("`{reference}` points outside the document"))?;
    Ok(percent_encoding::percent_decode_str(inner).decode_utf8_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn references_are_followed_within_the_document_alone() {
        let root = json!({ "openapi": "3.1.0", "components": { "schemas": {
            "A": { "$ref": "#/components/schemas/B%20b" }, "B b": { "type": "string" },
            "Circle": { "$ref": "#/components/schemas/Circle" }, "Out": { "$ref": "https://evil.example/x.json" } } } });
        let document = ServiceDocument::parse(root.to_string().as_bytes()).unwrap();
        let to = |name: &str| json!({ "$ref": format!("#/components/schemas/{name}") });
        assert_eq!(document.resolve(&to("A")).unwrap(), &json!({ "type": "string" }));
        for (name, why) in [("Circle", "circular"), ("Out", "outside"), ("None", "does not resolve")] {
            assert!(document.resolve(&to(name)).unwrap_err().contains(why), "{name}");
        }
    }

    #[test]
    fn what_is_no_document_is_told_apart() {
        for (text, why) in [
            ("openapi: 3.0.0", "not JSON"),
            (r#"{"swagger": "2.0"}"#, "Swagger 2"),
            (r#"{"openapi": "4.0.0"}"#, "4.0.0"),
            ("{}", "missing"),
        ] {
            let told = ServiceDocument::parse(text.as_bytes()).err().unwrap_or_default();
            assert!(told.contains(why), "{told}");
        }
    }
}
