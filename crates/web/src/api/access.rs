//! Who may call which route: one table, which the document tells and [`AuthorizedCaller`] holds every request to.

use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::{FromRequestParts, MatchedPath};
use axum::http::header::AUTHORIZATION;
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method};
use futures_util::FutureExt;
use munshi_conversations::KeyUse;
use munshi_identity::keys::{ApiAccess, ApiCaller, Area};
use munshi_identity::{MissingPermission, Role};
use munshi_operations::tenants::find_selected;
use munshi_pack::operation::{CallerClass, OperationCaller, OperationError, OperationScope, OperationSpec};
use munshi_server::account::caller::TENANT;
use munshi_server::error::{ApiError, ApiErrorCode};
use munshi_server::options::Peer;
use munshi_store::PlatformTx;
use munshi_store::tenants::TENANTS;
use munshi_types::{BindingId, TenantId, TenantStatus};

use crate::app::App;
use crate::app::api::Api;

use ApiAccess::{Read, Write};
use Area::{Chat, Persons, Sessions, Test};

/// Every route under `/v1` that is no operation. One that is missing here and there is closed to everybody.
#[rustfmt::skip]
pub(crate) const TABLE: &[(Method, &str, Area, ApiAccess)] = &[
    (Method::POST, "/v1/chat", Chat, Write),
    // As OpenAI's clients speak: a binding is a model.
    (Method::GET, "/v1/models", Chat, Read),
    (Method::GET, "/v1/models/{model}", Chat, Read),
    (Method::POST, "/v1/chat/completions", Chat, Write),
    (Method::POST, "/v1/embeddings", Chat, Write),
    // Whoever may chat may hear the rest of an answer that broke off.
    (Method::GET, "/v1/runs/{id}/stream", Chat, Read),
    // Whoever may read a conversation may follow it.
    (Method::GET, "/v1/sessions/{id}/stream", Sessions, Read),
    (Method::POST, "/v1/sessions/{id}/typing", Sessions, Write),
    (Method::POST, "/v1/sessions/{id}/seen", Sessions, Read),
    (Method::GET, "/v1/stream", Sessions, Read),
    (Method::POST, "/v1/uploads", Chat, Write),
    (Method::GET, "/v1/uploads/{id}", Chat, Read),
    (Method::POST, "/v1/persons/{id}/link", Persons, Write),
    (Method::POST, "/v1/persons/{id}/confirm", Persons, Write),
    // Acts are rehearsed; `act` needs `test` whole.
    (Method::POST, "/v1/test", Test, Read),
];

/// Who may call a route that is no operation; none for those outside of `/v1`.
pub(crate) fn find_caller_class(method: &Method, path: &str) -> Option<CallerClass> {
    let line = TABLE.iter().find(|(known, template, ..)| known == method && *template == path)?;
    Some(CallerClass::Member(line.2, line.3))
}

/// The request is not new: it is looked again whether its client may hear a stream that is open, which is counted by nothing.
#[derive(Clone, Copy)]
pub(crate) struct StreamRecheck;

/// Whoever holds the key of this request, let in for its route.
pub(crate) struct AuthorizedCaller {
    pub(crate) api: Api,
    pub(crate) caller: Arc<ApiCaller>,
}

impl FromRequestParts<App> for AuthorizedCaller {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        // Boxed, so that its code is not part of every handler's.
        Self::extract(parts, app).boxed().await
    }
}

impl AuthorizedCaller {
    /// Whoever it is by now that has a stream open.
    pub(crate) async fn recheck(parts: &Parts, app: &App) -> Result<Self, ApiError> {
        let mut parts = parts.clone();
        parts.extensions.insert(StreamRecheck);
        Self::from_request_parts(&mut parts, app).await
    }

    async fn extract(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        let api = app.api()?.clone();
        let path = parts.extensions.get::<MatchedPath>().map(MatchedPath::as_str).unwrap_or_default();
        let method = if parts.method == Method::HEAD { Method::GET } else { parts.method.clone() };
        let operation = parts.extensions.get::<OperationSpec>().map(|spec| spec.needs);
        let class = operation
            .or_else(|| find_caller_class(&method, path))
            .ok_or_else(|| ApiError::internal(format!("{method} {path} is missing from the access table")))?;
        let is_operation = operation.is_some();
        let address = api.client_address(parts.extensions.get::<Peer>(), &parts.headers);
        let caller = authenticate(&api, &parts.method, &parts.headers, address).await?;
        if parts.extensions.get::<StreamRecheck>().is_none() {
            api.limits.check_key(&caller)?;
        }
        let caller = enter_tenant(&api, caller, &parts.headers, class.scope()).await?;
        let is_tenants = caller.tenant != TenantId::PLATFORM;
        if !is_operation && is_tenants && caller.tenant_status == TenantStatus::Archived {
            return Err(ApiError::new(ApiErrorCode::Conflict, "The tenant is archived."));
        }
        match class {
            CallerClass::Member(area, access) => {
                caller.authorize(area, access).map_err(forbidden_error)?;
            }
            // Where nobody but a keeper may, it says so before anything is read.
            class => OperationCaller::api(Arc::clone(&caller)).authorize_for(class, !is_tenants)?,
        }
        Ok(Self { api, caller })
    }
}

/// A keeper's key is in no tenant until it names one. Where one is needed and none is named, the only one is meant.
async fn enter_tenant(
    api: &Api,
    caller: Arc<ApiCaller>,
    headers: &HeaderMap,
    scope: OperationScope,
) -> Result<Arc<ApiCaller>, ApiError> {
    if caller.tenant != TenantId::PLATFORM || scope == OperationScope::Installation {
        return Ok(caller);
    }
    let name = match headers.get(TENANT) {
        None if scope == OperationScope::Either => return Ok(caller),
        None => None,
        Some(asked) => {
            let text = String::from_utf8_lossy(asked.as_bytes()).into_owned();
            Some(text.parse().map_err(|_| OperationError::not_found("tenant", &text))?)
        }
    };
    let read = move |tx: &mut PlatformTx<'_>| find_selected(tx, name.as_ref());
    let tenant = api.db.platform(TENANTS).read(read).await?;
    Ok(Arc::new(caller.enter_tenant(tenant.id, tenant.status)))
}

/// A good key is let in whatever its neighbours do; so is the browser of an operator who is signed in, where no key is
/// sent. Who has neither is counted by address.
async fn authenticate(
    api: &Api,
    method: &Method,
    headers: &HeaderMap,
    address: Option<IpAddr>,
) -> Result<Arc<ApiCaller>, ApiError> {
    if let Some(text) = bearer(headers)
        && let Some(caller) = api.keys.authenticate(text).await?
    {
        return Ok(caller);
    }
    if !headers.contains_key(AUTHORIZATION)
        && let Some(caller) = munshi_server::account::caller::find(api, method, headers).await?
    {
        return Ok(caller);
    }
    Err(reject_unauthenticated(api, headers, address)?)
}

/// What somebody hears who has no good key, and is counted for.
fn reject_unauthenticated(
    api: &Api,
    headers: &HeaderMap,
    address: Option<IpAddr>,
) -> Result<ApiError, ApiError> {
    api.limits.check_unauthenticated(address)?;
    Ok(match headers.contains_key(AUTHORIZATION) {
        false => ApiError::from_code(ApiErrorCode::Unauthenticated),
        true => ApiError::new(ApiErrorCode::Unauthenticated, "Invalid or expired API key.")
            .hint("Send `authorization: Bearer mk_…` with a valid key; create one with `munshi key add`."),
    })
}

pub(crate) fn bearer(headers: &HeaderMap) -> Option<&str> {
    let sent = headers.get(AUTHORIZATION)?.to_str().ok()?;
    let (scheme, key) = sent.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| key.trim())
}

/// What is missing, and whom to ask.
pub(crate) fn forbidden_error(lacking: MissingPermission) -> ApiError {
    OperationError::from(lacking).into()
}

impl AuthorizedCaller {
    /// Authenticates by API key only, not by a browser's sign-in. The caller checks the areas.
    pub(crate) async fn authenticate_key(
        api: &Api,
        headers: &HeaderMap,
        address: Option<IpAddr>,
    ) -> Result<Self, ApiError> {
        let found = match bearer(headers) {
            Some(text) => api.keys.authenticate(text).await?,
            None => None,
        };
        let Some(caller) = found else { return Err(reject_unauthenticated(api, headers, address)?) };
        api.limits.check_key(&caller)?;
        let caller = enter_tenant(api, caller, headers, OperationScope::Tenant).await?;
        if caller.tenant_status == TenantStatus::Archived {
            return Err(ApiError::new(ApiErrorCode::Conflict, "The tenant is archived."));
        }
        Ok(Self { api: api.clone(), caller })
    }

    /// What the engine is told of the key that a message comes through.
    pub(crate) fn key_use(&self) -> KeyUse {
        let caller = &self.caller;
        KeyUse { key: caller.key, speaks_as: caller.speaks_as, ceiling: caller.ceiling.clone() }
    }

    pub(crate) fn tenant(&self) -> TenantId {
        self.caller.tenant
    }

    /// For more than the route needs by itself.
    pub(crate) fn require_access(&self, area: Area, access: ApiAccess) -> Result<(), ApiError> {
        self.caller.authorize(area, access).map_err(forbidden_error)
    }

    pub(crate) fn reaches(&self, binding: impl Into<Option<BindingId>>) -> bool {
        self.caller.reaches(binding)
    }

    pub(crate) fn role(&self) -> Option<Role> {
        self.caller.principal.role()
    }

    /// Whether somebody of this role stands no higher than the key: what it could do to them, they could do themselves.
    pub(crate) fn covers_role(&self, role: Option<Role>) -> bool {
        match (self.role(), role) {
            (_, None) => true,
            (None, Some(_)) => false,
            (Some(own), Some(other)) => own <= other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn a_route_stands_in_the_table_once() {
        let routes: BTreeSet<(String, &str)> =
            TABLE.iter().map(|(method, path, ..)| (method.to_string(), *path)).collect();
        assert_eq!(routes.len(), TABLE.len());
        let class = find_caller_class(&Method::POST, "/v1/chat").unwrap();
        assert_eq!(class, CallerClass::Member(Area::Chat, ApiAccess::Write));
        assert!(find_caller_class(&Method::DELETE, "/v1/chat").is_none());
    }

    #[test]
    fn the_table_holds_the_routes_there_are_and_no_others() {
        let (_, api) = crate::routes().merge(crate::routes::upload_routes()).split_for_parts();
        let document = serde_json::to_value(&api).unwrap();
        let mut routes = BTreeSet::new();
        for (path, item) in document["paths"].as_object().unwrap() {
            let methods = item.as_object().unwrap().keys().map(|method| method.to_uppercase());
            routes.extend(methods.filter(|_| path.starts_with("/v1/")).map(|method| (method, path.clone())));
        }
        let table = TABLE.iter().map(|(method, path, ..)| (method.to_string(), (*path).to_owned()));
        let operations = munshi_operations::HOUSE.iter().map(|entry| &entry.spec);
        let operations = operations.filter(|spec| spec.has_route());
        let operations = operations.map(|spec| (spec.method.as_str().to_owned(), spec.path.to_owned()));
        assert_eq!(table.chain(operations).collect::<BTreeSet<_>>(), routes);
    }

    #[test]
    fn a_refusal_says_whom_to_ask() {
        let lacking =
            MissingPermission { what: "this key does not open keys".to_owned(), ask: Some(Role::Admin) };
        let error = forbidden_error(lacking);
        assert_eq!(error.message, "This key does not open keys.");
        assert_eq!(error.hint, "Ask an admin of the workspace for a key with this access.");
    }

    #[test]
    fn the_scheme_is_read_in_any_case() {
        let headers = |text: &'static str| {
            HeaderMap::from_iter([(AUTHORIZATION, axum::http::HeaderValue::from_static(text))])
        };
        assert_eq!(bearer(&headers("bearer  mk_1 ")), Some("mk_1"));
        assert_eq!(bearer(&headers("Basic bWs=")), None);
        assert_eq!(bearer(&headers("mk_1")), None);
    }
}
