//! `GET /v1/usage`: what was used, and what is left.

use jiff::civil::Date;
use munshi_safety::budget::{
    self, BudgetAccount, BudgetLane, UsageDimension, UsageLine, list_limit_statuses, list_usage,
};
use munshi_server::error::{ApiError, ApiErrorCode};
use munshi_server::json::Json;
use munshi_server::parameters::UrlQueryParameters;
use munshi_store::Tx;
use munshi_types::{BindingId, Id};
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};

use crate::api::access::AuthorizedCaller;
use crate::views::usage::UsageReport;

/// How usage is grouped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
#[schema(as = UsageBy)]
pub(crate) enum UsageGroupingParameter {
    #[default]
    Day,
    Binding,
    Person,
}

impl From<UsageGroupingParameter> for UsageDimension {
    fn from(by: UsageGroupingParameter) -> Self {
        match by {
            UsageGroupingParameter::Day => Self::Day,
            UsageGroupingParameter::Binding => Self::Binding,
            UsageGroupingParameter::Person => Self::Person,
        }
    }
}

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ShowUsageQuery {
    /// First day, in the workspace's time zone. Default: the first of the month.
    #[param(value_type = Option<String>, format = Date, example = "2026-11-01")]
    since: Option<Date>,
    /// Default: by day.
    #[serde(default)]
    #[param(inline, required = false)]
    by: UsageGroupingParameter,
}

/// Get the plan, the status of each limit, and usage.
#[utoipa::path(get, path = "/v1/usage", tag = "usage", params(ShowUsageQuery),
    responses((status = 200, description = "Usage and remaining limits.", body = UsageReport)))]
pub(crate) async fn read_usage(
    key: AuthorizedCaller,
    UrlQueryParameters(which): UrlQueryParameters<ShowUsageQuery>,
) -> Result<Json<UsageReport>, ApiError> {
    let is_narrow = key.caller.bindings.is_some();
    if is_narrow && which.by != UsageGroupingParameter::Binding {
        let what = "This key may access only some bindings, and this report covers all of them.";
        return Err(ApiError::new(ApiErrorCode::Forbidden, what).hint("Use `by=binding`, or another key."));
    }
    let (tenant, now) = (key.api.load_tenant(key.tenant()).await?, key.api.clock.now());
    let today = now.to_jiff().to_zoned(tenant.zone.to_jiff()).date();
    let since = which.since.unwrap_or_else(|| today.first_of_month()).to_string();
    let (act_services, zone, by) = (key.api.act_services.clone(), tenant.zone.clone(), which.by.into());
    let bindings = key.caller.bindings.clone();
    let is_open = move |line: &UsageLine| {
        let reached = |ids: &Vec<BindingId>| ids.iter().any(|id| line.id == Some(id.as_uuid()));
        bindings.as_ref().is_none_or(reached)
    };
    let read = move |tx: &mut Tx<'_>| -> munshi_safety::Result<_> {
        let settings = act_services.governor.settings();
        let mut limits = Vec::new();
        for lane in BudgetLane::ALL.iter().filter(|_| !is_narrow) {
            let account = BudgetAccount { binding: None, person: None, lane: *lane, zone: zone.clone() };
            limits.extend(list_limit_statuses(tx, settings, &account, now)?.into_iter().map(Into::into));
        }
        let lines = list_usage(tx, &since, by)?.into_iter().filter(is_open).map(Into::into).collect();
        let plan = budget::load_plan(tx, settings)?.as_str();
        Ok(UsageReport { plan, since, limits, used: lines })
    };
    Ok(Json(key.api.db.read(key.tenant(), read).await?))
}
