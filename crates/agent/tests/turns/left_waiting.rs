//! A colleague has a conversation in hand: what is proposed to them, and what happens when they leave somebody waiting.

use std::sync::Arc;
use std::time::Duration;

use munshi_conversations::human_requests::{self, HumanRequestState};
use munshi_conversations::session_waits;
use munshi_conversations::sessions::{self, Session};
use munshi_jobs::{JobRegistry, JobRunner, JobRunnerOptions};
use munshi_store::Tx;
use munshi_test_app::TenantFiles;
use munshi_test_support::models::{ScriptGate, ScriptedTurn};
use munshi_test_support::{TestDb, wait_until};
use munshi_types::{SeededRandom, SessionId};

use crate::turns::handoffs::add_teams;
use crate::turns::held_by_colleague::{take, write_as};
use crate::turns::support::Shop;

const COUNTER: &str = "+++\nname = \"Counter\"\nrole = \"You work at the counter.\"\nmembers = [\"meera\"]\n\
    [escalation]\nto = \"the owner\"\nwhen = [\"somebody is hurt\"]\nRULES\
    [[handoffs]]\nto = \"care\"\nwhen = \"something is broken\"\n+++\n\nServe.\n";
const EXPIRED: &str =
    "SELECT COUNT(*) FROM audit_entries WHERE tenant_id = $1 AND event = 'conversation.hold_expired'";

async fn open(test: &TestDb, script: impl IntoIterator<Item = ScriptedTurn>, rules: &str) -> Shop {
    let shop = Shop::open(test, script).await;
    add_teams(&shop).await;
    let counter = COUNTER.replace("RULES", rules);
    shop.apply_tenant(&TenantFiles::new("shop").with_file("teams/counter.md", &counter)).await;
    shop
}

fn runner(shop: &Shop) -> JobRunner {
    let mut registry = JobRegistry::default();
    shop.engine.install(&mut registry, None);
    let random = Arc::new(SeededRandom::new(7));
    JobRunner::new(shop.db.clone(), &shop.queue, random, registry, JobRunnerOptions::default())
}

async fn find_session(shop: &Shop, id: SessionId) -> Session {
    shop.db.read(shop.tenant, move |tx: &mut Tx<'_>| sessions::find(tx, id)).await.unwrap().unwrap()
}

async fn find_draft(shop: &Shop, id: SessionId) -> Option<(String, i64)> {
    let find = move |tx: &mut Tx<'_>| session_waits::find_draft(tx, id);
    shop.db.read(shop.tenant, find).await.unwrap().map(|draft| (draft.text, draft.after))
}

on_both! {
    async fn whoever_has_the_conversation_is_proposed_an_answer_to_each_message(test: TestDb) {
        let script = ["Hello.", "We open at nine.", "On Sundays at ten."].map(ScriptedTurn::text);
        let shop = open(&test, script, "held_drafts = true\n").await;
        let runner = runner(&shop);
        let first = shop.say("1", "hello").await;
        shop.outcome(&first).await;
        take(&test, &shop, first.session, shop.owner).await;
        let held = shop.say("2", "when do you open?").await;
        test.clock.advance(Duration::from_secs(2));
        runner.drain().await.unwrap();
        assert_eq!(find_draft(&shop, first.session).await, Some(("We open at nine.".to_owned(), 3)));
        // A newer message has a newer draft in its place.
        shop.say("3", "and on Sundays?").await;
        assert_eq!(find_draft(&shop, first.session).await, None);
        test.clock.advance(Duration::from_secs(2));
        runner.drain().await.unwrap();
        assert_eq!(find_draft(&shop, first.session).await, Some(("On Sundays at ten.".to_owned(), 4)));
        // Nobody was told it.
        for message in shop.messages_of(held.run).await {
            assert!(!message.text.contains("nine"), "{message:?}");
        }
        assert_eq!(find_session(&shop, first.session).await.messages, 4);
        write_as(&test, &shop, first.session, shop.owner, "At ten on Sundays.").await;
        assert_eq!(find_draft(&shop, first.session).await, None);
        runner.drain().await.unwrap();
        assert_eq!(shop.model.requests().len(), 3);
    }

    async fn a_message_amid_a_draft_that_fails_has_another_made(test: TestDb) {
        let gate = ScriptGate::default();
        let script =
            [ScriptedTurn::text("Hello."), ScriptedTurn::text(" ").with_gate(&gate), ScriptedTurn::text("At ten.")];
        let shop = open(&test, script, "held_drafts = true\n").await;
        let runner = runner(&shop);
        let first = shop.say("1", "hello").await;
        shop.outcome(&first).await;
        take(&test, &shop, first.session, shop.owner).await;
        shop.say("2", "when do you open?").await;
        test.clock.advance(Duration::from_secs(2));
        let meanwhile = async {
            wait_until(async || shop.model.requests().len() == 2).await;
            shop.say("3", "and on Sundays?").await;
            gate.open();
        };
        let (drained, ()) = tokio::join!(runner.drain(), meanwhile);
        drained.unwrap();
        assert_eq!(find_draft(&shop, first.session).await, None, "the model had no words");
        test.clock.advance(Duration::from_secs(2));
        runner.drain().await.unwrap();
        assert_eq!(find_draft(&shop, first.session).await, Some(("At ten.".to_owned(), 4)));
    }

    async fn a_team_that_wants_no_drafts_asks_no_model(test: TestDb) {
        let shop = open(&test, [ScriptedTurn::text("Hello.")], "").await;
        let runner = runner(&shop);
        let first = shop.say("1", "hello").await;
        shop.outcome(&first).await;
        take(&test, &shop, first.session, shop.owner).await;
        shop.ask("2", "when do you open?").await;
        test.clock.advance(Duration::from_secs(3600));
        runner.drain().await.unwrap();
        assert_eq!((shop.model.requests().len(), find_draft(&shop, first.session).await), (1, None));
        assert!(find_session(&shop, first.session).await.hold.is_some(), "without a time limit they keep it");
    }

    async fn whoever_is_left_waiting_goes_on_by_the_rule_of_the_team(test: TestDb) {
        let script = ["Hello.", "Care here."].map(ScriptedTurn::text);
        let shop = open(&test, script, "answer_within = 15\nunanswered = \"care\"\n").await;
        // Two nodes look after one queue.
        let (runner, other) = (runner(&shop), runner(&shop));
        let first = shop.say("1", "hello").await;
        shop.outcome(&first).await;
        take(&test, &shop, first.session, shop.owner).await;
        test.clock.advance(Duration::from_secs(3600));
        runner.drain().await.unwrap();
        assert!(find_session(&shop, first.session).await.hold.is_some(), "nobody waits");
        let asked = shop.say("2", "anybody?").await;
        test.clock.advance(Duration::from_secs(14 * 60));
        runner.drain().await.unwrap();
        assert!(find_session(&shop, first.session).await.hold.is_some(), "it is not time yet");
        // An answer begins it anew.
        write_as(&test, &shop, first.session, shop.owner, "In a moment.").await;
        test.clock.advance(Duration::from_secs(2 * 60));
        let asked_again = shop.say("3", "so?").await;
        runner.drain().await.unwrap();
        assert!(find_session(&shop, first.session).await.hold.is_some(), "they were answered");
        test.clock.advance(Duration::from_secs(16 * 60));
        let (one, two) = tokio::join!(runner.drain(), other.drain());
        one.unwrap();
        two.unwrap();
        runner.drain().await.unwrap();
        let session = find_session(&shop, first.session).await;
        assert_eq!(session.hold, None);
        assert_eq!(shop.number(EXPIRED).await, 1, "once");
        assert_eq!(shop.messages_of(asked.run).await.len(), 1);
        let told = shop.messages_of(asked_again.run).await;
        assert!(told.last().unwrap().text.starts_with("Sorry, nobody could answer"), "{told:?}");
        assert_eq!(told.len(), 2, "{told:?}");
        // The team is told, and the conversation goes on until somebody comes.
        let find = move |tx: &mut Tx<'_>| human_requests::find_open(tx, first.session);
        let request = shop.db.read(shop.tenant, find).await.unwrap().unwrap();
        assert_eq!((request.state, request.team.as_deref()), (HumanRequestState::Callback, Some("Counter")));
        assert!(request.reason.starts_with("They wait for an answer"), "{request:?}");
        assert_eq!(shop.ask("4", "hello?").await.text, "Care here.");
    }
}
