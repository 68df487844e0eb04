//! What packs tell a turn: looked up by words, by meaning and by what was spoken of, and left out where there is no time.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use munshi_agent::TurnSettings;
use munshi_conversations::{RunEvent, RunState};
use munshi_llm::{ChatRequest, ChatStream, Embedding, ModelError, ModelTarget, Provider};
use munshi_pack::{ContextSource, FromPack, PackRegistry, PackTurnContext, PromptContribution, TurnQuery};
use munshi_safety::pipeline::CallerAudience;
use munshi_store::Tx;
use munshi_test_support::models::{ScriptGate, ScriptedModel, ScriptedTurn};
use munshi_test_support::wait_until;
use munshi_tiers::prompt::UntrustedText;
use munshi_types::{InboundMessage, InboundSender};
use tokio_util::sync::CancellationToken;

use crate::turns::support::{Plan, Shop, arguments};

/// Looks by meaning, and keeps what it was asked by.
#[derive(Default)]
struct Shelf {
    asked: Mutex<Vec<TurnQuery>>,
    is_optional: bool,
    /// Through which door each turn came.
    doors: Mutex<Vec<CallerAudience>>,
}

struct ShelfSource(Arc<Shelf>);

impl ContextSource for ShelfSource {
    fn wants_vector(&self) -> bool {
        true
    }

    fn optional(&self) -> Option<&'static str> {
        self.0.is_optional.then_some("the shelf")
    }

    fn gather(&self, _: &mut Tx<'_>, context: &PackTurnContext) -> munshi_store::Result<PromptContribution> {
        self.0.asked.lock().unwrap().push(context.query.as_ref().clone());
        self.0.doors.lock().unwrap().push(context.door);
        let profile = vec![UntrustedText::new("The shelf has blue lamps.")];
        Ok(PromptContribution { profile, ..PromptContribution::default() })
    }
}

fn plan(shelf: &Arc<Shelf>, settings: TurnSettings) -> Plan {
    let house = PackRegistry {
        contexts: vec![FromPack { pack: "shop", what: Arc::new(ShelfSource(shelf.clone())) }],
        ..PackRegistry::default()
    };
    Plan { house, settings, ..Plan::default() }
}

/// Speaks as it is told, and makes vectors; where it is slow it never comes to an end with one.
struct Vectors {
    model: ScriptedModel,
    is_slow: bool,
    seen: Mutex<Vec<String>>,
}

impl Vectors {
    fn new(is_slow: bool, script: impl IntoIterator<Item = ScriptedTurn>) -> Arc<Self> {
        Arc::new(Self { model: ScriptedModel::new(script), is_slow, seen: Mutex::default() })
    }
}

#[async_trait]
impl Provider for Vectors {
    async fn stream(&self, target: &ModelTarget, request: &ChatRequest) -> Result<ChatStream, ModelError> {
        self.model.stream(target, request).await
    }

    async fn embed(&self, _: &ModelTarget, texts: &[String]) -> Result<Embedding, ModelError> {
        self.seen.lock().unwrap().extend(texts.iter().cloned());
        match self.is_slow {
            true => std::future::pending().await,
            false => Ok(Embedding {
                vectors: vec![vec![0.5; 4]; texts.len()],
                dimension: 4,
                input_tokens: Some(3),
            }),
        }
    }
}

on_both! {
    async fn a_source_is_asked_by_words_meaning_and_what_was_spoken_of(test: TestDb) {
        let shelf = Arc::new(Shelf::default());
        let script = [ScriptedTurn::call("balance", &arguments("Ramesh Gupta")), ScriptedTurn::text("450."),
            ScriptedTurn::text("Two.")];
        let first = Shop::open(&test, []).await;
        let model = Vectors::new(false, script);
        let own = Plan { embeds: true, ..plan(&shelf, TurnSettings::default()) };
        let shop = first.thinking_with(&test, test.open_again().await, model.clone(), own);
        shop.ask("1", "what does Ramesh Gupta owe").await;
        assert_eq!(shop.ask("2", "and how many lamps has Farid").await.state, RunState::Done);
        let paid = "SELECT COUNT(*) FROM llm_calls WHERE tenant_id = $1";
        wait_until(async || shop.number(paid).await == 5).await;
        let seen = model.seen.lock().unwrap().join(" ");
        assert!(seen.contains("lamps") && !seen.contains("Farid"), "{seen}");
        let asked = shelf.asked.lock().unwrap().clone();
        assert_eq!(asked[0].vector, Some(vec![0.5; 4]));
        assert!(asked[1].tokens.iter().any(|token| token.contains("laps")), "{:?}", asked[1].tokens);
        assert!(asked[1].entities.iter().any(|known| known.name == "Ramesh Gupta"), "{:?}", asked[1].entities);
    }

    async fn a_turn_goes_on_without_what_takes_too_long_and_says_so(test: TestDb) {
        let shelf = Arc::new(Shelf::default());
        let first = Shop::open(&test, []).await;
        let slow = Vectors::new(true, [ScriptedTurn::text("Hello.")]);
        let shop = first.thinking_with(&test, test.open_again().await, slow.clone(), Plan {
            embeds: true,
            ..plan(&shelf, TurnSettings::default())
        });
        let begun = Instant::now();
        let received = shop.say("1", "hello there").await;
        assert_eq!(shop.outcome(&received).await.text, "Hello.");
        assert!(begun.elapsed() < Duration::from_secs(20));
        assert_eq!(shelf.asked.lock().unwrap()[0].vector, None);
        let events = shop.events(&received, None).await;
        let Some((_, RunEvent::Done { skipped, .. })) = events.last() else { panic!("{events:?}") };
        assert_eq!(*skipped, ["looking up by meaning"], "said with the reply");
        let run = received.run;
        let steps = shop.db.read(shop.tenant, move |tx: &mut Tx<'_>| munshi_conversations::steps::list(tx, run)).await.unwrap();
        assert!(steps.iter().any(|step| step.body["skipped"][0] == "looking up by meaning"), "and in the record");
        let told = format!("{:?}", slow.model.requests());
        assert!(told.contains("Left out of what is known here: looking up by meaning"), "and to the model");
    }

    async fn what_is_optional_is_left_out_while_many_people_wait(test: TestDb) {
        let shelf = Arc::new(Shelf { is_optional: true, ..Shelf::default() });
        let gate = ScriptGate::default();
        let held = ScriptedTurn::text("One.").with_gate(&gate);
        let script = std::iter::once(held).chain((0..60).map(|_| ScriptedTurn::text("More.")));
        let settings = TurnSettings { chat_places: 1, ..TurnSettings::default() };
        let shop = Shop::open_with(&test, script, plan(&shelf, settings)).await;
        shop.say("0", "first").await;
        wait_until(async || shop.model.requests().len() == 1).await;
        let mut first = None;
        for number in 1..=52 {
            let person = shop.add_person(shop.tenant, &format!("Person {number}"), None).await;
            test.clock.advance(Duration::from_millis(1));
            let message = shop.message(person, &number.to_string(), "hello");
            let received = shop.engine.receive(message).await.unwrap();
            first = first.or(Some(received));
        }
        shop.engine.measure_load().await.unwrap();
        gate.open();
        let (first, stop) = (first.unwrap(), CancellationToken::new());
        let answered = async {
            assert_eq!(shop.outcome(&first).await.text, "More.");
            stop.cancel();
        };
        tokio::join!(answered, shop.engine.serve(stop.clone()));
        let events = shop.events(&first, None).await;
        let Some((_, RunEvent::Done { skipped, .. })) = events.last() else { panic!("{events:?}") };
        assert_eq!(*skipped, ["the shelf"]);
    }

    async fn in_a_group_a_turn_is_as_in_public_and_knows_nothing_of_anybody(test: TestDb) {
        let shelf = Arc::new(Shelf::default());
        let script = [ScriptedTurn::text("Two."), ScriptedTurn::text("Two.")];
        let shop = Shop::open_with(&test, script, plan(&shelf, TurnSettings::default())).await;
        shop.ask("1", "how many lamps").await;
        let group = InboundSender { channel_id: Some("group:-7".to_owned()), is_vouched: true, is_group: true, ..InboundSender::default() };
        let said = InboundMessage { from: group, ..shop.message(shop.staff, "2", "how many lamps") };
        let received = shop.engine.receive(said).await.unwrap();
        assert_eq!(shop.outcome(&received).await.state, RunState::Done);
        let doors = shelf.doors.lock().unwrap().clone();
        assert_eq!(doors, [CallerAudience::Work, CallerAudience::Public]);
        let told: Vec<String> = shop.model.requests().iter().map(|asked| format!("{:?}", asked.request)).collect();
        assert!(told[0].contains("blue lamps"), "{}", told[0]);
        assert!(!told[1].contains("blue lamps"), "{}", told[1]);
        // As it is stored, so that whoever goes on with the run knows it.
        let stored = shop.messages_of(received.run).await.into_iter().find(|said| said.id == received.message).unwrap();
        assert_eq!(stored.marks["group"], true);
    }
}
