//! Looking back, and going back.

use munshi_test_support::on_both_engines;
use munshi_tiers::merge::AgentValueOrigin;
use munshi_tiers::{Error, VanishedTierPolicy, history};
use munshi_types::tier::{TierKind, TierName};

use crate::tiers::support::{Shop, installed, perform};

fn name(text: &str) -> TierName {
    text.parse().unwrap()
}

on_both_engines! {
    with [munshi_store::MIGRATIONS, munshi_tiers::MIGRATIONS];

    async fn a_rollback_is_a_new_version_with_the_old_words(test: TestDb) {
        let (shop, tenant) = (Shop::new("sharma"), "sharma".parse().unwrap());
        shop.apply(&test).await.unwrap();
        shop.edit("humans/meera.md", "warm", "cold");
        shop.apply(&test).await.unwrap();
        let (plan, to) = history::plan_rollback(&test.db, &tenant, TierKind::Human, &name("meera"), None, &installed()).await.unwrap();
        assert_eq!(to, 1);
        assert_eq!(plan.to_string().lines().nth(1), Some("    voice.tone: \"cold, brisk, a little teasing\" is now \"warm, brisk, a little teasing\""));
        perform(&test, &test.db, vec![plan]).await.unwrap();
        let log = history::load(&test.db, &tenant, TierKind::Human, &name("meera")).await.unwrap();
        let versions: Vec<(u32, bool, usize)> =
            log.versions.iter().map(|entry| (entry.version.version, entry.version.is_current, entry.changes.len())).collect();
        assert_eq!(&versions[..2], [(3, true, 1), (2, false, 1)]);
        assert_eq!(log.versions[0].version.body, log.versions[2].version.body);
        let old = history::show(&test.db, &tenant, TierKind::Human, &name("meera"), Some(2)).await.unwrap();
        assert_eq!(old.values["voice"]["tone"], "cold, brisk, a little teasing");
    }

    async fn a_rollback_that_would_break_something_is_refused(test: TestDb) {
        let (shop, tenant) = (Shop::new("sharma"), "sharma".parse().unwrap());
        shop.apply(&test).await.unwrap();
        shop.edit("bindings/counter.toml", "\"host:sharma.example\", ", "");
        shop.apply(&test).await.unwrap();
        let other = Shop::new("other");
        other.edit("bindings/counter.toml", "\"number:+91 98123 45678\", ", "");
        other.edit("bindings/counter.toml", ", \"model:sharma-counter\"", "");
        other.apply(&test).await.unwrap();
        let refused = history::plan_rollback(&test.db, &tenant, TierKind::Binding, &name("counter"), None, &installed()).await;
        let told = refused.unwrap_err().to_string();
        assert!(told.contains("host:sharma.example already routes to another tenant"), "{told}");
    }

    async fn an_agent_is_shown_with_where_each_value_came_from(test: TestDb) {
        let (shop, tenant) = (Shop::new("sharma"), "sharma".parse().unwrap());
        shop.apply(&test).await.unwrap();
        let shown = history::show(&test.db, &tenant, TierKind::Agent, &name("counter"), None).await.unwrap();
        assert_eq!(shown.values["tools"], serde_json::json!(["search_items", "note_sale"]));
        assert_eq!(shown.origins["tools"], AgentValueOrigin::Agent(name("standard")));
        assert_eq!(shown.origins["limits.tokens.dynamic"], AgentValueOrigin::Agent(name("counter")));
        assert_eq!(shown.origins["guardrails.no-secrets"], AgentValueOrigin::Agent(name("standard")));
        assert_eq!(shown.origins["limits.turn_seconds"], AgentValueOrigin::Default);
    }

    async fn what_is_not_there_is_said_by_name(test: TestDb) {
        let (shop, tenant) = (Shop::new("sharma"), "sharma".parse().unwrap());
        shop.apply(&test).await.unwrap();
        let human = TierKind::Human;
        let missing = history::load(&test.db, &tenant, human, &name("nobody")).await.unwrap_err();
        assert_eq!(missing.to_string(), "sharma has no human called nobody");
        let missing = history::show(&test.db, &tenant, human, &name("meera"), Some(9)).await.unwrap_err();
        assert_eq!(missing.to_string(), "human meera has no version 9: it has 1 to 1");
        let missing = history::load(&test.db, &"nowhere".parse().unwrap(), human, &name("meera")).await.unwrap_err();
        assert!(matches!(missing, Error::NoTenant(_)), "{missing}");
        let first = history::plan_rollback(&test.db, &tenant, human, &name("meera"), None, &installed()).await;
        assert!(matches!(first, Err(Error::FirstVersion { .. })));
    }

    async fn going_back_twice_goes_back_twice(test: TestDb) {
        let (shop, tenant) = (Shop::new("sharma"), "sharma".parse().unwrap());
        shop.apply(&test).await.unwrap();
        shop.edit("humans/meera.md", "warm, brisk", "cold, brisk");
        shop.apply(&test).await.unwrap();
        shop.edit("humans/meera.md", "cold, brisk", "dry, brisk");
        shop.apply(&test).await.unwrap();
        for wanted in [2, 1] {
            let (plan, to) = history::plan_rollback(&test.db, &tenant, TierKind::Human, &name("meera"), None, &installed()).await.unwrap();
            assert_eq!(to, wanted);
            perform(&test, &test.db, vec![plan]).await.unwrap();
        }
        let shown = history::show(&test.db, &tenant, TierKind::Human, &name("meera"), None).await.unwrap();
        assert_eq!(shown.values["voice"]["tone"], "warm, brisk, a little teasing");
        let first = history::plan_rollback(&test.db, &tenant, TierKind::Human, &name("meera"), None, &installed()).await;
        let told = first.unwrap_err().to_string();
        assert_eq!(told, "human meera is at version 1; there is no earlier version to roll back to");
        let log = history::load(&test.db, &tenant, TierKind::Human, &name("meera")).await.unwrap();
        let events: Vec<_> = log.events.iter().map(|event| (event.version, event.back_to)).collect();
        assert_eq!(events, [(5, Some(1)), (4, Some(2))]);
    }

    async fn archiving_and_restoring_stand_in_the_history(test: TestDb) {
        let (shop, tenant) = (Shop::new("sharma"), "sharma".parse().unwrap());
        let ravi = "+++\nname = \"Ravi\"\nidentity = \"You.\"\n+++\n";
        shop.write("humans/ravi.md", ravi);
        shop.apply(&test).await.unwrap();
        shop.remove("humans/ravi.md");
        shop.apply_with(&test, VanishedTierPolicy::Archive).await.unwrap();
        shop.write("humans/ravi.md", ravi);
        shop.apply(&test).await.unwrap();
        let log = history::load(&test.db, &tenant, TierKind::Human, &name("ravi")).await.unwrap();
        assert_eq!(log.versions.len(), 1, "no version is made of what says the same");
        let told: Vec<_> = log.events.iter().map(|event| (event.to_string(), event.author.as_str(), event.note.as_str())).collect();
        let line = |text: &str| (text.to_owned(), "asha", "a note");
        assert_eq!(told, [line("restored as version 1"), line("archived at version 1")]);
        assert!(log.events[0].made_at > munshi_types::Timestamp::EPOCH);
    }
}
