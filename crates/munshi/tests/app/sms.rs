//! `munshi sms`: what a bank's message means, and a phone's messages into the books.

use std::io::Write;
use std::process::Stdio;

use munshi_test_support::DatabaseEngine;
use serde_json::{Value, json};

use crate::app::support::Installation;

const DEBIT: &str = "Rs.1,250.00 debited from a/c **4471 on 14-06-25 to VPA kirana.77@okaxis(UPI Ref No 516512345678). Avl bal Rs 900";

#[test]
fn a_message_is_read_in_words_and_in_json() {
    let installation = Installation::sqlite();
    let words = installation.run(&["sms", "read", DEBIT, "--sender", "VM-HDFCBK"]).ok();
    assert!(words.contains("INR 1250.00 paid") && words.contains("kirana.77@okaxis"), "{words}");
    assert!(words.contains("2025-06-14") && words.contains("HDFC Bank") && words.contains("sure"), "{words}");
    let read = installation.json(&["sms", "read", DEBIT]);
    assert_eq!(
        (&read["kind"], &read["amount"], &read["account"]),
        (&json!("debit"), &json!("1250.00"), &json!("4471"))
    );
    assert_eq!((&read["reference"], &read["balance"]), (&json!("516512345678"), &json!("900.00")));
    let nothing = installation.run(&["sms", "read", "OTP is 448291 for txn of INR 2,499.00"]).ok();
    assert!(nothing.contains("not a payment: a one-time code"), "{nothing}");
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

const BACKUP: &str = r#"<?xml version='1.0' encoding='UTF-8' standalone='yes' ?>
<smses count="4">
  <sms address="VM-HDFCBK" date="1763000000000" type="1" body="Rs.340.00 debited from a/c **4471 to VPA ganesh@ybl (UPI Ref No 516588123401)" />
  <sms address="VM-HDFCBK" date="1763000060000" type="1" body="448291 is your OTP for txn of INR 2,499.00 at AMAZON" />
  <sms address="VM-HDFCBK" date="1763000120000" type="1" body="Rs.75.00 credited to your account" />
  <sms address="VM-HDFCBK" date="soon" type="1" body="Rs.1.00 debited" />
</smses>"#;

fn a_phone_is_taken(engine: DatabaseEngine) {
    let installation = Installation::migrated(engine);
    installation.json(&["tenant", "add", "shop"]);
    let (file, report) = (installation.folder().join("sms.xml"), installation.folder().join("rows.jsonl"));
    std::fs::write(&file, BACKUP).unwrap();
    let (file, rows) = (file.to_str().unwrap(), report.to_str().unwrap());
    let counts = |told: &Value| {
        ["booked", "known", "questions", "nothing", "unreadable"].map(|name| told[name].clone())
    };

    let tried = installation.json(&["sms", "import", file, "--dry-run"]);
    assert_eq!((counts(&tried), &tried["is_applied"]), ([1, 0, 1, 1, 1].map(Value::from), &json!(false)));
    let taken = installation.json(&["sms", "import", file, "--report", rows]);
    assert_eq!((counts(&taken), &taken["went_out"]), ([1, 0, 1, 1, 1].map(Value::from), &json!("340.00")));
    let lines: Vec<Value> = std::fs::read_to_string(&report)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let outcomes: Vec<&str> = lines.iter().map(|line| line["outcome"].as_str().unwrap()).collect();
    assert_eq!(outcomes, ["booked", "nothing", "question", "unreadable"]);
    let again = installation.json(&["sms", "import", file]);
    assert_eq!(counts(&again), [0, 1, 1, 1, 1].map(Value::from));

    let words = installation.run(&["sms", "import", file]).ok();
    assert!(words.contains("0 payments recorded") && words.contains("1 already recorded"), "{words}");
    assert!(
        words.contains("row 3: ₹75.00 from ?") && words.contains("row 4: `soon` is not a valid time"),
        "{words}"
    );
}

#[test]
fn a_phones_messages_are_booked_once_on_sqlite() {
    a_phone_is_taken(DatabaseEngine::Sqlite);
}

#[test]
fn a_phones_messages_are_booked_once_on_postgres() {
    a_phone_is_taken(DatabaseEngine::Postgres);
}

#[test]
fn a_file_that_holds_no_messages_is_told_with_what_to_do() {
    let installation = Installation::sqlite();
    installation.run(&["migrate"]).ok();
    installation.json(&["tenant", "add", "shop"]);
    let file = installation.folder().join("other");
    for (text, wanted) in [
        ("<html></html>", "this is not a message backup"),
        ("name,price\nsugar,45\n", "with `text`"),
        ("\0\0\0", "this is not a text file"),
    ] {
        std::fs::write(&file, text).unwrap();
        let told = installation.run(&["sms", "import", file.to_str().unwrap()]).refused(1);
        assert!(told.contains(wanted), "{told}");
    }
    let missing = installation.run(&["sms", "import", "/nowhere/sms.xml"]).refused(5);
    assert!(missing.contains("can't read"), "{missing}");
    std::fs::write(&file, BACKUP).unwrap();
    let asked = installation.run(&["sms", "import", file.to_str().unwrap(), "--ask"]).refused(2);
    assert!(asked.contains("--ask needs a terminal"), "{asked}");
}
