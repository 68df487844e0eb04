//! Why something can't be set aside: which limit, how much of it is used, and when it frees.

use std::fmt;

use munshi_types::{Timestamp, Zone};
use serde::Serialize;

use super::account::BudgetPeriod;
use super::amount::BudgetMeasure;
use super::plan::UsagePlan;
use super::tenant_terms::BudgetLimitSubject;

/// The strictest of the limits that stand in the way: the one that frees last.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BudgetRefusal {
    #[serde(flatten)]
    pub on: BudgetLimitSubject,
    pub limit: i64,
    pub used: i64,
    /// Set aside by others, not spent yet.
    pub held: i64,
    pub asked: i64,
    pub frees: BudgetRelease,
    pub plan: UsagePlan,
    pub zone: Zone,
}

/// When asking again may help.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(tag = "when", content = "at", rename_all = "snake_case")]
pub enum BudgetRelease {
    /// As soon as what is under way is settled; at the latest then.
    UnderWay(Timestamp),
    /// When the day or the month ends.
    PeriodEnds(Timestamp),
    /// More is asked for than the limit is, so never.
    Never,
}

impl BudgetRelease {
    pub const fn timestamp(self) -> Option<Timestamp> {
        match self {
            Self::UnderWay(at) | Self::PeriodEnds(at) => Some(at),
            Self::Never => None,
        }
    }
}

impl BudgetRefusal {
    /// `2026-12-01 00:00 (Asia/Kolkata)`
    fn moment(&self, at: Timestamp) -> String {
        let local = at.to_jiff().to_zoned(self.zone.to_jiff());
        format!("{} ({})", local.strftime("%Y-%m-%d %H:%M"), self.zone)
    }
}

impl fmt::Display for BudgetRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let on = &self.on;
        let shown = |amount| on.measure.render(amount);
        let lane = match on.lane {
            super::BudgetLane::People => "",
            super::BudgetLane::Background => " of background work",
        };
        let noun = if on.measure == BudgetMeasure::Money { "" } else { on.measure.as_str() };
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
            write!(f, ", {} reserved", shown(self.held))?;
        }
        write!(f, ", {} more requested", shown(self.asked))?;
        match self.frees {
            BudgetRelease::UnderWay(_) => write!(f, "; running calls release some soon"),
            BudgetRelease::PeriodEnds(at) => write!(f, "; it resets at {}", self.moment(at)),
            BudgetRelease::Never => write!(f, "; the request exceeds the limit by itself"),
        }?;
        match self.find_larger_plan() {
            Some(plan) => write!(f, "; plan {plan} has more"),
            None => Ok(()),
        }
    }
}

impl BudgetRefusal {
    /// What the person is told, in the phrasebook: whether to come back soon, tomorrow, next month, or to ask for more.
    pub const fn phrase(&self) -> &'static str {
        match (self.frees, self.on.period) {
            (BudgetRelease::UnderWay(_), _) => "limit-reached",
            (BudgetRelease::PeriodEnds(_), BudgetPeriod::Day) => "limit-today",
            (BudgetRelease::PeriodEnds(_), BudgetPeriod::Month) => "limit-month",
            (BudgetRelease::Never, _) => "limit-too-small",
        }
    }

    /// The least plan that has more interactions, where the plan's own limit is what stands in the way.
    pub fn find_larger_plan(&self) -> Option<UsagePlan> {
        let is_plans =
            self.on.measure == BudgetMeasure::Interactions && Some(self.limit) == self.plan.interactions();
        let more = |plan: &UsagePlan| plan.interactions().is_none_or(|count| count > self.limit);
        if is_plans { UsagePlan::ALL.into_iter().find(more) } else { None }
    }
}
