//! What a look could carry out of the house, and when somebody is asked before.

use std::collections::BTreeSet;

use munshi_types::{Effect, Egress, ToolSpec};
use serde_json::{Value, json};

use super::super::{ConnectorOrigin, ProposalMode, Taint, TaintSource};
use super::case::{Case, connector, given, spec};

/// A run that has read a letter, and knows what is private.
pub(super) fn led(own_words: &str) -> Taint {
    Taint {
        sources: BTreeSet::from([TaintSource::Document]),
        holds_private: true,
        ..Taint::from_own_words(own_words)
    }
}

/// A schema of a stranger's can have as many switches and lists as a number has digits.
#[test]
fn many_small_choices_carry_as_much_as_a_text() {
    let digits: Vec<String> = (0..10).map(|digit| format!("word {digit}")).collect();
    let forms = [json!({ "type": "boolean" }), json!({ "enum": digits }), json!({ "type": "integer" })];
    let values = [json!(true), json!("word 7"), json!(42)];
    for ((form, value), few) in forms.iter().zip(&values).zip([12, 4, 3]) {
        for (count, expected) in [(few, "apply"), (few + 1, "ask")] {
            let names: Vec<String> = (0..count).map(|number| format!("field_{number}")).collect();
            let all = |of: &Value| {
                names.iter().map(|name| (name.clone(), of.clone())).collect::<serde_json::Map<_, _>>()
            };
            let parameters = json!({ "type": "object", "properties": all(form) });
            let mut case = Case::of(ToolSpec {
                egress: Egress::Ask,
                scope: "users/7/tool".to_owned(),
                parameters,
                ..spec(Effect::Read)
            });
            (case.proposal.taint, case.proposal.arguments) =
                (led("look around"), given(Value::Object(all(value))));
            assert_eq!(case.word(), expected, "{count} of {form}");
        }
    }
}

/// Letters that have no sound here, and joiners, are left out of no word that is sent.
#[test]
fn no_script_hides_what_is_sent() {
    let hidden: String = "Ramesh 4500".bytes().flat_map(|byte| (0..8).map(move |bit| byte >> bit & 1)).fold(
        "r".to_owned(),
        |mut text, bit| {
            text.push(if bit == 1 { '\u{200d}' } else { '\u{200c}' });
            text
        },
    );
    for (text, expected) in [
        ("rice", "apply"),
        ("Rice", "apply"),
        ("price of rice", "apply"),
        ("riceбалансъРамеша", "ask"),
        ("rice拉梅什欠四千五百", "ask"),
        ("riceΡαμες", "ask"),
        ("rice\u{ff32}\u{ff41}", "ask"),
        (&format!("{hidden}ice"), "ask"),
        ("riiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiice", "ask"),
    ] {
        for effect in [Effect::Read, Effect::Keyed] {
            let mut case = Case::of(ToolSpec { egress: Egress::Ask, ..spec(effect) });
            let arguments = json!({ "id": "42", "to": text });
            (case.proposal.taint, case.proposal.arguments) =
                (led("look up 42 and the price of rice for me"), given(arguments));
            // A write says no more than what was said, whoever spelled it.
            let is_spelling = effect == Effect::Keyed && text.starts_with("rii");
            if !is_spelling {
                assert_eq!(case.word(), expected, "{effect:?} {text}");
            }
        }
    }
}

/// Which of the person's words are picked, how they are written, and which fields are there are choices, too.
#[test]
fn picking_among_a_persons_own_words_is_counted() {
    let names: serde_json::Map<String, Value> =
        (0..500).map(|number| (format!("switch_{number}"), json!({ "type": "boolean" }))).collect();
    let mut properties = names;
    properties.insert("q".to_owned(), json!({ "type": "string" }));
    properties.insert("list".to_owned(), json!({ "type": "array", "items": { "type": "string" } }));
    let many = json!({ "type": "object", "properties": properties });
    let few = json!({ "type": "object", "required": ["q"], "properties": {
        "q": { "type": "string" }, "list": { "type": "array", "items": { "type": "string" } } } });
    let open = json!({ "type": "object", "required": ["q"], "properties": {
        "q": { "type": "string" }, "filters": { "type": "object" } } });
    let words = "look up the price of rice for me";
    let picked: Vec<&str> = words.split(' ').cycle().take(22).collect();
    let switches: serde_json::Map<String, Value> =
        (0..24).map(|number| (format!("switch_{}", number * 19), json!(true))).collect();
    for (parameters, arguments, expected) in [
        (&few, json!({ "q": "price of rice" }), "apply"),
        (&few, json!({ "q": "Price of rice" }), "apply"),
        (&few, json!({ "q": "price of rice", "list": ["rice"] }), "apply"),
        (&few, json!({ "q": "LooK uP tHe PriCe Of RicE" }), "ask"),
        (&few, json!({ "q": "rice", "list": picked }), "ask"),
        (&few, json!({ "q": "riíìïīÍÌÏĪiíìce" }), "ask"),
        (&open, json!({ "q": "rice", "filters": { "price of rice": true } }), "apply"),
        (&open, json!({ "q": "rice", "filters": { "price    of  rice": null } }), "ask"),
        (&open, json!({ "q": "rice", "filters": { "riíìïīÍÌÏĪiíìce": null } }), "ask"),
        (&many, Value::Object(switches), "ask"),
    ] {
        let mut case = Case::of(ToolSpec {
            egress: Egress::Ask,
            scope: "users/7/tool".to_owned(),
            parameters: parameters.clone(),
            ..spec(Effect::Read)
        });
        (case.proposal.taint, case.proposal.arguments) = (led(words), given(arguments.clone()));
        assert_eq!(case.word(), expected, "{arguments}");
    }
}

/// What several calls carry away together is counted together.
#[test]
fn the_calls_of_a_run_share_what_they_may_choose() {
    let mut case = Case::of(ToolSpec { egress: Egress::Ask, ..spec(Effect::Read) });
    let arguments = json!({ "id": "42", "to": "rice" });
    case.proposal.arguments = given(arguments.clone());
    case.proposal.taint = led("look up 42 and the price of rice for me");
    let tool = case.proposal.tool.clone().unwrap();
    let mut calls = 0;
    while case.word() == "apply" && calls < 20 {
        case.proposal.taint.record_choices(&arguments, &tool);
        calls += 1;
    }
    assert!((2..10).contains(&calls), "{calls}");
    assert_eq!(case.word(), "ask");
    // What a tool carried that is gone nobody can count any more.
    case.proposal.taint = led("look up 42 and the price of rice for me");
    case.proposal.taint.record_unknown_call();
    assert_eq!(case.word(), "apply");
    case.proposal.taint.record_unknown_call();
    assert_eq!(case.word(), "ask");
}

#[test]
fn a_look_at_the_open_world_carries_nothing_out_unasked() {
    let listed = json!({ "type": "object", "required": ["id"], "properties": {
        "id": { "type": ["string", "integer"] }, "to": { "type": "string" }, "unit": { "enum": ["km", "miles"] },
        "deep": { "type": "boolean" }, "page": { "type": "integer" } } });
    let look = |egress| ToolSpec { egress, parameters: listed.clone(), ..spec(Effect::Read) };
    let said = json!({ "id": "42", "to": "raju" });
    let (taint, clean) = (led("42 raju"), Taint { holds_private: true, ..Taint::from_own_words("42 raju") });
    let knows_nothing = Taint { holds_private: false, ..taint.clone() };
    for (egress, taint, arguments, expected) in [
        (Egress::Ask, &taint, said.clone(), "apply"),
        (Egress::Ask, &taint, json!({ "id": "42", "to": "raju owes 54300" }), "ask"),
        (Egress::Ask, &taint, json!({ "id": 54_300, "to": "raju" }), "ask"),
        (Egress::Ask, &taint, json!({ "id": "42", "page": 54_300 }), "ask"),
        // What tells nothing: a page, a switch, one of the tool's own words.
        (Egress::Ask, &taint, json!({ "id": "42", "page": 3, "deep": true, "unit": "km" }), "apply"),
        (Egress::Ask, &clean, json!({ "id": "42", "to": "raju owes 54300" }), "apply"),
        (Egress::Ask, &knows_nothing, json!({ "id": "42", "to": "raju owes 54300" }), "apply"),
        (Egress::Allow, &taint, json!({ "id": "42", "to": "raju owes 54300" }), "apply"),
        (Egress::Deny, &taint, json!({ "id": "42", "to": "raju owes 54300" }), "carries_data"),
        (Egress::Deny, &taint, said.clone(), "apply"),
    ] {
        let mut case = Case::of(look(egress));
        (case.proposal.taint, case.proposal.arguments) = (taint.clone(), given(arguments.clone()));
        assert_eq!(case.word(), expected, "{egress:?} {arguments}");
    }
    // Trying something out sends as much, and nobody is asked before.
    for effect in [Effect::Read, Effect::Keyed] {
        let mut case = Case::of(ToolSpec { egress: Egress::Ask, dry_run: true, ..spec(effect) });
        case.proposal.taint = led("hello");
        case.proposal.wanted = ProposalMode::Rehearsal;
        assert_eq!(case.word(), "carries_data", "{effect:?}");
    }
    let mut house = Case::with(look(Egress::Ask), connector(ConnectorOrigin::BuiltIn));
    house.proposal.taint = led("hello");
    assert_eq!(house.word(), "apply", "our own tables are no open world");
}

#[test]
fn a_run_of_before_counts_as_one_that_knows() {
    let stored: Taint = serde_json::from_value(json!({ "sources": ["web"], "own_words": [] })).unwrap();
    assert!(stored.holds_private && !Taint::default().holds_private);
}
