use munshi_lang::{Language, ScriptForm};
use munshi_types::{Effect, FallbackSearch};
use proptest::prelude::*;
use serde_json::json;

use super::*;

const HINDI: Locale = Locale { language: Language::Hindi, form: ScriptForm::Native };

fn asked(labels: &[(&str, Option<&str>)]) -> ChoiceQuestion {
    let choices = (1..).zip(labels).map(|(id, (label, detail))| ChoiceOption {
        value: json!(format!("c{id}")),
        label: (*label).to_owned(),
        detail: detail.map(str::to_owned),
    });
    let next = FailureHint::Choose { argument: "contact".to_owned(), choices: choices.collect() };
    ChoiceQuestion::from_hint("balance", &json!({ "contact": "ramesh", "month": 5 }), &next).unwrap()
}

fn rameshes() -> ChoiceQuestion {
    asked(&[("Ramesh Kumar", Some("Pune")), ("Ramesh Gupta", Some("Nashik")), ("Ramesh Iyer", None)])
}

fn picks(asked: &ChoiceQuestion, text: &str) -> Option<Value> {
    asked.clone().pick(text).map(|picked| picked.choice.value)
}

#[test]
fn the_question_is_numbered_in_the_persons_language() {
    let book = Phrasebook::core().unwrap();
    assert_eq!(
        rameshes().render(&book, HINDI).unwrap(),
        "3 मिले हैं। आपका मतलब किससे है? कृपया नंबर या नाम बताइए।\n1. Ramesh Kumar – Pune\n2. Ramesh Gupta – Nashik\n3. Ramesh Iyer"
    );
    for voice in Locale::all() {
        assert!(rameshes().render(&book, voice).unwrap().contains("\n2. Ramesh Gupta"), "{}", voice.code());
    }
}

#[test]
fn a_number_a_place_a_name_or_an_alias_picks() {
    for (text, value) in [
        ("2", "c2"),
        ("२", "c2"),
        ("दूसरा वाला", "c2"),
        ("doosra", "c2"),
        ("the second one", "c2"),
        ("இரண்டாவது", "c2"),
        ("the last one", "c3"),
        ("Gupta", "c2"),
        ("गुप्ता", "c2"),
        ("ramesh gupta ji", "c2"),
        ("Nashik wala", "c2"),
        ("రమేష్ గుప్తా", "c2"),
        ("1. Ramesh Kumar", "c1"),
    ] {
        assert_eq!(picks(&rameshes(), text), Some(json!(value)), "{text}");
    }
    let picked = rameshes().pick("2").unwrap();
    assert_eq!(picked.arguments, Some(json!({ "contact": "c2", "month": 5 })));
    assert_eq!((picked.tool.as_str(), picked.argument.as_str()), ("balance", "contact"));
}

#[test]
fn what_is_not_clear_picks_nothing() {
    for text in [
        "",
        "ramesh",
        "4",
        "0",
        "not Gupta",
        "Gupta nahi",
        "hello",
        "Gupta ne 500 diye",
        "2. Ramesh Iyer and more",
    ] {
        assert_eq!(picks(&rameshes(), text), None, "{text}");
    }
    let uneven = asked(&[("Ramesh Kumar", None), ("Ramesh Chandra Prasad Gupta", Some("Nashik Road"))]);
    assert_eq!((picks(&uneven, "ramesh"), picks(&uneven, "chandra")), (None, Some(json!("c2"))));
    let twins = asked(&[("Meeting", Some("Block A")), ("meeting", Some("Block B"))]);
    assert_eq!((picks(&twins, "meeting"), picks(&twins, "1")), (None, Some(json!("c1"))));
}

#[test]
fn one_choice_is_a_yes_or_no() {
    let one = asked(&[("Ramesh Kumar", None)]);
    assert_eq!((picks(&one, "हाँ"), picks(&one, "nahi")), (Some(json!("c1")), None));
    assert_eq!(picks(&rameshes(), "yes"), None);
}

fn spec(effect: Effect) -> ToolSpec {
    ToolSpec { effect, ..ToolSpec::read_only("balance".parse().unwrap(), "", "ledger.balance.read") }
}

#[test]
fn a_search_leads_back_to_the_call_and_writes_to_nobody_unasked() {
    let by = FallbackSearch { tool: "find".parse().unwrap(), argument: "words".to_owned() };
    let next = FailureHint::Search { words: "rajesh".to_owned(), by: Some(by) };
    assert_eq!(
        find_fallback_search(&next, &["find".parse().unwrap()]),
        Some(("find".parse().unwrap(), json!({ "words": "rajesh" })))
    );
    assert_eq!(find_fallback_search(&next, &[]), None);
    let arguments = json!({ "to": " rajesh", "amount": 5 });
    let thing =
        |name: &str| EntityRef { kind: "contact".to_owned(), id: "7".to_owned(), name: name.to_owned() };
    let one = [thing("Rajeshwari")];
    let go = |effect, found: &[EntityRef]| resolve_fallback_search(&spec(effect), &arguments, &next, found);
    assert_eq!(go(Effect::Read, &[]), FallbackSearchOutcome::Nothing);
    assert_eq!(
        go(Effect::Read, &one),
        FallbackSearchOutcome::One(json!({ "to": "Rajeshwari", "amount": 5 }))
    );
    let FallbackSearchOutcome::Ask(asked) = go(Effect::Inside, &one) else { panic!() };
    assert_eq!(asked.pick("yes").unwrap().arguments, Some(json!({ "to": "Rajeshwari", "amount": 5 })));
    assert!(matches!(go(Effect::Read, &[thing("A"), thing("B")]), FallbackSearchOutcome::Ask(_)));
    assert_eq!(
        resolve_fallback_search(&spec(Effect::Read), &json!({}), &next, &one),
        FallbackSearchOutcome::Unplaced
    );
    let book = Phrasebook::core().unwrap();
    assert_eq!(
        render_not_found(&next, &book, HINDI).unwrap().unwrap(),
        "rajesh नहीं मिला। कृपया नाम देख लीजिए, या थोड़ा और बताइए।"
    );
}

proptest! {
    #[test]
    fn every_number_that_is_shown_picks_its_own(labels in proptest::collection::vec("[A-Z][a-z]{2,8}", 2..20), at in 0usize..20) {
        let labels: Vec<(&str, Option<&str>)> = labels.iter().map(|label| (label.as_str(), None)).collect();
        let asked = asked(&labels);
        let at = at % labels.len();
        prop_assert_eq!(picks(&asked, &(at + 1).to_string()), Some(json!(format!("c{}", at + 1))));
        let again: ChoiceQuestion = serde_json::from_value(serde_json::to_value(&asked).unwrap()).unwrap();
        prop_assert_eq!(again, asked);
    }

    #[test]
    fn no_text_breaks_it(text: String) {
        let _ = rameshes().pick(&text);
    }
}
