//! A small shop's tools, as a pack would declare them: what the tests and examples offer to the model.
//!
//! One file a tool in `tools/`. `LANGUAGE = PHRASE; PHRASE`, where braces stand for arguments, and
//! `LANGUAGE example = SENTENCE | ITEM; …`, which becomes an example with that item as its argument.
#![allow(dead_code, reason = "each test and example uses its part")]
#![allow(clippy::unwrap_used, reason = "a file that can't be read must fail the test")]

use std::sync::Arc;

use munshi_types::tool::{Effect, ToolExample, ToolSpec};
use serde_json::{Map, Value, json};

const FILES: [(&str, &str); 18] = [
    ("log_sale", include_str!("tools/log_sale.txt")),
    ("credit_given", include_str!("tools/credit_given.txt")),
    ("payment_received", include_str!("tools/payment_received.txt")),
    ("balance_of", include_str!("tools/balance_of.txt")),
    ("summary", include_str!("tools/summary.txt")),
    ("log_expense", include_str!("tools/log_expense.txt")),
    ("log_purchase", include_str!("tools/log_purchase.txt")),
    ("payment_made", include_str!("tools/payment_made.txt")),
    ("credit_taken", include_str!("tools/credit_taken.txt")),
    ("stock_in", include_str!("tools/stock_in.txt")),
    ("stock_out", include_str!("tools/stock_out.txt")),
    ("who_owes_me", include_str!("tools/who_owes_me.txt")),
    ("item_stock", include_str!("tools/item_stock.txt")),
    ("low_stock", include_str!("tools/low_stock.txt")),
    ("remind", include_str!("tools/remind.txt")),
    ("cancel_last", include_str!("tools/cancel_last.txt")),
    ("correct_last", include_str!("tools/correct_last.txt")),
    ("gst_due", include_str!("tools/gst_due.txt")),
];

/// The tools, ready to be offered.
pub(crate) fn tools() -> Vec<Arc<ToolSpec>> {
    FILES.iter().map(|(name, text)| Arc::new(tool(name, text))).collect()
}

fn tool(name: &str, text: &str) -> ToolSpec {
    let mut spec = ToolSpec::read_only(name.parse().unwrap(), "", format!("shop.{name}"));
    let mut properties = Map::new();
    let mut required = Vec::new();
    for line in text.lines() {
        if line == "writes" {
            spec.effect = Effect::Inside;
            continue;
        }
        let (head, rest) = line.split_once(" = ").unwrap();
        match head.split_once(' ') {
            None if head == "about" => spec.description = rest.to_owned(),
            None => {
                let phrases = rest.split(';').map(|phrase| phrase.trim().to_owned());
                spec.phrases.entry(head.parse().unwrap()).or_default().extend(phrases);
            }
            Some(("field", field)) => {
                let (kind, is_required) =
                    rest.strip_suffix(", required").map_or((rest, false), |kind| (kind, true));
                properties.insert(field.to_owned(), property(kind));
                if is_required {
                    required.push(field);
                }
            }
            Some((language, _)) => spec.examples.extend(rest.split(';').map(|one| example(language, one))),
        }
    }
    // What is written with a person and an amount is confirmed with a core phrase.
    let is_recorded = spec.effect.writes() && required.contains(&"person") && required.contains(&"amount");
    spec.reply = is_recorded.then(|| "recorded".to_owned());
    spec.parameters = json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false});
    spec
}

fn property(kind: &str) -> Value {
    match kind {
        "money" => json!({"type": "integer", "format": "money", "description": "In paise."}),
        "quantity" => json!({"type": "number", "format": "quantity"}),
        "choice" => json!({"enum": ["upi", "cash", "card", "cheque"], "words": {
            "upi": ["gpay", "google pay", "phonepe", "paytm", "bhim", "यूपीआई", "ಯುಪಿಐ", "యూపీఐ", "யுபிஐ", "ইউপিআই", "યુપીઆઈ", "ਯੂਪੀਆਈ", "യുപിഐ", "ୟୁପିଆଇ"],
            "cash": ["nakad", "nagad", "rokda", "rokh", "नकद", "नगद", "रोख", "নগদ", "રોકડા", "ನಗದು", "ரொக்கம்", "నగదు", "ਨਕਦ", "പണമായി", "ନଗଦ"],
            "cheque": ["check", "चेक"]
        }}),
        other => json!({"type": "string", "format": other}),
    }
}

fn example(language: &str, line: &str) -> ToolExample {
    let (text, item) = line.split_once('|').unwrap();
    let arguments = json!({"item": item.trim()});
    ToolExample { language: language.parse().unwrap(), text: text.trim().to_owned(), arguments }
}
