//! What a dead process left: acts and set-aside money are looked after with the run, and only what makes no progress
//! wears a run out.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use munshi_agent::{MessageReceipt, TurnSettings};
use munshi_conversations::{HaltReason, RunRecoveryScope, RunState};
use munshi_llm::ChatEvent as Said;
use munshi_store::{Tx, params};
use munshi_test_support::models::ScriptedTurn;
use munshi_test_support::{DatabaseEngine, TestDb, wait_until};
use munshi_types::{Clock, Timestamp};
use tokio_util::sync::CancellationToken;

use crate::turns::support::{Plan, Shop, arguments};

const REPLIES: &str = "SELECT COUNT(*) FROM messages WHERE tenant_id = $1 AND speaker = 'persona'";

fn hanging() -> ScriptedTurn {
    ScriptedTurn::events([Said::Started { request_id: None, model: None }]).hanging()
}

/// A process that takes the run up, comes so far as its script goes, and dies.
async fn one_more(test: &TestDb, shop: &Shop, script: Vec<ScriptedTurn>) {
    let asked = script.len();
    test.clock.advance(Duration::from_secs(31));
    let next = shop.again(test, script).await;
    assert_eq!(next.engine.sweep(RunRecoveryScope::Lapsed).await.unwrap(), 1);
    wait_until(async || next.model.requests().len() == asked).await;
    next.engine.abandon();
}

async fn last(
    test: &TestDb,
    shop: &Shop,
    received: &MessageReceipt,
    script: Vec<ScriptedTurn>,
) -> munshi_agent::RunOutcome {
    test.clock.advance(Duration::from_secs(31));
    let next = shop.again(test, script).await;
    assert_eq!(next.engine.sweep(RunRecoveryScope::Lapsed).await.unwrap(), 1);
    next.outcome(received).await
}

on_both! {
    async fn an_act_is_looked_after_with_its_run(test: TestDb) {
        for (tool, ok) in [("book", true), ("order", true), ("fax", false)] {
            let test = TestDb::open(test.engine(), &crate::turns::support::migrations()).await;
            let shop = Shop::open(&test, [ScriptedTurn::call(tool, &arguments("milk"))]).await;
            shop.world.hangs.store(true, Ordering::SeqCst);
            let received = shop.say("1", "milk").await;
            wait_until(async || shop.world.effects().len() == 1).await;
            shop.engine.abandon();
            shop.world.hangs.store(false, Ordering::SeqCst);
            // The run's lease is over; the act's is not, and nobody sweeps acts.
            let outcome = last(&test, &shop, &received, vec![ScriptedTurn::text("So it is.")]).await;
            assert!(outcome.text.starts_with("So it is."), "{tool}: {outcome:?}");
            assert_eq!((shop.world.effects().len(), outcome.calls.last().unwrap().ok), (1, ok), "{tool}: {:?}", outcome.calls);
        }
    }

    /// Whatever ends each process that calls it, it is not called for ever.
    async fn an_act_that_ends_every_process_is_given_up(test: TestDb) {
        for (tool, ends_as) in [("book", "unknown"), ("fetch", "failed")] {
            let test = TestDb::open(test.engine(), &crate::turns::support::migrations()).await;
            let shop = Shop::open(&test, [ScriptedTurn::call(tool, &arguments("milk"))]).await;
            shop.world.hangs.store(true, Ordering::SeqCst);
            shop.say("1", "milk").await;
            let calls = || shop.world.calls.load(Ordering::SeqCst);
            wait_until(async || calls() == 1).await;
            shop.engine.abandon();
            for tried in 1..=3 {
                test.clock.advance(Duration::from_secs(120));
                let next = shop.again(&test, []).await;
                tokio::select! {
                    swept = next.engine.sweep_acts() => panic!("{tool}: {swept:?}"),
                    () = wait_until(async || calls() > tried) => {}
                }
            }
            test.clock.advance(Duration::from_secs(120));
            let next = shop.again(&test, []).await;
            let swept = next.engine.sweep_acts().await.unwrap();
            assert_eq!((calls(), swept.ended + swept.unknown), (4, 1), "{tool}: {swept:?}");
            let read = |tx: &mut Tx<'_>| tx.one("SELECT state FROM acts WHERE tenant_id = $1", params![], |row| row.get::<String>(0));
            assert_eq!(shop.db.read(shop.tenant, read).await.unwrap(), ends_as);
            assert_eq!(next.engine.sweep_acts().await.unwrap(), munshi_tools::ActSweepReport::default());
        }
    }

    async fn the_one_process_of_sqlite_waits_for_no_lease(test: TestDb) {
        if test.engine() == DatabaseEngine::Postgres {
            return;
        }
        let shop = Shop::open(&test, [ScriptedTurn::call("book", &arguments("milk"))]).await;
        shop.world.hangs.store(true, Ordering::SeqCst);
        let received = shop.say("1", "milk").await;
        wait_until(async || shop.world.effects().len() == 1).await;
        shop.engine.abandon();
        // Killed once more while it looks after the act.
        for _ in 0..2 {
            test.clock.advance(Duration::from_millis(1));
            let next = shop.again(&test, []).await;
            let calls = shop.world.calls.load(Ordering::SeqCst);
            let stop = CancellationToken::new();
            tokio::select! {
                () = next.engine.serve(stop) => {}
                () = wait_until(async || shop.world.calls.load(Ordering::SeqCst) > calls) => {}
            }
            next.engine.abandon();
        }
        shop.world.hangs.store(false, Ordering::SeqCst);
        test.clock.advance(Duration::from_millis(1));
        let next = shop.again(&test, [ScriptedTurn::text("Booked.")]).await;
        let stop = CancellationToken::new();
        let outcome = async {
            let outcome = next.outcome(&received).await;
            stop.cancel();
            outcome
        };
        let (outcome, ()) = tokio::join!(outcome, next.engine.serve(stop.clone()));
        assert_eq!((outcome.text.as_str(), shop.world.effects().len()), ("Booked.", 1));
    }

    async fn who_answers_one_question_looks_after_one_conversation(test: TestDb) {
        let shop = Shop::open(&test, [hanging(), hanging()]).await;
        let first = shop.say("1", "the first thing").await;
        let others = shop.engine.receive(shop.message(shop.owner, "o1", "something else")).await.unwrap();
        wait_until(async || shop.model.requests().len() == 2).await;
        shop.engine.abandon();
        test.clock.advance(Duration::from_secs(if test.engine() == DatabaseEngine::Sqlite { 1 } else { 31 }));
        let asking = shop.again(&test, [ScriptedTurn::text("First."), ScriptedTurn::text("Second.")]).await;
        let second = asking.say("2", "the second thing").await;
        assert_eq!(second.status, munshi_conversations::IngestStatus::Queued { behind: Some(first.run) });
        assert_eq!(asking.engine.sweep_session(second.tenant, second.session).await.unwrap(), 1);
        assert_eq!(asking.outcome(&first).await.text, "First.");
        assert_eq!(asking.outcome(&second).await.text, "Second.");
        assert_eq!(asking.engine.sweep_session(second.tenant, second.session).await.unwrap(), 0);
        let epoch = move |tx: &mut Tx<'_>| munshi_conversations::runs::find(tx, others.run);
        assert_eq!(shop.db.read(shop.tenant, epoch).await.unwrap().unwrap().epoch, 1, "the other is for a server");
    }

    async fn what_came_further_each_time_is_not_worn_out(test: TestDb) {
        let note = |number: usize| vec![ScriptedTurn::call("note", &arguments(&format!("n{number}"))), hanging()];
        let mut plan = Plan { agent: Plan::default().agent.replace("tool_calls = 6", "tool_calls = 20"), ..Plan::default() };
        plan.budgets.run.iterations = 200;
        let shop = Shop::open_with(&test, note(0), plan).await;
        let received = shop.say("1", "note all of them").await;
        wait_until(async || shop.model.requests().len() == 2).await;
        shop.engine.abandon();
        for number in 1..12 {
            one_more(&test, &shop, note(number)).await;
        }
        let outcome = last(&test, &shop, &received, vec![ScriptedTurn::text("All noted.")]).await;
        assert_eq!((outcome.text.as_str(), shop.notes().await), ("All noted.", 12), "{outcome:?}");
    }

    async fn what_breaks_everybody_ends_with_an_answer(test: TestDb) {
        let shop = Shop::open(&test, [hanging()]).await;
        let received = shop.say("1", "hello there").await;
        wait_until(async || shop.model.requests().len() == 1).await;
        shop.engine.abandon();
        // Three beside others, three alone.
        for _ in 0..5 {
            one_more(&test, &shop, vec![hanging()]).await;
        }
        let outcome = last(&test, &shop, &received, Vec::new()).await;
        assert_eq!(outcome.halt, Some(HaltReason::Broken("aborted after repeated crashes".to_owned())), "{outcome:?}");
        assert_eq!((outcome.state, shop.number(REPLIES).await), (RunState::Halted, 1));
        assert_eq!((outcome.degraded, outcome.text.is_empty()), (true, false));
    }

    /// One process marks the run as gone on with alone, loses it, and takes it up again, more often than anybody may die.
    async fn a_process_that_lost_a_run_did_not_die_of_it(test: TestDb) {
        let settings = TurnSettings { renew: Duration::from_millis(50), ..TurnSettings::default() };
        let losses = 10;
        let script = (0..losses).map(|_| hanging()).chain([ScriptedTurn::text("Here I am.")]);
        let shop = Shop::open_with(&test, script, Plan { settings, ..Plan::default() }).await;
        let received = shop.say("1", "hello there").await;
        for lost in 1..=losses {
            wait_until(async || shop.model.requests().len() == lost).await;
            let lose = "UPDATE runs SET epoch = epoch + 1, lease_until = $2 WHERE tenant_id = $1";
            let past = Timestamp::from_micros(0);
            shop.db.write(shop.tenant, move |tx: &mut Tx<'_>| tx.execute(lose, params![past])).await.unwrap();
            assert_eq!(shop.engine.sweep(RunRecoveryScope::Lapsed).await.unwrap(), 1);
        }
        let outcome = shop.outcome(&received).await;
        assert_eq!((outcome.text.as_str(), outcome.halt.as_ref()), ("Here I am.", None), "{outcome:?}");
    }

    /// A run that holds its process up until the lease passes, again and again, is set aside all the same.
    async fn a_run_that_is_lost_again_and_again_is_set_aside(test: TestDb) {
        let settings = TurnSettings { renew: Duration::from_millis(50), ..TurnSettings::default() };
        let shop = Shop::open_with(&test, (0..40).map(|_| hanging()), Plan { settings, ..Plan::default() }).await;
        let received = shop.say("1", "hello there").await;
        let halted = "SELECT COUNT(*) FROM runs WHERE tenant_id = $1 AND state = 'halted'";
        for lost in 1..=30 {
            wait_until(async || shop.model.requests().len() == lost || shop.number(halted).await == 1).await;
            if shop.number(halted).await == 1 {
                break;
            }
            let lose = "UPDATE runs SET epoch = epoch + 1, lease_until = $2 WHERE tenant_id = $1 AND ended_at IS NULL";
            let past = Timestamp::from_micros(0);
            shop.db.write(shop.tenant, move |tx: &mut Tx<'_>| tx.execute(lose, params![past])).await.unwrap();
            shop.engine.sweep(RunRecoveryScope::Lapsed).await.unwrap();
        }
        let outcome = shop.outcome(&received).await;
        assert_eq!(outcome.halt, Some(HaltReason::Broken("aborted after repeated crashes".to_owned())), "{outcome:?}");
    }

    async fn a_lease_whose_claim_waited_is_renewed_before_work_begins(test: TestDb) {
        // Its one writer lets a claim wait behind others.
        if test.engine() != DatabaseEngine::Sqlite {
            return;
        }
        let shop = Shop::open(&test, [hanging()]).await;
        shop.say("1", "hello there").await;
        wait_until(async || shop.model.requests().len() == 1).await;
        shop.engine.abandon();
        test.clock.advance(Duration::from_secs(31));
        let next = shop.again(&test, [hanging()]).await;
        let (busy, free) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        let (begun, end, db, tenant) = (busy.clone(), free.clone(), shop.db.clone(), shop.tenant);
        let mut others = tokio::task::JoinSet::new();
        others.spawn(async move {
            let unit = move |_: &mut Tx<'_>| -> munshi_store::Result<()> {
                begun.store(true, Ordering::SeqCst);
                while !end.load(Ordering::SeqCst) {
                    std::thread::sleep(Duration::from_millis(2));
                }
                Ok(())
            };
            db.write(tenant, unit).await
        });
        wait_until(async || busy.load(Ordering::SeqCst)).await;
        let mut claim = std::pin::pin!(next.engine.sweep(RunRecoveryScope::Lapsed));
        assert!(futures_util::poll!(&mut claim).is_pending());
        test.clock.advance(Duration::from_secs(12));
        free.store(true, Ordering::SeqCst);
        assert_eq!(claim.await.unwrap(), 1);
        others.join_next().await.unwrap().unwrap().unwrap();
        wait_until(async || next.model.requests().len() == 1).await;
        let until = shop.number("SELECT lease_until FROM runs WHERE tenant_id = $1").await;
        assert_eq!(until, test.clock.now().plus(Duration::from_secs(30)).as_micros());
        next.engine.abandon();
    }

    async fn one_that_is_set_aside_tells_what_was_done(test: TestDb) {
        let shop = Shop::open(&test, [ScriptedTurn::call("note", &arguments("milk")), hanging()]).await;
        let received = shop.say("1", "note the milk").await;
        wait_until(async || shop.model.requests().len() == 2).await;
        shop.engine.abandon();
        // What came further in the first process counts from there.
        for _ in 0..6 {
            one_more(&test, &shop, vec![hanging()]).await;
        }
        let outcome = last(&test, &shop, &received, Vec::new()).await;
        assert_eq!(outcome.halt, Some(HaltReason::Broken("aborted after repeated crashes".to_owned())), "{outcome:?}");
        assert!(outcome.text.contains("milk") && outcome.text.starts_with("I have stopped."), "{outcome:?}");
        assert_eq!((shop.notes().await, outcome.degraded), (1, false));
    }

    /// The act is the first run's, which asked; the yes is another's.
    async fn what_was_done_after_a_yes_is_told_too(test: TestDb) {
        let shop = Shop::open(&test, [ScriptedTurn::call("drop", &arguments("milk")), hanging()]).await;
        let asked = shop.say("1", "remove the milk").await;
        assert!(shop.outcome(&asked).await.approval.is_some());
        let received = shop.say("2", "yes").await;
        wait_until(async || shop.model.requests().len() == 2).await;
        shop.engine.abandon();
        for _ in 0..6 {
            one_more(&test, &shop, vec![hanging()]).await;
        }
        let outcome = last(&test, &shop, &received, Vec::new()).await;
        assert_eq!(outcome.halt, Some(HaltReason::Broken("aborted after repeated crashes".to_owned())), "{outcome:?}");
        assert!(outcome.text.contains("milk") && !outcome.degraded, "{outcome:?}");
    }

    /// Whether the fax was sent nobody knows while the run is set aside; whoever looks after the act tells it.
    async fn what_became_of_an_act_is_told_after_its_run_was_set_aside(test: TestDb) {
        let shop = Shop::open(&test, [ScriptedTurn::call("fax", &arguments("milk"))]).await;
        shop.world.hangs.store(true, Ordering::SeqCst);
        let received = shop.say("1", "fax for milk").await;
        wait_until(async || shop.world.effects().len() == 1).await;
        shop.engine.abandon();
        let worn = r#"UPDATE runs SET epoch = 6, snapshot = '{"alone": [4, 5, 6]}' WHERE tenant_id = $1"#;
        shop.db.write(shop.tenant, move |tx: &mut Tx<'_>| tx.execute(worn, params![])).await.unwrap();
        let outcome = last(&test, &shop, &received, Vec::new()).await;
        assert!(matches!(outcome.halt, Some(HaltReason::Broken(_))), "{outcome:?}");
        test.clock.advance(Duration::from_secs(120));
        let next = shop.again(&test, []).await;
        assert_eq!(next.engine.sweep_acts().await.unwrap().unknown, 1);
        assert_eq!((shop.number(REPLIES).await, shop.world.effects().len()), (2, 1), "its end, and what became of the act");
        next.engine.sweep_acts().await.unwrap();
        assert_eq!(shop.number(REPLIES).await, 2, "once");
    }

    async fn what_can_not_be_read_takes_its_question_back(test: TestDb) {
        let shop = Shop::open(&test, [ScriptedTurn::call("drop", &arguments("milk"))]).await;
        let received = shop.say("1", "remove the milk").await;
        let id = shop.outcome(&received).await.approval.unwrap();
        let now = test.clock.now();
        let broken = "UPDATE runs SET snapshot = '[1]', state = 'acting', lease_until = $2 WHERE tenant_id = $1";
        shop.db.write(shop.tenant, move |tx: &mut Tx<'_>| tx.execute(broken, params![now])).await.unwrap();
        let ended = last(&test, &shop, &received, Vec::new()).await;
        assert_eq!(ended.state, RunState::Halted, "{ended:?}");
        crate::turns::approvals::assert_withdrawn(&test, &shop, id).await;
    }

    async fn what_can_not_even_be_read_ends_with_an_answer(test: TestDb) {
        for broken in [r#"UPDATE runs SET epoch = 6, snapshot = '{"alone": [4, 5, 6]}' WHERE tenant_id = $1"#, "UPDATE runs SET snapshot = '[1]' WHERE tenant_id = $1"] {
            let test = TestDb::open(test.engine(), &crate::turns::support::migrations()).await;
            let shop = Shop::open(&test, [hanging()]).await;
            let received = shop.say("1", "आज कितनी बिक्री हुई?").await;
            wait_until(async || shop.model.requests().len() == 1).await;
            shop.engine.abandon();
            shop.db.write(shop.tenant, move |tx: &mut Tx<'_>| tx.execute(broken, params![])).await.unwrap();
            let outcome = last(&test, &shop, &received, Vec::new()).await;
            assert!(matches!(outcome.halt, Some(HaltReason::Broken(_))) && !outcome.text.is_empty(), "{outcome:?}");
            assert_eq!(shop.number(REPLIES).await, 1);
            let held = "SELECT COUNT(*) FROM usage_reservations WHERE tenant_id = $1";
            assert_eq!(shop.number(held).await, 0);
        }
    }

    async fn what_was_set_aside_for_calls_of_a_dead_process_is_let_go(test: TestDb) {
        // Who waited has nothing set aside with the message any more: each call asks for its own.
        let shop = Shop::open(&test, [ScriptedTurn::call("wipe", &arguments("milk")), hanging()]).await;
        let received = shop.say("1", "wipe milk").await;
        let id = shop.outcome(&received).await.approval.unwrap();
        crate::turns::approvals::answer(&test, &shop, shop.owner, id, munshi_safety::approvals::ApprovalDecision::Yes).await;
        shop.engine.resume(received.tenant, received.run).await.unwrap();
        wait_until(async || shop.model.requests().len() == 2).await;
        let held = "SELECT COUNT(*) FROM usage_reservations WHERE tenant_id = $1 AND state = 'held' AND interactions = 0";
        assert_eq!(shop.number(held).await, 1, "the second call has its own");
        // A call that is dropped lets go of it by its id; a process that dies does not.
        let unknown = munshi_types::IdGenerator::system().next::<munshi_types::ReservationId>();
        let hide = move |tx: &mut Tx<'_>| {
            let sql = "UPDATE usage_reservations SET id = $2 WHERE tenant_id = $1 AND state = 'held' AND interactions = 0";
            tx.execute(sql, params![unknown])
        };
        assert_eq!(shop.db.write(shop.tenant, hide).await.unwrap(), 1);
        shop.engine.abandon();
        assert_eq!(last(&test, &shop, &received, vec![ScriptedTurn::text("Wiped.")]).await.text, "Wiped.");
        assert_eq!(shop.number(held).await, 0);
        let counted = "SELECT CAST(COALESCE(SUM(held_interactions + held_jobs + held_tokens + held_money), 0) AS BIGINT)
                       FROM usage_counters WHERE tenant_id = $1";
        assert_eq!(shop.number(counted).await, 0);
    }
}
