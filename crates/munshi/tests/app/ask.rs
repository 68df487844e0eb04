//! `munshi ask` and what `munshi stats` tells of it: with no key, with a server and without, one message and many.

use std::io::Write;
use std::process::Stdio;

use munshi_test_support::DatabaseEngine;
use serde_json::{Value, json};

use crate::app::support::{Installation, Ran};

/// An installation with a tenant whose agent has tools of the house.
fn saathi(engine: DatabaseEngine) -> Installation {
    let installation = Installation::migrated(engine);
    installation.json(&["apply", &format!("{}/../../tenants/saathi", env!("CARGO_MANIFEST_DIR"))]);
    installation
}

fn lines(installation: &Installation, arguments: &[&str], input: &str) -> (Ran, Vec<Value>) {
    let mut command = installation.command(&[&["ask", "business-work", "--jsonl"], arguments].concat());
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let ran = Ran::of(child.wait_with_output().unwrap());
    let read = |line: &str| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
    let answers = ran.out.lines().map(read).collect();
    (ran, answers)
}

const QUESTION: [&str; 3] = ["ask", "business-work", "what is today's date?"];

fn called(told: &Value) -> Vec<&str> {
    told["calls"].as_array().unwrap().iter().map(|call| call["tool"].as_str().unwrap()).collect()
}

fn a_question_is_answered(engine: DatabaseEngine) {
    let installation = saathi(engine);
    let told = installation.json(&QUESTION);
    assert_eq!(
        (&told["state"], &told["degraded"], called(&told)),
        (&json!("done"), &json!(false), vec!["today"])
    );
    assert_eq!((&told["tenant"], &told["binding"]), (&json!("saathi"), &json!("business-work")));
    assert_eq!(told["person"]["role"], "owner", "whoever sits at the machine");
    assert!(told["calls"][0]["ok"] == true && told["calls"][0]["result"].is_object(), "{told}");
    assert_eq!((&told["language"], told["timings"]["total"].as_i64() > Some(0)), (&json!("en"), true));
    let again = installation.json(&QUESTION);
    assert_eq!(
        (&again["session"], &again["person"]),
        (&told["session"], &told["person"]),
        "one conversation"
    );
    assert_ne!(again["run"], told["run"]);

    let shown = installation.run(&QUESTION);
    assert_eq!(shown.code, 0, "{shown:?}");
    assert!(!shown.out.contains("today {") && shown.err.contains("→ today {}"), "{shown:?}");
    assert!(!shown.out.contains('\u{1b}') && shown.out.ends_with('\n'), "{shown:?}");

    let stats = installation.json(&["stats"]);
    let api = &stats["channels"][0];
    assert_eq!((&api["channel"], &api["turns"], &api["tool_calls"]), (&json!("api"), &json!(3), &json!(3)));
    assert_eq!(api["outcomes"], json!({ "done": 3 }));
    assert_eq!(installation.json(&["stats", "--channel", "voice"])["all"]["turns"], 0);
    installation.run(&["stats", "--binding", "busines-work", "--json"]).refused_as(5, "not_found");
}

#[test]
fn a_question_is_answered_on_sqlite() {
    a_question_is_answered(DatabaseEngine::Sqlite);
}

#[test]
fn a_question_is_answered_on_postgres() {
    a_question_is_answered(DatabaseEngine::Postgres);
}

#[test]
fn an_excuse_is_told_and_is_no_success() {
    let installation = saathi(DatabaseEngine::Sqlite);
    let number = ["ask", "business-work", "my aadhaar is 2341 2341 2346"];
    let shown = installation.run(&number);
    assert!(shown.code == 10 && !shown.out.trim().is_empty(), "{shown:?}");
    assert!(shown.err.contains("refused_at_door"), "{shown:?}");
    let json = installation.run(&[&number[..], &["--json"]].concat());
    let told: Value = serde_json::from_str(&json.out).unwrap();
    assert_eq!((json.code, &told["state"]), (10, &json!("halted")), "{json:?}");
    assert!(json.err.contains("\"halted\""), "{json:?}");
}

#[test]
fn many_lines_are_answered_in_order() {
    let installation = saathi(DatabaseEngine::Sqlite);
    let input = concat!(
        "\u{feff}{\"text\":\"what is today's date?\"}\n\n",
        "{\"text\":\"what is today's date?\",\"person\":\"Meena\"}\nnonsense\n{\"text\":\" \"}\n",
        "{\"text\":\"what is today's date?\",\"person\":\"meena\"}\n",
        "{\"text\":\"my number is 2345 6789 0124\",\"person\":\"+919812345678\"}\n",
        "{\"text\":\"what is today's date?\",\"person\":\"0192\u{2028}\"}",
    );
    let (ran, told) = lines(&installation, &[], input);
    assert_eq!((ran.code, ran.err.as_str()), (1, "error: 2 lines could not be answered\n"), "{ran:?}");
    let numbers: Vec<u64> = told.iter().map(|line| line["line"].as_u64().unwrap()).collect();
    assert_eq!(numbers, [1, 3, 4, 5, 6, 7, 8]);
    assert_eq!(called(&told[0]), ["today"]);
    assert_eq!(told[1]["person"]["role"], Value::Null, "somebody new is nobody special");
    assert_eq!((&told[2]["error"]["code"], &told[3]["error"]["code"]), (&json!("usage"), &json!("usage")));
    assert_eq!(told[4]["session"], told[1]["session"], "the same person in another spelling");
    assert_eq!(told[5]["halt"]["why"], "refused_at_door");
    let outcomes = &installation.json(&["stats"])["all"]["outcomes"];
    assert_eq!(outcomes["refused_at_door"], 1, "what was turned away is counted too: {outcomes}");
}

#[test]
fn a_running_server_is_asked_through_its_api() {
    let installation = saathi(DatabaseEngine::Sqlite);
    let before = installation.json(&QUESTION);
    let server = installation.serve();
    let told = installation.json(&QUESTION);
    assert_eq!((called(&told), &told["session"]), (vec!["today"], &before["session"]));
    let shown = installation.run(&QUESTION);
    assert!(shown.code == 0 && shown.err.contains("→ today {}"), "{shown:?}");
    let (ran, told) = lines(&installation, &["--person", "Meena"], "{\"text\":\"what is today's date?\"}\n");
    assert_eq!((ran.code, called(&told[0])), (0, vec!["today"]), "{ran:?}");
    let keys = installation.json(&["key", "list"]);
    let keys = keys["items"].as_array().unwrap();
    assert!(keys.is_empty(), "the keys of questions are taken away: {keys:?}");
    let staff = installation.json(&["person", "add", "Ravi", "--role", "staff"]);
    let made = installation.json(&[
        "key",
        "add",
        "ravi",
        "--speaks-as",
        "person",
        "--person",
        staff["id"].as_str().unwrap(),
    ]);
    let told = installation.json(&[&QUESTION[..], &["--key", made["text"].as_str().unwrap()]].concat());
    assert_eq!(told["person"]["name"], "Ravi");
    installation.run(&[&QUESTION[..], &["--key", "mk_no", "--json"]].concat()).refused_as(7, "refused");
    drop(server);
}

#[test]
fn what_cannot_be_asked_is_told_with_what_to_do() {
    let fresh = Installation::sqlite();
    let told = fresh.run(&["ask", "shop", "hello", "--json"]).refused_as(5, "not_found");
    assert!(told["error"]["hint"].as_str().unwrap().contains("munshi apply"), "{told}");
    let empty = Installation::migrated(DatabaseEngine::Sqlite);
    let told = empty.run(&["ask", "shop", "hello", "--json"]).refused_as(5, "not_found");
    assert!(told["error"]["hint"].as_str().unwrap().contains("munshi apply"), "{told}");

    let installation = saathi(DatabaseEngine::Sqlite);
    let told = installation.run(&["ask", "busines-work", "hello", "--json"]).refused_as(5, "not_found");
    assert_eq!(told["error"]["hint"], "did you mean `business-work`?");
    let told = installation.run(&["ask", "elephant", "hello", "--json"]).refused_as(5, "not_found");
    assert_eq!(
        told["error"]["hint"],
        "known bindings: business-concierge, business-work, pro-concierge, pro-work"
    );
    let nobody = ["ask", "business-work", "hello", "--tenant", "nobody", "--json"];
    installation.run(&nobody).refused_as(5, "not_found");
    let long = "a".repeat(64 * 1024 + 1);
    for text in ["", " \n", long.as_str()] {
        installation.run(&["ask", "business-work", text, "--json"]).refused_as(2, "usage");
    }
    installation.run(&["ask", "business-work", "--json"]).refused_as(2, "usage");
    installation
        .run(&["ask", "business-work", "--jsonl", "nowhere.jsonl", "--json"])
        .refused_as(5, "not_found");
    installation.json(&["person", "add", "Asha", "--role", "owner"]);
    installation.json(&["person", "add", "Vani", "--role", "owner"]);
    installation.run(&[&QUESTION[..], &["--json"]].concat()).refused_as(2, "usage");
    assert_eq!(installation.json(&[&QUESTION[..], &["--person", "vani"]].concat())["person"]["name"], "Vani");
    installation.json(&["person", "leave", "Vani"]);
    assert_eq!(installation.json(&QUESTION)["person"]["name"], "Asha", "the only owner");
}

#[test]
fn a_person_is_spoken_to_in_the_language_that_was_said() {
    let installation = saathi(DatabaseEngine::Sqlite);
    let asked = ["ask", "business-work", "12345", "--person", "Kavin", "--language", "ta"];
    assert_eq!(installation.json(&asked)["language"], "ta");
    assert_eq!(installation.json(&asked[..5])["language"], "ta", "it is kept with them");
}

/// Without a model the words are ours, and those come in the person's language whatever the persona's.
#[test]
fn a_persona_of_one_tongue_still_answers_where_there_is_no_model() {
    let installation = Installation::migrated(DatabaseEngine::Sqlite);
    installation.json(&["apply", &format!("{}/../../tenants/rangoli", env!("CARGO_MANIFEST_DIR"))]);
    for (said, answered) in [("வணக்கம்", "வணக்கம்"), ("नमस्ते", "नमस्ते"), ("namaste", "Namaste")]
    {
        let told = installation.json(&["ask", "shop", said]);
        assert!(told["text"].as_str().unwrap().starts_with(answered), "{told}");
        assert_eq!(told["violations"], serde_json::json!([]), "{told}");
    }
}
