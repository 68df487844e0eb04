//! How to ask for what comes next: the arguments of the next call, where the answer or its headers tell.

use munshi_http::header::{HeaderMap, LINK};
use serde_json::{Map, Value, json};
use url::Url;

use super::operation::ServiceOperation;
use super::parameter::{OperationParameter, ParameterLocation};

/// What services call the place where the next part begins, and the page's number, its first row and its length.
const CURSORS: [&str; 9] = [
    "cursor",
    "after",
    "page_token",
    "pagetoken",
    "next_token",
    "nexttoken",
    "continuation",
    "starting_after",
    "marker",
];
const PAGES: [&str; 3] = ["page", "page_number", "pagenumber"];
const OFFSETS: [&str; 4] = ["offset", "skip", "start", "startat"];
const LIMITS: [&str; 7] = ["limit", "per_page", "perpage", "page_size", "pagesize", "size", "count"];
/// Where answers say it.
const NEXT: [&str; 8] = [
    "next_cursor",
    "nextCursor",
    "next_page_token",
    "nextPageToken",
    "next_token",
    "nextToken",
    "next",
    "cursor",
];

/// The arguments to call it with again, beside those it was called with; none where nothing is known to come.
pub(super) fn find_next_page(
    operation: &ServiceOperation,
    arguments: &Map<String, Value>,
    headers: &HeaderMap,
    body: &Value,
) -> Option<Value> {
    parse_next_link(operation, headers)
        .or_else(|| parse_next_cursor(operation, body))
        .or_else(|| compute_next_page(operation, arguments, body))
}

fn find_parameter<'a>(operation: &'a ServiceOperation, names: &[&str]) -> Option<&'a OperationParameter> {
    let queried = |parameter: &&OperationParameter| parameter.at == ParameterLocation::Query;
    operation
        .parameters
        .iter()
        .filter(queried)
        .find(|one| names.contains(&one.name.to_ascii_lowercase().as_str()))
}

/// `Link: <…?page=2>; rel="next"`: what of it the operation takes.
fn parse_next_link(operation: &ServiceOperation, headers: &HeaderMap) -> Option<Value> {
    let links =
        headers.get_all(LINK).iter().filter_map(|link| link.to_str().ok()).flat_map(|link| link.split(','));
    let address = links.filter_map(|link| {
        let (address, about) = link.split_once('>')?;
        let about = about.to_ascii_lowercase().replace(['"', ' '], "");
        about.contains("rel=next").then(|| address.trim().trim_start_matches('<').to_owned())
    });
    let url = operation.base.join(&address.into_iter().next()?).ok()?;
    from_query(operation, &url)
}

/// The arguments that stand in an address.
fn from_query(operation: &ServiceOperation, url: &Url) -> Option<Value> {
    let told = url.query_pairs().filter_map(|(name, value)| {
        let parameter =
            operation.parameters.iter().find(|one| one.at == ParameterLocation::Query && one.name == name)?;
        Some((parameter.argument.clone(), parse_value(parameter, &value)))
    });
    let told: Map<String, Value> = told.collect();
    (!told.is_empty()).then_some(Value::Object(told))
}

fn parse_value(parameter: &OperationParameter, text: &str) -> Value {
    let kind = parameter.schema.get("type");
    let numeric = |kind: &Value| matches!(kind.as_str(), Some("integer" | "number"));
    match kind.is_some_and(|kind| numeric(kind) || kind.as_array().is_some_and(|all| all.iter().any(numeric)))
    {
        true => text.parse::<i64>().map_or_else(|_| json!(text), |number| json!(number)),
        false => json!(text),
    }
}

fn parse_next_cursor(operation: &ServiceOperation, body: &Value) -> Option<Value> {
    let said = |of: &Value| NEXT.iter().find_map(|key| of.get(*key)?.as_str().map(str::to_owned));
    let within = ["meta", "pagination", "paging", "page_info", "links", "response_metadata"];
    let token = said(body).or_else(|| within.iter().find_map(|key| said(body.get(*key)?)));
    let token = token.filter(|token| !token.is_empty())?;
    // Some say the whole address of the next part.
    if let Ok(url) = operation.base.join(&token)
        && (token.starts_with("http") || token.starts_with('/'))
    {
        return from_query(operation, &url);
    }
    let cursor = find_parameter(operation, &CURSORS)?;
    Some(json!({ &cursor.argument: token }))
}

/// A page that is as long as it may be has one behind it, perhaps.
fn compute_next_page(
    operation: &ServiceOperation,
    arguments: &Map<String, Value>,
    body: &Value,
) -> Option<Value> {
    let rows = match body {
        Value::Array(rows) => rows.len(),
        Value::Object(fields) => fields.values().filter_map(Value::as_array).map(Vec::len).max()?,
        _ => return None,
    };
    let number = |parameter: &OperationParameter| {
        let given = arguments.get(&parameter.argument).and_then(Value::as_u64);
        given.or_else(|| parameter.schema.get("default").and_then(Value::as_u64))
    };
    let limit = number(find_parameter(operation, &LIMITS)?)?;
    if limit == 0 || (rows as u64) < limit {
        return None;
    }
    if let Some(offset) = find_parameter(operation, &OFFSETS) {
        return Some(json!({ &offset.argument: number(offset).unwrap_or(0).saturating_add(limit) }));
    }
    let page = find_parameter(operation, &PAGES)?;
    Some(json!({ &page.argument: number(page).unwrap_or(1).saturating_add(1) }))
}

#[cfg(test)]
#[path = "paging_tests.rs"]
mod tests;
