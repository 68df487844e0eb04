//! What background runs may spend on models: a limit for each, a share of it for those it begins.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use munshi_agent::background::NewBackgroundRun;
use munshi_conversations::runs::{Run, RunCause};
use munshi_conversations::{HaltReason, RunState};
use munshi_jobs::{JobRegistry, JobRunner, JobRunnerOptions};
use munshi_llm::Gateway;
use munshi_llm::gateway::{Capability, GatewayParts, ModelRoute};
use munshi_pack::operation::PackServices;
use munshi_pack::{FromPack, PackModelParts, PackModels, RunDelegator};
use munshi_safety::budget::RunBudget;
use munshi_safety::pipeline::CallerAudience;
use munshi_store::params;
use munshi_test_support::models::{ScriptedModel, ScriptedTurn};
use munshi_test_support::{TestDb, wait_until};
use munshi_types::{RunId, SeededRandom, SystemRandom};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::turns::support::{Plan, Shop};
use crate::turns::work::{Asking, begin_as, find, house, result};

const LIMIT: u64 = 2_000;

fn plan(hangs: &Arc<AtomicBool>) -> Plan {
    let mut plan = Plan { house: house(None), ..Plan::default() };
    plan.house.run_kinds.push(FromPack { pack: "sample", what: Arc::new(Asking { hangs: hangs.clone() }) });
    plan.budgets.background_run = RunBudget { tokens: LIMIT, ..RunBudget::BACKGROUND };
    plan
}

/// Works on runs that may ask a model.
fn runner(test: &TestDb, shop: &Shop) -> JobRunner {
    let target = Plan::default().targets.remove(0);
    let targets = [(Capability::Default, vec![target.name.clone()])].into();
    let models = PackModels::new(PackModelParts {
        gateway: Gateway::new(GatewayParts {
            targets: vec![target],
            provider: Arc::new(ScriptedModel::new(std::iter::repeat_n(ScriptedTurn::text("Many."), 400))),
            prices: munshi_llm::pricing::PriceBook::default(),
            clock: test.clock.clone(),
            random: Arc::new(SystemRandom),
        }),
        route: Arc::new(ModelRoute { targets, ..ModelRoute::default() }),
        classes: Arc::default(),
        act_services: shop.act_services.clone(),
        packs: shop.packs.clone(),
        db: shop.db.clone(),
        clock: test.clock.clone(),
    });
    let mut registry = JobRegistry::default();
    shop.engine.install_background(&mut registry, 2, PackServices::default().with_models(Arc::new(models)));
    let random = Arc::new(SeededRandom::new(7));
    JobRunner::new(shop.db.clone(), &shop.queue, random, registry, JobRunnerOptions::default())
}

async fn children(shop: &Shop, parent: RunId) -> Vec<Run> {
    let sql = "SELECT id FROM runs WHERE tenant_id = $1 AND parent_id = $2";
    let ids: Vec<RunId> =
        shop.db.read(shop.tenant, move |tx| tx.all(sql, params![parent], |row| row.get(0))).await.unwrap();
    let mut found = Vec::new();
    for id in ids {
        found.push(find(shop, id).await);
    }
    found
}

/// Tokens that all calls have used, and how many calls there were.
async fn used(shop: &Shop) -> (u64, u64) {
    let tokens = "SELECT CAST(COALESCE(SUM(input_tokens + output_tokens), 0) AS BIGINT) FROM llm_calls WHERE tenant_id = $1 AND run_id IS NOT NULL";
    let calls = "SELECT COUNT(*) FROM llm_calls WHERE tenant_id = $1 AND run_id IS NOT NULL";
    (u64::try_from(shop.number(tokens).await).unwrap(), u64::try_from(shop.number(calls).await).unwrap())
}

fn spent(run: &Run) -> &str {
    let Some(HaltReason::RunSpent(what)) = &run.halt else { panic!("{run:?}") };
    what
}

async fn used_by(shop: &Shop, run: RunId) -> Value {
    result(shop, run).await["used"]["tokens"].clone()
}

on_both! {
    async fn a_run_halts_at_its_limit_and_says_so(test: TestDb) {
        let shop = Shop::open_with(&test, [], plan(&Arc::default())).await;
        let run = begin_as(&shop, RunCause::Clock, "sample.asking", None, json!({ "asks": 1_000 })).await;
        runner(&test, &shop).drain().await.unwrap();
        let (tokens, _) = used(&shop).await;
        let ended = find(&shop, run).await;
        assert_eq!((ended.state, spent(&ended)), (RunState::Halted, format!("this run has used {tokens} of {LIMIT} tokens").as_str()));
        assert!(tokens <= LIMIT && tokens > LIMIT - 200, "{tokens}");
        assert_eq!(used_by(&shop, run).await, json!(tokens));
    }

    /// A child gets an equal share of what is left, and what it used is gone for its parent.
    async fn children_have_a_share_and_it_counts_for_the_parent(test: TestDb) {
        let shop = Shop::open_with(&test, [], plan(&Arc::default())).await;
        let input = json!({ "asks": 1, "begin": [{ "asks": 1_000 }, { "asks": 2 }], "then": 1_000 });
        let new = NewBackgroundRun { kind: "sample.asking".to_owned(), cause: RunCause::Operation, cause_key: None, input };
        let (person, binding, session, key, ceiling) = (shop.staff, None, None, None, None);
        let by = RunDelegator { person, door: CallerAudience::Work, binding, session, key, ceiling };
        let run_queue = shop.engine.run_starter();
        let parent = shop.db.write(shop.tenant, move |tx| run_queue.delegate(tx, &new, &by)).await.unwrap().run;
        runner(&test, &shop).drain().await.unwrap();
        let children = children(&shop, parent).await;
        let (greedy, modest): (Vec<&Run>, Vec<&Run>) = children.iter().partition(|child| child.halt.is_some());
        let ([greedy], [_]) = (&greedy[..], &modest[..]) else { panic!("{children:?}") };
        let (tokens, calls) = used(&shop).await;
        let each = tokens / calls;
        let share = (LIMIT - each) / 2;
        assert!(spent(greedy).ends_with(&format!("of {share} tokens")), "{}", spent(greedy));
        let ended = find(&shop, parent).await;
        assert_eq!(spent(&ended), format!("this run has used {tokens} of {LIMIT} tokens"), "all of it counts");
        assert!(tokens <= LIMIT, "{tokens}");
        assert_eq!(used_by(&shop, parent).await, json!(tokens));
        let theirs = "SELECT COUNT(*) FROM usage_counters WHERE tenant_id = $1 AND scope = 'person' AND slot LIKE 'background %' AND used_tokens > 0";
        assert_eq!(shop.number(theirs).await, 2, "the person's day and month");
    }

    /// What a process spent that died counts, though nobody stored that it did.
    async fn what_a_dead_process_spent_counts(test: TestDb) {
        let hangs = Arc::new(AtomicBool::new(true));
        let shop = Shop::open_with(&test, [], plan(&Arc::default())).await;
        let dying = shop.beside(&test, [], plan(&hangs)).await;
        let run = begin_as(&dying, RunCause::Clock, "sample.asking", None, json!({ "asks": 3 })).await;
        let runner_of_it = runner(&test, &dying);
        let mut working = JoinSet::new();
        working.spawn(async move { runner_of_it.drain().await });
        wait_until(async || !hangs.load(Ordering::SeqCst)).await;
        working.abort_all();
        drop(dying);
        let after = runner(&test, &shop);
        for _ in 0..10 {
            test.clock.advance(Duration::from_secs(20));
            shop.engine.sweep(munshi_conversations::RunRecoveryScope::Lapsed).await.unwrap();
            after.drain().await.unwrap();
        }
        let (tokens, calls) = used(&shop).await;
        assert_eq!((find(&shop, run).await.state, calls), (RunState::Done, 6));
        assert_eq!(used_by(&shop, run).await, json!(tokens));
    }

    /// A run whose row can't be read any more has used what its calls sum to.
    async fn what_can_not_be_read_has_used_what_it_called(test: TestDb) {
        let hangs = Arc::new(AtomicBool::new(true));
        let shop = Shop::open_with(&test, [], plan(&Arc::default())).await;
        let dying = shop.beside(&test, [], plan(&hangs)).await;
        let run = begin_as(&dying, RunCause::Clock, "sample.asking", None, json!({ "asks": 3 })).await;
        let runner_of_it = runner(&test, &dying);
        let mut working = JoinSet::new();
        working.spawn(async move { runner_of_it.drain().await });
        wait_until(async || !hangs.load(Ordering::SeqCst)).await;
        working.abort_all();
        drop(dying);
        let break_it = "UPDATE runs SET snapshot = '[1]' WHERE tenant_id = $1";
        let hurry = "UPDATE jobs SET max_attempts = 1 WHERE tenant_id = $1";
        shop.db.write(shop.tenant, move |tx| tx.execute(break_it, params![])).await.unwrap();
        let after = runner(&test, &shop);
        for _ in 0..10 {
            test.clock.advance(Duration::from_secs(20));
            shop.engine.sweep(munshi_conversations::RunRecoveryScope::Lapsed).await.unwrap();
            shop.db.write(shop.tenant, move |tx| tx.execute(hurry, params![])).await.unwrap();
            after.drain().await.unwrap();
        }
        let (tokens, calls) = used(&shop).await;
        assert_eq!((find(&shop, run).await.state, calls), (RunState::Halted, 3));
        assert_eq!(used_by(&shop, run).await, json!(tokens));
    }
}
