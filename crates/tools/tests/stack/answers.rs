//! A person is asked, answers, and what they agreed to happens once.

use std::sync::Arc;
use std::time::Duration;

use munshi_identity::{ContactAddress, Person, Principal, Role, persons};
use munshi_safety::acts::ActState;
use munshi_safety::approvals::{
    self, Approval, ApprovalAnswerOutcome, ApprovalCoverage, ApprovalDecision as Said,
};
use munshi_safety::pipeline::{ActConcern, ConsentGiver, ConsentReason, TaintSource};
use munshi_store::{Db, Tx, params};
use munshi_test_support::{TestDb, on_both_engines};
use munshi_tools::{ActSweepReport, NoActJournal, ToolAnswer};
use munshi_types::{Clock, Timestamp};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::stack::support::{Death, MIGRATIONS, Shop, World, events, notes};

async fn say(
    shop: &Shop,
    db: &Db,
    approval: &Approval,
    who: &Principal,
    answer: Said,
    now: Timestamp,
) -> ApprovalAnswerOutcome {
    say_with(shop, db, approval, who, answer, None, ApprovalCoverage::Act, now).await
}

#[allow(clippy::too_many_arguments, reason = "a test's way to say everything")]
async fn say_with(
    shop: &Shop,
    db: &Db,
    approval: &Approval,
    who: &Principal,
    answer: Said,
    shown: Option<&str>,
    covers: ApprovalCoverage,
    now: Timestamp,
) -> ApprovalAnswerOutcome {
    let (act_services, id, who, shown) =
        (shop.act_services.clone(), approval.id, who.clone(), shown.map(str::to_owned));
    db.write(shop.tenant, move |tx| {
        let said = approvals::ApprovalAnswer {
            who: &who,
            answer,
            shown: shown.as_deref(),
            covers,
            via: "test",
            key: None,
            source: munshi_safety::approvals::AnswerSource::Page,
        };
        approvals::answer(tx, &act_services, id, &said, now)
    })
    .await
    .unwrap()
}

/// Proposes something dangerous, which waits.
async fn waiting(shop: &Shop, name: &str, arguments: Value) -> Approval {
    let answer = shop.call(shop.want(name, arguments)).await;
    match answer {
        ToolAnswer::Waiting(approval) => *approval,
        other => panic!("not waiting: {other:?}"),
    }
}

fn done_there(shop: &Shop) -> usize {
    World::at(&shop.folder, Death::Never, true).lines().len()
}

on_both_engines! {
    with [MIGRATIONS[0], MIGRATIONS[1], MIGRATIONS[2], MIGRATIONS[3], MIGRATIONS[4]];

    async fn what_is_dangerous_waits_with_its_rehearsal_and_is_done_once(test: TestDb) {
        let (shop, now) = (Shop::open(&test).await, test.clock.now());
        let approval = waiting(&shop, "wipe", json!({ "text": "old entries" })).await;
        assert_eq!(approval.question.reasons, [ConsentReason::Dangerous]);
        assert_eq!(approval.words, "Does wipe (wipe): text “old entries”");
        assert_eq!(approval.rehearsal, Some(json!({ "would": { "text": "old entries" } })));
        assert_eq!(approval.expires_at, now.plus(Duration::from_secs(24 * 3600)));
        assert_eq!(done_there(&shop), 0);
        assert!(matches!(shop.resume(approval.act).await, ToolAnswer::Waiting(_)), "not approved yet");

        let staff = say(&shop, &test.db, &approval, &shop.staff, Said::Yes, now).await;
        assert!(matches!(staff, ApprovalAnswerOutcome::NotYours { .. }), "{staff:?}");
        let shown = say_with(&shop, &test.db, &approval, &shop.owner, Said::Yes, Some("000000000000"), ApprovalCoverage::Act, now).await;
        assert!(matches!(shown, ApprovalAnswerOutcome::Changed { .. }), "{shown:?}");
        let digest = approval.digest.to_string();
        let granted = say_with(&shop, &test.db, &approval, &shop.owner, Said::Yes, Some(&digest), ApprovalCoverage::Act, now).await;
        assert!(matches!(granted, ApprovalAnswerOutcome::Granted(_)), "{granted:?}");
        let twice = say(&shop, &test.db, &approval, &shop.owner, Said::Yes, now).await;
        assert!(matches!(twice, ApprovalAnswerOutcome::Already(_)), "{twice:?}");

        let (one, other) = tokio::join!(shop.resume(approval.act), async {
            let (agent, tools) = (crate::stack::support::open_conduct(), shop.tools());
            shop.dispatcher.resume(shop.tenant, approval.act, agent, &tools, Arc::new(NoActJournal)).await
        });
        let both = [Some(one), other.ok().flatten()];
        assert!(both.iter().flatten().any(|answer| matches!(answer, ToolAnswer::Done(_))), "{both:?}");
        assert!(matches!(shop.resume(approval.act).await, ToolAnswer::Done(_)), "told, not repeated");
        assert_eq!(done_there(&shop), 1);
        assert_eq!(events(&test.db, shop.tenant).await, ["approval.asked", "act.rehearsed", "approval.granted", "act.intended", "act.applied"]);
    }

    async fn a_no_drops_the_act_for_good(test: TestDb) {
        let (shop, now) = (Shop::open(&test).await, test.clock.now());
        let approval = waiting(&shop, "wipe", json!({})).await;
        assert!(matches!(say(&shop, &test.db, &approval, &shop.owner, Said::No, now).await, ApprovalAnswerOutcome::Refused(_)));
        assert!(matches!(say(&shop, &test.db, &approval, &shop.owner, Said::Yes, now).await, ApprovalAnswerOutcome::Already(_)));
        assert!(matches!(shop.resume(approval.act).await, ToolAnswer::Dropped { .. }));
        assert_eq!(done_there(&shop), 0);
    }

    async fn nobody_answers_and_it_is_dropped_after_a_day(test: TestDb) {
        let shop = Shop::open(&test).await;
        let approval = waiting(&shop, "wipe", json!({})).await;
        test.clock.advance(Duration::from_secs(24 * 3600));
        let late = say(&shop, &test.db, &approval, &shop.owner, Said::Yes, test.clock.now()).await;
        assert_eq!(late, ApprovalAnswerOutcome::Expired);
        let swept = shop.dispatcher.sweep(Arc::new(NoActJournal)).await.unwrap();
        assert_eq!(swept, ActSweepReport { expired: 1, ..ActSweepReport::default() });
        assert_eq!(shop.act(&test.db, approval.act).await.unwrap().state, ActState::Dropped);
        assert!(events(&test.db, shop.tenant).await.contains(&"approval.expired".to_owned()));
    }

    async fn a_yes_nobody_makes_use_of_ends_too(test: TestDb) {
        let (shop, now) = (Shop::open(&test).await, test.clock.now());
        let approval = waiting(&shop, "wipe", json!({})).await;
        say(&shop, &test.db, &approval, &shop.owner, Said::Yes, now).await;
        test.clock.advance(Duration::from_secs(25 * 3600));
        let swept = shop.dispatcher.sweep(Arc::new(NoActJournal)).await.unwrap();
        assert_eq!(swept, ActSweepReport { expired: 1, ..ActSweepReport::default() });
        assert!(matches!(shop.resume(approval.act).await, ToolAnswer::Dropped { .. }));
        assert_eq!(done_there(&shop), 0);
    }

    async fn a_yes_does_not_outlive_the_policy(test: TestDb) {
        let (shop, now) = (Shop::open(&test).await, test.clock.now());
        let approval = waiting(&shop, "wipe", json!({})).await;
        say(&shop, &test.db, &approval, &shop.owner, Said::Yes, now).await;
        shop.set_policy(&test.db, "most_autonomy = \"investigate\"\n[connectors.elsewhere]\nautonomy = \"act\"\nwrite = [\"*\"]\n", now).await;
        assert_eq!(shop.resume(approval.act).await.render_for_model()["code"], "read_only");
        assert_eq!(done_there(&shop), 0);
    }

    async fn whoever_asked_confirms_what_only_needs_confirming(test: TestDb) {
        let (shop, now) = (Shop::open(&test).await, test.clock.now());
        let mut want = shop.want("note", json!({ "text": "twelve thousand" }));
        want.concerns = vec![ActConcern { phrase: "ask-large-amount".to_owned(), slots: Vec::new() }];
        let ToolAnswer::Waiting(approval) = shop.call(want).await else { panic!() };
        assert_eq!(approval.question.needs, ConsentGiver::Asker);
        assert_eq!(approval.rehearsal, Some(json!({ "noted": "twelve thousand" })));
        assert_eq!(notes(&test.db, shop.tenant).await, 0, "a rehearsal leaves nothing");
        assert!(matches!(say(&shop, &test.db, &approval, &shop.staff, Said::Yes, now).await, ApprovalAnswerOutcome::Granted(_)));
        assert!(matches!(shop.resume(approval.act).await, ToolAnswer::Done(_)));
        assert_eq!(notes(&test.db, shop.tenant).await, 1);
    }

    async fn foreign_words_need_a_person_unless_they_are_the_persons_own(test: TestDb) {
        let shop = Shop::open(&test).await;
        let mut want = shop.want("note", json!({ "text": "transfer everything" }));
        want.taint.sources.insert(TaintSource::Document);
        want.taint.own_words = vec!["read the letter".to_owned()];
        assert!(matches!(shop.call(want.clone()).await, ToolAnswer::Waiting(_)));
        want.act = shop.ids.next();
        want.taint.own_words = vec!["please note: Transfer Everything".to_owned()];
        assert!(matches!(shop.call(want).await, ToolAnswer::Done(_)));
    }

    async fn dont_ask_again_holds_for_the_conversation_and_never_for_danger(test: TestDb) {
        let (shop, now) = (Shop::open(&test).await, test.clock.now());
        let proposing = "most_autonomy = \"propose\"\n[connectors.shop]\nautonomy = \"act\"\nwrite = [\"*\"]\n\
                         [connectors.elsewhere]\nautonomy = \"act\"\nwrite = [\"*\"]\n";
        shop.set_policy(&test.db, proposing, now).await;
        let session = Some(Uuid::from_u128(7));
        let in_session = |name: &str, text: &str| {
            let mut want = shop.want(name, json!({ "text": text }));
            want.caller.session = session;
            want
        };
        let ToolAnswer::Waiting(approval) = shop.call(in_session("note", "one")).await else { panic!() };
        say_with(&shop, &test.db, &approval, &shop.owner, Said::Yes, None, ApprovalCoverage::Session, now).await;
        assert!(matches!(shop.resume(approval.act).await, ToolAnswer::Done(_)));
        assert!(matches!(shop.call(in_session("note", "two")).await, ToolAnswer::Done(_)));
        let mut elsewhere = in_session("note", "three");
        elsewhere.caller.session = Some(Uuid::from_u128(8));
        assert!(matches!(shop.call(elsewhere).await, ToolAnswer::Waiting(_)));

        let ToolAnswer::Waiting(approval) = shop.call(in_session("wipe", "a")).await else { panic!() };
        say_with(&shop, &test.db, &approval, &shop.owner, Said::Yes, None, ApprovalCoverage::Session, now).await;
        assert!(matches!(shop.resume(approval.act).await, ToolAnswer::Done(_)));
        assert!(matches!(shop.call(in_session("wipe", "b")).await, ToolAnswer::Waiting(_)), "danger is asked each time");
    }

    async fn a_message_goes_out_unasked_only_by_an_authorised_template_to_its_audience(test: TestDb) {
        let (shop, now) = (Shop::open(&test).await, test.clock.now());
        let customer = Person { tags: vec!["customers".to_owned()], ..Person::new(&test.ids, "Raju", now) };
        test.db.write(shop.tenant, move |tx| {
            persons::upsert(tx, &customer)?;
            persons::add_address(tx, customer.id, &ContactAddress::phone("9812345678").unwrap())
        }).await.unwrap();
        let authorised = "[connectors.elsewhere]\nautonomy = \"act\"\nwrite = [\"*\"]\n\
                          [[messages]]\ntool = \"message\"\ntemplate = \"due\"\naudience = \"customers\"\n";
        shop.set_policy(&test.db, authorised, now).await;
        let message = |to: &str, text: &str| shop.want("message", json!({ "to": to, "text": text }));
        assert!(matches!(shop.call(message("98123 45678", "due")).await, ToolAnswer::Done(_)));
        assert!(matches!(shop.call(message("98123 45678", "pay me at once")).await, ToolAnswer::Waiting(_)));
        assert!(matches!(shop.call(message("9800000000", "due")).await, ToolAnswer::Waiting(_)));
    }

    async fn a_share_of_the_day_is_taken_once_by_what_goes_unasked_alone(test: TestDb) {
        let (shop, now) = (Shop::open(&test).await, test.clock.now());
        let customer = Person { tags: vec!["customers".to_owned()], ..Person::new(&test.ids, "Raju", now) };
        test.db.write(shop.tenant, move |tx| {
            persons::upsert(tx, &customer)?;
            persons::add_address(tx, customer.id, &ContactAddress::phone("9812345678").unwrap())
        }).await.unwrap();
        let authorised = "[connectors.elsewhere]\nautonomy = \"act\"\nwrite = [\"*\"]\n\
                          [[messages]]\ntool = \"message\"\ntemplate = \"due\"\naudience = \"customers\"\nper_day = 2\n";
        shop.set_policy(&test.db, authorised, now).await;
        let message = || shop.want("message", json!({ "to": "98123 45678", "text": "due" }));
        // Somebody is asked for another reason, as often as it is tried: that takes no share.
        for _ in 0..3 {
            let mut unusual = message();
            unusual.concerns = vec![ActConcern { phrase: "ask-large-amount".to_owned(), slots: Vec::new() }];
            assert!(matches!(shop.call(unusual).await, ToolAnswer::Waiting(_)));
        }
        let taken = "SELECT count(*) FROM unasked_messages WHERE tenant_id = $1";
        let count = async || {
            let read = move |tx: &mut Tx<'_>| tx.one(taken, params![], |row| row.get::<i64>(0));
            test.db.read(shop.tenant, read).await.unwrap()
        };
        assert_eq!(count().await, 0);
        // At once, as two nodes would.
        let answers = tokio::join!(shop.call(message()), shop.call(message()), shop.call(message()), shop.call(message()));
        let answers = [answers.0, answers.1, answers.2, answers.3];
        let done = answers.iter().filter(|answer| matches!(answer, ToolAnswer::Done(_))).count();
        assert_eq!((done, count().await), (2, 2), "{answers:?}");
        assert!(matches!(shop.call(message()).await, ToolAnswer::Waiting(_)));
        test.clock.advance(Duration::from_secs(24 * 3600 - 1));
        assert!(matches!(shop.call(message()).await, ToolAnswer::Waiting(_)), "the day is not over");
        test.clock.advance(Duration::from_secs(2));
        assert!(matches!(shop.call(message()).await, ToolAnswer::Done(_)));
    }

    async fn a_yes_reaches_no_further_than_whoever_had_to_say_it(test: TestDb) {
        let (shop, now) = (Shop::open(&test).await, test.clock.now());
        let mut want = shop.want("note", json!({ "text": "twelve thousand" }));
        want.concerns = vec![ActConcern { phrase: "ask-large-amount".to_owned(), slots: Vec::new() }];
        let ToolAnswer::Waiting(approval) = shop.call(want).await else { panic!() };
        assert!(matches!(say(&shop, &test.db, &approval, &shop.staff, Said::Yes, now).await, ApprovalAnswerOutcome::Granted(_)));
        // Since then the owner wants to be asked about notes: the staff's own yes is none of theirs.
        let asking = "[connectors.shop]\nautonomy = \"act\"\nwrite = [\"*\"]\nask = [\"shop.note\"]\n";
        shop.set_policy(&test.db, asking, now).await;
        assert_eq!(shop.resume(approval.act).await.render_for_model()["code"], "outgrown");
        assert_eq!(notes(&test.db, shop.tenant).await, 0);
        assert_eq!(shop.act(&test.db, approval.act).await.unwrap().state, ActState::Refused);
    }

    async fn dont_ask_again_holds_for_whom_it_was_said_and_never_by_another_question(test: TestDb) {
        let (shop, now) = (Shop::open(&test).await, test.clock.now());
        let here = Uuid::from_u128(7);
        let session = Some(here);
        // A fax that nobody can tell of, and a yes to "did it happen?" with "don't ask again".
        let mut want = shop.want("fax", json!({ "mood": "hangs" }));
        want.caller.session = session;
        assert!(matches!(shop.call(want).await, ToolAnswer::Unknown { .. }));
        let pending = test.db.read(shop.tenant, move |tx| approvals::list_pending(tx, here)).await.unwrap();
        say_with(&shop, &test.db, &pending[0], &shop.owner, Said::Yes, None, ApprovalCoverage::Session, now).await;
        let proposing = "most_autonomy = \"propose\"\n[connectors.shop]\nautonomy = \"act\"\nwrite = [\"*\"]\n\
                         [connectors.elsewhere]\nautonomy = \"act\"\nwrite = [\"*\"]\n";
        shop.set_policy(&test.db, proposing, now).await;
        let mut want = shop.want("fax", json!({}));
        want.caller.session = session;
        assert!(matches!(shop.call(want).await, ToolAnswer::Waiting(_)), "an outcome is no leave");
        // What was waived for the staff is not waived for the owner in the same conversation.
        let mut want = shop.want("note", json!({ "text": "one" }));
        want.caller.session = session;
        let ToolAnswer::Waiting(approval) = shop.call(want.clone()).await else { panic!() };
        say_with(&shop, &test.db, &approval, &shop.owner, Said::Yes, None, ApprovalCoverage::Session, now).await;
        want.act = shop.ids.next();
        assert!(matches!(shop.call(want.clone()).await, ToolAnswer::Done(_)));
        want.act = shop.ids.next();
        want.caller.principal = shop.owner.clone();
        assert!(matches!(shop.call(want).await, ToolAnswer::Waiting(_)));
    }

    async fn what_was_approved_is_done_for_the_person_and_by_the_agent_as_they_are_now(test: TestDb) {
        let (shop, now) = (Shop::open(&test).await, test.clock.now());
        let approval = waiting(&shop, "wipe", json!({})).await;
        say(&shop, &test.db, &approval, &shop.owner, Said::Yes, now).await;
        let without: Vec<_> = shop.tools().into_iter().filter(|tool| tool.as_str() != "wipe").collect();
        let agent = crate::stack::support::open_conduct();
        let resumed = shop.dispatcher.resume(shop.tenant, approval.act, agent, &without, Arc::new(NoActJournal)).await;
        assert_eq!(resumed.unwrap().unwrap().render_for_model()["code"], "not_offered");

        let approval = waiting(&shop, "wipe", json!({})).await;
        say(&shop, &test.db, &approval, &shop.owner, Said::Yes, now).await;
        let staff = shop.staff.person.unwrap();
        test.db.write(shop.tenant, move |tx| {
            let left = Person { left_at: Some(now), ..persons::find(tx, staff)?.unwrap() };
            persons::upsert(tx, &left)
        }).await.unwrap();
        assert_eq!(shop.resume(approval.act).await.render_for_model()["code"], "not_permitted");
        assert_eq!(done_there(&shop), 0);
    }

    async fn nobody_below_an_admin_approves_their_own_act(test: TestDb) {
        let (shop, now) = (Shop::open(&test).await, test.clock.now());
        let approving = "[connectors.elsewhere]\nautonomy = \"act\"\nwrite = [\"*\"]\n[roles.staff]\napprove = [\"shop.*\"]\n";
        shop.set_policy(&test.db, approving, now).await;
        let approval = waiting(&shop, "wipe", json!({})).await;
        let own = say(&shop, &test.db, &approval, &shop.staff, Said::Yes, now).await;
        assert!(matches!(own, ApprovalAnswerOutcome::NotYours { .. }), "{own:?}");
        let other = Person { role: Some(Role::Staff), ..Person::new(&test.ids, "Meera", now) };
        let other = test.db.write(shop.tenant, move |tx| {
            persons::upsert(tx, &other)?;
            Ok::<_, munshi_store::Error>(other.principal(tx))
        }).await.unwrap();
        assert!(matches!(say(&shop, &test.db, &approval, &other, Said::Yes, now).await, ApprovalAnswerOutcome::Granted(_)));
        let mut want = shop.want("wipe", json!({}));
        want.caller.principal = shop.owner.clone();
        let ToolAnswer::Waiting(approval) = shop.call(want).await else { panic!() };
        assert!(matches!(say(&shop, &test.db, &approval, &shop.owner, Said::Yes, now).await, ApprovalAnswerOutcome::Granted(_)));
    }

    async fn what_leaves_is_shown_and_is_what_was_agreed_to(test: TestDb) {
        let (shop, now) = (Shop::open(&test).await, test.clock.now());
        let open = "[connectors.elsewhere]\nautonomy = \"act\"\nwrite = [\"*\"]\n";
        let hiding = format!("{open}[redaction]\nfields = [\"phone\"]\n");
        let arguments = json!({ "text": "क".repeat(5_000), "phone": "+91 98123 45678" });
        for (later, expected) in [(open, "outgrown"), (hiding.as_str(), "done")] {
            shop.set_policy(&test.db, &hiding, now).await;
            let approval = waiting(&shop, "wipe", arguments.clone()).await;
            assert_eq!(approval.arguments, arguments, "whole");
            assert_eq!(approval.leaving.as_ref().unwrap()["phone"], "[hidden]");
            let id = approval.id;
            let found = test.db.read(shop.tenant, move |tx| approvals::find(tx, id)).await.unwrap().unwrap();
            assert_eq!((&found.arguments, &found.leaving), (&approval.arguments, &approval.leaving));
            assert!(matches!(say(&shop, &test.db, &approval, &shop.owner, Said::Yes, now).await, ApprovalAnswerOutcome::Granted(_)));
            shop.set_policy(&test.db, later, now).await;
            let answer = shop.resume(approval.act).await;
            let told = if matches!(answer, ToolAnswer::Done(_)) { "done".into() } else { answer.render_for_model()["code"].clone() };
            assert_eq!(told, expected);
            let act = shop.act(&test.db, approval.act).await.unwrap();
            assert_eq!(act.leaving, approval.leaving, "what was shown stays");
        }
        assert_eq!(done_there(&shop), 1);
    }

    async fn another_tenants_owner_has_no_say(test: TestDb) {
        let (shop, now) = (Shop::open(&test).await, test.clock.now());
        let approval = waiting(&shop, "wipe", json!({})).await;
        let other = test.add_tenant("other").await;
        let stranger = Principal { tenant: other, ..shop.owner.clone() };
        assert!(matches!(say(&shop, &test.db, &approval, &stranger, Said::Yes, now).await, ApprovalAnswerOutcome::NotYours { .. }));
        let (act_services, id) = (shop.act_services.clone(), approval.id);
        let elsewhere = test.db.write(other, move |tx| {
            let said = approvals::ApprovalAnswer { who: &stranger, answer: Said::Yes, shown: None, covers: ApprovalCoverage::Act, via: "test", key: None, source: munshi_safety::approvals::AnswerSource::Page };
            approvals::answer(tx, &act_services, id, &said, now)
        }).await.unwrap();
        assert_eq!(elsewhere, ApprovalAnswerOutcome::Unknown);
        assert_eq!(done_there(&shop), 0);
    }
}

/// Kept apart: what a sweep does about an act nobody can tell of, and what the person's answer makes of it.
pub(crate) async fn answer_outcome(test: &TestDb, shop: &Shop, answer: Said) -> ApprovalAnswerOutcome {
    let pending = test
        .db
        .read(shop.tenant, |tx| {
            approvals::list(tx, approvals::ApprovalFilter::Pending, &munshi_store::PageRequest::new(None, 10))
        })
        .await
        .unwrap();
    let question =
        pending.items.into_iter().find(|approval| approval.kind == approvals::ApprovalKind::Outcome).unwrap();
    say(shop, &test.db, &question, &shop.owner, answer, test.clock.now()).await
}
