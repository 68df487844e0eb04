//! The OpenAPI document, and the names that spans take from it.

use axum::body::Bytes;
use axum::http::Method;
use munshi_identity::keys::{Area, AreaGrant};
use munshi_pack::operation::CallerClass;
use munshi_server::error::{ApiErrorCode, ErrorBody, ErrorDetail};
use munshi_server::middleware::SpanNames;
use utoipa::openapi::path::{Operation, Parameter, ParameterIn, PathItem};
use utoipa::openapi::response::ResponseBuilder;
use utoipa::openapi::schema::ComponentsBuilder;
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityRequirement, SecurityScheme};
use utoipa::openapi::{ContentBuilder, InfoBuilder, OpenApi, Ref, RefOr, Response};
use utoipa::{PartialSchema, ToSchema};

use crate::api::access::find_caller_class;
use crate::openai::completion::{ChunkChoice, CompletionChunk, CompletionDelta};
use crate::openai::errors::{CompletionError, CompletionErrorDetail, is_openai_route};
use crate::views::attachment::AttachmentView;
use crate::views::event::{BegunRunView, StreamEvent, UndoOfferView};
use crate::views::visit_event::VisitEvent;

/// What keys are called in the document.
const SCHEME: &str = "key";

/// Finished once, when the router is built; served and read until the process ends.
#[derive(Debug)]
pub(crate) struct ApiDocument {
    pub(crate) json: Bytes,
}

impl ApiDocument {
    /// Adds to the collected routes what all share: the title, and the error shape as every route's default answer. The names
    /// of spans are the routes' own.
    pub(crate) fn build(mut api: OpenApi) -> (Self, SpanNames) {
        api.info = InfoBuilder::new()
            .title("Munshi")
            .version(env!("CARGO_PKG_VERSION"))
            .description(Some(
                "Every error has the shape of `ErrorBody`; every response has an `x-request-id` header.",
            ))
            .build();
        let mut names = SpanNames::default();
        for (path, item) in &mut api.paths.paths {
            for (method, operation) in operations(item) {
                let form = select_error_schema(path);
                operation
                    .responses
                    .responses
                    .entry("default".to_owned())
                    .or_insert_with(|| error_response(form));
                if let Some(class) = find_caller_class(&method, path) {
                    add_security(operation, class, form);
                }
                names.insert(path.clone(), method, span_name(operation));
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
            (<BegunRunView as ToSchema>::name(), BegunRunView::schema()),
            (<UndoOfferView as ToSchema>::name(), UndoOfferView::schema()),
            (<VisitEvent as ToSchema>::name(), VisitEvent::schema()),
            (<AttachmentView as ToSchema>::name(), AttachmentView::schema()),
        ] {
            shared = shared.schema(name, schema);
        }
        let bearer = HttpBuilder::new().scheme(HttpAuthScheme::Bearer).bearer_format("mk_…").description(Some(
            "An API key. Create one with `munshi key add NAME --role ROLE --speaks-as person|program`; it is shown once. Each route states the access it requires: `persons` allows reads and writes, `persons:read` only reads.",
        ));
        shared = shared.security_scheme(SCHEME, SecurityScheme::Http(bearer.build()));
        api.components = Some(shared.build());
        // Serialising plain structs to memory can't fail; an empty document would fail the snapshot test.
        let json = serde_json::to_vec_pretty(&api).unwrap_or_default().into();
        (Self { json }, names)
    }
}

/// What a key must open, for programs and in words; and what those hear who have none.
pub(crate) fn add_security(operation: &mut Operation, class: CallerClass, form: &str) {
    let (scope, needs) = match class {
        CallerClass::Machine | CallerClass::Keeper | CallerClass::KeeperOfTenant => {
            ("keeper".to_owned(), "Requires a `keeper` key: see `munshi keeper-key add`.".to_owned())
        }
        CallerClass::Member(area, access) => {
            let grant = AreaGrant { area, access };
            (grant.to_string(), format!("Requires an API key with access to `{grant}`."))
        }
        CallerClass::Scope { scope, access, least } => {
            let grant = AreaGrant { area: Area::Packs, access };
            let needs = format!(
                "Requires an API key with access to `{grant}`, the role `{least}` or higher, and a policy that leaves `{scope}` open."
            );
            (grant.to_string(), needs)
        }
        CallerClass::MemberOrKeeper(area, access) => {
            let grant = AreaGrant { area, access };
            let needs =
                format!("Requires an API key with access to `{grant}`; without a tenant, a `keeper` key.");
            (grant.to_string(), needs)
        }
    };
    operation.security = Some(vec![SecurityRequirement::new(SCHEME, [scope])]);
    operation.description = Some(match operation.description.take() {
        Some(words) => format!("{words}\n\n{needs}"),
        None => needs,
    });
    let mut refusals = vec![
        ("400", "The path, the query or the body is malformed; the message says where."),
        ("401", "The API key is missing, invalid or expired."),
        ("403", "The API key lacks the required access; the hint says whom to ask."),
        ("429", "Rate limit exceeded. The message names the limit; wait for the seconds in `retry-after`."),
        ("503", "The service is temporarily unavailable; no data was lost."),
    ];
    if operation.request_body.is_some() {
        refusals.extend([("413", "The body is too large."), ("415", "The `content-type` is not JSON.")]);
        // OpenAI has one status for both.
        if form == ErrorBody::name() {
            refusals.push(("422", "A value in the body is invalid; the message says which one and why."));
        }
    }
    let in_path = |parameter: &RefOr<Parameter>| match parameter {
        RefOr::T(parameter) => parameter.parameter_in == ParameterIn::Path,
        RefOr::Ref(_) => false,
    };
    if operation.parameters.iter().flatten().any(in_path) {
        refusals.push(("404", "It does not exist, or this API key has no access to it."));
    }
    for (status, words) in refusals {
        let answer = || RefOr::T(build_error_response(words, form));
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
    RefOr::T(build_error_response(
        "Any other error; the message says what happened and the hint what to do.",
        form,
    ))
}

/// The shape of errors below a path.
pub(crate) fn select_error_schema(path: &str) -> &'static str {
    if is_openai_route(path) { "CompletionError" } else { "ErrorBody" }
}

fn build_error_response(words: &str, form: &str) -> Response {
    let content = ContentBuilder::new().schema(Some(RefOr::Ref(Ref::from_schema_name(form)))).build();
    ResponseBuilder::new().description(words).content("application/json", content).build()
}
