//! Messages that come through an API key: a program's words, and how far a key reaches.

use munshi_agent::RunOutcome;
use munshi_conversations::{KeyUse, RunState};
use munshi_identity::Role;
use munshi_identity::keys::{KeyCeiling, KeySpeaker};
use munshi_llm::ChatEvent as Said;
use munshi_store::params;
use munshi_test_support::TestDb;
use munshi_test_support::models::ScriptedTurn;
use munshi_types::IdGenerator;

use crate::turns::delayed::set_policy;
use crate::turns::support::{Shop, arguments};

fn through(speaks_as: KeySpeaker, role: Option<Role>) -> KeyUse {
    KeyUse {
        key: IdGenerator::system().next(),
        speaks_as,
        ceiling: KeyCeiling { role, ..KeyCeiling::default() },
    }
}

async fn ask(shop: &Shop, id: &str, text: &str, key: KeyUse) -> RunOutcome {
    let received = shop.engine.receive_with_key(shop.message(shop.staff, id, text), key).await.unwrap();
    shop.outcome(&received).await
}

on_both! {
    async fn a_programs_yes_answers_nothing(test: TestDb) {
        let shop = Shop::open(&test, [ScriptedTurn::call("note", &arguments("tea")), ScriptedTurn::text("Noted.")]).await;
        let program = through(KeySpeaker::Program, Some(Role::Staff));
        let asked = ask(&shop, "1", "note tea", program.clone()).await;
        assert_eq!((asked.state, shop.notes().await), (RunState::WaitingApproval, 0), "{asked:?}");
        let yes = ask(&shop, "2", "yes", program).await;
        assert_eq!((yes.state, shop.notes().await), (RunState::Done, 0), "{yes:?}");
        assert_eq!(shop.number("SELECT COUNT(*) FROM approvals WHERE tenant_id = $1 AND state = 'pending'").await, 1);
    }

    async fn the_person_says_yes_to_what_their_program_asks(test: TestDb) {
        let shop = Shop::open(&test, [ScriptedTurn::call("note", &arguments("tea")), ScriptedTurn::text("Noted.")]).await;
        let asked = ask(&shop, "1", "note tea", through(KeySpeaker::Program, Some(Role::Staff))).await;
        assert_eq!((asked.state, shop.notes().await), (RunState::WaitingApproval, 0), "{asked:?}");
        let yes = shop.ask("2", "yes").await;
        assert_eq!((yes.state, shop.notes().await), (RunState::Done, 1), "{yes:?}");
    }

    async fn a_program_takes_back_what_it_asked_for(test: TestDb) {
        let shop = Shop::open(&test, [ScriptedTurn::call("note", &arguments("tea"))]).await;
        let program = through(KeySpeaker::Program, Some(Role::Staff));
        ask(&shop, "1", "note tea", program.clone()).await;
        ask(&shop, "2", "no", program).await;
        assert_eq!(shop.number("SELECT COUNT(*) FROM approvals WHERE tenant_id = $1 AND state = 'refused'").await, 1);
    }

    async fn a_program_takes_back_nothing_that_others_asked_for(test: TestDb) {
        let shop = Shop::open(&test, [ScriptedTurn::call("note", &arguments("tea"))]).await;
        ask(&shop, "1", "note tea", through(KeySpeaker::Program, Some(Role::Staff))).await;
        let other = ask(&shop, "2", "no", through(KeySpeaker::Program, Some(Role::Staff))).await;
        assert_eq!(other.state, RunState::Done, "{other:?}");
        assert_eq!(shop.number("SELECT COUNT(*) FROM approvals WHERE tenant_id = $1 AND state = 'pending'").await, 1);
    }

    async fn a_program_takes_back_nothing_that_its_person_asked_for(test: TestDb) {
        let shop = Shop::open(&test, [ScriptedTurn::call("drop", &arguments("old"))]).await;
        assert_eq!(shop.ask("1", "remove old").await.state, RunState::WaitingApproval);
        ask(&shop, "2", "no", through(KeySpeaker::Program, Some(Role::Staff))).await;
        assert_eq!(shop.number("SELECT COUNT(*) FROM approvals WHERE tenant_id = $1 AND state = 'pending'").await, 1);
    }

    async fn it_is_a_programs_after_a_crash_too(test: TestDb) {
        let shop = Shop::open(&test, [ScriptedTurn::events([Said::Started { request_id: None, model: None }]).hanging()]).await;
        let key = through(KeySpeaker::Program, Some(Role::Staff));
        let received = shop.engine.receive_with_key(shop.message(shop.staff, "1", "note tea"), key).await.unwrap();
        shop.engine.abandon();
        let next = shop.again(&test, [ScriptedTurn::call("note", &arguments("tea")), ScriptedTurn::text("Noted.")]).await;
        test.clock.advance(std::time::Duration::from_secs(60));
        next.engine.sweep(munshi_conversations::RunRecoveryScope::Lapsed).await.unwrap();
        let outcome = next.outcome(&received).await;
        assert_eq!((outcome.state, next.notes().await), (RunState::WaitingApproval, 0), "{outcome:?}");
    }

    async fn a_run_from_before_is_the_persons_own(test: TestDb) {
        let shop = Shop::open(&test, [ScriptedTurn::events([Said::Started { request_id: None, model: None }]).hanging()]).await;
        let key = through(KeySpeaker::Program, Some(Role::Staff));
        let received = shop.engine.receive_with_key(shop.message(shop.staff, "1", "note tea"), key).await.unwrap();
        shop.engine.abandon();
        let run = received.run;
        let forget = "UPDATE runs SET key_use = NULL WHERE tenant_id = $1 AND id = $2";
        shop.db.write(shop.tenant, move |tx| tx.execute(forget, params![run])).await.unwrap();
        let next = shop.again(&test, [ScriptedTurn::call("note", &arguments("tea")), ScriptedTurn::text("Noted.")]).await;
        test.clock.advance(std::time::Duration::from_secs(60));
        next.engine.sweep(munshi_conversations::RunRecoveryScope::Lapsed).await.unwrap();
        let outcome = next.outcome(&received).await;
        assert_eq!((outcome.state, next.notes().await), (RunState::Done, 1), "{outcome:?}");
    }

    async fn nobody_is_more_through_a_key_than_it_may_be(test: TestDb) {
        let script = || [ScriptedTurn::call("note", &arguments("tea")), ScriptedTurn::text("Done.")];
        let shop = Shop::open(&test, script().into_iter().chain(script())).await;
        let known = ask(&shop, "1", "note tea", through(KeySpeaker::Person, None)).await;
        assert_eq!(shop.notes().await, 0, "{known:?}");
        let staff = ask(&shop, "2", "note tea", through(KeySpeaker::Person, Some(Role::Staff))).await;
        assert_eq!(shop.notes().await, 1, "{staff:?}");
    }

    /// What was asked for through a key is done for the person as they are when it is done, and never for more than the
    /// key lets them be.
    async fn a_yes_makes_nobody_more_than_the_key_they_asked_through(test: TestDb) {
        for (most, done) in [(Role::Staff, 0), (Role::Owner, 1)] {
            let test = TestDb::open(test.engine(), &crate::turns::support::migrations()).await;
            let shop = Shop::open(&test, [ScriptedTurn::call("drop", &arguments("tea")), ScriptedTurn::text("So it is.")]).await;
            let key = through(KeySpeaker::Person, Some(most));
            let asked = shop.engine.receive_with_key(shop.message(shop.owner, "1", "remove tea"), key).await.unwrap();
            assert_eq!(shop.outcome(&asked).await.state, RunState::WaitingApproval);
            set_policy(&test, &shop, "[roles.staff]\ndeny = [\"shop.drop\"]\n").await;
            let yes = shop.engine.receive(shop.message(shop.owner, "2", "yes")).await.unwrap();
            let outcome = shop.outcome(&yes).await;
            assert_eq!((outcome.state, shop.notes().await), (RunState::Done, done), "{most:?}: {outcome:?}");
        }
    }
}
