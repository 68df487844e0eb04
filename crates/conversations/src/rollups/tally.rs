//! What a number of turns came to.

use std::collections::BTreeMap;

use munshi_types::BindingId;
use munshi_types::tier::Channel;

use super::histogram::Histogram;
use super::measure::TurnMeasure;

/// Everything in it can be added to another's.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TurnTally {
    pub turns: u64,
    /// Excuses that are not billed.
    pub degraded: u64,
    pub model_calls: u64,
    pub tool_calls: u64,
    pub violations: u64,
    /// In millionths of a dollar.
    pub cost: i64,
    /// Turns whose price nobody knows.
    pub unpriced: u64,
    /// By how they ended.
    pub outcomes: BTreeMap<String, u64>,
    pub histograms: BTreeMap<TurnMeasure, Histogram>,
}

impl TurnTally {
    pub fn merge(&mut self, other: &Self) {
        self.turns += other.turns;
        self.degraded += other.degraded;
        self.model_calls += other.model_calls;
        self.tool_calls += other.tool_calls;
        self.violations += other.violations;
        self.cost = self.cost.saturating_add(other.cost);
        self.unpriced += other.unpriced;
        for (outcome, count) in &other.outcomes {
            *self.outcomes.entry(outcome.clone()).or_default() += count;
        }
        for (measure, histogram) in &other.histograms {
            self.histograms.entry(*measure).or_default().merge(histogram);
        }
    }

    pub fn record(&mut self, measure: TurnMeasure, value: i64) {
        self.histograms.entry(measure).or_default().add(value);
    }
}

/// What one binding's turns on one channel came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnTallyLine {
    pub binding: BindingId,
    pub channel: Channel,
    pub tally: TurnTally,
}

/// Lines by binding and channel.
#[derive(Debug, Default)]
pub(super) struct TurnTallyLines(BTreeMap<(BindingId, &'static str), TurnTallyLine>);

impl TurnTallyLines {
    pub(super) fn add(&mut self, line: &TurnTallyLine) {
        self.entry(line.binding, line.channel).merge(&line.tally);
    }

    pub(super) fn entry(&mut self, binding: BindingId, channel: Channel) -> &mut TurnTally {
        let new = || TurnTallyLine { binding, channel, tally: TurnTally::default() };
        &mut self.0.entry((binding, channel.as_str())).or_insert_with(new).tally
    }

    pub(super) fn into_vec(self) -> Vec<TurnTallyLine> {
        self.0.into_values().collect()
    }
}
