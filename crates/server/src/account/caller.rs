//! An operator's browser at the routes under `/v1`: the same routes, with the grants of their role.

use std::sync::Arc;

use axum::http::{HeaderMap, Method};
use munshi_identity::keys::{ApiCaller, KeyCeiling, KeyMaker, KeySpeaker};
use munshi_identity::links;
use munshi_identity::operators::OPERATORS;
use munshi_identity::{Principal, PrincipalStanding, Role};
use munshi_store::{PlatformTx, tenants};
use munshi_types::{Id, KeyId, Tenant, TenantName};

use crate::access::Access;
use crate::account::origin::{self, RequestOrigin};
use crate::account::signed_in_operator::{OpenWorkspace, SignedInOperator};
use crate::error::{ApiError, ApiErrorCode};

/// Which tenant is meant, where somebody looks after several; without it, the one whose pages are open.
pub const TENANT: &str = "x-munshi-tenant";
/// What a script of our own pages sends along with everything that changes something.
const FORM: &str = "x-munshi-form";

/// The operator as a caller; none where nobody is signed in.
pub async fn find(
    access: &Access,
    method: &Method,
    headers: &HeaderMap,
) -> Result<Option<Arc<ApiCaller>>, ApiError> {
    let Some(who) = SignedInOperator::find(access, headers).await? else { return Ok(None) };
    let from = origin::classify(headers, access.account.public_url.as_deref());
    let token = headers.get(FORM).and_then(|value| value.to_str().ok()).unwrap_or_default();
    if from == RequestOrigin::Others || (!method.is_safe() && !who.is_own_form(token)) {
        let words = "A signed-in browser may do this only from a page of this server.";
        return Err(ApiError::new(ApiErrorCode::Forbidden, words)
            .hint("Send the page's form token as `x-munshi-form`, or use an API key."));
    }
    let workspace = resolve_workspace(&who, headers).await?;
    Ok(Some(Arc::new(build_caller(&who, workspace))))
}

async fn resolve_workspace(who: &SignedInOperator, headers: &HeaderMap) -> Result<OpenWorkspace, ApiError> {
    let lacking = || {
        ApiError::new(ApiErrorCode::Forbidden, "You have no role in this workspace, or it does not exist.")
            .hint("Omit `x-munshi-tenant`, or name a workspace listed at /account.")
    };
    let Some(asked) = headers.get(TENANT) else {
        let open = who.find_open_workspace().await?;
        // Before there is any tenant, its keeper has the installation itself.
        let own = || OpenWorkspace { tenant: Tenant::installation(), role: Role::Owner };
        return open.or_else(|| who.operator.keeper.then(own)).ok_or_else(lacking);
    };
    let name: TenantName = asked.to_str().ok().and_then(|text| text.parse().ok()).ok_or_else(lacking)?;
    let read = move |tx: &mut PlatformTx<'_>| tenants::find_by_name(tx, &name);
    let tenant = who.access.db.platform(OPERATORS).read(read).await?.ok_or_else(lacking)?;
    who.find_workspace(tenant.id).await?.ok_or_else(lacking)
}

/// An operator in one of their workspaces.
pub fn build_caller(who: &SignedInOperator, workspace: OpenWorkspace) -> ApiCaller {
    let tenant = workspace.tenant;
    let standing = PrincipalStanding::Member(workspace.role);
    ApiCaller {
        tenant: tenant.id,
        tenant_status: tenant.status,
        key: KeyId::from_uuid(who.sign_in.id.as_uuid()),
        key_name: who.operator.email.clone(),
        operator: Some(who.operator.id),
        keeper: who.operator.keeper,
        speaks_as: KeySpeaker::Person,
        ceiling: KeyCeiling { role: Some(workspace.role), ..KeyCeiling::default() },
        maker: KeyMaker::from_name(links::render_maker(who.operator.id)),
        principal: Principal { standing, ..Principal::anonymous(tenant.id) },
        areas: None,
        bindings: None,
        until: None,
    }
}
