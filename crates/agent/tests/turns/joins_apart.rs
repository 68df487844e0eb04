//! Messages that come while a turn thinks and are answered by themselves, and what else happens beside those that wait.

use std::time::Duration;

use munshi_agent::TurnSettings;
use munshi_conversations::{HaltReason, RunState, holds, linking};
use munshi_identity::{Person, Role, persons};
use munshi_llm::ChatMessage;
use munshi_store::Tx;
use munshi_test_support::database::MORNING;
use munshi_test_support::models::{ScriptGate, ScriptedTurn};
use munshi_test_support::{TestDb, wait_until};
use munshi_types::tier::Channel;
use munshi_types::{AttachedFile, Clock, InboundMessage, ReplyAddress};

use crate::turns::support::{Plan, Shop};

const SECOND: Duration = Duration::from_secs(1);
const OPEN_RUNS: &str = "SELECT COUNT(*) FROM runs WHERE tenant_id = $1 AND ended_at IS NULL";
const ASKED: &str = "SELECT COUNT(*) FROM messages WHERE tenant_id = $1 AND speaker = 'person'";
const ANSWERED: &str = "SELECT COUNT(*) FROM messages WHERE tenant_id = $1 AND speaker = 'persona'";

async fn open(test: &TestDb, script: impl IntoIterator<Item = ScriptedTurn>) -> Shop {
    let settings = TurnSettings { join_window: SECOND, ..TurnSettings::default() };
    Shop::open_with(test, script, Plan { settings, ..Plan::default() }).await
}

fn link_files(count: usize) -> Vec<AttachedFile> {
    let link = |number| AttachedFile {
        media_type: "image/jpeg".to_owned(),
        name: Some(format!("{number}.jpg")),
        reference: format!("https://files.example/{number}.jpg"),
    };
    (0..count).map(link).collect()
}

/// A message whose answer is sent.
fn write(shop: &Shop, id: &str, text: &str) -> InboundMessage {
    let to = ReplyAddress::new(Channel::Web, "9876501234");
    InboundMessage { reply_to: Some(to), ..shop.message(shop.staff, id, text) }
}

/// Whether a second message is answered with the first, where it differs from it so.
async fn joins(test: &TestDb, change: fn(&mut InboundMessage)) -> bool {
    let gate = ScriptGate::default();
    let script = [ScriptedTurn::text("Eggs.").with_gate(&gate), ScriptedTurn::text("Milk.")];
    let shop = open(test, script).await;
    let first = InboundMessage { attached: link_files(3), ..write(&shop, "1", "how many eggs are there") };
    let first = shop.engine.receive(first).await.unwrap();
    let mut second = write(&shop, "2", "and how much milk");
    change(&mut second);
    let second = shop.engine.receive(second).await.unwrap();
    // Nobody waits for a third.
    test.clock.advance(SECOND * 3);
    gate.open();
    let (one, two) = (shop.outcome(&first).await, shop.outcome(&second).await);
    let has_joined = two.run == first.run;
    assert_eq!(one.text, if has_joined { "Milk." } else { "Eggs." }, "{two:?}");
    has_joined
}

on_both! {
    async fn what_comes_another_way_joins_nothing(test: TestDb) {
        type Change = fn(&mut InboundMessage);
        let ways: [(&str, bool, Change); 7] = [
            ("the same way", true, |_| {}),
            ("as many files as are shown", true, |second| second.attached = link_files(2)),
            ("more files than are shown", false, |second| second.attached = link_files(3)),
            ("another channel", false, |second| second.channel = Channel::Whatsapp),
            ("nowhere to send the answer", false, |second| second.reply_to = None),
            ("a host says who it is", false, |second| second.from.is_vouched = true),
            ("longer than one may be", false, |second| second.text = "milk ".repeat(13_107)),
        ];
        for (what, expected, change) in ways {
            let test = TestDb::open(test.engine(), &crate::turns::support::migrations()).await;
            assert_eq!(joins(&test, change).await, expected, "{what}");
        }
    }

    async fn a_takeover_beside_a_message_that_waits_loses_nothing(test: TestDb) {
        let gate = ScriptGate::default();
        let shop = open(&test, [ScriptedTurn::text("Eggs.").with_gate(&gate), ScriptedTurn::text("Both.")]).await;
        let first = shop.say("1", "how many eggs are there").await;
        wait_until(async || shop.model.requests().len() == 1).await;
        let second = shop.say("2", "and how much milk").await;
        let (id, owner, session, now) = (test.ids.next(), shop.owner, first.session, test.clock.now());
        let queue = shop.engine.job_queue();
        let take = move |tx: &mut Tx<'_>| holds::take(tx, &queue, session, owner, (id, now));
        shop.db.write(shop.tenant, take).await.unwrap();
        // What was asked before is finished, and what comes now is the colleague's.
        let third = shop.say("3", "are you there").await;
        assert_eq!(shop.outcome(&third).await.halt, Some(HaltReason::Held));
        gate.open();
        let outcome = shop.outcome(&first).await;
        assert_eq!((outcome.text.as_str(), outcome.state), ("Both.", RunState::Done));
        assert_eq!(shop.outcome(&second).await.run, first.run);
        let told = shop.model.requests()[1].request.messages.last().map(ChatMessage::text).unwrap();
        assert_eq!(told, "how many eggs are there\nand how much milk");
        assert_eq!((shop.number(ASKED).await, shop.number(ANSWERED).await, shop.number(OPEN_RUNS).await), (3, 1, 0));
    }

    async fn a_merge_beside_a_message_that_waits_loses_nothing(test: TestDb) {
        let gate = ScriptGate::default();
        let script = [ScriptedTurn::text("Hello."), ScriptedTurn::text("Eggs.").with_gate(&gate), ScriptedTurn::text("Milk.")];
        let shop = open(&test, script).await;
        let ids = test.ids.clone();
        let meet = move |tx: &mut Tx<'_>| -> Result<_, munshi_store::Error> {
            let person = Person { role: Some(Role::Staff), ..Person::new(&ids, "Asha again", MORNING) };
            persons::upsert(tx, &person)?;
            Ok(person.id)
        };
        let other = shop.db.write(shop.tenant, meet).await.unwrap();
        let hello = shop.engine.receive(shop.message(other, "o1", "hello there")).await.unwrap();
        shop.outcome(&hello).await;
        test.clock.advance(SECOND);
        let first = shop.say("1", "how many eggs are there").await;
        wait_until(async || shop.model.requests().len() == 2).await;
        test.clock.advance(SECOND);
        let second = shop.say("2", "and how much milk").await;
        let (ids, staff, now) = (test.ids.clone(), shop.staff, test.clock.now());
        let merge = move |tx: &mut Tx<'_>| linking::merge_threads(tx, &ids, (staff, other), now);
        shop.db.write(shop.tenant, merge).await.unwrap();
        gate.open();
        // With the first or by itself, but answered, and once.
        let (one, two) = (shop.outcome(&first).await, shop.outcome(&second).await);
        let answers = if two.run == first.run { 2 } else { 3 };
        assert_eq!((one.state, two.state, two.text.as_str()), (RunState::Done, RunState::Done, "Milk."), "{one:?}");
        let told = shop.model.requests().pop().unwrap().request.messages.last().map(ChatMessage::text).unwrap();
        assert!(told.ends_with("and how much milk"), "{told}");
        wait_until(async || shop.number(OPEN_RUNS).await == 0).await;
        assert_eq!((shop.number(ASKED).await, shop.number(ANSWERED).await), (3, answers));
        assert_eq!((two.session, one.session), (hello.session, hello.session), "in the thread that stays");
    }
}
