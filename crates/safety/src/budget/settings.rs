//! What the installation has decided, before any tenant says otherwise.

use std::time::Duration;

use munshi_llm::money::Cost;
use sha2::{Digest, Sha256};

use super::account::{Lane, Period, Scope};
use super::plan::Plan;
use super::rates::Rates;
use super::run::RunBudget;

/// The section `[budget]`. A money limit of zero is a limit of zero; `None` is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Of tenants that have none of their own.
    pub plan: Plan,
    /// What each plan may spend in a month, in the order of [`Plan::ALL`]. There is no plan without a ceiling.
    pub plan_money: [Cost; 4],
    /// What a tenant may spend in a day, whatever its plan.
    pub tenant_money_day: Option<Cost>,
    pub binding_money_day: Option<Cost>,
    pub person_money_day: Option<Cost>,
    pub person_interactions_day: Option<u64>,
    /// Background work of a tenant. Never more in a month than its plan has for people.
    pub background_money_day: Cost,
    pub background_money_month: Cost,
    pub rates: Rates,
    pub run: RunBudget,
    /// How long something stays set aside that nobody settles.
    pub hold: Duration,
    /// How long days stay in the books; months stay for good.
    pub keep: Duration,
}

const DAY: Duration = Duration::from_secs(86_400);

impl Default for Settings {
    fn default() -> Self {
        let dollars = |dollars: i64| Cost::from_micros(dollars * 1_000_000);
        Self {
            plan: Plan::Business,
            plan_money: [dollars(1), dollars(10), dollars(100), dollars(1_000)],
            tenant_money_day: Some(dollars(50)),
            binding_money_day: None,
            person_money_day: Some(dollars(10)),
            person_interactions_day: None,
            background_money_day: dollars(2),
            background_money_month: dollars(30),
            rates: Rates::default(),
            run: RunBudget::default(),
            hold: Duration::from_secs(900),
            keep: DAY * 400,
        }
    }
}

impl Settings {
    pub fn plan_money(&self, plan: Plan) -> Cost {
        self.plan_money[plan as usize]
    }

    /// What holds for a slot before the tenant's own limits: one figure for each measure.
    pub(crate) fn limits(&self, plan: Plan, lane: Lane, scope: Scope, period: Period) -> Limits {
        let micros = |cost: Option<Cost>| cost.map(Cost::as_micros);
        let monthly = self.plan_money(plan);
        match (lane, scope, period) {
            (Lane::People, Scope::Tenant, Period::Month) => {
                Limits([plan.interactions(), None, None, Some(monthly.as_micros())])
            }
            (Lane::People, Scope::Tenant, Period::Day) => {
                Limits([None, None, None, micros(self.tenant_money_day)])
            }
            (Lane::People, Scope::Binding, Period::Day) => {
                Limits([None, None, None, micros(self.binding_money_day)])
            }
            (Lane::People, Scope::Person, Period::Day) => {
                let interactions =
                    self.person_interactions_day.map(|count| i64::try_from(count).unwrap_or(i64::MAX));
                Limits([interactions, None, None, micros(self.person_money_day)])
            }
            (Lane::Background, Scope::Tenant, Period::Month) => {
                Limits([None, None, None, Some(self.background_money_month.min(monthly).as_micros())])
            }
            (Lane::Background, Scope::Tenant, Period::Day) => {
                Limits([None, None, None, Some(self.background_money_day.as_micros())])
            }
            _ => Limits::default(),
        }
    }

    /// Tells settings apart, in the high bits: the count of a tenant's changes is added to it.
    pub(crate) fn stamp(&self) -> i64 {
        let persons = (self.person_money_day, self.person_interactions_day);
        let background = (self.background_money_day, self.background_money_month);
        let tenants = (self.plan, self.plan_money, self.tenant_money_day, self.binding_money_day);
        let digest = Sha256::digest(format!("{:?}", (tenants, persons, background)));
        let high = digest.iter().take(4).fold(0_i64, |high, byte| high << 8 | i64::from(*byte));
        (high & 0x3fff_ffff) << 32
    }
}

/// A limit for each measure, in their order; none is no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Limits(pub(crate) [Option<i64>; 4]);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::budget::Measure;

    #[test]
    fn every_plan_and_lane_has_a_ceiling_in_money() {
        let settings = Settings::default();
        for plan in Plan::ALL {
            for lane in Lane::ALL {
                let limits = settings.limits(plan, *lane, Scope::Tenant, Period::Month);
                assert!(limits.0[Measure::Money as usize].is_some(), "{plan} {lane}");
            }
        }
        let free = settings.limits(Plan::Free, Lane::Background, Scope::Tenant, Period::Month);
        assert_eq!(free.0[3], Some(1_000_000), "the background has no more than the people");
    }

    #[test]
    fn a_stamp_tells_settings_apart_and_leaves_room_for_a_count() {
        let settings = Settings::default();
        let other = Settings { plan: Plan::Free, ..settings.clone() };
        assert_eq!(settings.stamp(), Settings::default().stamp());
        assert_ne!(settings.stamp(), other.stamp());
        assert!(settings.stamp() >= 0 && settings.stamp() & 0xffff_ffff == 0);
    }
}
