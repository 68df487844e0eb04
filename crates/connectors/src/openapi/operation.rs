//! One operation as a tool.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use http::Method;
use munshi_mcp::{DECLARATION_META, MetaObject, Tool, ToolAnnotations};
use serde_json::{Map, Value, json};
use url::Url;

use super::addresses::ServiceAddresses;
use super::credentials::{ServiceCredential, ServiceCredentialSet};
use super::document::ServiceDocument;
use super::parameter::{OperationParameter, disambiguate};
use super::schema::SchemaCollector;

/// The argument that holds a body.
pub(super) const BODY: &str = "body";
/// Where a tool's `_meta` says how it is called, so that a person looks again when that changes.
const CALLED: &str = "munshi/call";
/// The header by which a service knows a call again.
const ONCE: &str = "idempotency-key";
/// In letters.
const LONGEST_WORDS: usize = 1_000;

pub(super) struct ServiceOperation {
    pub(super) method: Method,
    pub(super) base: Url,
    /// With `{name}` for what stands in the path.
    pub(super) path: String,
    pub(super) parameters: Vec<OperationParameter>,
    pub(super) body: Option<OperationBodyEncoding>,
    pub(super) logins: Vec<ServiceCredential>,
    pub(super) tool: Tool,
}

/// How a body is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OperationBodyEncoding {
    Json,
    Form,
}

impl ServiceOperation {
    /// All that decides what a call sends and to where, without a secret.
    fn to_wire_json(&self) -> Value {
        let parameter = |one: &OperationParameter| {
            let (at, style) = (format!("{:?}", one.at), format!("{:?}", one.style));
            json!({ "argument": one.argument, "name": one.name, "at": at, "style": style })
        };
        let login = |one: &ServiceCredential| match one {
            ServiceCredential::Header { name, .. } => format!("header {name}"),
            ServiceCredential::Query { name, .. } => format!("query {name}"),
            ServiceCredential::Bearer(_) => "bearer".to_owned(),
            ServiceCredential::Basic { .. } => "basic".to_owned(),
        };
        json!({
            "method": self.method.as_str(), "at": self.base.as_str(), "path": self.path,
            "parameters": self.parameters.iter().map(parameter).collect::<Vec<_>>(),
            "body": self.body.map(|media| format!("{media:?}")),
            "logins": self.logins.iter().map(login).collect::<Vec<_>>(),
        })
    }
}

/// What a document is read with.
pub(super) struct ServiceDocumentContext<'a> {
    pub(super) document: &'a ServiceDocument,
    pub(super) places: &'a ServiceAddresses,
    pub(super) logins: &'a ServiceCredentialSet,
    /// Headers that the operator gave, which no model is asked for.
    pub(super) given: &'a BTreeSet<String>,
}

/// What a document offers: the operations by their tools' names, and what can't be used with the reason.
#[derive(Default)]
pub(super) struct OperationCatalog {
    pub(super) operations: BTreeMap<String, ServiceOperation>,
    pub(super) left_out: Vec<(String, String)>,
}

impl ServiceDocumentContext<'_> {
    pub(super) fn build_catalog(&self) -> OperationCatalog {
        let mut offer = OperationCatalog::default();
        let paths = self.document.get("paths").and_then(Value::as_object);
        for (path, item) in paths.into_iter().flatten() {
            let item = match self.document.resolve(item) {
                Ok(item) => item,
                Err(why) => {
                    offer.left_out.push((path.clone(), why));
                    continue;
                }
            };
            for method in [Method::GET, Method::POST, Method::PUT, Method::PATCH, Method::DELETE] {
                let Some(operation) = item.get(method.as_str().to_ascii_lowercase()) else { continue };
                let name = free_name(&derive_name(operation, &method, path), &offer.operations);
                match self.build_operation(name.clone(), (method, path), item, operation) {
                    Ok(operation) => {
                        offer.operations.insert(name, operation);
                    }
                    Err(why) => offer.left_out.push((name, why)),
                }
            }
        }
        offer
    }

    fn build_operation(
        &self,
        name: String,
        (method, path): (Method, &str),
        item: &Value,
        operation: &Value,
    ) -> Result<ServiceOperation, String> {
        let logins = self.logins.resolve(self.document, operation)?;
        let base = self.places.resolve_base(self.document, item, operation)?;
        let (body, body_schema) = self.parse_body(operation)?.unzip();
        let mut parameters = self.parse_parameters(item, operation, &logins)?;
        let taken: &[&str] = if body.is_some() { &[BODY] } else { &[] };
        disambiguate(&mut parameters, taken);
        let schema = self.build_schema(&parameters, body_schema.as_ref())?;
        let mut tool = Tool::new(name, build_description(operation, &method, path), Arc::new(schema));
        tool.annotations = Some(build_annotations(&method));
        let declared = build_declaration(&method, &parameters);
        let body = body.map(|(media, _)| media);
        let mut operation =
            ServiceOperation { method, base, path: path.to_owned(), parameters, body, logins, tool };
        let meta = [(DECLARATION_META.to_owned(), declared), (CALLED.to_owned(), operation.to_wire_json())];
        operation.tool.meta = Some(MetaObject(meta.into_iter().collect()));
        Ok(operation)
    }

    /// Those of the operation, and those of its path that it does not say anew.
    fn parse_parameters(
        &self,
        item: &Value,
        operation: &Value,
        logins: &[ServiceCredential],
    ) -> Result<Vec<OperationParameter>, String> {
        let listed = |of: &Value| of.get("parameters").and_then(Value::as_array).cloned().unwrap_or_default();
        let mut all: Vec<OperationParameter> = Vec::new();
        for given in listed(operation).iter().chain(&listed(item)) {
            let Some(parameter) = OperationParameter::parse(self.document, given)? else { continue };
            let is_login = logins.iter().any(|login| match login {
                ServiceCredential::Header { name, .. } | ServiceCredential::Query { name, .. } => {
                    parameter.has_name(name)
                }
                ServiceCredential::Bearer(_) | ServiceCredential::Basic { .. } => false,
            });
            let is_given = self.given.iter().any(|name| parameter.has_name(name));
            let is_known = all.iter().any(|known| known.name == parameter.name && known.at == parameter.at);
            if !is_login && !is_given && !is_known {
                all.push(parameter);
            }
        }
        Ok(all)
    }

    /// How its body is written, whether there must be one, and its schema.
    #[allow(clippy::type_complexity, reason = "three facts of one body")]
    fn parse_body(
        &self,
        operation: &Value,
    ) -> Result<Option<((OperationBodyEncoding, bool), (bool, Value))>, String> {
        let Some(body) = operation.get("requestBody") else { return Ok(None) };
        let body = self.document.resolve(body)?;
        let required = body.get("required") == Some(&Value::Bool(true));
        let none = Map::new();
        let content = body.get("content").and_then(Value::as_object).unwrap_or(&none);
        let find =
            |fits: &dyn Fn(&str) -> bool| content.iter().find(|(kind, _)| fits(kind)).map(|(_, of)| of);
        let is_json = |kind: &str| {
            let kind = kind.split(';').next().unwrap_or_default().trim();
            kind == "application/json" || kind.ends_with("+json") || kind == "*/*"
        };
        let json = find(&is_json).map(|of| (OperationBodyEncoding::Json, of));
        let form = || {
            find(&|kind| kind.starts_with("application/x-www-form-urlencoded"))
                .map(|of| (OperationBodyEncoding::Form, of))
        };
        match json.or_else(form) {
            Some((media, of)) => {
                let schema = of.get("schema").cloned().unwrap_or_else(|| json!({}));
                Ok(Some(((media, required), (required, schema))))
            }
            None if !required => Ok(None),
            None => {
                let kinds: Vec<&str> = content.keys().map(String::as_str).take(3).collect();
                Err(format!("its request body type {} is not supported", kinds.join(", ")))
            }
        }
    }

    fn build_schema(
        &self,
        parameters: &[OperationParameter],
        body: Option<&(bool, Value)>,
    ) -> Result<Map<String, Value>, String> {
        let mut parts = SchemaCollector::new(self.document);
        let (mut properties, mut required) = (Map::new(), Vec::new());
        for parameter in parameters {
            let mut schema = parts.resolve_references(&parameter.schema)?;
            if let (Some(fields), false) = (schema.as_object_mut(), parameter.about.is_empty()) {
                fields.entry("description").or_insert_with(|| json!(parameter.about));
            }
            properties.insert(parameter.argument.clone(), schema);
            if parameter.required {
                required.push(json!(parameter.argument));
            }
        }
        if let Some((is_required, schema)) = body {
            properties.insert(BODY.to_owned(), parts.resolve_references(schema)?);
            if *is_required {
                required.push(json!(BODY));
            }
        }
        let mut schema = Map::new();
        schema.insert("type".to_owned(), json!("object"));
        schema.insert("properties".to_owned(), Value::Object(properties));
        schema.insert("required".to_owned(), Value::Array(required));
        schema.insert("additionalProperties".to_owned(), json!(false));
        let definitions = parts.into_definitions()?;
        if !definitions.is_empty() {
            schema.insert("$defs".to_owned(), Value::Object(definitions));
        }
        Ok(schema)
    }
}

fn derive_name(operation: &Value, method: &Method, path: &str) -> String {
    match operation.get("operationId").and_then(Value::as_str).filter(|id| !id.is_empty()) {
        Some(id) => id.chars().take(100).collect(),
        None => format!("{}{}", method.as_str().to_ascii_lowercase(), path.replace(['/', '{', '}'], "_")),
    }
}

fn free_name(name: &str, known: &BTreeMap<String, ServiceOperation>) -> String {
    let mut free = name.to_owned();
    let mut number = 1;
    while known.contains_key(&free) {
        number += 1;
        free = format!("{name}_{number}");
    }
    free
}

fn build_description(operation: &Value, method: &Method, path: &str) -> String {
    let text = |key: &str| operation.get(key).and_then(Value::as_str).unwrap_or_default().trim();
    let said = [text("summary"), text("description")].into_iter().filter(|text| !text.is_empty());
    let mut words: String = said.collect::<Vec<_>>().join(". ").chars().take(LONGEST_WORDS).collect();
    if operation.get("deprecated") == Some(&Value::Bool(true)) {
        words.push_str(" (It is going out of use.)");
    }
    format!("{words} [{method} {path}]").trim_start().to_owned()
}

fn build_annotations(method: &Method) -> ToolAnnotations {
    let looks = *method == Method::GET;
    ToolAnnotations::new()
        .read_only(looks)
        .destructive(!looks && *method != Method::POST)
        .idempotent(looks || matches!(*method, Method::PUT | Method::DELETE))
        .open_world(true)
}

/// What a method does by HTTP's own words. A repeated PUT or DELETE leaves what one left; a POST has a key or none.
fn build_declaration(method: &Method, parameters: &[OperationParameter]) -> Value {
    let key = parameters
        .iter()
        .find(|parameter| parameter.has_name(ONCE))
        .map(|parameter| parameter.argument.clone());
    let effect = match *method {
        Method::GET => "read",
        Method::PUT | Method::DELETE => "keyed",
        _ if key.is_some() => "keyed",
        _ => "once",
    };
    let mut declared = json!({ "effect": effect });
    if *method != Method::GET {
        declared["destructive"] = json!(*method != Method::POST);
        if let Some(key) = key {
            declared["key"] = json!(key);
        }
    }
    declared
}

#[cfg(test)]
#[path = "operation_tests.rs"]
mod tests;
