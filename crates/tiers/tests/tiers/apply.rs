//! From a folder to the database and back.

use munshi_store::tenants::{self, TENANTS};
use munshi_test_support::on_both_engines;
use munshi_tiers::import::ExistingFilePolicy;
use munshi_tiers::plan::StoredTier;
use munshi_tiers::{Error, VanishedTierPolicy, files, history};
use munshi_types::tier::{TierKind, TierStatus};
use munshi_types::{TenantStatus, Timestamp};

use crate::tiers::support::{Shop, perform, problems};

/// What is stored, to compare before with after.
async fn stored(test: &munshi_test_support::TestDb, shop: &Shop) -> Vec<munshi_tiers::plan::StoredTier> {
    history::list_tiers(&test.db, &shop.name.parse().unwrap()).await.unwrap()
}

on_both_engines! {
    with [munshi_store::MIGRATIONS, munshi_tiers::MIGRATIONS];

    async fn a_folder_becomes_a_tenant_and_then_nothing_is_left_to_do(test: TestDb) {
        let shop = Shop::new("sharma-kirana");
        let plan = shop.apply(&test).await.unwrap();
        assert!(plan.is_new && plan.warnings.is_empty(), "{plan}");
        insta::assert_snapshot!("first", plan.to_string());
        let again = shop.plan(&test.db, VanishedTierPolicy::Keep).await.unwrap();
        assert!(again.is_empty(), "{again}");
        assert_eq!(again.to_string(), "sharma-kirana: no changes\n");
        let name = shop.name.parse().unwrap();
        let tenant = test.db.platform(TENANTS).read(move |tx| tenants::find_by_name(tx, &name)).await.unwrap();
        assert_eq!(tenant.unwrap().status, TenantStatus::Active);
    }

    async fn prose_is_kept_to_the_byte(test: TestDb) {
        let shop = Shop::new("sharma");
        let prose = "\n  two spaces, a tab\there \\ \"quoted\" '''\n\n+++\n\nकर्ज़ नहीं — வணக்கம்\u{200d}🙏  \n\n";
        let front = "+++\nname = \"Meera\"\nidentity = \"You.\"\n+++\n";
        shop.write("humans/meera.md", format!("{front}\n{prose}\n"));
        shop.apply(&test).await.unwrap();
        let tiers = stored(&test, &shop).await;
        let meera = tiers.iter().find(|tier| tier.kind == TierKind::Human).unwrap();
        assert_eq!(meera.body["soul"], prose);
        assert_eq!(files::render(TierKind::Human, &meera.body), format!("{front}\n{prose}\n"));
    }

    async fn every_number_and_letter_comes_back_from_the_database(test: TestDb) {
        let shop = Shop::new("sharma");
        shop.edit("teams/counter.md", "turns = 4", "turns = 4.0");
        let rules = "\n[[rules]]\nid = \"own\"\nseverity = \"log\"\nprompt = \"\\u2028\\u007F\\\\u0000 \\\\\"\nregex = 'a\\d\"'\n\n[rules.words]\nhi = [\"बिग बाज़ार\", \"क\u{200d}\"]\nen = [\"mega mart*\"]\n";
        let text = std::fs::read_to_string(shop.path().join("agents/standard.toml")).unwrap();
        shop.write("agents/standard.toml", format!("{text}{rules}"));
        shop.apply(&test).await.unwrap();
        let again = shop.plan(&test.db, VanishedTierPolicy::Keep).await.unwrap();
        assert!(again.is_empty(), "{again}");
    }

    async fn what_is_exported_changes_nothing(test: TestDb) {
        let shop = Shop::new("sharma");
        shop.apply(&test).await.unwrap();
        let render = |tier: StoredTier| {
            (files::render_path(tier.kind, &tier.name), files::render(tier.kind, &tier.body))
        };
        let tiers: Vec<_> = stored(&test, &shop).await.into_iter().map(render).collect();
        let copy = Shop::empty("sharma");
        let written = files::export(&copy.path(), &tiers, &[], ExistingFilePolicy::Keep).unwrap();
        assert_eq!((written.written.len(), written.unchanged), (6, 0));
        let plan = copy.plan(&test.db, VanishedTierPolicy::Archive).await.unwrap();
        assert!(plan.is_empty(), "{plan}");
        let again = files::export(&copy.path(), &tiers, &[], ExistingFilePolicy::Keep).unwrap();
        assert_eq!((again.written.len(), again.unchanged), (0, 6), "the same bytes");
        copy.edit("humans/meera.md", "warm", "cold");
        let refused = files::export(&copy.path(), &tiers, &[], ExistingFilePolicy::Keep).unwrap_err();
        assert!(matches!(&refused, Error::Existing(paths) if paths.len() == 1), "{refused}");
        let replaced = files::export(&copy.path(), &tiers, &[], ExistingFilePolicy::Replace).unwrap();
        assert_eq!((replaced.written.len(), replaced.unchanged), (1, 5));
        for path in ["../humans/meera.md", "/tmp/meera.md", "humans/../meera.md", "humans/a/b.md", "notes.md", ""] {
            let files = [(path.to_owned(), String::new())];
            let refused = files::export(&copy.path(), &files, &["policy.toml"], ExistingFilePolicy::Replace);
            assert!(matches!(refused, Err(Error::Folder { .. })), "{path}");
        }
    }

    async fn a_change_is_told_in_words_and_makes_one_version(test: TestDb) {
        let shop = Shop::new("sharma");
        shop.apply(&test).await.unwrap();
        shop.edit("humans/meera.md", "forty rupees", "forty-five rupees");
        shop.edit("humans/meera.md", "warm, brisk, a little teasing", "warm");
        shop.edit("humans/meera.md", "\"haan ji\", ", "\"ji\", ");
        shop.edit("agents/counter.toml", "dynamic = 3000", "dynamic = 2500");
        let plan = shop.apply(&test).await.unwrap();
        insta::assert_snapshot!("changed", plan.to_string());
        let versions: Vec<(String, u32)> =
            stored(&test, &shop).await.into_iter().map(|tier| (tier.name.to_string(), tier.version)).collect();
        let changed: Vec<&str> =
            versions.iter().filter(|(_, version)| *version == 2).map(|(name, _)| name.as_str()).collect();
        assert_eq!(changed, ["meera", "counter"], "{versions:?}");
    }

    async fn a_bad_file_changes_nothing(test: TestDb) {
        let shop = Shop::new("sharma");
        shop.apply(&test).await.unwrap();
        let before = stored(&test, &shop).await;
        shop.edit("humans/meera.md", "warm", "cold");
        shop.edit("bindings/counter.toml", "human = \"meera\"", "human = \"mera\"");
        let told = problems(shop.apply(&test).await.unwrap_err());
        assert!(told.contains("counter.toml:1:9: human: there is no human called mera\n  hint: did you mean `meera`?"), "{told}");
        assert_eq!(stored(&test, &shop).await, before);
        let fresh = Shop::new("new-shop");
        fresh.edit("bindings/counter.toml", "agent = \"counter\"", "agent = \"nobody\"");
        fresh.apply(&test).await.unwrap_err();
        let name = "new-shop".parse().unwrap();
        let made = test.db.platform(TENANTS).read(move |tx| tenants::find_by_name(tx, &name)).await.unwrap();
        assert_eq!(made, None);
    }

    async fn who_goes_on_when_nobody_comes_is_a_team_that_handoffs_name(test: TestDb) {
        let shop = Shop::new("sharma");
        shop.edit("teams/counter.md", "to = \"the owner\"\n", "to = \"the owner\"\nunanswered = \"counter\"\n");
        let told = problems(shop.apply(&test).await.unwrap_err());
        assert!(told.contains("escalation.unanswered: team counter may not hand conversations to team counter"), "{told}");
        shop.edit("teams/counter.md", "unanswered = \"counter\"", "unanswered = \"complaints\"");
        shop.apply(&test).await.unwrap();
    }

    async fn what_is_gone_stays_until_it_is_pruned_and_comes_back(test: TestDb) {
        let shop = Shop::new("sharma");
        shop.apply(&test).await.unwrap();
        let complaints = std::fs::read_to_string(shop.path().join("teams/complaints.md")).unwrap();
        shop.remove("teams/complaints.md");
        let told = problems(shop.plan(&test.db, VanishedTierPolicy::Archive).await.unwrap_err());
        assert!(told.contains("team complaints is archived"), "still handed on to: {told}");
        shop.edit("teams/counter.md", "[[handoffs]]\nto = \"complaints\"\nwhen = \"something was bad, broken or missing\"\n", "");
        let kept = shop.apply(&test).await.unwrap();
        assert_eq!(kept.left, ["team complaints"]);
        assert!(kept.to_string().contains("team complaints is not in the folder and stays unchanged; --prune"), "{kept}");
        let pruned = shop.apply_with(&test, VanishedTierPolicy::Archive).await.unwrap();
        assert_eq!(pruned.to_string(), "- team complaints, archived at version 1\n");
        assert!(shop.plan(&test.db, VanishedTierPolicy::Archive).await.unwrap().is_empty());
        shop.write("teams/complaints.md", complaints);
        let back = shop.apply(&test).await.unwrap();
        assert!(back.to_string().starts_with("+ team complaints, restored as version 1"), "{back}");
        assert!(stored(&test, &shop).await.iter().all(|tier| tier.status == TierStatus::Active));
    }

    async fn an_address_leads_to_one_binding_of_all_tenants(test: TestDb) {
        let (one, other) = (Shop::new("one"), Shop::new("other"));
        one.apply(&test).await.unwrap();
        let told = problems(other.apply(&test).await.unwrap_err());
        assert!(told.contains("keys[0]: number:+919812345678 already routes to another tenant"), "{told}");
        assert_eq!(told.matches("already routes").count(), 3, "{told}");
        other.edit("bindings/counter.toml", "keys = [\"number:+91 98123 45678\", \"host:sharma.example\", \"model:sharma-counter\"]", "keys = [\"host:other.example\"]");
        other.apply(&test).await.unwrap();
        // Given up by one, it is free for the other.
        one.edit("bindings/counter.toml", "\"host:sharma.example\", ", "");
        one.apply(&test).await.unwrap();
        other.edit("bindings/counter.toml", "other.example", "sharma.example");
        other.apply(&test).await.unwrap();
    }

    async fn two_tenants_in_a_folder_are_one_transaction(test: TestDb) {
        let shops = Shop::new("one");
        let second = shops.parent().join("two");
        std::fs::create_dir_all(second.join("humans")).unwrap();
        std::fs::copy(shops.path().join("humans/meera.md"), second.join("humans/meera.md")).unwrap();
        let folders = files::read(&shops.parent(), None).unwrap();
        assert_eq!(folders.len(), 2);
        let mut plans = Vec::new();
        for folder in &folders {
            plans.push(munshi_tiers::plan_folder(&test.db, folder, VanishedTierPolicy::Keep, &crate::tiers::support::installed()).await.unwrap());
        }
        // The second is made by somebody else before this is done: then the first is not made either.
        test.add_tenant("two").await;
        let overtaken = perform(&test, &test.db, plans).await.unwrap_err();
        assert!(matches!(overtaken, Error::Overtaken { .. }), "{overtaken}");
        let name = "one".parse().unwrap();
        let made = test.db.platform(TENANTS).read(move |tx| tenants::find_by_name(tx, &name)).await.unwrap();
        assert_eq!(made, None);
    }

    async fn an_archived_tenant_takes_nothing(test: TestDb) {
        let shop = Shop::new("sharma");
        let id = test.add_tenant("sharma").await;
        test.db.platform(TENANTS).write(move |tx| munshi_test_support::administer_platform(tx, |tx| tenants::set_status(tx, id, TenantStatus::Archived))).await.unwrap();
        let refused = shop.apply(&test).await.unwrap_err();
        assert!(matches!(refused, Error::TenantArchived(_)), "{refused}");
    }

    async fn a_tier_too_large_is_refused_with_its_count(test: TestDb) {
        let shop = Shop::new("sharma");
        let words = "counting rice by the cup ".repeat(250);
        shop.edit("humans/meera.md", "So I count out loud now.", &words);
        let told = problems(shop.apply(&test).await.unwrap_err());
        assert!(told.contains("human meera has 15") && told.contains("over the limit of 800 of agent counter in binding counter"), "{told}");
        shop.edit("agents/counter.toml", "dynamic = 3000", "human = 2000");
        shop.apply(&test).await.unwrap();
        shop.edit("agents/counter.toml", "[limits.tokens]", "[limits]\nprofile = \"compact\"\n\n[limits.tokens]");
        let told = problems(shop.apply(&test).await.unwrap_err());
        assert!(told.contains("tokens in total") && told.contains("the limit of 1200 of agent counter"), "{told}");
    }

    async fn an_unknown_tool_and_model_are_warned_of(test: TestDb) {
        let shop = Shop::new("sharma");
        shop.edit("agents/standard.toml", "\"note_sale\"", "\"fly_kite\"");
        shop.edit("agents/counter.toml", "\"offline\"", "\"sonnet\"");
        let plan = shop.apply(&test).await.unwrap();
        let told = plan.warnings.join("\n");
        assert!(told.contains("agent counter: tool fly_kite is not installed, so it is not offered"), "{told}");
        assert!(told.contains("agent counter: model sonnet is not configured"), "{told}");
    }

    async fn a_rule_that_nobody_could_check_is_refused(test: TestDb) {
        let shop = Shop::new("sharma");
        shop.edit("teams/counter.md", "\"no-discount\"", "\"no-discounts\"");
        shop.edit("teams/counter.md", "turns = 4", "turns = 0");
        let rules = "\n[[rules]]\nid = \"no-rivals\"\nseverity = \"block\"\nprompt = \"Name no other shop.\"\nregex = '(unclosed'\n";
        let text = std::fs::read_to_string(shop.path().join("agents/standard.toml")).unwrap();
        shop.write("agents/standard.toml", format!("{text}{rules}"));
        let told = problems(shop.apply(&test).await.unwrap_err());
        assert!(told.contains("counter.md:7:15: guardrails[0]: there is no rule `no-discounts`\n  hint: did you mean `no-discount`?"), "{told}");
        assert!(told.contains("guardrails[1]: `turns` is out of range"), "{told}");
        assert!(told.contains("standard.toml:12:1: rules[0]: the `regex` of `no-rivals` is invalid"), "{told}");
        shop.edit("teams/counter.md", "\"no-discounts\"", "\"fallback-plan\", \"red-flag\"");
        shop.edit("teams/counter.md", "turns = 0", "turns = 3");
        shop.edit("agents/standard.toml", "'(unclosed'", "'(?i)mega mart'");
        let plan = shop.apply(&test).await.unwrap();
        assert!(plan.warnings.iter().any(|warning| warning.contains("binding counter: a rule checks the whole reply")), "{plan}");
    }

    async fn a_slice_is_held_to_what_its_binding_is_held_to(test: TestDb) {
        let shop = Shop::new("sharma");
        let text = std::fs::read_to_string(shop.path().join("bindings/counter.toml")).unwrap();
        shop.write("bindings/counter.toml", format!("{text}\n[[slices]]\nname = \"long\"\nshare = 5\nhuman = \"talker\"\n"));
        let words = "counting rice by the cup ".repeat(250);
        shop.write("humans/talker.md", format!("+++\nname = \"T\"\nidentity = \"You.\"\n+++\n\n{words}\n"));
        let told = problems(shop.apply(&test).await.unwrap_err());
        assert!(told.contains("human talker has 12") && told.contains("of agent counter in binding counter"), "{told}");
        assert!(told.contains("slices[0].human: human talker is not a member of team counter"), "{told}");
    }

    async fn versions_say_who_and_when(test: TestDb) {
        let shop = Shop::new("sharma");
        shop.apply(&test).await.unwrap();
        let log = history::load(&test.db, &shop.name.parse().unwrap(), TierKind::Human, &"meera".parse().unwrap()).await.unwrap();
        let version = &log.versions[0].version;
        assert_eq!((version.author.as_str(), version.note.as_str()), ("asha", "a note"));
        assert!(version.made_at > Timestamp::EPOCH && version.tokens.total > 100, "{version:?}");
    }
}
