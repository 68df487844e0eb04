//! What a transient tool says is for the turn that asked, and stands in nothing that is stored.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use munshi_conversations::{RunEvent, RunRecoveryScope, RunState};
use munshi_llm::ChatEvent;
use munshi_safety::acts::{self, ActState};
use munshi_store::{StoreOptions, Tx, params};
use munshi_test_support::models::{ScriptedTurn, build_call_events};
use munshi_test_support::{DatabaseEngine, RecordingKeyring, TestDb, memory_keyring, wait_until};
use munshi_tools::{NoActJournal, ToolOutput};
use munshi_types::ActId;
use serde_json::json;

use super::delayed::set_policy;
use super::handoffs::{add_teams, hand_over};
use super::support::{Plan, Shop, arguments, migrations};

pub(crate) const FINDING: &str = "moonflower";
pub(crate) const PATIENT: &str = "Zubeida Contractor";
const PHONE: &str = "9876512345";

/// What the tools of this file say.
pub(crate) fn record() -> ToolOutput {
    ToolOutput::new(json!({ "patient": { "name": PATIENT, "phone": PHONE }, "finding": FINDING }))
}

/// A shop whose keyring remembers what it sealed.
struct Watched {
    test: TestDb,
    keyring: Arc<RecordingKeyring>,
    shop: Shop,
}

impl Watched {
    async fn open(engine: DatabaseEngine, script: impl IntoIterator<Item = ScriptedTurn>) -> Self {
        let ids = munshi_types::IdGenerator::system();
        let keyring = RecordingKeyring::new(memory_keyring(ids));
        let options = StoreOptions {
            connections: 8,
            readers: 2,
            keyring: Some(keyring.clone()),
            ..StoreOptions::default()
        };
        let test = TestDb::open_with(engine, &migrations(), options).await;
        let agent = Plan::default().agent.replace("\"fax\"]", "\"fax\", \"record\", \"own_record\"]");
        let shop = Shop::open_with(&test, script, Plan { agent, ..Plan::default() }).await;
        Self { test, keyring, shop }
    }

    /// Whatever was sealed, and whatever stands in the database as it is.
    async fn everything_stored(&self) -> Vec<String> {
        let mut all = self.keyring.sealed();
        match self.test.engine() {
            DatabaseEngine::Sqlite => {
                let entries = std::fs::read_dir(self.test.place.folder()).unwrap();
                for path in entries.map(|entry| entry.unwrap().path()).filter(|path| path.is_file()) {
                    all.push(String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned());
                }
            }
            DatabaseEngine::Postgres => {
                all.extend(self.shop.db.read(self.shop.tenant, list_texts).await.unwrap());
            }
        }
        all
    }

    /// Nothing of what the tools said was stored, though the model heard it.
    async fn assert_unkept(&self, heard: &Shop, asked: usize) {
        let request = format!("{:?}", heard.model.requests()[asked].request);
        assert!(request.contains(FINDING), "the model of the turn hears it: {request}");
        for text in self.everything_stored().await {
            for secret in [FINDING, PATIENT, "Zubeida", PHONE] {
                assert!(!text.contains(secret), "{secret} was stored: {text}");
            }
        }
    }

    async fn acts(&self, received: &munshi_agent::MessageReceipt) -> Vec<acts::Act> {
        let run = received.run;
        self.shop.db.read(self.shop.tenant, move |tx| acts::list_by_run(tx, run)).await.unwrap()
    }

    /// Another process goes on with what this one left.
    async fn taken_up(
        &self,
        other: &Shop,
        received: &munshi_agent::MessageReceipt,
    ) -> munshi_agent::RunOutcome {
        self.test.clock.advance(Duration::from_secs(120));
        other.dispatcher.sweep(Arc::new(NoActJournal)).await.unwrap();
        other.engine.sweep(RunRecoveryScope::Lapsed).await.unwrap();
        other.outcome(received).await
    }
}

/// Every value of TEXT and JSON of the tenant, as it stands there.
fn list_texts(tx: &mut Tx<'_>) -> munshi_store::Result<Vec<String>> {
    let columns: Vec<(String, String)> = tx.all(
        "SELECT c.table_name::text, c.column_name::text FROM information_schema.columns c
         WHERE c.table_schema = 'public' AND c.data_type IN ('text', 'jsonb') AND $1::uuid IS NOT NULL
           AND EXISTS (SELECT 1 FROM information_schema.columns t
                       WHERE t.table_name = c.table_name AND t.column_name = 'tenant_id')",
        params![],
        |row| Ok((row.get(0)?, row.get(1)?)),
    )?;
    let mut texts = Vec::new();
    for (table, column) in columns {
        let values = ["SELECT CAST(", &column, " AS TEXT) FROM ", &table, " WHERE tenant_id = $1"].concat();
        let values: Vec<Option<String>> = tx.all(&*values.leak(), params![], |row| row.get(0))?;
        texts.extend(values.into_iter().flatten());
    }
    Ok(texts)
}

fn hanging() -> ScriptedTurn {
    ScriptedTurn::events([ChatEvent::Started { request_id: None, model: None }]).hanging()
}

on_both! {
    async fn what_it_says_is_heard_and_not_kept(test: TestDb) {
        let script = [
            ScriptedTurn::call("note", &arguments("seen")),
            ScriptedTurn::calls([("record", arguments("a")), ("own_record", arguments("b"))]),
            ScriptedTurn::text("It is looked up."),
            ScriptedTurn::text("Nothing more."),
        ];
        let watched = Watched::open(test.engine(), script).await;
        let shop = &watched.shop;
        let received = shop.say("1", "look it up").await;
        let outcome = shop.outcome(&received).await;
        assert_eq!((outcome.text.as_str(), outcome.state), ("It is looked up.", RunState::Done));
        watched.assert_unkept(shop, 2).await;
        let acts = watched.acts(&received).await;
        for act in acts.iter().filter(|act| act.tool != "note") {
            let result = act.result.clone().unwrap();
            assert_eq!((act.state, &result["code"]), (ActState::Applied, &json!("not_kept")));
            let asked = format!("{} was asked at {}. What it said is not kept.", act.tool, act.began_at);
            assert_eq!(result["note"], asked);
        }
        let events = shop.events(&received, None).await;
        let told = events.iter().filter_map(|(_, event)| match event {
            RunEvent::ToolResult { tool, ok, result, .. } if tool != "note" => Some((*ok, result["code"].clone())),
            _ => None,
        });
        assert_eq!(told.collect::<Vec<_>>(), [(true, json!("not_kept")), (true, json!("not_kept"))]);
        assert_eq!(shop.ask("2", "and what else?").await.text, "Nothing more.");
        let later = format!("{:?}", shop.model.requests().last().unwrap().request);
        assert!(!later.contains(FINDING), "a later turn is not told: {later}");
    }

    async fn why_it_failed_is_not_kept_either(test: TestDb) {
        let fails = json!({ "text": "a", "mood": "fails" });
        let watched = Watched::open(test.engine(), [ScriptedTurn::call("record", &fails), ScriptedTurn::text("There is none.")]).await;
        let received = watched.shop.say("1", "look it up").await;
        assert_eq!(watched.shop.outcome(&received).await.text, "There is none.");
        watched.assert_unkept(&watched.shop, 1).await;
        let act = watched.acts(&received).await.remove(0);
        assert_eq!((act.state, &act.result.unwrap()["code"]), (ActState::Failed, &json!("failed")));
        assert!(watched.everything_stored().await.iter().all(|text| !text.contains("no_such_thing")), "a server's own word is what it said");
    }

    async fn after_a_crash_it_is_asked_anew(test: TestDb) {
        let script = [ScriptedTurn::call("note", &arguments("b")), ScriptedTurn::call("record", &arguments("a")), hanging()];
        let watched = Watched::open(test.engine(), script).await;
        let shop = &watched.shop;
        let received = shop.say("1", "look it up").await;
        wait_until(async || shop.model.requests().len() == 3).await;
        shop.engine.abandon();
        let other = shop.again(&watched.test, [ScriptedTurn::text("It is looked up.")]).await;
        let outcome = watched.taken_up(&other, &received).await;
        assert_eq!((outcome.text.as_str(), outcome.state), ("It is looked up.", RunState::Done));
        watched.assert_unkept(&other, 0).await;
        assert_eq!((shop.world.calls.load(Ordering::SeqCst), shop.notes().await), (2, 1), "and what was written is not done again");
        let looks: Vec<ActId> = watched.acts(&received).await.iter().filter(|act| act.tool == "record").map(|act| act.id).collect();
        assert_eq!((looks.len(), outcome.calls.len()), (2, 3), "an act of its own, and each call that was made is told");
    }

    async fn a_look_that_broke_off_is_made_by_whoever_hears_it(test: TestDb) {
        let watched = Watched::open(test.engine(), [ScriptedTurn::call("record", &arguments("a"))]).await;
        let shop = &watched.shop;
        shop.world.hangs.store(true, Ordering::SeqCst);
        let received = shop.say("1", "look it up").await;
        wait_until(async || shop.world.calls.load(Ordering::SeqCst) == 1).await;
        shop.engine.abandon();
        shop.world.hangs.store(false, Ordering::SeqCst);
        let other = shop.again(&watched.test, [ScriptedTurn::text("It is looked up.")]).await;
        assert_eq!(watched.taken_up(&other, &received).await.text, "It is looked up.");
        watched.assert_unkept(&other, 0).await;
        assert_eq!(shop.world.calls.load(Ordering::SeqCst), 2, "the sweep of acts has asked for nobody");
    }

    async fn what_waited_for_a_yes_hears_it_anew(test: TestDb) {
        let script = [
            ScriptedTurn::calls([("record", arguments("a")), ("drop", arguments("old"))]),
            ScriptedTurn::text("It is gone."),
        ];
        let watched = Watched::open(test.engine(), script).await;
        let shop = &watched.shop;
        assert_eq!(shop.ask("1", "look it up and remove it").await.state, RunState::WaitingApproval);
        assert_eq!(shop.ask("2", "yes").await.text, "It is gone.");
        watched.assert_unkept(shop, 1).await;
        assert_eq!((shop.world.calls.load(Ordering::SeqCst), shop.notes().await), (2, 1));
    }

    async fn what_was_thought_after_it_is_not_kept_either(test: TestDb) {
        const THOUGHT: &str = "a flower, and so patient 17";
        let mut thinks = build_call_events("record", &arguments("b"));
        let thought = [ChatEvent::Thinking(THOUGHT.to_owned()), ChatEvent::ThinkingSignature("signed".to_owned())];
        thinks.splice(1..1, thought);
        let script = [
            ScriptedTurn::call("record", &arguments("a")),
            ScriptedTurn::events(thinks),
            ScriptedTurn::text("It is noted."),
            ScriptedTurn::text("Nothing more."),
        ];
        let watched = Watched::open(test.engine(), script).await;
        let shop = &watched.shop;
        assert_eq!(shop.ask("1", "look it up twice").await.text, "It is noted.");
        let heard = format!("{:?}", shop.model.requests()[2].request);
        assert!(heard.contains(THOUGHT), "its own thoughts go back to the model in the turn: {heard}");
        watched.assert_unkept(shop, 2).await;
        assert!(watched.everything_stored().await.iter().all(|text| !text.contains(THOUGHT)), "they were stored");
        shop.ask("2", "what else?").await;
        assert!(!format!("{:?}", shop.model.requests()[3].request).contains(THOUGHT));
    }

    async fn whoever_takes_the_conversation_over_is_not_told(test: TestDb) {
        let script = [
            ScriptedTurn::call("record", &arguments("a")),
            hand_over("care"),
            ScriptedTurn::text("Ravi here."),
        ];
        let watched = Watched::open(test.engine(), script).await;
        let shop = &watched.shop;
        add_teams(shop).await;
        assert_eq!(shop.ask("1", "look it up, my lamp broke").await.text, "Ravi here.");
        let told = format!("{:?}", shop.model.requests()[2].request);
        assert!(told.contains("You mend what is broken") && !told.contains(FINDING), "{told}");
        assert_eq!(shop.world.calls.load(Ordering::SeqCst), 1, "and nobody asks again for them");
    }

    async fn a_run_that_waits_asks_again_only_for_its_model(test: TestDb) {
        let script = [
            ScriptedTurn::calls([("record", arguments("a")), ("drop", arguments("old"))]),
            ScriptedTurn::call("note", &arguments("milk")),
            ScriptedTurn::text("Noted."),
            ScriptedTurn::text("It is gone."),
        ];
        let watched = Watched::open(test.engine(), script).await;
        let (shop, asked) = (&watched.shop, || watched.shop.world.calls.load(Ordering::SeqCst));
        set_policy(&watched.test, shop, "[rates]\nwrites_per_minute = 1\n").await;
        assert_eq!(shop.ask("1", "look it up and remove it").await.state, RunState::WaitingApproval);
        let yes = shop.say("2", "yes").await;
        assert_eq!((shop.outcome(&yes).await.state, asked()), (RunState::WaitingApproval, 1));
        watched.test.clock.advance(Duration::from_secs(61));
        assert_eq!(shop.ask("3", "note milk").await.text, "Noted.", "somebody else was quicker");
        shop.engine.sweep(RunRecoveryScope::Lapsed).await.unwrap();
        assert_eq!((shop.outcome(&yes).await.state, asked()), (RunState::WaitingApproval, 1), "nobody would hear it");
        watched.test.clock.advance(Duration::from_secs(61));
        shop.engine.sweep(RunRecoveryScope::Lapsed).await.unwrap();
        assert_eq!((shop.outcome(&yes).await.text.as_str(), asked()), ("It is gone.", 2));
        watched.assert_unkept(shop, 3).await;
    }
}
