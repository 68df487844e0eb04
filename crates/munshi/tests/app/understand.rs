//! `munshi understand`: what is read in a sentence.

use std::io::Write;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::app::support::Installation;

#[test]
fn a_sentence_is_read_in_words_and_in_json() {
    let installation = Installation::sqlite();
    let words = installation.run(&["understand", "Ramesh ne dhai hazaar diye", "--contact", "रमेश"]).ok();
    assert!(words.contains("Hindi (hi), Latin script"), "{words}");
    assert!(words.contains("dhai hazaar = 2500") && words.contains("Ramesh = रमेश"), "{words}");
    let read = installation.json(&["understand", "రాజన్ కి ఐదు వందలు అప్పు"]);
    assert_eq!((&read["language"], &read["script"]), (&json!("te"), &json!("native")));
    assert_eq!(read["numbers"][0]["value"], json!(500));
    assert_eq!(read["numbers"][0]["certainty"], json!("exact"));
    assert_eq!(read["numbers"][0]["kind"], json!("money"));
}

#[test]
fn what_may_mean_two_things_is_said_to_be_unsure() {
    let installation = Installation::sqlite();
    let read = installation.json(&["understand", "sattar rupaye diye", "--language", "hi"]);
    assert_eq!(read["numbers"][0]["value"], json!(70));
    let read = installation.json(&["understand", "sattar"]);
    let readings = &read["numbers"][0]["readings"];
    assert!(read["numbers"] == json!([]) || readings.as_array().is_some_and(|all| all.len() > 1), "{read}");
}

#[test]
fn every_line_is_answered_with_a_line() {
    let installation = Installation::sqlite();
    let mut command = installation.command(&["understand", "--jsonl"]);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let lines = "\u{feff}{\"text\":\"₹1,50,000 மொத்தம்\"}\nnot json\n{\"text\":\"dhai sau\",\"language\":\"hi-Latn\"}\n\
                 {\"text\":\"x\",\"language\":\"klingon\"}\n";
    child.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let answers: Vec<Value> = String::from_utf8(output.stdout)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(answers.len(), 4);
    assert_eq!(answers[0]["numbers"][0]["value"], json!(150_000));
    assert_eq!(answers[1]["error"]["code"], json!("usage"));
    assert_eq!(answers[2]["numbers"][0]["value"], json!(250));
    assert!(answers[3]["error"]["message"].as_str().unwrap().contains("klingon"), "{}", answers[3]);
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(1) && error.contains("2 lines not readable"), "{error}");
}

#[test]
fn without_a_sentence_it_says_what_is_missing() {
    Installation::sqlite().run(&["understand"]).refused(2);
}
