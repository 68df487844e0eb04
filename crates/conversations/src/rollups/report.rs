//! Percentiles of a range of days, beside what they should be.

use std::collections::BTreeMap;

use jiff::civil::Date;
use munshi_types::tier::Channel;
use serde::Serialize;

use super::histogram::Histogram;
use super::measure::{LatencyTarget, TurnMeasure};
use super::tally::{TurnTally, TurnTallyLine};

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TurnStatsReport {
    /// Both in the tenant's zone, and both with.
    pub from: Date,
    pub to: Date,
    /// Everything together.
    pub all: TurnStats,
    pub channels: Vec<ChannelStats>,
}

/// What happened on one channel.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ChannelStats {
    pub channel: Channel,
    #[serde(flatten)]
    pub part: TurnStats,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct TurnStats {
    pub turns: u64,
    pub outcomes: BTreeMap<String, u64>,
    pub degraded: u64,
    pub violations: u64,
    pub model_calls: u64,
    pub tool_calls: u64,
    /// In millionths of a dollar.
    pub cost_micros: i64,
    /// Turns whose price nobody knows; they are not in the cost.
    pub unpriced: u64,
    /// How long, in microseconds.
    pub stages: Vec<MeasureDistribution>,
    /// How much of the prompt was whose, and how much was written, in tokens.
    pub tokens: Vec<MeasureDistribution>,
}

/// How one measure is spread. A percentile is never below the true one, and at most a sixteenth above.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MeasureDistribution {
    pub measure: TurnMeasure,
    /// So many turns have it.
    pub count: u64,
    pub sum: i64,
    pub p50: i64,
    pub p95: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<LatencyTarget>,
    /// Whether both are within the target.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub met: Option<bool>,
}

impl TurnStatsReport {
    pub fn new(from: Date, to: Date, lines: &[TurnTallyLine]) -> Self {
        let mut all = TurnTally::default();
        let mut channels: BTreeMap<&'static str, (Channel, TurnTally)> = BTreeMap::new();
        for line in lines {
            all.merge(&line.tally);
            let on = channels.entry(line.channel.as_str()).or_insert((line.channel, TurnTally::default()));
            on.1.merge(&line.tally);
        }
        let on = |(channel, tally): (Channel, TurnTally)| ChannelStats {
            channel,
            part: build_stats(&tally, Some(channel)),
        };
        Self { from, to, all: build_stats(&all, None), channels: channels.into_values().map(on).collect() }
    }
}

fn build_stats(tally: &TurnTally, channel: Option<Channel>) -> TurnStats {
    let spreads = |measures: &[TurnMeasure]| -> Vec<MeasureDistribution> {
        measures
            .iter()
            .filter_map(|measure| build_distribution(*measure, tally.histograms.get(measure)?, channel))
            .collect()
    };
    TurnStats {
        turns: tally.turns,
        outcomes: tally.outcomes.clone(),
        degraded: tally.degraded,
        violations: tally.violations,
        model_calls: tally.model_calls,
        tool_calls: tally.tool_calls,
        cost_micros: tally.cost,
        unpriced: tally.unpriced,
        stages: spreads(&TurnMeasure::STAGES),
        tokens: spreads(&TurnMeasure::SIZES),
    }
}

fn build_distribution(
    measure: TurnMeasure,
    histogram: &Histogram,
    channel: Option<Channel>,
) -> Option<MeasureDistribution> {
    let (p50, p95) = (histogram.percentile(50)?, histogram.percentile(95)?);
    let target = channel.and_then(|channel| measure.target(channel));
    let met = target.map(|target| p50 <= target.p50 && target.p95.is_none_or(|most| p95 <= most));
    Some(MeasureDistribution {
        measure,
        count: histogram.count(),
        sum: histogram.sum(),
        p50,
        p95,
        target,
        met,
    })
}
