//! `munshi models` and `munshi complete`: with no key, with a server that is not there, and with a real model.

use munshi_test_support::model_server::{FakeModelAnswer, FakeModelStep, ModelServer};
use munshi_test_support::{DatabaseEngine, environment};
use serde_json::json;

use crate::app::support::{Installation, Ran};

/// A model server that nobody runs, before the offline model.
fn with_a_dead_server(installation: Installation) -> Installation {
    installation
        .with("MUNSHI__MODELS__LOCAL__PROVIDER", "llamacpp")
        .with("MUNSHI__MODELS__LOCAL__MODEL", "small")
        .with("MUNSHI__MODELS__LOCAL__BASE_URL", "http://127.0.0.1:9/v1")
        .with("MUNSHI__ROUTES__DEFAULT", "local,offline")
}

fn with_the_real_model(installation: Installation) -> Installation {
    installation
        .with("MUNSHI__MODELS__SMALL__PROVIDER", "llamacpp")
        .with("MUNSHI__MODELS__SMALL__MODEL", "smollm2")
        .with("MUNSHI__MODELS__SMALL__BASE_URL", format!("{}/v1", environment::model()))
        .with("MUNSHI__MODELS__SMALL__FIRST_BYTE_TIMEOUT_SECONDS", "60")
}

#[test]
fn with_nothing_configured_the_offline_model_answers_in_the_persons_language() {
    let installation = Installation::sqlite();
    let listed = installation.json(&["models"]);
    let only = &listed["models"][0];
    assert_eq!(
        (&only["name"], &only["input_price"], &only["state"]),
        (&json!("offline"), &json!(0), &json!("well"))
    );
    for (greeting, answer) in [("hello", "Hello"), ("வணக்கம்", "வணக்கம்"), ("नमस्ते", "नमस्ते")]
    {
        let said = installation.run(&["complete", greeting]).ok();
        assert!(said.starts_with(answer), "{said}");
    }
    assert!(!installation.file().exists(), "a question makes no database");
    let json = installation.json(&["complete", "hello"]);
    assert_eq!(
        (&json["model"], &json["cost_micros"], &json["stop"]),
        (&json!("offline"), &json!(0), &json!("end_turn"))
    );
}

#[test]
fn a_server_that_is_not_there_is_tried_told_and_left_alone() {
    for engine in [DatabaseEngine::Sqlite, DatabaseEngine::Postgres] {
        let installation = with_a_dead_server(Installation::migrated(engine));
        for _ in 0..2 {
            assert_eq!(
                installation.json(&["complete", "hello"])["model"],
                json!("offline"),
                "the next one answers"
            );
        }
        let listed = installation.json(&["models"]);
        let dead = &listed["models"][0];
        assert_eq!((&dead["name"], &dead["state"]), (&json!("local"), &json!("resting")), "{listed}");
        let words = installation.run(&["models"]).ok();
        assert!(words.contains("circuit open until"), "{words}");
        let tested = installation.run(&["models", "test", "local"]);
        assert_eq!(tested.code, 1);
        assert!(tested.out.contains("can't reach the provider"), "{tested:?}");
    }
}

#[test]
fn what_can_not_be_asked_is_said_before_anything_happens() {
    let installation = Installation::sqlite();
    let unknown = installation.run(&["complete", "--model", "nobody", "hello"]);
    assert_eq!(unknown.code, 5);
    assert!(unknown.err.contains("known models: offline"), "{unknown:?}");
    assert_eq!(installation.run(&["complete", "  "]).code, 2);
    assert_eq!(installation.run(&["complete", "hello", "--use", "fastest"]).code, 2);
    assert_eq!(installation.run(&["complete", "hello", "--schema", "missing.json"]).code, 5);
    std::fs::write(installation.folder().join("bad.json"), "{").unwrap();
    assert_eq!(installation.run(&["complete", "hello", "--schema", "bad.json"]).code, 2);
    assert_eq!(installation.run(&["models", "test", "nobody"]).code, 5);
}

/// A server elsewhere, as far as the settings know, that says this word by word.
async fn saying(words: &[&str]) -> ModelServer {
    let server = ModelServer::start(Vec::new()).await;
    let chunk = |delta: serde_json::Value, finish: serde_json::Value| {
        let chunk = json!({"id": "1", "object": "chat.completion.chunk", "model": "m",
            "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]});
        FakeModelStep::Send(format!("data: {chunk}\n\n").into_bytes())
    };
    let mut steps: Vec<FakeModelStep> =
        words.iter().map(|word| chunk(json!({"content": word}), json!(null))).collect();
    steps.push(chunk(json!({}), json!("stop")));
    steps.extend([FakeModelStep::Send(b"data: [DONE]\n\n".to_vec()), FakeModelStep::End]);
    server.enqueue_answer(FakeModelAnswer::stream(steps));
    server
}

fn with_that_server(server: &ModelServer) -> Installation {
    Installation::sqlite()
        .with("MUNSHI__MODELS__FAR__PROVIDER", "vllm")
        .with("MUNSHI__MODELS__FAR__MODEL", "m")
        .with("MUNSHI__MODELS__FAR__BASE_URL", format!("{}/v1", server.url()))
}

fn asked(server: &ModelServer) -> String {
    String::from_utf8(server.requests().remove(0).body).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_elsewhere_gets_codes_for_phones_and_the_answer_has_them_again() {
    let question = ["complete", "write to +91 98765 43210 about account 50100123456789"];
    let server = saying(&["Call X", "PH1", "00 about XAC101."]).await;
    let said = with_that_server(&server).run(&question).ok();
    assert_eq!(said.trim(), "Call +91 98765 43210 about 50100123456789.");
    let body = asked(&server);
    assert!(
        body.contains("write to XPH100 about account XAC101") && body.contains("stand for real values"),
        "{body}"
    );

    let server = saying(&["XPH100"]).await;
    let said = with_that_server(&server).run(&[&question[..], &["--as-is"]].concat()).ok();
    assert_eq!(said.trim(), "XPH100");
    assert!(asked(&server).contains(question[1]), "sent as it is");

    let server = saying(&["XPH100"]).await;
    let installation = with_that_server(&server).with("MUNSHI__MODELS__FAR__SEES_NAMES", "true");
    assert_eq!(installation.run(&question).ok().trim(), "XPH100");
    assert!(asked(&server).contains(question[1]), "a server of one's own may see it");
    assert_eq!(installation.json(&["models"])["models"][0]["sees_names"], json!(true));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_aadhaar_number_is_sent_nowhere() {
    let server = saying(&["never"]).await;
    let installation = with_that_server(&server);
    let number = "2341 2341 2346";
    for words in [
        vec!["complete", "my aadhaar is 2341 2341 2346"],
        vec!["complete", "--as-is", "my aadhaar is 2341 2341 2346"],
        vec!["complete", "--system", "aadhaar 234123412346", "hello"],
        vec!["complete", "--model", "offline", "my aadhaar is 2341 2341 2346"],
    ] {
        let refused = installation.run(&words);
        assert_eq!(refused.code, 7, "{refused:?}");
        assert!(
            refused.err.contains("nothing was sent") && refused.err.contains("last four digits"),
            "{refused:?}"
        );
        assert!(!refused.err.contains(number), "{refused:?}");
    }
    assert_eq!(server.stats().requests, 0);
}

#[test]
fn a_real_model_answers_and_the_call_is_on_record() {
    let installation = with_the_real_model(Installation::migrated(DatabaseEngine::Sqlite));
    let answer = installation.json(&["complete", "Say hello.", "--max-tokens", "12"]);
    assert_eq!((&answer["model"], &answer["cost_micros"]), (&json!("small"), &json!(0)), "{answer}");
    assert!(answer["usage"]["output"].as_u64().unwrap() > 0 && !answer["text"].as_str().unwrap().is_empty());
    assert_eq!(installation.json(&["models"])["models"][0]["state"], json!("well"));
    let words = installation.run(&["complete", "Say hello.", "--max-tokens", "12"]);
    assert!(!words.out.trim().is_empty(), "{words:?}");
    assert!(words.err.contains("small:") && words.err.contains("free"), "{words:?}");
    // A model this small does not always write the form it is asked for; what is tried is said either way.
    let tested = (0..4).map(|_| installation.run(&["models", "test", "small"]));
    let tested: Vec<Ran> = tested.take_while(|ran| ran.code != 0).collect();
    assert!(tested.len() < 4, "{tested:?}");
    assert!(tested.iter().all(|ran| ran.out.contains("answer of a form")), "{tested:?}");
}
