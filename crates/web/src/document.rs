//! The OpenAPI document, and the names that spans take from it.

use std::collections::HashMap;

use axum::body::Bytes;
use axum::http::Method;
use utoipa::openapi::path::{Operation, PathItem};
use utoipa::openapi::response::ResponseBuilder;
use utoipa::openapi::schema::ComponentsBuilder;
use utoipa::openapi::{ContentBuilder, InfoBuilder, OpenApi, Ref, RefOr};
use utoipa::{PartialSchema, ToSchema};

use crate::error::{Code, ErrorBody, ErrorDetail};
use crate::middleware::UNMATCHED;

/// Finished once, when the router is built; served and read until the process ends.
#[derive(Debug)]
pub(crate) struct Document {
    pub(crate) json: Bytes,
    /// `http.<resource>.<verb>` by route template and method.
    names: HashMap<(String, Method), String>,
}

impl Document {
    /// Adds to the collected routes what all share: the title, and the error shape as every route's default answer.
    pub(crate) fn finish(mut api: OpenApi) -> Self {
        api.info = InfoBuilder::new()
            .title("Munshi")
            .version(env!("CARGO_PKG_VERSION"))
            .description(Some(
                "Every error has the shape of `ErrorBody`; every answer carries `x-request-id`.",
            ))
            .build();
        let mut names = HashMap::new();
        for (path, item) in &mut api.paths.paths {
            for (method, operation) in operations(item) {
                operation.responses.responses.entry("default".to_owned()).or_insert_with(error_response);
                names.insert((path.clone(), method), span_name(operation));
            }
        }
        let components = api.components.take().unwrap_or_default();
        let mut shared = ComponentsBuilder::from(components);
        for (name, schema) in [
            (ErrorBody::name(), ErrorBody::schema()),
            (ErrorDetail::name(), ErrorDetail::schema()),
            (Code::name(), Code::schema()),
        ] {
            shared = shared.schema(name, schema);
        }
        api.components = Some(shared.build());
        // Serialising plain structs to memory can't fail; an empty document would fail the snapshot test.
        let json = serde_json::to_vec_pretty(&api).unwrap_or_default().into();
        Self { json, names }
    }

    /// The name of the span for a request. Routes outside of the document are named by their template.
    pub(crate) fn span_name<'a>(&'a self, method: &Method, route: &'a str) -> &'a str {
        let asked = if method == Method::HEAD { Method::GET } else { method.clone() };
        match self.names.get(&(route.to_owned(), asked)) {
            Some(name) => name,
            None if route == UNMATCHED => "http.unmatched",
            None => route,
        }
    }
}

fn operations(item: &mut PathItem) -> impl Iterator<Item = (Method, &mut Operation)> {
    [
        (Method::GET, &mut item.get),
        (Method::POST, &mut item.post),
        (Method::PUT, &mut item.put),
        (Method::PATCH, &mut item.patch),
        (Method::DELETE, &mut item.delete),
        (Method::HEAD, &mut item.head),
        (Method::OPTIONS, &mut item.options),
    ]
    .into_iter()
    .filter_map(|(method, operation)| operation.as_mut().map(|operation| (method, operation)))
}

/// From the tag (the resource) and the operation id (`verb_resource`).
fn span_name(operation: &Operation) -> String {
    let id = operation.operation_id.as_deref().unwrap_or_default();
    let verb = id.split('_').next().unwrap_or_default();
    let resource = operation.tags.iter().flatten().next().map_or("untagged", String::as_str);
    format!("http.{resource}.{verb}")
}

fn error_response() -> RefOr<utoipa::openapi::Response> {
    let content =
        ContentBuilder::new().schema(Some(RefOr::Ref(Ref::from_schema_name(ErrorBody::name())))).build();
    let described = ResponseBuilder::new().description("Why not, and what to do.");
    RefOr::T(described.content("application/json", content).build())
}
