//! Rounds in which every contestant has its turn, and what they come to.
//!
//! The machine may be busy with other things, so figures are medians over rounds, and a ratio is the median of the
//! ratios within each round: both sides of it saw the same machine.

use anyhow::Result;

use crate::load::{Load, Tally};

/// One way of doing the work.
pub(crate) trait Contestant {
    fn run(&self, load: &Load<'_>) -> Result<Tally>;
}

/// What one contestant did, round by round.
pub(crate) struct Series(Vec<Tally>);

/// Which figure of a tally is looked at.
pub(crate) type Figure = fn(&Tally) -> f64;

pub(crate) const RATE: Figure = |tally| tally.per_second;
pub(crate) const TIME: Figure = |tally| tally.median_us;
pub(crate) const P99: Figure = |tally| tally.p99_us;
pub(crate) const CPU: Figure = |tally| tally.cpu_us;

/// Runs every contestant once to warm up, then `rounds` times, each round beginning with another of them.
pub(crate) fn run_rounds<const N: usize>(
    contestants: [&dyn Contestant; N],
    load: &Load<'_>,
    rounds: usize,
) -> Result<[Series; N]> {
    let mut series = [const { Series(Vec::new()) }; N];
    for contestant in contestants {
        contestant.run(load)?;
    }
    for round in 0..rounds.max(1) {
        for turn in 0..N {
            let whose = (round + turn) % N;
            series[whose].0.push(contestants[whose].run(load)?);
        }
    }
    Ok(series)
}

impl Series {
    pub(crate) fn median(&self, figure: Figure) -> f64 {
        median_of(self.0.iter().map(figure).collect())
    }

    /// How many times the other's figure this one's is.
    pub(crate) fn ratio(&self, other: &Self, figure: Figure) -> f64 {
        median_of(self.0.iter().zip(&other.0).map(|(ours, theirs)| figure(ours) / figure(theirs)).collect())
    }
}

/// The middle one of some figures.
pub(crate) fn median_of(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures.get(figures.len() / 2).copied().unwrap_or(f64::NAN)
}
