//! Operations as routes: a request's path, query and body are the input, its answer is the view. Written once for all of them.

use std::sync::Arc;

use axum::Extension;
use axum::body::{Body, HttpBody};
use axum::extract::{FromRequest, FromRequestParts, Query, RawPathParams, Request};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodFilter, MethodRouter, on};
use munshi_identity::keys::ApiCaller;
use munshi_identity::{Principal, persons};
use munshi_operations::{HouseCall, ListedOperation, list_operations};
use munshi_pack::PackRegistry;
use munshi_pack::operation::{
    IdempotencyKey, OperationCaller, OperationError, OperationErrorCode, OperationScope, OperationShape,
    RouteMethod,
};
use munshi_server::account::caller::{TENANT, build_caller};
use munshi_server::account::signed_in_operator::{OpenWorkspace, SignedInOperator};
use munshi_server::error::{ApiError, ApiErrorCode};
use munshi_server::json::Json;
use munshi_store::Tx;
use munshi_types::{Tenant, TenantId};
use serde_json::{Map, Value};
use tokio_util::task::TaskTracker;
use tracing::Instrument;
use utoipa::openapi::path::{HttpMethod, Operation, OperationBuilder, ParameterBuilder, ParameterIn};
use utoipa::openapi::request_body::RequestBodyBuilder;
use utoipa::openapi::response::{ResponseBuilder, ResponsesBuilder};
use utoipa::openapi::{ContentBuilder, Ref, RefOr, Required, Schema};

use crate::api::access::AuthorizedCaller;
use crate::app::App;
use crate::app::api::Api;
use crate::document::{add_security, select_error_schema};
use crate::router::Routes;

/// Under which a write is carried out once, however often it is sent.
const IDEMPOTENCY_KEY: &str = "idempotency-key";

/// A call by somebody whose key or browser was let in.
pub(crate) async fn build_call(
    api: &Api,
    caller: Arc<ApiCaller>,
    scope: OperationScope,
) -> Result<HouseCall, ApiError> {
    let tenant = match scope {
        OperationScope::Installation => Tenant::installation(),
        _ if caller.tenant == TenantId::PLATFORM => Tenant::installation(),
        // Remembered but for how it stands.
        _ => {
            let known = api.load_tenant(caller.tenant).await?;
            Tenant { status: caller.tenant_status, ..Tenant::clone(&known) }
        }
    };
    Ok(HouseCall {
        db: api.db.clone(),
        ids: api.ids.clone(),
        random: api.random.clone(),
        now: api.clock.now(),
        caller: OperationCaller::api(caller),
        tenant,
        services: api.house.clone(),
        idempotency: IdempotencyKey::default(),
    })
}

/// A call that somebody makes on a page of their workspace.
pub(crate) async fn build_operator_call(
    api: &Api,
    who: &SignedInOperator,
    workspace: &OpenWorkspace,
) -> Result<HouseCall, ApiError> {
    build_call(api, Arc::new(build_caller(who, workspace.clone())), OperationScope::Tenant).await
}

/// The same for somebody who joins conversations: as the person whom they are in the tenant.
pub(crate) async fn build_colleague_call(
    api: &Api,
    who: &SignedInOperator,
    workspace: &OpenWorkspace,
) -> Result<HouseCall, ApiError> {
    let (ids, operator) = (api.ids.clone(), who.operator.clone());
    let (role, now) = (workspace.role, api.clock.now());
    let unit = move |tx: &mut Tx<'_>| persons::find_or_add_operator(tx, &ids, &operator, role, now);
    let person = api.db.write(workspace.tenant.id, unit).await?;
    let caller = build_caller(who, workspace.clone());
    let principal = Principal { person: Some(person.id), ..caller.principal.clone() };
    build_call(api, Arc::new(ApiCaller { principal, ..caller }), OperationScope::Tenant).await
}

/// The routes of the house's operations, with what the document says of them.
pub(crate) fn operation_routes() -> Routes {
    build_routes(list_operations(&[]))
}

/// The routes of what packs have to be administered.
pub fn pack_operation_routes(packs: &PackRegistry) -> Routes {
    build_routes(list_operations(&packs.operations).filter(ListedOperation::is_packs))
}

fn build_routes(operations: impl Iterator<Item = ListedOperation>) -> Routes {
    let mut routes = Routes::new();
    for entry in operations.filter(|entry| entry.spec.has_route()) {
        let filter = match entry.spec.method {
            RouteMethod::Get => MethodFilter::GET,
            RouteMethod::Create | RouteMethod::Post => MethodFilter::POST,
            RouteMethod::Patch => MethodFilter::PATCH,
        };
        let handler = move |key: AuthorizedCaller, request: Request| answer(entry, key, request);
        // Whoever lets somebody in is told by it whom.
        let route: MethodRouter<App> = on(filter, handler).layer(Extension(entry.spec));
        routes = routes.route(entry.spec.path, route);
        let document = routes.get_openapi_mut();
        document.paths.add_path_operation(
            entry.spec.path,
            vec![http_method(entry.spec.method)],
            describe(&entry),
        );
        let components = document.components.get_or_insert_default();
        components.schemas.extend(entry.component_schemas());
        let (name, schema) = entry.view_schema();
        components.schemas.insert(name, schema);
        if let Some((name, schema)) = entry.body_schema() {
            components.schemas.insert(name, schema);
        }
    }
    routes
}

async fn answer(
    entry: ListedOperation,
    key: AuthorizedCaller,
    request: Request,
) -> Result<Response, ApiError> {
    let asked = request.headers().get(TENANT).cloned();
    let idempotency = read_idempotency_key(request.headers())?;
    let input = read_input(&entry, request).await?;
    let scope = entry.spec.needs.scope();
    let mut call = build_call(&key.api, key.caller, scope).await?;
    call.idempotency = idempotency;
    // An operator's browser and a keeper are let into the tenant they name; a key is one tenant's.
    if let Some(asked) = asked
        && scope != OperationScope::Installation
        && asked.as_bytes() != call.tenant.name.as_str().as_bytes()
    {
        let name = String::from_utf8_lossy(asked.as_bytes()).into_owned();
        return Err(OperationError::not_found("tenant", &name).into());
    }
    let view = execute(entry, call, input).await.map_err(|error| {
        let is_read = entry.spec.method == RouteMethod::Get;
        let is_malformed = is_read && error.code == OperationErrorCode::Invalid;
        let error = ApiError::from(error);
        // What stands in a URL is malformed; what stands in a body does not fit.
        if is_malformed { ApiError { code: ApiErrorCode::BadRequest, ..error } } else { error }
    })?;
    let status = StatusCode::from_u16(entry.spec.method.status()).unwrap_or(StatusCode::OK);
    Ok((status, Json(view)).into_response())
}

/// A write comes to its end though whoever asked goes away or waits no longer: what was begun outside of the database is
/// ended and told, and the same request sent again under its key hears the answer.
async fn execute(
    entry: ListedOperation,
    call: HouseCall,
    input: Map<String, Value>,
) -> Result<Value, OperationError> {
    if !entry.spec.writes() {
        return entry.execute(&call, Value::Object(input)).await;
    }
    let work = async move { entry.execute(&call, Value::Object(input)).await };
    let ended = TaskTracker::new().spawn(work.in_current_span()).await;
    ended.map_err(OperationError::internal)?
}

fn read_idempotency_key(headers: &HeaderMap) -> Result<IdempotencyKey, ApiError> {
    let Some(sent) = headers.get(IDEMPOTENCY_KEY) else { return Ok(IdempotencyKey::default()) };
    let text = sent.to_str().map_err(|_| {
        ApiError::new(ApiErrorCode::BadRequest, "`idempotency-key` has letters that are no ASCII.")
    })?;
    Ok(IdempotencyKey::new(Some(text.to_owned())))
}

async fn read_input(entry: &OperationShape, request: Request) -> Result<Map<String, Value>, ApiError> {
    let (mut parts, body) = request.into_parts();
    let types = PropertyTypes::new(entry);
    let mut input = Map::new();
    if entry.spec.method == RouteMethod::Get {
        let Query(pairs) = Query::<Vec<(String, String)>>::try_from_uri(&parts.uri)
            .map_err(|error| ApiError::from_code(ApiErrorCode::BadRequest).caused_by(error))?;
        for (name, text) in pairs {
            let value = types.parse(&name, text);
            if input.insert(name.clone(), value).is_some() {
                let message = format!("The query has `{}` twice.", munshi_server::json::shorten(&name));
                return Err(ApiError::new(ApiErrorCode::BadRequest, message));
            }
        }
    }
    let in_path = RawPathParams::from_request_parts(&mut parts, &())
        .await
        .map_err(|error| ApiError::from_code(ApiErrorCode::BadRequest).caused_by(error))?;
    let in_path: Vec<(String, String)> =
        in_path.iter().map(|(name, text)| (name.to_owned(), text.to_owned())).collect();
    if entry.spec.method != RouteMethod::Get {
        input = read_body(entry, Request::from_parts(parts, body)).await?;
    }
    for (name, text) in in_path {
        if input.insert(name.clone(), Value::String(text)).is_some() {
            let message = format!("`{name}` stands in the path and can't be sent besides.");
            return Err(ApiError::new(ApiErrorCode::Invalid, message));
        }
    }
    Ok(input)
}

/// None need be sent where every field may be left out.
async fn read_body(entry: &OperationShape, request: Request<Body>) -> Result<Map<String, Value>, ApiError> {
    let is_empty = request.body().is_end_stream() || request.body().size_hint().exact() == Some(0);
    if is_empty && !entry.needs_body() {
        return Ok(Map::new());
    }
    match Json::<Value>::from_request(request, &()).await? {
        Json(Value::Object(body)) => Ok(body),
        Json(_) => {
            let in_path: Vec<&str> = entry.spec.path_fields().collect();
            let fields = entry.fields().into_iter().filter(|field| !in_path.contains(&field.name.as_str()));
            let named = fields.map(|field| format!("`{}`", field.name)).collect::<Vec<_>>().join(", ");
            let message = format!("The body must be a JSON object; its fields are {named}.");
            Err(ApiError::new(ApiErrorCode::Invalid, message))
        }
    }
}

/// What the fields of an input are, for texts of a URL.
struct PropertyTypes(Value);

impl PropertyTypes {
    fn new(entry: &OperationShape) -> Self {
        Self(serde_json::to_value(entry.input_schema()).unwrap_or_default())
    }

    /// A text that is no number or truth value stays one, and is refused as such.
    fn parse(&self, name: &str, text: String) -> Value {
        let declared = &self.0["properties"][name]["type"];
        let is = |wanted: &str| {
            declared == wanted || declared.as_array().is_some_and(|all| all.iter().any(|one| one == wanted))
        };
        let parsed = if is("integer") {
            text.parse::<i64>().ok().map(Value::from)
        } else if is("boolean") {
            text.parse::<bool>().ok().map(Value::from)
        } else {
            None
        };
        parsed.unwrap_or(Value::String(text))
    }
}

fn http_method(method: RouteMethod) -> HttpMethod {
    match method {
        RouteMethod::Get => HttpMethod::Get,
        RouteMethod::Create | RouteMethod::Post => HttpMethod::Post,
        RouteMethod::Patch => HttpMethod::Patch,
    }
}

/// What the document says of one.
fn describe(entry: &OperationShape) -> Operation {
    let spec = &entry.spec;
    let mut operation = OperationBuilder::new()
        .operation_id(Some(spec.id()))
        .tag(spec.resource.replace('-', "_"))
        .summary(Some(spec.about))
        .responses(
            ResponsesBuilder::new().response(spec.method.status().to_string(), success(entry)).build(),
        );
    for field in entry.fields() {
        let is_in_path = spec.path_fields().any(|known| known == field.name);
        if !is_in_path && spec.method != RouteMethod::Get {
            continue;
        }
        let parameter_in = if is_in_path { ParameterIn::Path } else { ParameterIn::Query };
        let required = if is_in_path { Required::True } else { Required::False };
        operation = operation.parameter(
            ParameterBuilder::new()
                .name(field.name)
                .parameter_in(parameter_in)
                .required(required)
                .description(field.description)
                .schema(Some(field.schema)),
        );
    }
    if let Some((name, _)) = entry.body_schema() {
        let required = if entry.needs_body() { Required::True } else { Required::False };
        let body =
            RequestBodyBuilder::new().content("application/json", reference(&name)).required(Some(required));
        operation = operation.request_body(Some(body.build()));
    }
    let mut operation = operation.build();
    add_security(&mut operation, spec.needs, select_error_schema(spec.path));
    operation
}

fn success(entry: &OperationShape) -> utoipa::openapi::Response {
    let (name, _) = entry.view_schema();
    let words = match entry.spec.verb {
        "list" | "log" | "search" => format!("A page of {}.", entry.spec.resource.replace('_', " ")),
        _ => format!("The {}.", entry.spec.noun),
    };
    ResponseBuilder::new().description(words).content("application/json", reference(&name)).build()
}

fn reference(name: &str) -> utoipa::openapi::Content {
    let schema: RefOr<Schema> = RefOr::Ref(Ref::from_schema_name(name));
    ContentBuilder::new().schema(Some(schema)).build()
}
