//! What the turns of some days came to.

use std::collections::BTreeMap;

use munshi_agent::rollups::report::{self, TurnStatsReport};
use serde::Serialize;
use utoipa::ToSchema;

/// Statistics of the turns in a period.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Stats {
    /// Both days are inclusive, in the workspace's time zone.
    #[schema(format = Date, example = "2026-11-09")]
    from: String,
    #[schema(format = Date, example = "2026-11-15")]
    to: String,
    /// All channels together; targets apply to single channels.
    all: StatsPart,
    channels: Vec<StatsOnChannel>,
}

/// Statistics of one channel.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct StatsOnChannel {
    #[schema(example = "whatsapp")]
    channel: &'static str,
    #[serde(flatten)]
    part: StatsPart,
}

/// Counts, cost and distributions.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct StatsPart {
    turns: u64,
    /// By outcome: `done`, or why they were halted.
    outcomes: BTreeMap<String, u64>,
    /// Fallback replies without an answer; they are not billed.
    degraded: u64,
    /// Rule violations in replies.
    violations: u64,
    model_calls: u64,
    tool_calls: u64,
    /// In millionths of a dollar.
    cost_micros: i64,
    /// Turns with unknown price; the cost excludes them.
    unpriced: u64,
    /// Duration of each stage, in microseconds.
    stages: Vec<MeasureSpreadView>,
    /// Prompt tokens by tier, and tokens written.
    tokens: Vec<MeasureSpreadView>,
}

/// The distribution of one measure. A percentile is never too low, and at most a sixteenth too high.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Spread)]
pub(crate) struct MeasureSpreadView {
    #[schema(example = "first_word")]
    measure: &'static str,
    /// Number of turns with this measure.
    count: u64,
    sum: i64,
    p50: i64,
    p95: i64,
    /// The target, if one is set.
    target: Option<LatencyTargetView>,
    /// Whether both percentiles meet the target.
    met: Option<bool>,
}

/// In microseconds.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Target)]
pub(crate) struct LatencyTargetView {
    p50: i64,
    p95: Option<i64>,
}

impl From<TurnStatsReport> for Stats {
    fn from(report: TurnStatsReport) -> Self {
        let TurnStatsReport { from, to, all, channels } = report;
        let on =
            |on: report::ChannelStats| StatsOnChannel { channel: on.channel.as_str(), part: on.part.into() };
        let channels = channels.into_iter().map(on).collect();
        Self { from: from.to_string(), to: to.to_string(), all: all.into(), channels }
    }
}

impl From<report::TurnStats> for StatsPart {
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
        Self { measure: measure.as_str(), count, sum, p50, p95, target, met }
    }
}
