//! How well messages are read, against a file of cases with expected readings.
//!
//! `cargo run -p munshi-sms --example sms_measure -- FOLDER` reads `FOLDER/sms_cases.jsonl`, prints every miss and then
//! the shares in percent.

#![allow(clippy::print_stdout, reason = "the figures are what this prints")]

use std::time::Instant;

use anyhow::{Context, Result};
use munshi_sms::{Payment, PaymentCertainty, PaymentDirection, Sms, SmsReading, read};
use munshi_types::Money;
use serde_json::Value;

#[derive(Default)]
struct Share {
    right: usize,
    all: usize,
}

impl Share {
    fn count(&mut self, right: bool) -> bool {
        self.all += 1;
        self.right += usize::from(right);
        right
    }

    fn line(&self, what: &str) -> String {
        let tenths = (self.right * 1000 + self.all / 2) / self.all.max(1);
        format!("{what:22} {:>4} of {:<4} {:>3}.{}%", self.right, self.all, tenths / 10, tenths % 10)
    }
}

#[derive(Default)]
struct Tally {
    direction: Share,
    amount: Share,
    nothing: Share,
    account: Share,
    counterparty: Share,
    /// One name holds the other: `user12@bank` and `user12`.
    named: Share,
    balance: Share,
    booked: usize,
    surely_wrong: usize,
}

fn main() -> Result<()> {
    let folder = std::env::args().nth(1).context("name the folder of sms_cases.jsonl")?;
    let text = std::fs::read_to_string(format!("{folder}/sms_cases.jsonl"))
        .context("sms_cases.jsonl can't be read")?;
    let cases: Vec<Value> = text.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
    let mut tally = Tally::default();
    for case in &cases {
        let reading = read(&sms(case));
        for miss in misses(&mut tally, &case["expected"], &reading) {
            println!(
                "{}: {miss}\n    {}",
                case["id"].as_str().unwrap_or("?"),
                sms(case).text.replace('\n', " ⏎ ")
            );
        }
    }
    for (what, share) in [
        ("direction", &tally.direction),
        ("amount", &tally.amount),
        ("not a transaction", &tally.nothing),
        ("account", &tally.account),
        ("counterparty", &tally.counterparty),
        ("counterparty, loosely", &tally.named),
        ("balance", &tally.balance),
    ] {
        println!("{}", share.line(what));
    }
    println!("booked though nothing  {:>4}\nsure and wrong         {:>4}", tally.booked, tally.surely_wrong);
    println!("time for a message     {:>4} µs", microseconds(&cases));
    Ok(())
}

fn sms(case: &Value) -> Sms<'_> {
    Sms { text: case["text"].as_str().unwrap_or_default(), sender: case["sender"].as_str(), day: None }
}

fn misses(tally: &mut Tally, expected: &Value, reading: &SmsReading) -> Vec<String> {
    let kind = expected["kind"].as_str().unwrap_or_default();
    match reading {
        SmsReading::Nothing(_) if kind == "none" => {
            tally.nothing.count(true);
            Vec::new()
        }
        SmsReading::Payment(payment) if kind == "none" => {
            tally.nothing.count(false);
            tally.booked += 1;
            tally.surely_wrong += usize::from(payment.certainty == PaymentCertainty::Sure);
            let class = expected["none_class"].as_str().unwrap_or_default();
            vec![format!(
                "BOOKED ({class}) as {} {} {}",
                direction_name(payment),
                payment.amount,
                payment.certainty.as_str()
            )]
        }
        SmsReading::Nothing(nothing) => {
            tally.direction.count(false);
            tally.amount.count(false);
            vec![format!("not booked ({nothing:?}), but {kind} {}", expected["amount"])]
        }
        SmsReading::Payment(payment) => compare_payment(tally, expected, payment),
    }
}

const fn direction_name(payment: &Payment) -> &'static str {
    match payment.direction {
        PaymentDirection::Credit => "credit",
        PaymentDirection::Debit => "debit",
    }
}

fn compare_payment(tally: &mut Tally, expected: &Value, payment: &Payment) -> Vec<String> {
    let mut misses = Vec::new();
    let kind = expected["kind"].as_str().unwrap_or_default();
    let right = tally.direction.count(direction_name(payment) == kind);
    let exact = tally.amount.count(money(&expected["amount"]) == Some(payment.amount));
    tally.surely_wrong += usize::from(payment.certainty == PaymentCertainty::Sure && !(right && exact));
    if !right || !exact {
        misses.push(format!(
            "{} {}, not {kind} {}",
            direction_name(payment),
            payment.amount,
            expected["amount"]
        ));
    }
    if let Some(account) = expected["account_last4"].as_str()
        && !tally.account.count(payment.account.as_deref() == Some(account))
    {
        misses.push(format!("account {:?}, not {account}", payment.account));
    }
    if let Some(name) = expected["counterparty"].as_str() {
        let found = payment.counterparty.as_deref().unwrap_or_default();
        tally.named.count(is_same_name(found, name));
        if !tally.counterparty.count(found.eq_ignore_ascii_case(name.trim())) {
            misses.push(format!("counterparty {:?}, not {name}", payment.counterparty));
        }
    }
    if !expected["balance"].is_null() && !tally.balance.count(payment.balance == money(&expected["balance"]))
    {
        misses.push(format!("balance {:?}, not {}", payment.balance, expected["balance"]));
    }
    misses
}

fn is_same_name(found: &str, expected: &str) -> bool {
    let bare = |text: &str| {
        text.chars().filter(|letter| letter.is_alphanumeric()).collect::<String>().to_lowercase()
    };
    let (found, expected) = (bare(found), bare(expected));
    !found.is_empty() && (found.contains(&expected) || expected.contains(&found))
}

fn money(value: &Value) -> Option<Money> {
    value.as_f64().and_then(|amount| format!("{amount:.2}").parse().ok())
}

fn microseconds(cases: &[Value]) -> u128 {
    const ROUNDS: u32 = 20;
    let start = Instant::now();
    for _ in 0..ROUNDS {
        for case in cases {
            std::hint::black_box(read(&sms(case)));
        }
    }
    start.elapsed().as_micros() / (u128::from(ROUNDS) * cases.len().max(1) as u128)
}
