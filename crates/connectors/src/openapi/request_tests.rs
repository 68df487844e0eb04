//! Arguments in their places, and nowhere else.

use http::Method;
use munshi_mcp::Tool;
use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::openapi::document::ServiceDocument;

fn operation(base: &str, path: &str, parameters: &[Value]) -> ServiceOperation {
    let document = ServiceDocument::parse(br#"{"openapi": "3.1.0"}"#).unwrap();
    let parameters =
        parameters.iter().map(|given| OperationParameter::parse(&document, given).unwrap().unwrap());
    ServiceOperation {
        method: Method::GET,
        base: Url::parse(base).unwrap(),
        path: path.to_owned(),
        parameters: parameters.collect(),
        body: None,
        logins: Vec::new(),
        tool: Tool::new("x", "x", serde_json::Map::new()),
    }
}

fn addressed(operation: &ServiceOperation, arguments: &Value) -> Result<String, String> {
    build_url(operation, arguments.as_object().unwrap()).map(|url| url.to_string())
}

#[test]
fn values_are_written_in_the_style_of_their_parameter() {
    let one = |given: Value| operation("https://x.example/api/", "/list", &[given]);
    for (given, value, expected) in [
        (json!({ "name": "q", "in": "query" }), json!("a b&c=d"), "q=a+b%26c%3Dd"),
        (json!({ "name": "q", "in": "query" }), json!(["a", 1]), "q=a&q=1"),
        (json!({ "name": "q", "in": "query", "explode": false }), json!(["a", 1]), "q=a%2C1"),
        (json!({ "name": "q", "in": "query", "style": "pipeDelimited" }), json!(["a", "b"]), "q=a%7Cb"),
        (json!({ "name": "q", "in": "query", "style": "deepObject" }), json!({ "min": 1 }), "q%5Bmin%5D=1"),
    ] {
        let told = addressed(&one(given), &json!({ "q": value })).unwrap();
        assert_eq!(told, format!("https://x.example/api/list?{expected}"));
    }
    assert_eq!(
        addressed(&one(json!({ "name": "q", "in": "query" })), &json!({})).unwrap(),
        "https://x.example/api/list"
    );
}

#[test]
fn an_object_names_no_parameters_of_its_own() {
    let filter = json!({ "name": "filter", "in": "query", "schema": { "allOf": [
        { "type": "object", "properties": { "min": { "type": "integer" }, "key": {}, "limit": {} } } ] } });
    let limit = json!({ "name": "limit", "in": "query" });
    let mut operation = operation("https://x.example", "/list", &[filter, limit]);
    operation.logins = vec![ServiceCredential::Query { name: "key".to_owned(), value: "s3".to_owned() }];
    let told = addressed(&operation, &json!({ "filter": { "min": 1 } })).unwrap();
    assert_eq!(told, "https://x.example/list?min=1&key=s3");
    // Neither what the document does not name, nor what is another argument's, nor what opens the service.
    for field in ["admin", "limit", "key"] {
        let refused = addressed(&operation, &json!({ "filter": { field: "1" } })).unwrap_err();
        assert!(refused.contains(field), "{refused}");
    }
}

#[test]
fn a_key_in_the_query_stands_beside_the_arguments() {
    let mut operation = operation("https://x.example", "/list", &[]);
    operation.logins = vec![ServiceCredential::Query { name: "key".to_owned(), value: "s3".to_owned() }];
    assert_eq!(addressed(&operation, &json!({})).unwrap(), "https://x.example/list?key=s3");
}

proptest! {
    /// Whatever a model says, the request goes to the operation's own place.
    #[test]
    fn no_value_leads_elsewhere(value in ".{0,40}", other in ".{0,40}") {
        let place = [json!({ "name": "id", "in": "path" }), json!({ "name": "q", "in": "query" })];
        let operation = operation("https://x.example:8443/api", "/items/{id}/rest", &place);
        match addressed(&operation, &json!({ "id": value, "q": other })) {
            Err(_) => prop_assert!(matches!(value.as_str(), "" | "." | "..")),
            Ok(text) => {
                let url = Url::parse(&text).unwrap();
                prop_assert_eq!(url.origin().ascii_serialization(), "https://x.example:8443");
                let parts: Vec<&str> = url.path_segments().unwrap().collect();
                prop_assert_eq!((parts.len(), parts[0], parts[1], parts[3]), (4, "api", "items", "rest"));
                let back = percent_encoding::percent_decode_str(parts[2]).decode_utf8().unwrap();
                prop_assert_eq!(back.as_ref(), value.as_str());
                let pairs: Vec<_> = url.query_pairs().collect();
                prop_assert_eq!(pairs.len(), 1);
                prop_assert_eq!(pairs[0].1.as_ref(), other.as_str());
                prop_assert!(url.fragment().is_none());
            }
        }
    }
}
