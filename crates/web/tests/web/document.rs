//! The OpenAPI document is complete and speaks our words.

use std::collections::BTreeSet;

use axum::body::Body;
use axum::extract::Path;
use axum::http::Request;
use http_body_util::BodyExt;
use munshi_types::{Id, JobId};
use munshi_web::{ApiError, ApiErrorCode, App, Json, Routes, build_router, routes, upload_routes};
use serde_json::Value;
use tower::ServiceExt;
use utoipa_axum::routes;

use crate::web::support::{app, options, test_routes};

async fn document() -> Value {
    document_of(routes()).await
}

async fn document_of(routes: Routes) -> Value {
    let service = build_router(routes, &app(Vec::new()), &options());
    let request = Request::get("/openapi.json").body(Body::empty()).unwrap();
    let response = service.oneshot(request).await.unwrap();
    assert_eq!(response.headers()["content-type"], "application/json");
    serde_json::from_slice(&response.into_body().collect().await.unwrap().to_bytes()).unwrap()
}

fn operations(document: &Value) -> Vec<(&String, &Value)> {
    let paths = document["paths"].as_object().unwrap();
    paths
        .iter()
        .flat_map(|(path, item)| item.as_object().unwrap().values().map(move |one| (path, one)))
        .collect()
}

#[tokio::test]
async fn the_document_is_as_it_was_agreed() {
    let mut document = document().await;
    assert_eq!(document["info"]["version"], env!("CARGO_PKG_VERSION"));
    document["info"]["version"] = "this".into();
    insta::assert_json_snapshot!(document);
}

#[tokio::test]
async fn operations_are_named_verb_resource_and_tagged_with_the_resource() {
    let document = document().await;
    let mut seen = BTreeSet::new();
    for (path, operation) in operations(&document) {
        let id = operation["operationId"].as_str().unwrap();
        let tag = operation["tags"][0].as_str().unwrap();
        // A verb may be of several words, as in `give_back_session`, or the resource's own, as in `whisper_session`.
        let mut words = id.split('_').map(|word| word.trim_end_matches('y'));
        let is_named = words.any(|word| word.len() > 1 && tag.contains(word));
        assert!(is_named && !id.starts_with('_'), "{id} at {path} is tagged {tag}");
        assert!(seen.insert(id), "{id} names two routes");
        let error = &operation["responses"]["default"]["content"]["application/json"]["schema"]["$ref"];
        let speaks_openai = ["models", "completions", "embeddings"].contains(&tag);
        let form = if speaks_openai { "CompletionError" } else { "ErrorBody" };
        assert_eq!(error, &format!("#/components/schemas/{form}"), "{id}");
    }
}

#[tokio::test]
async fn what_needs_a_key_says_which() {
    let document = document().await;
    assert_eq!(document["components"]["securitySchemes"]["key"]["scheme"], "bearer");
    let mut keyed = 0;
    for (path, operation) in operations(&document) {
        if !path.starts_with("/v1/") {
            assert!(operation.get("security").is_none(), "{path}");
            continue;
        }
        let needs =
            operation["security"][0]["key"][0].as_str().unwrap_or_else(|| panic!("{path} needs no key"));
        assert!(operation["description"].as_str().unwrap().contains(&format!("`{needs}`")), "{path}");
        for status in ["401", "403", "429"] {
            assert!(operation["responses"][status].is_object(), "{path} does not tell of {status}");
        }
        assert!(operation["summary"].as_str().is_some_and(|words| !words.is_empty()), "{path}");
        keyed += 1;
    }
    assert!(keyed >= 29, "{keyed}");
}

#[tokio::test]
async fn every_reference_leads_somewhere() {
    let document = document().await;
    let text = document.to_string();
    let mut found = 0;
    for rest in text.split("\"$ref\":\"#").skip(1) {
        let pointer = rest.split('"').next().unwrap();
        assert!(document.pointer(pointer).is_some(), "{pointer}");
        found += 1;
    }
    assert!(found > 0);
}

/// The templates axum knows, which it shows only in its debug text: `paths: {RouteId(0): "/healthz", …}`.
fn templates(routes: Routes) -> BTreeSet<String> {
    let (router, _): (axum::Router<App>, _) = routes.split_for_parts();
    let text = format!("{router:?}");
    let quoted = text.split('"').skip(1).step_by(2);
    quoted.filter(|word| word.starts_with('/') && !word.contains("__private")).map(str::to_owned).collect()
}

#[tokio::test]
async fn every_route_is_in_the_document() {
    let document = document().await;
    let documented: BTreeSet<String> =
        operations(&document).into_iter().map(|(path, _)| path.clone()).collect();
    // An account's pages, the link of the terminal, those of logins at connectors and those in mails are for people, which no program can
    // send, and those of packs are the packs' own, as what others send them is; MCP tells of itself.
    let mut served = templates(routes().merge(upload_routes()));
    let is_apart = |path: &String| {
        ["/account", "/start/local/", "/pages/", "/hooks/", "/channels/", "/connectors/", "/unsubscribe/"]
            .iter()
            .any(|start| path.starts_with(start))
            || path == "/mcp"
    };
    served.retain(|path| !is_apart(path));
    assert_eq!(served, documented);
    // The comparison can fail: these are routes without documentation.
    let more = templates(routes().merge(upload_routes()).merge(test_routes()));
    assert!(more.contains("/test/panic") && more.len() > documented.len(), "{more:?}");
}

#[derive(serde::Deserialize, serde::Serialize, utoipa::ToSchema)]
struct Grant {
    paise: i64,
}

/// Written as the recipe in `lib.rs` says, and no more.
#[utoipa::path(post, path = "/example/{id}/grant", tag = "approvals",
    params(("id" = String, Path, description = "Which one.")), responses((status = 200, description = "Granted.", body = Grant)))]
async fn grant_approval(Path(id): Path<JobId>, Json(grant): Json<Grant>) -> Result<Json<Grant>, ApiError> {
    if id.as_uuid().is_nil() { Ok(Json(grant)) } else { Err(ApiError::from_code(ApiErrorCode::NotFound)) }
}

#[tokio::test]
async fn a_route_written_by_the_recipe_documents_its_path_and_body() {
    let document = document_of(routes().routes(routes!(grant_approval))).await;
    let grant = &document["paths"]["/example/{id}/grant"]["post"];
    let parameter = &grant["parameters"][0];
    assert_eq!((&parameter["name"], &parameter["in"]), (&"id".into(), &"path".into()), "{grant}");
    assert_eq!(parameter["schema"]["type"], "string");
    let body = &grant["requestBody"]["content"]["application/json"]["schema"]["$ref"];
    assert_eq!(body, "#/components/schemas/Grant", "{grant}");
    assert_eq!(document["components"]["schemas"]["Grant"]["required"][0], "paise");
}
