//! Where a turn meets a limit: nothing found, money that was not set aside, a tenant that rests, models of other plans.

use std::time::Duration;

use munshi_agent::TurnSettings;
use munshi_conversations::RunState;
use munshi_identity::persons;
use munshi_llm::pricing::PriceBook;
use munshi_llm::{ModelTarget, WireFormat};
use munshi_safety::approvals::{
    self, ApprovalAnswer, ApprovalAnswerOutcome, ApprovalCoverage, ApprovalDecision,
};
use munshi_safety::budget::{BudgetSettings as Budgets, ModelClass, ModelClasses, UsagePlan as Bought};
use munshi_store::tenants::{self, TENANTS};
use munshi_test_support::models::{ScriptGate, ScriptedTurn};
use munshi_test_support::{TestDb, administer_platform, wait_until};
use munshi_types::{Clock, TenantStatus};

use crate::turns::support::{Plan, Shop, arguments};

async fn grant(test: &TestDb, shop: &Shop, outcome: &munshi_agent::RunOutcome) {
    assert_eq!(outcome.state, RunState::WaitingApproval, "{outcome:?}");
    let (office, now, owner, id) =
        (shop.act_services.clone(), test.clock.now(), shop.owner, outcome.approval.unwrap());
    let unit = move |tx: &mut munshi_store::Tx<'_>| -> Result<ApprovalAnswerOutcome, munshi_safety::Error> {
        let who = persons::find(tx, owner)?.unwrap().principal(tx);
        let said = ApprovalAnswer {
            who: &who,
            answer: ApprovalDecision::Yes,
            shown: None,
            covers: ApprovalCoverage::Act,
            via: "api",
            key: None,
            source: munshi_safety::approvals::AnswerSource::Page,
        };
        approvals::answer(tx, &office, id, &said, now)
    };
    assert!(matches!(shop.db.write(shop.tenant, unit).await.unwrap(), ApprovalAnswerOutcome::Granted(_)));
}

pub(super) async fn set_status(shop: &Shop, status: TenantStatus) {
    let tenant = shop.tenant;
    let change = move |tx: &mut munshi_store::PlatformTx<'_>| -> munshi_tiers::Result<()> {
        administer_platform(tx, |tx| tenants::set_status(tx, tenant, status))?;
        munshi_tiers::mark_tenant_changed(tx, tenant)
    };
    shop.db.platform(TENANTS).write(change).await.unwrap();
}

async fn settled(shop: &Shop, received: &munshi_agent::MessageReceipt) -> munshi_agent::RunOutcome {
    wait_until(async || shop.outcome(received).await.state != RunState::WaitingApproval).await;
    shop.outcome(received).await
}

const TOKENS: &str = "SELECT COALESCE(MAX(used_tokens), 0) FROM usage_counters WHERE tenant_id = $1 AND slot = 'people 0 2026-11'";

on_both! {
    async fn a_search_comes_before_giving_up(test: TestDb) {
        let script = [
            ScriptedTurn::call("balance", &arguments("Guptaji")), ScriptedTurn::text("He owes 450 rupees."),
            ScriptedTurn::call("balance", &arguments("Nobody")), ScriptedTurn::text("There is no such customer."),
        ];
        let shop = Shop::open(&test, script).await;
        let found = shop.ask("1", "how much does Guptaji owe").await;
        assert_eq!(found.text, "He owes 450 rupees.");
        let calls: Vec<(&str, bool)> = found.calls.iter().map(|call| (call.tool.as_str(), call.ok)).collect();
        assert_eq!(calls, [("balance", false), ("find", true), ("balance", true)]);
        assert_eq!(found.calls[2].arguments, arguments("Ramesh Gupta"), "asked again under the name that was found");
        let none = shop.ask("2", "how much does Nobody owe").await;
        assert_eq!((none.text.as_str(), none.state), ("There is no such customer.", RunState::Done));
        let calls: Vec<&str> = none.calls.iter().map(|call| call.tool.as_str()).collect();
        assert_eq!(calls, ["balance", "find"], "and not in circles");
    }

    async fn what_was_not_set_aside_is_booked_call_by_call(test: TestDb) {
        let shop = Shop::open(&test, [ScriptedTurn::call("wipe", &arguments("all")), ScriptedTurn::text("It is wiped.")]).await;
        let received = shop.say("1", "wipe all of it").await;
        let waiting = shop.outcome(&received).await;
        let before = shop.number(TOKENS).await;
        assert!(before > 0, "the pause settles what was used until then");
        grant(&test, &shop, &waiting).await;
        shop.engine.resume(received.tenant, received.run).await.unwrap();
        assert_eq!(settled(&shop, &received).await.text, "It is wiped.");
        assert_eq!(shop.number(TOKENS).await, before * 2, "the second call is paid for, once");
        let held = "SELECT COUNT(*) FROM usage_reservations WHERE tenant_id = $1";
        assert_eq!(shop.number(held).await, 0);
    }

    async fn a_tenant_that_rests_is_waited_for(test: TestDb) {
        let settings = TurnSettings { renew: Duration::from_millis(100), ..TurnSettings::default() };
        let script = [ScriptedTurn::call("wipe", &arguments("all")), ScriptedTurn::text("It is wiped.")];
        let shop = Shop::open_with(&test, script, Plan { settings, ..Plan::default() }).await;
        let received = shop.say("1", "wipe all of it").await;
        let waiting = shop.outcome(&received).await;
        grant(&test, &shop, &waiting).await;
        set_status(&shop, TenantStatus::Paused).await;
        shop.engine.resume(received.tenant, received.run).await.unwrap();
        tokio::time::sleep(Duration::from_millis(400)).await;
        assert_eq!((shop.world.effects().len(), shop.model.requests().len()), (0, 1), "nothing is done meanwhile");
        set_status(&shop, TenantStatus::Active).await;
        assert_eq!(settled(&shop, &received).await.text, "It is wiped.");
        assert_eq!(shop.world.effects().len(), 1);
    }

    async fn what_waits_for_a_tenant_that_rests_can_be_stopped(test: TestDb) {
        let settings = TurnSettings { renew: Duration::from_millis(100), ..TurnSettings::default() };
        let script = [ScriptedTurn::call("wipe", &arguments("all")), ScriptedTurn::text("It is wiped.")];
        let shop = Shop::open_with(&test, script, Plan { settings, ..Plan::default() }).await;
        let received = shop.say("1", "wipe all of it").await;
        let waiting = shop.outcome(&received).await;
        grant(&test, &shop, &waiting).await;
        set_status(&shop, TenantStatus::Paused).await;
        shop.engine.cancel(received.tenant, received.run).await.unwrap();
        let stopped = settled(&shop, &received).await;
        assert_eq!(stopped.halt, Some(munshi_conversations::HaltReason::Cancelled), "{stopped:?}");
        assert_eq!(shop.world.effects().len(), 0);
    }

    async fn what_is_queued_rests_with_its_tenant(test: TestDb) {
        let settings = TurnSettings { renew: Duration::from_millis(100), ..TurnSettings::default() };
        let gate = ScriptGate::default();
        let script = [ScriptedTurn::text("First.").with_gate(&gate), ScriptedTurn::text("Second.")];
        let shop = Shop::open_with(&test, script, Plan { settings, ..Plan::default() }).await;
        let first = shop.say("1", "the first thing").await;
        let second = shop.say("2", "the second thing").await;
        wait_until(async || shop.model.requests().len() == 1).await;
        set_status(&shop, TenantStatus::Paused).await;
        gate.open();
        assert_eq!(shop.outcome(&first).await.text, "First.", "what is under way is finished");
        tokio::time::sleep(Duration::from_millis(300)).await;
        assert_eq!(shop.model.requests().len(), 1, "nothing more is begun");
        set_status(&shop, TenantStatus::Active).await;
        assert_eq!(shop.outcome(&second).await.text, "Second.");
    }

    async fn a_plan_has_its_own_models(test: TestDb) {
        let targets = vec![ModelTarget::new("dear", WireFormat::OpenAi, "", "m"), ModelTarget::new("plain", WireFormat::OpenAi, "", "m")];
        let given = [("dear".to_owned(), ModelClass::Large), ("plain".to_owned(), ModelClass::Small)].into();
        let classes = ModelClasses::new(&targets, &PriceBook::default(), &given, test.clock.now());
        for (plan, answers) in [(Bought::Free, "plain"), (Bought::Business, "dear")] {
            let budgets = Budgets { plan, ..Budgets::default() };
            let settings = TurnSettings { classes: classes.clone(), ..TurnSettings::default() };
            let made = Plan { targets: targets.clone(), budgets, settings, ..Plan::default() };
            let shop = Shop::open_with(&test, [ScriptedTurn::text("Good morning.")], made).await;
            assert_eq!(shop.ask(answers, "good morning").await.text, "Good morning.");
            assert_eq!(shop.model.requests()[0].target, answers, "{plan:?}");
        }
    }

    async fn whether_it_happened_is_answered_in_the_chat(test: TestDb) {
        let shop = Shop::open(&test, [ScriptedTurn::call("fax", &arguments("bill")), ScriptedTurn::text("Somebody will look."), ScriptedTurn::text("Yes?")]).await;
        shop.world.hangs.store(true, std::sync::atomic::Ordering::SeqCst);
        let ask = async |id: &str, text: &str| {
            let received = shop.engine.receive(shop.message(shop.owner, id, text)).await.unwrap();
            let mut outcome = shop.outcome(&received).await;
            if outcome.state == RunState::WaitingApproval {
                grant(&test, &shop, &outcome).await;
                shop.engine.resume(received.tenant, received.run).await.unwrap();
                outcome = settled(&shop, &received).await;
            }
            outcome
        };
        let unknown = ask("1", "fax the bill").await;
        assert!(unknown.text.starts_with("Somebody will look.") && unknown.text.contains("did it happen?"), "{}", unknown.text);
        assert_eq!(ask("2", "yes").await.text, "I have noted your answer.");
        let applied = "SELECT COUNT(*) FROM acts WHERE tenant_id = $1 AND tool = 'fax' AND state = 'applied'";
        assert_eq!((shop.number(applied).await, shop.world.effects().len()), (1, 1));
        assert_eq!(ask("3", "yes").await.text, "Yes?", "it is answered once");
    }
}
