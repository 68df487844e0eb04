//! What a person has agreed to and a limit stands in the way of: it waits, is done once when the limit allows, and the
//! person hears of either once.

use std::time::Duration;

use munshi_agent::{MessageReceipt, RunOutcome};
use munshi_conversations::{RunRecoveryScope, RunState, runs};
use munshi_safety::policy;
use munshi_store::{JsonText, Tx, params};
use munshi_test_app::notes::OPEN_POLICY;
use munshi_test_support::TestDb;
use munshi_test_support::models::ScriptedTurn;
use munshi_types::Clock;

use crate::turns::support::{Shop, arguments};

const SAID: &str = "SELECT COUNT(*) FROM messages WHERE tenant_id = $1 AND speaker = 'persona'";
const A_MINUTE: Duration = Duration::from_secs(61);

pub(crate) async fn set_policy(test: &TestDb, shop: &Shop, more: &str) {
    let (text, now) = (format!("{OPEN_POLICY}{more}"), test.clock.now());
    let put = move |tx: &mut Tx<'_>| policy::apply(tx, &policy::parse(&text).unwrap(), "test", "", now);
    shop.db.write(shop.tenant, put).await.unwrap();
}

/// Somebody has said yes, and there is no more than one write a minute, which the question itself has taken.
async fn agreed(
    test: &TestDb,
    script: impl IntoIterator<Item = ScriptedTurn>,
) -> (Shop, MessageReceipt, RunOutcome) {
    let shop =
        Shop::open(test, [ScriptedTurn::call("drop", &arguments("old"))].into_iter().chain(script)).await;
    set_policy(test, &shop, "[rates]\nwrites_per_minute = 1\n").await;
    assert_eq!(shop.ask("1", "remove the old one").await.state, RunState::WaitingApproval);
    let yes = shop.say("2", "yes").await;
    let waiting = shop.outcome(&yes).await;
    (shop, yes, waiting)
}

async fn sweep(shop: &Shop) -> usize {
    shop.engine.sweep(RunRecoveryScope::Lapsed).await.unwrap()
}

on_both! {
    async fn it_is_done_once_when_the_limit_allows(test: TestDb) {
        let (shop, yes, waiting) = agreed(&test, [ScriptedTurn::text("Gone.")]).await;
        assert_eq!((waiting.state, waiting.approval), (RunState::WaitingApproval, None), "{waiting:?}");
        assert!(waiting.text.contains("old") && waiting.text.contains("limit"), "{}", waiting.text);
        // It is nine, and a minute later at the earliest.
        assert!(waiting.text.ends_with("I will do it by myself after 15 November 2026, 9:01 am."), "{}", waiting.text);
        let english = munshi_lang::Locale::all().next().unwrap();
        for name in ["say-yes", "say-no"] {
            let answer = shop.book.render(name, english, &[]).unwrap();
            assert!(!waiting.suggestions.contains(&answer), "nothing is asked: {:?}", waiting.suggestions);
        }
        assert_eq!((sweep(&shop).await, shop.notes().await), (0, 0), "not before its time");
        test.clock.advance(A_MINUTE);
        assert_eq!(sweep(&shop).await, 1);
        let done = shop.outcome(&yes).await;
        assert_eq!((done.text.as_str(), done.state, shop.notes().await), ("Gone.", RunState::Done, 1));
        test.clock.advance(A_MINUTE);
        assert_eq!((sweep(&shop).await, shop.notes().await), (0, 1));
        assert_eq!(shop.number(SAID).await, 3, "the question, that it waits, that it is done");
    }

    async fn a_try_that_fails_the_same_way_says_nothing(test: TestDb) {
        let script = [ScriptedTurn::call("note", &arguments("milk")), ScriptedTurn::text("Noted."), ScriptedTurn::text("Gone.")];
        let (shop, yes, _) = agreed(&test, script).await;
        test.clock.advance(A_MINUTE);
        assert_eq!(shop.ask("3", "note milk").await.text, "Noted.", "somebody else was quicker");
        let said = shop.number(SAID).await;
        assert_eq!(sweep(&shop).await, 1);
        let still = shop.outcome(&yes).await;
        assert_eq!((still.state, shop.number(SAID).await), (RunState::WaitingApproval, said), "{still:?}");
        assert_eq!(crate::turns::support::text_of(&shop.events(&yes, None).await), still.text, "what was said stands");
        assert_eq!(sweep(&shop).await, 0);
        test.clock.advance(A_MINUTE);
        assert_eq!(sweep(&shop).await, 1);
        assert_eq!(shop.outcome(&yes).await.text, "Gone.");
        assert_eq!((shop.notes().await, shop.number(SAID).await), (2, said + 1));
    }

    async fn a_crash_in_between_loses_nothing_and_tells_it_once(test: TestDb) {
        let (shop, yes, _) = agreed(&test, []).await;
        shop.engine.abandon();
        // As it stands where the process died behind the try and before the person was told.
        let now = test.clock.now();
        let unit = move |tx: &mut Tx<'_>| -> munshi_store::Result<u64> {
            let mut run = runs::find(tx, yes.run)?.unwrap();
            assert_eq!(std::mem::take(&mut run.snapshot.told_delayed).len(), 1);
            tx.execute(
                "UPDATE runs SET state = 'checking_safety', lease_until = $3, snapshot = $4 WHERE tenant_id = $1 AND id = $2",
                params![run.id, now, JsonText::of(&run.snapshot)?],
            )
        };
        shop.db.write(shop.tenant, unit).await.unwrap();
        let other = shop.again(&test, [ScriptedTurn::text("Gone.")]).await;
        let said = shop.number(SAID).await;
        assert_eq!(sweep(&other).await, 1);
        let told = other.outcome(&yes).await;
        assert!(told.text.contains("limit") && told.state == RunState::WaitingApproval, "{told:?}");
        assert_eq!(shop.number(SAID).await, said + 1);
        test.clock.advance(A_MINUTE);
        assert_eq!(sweep(&other).await, 1);
        assert_eq!((other.outcome(&yes).await.text.as_str(), shop.notes().await), ("Gone.", 1));
        assert_eq!(shop.number(SAID).await, said + 2);
    }

    async fn what_is_refused_for_good_meanwhile_ends(test: TestDb) {
        let (shop, yes, _) = agreed(&test, [ScriptedTurn::text("It may not be done any more.")]).await;
        set_policy(&test, &shop, "[roles.staff]\ndeny = [\"shop.drop\"]\n").await;
        test.clock.advance(A_MINUTE);
        assert_eq!(sweep(&shop).await, 1);
        let ended = shop.outcome(&yes).await;
        assert_eq!((ended.text.as_str(), ended.state), ("It may not be done any more.", RunState::Done), "{ended:?}");
        test.clock.advance(A_MINUTE);
        assert_eq!((sweep(&shop).await, shop.notes().await), (0, 0));
    }

    async fn a_yes_that_runs_out_of_time_is_told(test: TestDb) {
        let (shop, yes, _) = agreed(&test, []).await;
        set_policy(&test, &shop, "[rates]\nwrites_per_minute = 0\n").await;
        for _ in 0..25 {
            test.clock.advance(Duration::from_secs(16 * 60));
            assert_eq!(sweep(&shop).await, 1, "a limit may be raised at any time");
            assert_eq!(shop.outcome(&yes).await.state, RunState::WaitingApproval);
        }
        assert_eq!(shop.number(SAID).await, 2);
        test.clock.advance(Duration::from_secs(24 * 3600));
        assert_eq!(sweep(&shop).await, 0, "it is for the sweep of questions to end it");
        assert_eq!(shop.engine.sweep_acts().await.unwrap().expired, 1);
        let ended = shop.outcome(&yes).await;
        assert!(ended.text.starts_with("This was approved, but it could not be done in time"), "{}", ended.text);
        assert!(ended.text.contains("old") && ended.state == RunState::Done, "{ended:?}");
        assert_eq!((shop.number(SAID).await, shop.notes().await, shop.model.requests().len()), (3, 0, 1));
    }

    async fn who_is_granted_elsewhere_waits_too_and_can_be_stopped(test: TestDb) {
        let shop = Shop::open(&test, [ScriptedTurn::call("drop", &arguments("old"))]).await;
        set_policy(&test, &shop, "[rates]\nwrites_per_minute = 1\n").await;
        let asked = shop.say("1", "remove the old one").await;
        let id = shop.outcome(&asked).await.approval.unwrap();
        crate::turns::approvals::answer(&test, &shop, shop.owner, id, munshi_safety::approvals::ApprovalDecision::Yes).await;
        shop.engine.resume(asked.tenant, asked.run).await.unwrap();
        let waiting = shop.outcome(&asked).await;
        assert!(waiting.text.contains("limit") && waiting.state == RunState::WaitingApproval, "{waiting:?}");
        shop.engine.cancel(asked.tenant, asked.run).await.unwrap();
        let stopped = shop.outcome(&asked).await;
        assert_eq!(stopped.halt, Some(munshi_conversations::HaltReason::Cancelled), "{stopped:?}");
        test.clock.advance(A_MINUTE);
        assert_eq!((sweep(&shop).await, shop.notes().await), (0, 0));
    }
}
