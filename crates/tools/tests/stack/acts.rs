//! What becomes of an act, by its effect.

use std::sync::Arc;

use munshi_safety::acts::ActState;
use munshi_safety::pipeline::{CallerAudience, ProposalMode, TaintSource};
use munshi_store::params;
use munshi_test_support::{on_both_engines, wait_until};
use munshi_tools::{ActJournal, ResultOrigin, ToolAnswer};
use munshi_types::Clock;
use serde_json::json;

use crate::stack::support::{Death, MIGRATIONS, Shop, World, begun, events, notes};

on_both_engines! {
    with [MIGRATIONS[0], MIGRATIONS[1], MIGRATIONS[2], MIGRATIONS[3], MIGRATIONS[4]];

    async fn a_write_of_ours_happens_once_with_its_record(test: TestDb) {
        let shop = Shop::open(&test).await;
        let want = shop.want("note", json!({ "text": "two bags of rice" }));
        let act = want.act;
        let ToolAnswer::Done(seen) = shop.call(want.clone()).await else { panic!("not done") };
        assert_eq!((seen.value, seen.label), (json!({ "noted": "two bags of rice" }), ResultOrigin::Own));
        assert_eq!(seen.undo.unwrap().tool.as_str(), "drop_note");
        // The same act again, as after a crash: told, not repeated.
        assert!(matches!(shop.call(want).await, ToolAnswer::Done(_)));
        assert_eq!(notes(&test.db, shop.tenant).await, 1);
        let stored = shop.act(&test.db, act).await.unwrap();
        assert_eq!((stored.state, stored.result), (ActState::Applied, Some(json!({ "noted": "two bags of rice" }))));
        assert_eq!(events(&test.db, shop.tenant).await, ["act.intended", "act.applied"]);
    }

    async fn the_same_act_with_other_arguments_is_refused(test: TestDb) {
        let shop = Shop::open(&test).await;
        let mut want = shop.want("note", json!({ "text": "one" }));
        shop.call(want.clone()).await;
        want.arguments = json!({ "text": "another" });
        assert_eq!(shop.call(want).await.render_for_model()["code"], "changed");
        assert_eq!(notes(&test.db, shop.tenant).await, 1);
        assert_eq!(events(&test.db, shop.tenant).await, ["act.intended", "act.applied", "act.refused"]);
    }

    async fn what_fails_or_does_not_read_back_leaves_nothing(test: TestDb) {
        let shop = Shop::open(&test).await;
        for (text, code) in [("fail after writing", "no"), ("altered on its way", "read_back")] {
            let answer = shop.call(shop.want("note", json!({ "text": text }))).await;
            assert!(matches!(&answer, ToolAnswer::Failed { code: found, .. } if found == code), "{answer:?}");
        }
        assert_eq!(notes(&test.db, shop.tenant).await, 0);
        let told = events(&test.db, shop.tenant).await;
        assert_eq!(told, ["act.intended", "act.failed", "act.intended", "act.failed"]);
    }

    async fn a_rehearsal_changes_nothing(test: TestDb) {
        let shop = Shop::open(&test).await;
        let mut want = shop.want("note", json!({ "text": "only thinking" }));
        want.wanted = ProposalMode::Rehearsal;
        let answer = shop.call(want).await;
        assert!(matches!(&answer, ToolAnswer::Rehearsed(seen) if seen.value["noted"] == "only thinking"), "{answer:?}");
        assert_eq!(notes(&test.db, shop.tenant).await, 0);
        let mut want = shop.want("fax", json!({}));
        want.wanted = ProposalMode::Rehearsal;
        assert_eq!(shop.call(want).await.render_for_model()["code"], "no_rehearsal");
        assert!(World::at(&shop.folder, Death::Never, false).lines().is_empty());
    }

    async fn a_look_prepares_before_it_reads(test: TestDb) {
        let shop = Shop::open(&test).await;
        let answer = shop.call(shop.want("count", json!({}))).await;
        assert!(matches!(&answer, ToolAnswer::Done(seen) if seen.value["count"] == 0), "{answer:?}");
        for (mood, code) in [("hangs", "timeout"), ("fails", "no_vector"), ("breaks", "broke")] {
            let answer = shop.call(shop.want("count", json!({ "mood": mood }))).await;
            assert!(matches!(&answer, ToolAnswer::Failed { code: found, .. } if found == code), "{answer:?}");
        }
    }

    async fn looking_is_labelled_by_whose_words_it_brings(test: TestDb) {
        let shop = Shop::open(&test).await;
        let ToolAnswer::Done(own) = shop.call(shop.want("count", json!({}))).await else { panic!() };
        assert_eq!((own.value, own.label.taint_source()), (json!({ "count": 0 }), None));
        let ToolAnswer::Done(other) = shop.call(shop.want("fetch", json!({}))).await else { panic!() };
        assert_eq!(other.label.taint_source(), Some(TaintSource::Connector));
    }

    async fn an_endless_answer_is_cut_and_a_broken_tool_is_survived(test: TestDb) {
        let shop = Shop::open(&test).await;
        let ToolAnswer::Done(seen) = shop.call(shop.want("fetch", json!({ "mood": "talks" }))).await else { panic!() };
        assert_eq!(seen.value["truncated"], true);
        let answer = shop.call(shop.want("fetch", json!({ "mood": "breaks" }))).await;
        assert!(matches!(&answer, ToolAnswer::Failed { code, .. } if code == "broke"), "{answer:?}");
        let answer = shop.call(shop.want("fetch", json!({ "mood": "refuses" }))).await;
        assert!(matches!(&answer, ToolAnswer::Failed { code, retryable: false, .. } if code == "refused_there"));
    }

    async fn a_try_that_may_have_happened_is_not_taken_back_by_a_later_no(test: TestDb) {
        let shop = Shop::open(&test).await;
        let answer = shop.call(shop.want("book", json!({ "mood": "fades" }))).await;
        assert!(matches!(answer, ToolAnswer::Unknown { .. }), "{answer:?}");
        // One that looks may simply have failed; one that can be looked up is known not to have happened.
        let answer = shop.call(shop.want("fetch", json!({ "mood": "fades" }))).await;
        assert!(matches!(&answer, ToolAnswer::Failed { retryable: true, .. }), "{answer:?}");
        let answer = shop.call(shop.want("order", json!({ "mood": "fades" }))).await;
        assert!(matches!(&answer, ToolAnswer::Failed { retryable: true, .. }), "{answer:?}");
    }

    async fn an_act_that_was_taken_over_is_ended_by_who_took_it(test: TestDb) {
        let shop = Shop::open(&test).await;
        let want = shop.want("book", json!({ "mood": "waits" }));
        let act = want.act;
        let first = shop.dispatcher.call(want, Arc::new(munshi_tools::NoActJournal));
        let second = async {
            wait_until(async || begun(&test.db, shop.tenant).await == 1).await;
            test.clock.advance(std::time::Duration::from_secs(3600));
            shop.dispatcher.sweep(Arc::new(munshi_tools::NoActJournal)).await
        };
        let (first, second) = tokio::join!(first, second);
        assert!(first.is_err(), "{first:?}");
        assert_eq!(second.unwrap().ended, 1);
        assert_eq!(shop.act(&test.db, act).await.unwrap().state, ActState::Applied);
        assert_eq!(World::at(&shop.folder, Death::Never, true).lines().len(), 1);
    }

    async fn what_a_foreign_tool_says_is_marked_as_its_own(test: TestDb) {
        let shop = Shop::open(&test).await;
        let failed = shop.call(shop.want("fetch", json!({ "mood": "refuses" }))).await;
        let told = failed.render_for_model();
        assert_eq!(told["source"]["connector"], "elsewhere");
        assert!(!told["suggestion"].to_string().contains("other side") && told["detail"] == "the other side said no");
        assert_eq!(failed.taint_sources(), [TaintSource::Connector].into());
        let own = shop.call(shop.want("count", json!({}))).await;
        assert!(own.render_for_model().get("source").is_none() && own.taint_sources().is_empty());
    }

    async fn what_hangs_is_unknown_where_it_writes_and_a_person_is_asked(test: TestDb) {
        let shop = Shop::open(&test).await;
        let want = shop.want("fax", json!({ "mood": "hangs" }));
        let act = want.act;
        let answer = shop.call(want).await;
        assert!(matches!(answer, ToolAnswer::Unknown { .. }), "{answer:?}");
        assert_eq!(shop.act(&test.db, act).await.unwrap().state, ActState::Unknown);
        assert!(events(&test.db, shop.tenant).await.contains(&"act.unknown".to_owned()));
        // Looking twice costs nothing: what only reads is a failure.
        let answer = shop.call(shop.want("fetch", json!({ "mood": "hangs" }))).await;
        assert!(matches!(&answer, ToolAnswer::Failed { retryable: true, .. }), "{answer:?}");
    }

    async fn each_refusal_says_which_stage_and_stands_in_the_audit(test: TestDb) {
        let shop = Shop::open(&test).await;
        let mut wants = Vec::new();
        wants.push(("unknown_tool", shop.want("no_such", json!({}))));
        let mut want = shop.want("note", json!({}));
        want.offered = false;
        wants.push(("not_offered", want));
        wants.push(("bad_arguments", shop.want("note", json!({ "text": 5 }))));
        wants.push(("bad_arguments", shop.want("note", json!({ "approved": true }))));
        let mut want = shop.want("note", json!({}));
        want.caller.door = CallerAudience::Distribution;
        wants.push(("wrong_door", want));
        let mut want = shop.want("note", json!({}));
        want.agent = Arc::default();
        wants.push(("out_of_scope", want));
        let count = wants.len();
        for (code, want) in wants {
            let act = want.act;
            let answer = shop.call(want).await;
            assert_eq!(answer.render_for_model()["code"], code, "{answer:?}");
            let stored = shop.act(&test.db, act).await.unwrap();
            assert_eq!((stored.state, stored.code.as_deref()), (ActState::Refused, Some(code)));
        }
        assert_eq!(events(&test.db, shop.tenant).await, vec!["act.refused"; count]);
        assert_eq!(notes(&test.db, shop.tenant).await, 0);
    }

    async fn a_tool_that_breaks_in_our_tables_has_failed_and_stands_in_the_books(test: TestDb) {
        let shop = Shop::open(&test).await;
        for tool in ["note", "count"] {
            let want = shop.want(tool, json!({ "text": "break after writing" }));
            let act = want.act;
            let answer = shop.call(want).await;
            assert_eq!(answer.render_for_model()["code"], "broke", "{answer:?}");
            assert_eq!(shop.act(&test.db, act).await.unwrap().state, ActState::Failed);
        }
        assert_eq!(notes(&test.db, shop.tenant).await, 0);
        let told = events(&test.db, shop.tenant).await;
        assert_eq!(told, ["act.intended", "act.failed", "act.intended", "act.failed"]);
    }

    async fn a_rate_of_nothing_refuses_and_trying_out_holds_no_money(test: TestDb) {
        let shop = Shop::open(&test).await;
        let mut want = shop.want("paid", json!({ "text": "a" }));
        want.wanted = ProposalMode::Rehearsal;
        for _ in 0..3 {
            want.act = shop.ids.next();
            assert!(matches!(shop.call(want.clone()).await, ToolAnswer::Rehearsed(_)));
        }
        let held = |tx: &mut munshi_store::Tx<'_>| {
            tx.one("SELECT COUNT(*) FROM usage_reservations WHERE tenant_id = $1", &[], |row| row.get::<i64>(0))
        };
        assert_eq!(test.db.read(shop.tenant, held).await.unwrap(), 0);
        shop.set_policy(&test.db, "[connectors.shop]\nautonomy = \"act\"\nwrite = [\"*\"]\n[rates]\nwrites_per_minute = 0\n", test.clock.now()).await;
        let answer = shop.call(shop.want("note", json!({ "text": "a" }))).await;
        assert_eq!(answer.render_for_model()["code"], "over_limit");
        assert_eq!(events(&test.db, shop.tenant).await.last().unwrap(), "act.refused");
    }

    async fn a_nul_anywhere_is_refused_or_kept_without(test: TestDb) {
        let shop = Shop::open(&test).await;
        let mut want = shop.want("wipe", json!({ "text": "a\0b" }));
        want.taint.own_words = vec!["with \0 inside".to_owned()];
        let act = want.act;
        assert_eq!(shop.call(want).await.render_for_model()["code"], "bad_arguments");
        let stored = shop.act(&test.db, act).await.unwrap();
        assert_eq!(stored.arguments, json!({ "text": "a\u{fffd}b" }));
        let mut want = shop.want("note\0", json!({}));
        want.concerns = vec![munshi_safety::pipeline::ActConcern { phrase: "\0".to_owned(), slots: Vec::new() }];
        assert_eq!(shop.call(want).await.render_for_model()["code"], "unknown_tool");
        assert_eq!(events(&test.db, shop.tenant).await, ["act.refused"; 2]);
    }

    async fn what_a_paused_tenant_left_waits_with_it(test: TestDb) {
        use munshi_store::tenants::{TENANTS, set_status};
        use munshi_types::TenantStatus;
        let shop = Shop::open(&test).await;
        let want = shop.want("book", json!({ "text": "a" }));
        struct Cut;
        impl ActJournal for Cut {
            fn record_decision(&self, _: &mut munshi_store::Tx<'_>, _: &munshi_safety::acts::ActDecision) -> munshi_store::Result<()> {
                Ok(())
            }
            fn record_answer(&self, _: &mut munshi_store::Tx<'_>, _: &ToolAnswer) -> munshi_store::Result<()> {
                Err(munshi_store::Error::Misuse("cut".to_owned()))
            }
        }
        let act = want.act;
        assert!(shop.dispatcher.call(want, Arc::new(Cut)).await.is_err());
        test.clock.advance(std::time::Duration::from_secs(3600));
        let tenant = shop.tenant;
        for (status, ended) in [(TenantStatus::Paused, 0), (TenantStatus::Active, 1)] {
            test.db.platform(TENANTS).write(move |tx| munshi_test_support::administer_platform(tx, |tx| set_status(tx, tenant, status))).await.unwrap();
            let swept = shop.dispatcher.sweep(Arc::new(munshi_tools::NoActJournal)).await.unwrap();
            assert_eq!(swept.ended, ended, "{status:?}");
        }
        assert_eq!(shop.act(&test.db, act).await.unwrap().state, ActState::Applied);
        assert_eq!(World::at(&shop.folder, Death::Never, true).lines().len(), 1);
    }

    async fn a_tighter_policy_counts_at_once(test: TestDb) {
        let shop = Shop::open(&test).await;
        assert!(matches!(shop.call(shop.want("note", json!({ "text": "a" }))).await, ToolAnswer::Done(_)));
        let tight = "[connectors.shop]\nautonomy = \"investigate\"\nread = [\"*\"]\nwrite = [\"*\"]\n";
        shop.set_policy(&test.db, tight, test.clock.now()).await;
        let answer = shop.call(shop.want("note", json!({ "text": "b" }))).await;
        assert_eq!(answer.render_for_model()["code"], "read_only");
        assert_eq!(notes(&test.db, shop.tenant).await, 1);
    }

    async fn a_journal_is_in_the_same_transaction(test: TestDb) {
        struct Broken;
        impl ActJournal for Broken {
            fn record_decision(&self, tx: &mut munshi_store::Tx<'_>, _: &munshi_safety::acts::ActDecision) -> munshi_store::Result<()> {
                tx.execute("INSERT INTO notes (tenant_id, act_id, text) VALUES ($1, $2, 'journal')", params![uuid::Uuid::nil()])?;
                Ok(())
            }
            fn record_answer(&self, _: &mut munshi_store::Tx<'_>, _: &ToolAnswer) -> munshi_store::Result<()> {
                Err(munshi_store::Error::Misuse("the journal can't be written".to_owned()))
            }
        }
        let shop = Shop::open(&test).await;
        let want = shop.want("note", json!({ "text": "with a journal" }));
        let act = want.act;
        assert!(shop.dispatcher.call(want, Arc::new(Broken)).await.is_err());
        assert_eq!(notes(&test.db, shop.tenant).await, 0, "neither the note nor the journal");
        assert!(shop.act(&test.db, act).await.is_none());
        assert!(events(&test.db, shop.tenant).await.is_empty());
    }
}
