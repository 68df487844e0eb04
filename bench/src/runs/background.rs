//! Runs that nobody typed, worked on while people write.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::Result;
use async_trait::async_trait;
use munshi_agent::background::NewBackgroundRun;
use munshi_conversations::runs::RunCause;
use munshi_jobs::{JobRegistry, JobRunner, JobRunnerOptions};
use munshi_pack::operation::PackServices;
use munshi_pack::{FromPack, NextStep, PackRegistry, RunHistory, RunKind};
use munshi_safety::acts::Permit;
use munshi_store::Tx;
use munshi_test_app::notes;
use munshi_tools::{ReadToolHandler, ToolFailure, ToolHandler, ToolOutput, ToolRegistry};
use munshi_types::{Effect, SystemRandom};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::RUNS;
use crate::contest::Contestant;
use crate::load::{Load, Tally};
use crate::turn::{Ours, Shop};

/// How long a step takes to be thought of.
const STEP: Duration = Duration::from_millis(20);
const STEPS: usize = 5;

/// Takes a few steps, and counts how many runs do so at once.
#[derive(Clone, Default)]
pub(crate) struct Stepping {
    now: Arc<AtomicUsize>,
    most: Arc<AtomicUsize>,
}

#[async_trait]
impl RunKind for Stepping {
    fn name(&self) -> &'static str {
        "stepping"
    }

    fn scopes(&self) -> &'static [&'static str] {
        &["shop.*"]
    }

    async fn next_step(&self, history: &RunHistory) -> std::result::Result<NextStep, String> {
        let now = self.now.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(now, Ordering::SeqCst);
        tokio::time::sleep(STEP).await;
        self.now.fetch_sub(1, Ordering::SeqCst);
        if history.outcomes.len() >= STEPS {
            return Ok(NextStep::End(Value::Null));
        }
        Ok(NextStep::Call { tool: "count".to_owned(), arguments: json!({}) })
    }
}

impl Stepping {
    /// A house that has this kind of work.
    pub(crate) fn build_packs(&self) -> PackRegistry {
        let mut packs = PackRegistry::default();
        packs.run_kinds.push(FromPack { pack: "bench", what: Arc::new(self.clone()) });
        packs
    }

    pub(crate) fn most(&self) -> usize {
        self.most.load(Ordering::SeqCst)
    }
}

/// Looks at nothing, as quickly as that can be.
struct CountTool;

impl ReadToolHandler for CountTool {
    fn read(&self, _permit: &Permit, _tx: &mut Tx<'_>) -> std::result::Result<ToolOutput, ToolFailure> {
        Ok(ToolOutput::new(json!({ "count": 0 })))
    }
}

/// The tool that the runs call.
pub(crate) fn build_tools() -> Result<ToolRegistry> {
    let (spec, handler) = (notes::build_spec("count", Effect::Read), ToolHandler::Read(Arc::new(CountTool)));
    let mut tools = ToolRegistry::default();
    tools.add(spec, notes::build_house_connector(), handler).map_err(|bad| anyhow::anyhow!("{bad}"))?;
    Ok(tools)
}

/// People, while others' work is done beside them.
pub(crate) struct BesideWork<'a> {
    shop: &'a Shop,
    people: &'a Ours,
    places: usize,
}

impl<'a> BesideWork<'a> {
    pub(crate) fn new(shop: &'a Shop, people: &'a Ours, places: usize) -> Self {
        Self { shop, people, places }
    }

    pub(crate) fn most_at_once(&self) -> usize {
        self.shop.stepping.most()
    }

    fn begin(&self, load: &Load<'_>) -> Result<()> {
        let starter = self.shop.turns.run_starter();
        let unit = move |tx: &mut Tx<'_>| {
            for _ in 0..RUNS {
                let kind = "bench.stepping".to_owned();
                let new =
                    NewBackgroundRun { kind, cause: RunCause::Clock, cause_key: None, input: Value::Null };
                starter.begin(tx, &new)?;
            }
            Ok::<_, munshi_conversations::Error>(())
        };
        Ok(load.runtime.block_on(self.shop.db.write(self.shop.tenant, unit))?)
    }

    fn build_runner(&self) -> JobRunner {
        let mut registry = JobRegistry::default();
        self.shop.turns.install_background(&mut registry, self.places, PackServices::default());
        let options = JobRunnerOptions { workers: self.places, ..JobRunnerOptions::default() };
        JobRunner::new(self.shop.db.clone(), &self.shop.desk.queue, Arc::new(SystemRandom), registry, options)
    }
}

impl Contestant for BesideWork<'_> {
    fn run(&self, load: &Load<'_>) -> Result<Tally> {
        self.begin(load)?;
        let (runner, stop) = (self.build_runner(), CancellationToken::new());
        let serving = load.runtime.spawn({
            let stop = stop.clone();
            async move { runner.run(stop).await }
        });
        let tally = self.people.run(load);
        stop.cancel();
        load.runtime.block_on(serving)?;
        tally
    }
}
