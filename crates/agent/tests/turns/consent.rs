//! What a bare yes is an answer to, and what it takes over.

use std::sync::Arc;
use std::time::Duration;

use munshi_conversations::{HaltReason, RunState};
use munshi_pack::{FromPack, PackReader, PackReading, PackRegistry, PackTurnContext};
use munshi_safety::approvals::{ApprovalAnswerOutcome, ApprovalDecision};
use munshi_safety::budget::BudgetSettings as Budgets;
use munshi_test_support::models::{ScriptGate, ScriptedTurn};
use munshi_types::tier::Channel;
use munshi_types::{Clock, ReplyAddress};

use crate::turns::approvals::answer;
use crate::turns::support::{Plan, Shop, arguments};

/// Reads a bank's messages by itself, and wants something done that is asked about.
struct Bank;

impl PackReader for Bank {
    fn read(&self, scene: &PackTurnContext) -> Option<PackReading> {
        let text = scene.message.strip_prefix("BANK: ")?;
        Some(PackReading::Call { tool: "drop".to_owned(), arguments: arguments(text) })
    }
}

const PENDING: &str = "SELECT COUNT(*) FROM approvals WHERE tenant_id = $1 AND state = 'pending'";

const OPEN: &str = "SELECT COUNT(*) FROM runs WHERE tenant_id = $1 AND ended_at IS NULL";

on_both! {
    async fn a_yes_to_something_else_is_no_yes(test: TestDb) {
        let script = [
            ScriptedTurn::call("drop", &arguments("old")), ScriptedTurn::text("It is 500. Shall I list the last five?"),
            ScriptedTurn::text("Here they are."), ScriptedTurn::text("As you like."), ScriptedTurn::text("It is gone."),
        ];
        let shop = Shop::open(&test, script).await;
        assert_eq!(shop.ask("1", "remove old").await.state, RunState::WaitingApproval);
        assert!(shop.ask("2", "what is my balance?").await.text.ends_with("the last five?"));
        let listed = shop.ask("3", "yes").await.text;
        assert!(listed.starts_with("Here they are.\n"), "{listed}");
        assert_eq!((shop.notes().await, shop.number(PENDING).await), (0, 1));
        // What waits is put before them once more, and only then can be answered.
        assert!(listed.contains("This is waiting for your answer:\n") && listed.contains("“old”"), "{listed}");
        let other = shop.ask("4", "how are you?").await.text;
        assert!(other.starts_with("As you like.\n") && other.contains("“old”"), "{other}");
        assert_eq!(shop.ask("5", "yes").await.text, "It is gone.");
        assert_eq!((shop.notes().await, shop.number(PENDING).await), (1, 0));
    }

    async fn a_yes_before_the_question_is_no_answer_to_it(test: TestDb) {
        let gate = ScriptGate::default();
        let held = ScriptedTurn::call("drop", &arguments("all")).with_gate(&gate);
        let shop = Shop::open(&test, [held, ScriptedTurn::text("All right.")]).await;
        let first = shop.say("1", "remove all").await;
        let second = shop.say("2", "ok").await;
        gate.open();
        assert_eq!(shop.outcome(&first).await.state, RunState::WaitingApproval);
        assert_eq!(shop.outcome(&second).await.text, "All right.");
        assert_eq!((shop.notes().await, shop.number(PENDING).await), (0, 1));
    }

    async fn a_yes_that_was_long_on_its_way_is_no_answer_either(test: TestDb) {
        let shop = Shop::open(&test, [ScriptedTurn::call("drop", &arguments("all")), ScriptedTurn::text("All right."), ScriptedTurn::text("Gone.")]).await;
        let asked_at = test.clock.now();
        assert_eq!(shop.ask("1", "remove all").await.state, RunState::WaitingApproval);
        test.clock.advance(Duration::from_secs(60));
        let sent = |id: &str, ago: u64| {
            let sent_at = Some(asked_at.plus(Duration::from_secs(30)).minus(Duration::from_secs(ago)));
            munshi_types::InboundMessage { sent_at, ..shop.message(shop.staff, id, "yes") }
        };
        let late = shop.engine.receive(sent("2", 60)).await.unwrap();
        assert_eq!(shop.outcome(&late).await.text, "All right.");
        assert_eq!((shop.notes().await, shop.number(PENDING).await), (0, 1));
    }

    async fn a_yes_to_a_question_that_never_left_is_no_answer(test: TestDb) {
        let script = [ScriptedTurn::call("drop", &arguments("all")), ScriptedTurn::text("All right."), ScriptedTurn::call("drop", &arguments("old")), ScriptedTurn::text("Gone.")];
        let shop = Shop::open(&test, script).await;
        let to = ReplyAddress::new(Channel::Whatsapp, "+919812345678".to_owned());
        let sent = |id: &str, text: &str| munshi_types::InboundMessage { reply_to: Some(to.clone()), ..shop.message(shop.staff, id, text) };
        let asked = shop.engine.receive(sent("1", "remove all")).await.unwrap();
        assert_eq!(shop.outcome(&asked).await.state, RunState::WaitingApproval);
        let unseen = shop.engine.receive(sent("2", "yes")).await.unwrap();
        assert_eq!(shop.outcome(&unseen).await.text, "All right.", "the question still waits to be sent");
        assert_eq!((shop.notes().await, shop.number(PENDING).await), (0, 1));
        let again = shop.engine.receive(sent("3", "remove old")).await.unwrap();
        assert_eq!(shop.outcome(&again).await.state, RunState::WaitingApproval);
        shop.db.write(shop.tenant, |tx| tx.execute("UPDATE outbox SET state = 'sent' WHERE tenant_id = $1", &[])).await.unwrap();
        let seen = shop.engine.receive(sent("4", "yes")).await.unwrap();
        assert_eq!(shop.outcome(&seen).await.text, "Gone.", "what was sent can be answered");
        assert_eq!((shop.notes().await, shop.number(PENDING).await), (1, 1));
    }

    async fn a_stop_that_answers_a_question_is_a_no(test: TestDb) {
        let drop_all = || ScriptedTurn::call("drop", &arguments("all"));
        let shop = Shop::open(&test, [drop_all(), drop_all()]).await;
        let to = ReplyAddress::new(Channel::Whatsapp, "+919812345678".to_owned());
        let say = async |id: &str, text: &str| {
            let sent = munshi_types::InboundMessage { reply_to: Some(to.clone()), ..shop.message(shop.staff, id, text) };
            let received = shop.engine.receive(sent).await.unwrap();
            let outcome = shop.outcome(&received).await;
            shop.db.write(shop.tenant, |tx| tx.execute("UPDATE outbox SET state = 'sent' WHERE tenant_id = $1", &[])).await.unwrap();
            outcome
        };
        let opted_out = "SELECT COUNT(*) FROM opt_outs WHERE tenant_id = $1 AND opened_at IS NULL";
        assert_eq!(say("1", "remove all").await.state, RunState::WaitingApproval);
        let refused = say("2", "Stop.").await;
        assert_eq!((refused.state, shop.notes().await, shop.number(PENDING).await), (RunState::Done, 0, 0), "{refused:?}");
        assert_eq!(shop.number(opted_out).await, 0, "who works here has said no, and nothing else");
        // The same of somebody who does not work here means both.
        assert_eq!(say("3", "remove all").await.state, RunState::WaitingApproval);
        shop.db.write(shop.tenant, |tx| tx.execute("UPDATE persons SET role = NULL WHERE tenant_id = $1", &[])).await.unwrap();
        let stopped = say("4", "STOP").await;
        assert_eq!((stopped.state, shop.notes().await, shop.number(PENDING).await), (RunState::Halted, 0, 0), "{stopped:?}");
        assert_eq!(shop.number(opted_out).await, 1);
    }

    async fn what_a_pack_read_is_told_by_no_model_elsewhere_after_a_yes(test: TestDb) {
        let house = PackRegistry { readers: vec![FromPack { pack: "shop", what: Arc::new(Bank) }], ..PackRegistry::default() };
        let shop = Shop::open_with(&test, [ScriptedTurn::text("You got 500.")], Plan { house, ..Plan::default() }).await;
        assert_eq!(shop.ask("1", "BANK: 500 credited").await.state, RunState::WaitingApproval);
        let done = shop.ask("2", "yes").await;
        assert_eq!((done.state, shop.notes().await), (RunState::Done, 1), "{done:?}");
        assert_eq!(shop.model.requests().len(), 0, "the message of the bank stays here");
    }

    /// Of two things that were asked for one is done at once and one is asked about: the question tells of the first, and
    /// so does the answer to a no.
    async fn a_no_tells_what_was_done_beside_it(test: TestDb) {
        let both = ScriptedTurn::calls([("note", arguments("milk")), ("drop", arguments("old"))]);
        let shop = Shop::open(&test, [both]).await;
        let asked = shop.ask("1", "note the milk and remove old").await;
        assert_eq!((asked.state, shop.notes().await), (RunState::WaitingApproval, 1), "{asked:?}");
        assert!(asked.text.starts_with("It is done.") && asked.text.contains("milk"), "{}", asked.text);
        let stopped = shop.ask("2", "no").await;
        assert!(stopped.text.starts_with("I have stopped.") && stopped.text.contains("milk"), "{}", stopped.text);
        assert!(!stopped.text.contains("old"), "{}", stopped.text);
        assert_eq!((stopped.state, shop.notes().await, shop.number(PENDING).await), (RunState::Done, 1, 0));
        assert_eq!((shop.number(OPEN).await, shop.model.requests().len()), (0, 1));
    }

    /// One of two was agreed to and done. The run that goes on from there asks about the other, and is the one that a no
    /// ends.
    async fn a_no_to_the_second_tells_of_the_first(test: TestDb) {
        let both = ScriptedTurn::calls([("drop", arguments("tea")), ("drop", arguments("salt"))]);
        let shop = Shop::open(&test, [both]).await;
        assert_eq!(shop.ask("1", "remove tea and salt").await.state, RunState::WaitingApproval);
        assert!(shop.ask("2", "yes").await.text.contains("\n2. "));
        let half = shop.ask("3", "1").await;
        assert_eq!((half.state, shop.notes().await), (RunState::WaitingApproval, 1), "{half:?}");
        assert!(half.text.starts_with("It is done."), "{}", half.text);
        let stopped = shop.ask("4", "no").await;
        assert!(stopped.text.starts_with("I have stopped."), "{}", stopped.text);
        let told = |text: &str| ["tea", "salt"].map(|name| text.contains(name));
        assert_eq!(told(&stopped.text).into_iter().filter(|is_told| *is_told).count(), 1, "{}", stopped.text);
        assert_eq!((shop.notes().await, shop.number(PENDING).await, shop.number(OPEN).await), (1, 0, 0));
    }

    async fn a_no_to_one_of_two_does_not_deny_what_was_done(test: TestDb) {
        let calls = [("note", arguments("milk")), ("drop", arguments("tea")), ("drop", arguments("salt"))];
        let shop = Shop::open(&test, [ScriptedTurn::calls(calls)]).await;
        assert!(shop.ask("1", "note milk, remove tea and salt").await.text.contains("milk"));
        assert!(shop.ask("2", "no").await.text.contains("\n2. "));
        assert_eq!(shop.ask("3", "1").await.text, "I have noted your answer.");
        assert_eq!((shop.notes().await, shop.number(PENDING).await, shop.number(OPEN).await), (1, 1, 1));
    }

    async fn a_yes_is_no_new_purse(test: TestDb) {
        let mut budgets = Budgets::default();
        budgets.run.iterations = 5;
        let script = [ScriptedTurn::call("drop", &arguments("old")), ScriptedTurn::text("Gone.")];
        let shop = Shop::open_with(&test, script, Plan { budgets, ..Plan::default() }).await;
        assert_eq!(shop.ask("1", "remove old").await.state, RunState::WaitingApproval);
        let done = shop.ask("2", "yes").await;
        assert!(matches!(&done.halt, Some(HaltReason::RunSpent(what)) if what.contains("5 of 5 steps")), "{done:?}");
        assert_eq!(shop.notes().await, 1, "what was agreed to is done");
    }

    async fn a_run_that_waited_forgets_nobody_who_was_hidden_meanwhile(test: TestDb) {
        let script = [
            ScriptedTurn::call("drop", &arguments("old")), ScriptedTurn::text("Call them."), ScriptedTurn::text("Gone."),
        ];
        let shop = Shop::open(&test, script).await;
        let first = shop.say("1", "remove old, says Farid").await;
        let id = shop.outcome(&first).await.approval.unwrap();
        assert_eq!(shop.ask("2", "is 9876543210 the number of Farid").await.state, RunState::Done);
        let before = hidden(&shop, first.session).await;
        assert!(matches!(answer(&test, &shop, shop.staff, id, ApprovalDecision::Yes).await, ApprovalAnswerOutcome::Granted(_)));
        shop.engine.resume(first.tenant, first.run).await.unwrap();
        let mut following = shop.engine.follow(first.tenant, first.run, None).await.unwrap();
        while following.next().await.is_some_and(|(_, event)| !event.is_last()) {}
        assert_eq!(shop.outcome(&first).await.text, "Gone.");
        assert!(before >= 2, "{before}");
        assert!(hidden(&shop, first.session).await >= before);
    }
}

/// How many values have a token.
async fn hidden(shop: &Shop, session: munshi_types::SessionId) -> usize {
    let found =
        shop.db.read(shop.tenant, move |tx| munshi_conversations::sessions::find(tx, session)).await.unwrap();
    found.unwrap().masked.map_or(0, |masked| masked["slots"].as_array().unwrap().len())
}
