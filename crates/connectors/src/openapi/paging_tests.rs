//! What comes next, as services tell it.

use http::{HeaderValue, Method};
use munshi_mcp::Tool;
use url::Url;

use super::*;
use crate::openapi::document::ServiceDocument;

fn operation(names: &[(&str, Value)]) -> ServiceOperation {
    let document = ServiceDocument::parse(br#"{"openapi": "3.1.0"}"#).unwrap();
    let read = |(name, schema): &(&str, Value)| {
        let given = json!({ "name": name, "in": "query", "schema": schema });
        OperationParameter::parse(&document, &given).unwrap().unwrap()
    };
    ServiceOperation {
        method: Method::GET,
        base: Url::parse("https://x.example/api").unwrap(),
        path: "/list".to_owned(),
        parameters: names.iter().map(read).collect(),
        body: None,
        logins: Vec::new(),
        tool: Tool::new("x", "x", Map::new()),
    }
}

fn told(operation: &ServiceOperation, arguments: &Value, headers: &HeaderMap, body: &Value) -> Option<Value> {
    find_next_page(operation, arguments.as_object().unwrap(), headers, body)
}

#[test]
fn the_next_call_is_told_however_the_service_says_it() {
    let number = json!({ "type": "integer" });
    let none = HeaderMap::new();
    let pages =
        operation(&[("page", number.clone()), ("per_page", json!({ "type": "integer", "default": 2 }))]);
    let link = HeaderValue::from_static(
        "<https://x.example/api/list?page=1>; rel=\"prev\", </api/list?page=3&x=1>; rel=\"next\"",
    );
    let headers = HeaderMap::from_iter([(LINK, link)]);
    assert_eq!(told(&pages, &json!({}), &headers, &json!([])), Some(json!({ "page": 3 })));
    assert_eq!(told(&pages, &json!({ "page": 4 }), &none, &json!([1, 2])), Some(json!({ "page": 5 })));
    assert_eq!(told(&pages, &json!({ "page": 4 }), &none, &json!([1])), None);
    let rows = operation(&[("offset", number.clone()), ("limit", number)]);
    let body = json!({ "items": [1, 2, 3], "total": 9 });
    assert_eq!(told(&rows, &json!({ "limit": 3 }), &none, &body), Some(json!({ "offset": 3 })));
    assert_eq!(told(&rows, &json!({ "limit": 3, "offset": 3 }), &none, &body), Some(json!({ "offset": 6 })));
    assert_eq!(told(&rows, &json!({}), &none, &body), None, "nobody knows how long a page is");
    let cursor = operation(&[("cursor", json!({ "type": "string" }))]);
    assert_eq!(
        told(&cursor, &json!({}), &none, &json!({ "next_cursor": "c2" })),
        Some(json!({ "cursor": "c2" }))
    );
    assert_eq!(
        told(&cursor, &json!({}), &none, &json!({ "meta": { "next": "/api/list?cursor=c3" } })),
        Some(json!({ "cursor": "c3" }))
    );
    assert_eq!(told(&cursor, &json!({}), &none, &json!({ "next_cursor": "" })), None);
    assert_eq!(told(&cursor, &json!({}), &none, &json!({ "next_cursor": null })), None);
}
