//! A call on its way: the arguments in their places.

use munshi_http::header::{ACCEPT, CONTENT_TYPE};
use munshi_http::{Client, RequestBuilder};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Map, Value};
use url::Url;

use super::credentials::ServiceCredential;
use super::operation::{BODY, OperationBodyEncoding, ServiceOperation};
use super::parameter::{OperationParameter, ParameterLocation, ParameterStyle};

/// Everything but what stands for itself in a path.
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// The request, or what is wrong with an argument.
pub(super) fn build(
    client: &Client,
    operation: &ServiceOperation,
    arguments: &Map<String, Value>,
) -> Result<RequestBuilder, String> {
    let url = build_url(operation, arguments)?;
    let mut request =
        client.request(operation.method.clone(), url).header(ACCEPT, "application/json, */*;q=0.5");
    for parameter in operation.parameters.iter().filter(|parameter| parameter.at == ParameterLocation::Header)
    {
        if let Some(value) = find_argument(arguments, &parameter.argument) {
            let text = join_value(value, ",");
            let fits = text.chars().all(|letter| (' '..='~').contains(&letter));
            if !fits {
                return Err(format!("{} can hold plain letters and digits alone", parameter.argument));
            }
            request = request.header(parameter.name.as_str(), text);
        }
    }
    for login in &operation.logins {
        request = match login {
            ServiceCredential::Header { name, value } => request.header(name.as_str(), value.as_str()),
            // Stands in the address already.
            ServiceCredential::Query { .. } => request,
            ServiceCredential::Bearer(token) => request.bearer_auth(token),
            ServiceCredential::Basic { user, password } => request.basic_auth(user, Some(password)),
        };
    }
    match (operation.body, arguments.get(BODY)) {
        (None, _) | (_, None) => Ok(request),
        (Some(OperationBodyEncoding::Json), Some(body)) => {
            Ok(request.header(CONTENT_TYPE, "application/json").body(body.to_string()))
        }
        (Some(OperationBodyEncoding::Form), Some(body)) => {
            let fields = body.as_object().ok_or("body is an object")?;
            let mut form = url::form_urlencoded::Serializer::new(String::new());
            fields.iter().for_each(|(name, value)| {
                form.append_pair(name, &join_value(value, ","));
            });
            Ok(request.header(CONTENT_TYPE, "application/x-www-form-urlencoded").body(form.finish()))
        }
    }
}

fn find_argument<'a>(arguments: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    arguments.get(name).filter(|value| !value.is_null())
}

/// The address with everything in its place; it never leaves where the operation is.
fn build_url(operation: &ServiceOperation, arguments: &Map<String, Value>) -> Result<Url, String> {
    let mut path = operation.path.clone();
    for parameter in operation.parameters.iter().filter(|parameter| parameter.at == ParameterLocation::Path) {
        let value = find_argument(arguments, &parameter.argument)
            .map(|value| join_value(value, ","))
            .unwrap_or_default();
        if matches!(value.as_str(), "" | "." | "..") {
            return Err(format!("{} is empty, or would lead elsewhere", parameter.argument));
        }
        let encoded = utf8_percent_encode(&value, SEGMENT).to_string();
        path = path.replace(&format!("{{{}}}", parameter.name), &encoded);
    }
    let mut url = operation.base.clone();
    let front = url.path().trim_end_matches('/').to_owned();
    url.set_path(&format!("{front}/{}", path.trim_start_matches('/')));
    if !url.path().starts_with(&front) {
        return Err("that would lead elsewhere".to_owned());
    }
    let mut pairs = Vec::new();
    for parameter in operation.parameters.iter().filter(|parameter| parameter.at == ParameterLocation::Query)
    {
        if let Some(value) = find_argument(arguments, &parameter.argument) {
            pairs.extend(encode_query(operation, parameter, value)?);
        }
    }
    pairs.extend(operation.logins.iter().filter_map(|login| match login {
        ServiceCredential::Query { name, value } => Some((name.clone(), value.clone())),
        _ => None,
    }));
    if !pairs.is_empty() {
        url.query_pairs_mut().extend_pairs(pairs);
    }
    Ok(url)
}

fn encode_query(
    operation: &ServiceOperation,
    parameter: &OperationParameter,
    value: &Value,
) -> Result<Vec<(String, String)>, String> {
    let name = &parameter.name;
    let pair = |name: &str, value: String| (name.to_owned(), value);
    Ok(match (parameter.style, value) {
        (ParameterStyle::Deep, Value::Object(fields)) => fields
            .iter()
            .map(|(field, value)| pair(&format!("{name}[{field}]"), join_value(value, ",")))
            .collect(),
        (ParameterStyle::Comma { explode: true }, Value::Array(items)) => {
            items.iter().map(|item| pair(name, join_value(item, ","))).collect()
        }
        (ParameterStyle::Comma { explode: true }, Value::Object(fields)) => {
            // Each field becomes a parameter of its own: those that the document declares, and none that is another's.
            let is_own =
                |field: &&String| parameter.fields.contains(*field) && !is_name_taken(operation, field);
            if let Some(field) = fields.keys().find(|field| !is_own(field)) {
                let field: String = field.chars().take(60).collect();
                return Err(format!("{} has no field {field:?} that could be sent", parameter.argument));
            }
            fields.iter().map(|(field, value)| pair(field, join_value(value, ","))).collect()
        }
        (ParameterStyle::Space, value) => vec![pair(name, join_value(value, " "))],
        (ParameterStyle::Pipe, value) => vec![pair(name, join_value(value, "|"))],
        (_, value) => vec![pair(name, join_value(value, ","))],
    })
}

/// Whether a query parameter of this name is another argument, or opens the service.
fn is_name_taken(operation: &ServiceOperation, name: &str) -> bool {
    let arguments = operation.parameters.iter().filter(|parameter| parameter.at == ParameterLocation::Query);
    let is_login = |login: &ServiceCredential| matches!(login, ServiceCredential::Query { name: known, .. } if known == name);
    arguments.into_iter().any(|parameter| parameter.name == name) || operation.logins.iter().any(is_login)
}

/// A plain value as it is; a list with something between.
fn join_value(value: &Value, between: &str) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => {
            items.iter().map(|item| join_value(item, between)).collect::<Vec<_>>().join(between)
        }
        Value::Object(fields) => {
            let flat = fields.iter().flat_map(|(name, value)| [name.clone(), join_value(value, between)]);
            flat.collect::<Vec<_>>().join(between)
        }
        Value::Null => String::new(),
        plain => plain.to_string(),
    }
}

#[cfg(test)]
#[path = "request_tests.rs"]
mod tests;
