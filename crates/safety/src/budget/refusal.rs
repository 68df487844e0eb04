//! Why something can't be set aside: which limit, how much of it is used, and when it frees.

use std::fmt;

use munshi_types::{Timestamp, Zone};
use serde::Serialize;

use super::account::Period;
use super::amount::Measure;
use super::plan::Plan;
use super::stored::LimitOn;

/// The strictest of the limits that stand in the way: the one that frees last.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Refused {
    #[serde(flatten)]
    pub on: LimitOn,
    pub limit: i64,
    pub used: i64,
    /// Set aside by others, not spent yet.
    pub held: i64,
    pub asked: i64,
    pub frees: Frees,
    pub plan: Plan,
    pub zone: Zone,
}

/// When asking again may help.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(tag = "when", content = "at", rename_all = "snake_case")]
pub enum Frees {
    /// As soon as what is under way is settled; at the latest then.
    UnderWay(Timestamp),
    /// When the day or the month ends.
    PeriodEnds(Timestamp),
    /// More is asked for than the limit is, so never.
    Never,
}

impl Frees {
    pub const fn at(self) -> Option<Timestamp> {
        match self {
            Self::UnderWay(at) | Self::PeriodEnds(at) => Some(at),
            Self::Never => None,
        }
    }
}

impl Refused {
    /// `2026-12-01 00:00 (Asia/Kolkata)`
    fn moment(&self, at: Timestamp) -> String {
        let local = at.to_jiff().to_zoned(self.zone.to_jiff());
        format!("{} ({})", local.strftime("%Y-%m-%d %H:%M"), self.zone)
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let on = &self.on;
        let shown = |amount| on.measure.shown(amount);
        let lane = match on.lane {
            super::Lane::People => "",
            super::Lane::Background => " of background work",
        };
        let noun = if on.measure == Measure::Money { "" } else { on.measure.as_str() };
        let gap = if noun.is_empty() { "" } else { " " };
        write!(
            f,
            "this {}'s limit{lane} for the {} is {}{gap}{noun}",
            on.scope,
            on.period,
            shown(self.limit)
        )?;
        write!(f, ": {} used", shown(self.used))?;
        if self.held > 0 {
            write!(f, ", {} set aside", shown(self.held))?;
        }
        write!(f, ", {} more asked for", shown(self.asked))?;
        match self.frees {
            Frees::UnderWay(_) => write!(f, "; what is under way frees some soon"),
            Frees::PeriodEnds(at) => write!(f, "; it is free again from {}", self.moment(at)),
            Frees::Never => write!(f, "; so much never fits"),
        }?;
        match self.raised_by() {
            Some(plan) => write!(f, ", and the plan {plan} has more"),
            None => Ok(()),
        }
    }
}

impl Refused {
    /// What the person is told, in the phrasebook: whether to come back soon, tomorrow, next month, or to ask for more.
    pub const fn phrase(&self) -> &'static str {
        match (self.frees, self.on.period) {
            (Frees::UnderWay(_), _) => "limit-reached",
            (Frees::PeriodEnds(_), Period::Day) => "limit-today",
            (Frees::PeriodEnds(_), Period::Month) => "limit-month",
            (Frees::Never, _) => "limit-too-small",
        }
    }

    /// The least plan that has more interactions, where the plan's own limit is what stands in the way.
    pub fn raised_by(&self) -> Option<Plan> {
        let is_plans =
            self.on.measure == Measure::Interactions && Some(self.limit) == self.plan.interactions();
        let more = |plan: &Plan| plan.interactions().is_none_or(|count| count > self.limit);
        if is_plans { Plan::ALL.into_iter().find(more) } else { None }
    }
}
