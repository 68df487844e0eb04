//! How quick, how much, how dear, and how well turns went.

use std::collections::BTreeMap;

use jiff::ToSpan;
use munshi_conversations::rollups::report::{self, TurnStatsReport};
use munshi_conversations::rollups::{self, TurnTallyLine};
use munshi_identity::keys::{ApiAccess, Area};
use munshi_pack::operation::{
    CallerClass, Operation, OperationEffect, OperationError, OperationSpec, RouteMethod,
};
use munshi_tiers::history;
use munshi_types::tier::{Channel, TierKind, TierName};
use munshi_types::{BindingId, Id, TenantName};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::turn_errors::convert_turn_error;
use crate::{HouseCall, HouseServices};

const DAYS: u16 = 7;
const MOST_DAYS: u16 = 3660;

#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ShowStatsInput {
    /// Only runs of this binding: its id or its name.
    pub binding: Option<String>,
    /// Only runs on this channel, such as `whatsapp`.
    #[schema(value_type = Option<String>, example = "web")]
    pub channel: Option<Channel>,
    /// Number of days, including today; default 7.
    #[schema(minimum = 1, maximum = 3660)]
    pub days: Option<u16>,
}

/// Statistics of the turns in a period.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[schema(as = Stats)]
pub struct StatsView {
    #[schema(value_type = String, example = "sharma")]
    pub tenant: TenantName,
    /// The binding that was asked for, by its name.
    #[schema(value_type = Option<String>, example = "counter")]
    pub binding: Option<TierName>,
    /// Both days are inclusive, in the workspace's time zone.
    #[schema(format = Date, example = "2026-11-09")]
    pub from: String,
    #[schema(format = Date, example = "2026-11-15")]
    pub to: String,
    /// All channels together; targets apply to single channels.
    pub all: StatsPartView,
    pub channels: Vec<ChannelStatsView>,
}

/// Statistics of one channel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[schema(as = StatsOnChannel)]
pub struct ChannelStatsView {
    #[schema(example = "whatsapp")]
    pub channel: String,
    #[serde(flatten)]
    pub part: StatsPartView,
}

/// Counts, cost and distributions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[schema(as = StatsPart)]
pub struct StatsPartView {
    pub turns: u64,
    /// By outcome: `done`, or why they were halted.
    pub outcomes: BTreeMap<String, u64>,
    /// Fallback replies without an answer; they are not billed.
    pub degraded: u64,
    /// Rule violations in replies.
    pub violations: u64,
    pub model_calls: u64,
    pub tool_calls: u64,
    /// In millionths of a dollar.
    pub cost_micros: i64,
    /// Turns with unknown price; the cost excludes them.
    pub unpriced: u64,
    /// Duration of each stage, in microseconds.
    pub stages: Vec<MeasureSpreadView>,
    /// Prompt tokens by tier, and tokens written.
    pub tokens: Vec<MeasureSpreadView>,
}

/// The distribution of one measure. A percentile is never too low, and at most a sixteenth too high.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[schema(as = Spread)]
pub struct MeasureSpreadView {
    #[schema(example = "first_word")]
    pub measure: String,
    /// Number of turns with this measure.
    pub count: u64,
    pub sum: i64,
    pub p50: i64,
    pub p95: i64,
    /// The target, if one is set.
    pub target: Option<LatencyTargetView>,
    /// Whether both percentiles meet the target.
    pub met: Option<bool>,
}

/// In microseconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[schema(as = Target)]
pub struct LatencyTargetView {
    pub p50: i64,
    pub p95: Option<i64>,
}

impl StatsView {
    fn new(tenant: TenantName, binding: Option<TierName>, report: TurnStatsReport) -> Self {
        let TurnStatsReport { from, to, all, channels } = report;
        let on = |on: report::ChannelStats| ChannelStatsView {
            channel: on.channel.as_str().to_owned(),
            part: on.part.into(),
        };
        let channels = channels.into_iter().map(on).collect();
        Self { tenant, binding, from: from.to_string(), to: to.to_string(), all: all.into(), channels }
    }
}

impl From<report::TurnStats> for StatsPartView {
    fn from(part: report::TurnStats) -> Self {
        Self {
            turns: part.turns,
            outcomes: part.outcomes,
            degraded: part.degraded,
            violations: part.violations,
            model_calls: part.model_calls,
            tool_calls: part.tool_calls,
            cost_micros: part.cost_micros,
            unpriced: part.unpriced,
            stages: part.stages.into_iter().map(Into::into).collect(),
            tokens: part.tokens.into_iter().map(Into::into).collect(),
        }
    }
}

impl From<report::MeasureDistribution> for MeasureSpreadView {
    fn from(spread: report::MeasureDistribution) -> Self {
        let report::MeasureDistribution { measure, count, sum, p50, p95, target, met } = spread;
        let target = target.map(|target| LatencyTargetView { p50: target.p50, p95: target.p95 });
        Self { measure: measure.as_str().to_owned(), count, sum, p50, p95, target, met }
    }
}

pub struct ShowStats;

impl Operation<HouseServices> for ShowStats {
    type Input = ShowStatsInput;
    type View = StatsView;

    const SPEC: OperationSpec = OperationSpec {
        resource: "stats",
        noun: "stats",
        command: "stats",
        verb: "show",
        about: "Get percentiles of every stage against their targets, counts, cost, rule violations and prompt size by \
                tier. A key limited to some bindings sees only those.",
        needs: CallerClass::Member(Area::Usage, ApiAccess::Read),
        effect: OperationEffect::Read,
        method: RouteMethod::Get,
        path: "/v1/stats",
    };

    async fn run(call: &HouseCall, input: ShowStatsInput) -> Result<StatsView, OperationError> {
        let days = input.days.unwrap_or(DAYS);
        if !(1..=MOST_DAYS).contains(&days) {
            return Err(OperationError::field("days", "must be from 1 to 3660"));
        }
        let today = call.now.to_jiff().to_zoned(call.tenant.zone.to_jiff()).date();
        let first = today.checked_sub(i64::from(days - 1).days());
        let first = first.map_err(|_| OperationError::field("days", "the start date is out of range"))?;
        let binding = match &input.binding {
            Some(given) => Some(find_binding(call, given).await?),
            None => None,
        };
        let zone = call.tenant.zone.clone();
        let read = call.read(move |tx| rollups::read(tx, &zone, first, today).map_err(convert_turn_error));
        let mut lines: Vec<TurnTallyLine> = read.await?;
        lines.retain(|line| {
            call.caller.reaches(line.binding)
                && binding.as_ref().is_none_or(|(wanted, _)| line.binding == *wanted)
                && input.channel.is_none_or(|wanted| line.channel == wanted)
        });
        let name = binding.and_then(|(_, name)| name);
        Ok(StatsView::new(call.tenant.name.clone(), name, TurnStatsReport::new(first, today, &lines)))
    }
}

/// Archived ones too: what they did is still there. One that the caller does not reach is like one that is not there.
async fn find_binding(
    call: &HouseCall,
    given: &str,
) -> Result<(BindingId, Option<TierName>), OperationError> {
    let tiers = history::list_tiers(&call.db, &call.tenant.name).await?;
    let bindings: Vec<(BindingId, TierName)> = tiers
        .into_iter()
        .filter(|tier| tier.kind == TierKind::Binding)
        .map(|tier| (BindingId::from_uuid(tier.id.as_uuid()), tier.name))
        .filter(|(id, _)| call.caller.reaches(*id))
        .collect();
    if let Ok(id) = given.parse::<BindingId>() {
        // An unknown id has no turns.
        return Ok((id, bindings.into_iter().find(|(known, _)| *known == id).map(|(_, name)| name)));
    }
    let found = bindings.iter().find(|(_, name)| name.as_str() == given);
    found.map(|(id, name)| (*id, Some(name.clone()))).ok_or_else(|| {
        let names: Vec<&str> = bindings.iter().map(|(_, name)| name.as_str()).collect();
        let all = "List them with GET /v1/bindings or `munshi bindings list`.";
        OperationError::not_found("binding", given).hint(munshi_toml::render_hint(given, names, all))
    })
}
