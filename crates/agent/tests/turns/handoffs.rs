//! A conversation is handed on along the ways its team names, and the customer stays in it.

use std::sync::Arc;
use std::time::Duration;

use munshi_agent::{MessageReceipt, RunOutcome};
use munshi_conversations::handoffs::{self, HandoffRecord};
use munshi_conversations::human_requests::{self, HumanRequestState};
use munshi_conversations::{RunRecoveryScope, RunState, sessions};
use munshi_jobs::{JobRegistry, JobRunner, JobRunnerOptions};
use munshi_lang::Phrasebook;
use munshi_llm::{ChatEvent as Said, ChatRequest, ModelTarget};
use munshi_offline::OfflineProvider;
use munshi_store::Tx;
use munshi_test_app::{TenantFiles, build_message, parse_target};
use munshi_test_support::models::{ScriptedTurn, build_call_events};
use munshi_test_support::{TestDb, wait_until};
use munshi_types::tier::Channel;
use munshi_types::{Clock, InboundMessage, PersonId, ReplyAddress, SeededRandom, SessionId};
use serde_json::{Value, json};

use crate::turns::support::{Plan, Shop, arguments};

const COUNTER: &str = "+++\nname = \"Counter\"\nrole = \"You work at the counter.\"\nmembers = [\"meera\"]\n\
    [escalation]\nto = \"the owner\"\nwhen = [\"somebody is hurt\"]\n\
    [[handoffs]]\nto = \"care\"\nwhen = \"something is broken\"\n\
    [[handoffs]]\nto = \"binding/desk\"\nwhen = \"papers\"\n+++\n\nServe.\n";
const CARE: &str = "+++\nname = \"Care\"\nrole = \"You mend what is broken.\"\nmembers = [\"ravi\"]\ntools = [\"count\"]\n\
    guardrails = [\"no-discount\"]\n[[handoffs]]\nto = \"counter\"\nwhen = \"somebody wants to buy\"\n+++\n\nMend.\n";
const DESK: &str = "+++\nname = \"Desk\"\nrole = \"You write papers.\"\nmembers = [\"ravi\"]\n\
    [[handoffs]]\nto = \"binding/shop\"\nwhen = \"it is written\"\n+++\n\nWrite.\n";
const RAVI: &str = "+++\nname = \"Ravi\"\nidentity = \"You are calm.\"\n[speech]\nlanguages = [\"en\"]\nlock = \"open\"\n\
    +++\n\nCalm.\n";
const DESK_BINDING: &str = "human = \"ravi\"\nteam = \"desk\"\nagent = \"plain\"\ndoor = \"distribution\"\nkeys = [\"handle:desk\"]\n";

async fn open(test: &TestDb, script: impl IntoIterator<Item = ScriptedTurn>) -> Shop {
    let shop = Shop::open(test, script).await;
    add_teams(&shop).await;
    shop
}

/// The teams among which a conversation is handed on.
pub(crate) async fn add_teams(shop: &Shop) {
    let files =
        TenantFiles::new("shop").with_file("teams/counter.md", COUNTER).with_file("teams/care.md", CARE);
    let files = files.with_file("teams/desk.md", DESK).with_file("humans/ravi.md", RAVI);
    shop.apply_tenant(&files.with_file("bindings/desk.toml", DESK_BINDING)).await;
}

pub(crate) fn hand_over(to: &str) -> ScriptedTurn {
    ScriptedTurn::call("hand_over", &bundle(to))
}

fn bundle(to: &str) -> Value {
    json!({ "to": to, "reason": "It broke.", "summary": "A blue lamp of Tuesday is broken.",
            "open_questions": ["Is there a bill?"] })
}

fn system(request: &ChatRequest) -> String {
    request.system.join("\n")
}

/// What the tools have answered, as the model was told.
fn answers(request: &ChatRequest) -> String {
    serde_json::to_string(&request.messages).unwrap()
}

async fn handed(shop: &Shop, received: &MessageReceipt) -> Vec<HandoffRecord> {
    let session = received.session;
    let newest = munshi_store::PageRequest::new(None, 50);
    let read = move |tx: &mut Tx<'_>| handoffs::list(tx, session, &newest);
    let mut found = shop.db.read(shop.tenant, read).await.unwrap().items;
    found.reverse();
    found
}

async fn audited(shop: &Shop, event: &'static str) -> i64 {
    let sql = match event {
        "conversation.handed_over" => {
            "SELECT COUNT(*) FROM audit_entries WHERE tenant_id = $1 AND event = 'conversation.handed_over'"
        }
        _ => {
            "SELECT COUNT(*) FROM audit_entries WHERE tenant_id = $1 AND event = 'conversation.handoff_refused'"
        }
    };
    shop.number(sql).await
}

async fn ask(shop: &Shop, person: PersonId, id: &str, text: &str) -> (MessageReceipt, RunOutcome) {
    let received = shop.engine.receive(shop.message(person, id, text)).await.unwrap();
    let outcome = shop.outcome(&received).await;
    (received, outcome)
}

on_both! {
    async fn to_another_team_and_back_in_one_conversation(test: TestDb) {
        let mut words_then_call = build_call_events("hand_over", &bundle("care"));
        words_then_call.insert(1, Said::Text("Let me ask.".to_owned()));
        let script = [
            ScriptedTurn::events(words_then_call),
            ScriptedTurn::text("Ravi of Care here."),
            ScriptedTurn::text("The bill is found."),
            hand_over("counter"),
            ScriptedTurn::text("Meera again."),
        ];
        let shop = open(&test, script).await;
        let (first, outcome) = ask(&shop, shop.staff, "1", "my lamp is broken").await;
        assert_eq!((outcome.state, outcome.text.as_str()), (RunState::Done, "Let me ask.\n\nRavi of Care here."));
        let (second, _) = ask(&shop, shop.staff, "2", "here is the bill").await;
        test.clock.advance(Duration::from_secs(1));
        let (third, outcome) = ask(&shop, shop.staff, "3", "I want to buy another").await;
        assert_eq!(outcome.text, "Meera again.");
        assert!(first.session == second.session && second.session == third.session, "one conversation");

        let requests: Vec<ChatRequest> = shop.model.requests().into_iter().map(|call| call.request).collect();
        let tools = |at: usize| requests[at].tools.iter().map(|tool| tool.name.to_string()).collect::<Vec<_>>();
        assert!(system(&requests[0]).contains("You work at the counter") && tools(0).contains(&"note".to_owned()));
        assert!(system(&requests[1]).contains("You mend what is broken") && system(&requests[1]).contains("Ravi"));
        assert_eq!(tools(1), ["hand_over", "count"], "the palette is the new team's");
        assert!(answers(&requests[1]).contains("A blue lamp of Tuesday"), "what went along");
        assert!(system(&requests[2]).contains("A blue lamp of Tuesday"), "and later");
        assert!(system(&requests[2]).contains("Is there a bill?"));
        assert!(system(&requests[4]).contains("You work at the counter"), "back where it began");
        let all = handed(&shop, &third).await;
        let ways: Vec<_> = all.iter().map(|one| one.destination.as_str()).collect();
        assert_eq!((ways, audited(&shop, "conversation.handed_over").await), (vec!["care", "counter"], 2));
        assert_eq!(all[0].bundle.open_questions, ["Is there a bill?"]);
    }

    async fn only_along_the_ways_the_team_names(test: TestDb) {
        let script = [hand_over("desk"), ScriptedTurn::text("I look after it myself.")];
        let shop = open(&test, script).await;
        let (received, outcome) = ask(&shop, shop.staff, "1", "give me to the desk").await;
        assert_eq!((outcome.state, outcome.text.as_str()), (RunState::Done, "I look after it myself."));
        let told = answers(&shop.model.requests()[1].request);
        assert!(told.contains("not_allowed") && told.contains("care, binding/desk, person"), "{told}");
        assert!(handed(&shop, &received).await.is_empty());
        assert_eq!(audited(&shop, "refused").await, 1);
        // What is wrongly asked for is told too, and twice is enough.
        let other = shop.again(&test, [ScriptedTurn::call("hand_over", &json!({ "where": 1 })), hand_over("nowhere")]).await;
        let (_, outcome) = ask(&other, shop.staff, "2", "and now").await;
        assert_eq!(outcome.state, RunState::Halted);
    }

    async fn a_circle_within_one_message_is_refused(test: TestDb) {
        let script = [hand_over("care"), hand_over("counter"), ScriptedTurn::text("Care stays with you.")];
        let shop = open(&test, script).await;
        let (received, outcome) = ask(&shop, shop.staff, "1", "my lamp is broken").await;
        assert_eq!(outcome.text, "Care stays with you.");
        assert!(answers(&shop.model.requests()[2].request).contains("\\\"loop\\\""));
        assert_eq!(handed(&shop, &received).await.len(), 1);
    }

    async fn the_door_is_the_stricter_of_both(test: TestDb) {
        // The desk is open to customers: whoever came through the work door is held for one there.
        let script = [hand_over("binding/desk"), ScriptedTurn::call("count", &arguments("")), ScriptedTurn::text("Done."),
            hand_over("binding/shop"), ScriptedTurn::call("count", &arguments("")), ScriptedTurn::text("Counted.")];
        let shop = open(&test, script).await;
        let (_, outcome) = ask(&shop, shop.staff, "1", "write me a paper").await;
        assert_eq!(outcome.text, "Done.");
        assert!(answers(&shop.model.requests()[2].request).contains("wrong_door"));
        let (_, outcome) = ask(&shop, shop.staff, "2", "it is written").await;
        assert_eq!(outcome.text, "Counted.");
        assert!(!answers(&shop.model.requests()[5].request).contains("wrong_door"), "at home it is the work door again");
        // And a customer of the desk stays one where the door would be wider.
        let other = shop.again(&test, [hand_over("binding/shop"), ScriptedTurn::call("count", &arguments("")),
            ScriptedTurn::text("Sorry.")]).await;
        let guest = build_message(parse_target("handle:desk"), shop.staff, "3", "I want to buy");
        let received = other.engine.receive(guest).await.unwrap();
        assert_eq!(other.outcome(&received).await.text, "Sorry.");
        assert!(answers(&other.model.requests()[2].request).contains("wrong_door"));
    }

    async fn a_person_is_told_and_the_persona_speaks_as_the_team_would(test: TestDb) {
        let script = [ScriptedTurn::text("Hello."), hand_over("person"), ScriptedTurn::text("Somebody is coming."),
            hand_over("person"), ScriptedTurn::text("They know.")];
        let shop = open(&test, script).await;
        let guest = shop.add_person(shop.tenant, "Guest", None).await;
        let reply_to = Some(ReplyAddress::new(Channel::Whatsapp, "+919812345678".to_owned()));
        let morning = InboundMessage { reply_to, ..shop.message(shop.owner, "1", "good morning") };
        shop.outcome(&shop.engine.receive(morning).await.unwrap()).await;
        let (_, outcome) = ask(&shop, guest, "2", "I fell in your shop").await;
        assert_eq!(outcome.text, "Somebody is coming.");
        let requests = shop.model.requests();
        assert!(system(&requests[2].request).contains("This is an escalation"));
        let (received, outcome) = ask(&shop, guest, "3", "where are they").await;
        assert_eq!(outcome.text, "They know.");
        assert!(answers(&shop.model.requests()[4].request).contains("handed_on"));
        assert_eq!(handed(&shop, &received).await.len(), 1, "told once");
        let owner = shop.owner;
        let told = shop.db.read(shop.tenant, move |tx: &mut Tx<'_>| {
            let newest = munshi_store::PageRequest::new(None, 1);
            let session = sessions::list(tx, sessions::SessionFilter::Person(owner), &newest)?.items.remove(0);
            munshi_conversations::messages::list_newest(tx, session.id, session.messages + 1, 1)
        }).await.unwrap();
        assert!(told[0].text.contains("needs you now") && told[0].text.contains("A blue lamp"), "{}", told[0].text);
        assert_eq!(shop.number("SELECT COUNT(*) FROM outbox WHERE tenant_id = $1 AND purpose = 'alert'").await, 1);
    }

    /// Without any model: people ask for a person or for another team in their own words.
    async fn who_asks_for_somebody_is_handed_over_without_a_model(test: TestDb) {
        let shop = open(&test, []).await;
        let plan = Plan { targets: vec![ModelTarget::offline()], ..Plan::default() };
        let offline = Arc::new(OfflineProvider::new(Phrasebook::core().unwrap()).unwrap());
        let shop = shop.thinking_with(&test, test.db.clone(), offline, plan);
        ask(&shop, shop.owner, "0", "hello").await;
        let mut missed = Vec::new();
        for (at, said) in [
            "I want to talk to a human",
            "manager se baat karni hai",
            "मुझे इंसान से बात करनी है",
            "মানুষের সাথে কথা বলতে চাই",
            "માણસ સાથે વાત કરવી છે",
            "ಮ್ಯಾನೇಜರ್ ಜೊತೆ ಮಾತಾಡಬೇಕು",
            "മാനേജരോട് സംസാരിക്കണം",
            "मला मॅनेजर शी बोलायचे आहे",
            "ମ୍ୟାନେଜର ସହିତ କଥା ହେବି",
            "ਮੈਨੂੰ ਮੈਨੇਜਰ ਨਾਲ ਗੱਲ ਕਰਨੀ ਹੈ",
            "மேனேஜர் கிட்ட பேசணும்",
            "మేనేజర్ తో మాట్లాడాలి",
        ].into_iter().enumerate() {
            let guest = shop.add_person(shop.tenant, &format!("Guest {at}"), None).await;
            let (received, outcome) = ask(&shop, guest, &format!("p{at}"), said).await;
            let found = handed(&shop, &received).await;
            if found.iter().map(|one| one.destination.as_str()).collect::<Vec<_>>() != ["person"] {
                missed.push(format!("{said}: {:?} {}", outcome.calls, outcome.text));
                continue;
            }
            assert!(!outcome.text.is_empty() && !outcome.text.contains('{'), "{said}: {}", outcome.text);
            let (received, again) = ask(&shop, guest, &format!("q{at}"), said).await;
            assert_eq!((handed(&shop, &received).await.len(), again.text), (1, outcome.text), "told once, and said again: {said}");
        }
        assert!(missed.is_empty(), "{missed:#?}");
        let guest = shop.add_person(shop.tenant, "Buyer", None).await;
        let (received, outcome) = ask(&shop, guest, "c", "connect me to care").await;
        assert_eq!(handed(&shop, &received).await[0].destination, "care", "{outcome:?}");
        assert!(!outcome.text.is_empty());
        let (received, _) = ask(&shop, guest, "d", "talk to counter please").await;
        assert_eq!(handed(&shop, &received).await.len(), 2, "and back");
        let (received, _) = ask(&shop, guest, "e", "my manager said hello to your owner").await;
        assert_eq!(handed(&shop, &received).await.len(), 2, "who speaks of somebody wants nobody");
    }

    async fn where_nobody_can_be_told_the_model_hears_so_and_may_ask_again_later(test: TestDb) {
        let script = [hand_over("person"), ScriptedTurn::text("I wrote it down."), hand_over("person"),
            ScriptedTurn::text("Again.")];
        let shop = open(&test, script).await;
        let guest = shop.add_person(shop.tenant, "Guest", None).await;
        ask(&shop, guest, "1", "I fell in your shop").await;
        assert!(answers(&shop.model.requests()[1].request).contains("Nobody could be told yet"));
        test.clock.advance(Duration::from_secs(3 * 3600));
        let (received, _) = ask(&shop, guest, "2", "nobody came").await;
        assert_eq!(handed(&shop, &received).await.len(), 2);
        // A day later nobody waits for that any more.
        test.clock.advance(Duration::from_secs(30 * 3600));
        let later = shop.again(&test, [ScriptedTurn::text("Hello.")]).await;
        ask(&later, guest, "3", "hello").await;
        assert!(!system(&later.model.requests()[0].request).contains("This is an escalation"));
    }

    async fn what_was_left_open_hands_nobody_back_from_where_they_are(test: TestDb) {
        // The counter wants something that needs a yes, and to hand over; meanwhile the desk has the conversation.
        let both = ScriptedTurn::calls([("drop", arguments("milk")), ("hand_over", bundle("care"))]);
        let script = [both, hand_over("binding/desk"), ScriptedTurn::text("Desk."), ScriptedTurn::text("Dropped.")];
        let shop = open(&test, script).await;
        let (_, outcome) = ask(&shop, shop.staff, "1", "drop the milk and get me care").await;
        assert_eq!(outcome.state, RunState::WaitingApproval);
        ask(&shop, shop.staff, "2", "a paper please").await;
        let (received, outcome) = ask(&shop, shop.staff, "3", "yes").await;
        assert_eq!((outcome.state, shop.notes().await), (RunState::Done, 1), "{outcome:?}");
        let ways: Vec<_> = handed(&shop, &received).await.into_iter().map(|one| one.destination).collect();
        assert_eq!(ways, ["binding/desk"]);
        assert!(answers(&shop.model.requests()[3].request).contains("superseded"));
    }

    async fn a_process_that_dies_is_followed_by_the_team_that_took_over(test: TestDb) {
        let hanging = ScriptedTurn::events([Said::Started { request_id: None, model: None }]).hanging();
        let shop = open(&test, [hand_over("care"), hanging]).await;
        let received = shop.say("1", "my lamp is broken").await;
        wait_until(async || shop.model.requests().len() == 2).await;
        shop.engine.abandon();
        let other = shop.again(&test, [ScriptedTurn::text("Care here.")]).await;
        test.clock.advance(Duration::from_secs(120));
        other.engine.sweep(RunRecoveryScope::Lapsed).await.unwrap();
        assert_eq!(other.outcome(&received).await.text, "Care here.");
        assert!(system(&other.model.requests()[0].request).contains("You mend what is broken"));
        assert_eq!(handed(&other, &received).await.len(), 1, "once");
    }

    async fn what_waited_for_a_yes_goes_on_with_those_who_asked(test: TestDb) {
        let script = [ScriptedTurn::call("drop", &arguments("milk")), hand_over("care"), ScriptedTurn::text("Care here."),
            ScriptedTurn::text("It is dropped.")];
        let shop = open(&test, script).await;
        let (_, outcome) = ask(&shop, shop.staff, "1", "drop the milk").await;
        assert_eq!(outcome.state, RunState::WaitingApproval);
        ask(&shop, shop.staff, "2", "my lamp is broken meanwhile").await;
        ask(&shop, shop.staff, "3", "yes").await;
        let last = shop.model.requests().pop().unwrap().request;
        assert!(system(&last).contains("You work at the counter"), "{}", system(&last));
    }

    async fn where_nobody_is_any_more_those_it_began_with_go_on(test: TestDb) {
        let shop = open(&test, [hand_over("binding/desk"), ScriptedTurn::text("Ravi."), ScriptedTurn::text("Meera."), hand_over("care"), ScriptedTurn::text("Care.")]).await;
        ask(&shop, shop.staff, "1", "a paper please").await;
        let close = "UPDATE tiers SET status = 'archived' WHERE tenant_id = $1 AND kind = 'binding' AND name = 'desk'";
        shop.db.write(shop.tenant, move |tx: &mut Tx<'_>| tx.execute(close, munshi_store::params![])).await.unwrap();
        let (_, outcome) = ask(&shop, shop.staff, "2", "and now").await;
        assert_eq!(outcome.text, "Meera.");
        let last = shop.model.requests().pop().unwrap().request;
        assert!(system(&last).contains("You work at the counter"));
        // They may hand it on as ever.
        assert_eq!(ask(&shop, shop.staff, "3", "my lamp is broken").await.1.text, "Care.");
    }

    async fn who_asks_outside_the_hours_leaves_more_and_waits_once_people_are_there(test: TestDb) {
        let left = json!({ "to": "person", "reason": "It broke.", "summary": "Call her after six.", "open_questions": [] });
        let script = [
            hand_over("person"), ScriptedTurn::text("Nobody is there now. What shall I pass on?"),
            ScriptedTurn::call("hand_over", &left), ScriptedTurn::text("It is noted."),
            ScriptedTurn::call("hand_over", &left), ScriptedTurn::text("They know."),
            hand_over("person"), ScriptedTurn::text("You wait for a person."),
        ];
        let shop = open(&test, script).await;
        // It is nine on a Sunday.
        let counter = COUNTER.replace("[escalation]\n", "[escalation]\nhours = [\"sun 10:00-18:00\"]\n");
        shop.apply_tenant(&TenantFiles::new("shop").with_file("teams/counter.md", &counter)).await;
        let guest = shop.add_person(shop.tenant, "Guest", None).await;
        let request = async |session: SessionId| {
            shop.db.read(shop.tenant, move |tx: &mut Tx<'_>| human_requests::find_open(tx, session)).await.unwrap().unwrap()
        };
        let (asked, _) = ask(&shop, guest, "1", "I want a person").await;
        let first = request(asked.session).await;
        assert_eq!((first.state, first.note.as_deref()), (HumanRequestState::Callback, Some("A blue lamp of Tuesday is broken.")));
        ask(&shop, guest, "2", "call me after six").await;
        let more = request(asked.session).await;
        assert_eq!((more.id, more.state, more.note.as_deref()), (first.id, HumanRequestState::Callback, Some("Call her after six.")));
        ask(&shop, guest, "3", "is it noted?").await;
        assert!(answers(&shop.model.requests()[5].request).contains("handed_on"), "what is known is not told again");
        test.clock.advance(Duration::from_secs(65 * 60));
        ask(&shop, guest, "4", "is anybody there now?").await;
        let waiting = request(asked.session).await;
        assert_eq!((waiting.id, waiting.state, waiting.asked_at), (first.id, HumanRequestState::Waiting, test.clock.now()));
        let told = answers(&shop.model.requests()[7].request);
        assert!(told.contains("waiting_before") && told.contains("Promise no time"), "nobody else waits, and nobody could be told: {told}");
    }

    async fn who_waits_in_vain_is_told_and_goes_on_with_the_team_that_is_named(test: TestDb) {
        let shop = open(&test, [hand_over("person"), ScriptedTurn::text("You wait for a person."), ScriptedTurn::text("Care here.")]).await;
        let counter = COUNTER.replace("[escalation]\n", "[escalation]\nanswer_within = 15\nunanswered = \"care\"\n");
        shop.apply_tenant(&TenantFiles::new("shop").with_file("teams/counter.md", &counter)).await;
        let guest = shop.add_person(shop.tenant, "Guest", None).await;
        let (asked, _) = ask(&shop, guest, "1", "I fell in your shop").await;
        let mut registry = JobRegistry::default();
        shop.engine.install(&mut registry, None);
        let random = Arc::new(SeededRandom::new(7));
        let runner = JobRunner::new(shop.db.clone(), &shop.queue, random, registry, JobRunnerOptions::default());
        test.clock.advance(Duration::from_secs(14 * 60));
        runner.drain().await.unwrap();
        assert_eq!(handed(&shop, &asked).await.len(), 1, "it is not time yet");
        test.clock.advance(Duration::from_secs(2 * 60));
        runner.drain().await.unwrap();
        let told = shop.messages_of(asked.run).await;
        let last = told.last().unwrap();
        assert!(last.text.starts_with("Sorry, nobody was free"), "{told:?}");
        let ways: Vec<String> = handed(&shop, &asked).await.into_iter().map(|one| one.destination).collect();
        assert_eq!(ways, ["person", "care"]);
        let (_, outcome) = ask(&shop, guest, "2", "hello?").await;
        assert_eq!(outcome.text, "Care here.");
        let request = shop.model.requests().pop().unwrap().request;
        assert!(system(&request).contains("You mend what is broken"), "the team goes on");
    }
}
