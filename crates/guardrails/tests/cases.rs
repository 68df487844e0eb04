//! Every case file of `tests/cases`: what must pass and what must be caught, by rule and language.
//!
//! A file is `RULE/LANGUAGE.txt`. Lines are `pass: …` and `catch: …`; `\n` in a line is a new line of the reply.
//! `with: …` sets the context for the lines after it, `with:` alone clears it; `with` below says what can be set.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test says what is wrong and stops"
)]

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use munshi_guardrails::{
    AllowedLanguage, CatalogItem, ElectionMode, GuardrailContext, GuardrailParameters, GuardrailRuleSet,
    PromptFingerprint,
};
use munshi_lang::ScriptForm;
use munshi_types::{Language, Money};

const LANGUAGES: [&str; 5] = ["en", "hi", "ta", "bn", "hinglish"];
/// Languages with fewer words and cases, in their own script and in Latin letters, and the rules that have them.
const OTHERS: [&str; 7] = ["gu", "kn", "ml", "mr", "or", "pa", "te"];
const OTHERS_RULES: [&str; 5] =
    ["no-discount", "no-financial-promise", "no-diagnosis", "no-invented-scarcity", "never-human"];
/// The fewest lines of each kind a file must have.
const FEWEST: usize = 15;
const FEWEST_OTHERS: usize = 2;

#[derive(Default)]
struct Count {
    passes: usize,
    catches: usize,
    wrong: Vec<String>,
}

#[test]
fn every_case_is_decided_rightly() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let mut table: BTreeMap<String, BTreeMap<&str, Count>> = BTreeMap::new();
    for rule in GuardrailRuleSet::shipped().rules() {
        for language in LANGUAGES {
            let path = folder.join(rule.id.as_ref()).join(format!("{language}.txt"));
            let text = std::fs::read_to_string(&path).unwrap_or_default();
            table.entry(rule.id.to_string()).or_default().insert(language, run(&rule.id, &text));
        }
    }
    print(&table);
    let wrong: Vec<&String> =
        table.values().flat_map(|row| row.values().flat_map(|count| &count.wrong)).collect();
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.iter().map(|w| w.as_str()).collect::<Vec<_>>().join("\n")
    );
    for (rule, row) in &table {
        for (language, count) in row {
            let few = count.passes < FEWEST || count.catches < FEWEST;
            assert!(!few, "{rule}/{language}: {} to pass, {} to catch", count.passes, count.catches);
        }
    }
}

#[test]
fn the_core_rules_hold_in_the_other_languages() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let mut wrong = Vec::new();
    for rule in OTHERS_RULES {
        for language in OTHERS {
            let path = folder.join(rule).join(format!("{language}.txt"));
            let count = run(rule, &std::fs::read_to_string(&path).unwrap_or_default());
            let few = count.passes < FEWEST_OTHERS || count.catches < FEWEST_OTHERS;
            assert!(!few, "{rule}/{language}: {} to pass, {} to catch", count.passes, count.catches);
            wrong.extend(count.wrong.into_iter().map(|one| format!("{language} {one}")));
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn plain_talk_is_touched_by_no_rule() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/plain.txt");
    let text = std::fs::read_to_string(path).unwrap();
    let context = GuardrailContext {
        persona: Some("Meera".to_owned()),
        turns_since_price: Some(0),
        ..GuardrailContext::default()
    };
    let set = GuardrailRuleSet::shipped();
    let mut wrong = Vec::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let found = set.check(line, &context).violations;
        wrong.extend(found.iter().map(|one| format!("{}: {line} [{}]", one.rule, &line[one.span.clone()])));
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

fn run(rule: &str, text: &str) -> Count {
    let set = GuardrailRuleSet::new(&[rule], GuardrailParameters::default(), Vec::new()).unwrap();
    let mut count = Count::default();
    let mut context = GuardrailContext::default();
    for (at, line) in text.lines().enumerate() {
        let (kind, reply) = line.split_once(':').unwrap_or((line, ""));
        let reply = reply.trim().replace("\\n", "\n");
        match kind.trim() {
            "with" => with(&mut context, &reply),
            "pass" | "catch" => {
                let found = set.check(&reply, &context).violations;
                let right = found.is_empty() == (kind.trim() == "pass");
                *(if kind.trim() == "pass" { &mut count.passes } else { &mut count.catches }) += 1;
                if !right {
                    let spans: Vec<&str> = found.iter().map(|one| &reply[one.span.clone()]).collect();
                    count.wrong.push(format!("{rule} {}: {line} {spans:?}", at + 1));
                }
            }
            "" => {}
            other if other.starts_with('#') => {}
            other => panic!("{rule}: line {} begins with `{other}`", at + 1),
        }
    }
    count
}

/// What a `with:` line sets.
fn with(context: &mut GuardrailContext, line: &str) {
    let (name, value) = line.split_once(' ').unwrap_or((line, ""));
    match name {
        "" => *context = GuardrailContext::default(),
        "item" => {
            let parts: Vec<&str> = value.split('|').map(str::trim).collect();
            context.items.push(CatalogItem {
                sku: parts[0].to_owned(),
                name: parts[1].to_owned(),
                price: parts[2].parse().unwrap(),
                stock: parts.get(3).map(|stock| stock.parse().unwrap()),
            });
        }
        "amount" => context.amounts.push(value.parse::<Money>().unwrap()),
        "turns" => context.turns_since_price = Some(value.parse().unwrap()),
        "asked-price" => context.asked_price = true,
        "persona" => context.persona = Some(value.to_owned()),
        "model" => context.model_names.push(value.to_owned()),
        "prompt" => context.prompt = Some(Arc::new(PromptFingerprint::new(value, Vec::new()))),
        "lock" => context.lock = value.split(' ').map(tongue).collect(),
        "person-language" => context.person_language = Some(value.parse().unwrap()),
        "said" => context.person_said = value.to_owned(),
        "name" => context.person_name = Some(value.to_owned()),
        "person" => context.people.push(value.to_owned()),
        "red-flag" => context.red_flag = true,
        "escalated" => context.escalated = true,
        "recommended" => context.recommended = true,
        "asked-if-ai" => context.asked_if_ai = true,
        "election" => {
            context.election = match value {
                "campaign" => ElectionMode::Campaign,
                "silence" => ElectionMode::Silence,
                _ => ElectionMode::Neutral,
            };
        }
        other => panic!("no such setting: {other}"),
    }
}

/// `hi` is Hindi in both forms, `hi-latn` in Latin letters, `hi-deva` in its own script.
fn tongue(code: &str) -> AllowedLanguage {
    let form = match code.split_once('-') {
        Some((_, "latn")) => Some(ScriptForm::Latin),
        Some(_) => Some(ScriptForm::Native),
        None => None,
    };
    AllowedLanguage { language: code.parse::<Language>().unwrap(), form }
}

fn print(table: &BTreeMap<String, BTreeMap<&str, Count>>) {
    print!("{:<24}", "rule");
    LANGUAGES.iter().for_each(|language| print!("{language:>12}"));
    println!();
    for (rule, row) in table {
        print!("{rule:<24}");
        for language in LANGUAGES {
            let count = &row[language];
            let all = count.passes + count.catches;
            print!("{:>12}", format!("{}/{all}", all - count.wrong.len()));
        }
        println!();
    }
}
