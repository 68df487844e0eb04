//! `GET /v1/tiers`: humans, teams, agents and bindings.

use munshi_server::error::ApiError;
use munshi_server::json::Json;
use munshi_server::parameters::{ListLimit, ListResponse, UrlQueryParameters};
use munshi_tiers::history;
use munshi_types::tier::TierKind;
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};

use crate::api::access::AuthorizedCaller;
use crate::views::tier::TierView;

#[derive(Clone, Copy, Debug, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = Kind)]
pub(crate) enum TierKindParameter {
    Human,
    Team,
    Agent,
    Binding,
}

impl TierKindParameter {
    const fn kind(self) -> TierKind {
        match self {
            Self::Human => TierKind::Human,
            Self::Team => TierKind::Team,
            Self::Agent => TierKind::Agent,
            Self::Binding => TierKind::Binding,
        }
    }
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ListTiersQuery {
    /// Only tiers of this kind.
    #[param(inline)]
    kind: Option<TierKindParameter>,
    /// The `next` of the previous page.
    after: Option<String>,
    /// Page size; default 25.
    #[param(value_type = Option<u32>, minimum = 1, maximum = 100)]
    limit: Option<ListLimit>,
}

/// List humans, teams, agents and bindings, by kind and name, including archived ones.
#[utoipa::path(get, path = "/v1/tiers", tag = "tiers", params(ListTiersQuery),
    responses((status = 200, description = "A page of tiers.", body = ListResponse<TierView>)))]
pub(crate) async fn list_tiers(
    key: AuthorizedCaller,
    UrlQueryParameters(which): UrlQueryParameters<ListTiersQuery>,
) -> Result<Json<ListResponse<TierView>>, ApiError> {
    let tenant = key.api.load_tenant(key.tenant()).await?;
    let tiers = history::list_tiers(&key.api.db, &tenant.name).await?;
    let wanted = which.kind.map(TierKindParameter::kind);
    let tiers: Vec<_> =
        tiers.into_iter().filter(|tier| wanted.is_none_or(|kind| tier.kind == kind)).collect();
    let titled = |tier: &munshi_tiers::plan::StoredTier| format!("{}.{}", tier.kind.as_str(), tier.name);
    let listed = ListResponse::paginate_by_name(tiers, which.after.as_deref(), which.limit, titled);
    Ok(Json(ListResponse { items: listed.items.iter().map(TierView::from).collect(), next: listed.next }))
}
