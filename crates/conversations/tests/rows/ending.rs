//! The end of a turn: everything or nothing.

use munshi_conversations::commit::{RunProgress, TurnStatus, ViolationRecord, save_progress};
use munshi_conversations::decisions::TurnDecision;
use munshi_conversations::sessions::{self, SessionUpdate};
use munshi_conversations::steps::{self, NewRunStep};
use munshi_conversations::{HaltReason, RunSnapshot, RunState, TurnTimings, messages};
use munshi_llm::chat::{StopReason, TokenUsage};
use munshi_llm::gateway::{CallRecord, CallSubject, Capability, ModelCallOutcome as CallEnding};
use munshi_types::Id;
use serde_json::json;

use crate::rows::support::{Shop, held, tables};

pub(crate) fn call(shop: &Shop, run: munshi_types::RunId) -> CallRecord {
    CallRecord {
        id: shop.test.ids.next(),
        tenant: shop.tenant,
        about: CallSubject { run: Some(run.as_uuid()), binding: Some(shop.binding.as_uuid()) },
        purpose: Capability::ALL[0],
        target: "small".to_owned(),
        provider: "mock".to_owned(),
        model: "mock-1".to_owned(),
        attempt: 1,
        started_at: shop.now(),
        usage: TokenUsage { input: 700, output: 200, ..TokenUsage::default() },
        cost: None,
        first_token: None,
        total: std::time::Duration::from_millis(12),
        ending: CallEnding::Finished(StopReason::EndTurn),
        prompt: None,
        request_id: None,
    }
}

fn step(shop: &Shop, state: RunState, body: serde_json::Value) -> NewRunStep {
    NewRunStep { state, body, micros: 40, at: shop.now() }
}

tables! {
    async fn a_turn_leaves_everything_it_did(test: TestDb) {
        let shop = Shop::open(test).await;
        let ingested = shop.say("+919812345678", "w1", "balance?").await;
        let (mine, run, person) = (held(&ingested), ingested.run, ingested.person);
        let snapshot = RunSnapshot { said: "one moment".to_owned(), ..RunSnapshot::default() };
        let (first, records) = (vec![
            step(&shop, RunState::Preparing, json!({"messages": 1})),
            step(&shop, RunState::Thinking, json!({"said": "राम \"500\""})),
        ], vec![call(&shop, run)]);
        let kept = first.clone();
        shop.test.db.write(shop.tenant, move |tx| save_progress(tx, &RunProgress {
            lease: mine, person: Some(person), state: RunState::Acting, snapshot: &snapshot, steps: &first, calls: &records,
        })).await.unwrap();
        assert_eq!(shop.run(run).await.snapshot.said, "one moment");
        let mut response = shop.response(mine, "₹500").await;
        response.steps = vec![step(&shop, RunState::Responding, json!({}))];
        response.calls = vec![call(&shop, run)];
        response.violations = vec![ViolationRecord {
            rule: "no-promises".to_owned(), tier: "team".to_owned(), severity: "log".to_owned(), what: "a promise".to_owned(),
        }];
        response.decision = Some(Box::new(TurnDecision {
            outcome: "done".to_owned(), model_calls: 2, micros: TurnTimings { total: 900, ..TurnTimings::default() }, ..TurnDecision::default()
        }));
        response.learned = SessionUpdate {
            language: Some("hi-latn".parse().unwrap()), entities: Some(json!({"ramesh": 1})), masked: Some(json!({"slots": []})),
        };
        let responded = shop.respond(response).await.unwrap();
        assert_eq!((responded.session, responded.number, responded.next), (ingested.session, 2, None));
        let ended = shop.run(run).await;
        assert_eq!((ended.state, ended.lease_until, ended.reservation), (RunState::Done, None, None));
        assert_eq!((ended.snapshot, ended.ended_at), (RunSnapshot::default(), Some(shop.now())));
        let (session, said) = (ingested.session, ended.reply);
        let reply = shop.read(move |tx| messages::find(tx, said.unwrap())).await.unwrap();
        assert_eq!((reply.text.as_str(), reply.suggestions), ("₹500", vec!["balance".to_owned()]));
        let steps = shop.read(move |tx| steps::list(tx, run)).await;
        let told: Vec<_> = steps.iter().map(|one| (one.number, one.epoch, one.state)).collect();
        assert_eq!(told, [(1, 1, RunState::Preparing), (2, 1, RunState::Thinking), (3, 1, RunState::Responding)]);
        assert_eq!((&steps[1].body, steps[1].at, steps[1].micros), (&kept[1].body, kept[1].at, 40));
        let counts = (shop.count("calls").await, shop.count("decisions").await, shop.count("violations").await);
        assert_eq!(counts, (2, 1, 1));
        assert_eq!((shop.count("used").await, shop.count("held").await), (1, 0));
        let session = shop.read(move |tx| sessions::find(tx, session)).await.unwrap();
        assert_eq!((session.language.unwrap().as_str(), session.entities), ("hi-latn", json!({"ramesh": 1})));
        assert_eq!((session.masked, session.messages), (Some(json!({"slots": []})), 2));
        let of_run = shop.read(move |tx| messages::list_by_run(tx, run)).await;
        assert_eq!(of_run.iter().map(|one| one.text.as_str()).collect::<Vec<_>>(), ["balance?", "₹500"]);
    }

    async fn a_halt_reads_back_whole_and_learns_nothing_new(test: TestDb) {
        let shop = Shop::open(test).await;
        let first = shop.say("+919812345678", "w1", "one").await;
        let mut response = shop.response(held(&first), "").await;
        response.learned.entities = Some(json!({"a": 1}));
        shop.respond(response).await.unwrap();
        let second = shop.say("+919812345678", "w2", "two").await;
        let halt = HaltReason::Stuck("log_sale failed twice".to_owned());
        let mut response = shop.response(held(&second), "").await;
        response.ending = TurnStatus::Halted(halt.clone());
        response.reply = None;
        let responded = shop.respond(response).await.unwrap();
        assert_eq!(responded.number, 3, "nothing was said");
        let run = shop.run(second.run).await;
        assert_eq!((run.state, run.halt, run.reply), (RunState::Halted, Some(halt), None));
        let session = shop.read(move |tx| sessions::find(tx, first.session)).await.unwrap();
        assert_eq!((session.entities, session.messages), (json!({"a": 1}), 3));
    }
}
