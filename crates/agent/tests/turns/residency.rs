//! Whom a tenant lets see its data: nobody else is asked, whatever a model is wanted for.

use munshi_conversations::retention::SummaryInput;
use munshi_conversations::{HaltReason, messages};
use munshi_llm::gateway::Capability;
use munshi_llm::{ModelError, ModelTarget, WireFormat};
use munshi_safety::policy;
use munshi_store::tenants::TENANTS;
use munshi_test_app::notes::OPEN_POLICY;
use munshi_test_support::TestDb;
use munshi_test_support::models::ScriptedTurn;
use munshi_tiers::tenant_models;
use munshi_types::Clock;

use crate::turns::support::{Plan, Shop};

fn target(name: &str, provider: &str, residency: &str) -> ModelTarget {
    ModelTarget {
        price_provider: provider.to_owned(),
        residency: residency.to_owned(),
        ..ModelTarget::new(name, WireFormat::OpenAi, "", "m")
    }
}

/// Forbidden ones stand before and between those that may be asked.
fn several() -> Plan {
    let targets = vec![
        target("first", "stranger", "us"),
        target("near", "friend", "in"),
        target("second", "stranger", "us"),
        target("own", "", "in"),
    ];
    let agent = Plan::default().agent.replace("[limits]", "[models]\nstrategy = \"classifier\"\n[limits]");
    Plan { targets, agent, ..Plan::default() }
}

async fn permit(test: &TestDb, shop: &Shop, residency: &str) {
    let (text, now) = (format!("{OPEN_POLICY}[residency]\n{residency}\n"), test.clock.now());
    let put = move |tx: &mut munshi_store::Tx<'_>| {
        policy::apply(tx, &policy::parse(&text).unwrap(), "test", "", now)
    };
    shop.db.write(shop.tenant, put).await.unwrap();
}

fn asked(shop: &Shop) -> Vec<String> {
    shop.model.requests().into_iter().map(|asked| asked.target).collect()
}

/// What the small model says of a message.
fn plain() -> ScriptedTurn {
    ScriptedTurn::text("{\"class\":\"default\"}")
}

on_both! {
    async fn turns_failovers_and_summaries_stay_with_whom_the_tenant_permits(test: TestDb) {
        let script = [
            plain(), ScriptedTurn::text("Hello."),
            plain(), ScriptedTurn::fault(ModelError::Unauthorised), ScriptedTurn::text("Hello again."),
            ScriptedTurn::text("They greeted."),
        ];
        let shop = Shop::open_with(&test, script, several()).await;
        permit(&test, &shop, "providers = [\"friend\", \"own\"]").await;
        let received = shop.say("1", "good morning to you").await;
        assert_eq!(shop.outcome(&received).await.text, "Hello.");
        assert_eq!(shop.ask("2", "and once more").await.text, "Hello again.");
        assert_eq!(asked(&shop), ["near", "near", "near", "near", "own"], "sorted and answered, and then by another");
        let (session, binding) = (received.session, shop.binding().await);
        let read = move |tx: &mut munshi_store::Tx<'_>| messages::list_by_run(tx, received.run);
        let messages = shop.db.read(shop.tenant, read).await.unwrap();
        let material = SummaryInput { binding, session, language: None, before: None, messages };
        let written = shop.engine.summariser().unwrap().summarise(shop.tenant, &material).await;
        assert_eq!(written.as_deref(), Some("They greeted."));
        let last = asked(&shop).pop().unwrap();
        assert!(["near", "own"].contains(&last.as_str()), "{last}");
    }

    async fn a_place_narrows_as_a_name_does_and_the_strictest_wins(test: TestDb) {
        let shop = Shop::open_with(&test, [plain(), ScriptedTurn::text("Hello.")], several()).await;
        permit(&test, &shop, "providers = [\"stranger\", \"own\"]\nplaces = [\"in\"]").await;
        assert_eq!(shop.ask("1", "good morning").await.text, "Hello.");
        assert_eq!(asked(&shop), ["own", "own"]);
    }

    async fn where_nobody_is_left_nobody_is_asked_and_that_is_said_kindly(test: TestDb) {
        let shop = Shop::open_with(&test, [ScriptedTurn::text("Never heard.")], several()).await;
        permit(&test, &shop, "providers = []").await;
        let outcome = shop.ask("1", "good morning").await;
        assert_eq!(asked(&shop), [] as [String; 0]);
        assert!(matches!(outcome.halt, Some(HaltReason::NoModel(_))), "{outcome:?}");
        assert!(outcome.degraded && !outcome.text.is_empty(), "{outcome:?}");
    }

    async fn the_tenants_own_models_answer_and_take_over_from_each_other(test: TestDb) {
        let script = [
            ScriptedTurn::fault(ModelError::Unauthorised), ScriptedTurn::text("Hello."),
        ];
        let plan = Plan { agent: Plan::default().agent, ..several() };
        let shop = Shop::open_with(&test, script, plan).await;
        let (tenant, now) = (shop.tenant, test.clock.now());
        let choose = move |tx: &mut munshi_store::PlatformTx<'_>| -> munshi_tiers::Result<()> {
            munshi_tiers::mark_tenant_changed(tx, tenant)?;
            let names = ["own", "near"].map(str::to_owned);
            tx.as_tenant(tenant, |tx| tenant_models::set(tx, Capability::Default, &names, now))
        };
        shop.db.platform(TENANTS).write(choose).await.unwrap();
        assert_eq!(shop.ask("1", "good morning").await.text, "Hello.");
        assert_eq!(asked(&shop), ["own", "near"]);
    }
}
