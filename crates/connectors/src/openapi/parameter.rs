//! What an operation takes beside a body.

use std::collections::BTreeSet;

use serde_json::Value;

use super::document::ServiceDocument;

/// Where a value stands in a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ParameterLocation {
    Path,
    Query,
    Header,
}

/// How a value that is not plain is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ParameterStyle {
    /// Each on its own, or between commas.
    Comma {
        explode: bool,
    },
    Space,
    Pipe,
    /// `name[field]=value`
    Deep,
}

#[derive(Clone, Debug)]
pub(super) struct OperationParameter {
    /// What the model calls it.
    pub(super) argument: String,
    /// What the service calls it.
    pub(super) name: String,
    pub(super) at: ParameterLocation,
    pub(super) required: bool,
    pub(super) style: ParameterStyle,
    pub(super) schema: Value,
    /// The fields that its schema declares of an object.
    pub(super) fields: BTreeSet<String>,
    pub(super) about: String,
}

/// Of schemas within schemas; further than this nothing is looked for.
const DEEPEST: usize = 8;

/// Headers that are ours to write: what the call is, how it travels, who it is from, and to whom. One that has the service
/// take a look for another method would make a look a deed.
const OURS: [&str; 25] = [
    "accept",
    "authorization",
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "cookie",
    "expect",
    "forwarded",
    "host",
    "keep-alive",
    "origin",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "via",
    "x-forwarded-for",
    "x-forwarded-host",
    "x-forwarded-proto",
    "x-http-method",
    "x-http-method-override",
    "x-method-override",
];

pub(super) fn is_reserved_header(header: &str) -> bool {
    OURS.contains(&header.trim().to_ascii_lowercase().as_str())
}

impl OperationParameter {
    /// None for what is never sent by a tool's call: cookies, and headers that are ours.
    pub(super) fn parse(document: &ServiceDocument, given: &Value) -> Result<Option<Self>, String> {
        let given = document.resolve(given)?;
        let text = |key: &str| given.get(key).and_then(Value::as_str).unwrap_or_default();
        let name = text("name").to_owned();
        let required = given.get("required") == Some(&Value::Bool(true));
        let at = match text("in") {
            "path" => ParameterLocation::Path,
            "query" => ParameterLocation::Query,
            "header" if is_reserved_header(&name) => return Ok(None),
            "header" => ParameterLocation::Header,
            "cookie" if !required => return Ok(None),
            other => return Err(format!("its parameter `{name}` in {other} is not supported")),
        };
        if name.is_empty() {
            return Err("a parameter has no name".to_owned());
        }
        let content = given.get("content").and_then(Value::as_object).and_then(|all| all.values().next());
        let schema = given.get("schema").or_else(|| content?.get("schema")).cloned().unwrap_or_default();
        let schema = if schema.is_null() { serde_json::json!({ "type": "string" }) } else { schema };
        let style = parse_style(text("style"), given.get("explode"), at)?;
        let mut fields = BTreeSet::new();
        collect_fields(document, &schema, DEEPEST, &mut fields);
        Ok(Some(Self {
            fields,
            argument: sanitize_name(&name),
            name,
            at,
            required: required || at == ParameterLocation::Path,
            style,
            schema,
            about: text("description").to_owned(),
        }))
    }

    pub(super) fn has_name(&self, name: &str) -> bool {
        self.name.eq_ignore_ascii_case(name)
    }
}

/// The names of an object's fields, as a schema and those it is made of have them. What leads nowhere declares nothing.
fn collect_fields(document: &ServiceDocument, schema: &Value, levels: usize, fields: &mut BTreeSet<String>) {
    let (Ok(schema), Some(below)) = (document.resolve(schema), levels.checked_sub(1)) else { return };
    let own = schema.get("properties").and_then(Value::as_object);
    fields.extend(own.into_iter().flat_map(|own| own.keys().cloned()));
    for word in ["allOf", "anyOf", "oneOf"] {
        let parts = schema.get(word).and_then(Value::as_array).into_iter().flatten();
        parts.for_each(|part| collect_fields(document, part, below, fields));
    }
}

fn parse_style(
    named: &str,
    explode: Option<&Value>,
    at: ParameterLocation,
) -> Result<ParameterStyle, String> {
    let explode = explode.and_then(Value::as_bool);
    match (named, at) {
        ("" | "form", ParameterLocation::Query) => {
            Ok(ParameterStyle::Comma { explode: explode.unwrap_or(true) })
        }
        ("" | "simple", ParameterLocation::Path | ParameterLocation::Header) => {
            Ok(ParameterStyle::Comma { explode: false })
        }
        ("spaceDelimited", ParameterLocation::Query) => Ok(ParameterStyle::Space),
        ("pipeDelimited", ParameterLocation::Query) => Ok(ParameterStyle::Pipe),
        ("deepObject", ParameterLocation::Query) => Ok(ParameterStyle::Deep),
        (other, _) => Err(format!("the parameter style {other} is not supported")),
    }
}

/// A name that every model's provider takes.
fn sanitize_name(name: &str) -> String {
    let fits = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-' | '.');
    let plain: String = name.chars().map(|letter| if fits(letter) { letter } else { '_' }).take(60).collect();
    let plain = plain.trim_matches('_').to_owned();
    if plain.is_empty() { "value".to_owned() } else { plain }
}

/// Gives those of one name names of their own.
pub(super) fn disambiguate(parameters: &mut [OperationParameter], taken: &[&str]) {
    for at in 0..parameters.len() {
        let (before, rest) = parameters.split_at_mut(at);
        let Some(own) = rest.first_mut() else { continue };
        let is_taken =
            |name: &str| taken.contains(&name) || before.iter().any(|other| other.argument == name);
        if !is_taken(&own.argument) {
            continue;
        }
        let place = match own.at {
            ParameterLocation::Path => "path",
            ParameterLocation::Query => "query",
            ParameterLocation::Header => "header",
        };
        let base = format!("{}_{place}", own.argument);
        let mut name = base.clone();
        let mut number = 1;
        while is_taken(&name) {
            number += 1;
            name = format!("{base}_{number}");
        }
        own.argument = name;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn names_are_ones_that_models_can_say() {
        let document = ServiceDocument::parse(br#"{"openapi": "3.1.0"}"#).unwrap();
        let read = |given: Value| OperationParameter::parse(&document, &given);
        let mut all: Vec<OperationParameter> = [
            json!({ "name": "id", "in": "path" }),
            json!({ "name": "id", "in": "query" }),
            json!({ "name": "filter[name]", "in": "query", "style": "deepObject" }),
            json!({ "name": "body", "in": "header" }),
            json!({ "name": "$top", "in": "query", "schema": { "type": "integer" } }),
        ]
        .into_iter()
        .map(|given| read(given).unwrap().unwrap())
        .collect();
        disambiguate(&mut all, &["body"]);
        let names: Vec<&str> = all.iter().map(|one| one.argument.as_str()).collect();
        assert_eq!(names, ["id", "id_query", "filter_name", "body_header", "top"]);
        assert!(all[0].required && !all[1].required);
        for ours in ["Authorization", "Host", "COOKIE", "Transfer-Encoding", "X-HTTP-Method-Override"] {
            assert!(read(json!({ "name": ours, "in": "header" })).unwrap().is_none(), "{ours}");
        }
        assert!(read(json!({ "name": "Host", "in": "query" })).unwrap().is_some());
        assert!(read(json!({ "name": "sid", "in": "cookie" })).unwrap().is_none());
        assert!(read(json!({ "name": "sid", "in": "cookie", "required": true })).is_err());
        assert!(read(json!({ "name": "x", "in": "path", "style": "matrix" })).is_err());
    }
}
