//! Measures the crate against a folder of labelled cases and prints a table per language and script.
//!
//! `cargo run --release -p munshi-lang --example measure -- FOLDER [--wrong]`

#![allow(clippy::print_stdout, reason = "a table is what this prints")]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::Context as _;
use munshi_lang::{Certainty, NumberKind, NumberMention, UnderstandingContext, understand};
use munshi_types::Language;
use serde_json::Value;

#[derive(Default)]
struct Row {
    cases: usize,
    right: usize,
    unsure: usize,
    wrong: usize,
    tenfold: usize,
}

#[derive(Default)]
struct Table {
    rows: BTreeMap<String, Row>,
}

impl Table {
    fn row(&mut self, name: &str) -> &mut Row {
        self.rows.entry(name.to_owned()).or_default()
    }

    fn print(&self, title: &str) {
        println!(
            "\n{title}\n{:<28}{:>7}{:>9}{:>8}{:>7}{:>6}",
            "", "cases", "right", "unsure", "wrong", "x10"
        );
        let mut all = Row::default();
        for (name, row) in &self.rows {
            print_row(name, row);
            all.cases += row.cases;
            all.right += row.right;
            all.unsure += row.unsure;
            all.wrong += row.wrong;
            all.tenfold += row.tenfold;
        }
        print_row("all", &all);
    }
}

#[allow(clippy::cast_precision_loss, reason = "a share for people to read")]
fn print_row(name: &str, row: &Row) {
    let share = 100.0 * row.right as f64 / row.cases.max(1) as f64;
    println!("{name:<28}{:>7}{share:>8.1}%{:>8}{:>7}{:>6}", row.cases, row.unsure, row.wrong, row.tenfold);
}

fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let folder = arguments.first().map_or("../shared/data", String::as_str);
    let show = arguments.iter().any(|argument| argument == "--wrong");
    let cases = Path::new(folder).join("numbers.jsonl");
    numbers(&cases, true, show)?;
    numbers(&cases, false, show)?;
    utterances(&Path::new(folder).join("utterances.jsonl"), show)
}

fn lines(path: &Path) -> anyhow::Result<Vec<Value>> {
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    text.lines().map(|line| Ok(serde_json::from_str(line)?)).collect()
}

fn text<'v>(value: &'v Value, name: &str) -> &'v str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// Number words with their language given, or with no word of it.
fn numbers(path: &Path, given: bool, show: bool) -> anyhow::Result<()> {
    let (mut attested, mut rules) = (Table::default(), Table::default());
    for case in lines(path)? {
        let language: Language = text(&case, "lang").parse()?;
        let context =
            UnderstandingContext { language: given.then_some(language), ..UnderstandingContext::default() };
        let found = understand(text(&case, "text"), &context).numbers;
        let expected = case.get("value").and_then(Value::as_f64).unwrap_or_default();
        let table = match text(&case, "confidence") {
            "tool" | "hand" | "exact" => &mut attested,
            _ => &mut rules,
        };
        let row = table.row(&format!("{language} {}", text(&case, "script")));
        row.cases += 1;
        let value = |number: &munshi_lang::Number| number.to_string().parse::<f64>().unwrap_or_default();
        match found.as_slice() {
            [one] if one.certainty == Certainty::Exact && (value(&one.value) - expected).abs() < 1e-9 => {
                row.right += 1;
            }
            answer => {
                let exact: Vec<f64> = answer
                    .iter()
                    .filter(|one| one.certainty == Certainty::Exact)
                    .map(|one| value(&one.value))
                    .collect();
                let ratio = |found: f64| (found / expected.max(1e-9)).max(expected / found.max(1e-9));
                if exact.is_empty() {
                    row.unsure += 1;
                } else {
                    row.wrong += 1;
                }
                row.tenfold += usize::from(exact.iter().any(|found| ratio(*found) >= 10.0));
                if show {
                    let said: Vec<String> = answer
                        .iter()
                        .map(|one| {
                            format!(
                                "{:?} {:?}",
                                one.certainty,
                                one.readings.iter().map(ToString::to_string).collect::<Vec<_>>()
                            )
                        })
                        .collect();
                    println!(
                        "{language} {} = {expected}: {said:?} [{}]{}",
                        text(&case, "text"),
                        text(&case, "confidence"),
                        if given { "" } else { " no language" }
                    );
                }
            }
        }
    }
    let how = if given { "" } else { ", no language given" };
    attested.print(&format!("Number words, attested{how}"));
    rules.print(&format!("Number words, spellings made by rule{how}"));
    Ok(())
}

fn utterances(path: &Path, show: bool) -> anyhow::Result<()> {
    let (mut languages, mut amounts, mut quantities) = (Table::default(), Table::default(), Table::default());
    for case in lines(path)? {
        let name = text(&case, "lang");
        let language: Language = name.parse()?;
        let found = understand(text(&case, "text"), &UnderstandingContext::default());
        let row_name = format!("{} {}", text(&case, "script"), name);
        languages.row(&row_name).add(found.language == language, false, false);
        let expected = case.get("expected").cloned().unwrap_or_default();
        for (field, kind, table) in
            [("amount", NumberKind::Money, &mut amounts), ("qty", NumberKind::Quantity, &mut quantities)]
        {
            let wanted = expected.get(field).and_then(Value::as_f64);
            if field == "qty" && wanted.is_none() {
                continue;
            }
            let said: Vec<_> = found.numbers.iter().filter(|one| one.kind == kind).collect();
            let right = score(table.row(&row_name), &said, wanted);
            if show && !right {
                println!("{name} {} wants {field} {wanted:?}: {:?}", text(&case, "text"), found.numbers);
            }
        }
        if show && found.language != language {
            println!("{name} {} read as {} ({:.2})", text(&case, "text"), found.language, found.confidence);
        }
    }
    languages.print("Utterances: language");
    amounts.print("Utterances: amount");
    quantities.print("Utterances: quantity");
    Ok(())
}

/// Counts one answer: right, unsure, or wrong; and tenfold when something said for sure is ten times off.
fn score(row: &mut Row, said: &[&NumberMention], wanted: Option<f64>) -> bool {
    let value = |one: &NumberMention| one.value.to_string().parse::<f64>().unwrap_or_default();
    let sure: Vec<f64> =
        said.iter().filter(|one| one.certainty == Certainty::Exact).map(|one| value(one)).collect();
    let all_sure = sure.len() == said.len();
    let right = all_sure && sure == wanted.into_iter().collect::<Vec<_>>();
    let ratio = |found: f64, wanted: f64| (found / wanted.max(1e-9)).max(wanted / found.max(1e-9));
    let tenfold = wanted.is_some_and(|wanted| sure.iter().any(|found| ratio(*found, wanted) >= 10.0));
    row.add(right, !all_sure, tenfold);
    right
}

impl Row {
    fn add(&mut self, right: bool, unsure: bool, tenfold: bool) {
        self.cases += 1;
        self.tenfold += usize::from(tenfold);
        match (right, unsure) {
            (true, _) => self.right += 1,
            (false, true) => self.unsure += 1,
            (false, false) => self.wrong += 1,
        }
    }
}
