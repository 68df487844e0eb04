//! Slices on old versions, rules that share an id, budgets without room, and several tenants in one plan.

use munshi_test_support::{TestDb, on_both_engines};
use munshi_tiers::{ApplyPlan, Result, VanishedTierPolicy, files};
use munshi_types::tier::RoutingKeyKind;

use crate::tiers::support::{Shop, installed, key, perform, problems};

fn add(shop: &Shop, path: &str, text: &str) {
    let there = std::fs::read_to_string(shop.path().join(path)).unwrap();
    shop.write(path, format!("{there}{text}"));
}

const RULE: &str = "\n[[rules]]\nid = \"no-rivals\"\nseverity = \"block\"\nprompt = \"Name no other shop.\"\nregex = '(?i)mega mart'\n";

/// Both as one plan.
async fn plan_all(test: &TestDb, shops: [&Shop; 2]) -> Result<Vec<ApplyPlan>> {
    let folders: Vec<_> =
        shops.iter().map(|shop| files::read(&shop.path(), None).unwrap().remove(0)).collect();
    munshi_tiers::plan_folders(&test.db, &folders, VanishedTierPolicy::Keep, &installed()).await
}

/// The example with these addresses alone.
fn shop(name: &str, keys: &str) -> Shop {
    let shop = Shop::new(name);
    let text = std::fs::read_to_string(shop.path().join("bindings/counter.toml")).unwrap();
    let line = text.lines().find(|line| line.starts_with("keys")).unwrap().to_owned();
    shop.edit("bindings/counter.toml", &line, &format!("keys = [{keys}]"));
    shop
}

on_both_engines! {
    with [munshi_store::MIGRATIONS, munshi_tiers::MIGRATIONS];

    async fn an_old_version_is_held_to_what_a_new_one_is(test: TestDb) {
        let shop = Shop::new("sharma");
        // What was large enough once is not any more.
        let words = "counting rice by the cup ".repeat(250);
        shop.edit("humans/meera.md", "So I count out loud now.", &words);
        shop.edit("agents/counter.toml", "dynamic = 3000", "human = 2000");
        shop.edit("teams/counter.md", "members = [\"meera\"]", "members = [\"meera\", \"ravi\"]");
        shop.write("humans/ravi.md", "+++\nname = \"Ravi\"\nidentity = \"You.\"\n+++\n");
        shop.apply(&test).await.unwrap();
        shop.edit("humans/meera.md", &words, "So I count out loud now.");
        shop.edit("teams/counter.md", "members = [\"meera\", \"ravi\"]", "members = [\"ravi\", \"meera\"]");
        shop.edit("agents/counter.toml", "human = 2000", "dynamic = 3000");
        shop.apply(&test).await.unwrap();
        add(&shop, "bindings/counter.toml", "\n[[slices]]\nname = \"old\"\nshare = 5\nhuman = \"meera@1\"\n");
        let told = problems(shop.apply(&test).await.unwrap_err());
        assert!(told.contains("slices[0].human: human meera@1 has 15") && told.contains("over the limit of 800"), "{told}");
        // The slice that was written before the folder knew of it is held to it as well.
        shop.edit("bindings/counter.toml", "meera@1", "meera@2");
        shop.apply(&test).await.unwrap();
        shop.write("humans/asha.md", "+++\nname = \"Asha\"\nidentity = \"You.\"\n+++\n");
        shop.edit("teams/counter.md", "members = [\"ravi\", \"meera\"]", "members = [\"ravi\", \"meera\", \"asha\"]");
        shop.edit("bindings/counter.toml", "human = \"meera@2\"", "human = \"asha\"\nteam = \"counter@1\"");
        let told = problems(shop.apply(&test).await.unwrap_err());
        assert!(told.contains("slices[0].human: human asha was not a member of team counter at version 1"), "{told}");
    }

    async fn a_rule_has_an_id_of_its_own(test: TestDb) {
        let shop = Shop::new("sharma");
        add(&shop, "agents/standard.toml", &format!("{RULE}{RULE}{}", RULE.replace("no-rivals", "no-discount")));
        let told = problems(shop.apply(&test).await.unwrap_err());
        assert!(told.contains("standard.toml:18:1: rules[1]: duplicate rule id `no-rivals`"), "{told}");
        assert!(told.contains("rules[2]: `no-discount` is a shipped rule"), "{told}");
        let shop = Shop::new("sharma");
        add(&shop, "agents/standard.toml", RULE);
        shop.edit("teams/counter.md", "[escalation]", &format!("{RULE}\n[escalation]"));
        let told = problems(shop.apply(&test).await.unwrap_err());
        assert!(told.contains("counter.toml:") && told.contains("agent: team counter and agent counter both have a rule `no-rivals`"), "{told}");
        shop.edit("teams/counter.md", "no-rivals", "no-other-shops");
        shop.apply(&test).await.unwrap();
    }

    async fn people_of_a_slice_who_wait_are_told_of(test: TestDb) {
        let shop = Shop::new("sharma");
        shop.edit("teams/counter.md", "members = [\"meera\"]\n", "");
        shop.write("teams/careful.md", "+++\nname = \"Careful\"\nrole = \"You listen.\"\nguardrails = [\"fallback-plan\", \"red-flag\"]\n+++\n\nListen.\n");
        let before = shop.apply(&test).await.unwrap();
        assert!(!before.warnings.iter().any(|warning| warning.contains("checks the whole reply")), "{before}");
        add(&shop, "bindings/counter.toml", "\n[[slices]]\nname = \"slow\"\nshare = 5\nteam = \"careful\"\n");
        let plan = shop.apply(&test).await.unwrap();
        let told = plan.warnings.join("\n");
        assert!(told.contains("binding counter, slice slow: a rule checks the whole reply"), "{told}");
    }

    async fn budgets_that_leave_no_room_are_refused(test: TestDb) {
        let shop = Shop::new("sharma");
        shop.edit("agents/counter.toml", "dynamic = 3000", "dynamic = 0");
        let told = problems(shop.apply(&test).await.unwrap_err());
        assert!(told.contains("agent: agent counter leaves no room for a message"), "{told}");
        // The room for an answer comes on top of what the runtime profile gives to the prompt.
        shop.edit("agents/counter.toml", "dynamic = 0", "output = 8000");
        shop.apply(&test).await.unwrap();
        shop.edit("agents/counter.toml", "[limits.tokens]\noutput = 8000", "[limits]\nprofile = \"compact\"\n\n[limits.tokens]\nsystem = 3000\noutput = 3900");
        let told = problems(shop.apply(&test).await.unwrap_err());
        assert!(told.contains("leaves no room for a message"), "{told}");
    }

    async fn two_new_tenants_can_not_have_one_address(test: TestDb) {
        let (one, two) = (shop("one", "\"handle:bazaar\""), shop("two", "\"handle:bazaar\""));
        let told = problems(plan_all(&test, [&one, &two]).await.unwrap_err());
        assert!(told.contains("two/bindings/counter.toml:") && told.contains("keys[0]: tenant one also claims handle:bazaar"), "{told}");
    }

    /// Where one tenant alone has a binding of a name, its page is found by that name.
    async fn a_handle_does_not_take_another_tenants_page(test: TestDb) {
        let (one, two) = (shop("one", "\"handle:bazaar\""), shop("two", "\"handle:counter\""));
        one.apply(&test).await.unwrap();
        let told = problems(two.apply(&test).await.unwrap_err());
        assert!(told.contains("keys[0]: handle:counter is the name of another tenant's binding and would take its page /c/counter"), "{told}");
        // One's own may be called so, and a handle stays though another's binding gets its name later.
        one.edit("bindings/counter.toml", "handle:bazaar", "handle:counter");
        one.apply(&test).await.unwrap();
        two.edit("bindings/counter.toml", "handle:counter", "handle:mandi");
        two.apply(&test).await.unwrap();
        one.edit("bindings/counter.toml", "handle:counter", "handle:counter\", \"handle:bazaar");
        one.apply(&test).await.unwrap();
    }

    async fn an_address_moves_from_one_tenant_to_another_in_one_plan(test: TestDb) {
        let (one, two) = (shop("one", "\"handle:bazaar\""), shop("two", "\"handle:mandi\""));
        for order in [[&one, &two], [&two, &one]] {
            let plans = plan_all(&test, order).await.unwrap();
            perform(&test, &test.db, plans).await.unwrap();
        }
        one.edit("bindings/counter.toml", "handle:bazaar", "handle:mandi");
        two.edit("bindings/counter.toml", "handle:mandi", "handle:bazaar");
        let alone = problems(one.plan(&test.db, VanishedTierPolicy::Keep).await.unwrap_err());
        assert!(alone.contains("handle:mandi already routes to another tenant"), "{alone}");
        let plans = plan_all(&test, [&one, &two]).await.unwrap();
        perform(&test, &test.db, plans).await.unwrap();
        let resolver = munshi_tiers::BindingResolver::new(test.db.clone());
        let munshi_tiers::AddressResolution::Bound(found) = resolver.resolve(&key(RoutingKeyKind::Handle, "mandi"), None).await.unwrap() else {
            panic!("the address leads nowhere")
        };
        assert_eq!(found.tenant_name.as_str(), "one");
    }
}
