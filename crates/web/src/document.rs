//! The OpenAPI document, and the names that spans take from it.

use std::collections::HashMap;

use axum::body::Bytes;
use axum::http::Method;
use munshi_identity::keys::AreaGrant;
use utoipa::openapi::path::{Operation, Parameter, ParameterIn, PathItem};
use utoipa::openapi::response::ResponseBuilder;
use utoipa::openapi::schema::ComponentsBuilder;
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme};
use utoipa::openapi::{ContentBuilder, InfoBuilder, OpenApi, Ref, RefOr, Response};
use utoipa::{PartialSchema, ToSchema};

use crate::api::access::needed;
use crate::error::{ApiErrorCode, ErrorBody, ErrorDetail};
use crate::middleware::UNMATCHED;
use crate::openai;
use crate::openai::answer::{ChunkChoice, CompletionChunk, CompletionDelta};
use crate::openai::form::{CompletionError, CompletionErrorDetail};
use crate::views::attachment::AttachmentView;
use crate::views::event::StreamEvent;
use crate::visitor::heard::VisitEvent;

/// What keys are called in the document.
const SCHEME: &str = "key";

/// Finished once, when the router is built; served and read until the process ends.
#[derive(Debug)]
pub(crate) struct ApiDocument {
    pub(crate) json: Bytes,
    /// `http.<resource>.<verb>` by route template and method.
    names: HashMap<(String, Method), String>,
}

impl ApiDocument {
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
                let form = form(path);
                operation
                    .responses
                    .responses
                    .entry("default".to_owned())
                    .or_insert_with(|| error_response(form));
                if let Some(grant) = needed(&method, path) {
                    secure(operation, grant, form);
                }
                names.insert((path.clone(), method), span_name(operation));
            }
        }
        let components = api.components.take().unwrap_or_default();
        let mut shared = ComponentsBuilder::from(components);
        for (name, schema) in [
            (ErrorBody::name(), ErrorBody::schema()),
            (ErrorDetail::name(), ErrorDetail::schema()),
            (ApiErrorCode::name(), ApiErrorCode::schema()),
            (CompletionError::name(), CompletionError::schema()),
            (CompletionErrorDetail::name(), CompletionErrorDetail::schema()),
            // The data of a streamed answer's events.
            (CompletionChunk::name(), CompletionChunk::schema()),
            (ChunkChoice::name(), ChunkChoice::schema()),
            (CompletionDelta::name(), CompletionDelta::schema()),
            // Named by no answer itself: it is the data of a `ServerEvent`.
            (<StreamEvent as ToSchema>::name(), StreamEvent::schema()),
            (<VisitEvent as ToSchema>::name(), VisitEvent::schema()),
            (<AttachmentView as ToSchema>::name(), AttachmentView::schema()),
        ] {
            shared = shared.schema(name, schema);
        }
        let bearer = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).bearer_format("mk_…").description(Some(
            "An API key: `munshi key add NAME --role ROLE --speaks-as person|program` makes one, and shows it once. What a route needs stands with \
             it; `persons` opens reading and writing, `persons:read` reading alone.",
        ));
        shared = shared.security_scheme(SCHEME, SecurityScheme::Http(bearer.build()));
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

/// What a key must open, for programs and in words; and what those hear who have none.
fn secure(operation: &mut Operation, grant: AreaGrant, form: &str) {
    operation.security = Some(vec![SecurityRequirement::new(SCHEME, [grant.to_string()])]);
    let needs = format!("Needs a key that opens `{grant}`.");
    operation.description = Some(match operation.description.take() {
        Some(words) => format!("{words}\n\n{needs}"),
        None => needs,
    });
    let mut refusals = vec![
        ("400", "Something in the path, the query or the body can't be read; the message says what."),
        ("401", "There is no key, or it opens nothing."),
        ("403", "The key does not open this; the hint says whom to ask."),
        ("429", "Too often; `retry-after` says for how long to wait, the message which limit it was."),
        ("503", "Something is away for the moment; nothing was lost."),
    ];
    if operation.request_body.is_some() {
        refusals.extend([
            ("413", "The body is too large."),
            ("415", "The body is no JSON by its `content-type`."),
        ]);
        // OpenAI has one status for both.
        if form == ErrorBody::name() {
            refusals.push(("422", "A value of the body does not fit; the message says which and why."));
        }
    }
    let in_path = |parameter: &RefOr<Parameter>| match parameter {
        RefOr::T(parameter) => parameter.parameter_in == ParameterIn::Path,
        RefOr::Ref(_) => false,
    };
    if operation.parameters.iter().flatten().any(in_path) {
        refusals.push(("404", "There is no such thing that this key reaches."));
    }
    for (status, words) in refusals {
        let answer = || RefOr::T(refusal(words, form));
        operation.responses.responses.entry(status.to_owned()).or_insert_with(answer);
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

fn error_response(form: &str) -> RefOr<Response> {
    RefOr::T(refusal("Why not, and what to do.", form))
}

/// The shape of errors below a path.
fn form(path: &str) -> &'static str {
    if openai::speaks(path) { "CompletionError" } else { "ErrorBody" }
}

fn refusal(words: &str, form: &str) -> Response {
    let content = ContentBuilder::new().schema(Some(RefOr::Ref(Ref::from_schema_name(form)))).build();
    ResponseBuilder::new().description(words).content("application/json", content).build()
}
