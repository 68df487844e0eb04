//! `munshi sms read`: what a bank's message means.

use std::io::Write;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::support::Installation;

const DEBIT: &str = "Rs.1,250.00 debited from a/c **4471 on 14-06-25 to VPA kirana.77@okaxis(UPI Ref No 516512345678). Avl bal Rs 900";

#[test]
fn a_message_is_read_in_words_and_in_json() {
    let installation = Installation::sqlite();
    let words = installation.run(&["sms", "read", DEBIT, "--sender", "VM-HDFCBK"]).ok();
    assert!(words.contains("INR 1250.00 went out") && words.contains("kirana.77@okaxis"), "{words}");
    assert!(words.contains("2025-06-14") && words.contains("HDFC Bank") && words.contains("sure"), "{words}");
    let read = installation.json(&["sms", "read", DEBIT]);
    assert_eq!(
        (&read["kind"], &read["amount"], &read["account"]),
        (&json!("debit"), &json!("1250.00"), &json!("4471"))
    );
    assert_eq!((&read["reference"], &read["balance"]), (&json!("516512345678"), &json!("900.00")));
    let nothing = installation.run(&["sms", "read", "OTP is 448291 for txn of INR 2,499.00"]).ok();
    assert!(nothing.contains("nothing to book: a one-time code"), "{nothing}");
}

fn answers(output: &[u8]) -> Vec<Value> {
    String::from_utf8_lossy(output).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn every_line_is_answered_in_order_and_a_bad_one_stops_nothing() {
    let installation = Installation::sqlite();
    let lines = format!(
        "\u{feff}{}\nnot json\n\n{{\"text\":\"ROHIT has requested Rs 500 from you\",\"sender\":null}}\n{{\"sender\":\"x\"}}\n",
        json!({ "text": DEBIT, "sender": "+919812345678" })
    );
    let mut command = installation.command(&["sms", "read", "--jsonl"]);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let read = answers(&output.stdout);
    assert_eq!(read.len(), 4, "{read:?}");
    assert_eq!((&read[0]["kind"], &read[0]["certainty"]), (&json!("debit"), &json!("unsure")));
    assert_eq!((&read[1]["line"], &read[3]["line"]), (&json!(2), &json!(5)));
    assert!(read[1]["error"]["message"].as_str().unwrap().contains("line 2"), "{}", read[1]);
    assert_eq!(
        (&read[2]["kind"], &read[2]["amount"], &read[2]["reason"]),
        (&json!("none"), &json!(null), &json!("request"))
    );
}

#[test]
fn a_file_of_lines_is_read_and_a_missing_one_is_told() {
    let installation = Installation::sqlite();
    let file = installation.folder().join("sms.jsonl");
    std::fs::write(&file, format!("{}\n", json!({ "text": DEBIT }))).unwrap();
    let output = installation.command(&["sms", "read", "--jsonl", file.to_str().unwrap()]).output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(answers(&output.stdout)[0]["kind"], json!("debit"));
    let missing = installation.command(&["sms", "read", "--jsonl", "/nowhere/sms.jsonl"]).output().unwrap();
    assert_eq!(missing.status.code(), Some(5));
}
