//! Runs that nobody typed: begun by each cause, waiting, gone on with after a crash, stopped.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use munshi_agent::background::NewBackgroundRun;
use munshi_conversations::RunState;
use munshi_conversations::runs::RunCause;
use munshi_pack::StepOutcome;
use munshi_safety::approvals::{self, ApprovalDecision};
use munshi_store::params;
use munshi_test_support::wait_until;
use serde_json::{Value, json};

use crate::turns::approvals::answer;
use crate::turns::support::Plan;
use crate::turns::work::{begin, begin_as, find, house, open, pending, result, runner, runner_of, steps};

on_both! {
    async fn a_cause_makes_one_run_and_its_acts_happen_once(test: TestDb) {
        let shop = open(&test).await;
        let runner = runner(&shop);
        let first = begin_as(&shop, RunCause::Clock, "sample.listed", Some("monday"), steps(&["note", "book"])).await;
        let again = begin_as(&shop, RunCause::Clock, "sample.listed", Some("monday"), steps(&["note"])).await;
        assert_eq!(first, again, "the same cause");
        runner.drain().await.unwrap();
        let run = find(&shop, first).await;
        assert_eq!((run.state, run.cause, run.conversation.is_none()), (RunState::Done, RunCause::Clock, true), "{run:?}");
        assert_eq!((shop.notes().await, shop.world.effects().len()), (1, 1));
        let result = result(&shop, first).await;
        assert_eq!((&result["ok"], result["result"].as_array().map(Vec::len)), (&json!(true), Some(2)), "{result}");
        let other = begin_as(&shop, RunCause::Clock, "sample.listed", Some("tuesday"), steps(&["note"])).await;
        assert_ne!(first, other);
        runner.drain().await.unwrap();
        assert_eq!(shop.notes().await, 2);
    }

    async fn a_time_is_waited_for_by_nobody(test: TestDb) {
        let shop = open(&test).await;
        let runner = runner(&shop);
        let run = begin(&shop, json!([{ "call": "note" }, { "wait": 3_600 }, { "call": "note" }])).await;
        runner.drain().await.unwrap();
        let waiting = find(&shop, run).await;
        assert_eq!((waiting.state, waiting.lease_until), (RunState::WaitingTimer, None));
        test.clock.advance(Duration::from_secs(3_599));
        runner.drain().await.unwrap();
        assert_eq!((find(&shop, run).await.state, shop.notes().await), (RunState::WaitingTimer, 1));
        test.clock.advance(Duration::from_secs(2));
        runner.drain().await.unwrap();
        assert_eq!((find(&shop, run).await.state, shop.notes().await), (RunState::Done, 2));
    }

    /// A parent whose children each wait for a person: neither they nor a turn stand in anybody's way.
    async fn twenty_children_wait_for_approval_and_nothing_stands_still(test: TestDb) {
        let shop = open(&test).await;
        let runner = runner_of(&shop, 2);
        let children: Vec<Value> = (0..20).map(|_| steps(&["note", "drop"])).collect();
        let parent = begin(&shop, json!([{ "begin": children }, { "call": "note" }])).await;
        runner.drain().await.unwrap();
        assert_eq!(find(&shop, parent).await.state, RunState::WaitingChild);
        assert_eq!((pending(&shop).await.len(), shop.notes().await), (20, 20), "each has done what needs no yes");
        assert_eq!(shop.ask("1", "hello").await.text, "Hello.", "people are answered meanwhile");
        let other = begin(&shop, steps(&["note"])).await;
        runner.drain().await.unwrap();
        assert_eq!(find(&shop, other).await.state, RunState::Done, "other work goes on meanwhile");
        let asked = pending(&shop).await;
        // In no order, and one of them is refused.
        for (number, id) in (0..20).map(|number| (number, asked[number * 7 % 20])) {
            assert_eq!(find(&shop, parent).await.state, RunState::WaitingChild, "until the last has ended");
            let said = if number == 7 { ApprovalDecision::No } else { ApprovalDecision::Yes };
            answer(&test, &shop, shop.owner, id, said).await;
            shop.engine.sweep(munshi_conversations::RunRecoveryScope::Lapsed).await.unwrap();
            runner.drain().await.unwrap();
        }
        assert_eq!(find(&shop, parent).await.state, RunState::Done);
        assert_eq!(shop.notes().await, 20 + 1 + 19 + 1, "nineteen were let, and the parent went on");
        let result = result(&shop, parent).await;
        let StepOutcome::Ended(ended) = serde_json::from_value(result["result"][0].clone()).unwrap() else { panic!("{result}") };
        assert_eq!((ended.len(), ended.iter().filter(|child| child.ok).count()), (20, 20));
    }

    async fn work_goes_no_further_than_its_pack_declares(test: TestDb) {
        let shop = open(&test).await;
        let runner = runner(&shop);
        let shy = begin_as(&shop, RunCause::Clock, "sample.shy", None, steps(&["count", "note"])).await;
        runner.drain().await.unwrap();
        let result = result(&shop, shy).await;
        assert_eq!((find(&shop, shy).await.state, shop.notes().await), (RunState::Done, 0));
        let outcomes: Vec<StepOutcome> = serde_json::from_value(result["result"].clone()).unwrap();
        let [StepOutcome::Called { ok: true, .. }, StepOutcome::Called { ok: false, result }] = &outcomes[..] else { panic!("{outcomes:?}") };
        assert_eq!(result["code"], "read_only", "{result}");
    }

    /// What came from outside is nobody's own words: it is not acted on without a person.
    async fn what_an_event_brings_is_written_after_a_yes(test: TestDb) {
        let shop = open(&test).await;
        let runner = runner(&shop);
        let input = json!([{ "call": "note", "text": "pay Mallory 900" }]);
        let run = begin_as(&shop, RunCause::Event, "sample.listed", Some("delivery 1"), input).await;
        runner.drain().await.unwrap();
        assert_eq!((find(&shop, run).await.state, shop.notes().await), (RunState::WaitingApproval, 0));
        let [id] = pending(&shop).await[..] else { panic!("one question") };
        let asked = shop.db.read(shop.tenant, move |tx| approvals::find(tx, id)).await.unwrap().unwrap();
        assert_eq!(asked.asked_by, None);
        answer(&test, &shop, shop.owner, id, ApprovalDecision::Yes).await;
        shop.engine.resume(shop.tenant, run).await.unwrap();
        runner.drain().await.unwrap();
        assert_eq!((find(&shop, run).await.state, shop.notes().await), (RunState::Done, 1));
    }

    /// The owner is asked in the conversation they have, and a plain yes there is enough.
    async fn whoever_may_answer_is_asked_where_they_are_met(test: TestDb) {
        let shop = open(&test).await;
        let received = shop.engine.receive(shop.message(shop.owner, "1", "good morning")).await.unwrap();
        assert_eq!(shop.outcome(&received).await.text, "Hello.");
        let runner = runner(&shop);
        let run = begin(&shop, steps(&["drop", "note"])).await;
        runner.drain().await.unwrap();
        assert_eq!(find(&shop, run).await.state, RunState::WaitingApproval);
        let asked = "SELECT COUNT(*) FROM messages WHERE tenant_id = $1 AND speaker = 'persona' AND number > 2";
        assert_eq!(shop.number(asked).await, 1, "the question stands in the conversation, once");
        // Whoever looks again asks no second time.
        shop.engine.sweep(munshi_conversations::RunRecoveryScope::Lapsed).await.unwrap();
        runner.drain().await.unwrap();
        assert_eq!(shop.number(asked).await, 1);
        let newest = "SELECT id FROM messages WHERE tenant_id = $1 ORDER BY number DESC LIMIT 1";
        let seen = move |tx: &mut munshi_store::Tx<'_>| tx.one(newest, params![], |row| row.get(0));
        let mut yes = shop.message(shop.owner, "2", "yes");
        yes.screen.seen = Some(shop.db.read(shop.tenant, seen).await.unwrap());
        let yes = shop.engine.receive(yes).await.unwrap();
        assert_eq!(shop.outcome(&yes).await.state, RunState::Done);
        shop.engine.sweep(munshi_conversations::RunRecoveryScope::Lapsed).await.unwrap();
        runner.drain().await.unwrap();
        assert_eq!((find(&shop, run).await.state, shop.notes().await), (RunState::Done, 2));
    }

    async fn what_is_optional_is_left_out_while_many_wait_and_the_record_says_so(test: TestDb) {
        let shop = open(&test).await;
        let mut waiting = Vec::new();
        for _ in 0..52 {
            waiting.push(begin(&shop, json!([{ "optional": "note" }, { "call": "count" }])).await);
        }
        shop.engine.measure_load().await.unwrap();
        runner(&shop).drain().await.unwrap();
        assert_eq!(shop.notes().await, 0, "nobody did what was optional");
        let ended = result(&shop, waiting[0]).await;
        let outcomes: Vec<StepOutcome> = serde_json::from_value(ended["result"].clone()).unwrap();
        let [StepOutcome::Skipped { what }, StepOutcome::Called { ok: true, .. }] = &outcomes[..] else { panic!("{outcomes:?}") };
        assert_eq!(what, "the extra note");
        let first = waiting[0];
        let steps = shop.db.read(shop.tenant, move |tx| munshi_conversations::steps::list(tx, first)).await.unwrap();
        assert!(steps.iter().any(|step| step.body["skipped"] == "the extra note"), "{steps:?}");
        shop.engine.measure_load().await.unwrap();
        let calm = begin(&shop, json!([{ "optional": "note" }])).await;
        runner(&shop).drain().await.unwrap();
        assert_eq!((find(&shop, calm).await.state, shop.notes().await), (RunState::Done, 1));
    }

    /// Whatever came over the network is nobody's own words, also where the clock began the run.
    async fn what_a_kind_has_read_elsewhere_is_written_after_a_yes(test: TestDb) {
        let shop = open(&test).await;
        let run = begin_as(&shop, RunCause::Clock, "sample.curious", None, Value::Null).await;
        runner(&shop).drain().await.unwrap();
        assert_eq!((find(&shop, run).await.state, shop.notes().await), (RunState::WaitingApproval, 0));
    }

    async fn a_run_that_is_stopped_takes_its_children_and_questions_with_it(test: TestDb) {
        let shop = open(&test).await;
        let runner = runner(&shop);
        let parent = begin(&shop, json!([{ "begin": [steps(&["drop"]), json!([{ "wait": 60 }])] }])).await;
        runner.drain().await.unwrap();
        let [question] = pending(&shop).await[..] else { panic!("one question") };
        shop.engine.cancel(shop.tenant, parent).await.unwrap();
        runner.drain().await.unwrap();
        let open = "SELECT COUNT(*) FROM runs WHERE tenant_id = $1 AND ended_at IS NULL";
        assert_eq!((find(&shop, parent).await.state, shop.number(open).await), (RunState::Halted, 0));
        assert!(pending(&shop).await.is_empty());
        answer(&test, &shop, shop.owner, question, ApprovalDecision::Yes).await;
        shop.engine.sweep(munshi_conversations::RunRecoveryScope::Lapsed).await.unwrap();
        runner.drain().await.unwrap();
        assert_eq!(shop.notes().await, 0, "a yes that comes later does nothing");
    }

    async fn what_breaks_ends_its_run_and_tells_the_parent(test: TestDb) {
        let shop = open(&test).await;
        let runner = runner(&shop);
        let broken = [json!([{ "panic": true }]), json!([{ "no": "such step" }]), steps(&["note"])];
        let parent = begin(&shop, json!([{ "begin": broken }])).await;
        runner.drain().await.unwrap();
        let result = result(&shop, parent).await;
        let StepOutcome::Ended(ended) = serde_json::from_value(result["result"][0].clone()).unwrap() else { panic!("{result}") };
        assert_eq!(ended.iter().map(|child| child.ok).collect::<Vec<_>>(), [false, false, true], "{ended:?}");
        assert_eq!(ended[1].result, json!({ "code": "failed", "reason": "an unknown step" }));
        let run_queue = shop.engine.run_starter();
        let unknown = NewBackgroundRun { kind: "sample.nothing".to_owned(), cause: RunCause::Clock, cause_key: None, input: json!([]) };
        let begun = shop.db.write(shop.tenant, move |tx| run_queue.begin(tx, &unknown)).await;
        assert!(begun.unwrap_err().to_string().contains("no pack has a run kind `sample.nothing`"));
    }

    /// The process stops before each step in turn, and another goes on: everything was done once.
    async fn a_process_that_dies_before_any_step_is_followed_by_one_that_goes_on(test: TestDb) {
        let shop = open(&test).await;
        let input = json!([{ "call": "note" }, { "begin": [steps(&["note", "note"])] }, { "call": "note" }, { "call": "book" }]);
        for stops in 0..8 {
            let left = Arc::new(AtomicUsize::new(stops));
            let plan = Plan { house: house(Some(&left)), ..Plan::default() };
            let dying = shop.beside(&test, [], plan).await;
            let (notes, books) = (shop.notes().await, shop.world.effects().len());
            let run = begin(&dying, input.clone()).await;
            let runner_of_it = runner(&dying);
            let mut working = tokio::task::JoinSet::new();
            working.spawn(async move { runner_of_it.drain().await });
            wait_until(async || left.load(Ordering::SeqCst) == 0).await;
            // It is in the middle of something, or stands still; then it is gone.
            tokio::time::sleep(Duration::from_millis(30)).await;
            working.abort_all();
            drop(dying);
            test.clock.advance(Duration::from_secs(120));
            let after = runner(&shop);
            for _ in 0..20 {
                shop.engine.sweep(munshi_conversations::RunRecoveryScope::Lapsed).await.unwrap();
                after.drain().await.unwrap();
                test.clock.advance(Duration::from_secs(10));
                if find(&shop, run).await.ended_at.is_some() {
                    break;
                }
            }
            let ended = find(&shop, run).await;
            assert_eq!(ended.state, RunState::Done, "after {stops} steps: {ended:?}");
            assert_eq!((shop.notes().await - notes, shop.world.effects().len() - books), (4, 1), "after {stops} steps");
        }
    }

    /// Whatever becomes of the jobs, a run is not forgotten.
    async fn a_run_whose_job_is_gone_is_found_again(test: TestDb) {
        let shop = open(&test).await;
        let runner = runner(&shop);
        let waiting = begin(&shop, json!([{ "wait": 60 }, { "call": "note" }])).await;
        runner.drain().await.unwrap();
        let fresh = begin(&shop, steps(&["note"])).await;
        let give_up = "UPDATE jobs SET state = 'dead' WHERE tenant_id = $1 AND state <> 'done'";
        shop.db.write(shop.tenant, move |tx| tx.execute(give_up, params![])).await.unwrap();
        test.clock.advance(Duration::from_secs(120));
        shop.engine.sweep(munshi_conversations::RunRecoveryScope::Lapsed).await.unwrap();
        runner.drain().await.unwrap();
        assert_eq!(shop.notes().await, 0, "its job may still come");
        test.clock.advance(Duration::from_secs(600));
        shop.engine.sweep(munshi_conversations::RunRecoveryScope::Lapsed).await.unwrap();
        runner.drain().await.unwrap();
        for run in [waiting, fresh] {
            assert_eq!(find(&shop, run).await.state, RunState::Done);
        }
        assert_eq!(shop.notes().await, 2);
    }

    /// A row that can't be read any more ends its run, and the parent goes on.
    async fn what_can_not_be_read_is_given_up_and_told_to_the_parent(test: TestDb) {
        let shop = open(&test).await;
        let runner = runner(&shop);
        let parent = begin(&shop, json!([{ "begin": [json!([{ "wait": 60 }])] }])).await;
        runner.drain().await.unwrap();
        let break_it = "UPDATE runs SET snapshot = '[1]' WHERE tenant_id = $1 AND parent_id IS NOT NULL";
        let hurry = "UPDATE jobs SET max_attempts = 1 WHERE tenant_id = $1 AND state = 'scheduled'";
        shop.db.write(shop.tenant, move |tx| tx.execute(break_it, params![])).await.unwrap();
        shop.db.write(shop.tenant, move |tx| tx.execute(hurry, params![])).await.unwrap();
        test.clock.advance(Duration::from_secs(61));
        runner.drain().await.unwrap();
        let result = result(&shop, parent).await;
        let StepOutcome::Ended(ended) = serde_json::from_value(result["result"][0].clone()).unwrap() else { panic!("{result}") };
        assert_eq!((ended.len(), ended[0].ok, &ended[0].result["code"]), (1, false, &json!("broken")));
    }

    /// What a run knows and has read goes to those it begins, and comes back with what they end with.
    async fn taint_goes_down_to_children_and_comes_back(test: TestDb) {
        let shop = open(&test).await;
        let runner = runner(&shop);
        let parent = begin(&shop, json!([{ "begin": [steps(&["fetch"])] }, { "call": "note" }])).await;
        runner.drain().await.unwrap();
        let waiting = find(&shop, parent).await;
        assert_eq!((waiting.state, shop.notes().await), (RunState::WaitingApproval, 0), "the child has read a stranger's words");
        assert!(waiting.snapshot.taint.holds_private && !waiting.snapshot.taint.is_clean());
    }
}
