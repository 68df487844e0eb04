//! What the installation has decided, before any tenant says otherwise.

use std::time::Duration;

use munshi_llm::pricing::Cost;
use sha2::{Digest, Sha256};

use super::account::{BudgetLane, BudgetPeriod, BudgetScope};
use super::plan::UsagePlan;
use super::price_conversion::PriceConversion;
use super::run::RunBudget;

/// The section `[budget]`. A money limit of zero is a limit of zero; `None` is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BudgetSettings {
    /// Of tenants that have none of their own.
    pub plan: UsagePlan,
    /// What each plan may spend in a month, in the order of [`UsagePlan::ALL`]. There is no plan without a ceiling.
    pub plan_money: [Cost; 4],
    /// What a tenant may spend in a day, whatever its plan.
    pub tenant_money_day: Option<Cost>,
    pub binding_money_day: Option<Cost>,
    pub person_money_day: Option<Cost>,
    pub person_interactions_day: Option<u64>,
    /// Background work of a tenant. Never more in a month than its plan has for people.
    pub background_money_day: Cost,
    pub background_money_month: Cost,
    pub rates: PriceConversion,
    pub run: RunBudget,
    /// The same for a run of the background together with those it begins.
    pub background_run: RunBudget,
    /// How long something stays set aside that nobody settles.
    pub hold: Duration,
    /// How long days stay in the books; months stay for good.
    pub keep: Duration,
}

const DAY: Duration = Duration::from_secs(86_400);

impl Default for BudgetSettings {
    fn default() -> Self {
        let dollars = |dollars: i64| Cost::from_micros(dollars * 1_000_000);
        Self {
            plan: UsagePlan::Business,
            plan_money: [dollars(1), dollars(10), dollars(100), dollars(1_000)],
            tenant_money_day: Some(dollars(50)),
            binding_money_day: None,
            person_money_day: Some(dollars(10)),
            person_interactions_day: None,
            background_money_day: dollars(2),
            background_money_month: dollars(30),
            rates: PriceConversion::default(),
            run: RunBudget::default(),
            background_run: RunBudget::BACKGROUND,
            hold: Duration::from_secs(900),
            keep: DAY * 400,
        }
    }
}

impl BudgetSettings {
    pub fn plan_money(&self, plan: UsagePlan) -> Cost {
        self.plan_money[plan as usize]
    }

    /// What holds for a slot before the tenant's own limits: one figure for each measure.
    pub(crate) fn limits(
        &self,
        plan: UsagePlan,
        lane: BudgetLane,
        scope: BudgetScope,
        period: BudgetPeriod,
    ) -> BudgetLimits {
        let micros = |cost: Option<Cost>| cost.map(Cost::as_micros);
        let monthly = self.plan_money(plan);
        match (lane, scope, period) {
            (BudgetLane::People, BudgetScope::Tenant, BudgetPeriod::Month) => {
                BudgetLimits([plan.interactions(), None, None, Some(monthly.as_micros())])
            }
            (BudgetLane::People, BudgetScope::Tenant, BudgetPeriod::Day) => {
                BudgetLimits([None, None, None, micros(self.tenant_money_day)])
            }
            (BudgetLane::People, BudgetScope::Binding, BudgetPeriod::Day) => {
                BudgetLimits([None, None, None, micros(self.binding_money_day)])
            }
            (BudgetLane::People, BudgetScope::Person, BudgetPeriod::Day) => {
                let interactions =
                    self.person_interactions_day.map(|count| i64::try_from(count).unwrap_or(i64::MAX));
                BudgetLimits([interactions, None, None, micros(self.person_money_day)])
            }
            (BudgetLane::Background, BudgetScope::Tenant, BudgetPeriod::Month) => {
                BudgetLimits([None, None, None, Some(self.background_money_month.min(monthly).as_micros())])
            }
            (BudgetLane::Background, BudgetScope::Tenant, BudgetPeriod::Day) => {
                BudgetLimits([None, None, None, Some(self.background_money_day.as_micros())])
            }
            _ => BudgetLimits::default(),
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
pub(crate) struct BudgetLimits(pub(crate) [Option<i64>; 4]);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::budget::BudgetMeasure;

    #[test]
    fn every_plan_and_lane_has_a_ceiling_in_money() {
        let settings = BudgetSettings::default();
        for plan in UsagePlan::ALL {
            for lane in BudgetLane::ALL {
                let limits = settings.limits(plan, *lane, BudgetScope::Tenant, BudgetPeriod::Month);
                assert!(limits.0[BudgetMeasure::Money as usize].is_some(), "{plan} {lane}");
            }
        }
        let free = settings.limits(
            UsagePlan::Free,
            BudgetLane::Background,
            BudgetScope::Tenant,
            BudgetPeriod::Month,
        );
        assert_eq!(free.0[3], Some(1_000_000), "the background has no more than the people");
    }

    #[test]
    fn a_stamp_tells_settings_apart_and_leaves_room_for_a_count() {
        let settings = BudgetSettings::default();
        let other = BudgetSettings { plan: UsagePlan::Free, ..settings.clone() };
        assert_eq!(settings.stamp(), BudgetSettings::default().stamp());
        assert_ne!(settings.stamp(), other.stamp());
        assert!(settings.stamp() >= 0 && settings.stamp() & 0xffff_ffff == 0);
    }
}
