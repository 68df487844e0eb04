//! Acts that a person is asked about first.

use std::sync::Arc;
use std::time::Duration;

use munshi_agent::RunOutcome;
use munshi_conversations::{RunEvent, RunState};
use munshi_identity::persons;
use munshi_safety::approvals::{
    self, ApprovalAnswer, ApprovalAnswerOutcome, ApprovalCoverage, ApprovalDecision, ApprovalStatus,
};
use munshi_store::{Tx, params};
use munshi_test_support::models::ScriptedTurn;
use munshi_test_support::{TestDb, wait_until};
use munshi_tools::NoActJournal;
use munshi_types::{ApprovalId, Clock, Id, InboundMessage, PersonId, RunId, Timestamp};
use uuid::Uuid;

use crate::turns::support::{Plan, Shop, arguments};

/// Says yes or no through the API, as somebody.
pub(crate) async fn answer(
    test: &TestDb,
    shop: &Shop,
    who: PersonId,
    id: ApprovalId,
    answer: ApprovalDecision,
) -> ApprovalAnswerOutcome {
    let (office, now) = (shop.act_services.clone(), test.clock.now());
    let unit = move |tx: &mut munshi_store::Tx<'_>| -> Result<ApprovalAnswerOutcome, munshi_safety::Error> {
        let who = persons::find(tx, who)?.unwrap().principal(tx);
        let said = ApprovalAnswer {
            who: &who,
            answer,
            shown: None,
            covers: ApprovalCoverage::Act,
            via: "api",
            key: None,
            source: munshi_safety::approvals::AnswerSource::Page,
        };
        approvals::answer(tx, &office, id, &said, now)
    };
    shop.db.write(shop.tenant, unit).await.unwrap()
}

fn waits(outcome: &RunOutcome) -> ApprovalId {
    assert_eq!(outcome.state, RunState::WaitingApproval, "{outcome:?}");
    outcome.approval.unwrap()
}

/// Nobody can say yes to it any more, and its act is dropped.
pub(crate) async fn assert_withdrawn(test: &TestDb, shop: &Shop, id: ApprovalId) {
    let answered = answer(test, shop, shop.owner, id, ApprovalDecision::Yes).await;
    let ApprovalAnswerOutcome::Already(approval) = answered else { panic!("{answered:?}") };
    assert_eq!(
        (approval.state, approval.answered_via.as_deref()),
        (ApprovalStatus::Refused, Some("withdrawn"))
    );
    let dropped = "SELECT COUNT(*) FROM acts WHERE tenant_id = $1 AND state = 'dropped'";
    assert_eq!(shop.number(dropped).await, 1);
}

/// As a member of a group says it.
fn say_in_group(shop: &Shop, member: Option<&str>, id: &str, text: &str) -> InboundMessage {
    let mut said = shop.message(shop.staff, id, text);
    (said.from.is_vouched, said.from.is_group) = (true, true);
    said.from.member = member.map(str::to_owned);
    said
}

on_both! {
    async fn what_one_of_a_group_asked_for_no_other_says_yes_to(test: TestDb) {
        let agent = Plan::default().agent.replace("\"fax\"]", "\"fax\", \"cancel_visit\"]");
        let script = [ScriptedTurn::call("cancel_visit", &arguments("Monday")), ScriptedTurn::text("It is cancelled.")];
        let shop = Shop::open_with(&test, script, Plan { agent, ..Plan::default() }).await;
        let ask = async |member, id: &str, text: &str| {
            let received = shop.engine.receive(say_in_group(&shop, member, id, text)).await.unwrap();
            shop.outcome(&received).await
        };
        waits(&ask(Some("meera"), "1", "cancel my visit on Monday").await);
        for (id, member) in [("2", Some("ravi")), ("3", None)] {
            let told = ask(member, id, "yes").await;
            assert_eq!((told.state, shop.notes().await), (RunState::Done, 0), "{told:?}");
            assert!(told.text.contains("waiting for approval") && told.text.contains("Monday"), "{}", told.text);
        }
        let done = ask(Some("meera"), "4", "yes").await;
        assert_eq!((done.text.as_str(), shop.notes().await), ("It is cancelled.", 1));
    }

    async fn anybody_of_a_group_may_stop_what_was_asked_for(test: TestDb) {
        let agent = Plan::default().agent.replace("\"fax\"]", "\"fax\", \"cancel_visit\"]");
        let script = [ScriptedTurn::call("cancel_visit", &arguments("Monday"))];
        let shop = Shop::open_with(&test, script, Plan { agent, ..Plan::default() }).await;
        let asked = shop.engine.receive(say_in_group(&shop, Some("meera"), "1", "cancel my visit on Monday")).await.unwrap();
        waits(&shop.outcome(&asked).await);
        let no = shop.engine.receive(say_in_group(&shop, Some("ravi"), "2", "no")).await.unwrap();
        assert_eq!(shop.outcome(&no).await.state, RunState::Done);
        assert_eq!(shop.number("SELECT COUNT(*) FROM runs WHERE tenant_id = $1 AND ended_at IS NULL").await, 0);
    }

    async fn a_yes_in_the_chat_goes_on_with_it(test: TestDb) {
        let shop = Shop::open(&test, [ScriptedTurn::call("drop", &arguments("पुराना")), ScriptedTurn::text("हटा दिया गया है।")]).await;
        let first = shop.say("1", "पुराना वाला हटा दीजिए").await;
        let waiting = shop.outcome(&first).await;
        waits(&waiting);
        assert!(waiting.text.contains("पुराना") && waiting.text.contains("हाँ या नहीं"), "{}", waiting.text);
        assert_eq!((shop.notes().await, waiting.suggestions.len()), (0, 2));
        let events = shop.events(&first, None).await;
        assert!(events.iter().any(|(_, event)| matches!(event, RunEvent::Approval { .. })));
        let done = shop.ask("2", "हाँ").await;
        assert_eq!((done.text.as_str(), done.state), ("हटा दिया गया है।", RunState::Done));
        assert_eq!(shop.notes().await, 1);
        assert!(done.calls.iter().any(|call| call.tool == "drop" && call.ok), "{:?}", done.calls);
        let ended = shop.outcome(&first).await;
        assert_eq!(ended.state, RunState::Done, "the run that waited is ended in favour of the other");
        let asked = shop.model.requests();
        let last = asked.last().unwrap().request.messages.iter().rev().find(|message| message.parts.iter().any(|part| matches!(part, munshi_llm::ModelMessagePart::ToolResult(result) if !result.is_error)));
        assert!(last.is_some(), "the model has seen what came of it");
        // A second yes answers nothing.
        assert_eq!(shop.ask("3", "हाँ").await.state, RunState::Halted);
        assert_eq!(shop.notes().await, 1);
    }

    async fn a_no_in_the_chat_drops_it(test: TestDb) {
        let shop = Shop::open(&test, [ScriptedTurn::call("drop", &arguments("old"))]).await;
        waits(&shop.ask("1", "purana wala hata dijiye").await);
        let done = shop.ask("2", "nahi").await;
        assert_eq!(done.state, RunState::Done);
        assert!(done.text.starts_with("Radd"), "{}", done.text);
        assert_eq!((shop.notes().await, shop.model.requests().len()), (0, 1));
        let waiting = "SELECT COUNT(*) FROM runs WHERE tenant_id = $1 AND ended_at IS NULL";
        assert_eq!(shop.number(waiting).await, 0);
    }

    async fn somebody_else_says_yes_elsewhere(test: TestDb) {
        let shop = Shop::open(&test, [ScriptedTurn::call("wipe", &arguments("all")), ScriptedTurn::text("It is wiped.")]).await;
        let received = shop.say("1", "wipe all of it").await;
        let waiting = shop.outcome(&received).await;
        let id = waits(&waiting);
        assert!(waiting.text.contains("waiting for approval"), "{}", waiting.text);
        let yes = shop.book.render("say-yes", munshi_lang::Locale::all().next().unwrap(), &[]).unwrap();
        assert!(!waiting.suggestions.contains(&yes), "{:?}", waiting.suggestions);
        assert!(matches!(answer(&test, &shop, shop.staff, id, ApprovalDecision::Yes).await, ApprovalAnswerOutcome::NotYours { .. }));
        assert!(matches!(answer(&test, &shop, shop.owner, id, ApprovalDecision::Yes).await, ApprovalAnswerOutcome::Granted(_)));
        shop.engine.resume(received.tenant, received.run).await.unwrap();
        shop.engine.resume(received.tenant, received.run).await.unwrap();
        wait_until(async || shop.outcome(&received).await.state == RunState::Done).await;
        let done = shop.outcome(&received).await;
        assert_eq!((done.text.as_str(), done.state), ("It is wiped.", RunState::Done));
        assert_eq!(shop.world.effects().len(), 1);
        let events = shop.events(&received, None).await;
        assert_eq!(crate::turns::support::text_of(&events), "It is wiped.");
        let held = "SELECT COUNT(*) FROM usage_reservations WHERE tenant_id = $1";
        assert_eq!(shop.number(held).await, 0);
    }

    async fn an_answer_that_nobody_told_us_of_is_found(test: TestDb) {
        let shop = Shop::open(&test, [ScriptedTurn::call("wipe", &arguments("all"))]).await;
        let received = shop.say("1", "wipe all of it").await;
        let id = waits(&shop.outcome(&received).await);
        assert_eq!(shop.engine.sweep(munshi_conversations::RunRecoveryScope::Lapsed).await.unwrap(), 0);
        answer(&test, &shop, shop.owner, id, ApprovalDecision::No).await;
        // Another process finds it.
        let other = shop.again(&test, [ScriptedTurn::text("It was not wanted.")]).await;
        assert_eq!(other.engine.sweep(munshi_conversations::RunRecoveryScope::Lapsed).await.unwrap(), 1);
        let mut following = other.engine.follow(received.tenant, received.run, None).await.unwrap();
        while following.next().await.is_some_and(|(_, event)| !event.is_last()) {}
        let done = other.outcome(&received).await;
        assert_eq!((done.text.as_str(), done.state), ("It was not wanted.", RunState::Done));
        assert_eq!(shop.world.effects().len(), 0);
        assert_eq!(other.engine.sweep(munshi_conversations::RunRecoveryScope::Lapsed).await.unwrap(), 0);
    }

    async fn nobody_answers_in_time(test: TestDb) {
        let shop = Shop::open(&test, [ScriptedTurn::call("wipe", &arguments("all"))]).await;
        let received = shop.say("1", "wipe all of it").await;
        waits(&shop.outcome(&received).await);
        test.clock.advance(Duration::from_secs(40 * 24 * 3600));
        assert_eq!(shop.dispatcher.sweep(Arc::new(NoActJournal)).await.unwrap().expired, 1);
        assert_eq!(shop.engine.sweep(munshi_conversations::RunRecoveryScope::Lapsed).await.unwrap(), 1);
        let mut following = shop.engine.follow(received.tenant, received.run, None).await.unwrap();
        while following.next().await.is_some_and(|(_, event)| !event.is_last()) {}
        assert!(shop.outcome(&received).await.text.starts_with("Nobody answered in time"));
        assert_eq!(shop.world.effects().len(), 0);
    }

    async fn who_may_not_say_yes_is_told_so_and_talks_on(test: TestDb) {
        let shop = Shop::open(&test, [ScriptedTurn::call("wipe", &arguments("all")), ScriptedTurn::text("We open at nine.")]).await;
        let received = shop.say("1", "wipe all of it").await;
        waits(&shop.outcome(&received).await);
        let told = shop.ask("2", "yes").await;
        assert!(told.text.contains("waiting for approval"), "{}", told.text);
        assert_eq!(shop.ask("3", "when do you open").await.text, "We open at nine.");
        waits(&shop.outcome(&received).await);
        assert_eq!(shop.world.effects().len(), 0);
    }

    async fn a_yes_is_to_the_question_that_was_put_last(test: TestDb) {
        let script = [
            ScriptedTurn::call("drop", &arguments("tea")), ScriptedTurn::call("drop", &arguments("salt")), ScriptedTurn::text("Salt is gone."),
        ];
        let shop = Shop::open(&test, script).await;
        waits(&shop.ask("1", "remove tea").await);
        test.clock.advance(Duration::from_secs(5));
        waits(&shop.ask("2", "remove salt").await);
        let done = shop.ask("3", "yes").await;
        assert_eq!(done.text, "Salt is gone.", "the one that was asked last");
        let salt = "SELECT COUNT(*) FROM notes WHERE tenant_id = $1 AND text = 'salt'";
        assert_eq!((shop.notes().await, shop.number(salt).await), (1, 1));
    }

    async fn what_is_asked_about_is_told_in_the_persons_language(test: TestDb) {
        let both = ScriptedTurn::calls([("drop", arguments("चाय")), ("drop", arguments("नमक"))]);
        let shop = Shop::open(&test, [ScriptedTurn::call("drop", &arguments("चाय")), both]).await;
        let one = shop.ask("1", "चाय हटा दीजिए").await;
        waits(&one);
        assert!(one.text.starts_with("चाय हटाओ") && !one.text.contains("Does drop"), "{}", one.text);
        test.clock.advance(Duration::from_secs(5));
        let two = shop.ask("2", "चाय और नमक हटा दीजिए").await;
        assert_eq!(two.state, RunState::WaitingApproval);
        let which = shop.ask("3", "हाँ").await;
        let named = ["\n1. चाय हटाओ\n2. नमक हटाओ", "\n1. नमक हटाओ\n2. चाय हटाओ"];
        assert!(named.iter().any(|list| which.text.ends_with(list)), "{}", which.text);
        assert!(!which.text.contains("Does drop"), "{}", which.text);
        assert_eq!(shop.notes().await, 0, "of several that were put at once one is named");
    }

    async fn a_question_whether_to_go_on_has_its_yes_and_no_to_tap(test: TestDb) {
        let english = munshi_lang::Locale::all().find(|voice| voice.code() == "en").unwrap();
        let mut book = munshi_lang::Phrasebook::core().unwrap();
        munshi_guardrails::add_phrases(&mut book).unwrap();
        let say = |name: &str| book.render(name, english, &[]).unwrap();
        let asked = format!("You sold tea for ₹20. {}", say("ask-go-ahead"));
        let shop = Shop::open(&test, [ScriptedTurn::text(&asked), ScriptedTurn::text("We open at nine.")]).await;
        let outcome = shop.ask("1", "i sold some tea, maybe").await;
        assert_eq!(outcome.suggestions, [say("say-yes"), say("say-no")]);
        let other = shop.ask("2", "when do you open").await;
        assert!(!other.suggestions.contains(&say("say-yes")), "{:?}", other.suggestions);
    }

    async fn a_question_can_be_withdrawn(test: TestDb) {
        let shop = Shop::open(&test, [ScriptedTurn::call("wipe", &arguments("all"))]).await;
        let received = shop.say("1", "wipe all of it").await;
        let id = waits(&shop.outcome(&received).await);
        shop.engine.cancel(received.tenant, received.run).await.unwrap();
        assert_withdrawn(&test, &shop, id).await;
        let mut following = shop.engine.follow(received.tenant, received.run, None).await.unwrap();
        while following.next().await.is_some_and(|(_, event)| !event.is_last()) {}
        let outcome = shop.outcome(&received).await;
        assert_eq!(outcome.halt, Some(munshi_conversations::HaltReason::Cancelled), "{outcome:?}");
        // A yes that comes too late does nothing, wherever it is said.
        shop.engine.resume(received.tenant, received.run).await.unwrap();
        assert_eq!(shop.ask("2", "yes").await.state, RunState::Halted, "there is no model left to ask");
        assert_eq!(shop.world.effects().len(), 0);
        let told = "SELECT COUNT(*) FROM audit_entries WHERE tenant_id = $1 AND event = 'approval.withdrawn'";
        assert_eq!(shop.number(told).await, 1, "once, though the run ends later");
    }

    async fn a_run_that_halts_while_it_asks_takes_its_question_back(test: TestDb) {
        let calls = [("wipe", arguments("all")), ("count", serde_json::json!({ "mood": "fails" })),
            ("count", serde_json::json!({ "mood": "fails" }))];
        let shop = Shop::open(&test, [ScriptedTurn::calls(calls)]).await;
        let received = shop.say("1", "wipe all of it").await;
        let outcome = shop.outcome(&received).await;
        assert!(matches!(outcome.halt, Some(munshi_conversations::HaltReason::Stuck(_))), "{outcome:?}");
        let open = "SELECT COUNT(*) FROM approvals WHERE tenant_id = $1 AND state = 'pending'";
        let dropped = "SELECT COUNT(*) FROM acts WHERE tenant_id = $1 AND state = 'dropped'";
        assert_eq!((shop.number(open).await, shop.number(dropped).await), (0, 1));
    }

    async fn what_nobody_answered_is_not_taken_up(test: TestDb) {
        let shop = Shop::open(&test, [ScriptedTurn::call("wipe", &arguments("all")), ScriptedTurn::text("It is wiped.")]).await;
        let received = shop.say("1", "wipe all of it").await;
        let id = waits(&shop.outcome(&received).await);
        for _ in 0..12 {
            shop.engine.resume(received.tenant, received.run).await.unwrap();
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
        let (said, taken) = ("SELECT COUNT(*) FROM messages WHERE tenant_id = $1", "SELECT epoch FROM runs WHERE tenant_id = $1");
        assert_eq!((shop.number(said).await, shop.number(taken).await), (2, 1), "the question is put once");
        answer(&test, &shop, shop.owner, id, ApprovalDecision::Yes).await;
        shop.engine.resume(received.tenant, received.run).await.unwrap();
        ended(&shop, &received).await;
        assert_eq!(shop.outcome(&received).await.text, "It is wiped.");
    }

    async fn a_run_may_wait_as_often_as_it_must(test: TestDb) {
        let names = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];
        let calls = names.map(|name| ScriptedTurn::call("drop", &arguments(name)));
        let mut plan = Plan { agent: Plan::default().agent.replace("tool_calls = 6", "tool_calls = 20"), ..Plan::default() };
        plan.budgets.run.iterations = 100;
        let shop = Shop::open_with(&test, calls.into_iter().chain([ScriptedTurn::text("All gone.")]), plan).await;
        let received = shop.say("1", "remove them one after another").await;
        for _ in names {
            let id = waits(&shop.outcome(&received).await);
            answer(&test, &shop, shop.staff, id, ApprovalDecision::Yes).await;
            shop.engine.resume(received.tenant, received.run).await.unwrap();
            ended(&shop, &received).await;
        }
        let done = shop.outcome(&received).await;
        assert_eq!((done.text.as_str(), done.state, shop.notes().await), ("All gone.", RunState::Done, 10), "{done:?}");
    }

    async fn many_who_do_not_answer_are_in_nobodys_way(test: TestDb) {
        let shop = Shop::open(&test, [ScriptedTurn::call("wipe", &arguments("all")), ScriptedTurn::text("It is wiped.")]).await;
        let received = shop.say("1", "wipe all of it").await;
        let id = waits(&shop.outcome(&received).await);
        // Older ones, more than are looked at in one go; of them nothing is ever answered.
        shop.db.write(shop.tenant, move |tx| copies(tx, received.run)).await.unwrap();
        answer(&test, &shop, shop.owner, id, ApprovalDecision::Yes).await;
        let mut taken = 0;
        for _ in 0..3 {
            taken += shop.engine.sweep(munshi_conversations::RunRecoveryScope::Lapsed).await.unwrap();
        }
        assert_eq!(taken, 1);
        ended(&shop, &received).await;
        assert_eq!(shop.outcome(&received).await.text, "It is wiped.");
    }
}

/// Follows a run until it has ended or waits again.
async fn ended(shop: &Shop, received: &munshi_agent::MessageReceipt) {
    let mut following = shop.engine.follow(received.tenant, received.run, None).await.unwrap();
    while following.next().await.is_some_and(|(_, event)| !event.is_last()) {}
}

/// Runs that wait and of which nothing can be answered: what they wait for is nothing.
fn copies(tx: &mut Tx<'_>, of: RunId) -> munshi_store::Result<()> {
    let run = munshi_conversations::runs::find(tx, of)?.unwrap();
    let its = run.conversation().unwrap();
    let long_ago = Timestamp::EPOCH.plus(Duration::from_secs(9));
    for number in 1..=2_100 {
        let id: RunId = Id::from_uuid(Uuid::from_u128(number));
        tx.execute(
            "INSERT INTO runs (tenant_id, id, session_id, number, binding_id, person_id, message_id, kind, channel, state,
               epoch, snapshot, cancel_asked, began_at)
             VALUES ($1, $2, $3, $4, $5, $6, $7, 'message', 'web', 'waiting_approval', 1, '{}', FALSE, $8)",
            params![id, its.session, its.number, its.binding, its.person, its.message, long_ago],
        )?;
    }
    Ok(())
}
