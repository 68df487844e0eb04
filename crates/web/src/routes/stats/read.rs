//! `GET /v1/stats`: how quick, how much, how dear, and how well turns went.

use jiff::ToSpan;
use munshi_agent::rollups::{self, TurnStatsReport, TurnTallyLine};
use munshi_server::error::ApiError;
use munshi_server::json::Json;
use munshi_server::parameters::{UrlQueryParameters, field_error};
use munshi_store::Tx;
use munshi_types::BindingId;
use munshi_types::tier::Channel;
use serde::Deserialize;
use utoipa::IntoParams;

use crate::api::access::AuthorizedCaller;
use crate::api::turn_errors::convert_turn_error;
use crate::views::stats::Stats;

const DAYS: u16 = 7;
const MOST_DAYS: u16 = 3660;

#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct ShowStatsQuery {
    /// Only runs of this binding.
    #[param(value_type = Option<uuid::Uuid>)]
    binding: Option<BindingId>,
    /// Only runs on this channel, such as `whatsapp`.
    #[param(value_type = Option<String>, example = "web")]
    channel: Option<Channel>,
    /// Number of days, including today; default 7.
    #[param(minimum = 1, maximum = 3660)]
    days: Option<u16>,
}

/// Get percentiles of every stage against their targets, counts, cost, rule violations and prompt size by tier.
///
/// A key limited to some bindings sees only those.
#[utoipa::path(get, path = "/v1/stats", tag = "stats", params(ShowStatsQuery),
    responses((status = 200, description = "Statistics of the turns in the period.", body = Stats)))]
pub(crate) async fn read_stats(
    key: AuthorizedCaller,
    UrlQueryParameters(which): UrlQueryParameters<ShowStatsQuery>,
) -> Result<Json<Stats>, ApiError> {
    let days = which.days.unwrap_or(DAYS);
    if !(1..=MOST_DAYS).contains(&days) {
        return Err(field_error("days", "must be from 1 to 3660"));
    }
    let (tenant, now) = (key.api.load_tenant(key.tenant()).await?, key.api.clock.now());
    let today = now.to_jiff().to_zoned(tenant.zone.to_jiff()).date();
    let back = i64::from(days - 1).days();
    let first = today.checked_sub(back).map_err(|_| field_error("days", "the start date is out of range"))?;
    let zone = tenant.zone.clone();
    let read = move |tx: &mut Tx<'_>| rollups::read(tx, &zone, first, today);
    let mut lines: Vec<TurnTallyLine> =
        key.api.db.read(key.tenant(), read).await.map_err(convert_turn_error)?;
    lines.retain(|line| {
        key.reaches(line.binding)
            && which.binding.is_none_or(|wanted| line.binding == wanted)
            && which.channel.is_none_or(|wanted| line.channel == wanted)
    });
    Ok(Json(TurnStatsReport::new(first, today, &lines).into()))
}
