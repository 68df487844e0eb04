//! `munshi models` and `munshi complete`: with no key, with a server that is not there, and with a real model.

use munshi_test_support::{Engine, environment};
use serde_json::json;

use crate::support::{Installation, Ran};

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
    for engine in [Engine::Sqlite, Engine::Postgres] {
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
        assert!(words.contains("resting until"), "{words}");
        let tested = installation.run(&["models", "test", "local"]);
        assert_eq!(tested.code, 1);
        assert!(tested.out.contains("can't be reached"), "{tested:?}");
    }
}

#[test]
fn what_can_not_be_asked_is_said_before_anything_happens() {
    let installation = Installation::sqlite();
    let unknown = installation.run(&["complete", "--model", "nobody", "hello"]);
    assert_eq!(unknown.code, 5);
    assert!(unknown.err.contains("the settings have offline"), "{unknown:?}");
    assert_eq!(installation.run(&["complete", "  "]).code, 2);
    assert_eq!(installation.run(&["complete", "hello", "--use", "fastest"]).code, 2);
    assert_eq!(installation.run(&["complete", "hello", "--schema", "missing.json"]).code, 5);
    std::fs::write(installation.folder().join("bad.json"), "{").unwrap();
    assert_eq!(installation.run(&["complete", "hello", "--schema", "bad.json"]).code, 2);
    assert_eq!(installation.run(&["models", "test", "nobody"]).code, 5);
}

#[test]
fn a_real_model_answers_and_the_call_is_on_record() {
    let installation = with_the_real_model(Installation::migrated(Engine::Sqlite));
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
