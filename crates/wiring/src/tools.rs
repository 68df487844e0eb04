//! The tools there are, what calls them, and the job that takes up what a dead process left.

use std::sync::Arc;
use std::time::Duration;

use munshi_agent::TurnEngine;
use munshi_config::Config;
use munshi_jobs::schedule::{Schedule, ScheduleRule};
use munshi_jobs::{JobFailure, JobKind, JobRegistry, schedule};
use munshi_safety::acts::ActServices;
use munshi_safety::budget::BudgetGovernor;
use munshi_store::Db;
use munshi_tools::ToolRegistry;
use munshi_types::{Clock, IdGenerator, SystemRandom, TenantId, Zone};

use crate::failure::Result;
use crate::{budget, packs};

/// The kind of the job, and the name of its schedule.
const SWEEP: &str = "acts.sweep";
const EVERY: Duration = Duration::from_secs(60);

/// Every tool of this installation: the built-in ones and those of its packs.
pub fn registry() -> Result<ToolRegistry> {
    Ok(packs::load_registry()?.tools.clone())
}

/// What every act needs beside its transaction.
pub fn build_act_services(config: &Config, clock: Arc<dyn Clock>) -> ActServices {
    let ids = IdGenerator::new(clock, Arc::new(SystemRandom));
    ActServices::new(ids.clone(), BudgetGovernor::new(budget::settings(config), ids))
}

/// The job that takes up acts whose process died and questions nobody answered in time; the engine tells those whom it
/// concerns.
pub(crate) fn register(kinds: &mut JobRegistry, engine: TurnEngine) {
    kinds.add(JobKind::new(SWEEP).limit(1), move |_| {
        let engine = engine.clone();
        async move {
            let swept = engine.sweep_acts().await;
            let swept = swept.map_err(|error| JobFailure::Passing(error.to_string()))?;
            tracing::debug!(?swept, "acts and approvals swept");
            Ok(())
        }
    });
}

/// Has the job run every minute, on one node.
pub(crate) async fn schedule(db: &Db, clock: &dyn Clock) -> Result<()> {
    let now = clock.now();
    let minutely = Schedule::new(SWEEP, SWEEP, &(), ScheduleRule::every(EVERY)?)?;
    db.write(TenantId::PLATFORM, move |tx| schedule::set(tx, &minutely, &Zone::default(), now)).await?;
    Ok(())
}
