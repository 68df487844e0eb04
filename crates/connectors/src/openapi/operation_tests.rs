//! A document's operations as tools.

use super::*;
use crate::manifest::ConnectorManifest;
use crate::openapi::ServiceDocumentSource;

const DOCUMENT: &str = r##"{
  "openapi": "3.0.3", "info": { "title": "Pets", "version": "1" },
  "security": [{ "gateway": [] }],
  "components": {
    "securitySchemes": { "gateway": { "type": "apiKey", "in": "header", "name": "x-gateway-key" } },
    "parameters": { "Limit": { "name": "limit", "in": "query", "schema": { "type": "integer", "maximum": 50 } } },
    "schemas": { "Pet": { "type": "object", "required": ["name"], "properties": { "name": { "type": "string" } } } }
  },
  "paths": {
    "/pets": {
      "parameters": [{ "$ref": "#/components/parameters/Limit" }, { "name": "x-gateway-key", "in": "header", "required": true }],
      "get": { "operationId": "listPets", "summary": "All pets", "description": "By name." },
      "post": { "operationId": "addPet", "parameters": [{ "name": "Idempotency-Key", "in": "header" }],
        "requestBody": { "required": true, "content": { "application/json": { "schema": { "$ref": "#/components/schemas/Pet" } } } } }
    },
    "/pets/{id}": {
      "parameters": [{ "name": "id", "in": "path", "required": true, "schema": { "type": "integer" } }],
      "get": { "operationId": "listPets" },
      "put": { "requestBody": { "content": { "application/x-www-form-urlencoded": {} } } },
      "delete": { "operationId": "removePet", "deprecated": true },
      "patch": { "operationId": "sendPicture", "requestBody": { "required": true, "content": { "multipart/form-data": {} } } }
    }
  }
}"##;

fn offer(logins: &ServiceCredentialSet) -> OperationCatalog {
    let document = ServiceDocument::parse(DOCUMENT.as_bytes()).unwrap();
    let source = ServiceDocumentSource::Web("https://pets.example/openapi.json".parse().unwrap());
    let places = ServiceAddresses { source, server: None, hosts: Vec::new() };
    ServiceDocumentContext { document: &document, places: &places, logins, given: &BTreeSet::new() }
        .build_catalog()
}

fn opened() -> OperationCatalog {
    let named = [("gateway".to_owned(), "secret".to_owned())].into();
    offer(&ServiceCredentialSet { named, always: false })
}

fn declared_of<'a>(offer: &'a OperationCatalog, name: &str) -> &'a Value {
    &offer.operations[name].tool.meta.as_ref().unwrap().0[DECLARATION_META]
}

#[test]
fn each_operation_is_a_tool_that_says_what_it_does() {
    let offer = opened();
    let names: Vec<&str> = offer.operations.keys().map(String::as_str).collect();
    assert_eq!(names, ["addPet", "listPets", "listPets_2", "put_pets__id_", "removePet"]);
    assert_eq!(declared_of(&offer, "listPets"), &json!({ "effect": "read" }));
    assert_eq!(declared_of(&offer, "removePet"), &json!({ "effect": "keyed", "destructive": true }));
    let add = &offer.operations["addPet"];
    assert_eq!(
        declared_of(&offer, "addPet"),
        &json!({ "effect": "keyed", "destructive": false, "key": "Idempotency-Key" })
    );
    let schema = Value::Object(add.tool.input_schema.as_ref().clone());
    assert_eq!(schema["properties"]["body"], json!({ "$ref": "#/$defs/Pet" }));
    assert_eq!(schema["required"], json!(["body"]));
    assert_eq!(schema["properties"]["limit"]["maximum"], 50);
    assert!(schema["properties"].get("x-gateway-key").is_none(), "what lets us in is not the model's");
    let words = offer.operations["listPets"].tool.description.clone().unwrap();
    assert_eq!(words, "All pets. By name. [GET /pets]");
    assert_eq!(offer.left_out.len(), 1);
    assert!(offer.left_out[0].1.contains("multipart/form-data"), "{:?}", offer.left_out);
    let tools = offer.operations.into_values().map(|operation| operation.tool).collect();
    let manifest = ConnectorManifest::new("Pets", "1", tools);
    assert!(manifest.left_out.is_empty(), "{:?}", manifest.left_out);
}

#[test]
fn what_wants_a_login_that_nobody_gave_is_left_out() {
    let offer = offer(&ServiceCredentialSet::default());
    assert!(offer.operations.is_empty());
    assert!(offer.left_out.iter().all(|(_, why)| why.contains("logins.gateway")), "{:?}", offer.left_out);
}

/// A document that moves its calls, or sends a value elsewhere, is another one though its tools read the same.
#[test]
fn where_and_how_a_call_goes_is_part_of_the_manifest() {
    let hash = |change: &dyn Fn(&mut Value)| {
        let mut root: Value = serde_json::from_str(DOCUMENT).unwrap();
        change(&mut root);
        let document = ServiceDocument::parse(root.to_string().as_bytes()).unwrap();
        let source = ServiceDocumentSource::Web("https://pets.example/openapi.json".parse().unwrap());
        let places = ServiceAddresses { source, server: None, hosts: Vec::new() };
        let named = [("gateway".to_owned(), "secret".to_owned())].into();
        let logins = ServiceCredentialSet { named, always: false };
        let given = BTreeSet::new();
        let reading =
            ServiceDocumentContext { document: &document, places: &places, logins: &logins, given: &given };
        let tools: Vec<Tool> = reading.build_catalog().operations.into_values().map(|one| one.tool).collect();
        assert!(!serde_json::to_string(&tools).unwrap().contains("secret"));
        assert_eq!(tools.len(), 5);
        ConnectorManifest::new("s", "1", tools).hash
    };
    let known = hash(&|_| {});
    assert_eq!(known, hash(&|_| {}));
    assert_ne!(known, hash(&|root| root["servers"] = json!([{ "url": "/v2" }])));
    let limit = "/components/parameters/Limit";
    assert_ne!(known, hash(&|root| root.pointer_mut(limit).unwrap()["in"] = json!("header")));
    assert_ne!(known, hash(&|root| root.pointer_mut(limit).unwrap()["style"] = json!("pipeDelimited")));
    let scheme = "/components/securitySchemes/gateway";
    assert_ne!(known, hash(&|root| root.pointer_mut(scheme).unwrap()["in"] = json!("query")));
}
