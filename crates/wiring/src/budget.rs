//! The section `[budget]` made the safety pipeline's, and the job that keeps the books small.

use std::sync::Arc;
use std::time::Duration;

use munshi_config::{Config, TenantPlan};
use munshi_jobs::schedule::{Schedule, ScheduleRule};
use munshi_jobs::{JobFailure, JobKind, JobRegistry, schedule};
use munshi_llm::pricing::Cost;
use munshi_safety::budget::{BudgetSettings, PriceConversion, RunBudget, UsagePlan, sweep};
use munshi_store::Db;
use munshi_types::{Clock, TenantId, Zone};

use crate::failure::Result;

/// The kind of the job, and the name of its schedule.
const SWEEP: &str = "budget.sweep";
const EVERY: Duration = Duration::from_secs(3600);

pub fn settings(config: &Config) -> BudgetSettings {
    let budget = &config.budget;
    let persons = budget.person_interactions_per_day as u64;
    BudgetSettings {
        plan: plan(budget.plan),
        plan_money: [
            cost(budget.free_money_per_month),
            cost(budget.starter_money_per_month),
            cost(budget.pro_money_per_month),
            cost(budget.business_money_per_month),
        ],
        tenant_money_day: budget.tenant_money_per_day.map(cost),
        binding_money_day: budget.binding_money_per_day.map(cost),
        person_money_day: budget.person_money_per_day.map(cost),
        person_interactions_day: (persons > 0).then_some(persons),
        background_money_day: cost(budget.background_money_per_day),
        background_money_month: cost(budget.background_money_per_month),
        rates: rates(config),
        run: RunBudget {
            tokens: budget.run_tokens as u64,
            money: cost(budget.run_money),
            iterations: u32::try_from(budget.run_iterations).unwrap_or(u32::MAX),
            seconds: budget.run_time.as_secs(),
        },
        background_run: RunBudget {
            tokens: budget.background_run_tokens as u64,
            money: cost(budget.background_run_money),
            ..RunBudget::BACKGROUND
        },
        hold: budget.hold,
        keep: Duration::from_secs(budget.keep_days as u64 * 86_400),
    }
}

fn rates(config: &Config) -> PriceConversion {
    let budget = &config.budget;
    let as_of = &budget.rupees_per_dollar_as_of;
    PriceConversion {
        unknown_price: cost(budget.unknown_price),
        paise_per_dollar: u32::try_from(budget.rupees_per_dollar).unwrap_or(u32::MAX),
        as_of: (!as_of.is_empty()).then(|| as_of.clone()),
    }
}

fn cost(micros: u64) -> Cost {
    Cost::from_micros(i64::try_from(micros).unwrap_or(i64::MAX))
}

const fn plan(given: TenantPlan) -> UsagePlan {
    match given {
        TenantPlan::Free => UsagePlan::Free,
        TenantPlan::Starter => UsagePlan::Starter,
        TenantPlan::Pro => UsagePlan::Pro,
        TenantPlan::Business => UsagePlan::Business,
    }
}

/// The job that keeps the books small. It tells what it found; nothing waits for it.
pub(crate) fn register(registry: &mut JobRegistry, config: &Config, db: &Db, clock: Arc<dyn Clock>) {
    let (settings, db) = (Arc::new(settings(config)), db.clone());
    registry.add(JobKind::new(SWEEP).limit(1), move |_| {
        let (settings, db, clock) = (settings.clone(), db.clone(), clock.clone());
        async move {
            let swept = sweep(&db, &settings, clock.now()).await;
            let swept = swept.map_err(|error| JobFailure::Passing(error.to_string()))?;
            tracing::debug!(?swept, "budgets swept");
            Ok(())
        }
    });
}

/// Has the job run every hour, on one node.
pub(crate) async fn schedule(db: &Db, clock: &dyn Clock) -> Result<()> {
    let now = clock.now();
    let hourly = Schedule::new(SWEEP, SWEEP, &(), ScheduleRule::every(EVERY)?)?;
    db.write(TenantId::PLATFORM, move |tx| schedule::set(tx, &hourly, &Zone::default(), now)).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use munshi_config::ConfigSources;

    #[test]
    fn the_settings_default_to_what_the_budget_defaults_to() {
        let config = Config::load(&ConfigSources::default()).unwrap();
        assert_eq!(settings(&config), BudgetSettings::default());
    }
}
