//! What a look could carry out of the house, and when somebody is asked before.

use std::collections::BTreeSet;

use munshi_types::{Effect, Egress, ToolSpec};
use serde_json::{Value, json};

use super::super::{ConnectorOrigin, ProposalMode, Taint, TaintSource};
use super::case::{Case, connector, given, spec};

/// A run that has read a letter, and knows what is private.
pub(super) fn led(own_words: &str) -> Taint {
    Taint { sources: BTreeSet::from([TaintSource::Document]), holds_private: true, ..Taint::clean(own_words) }
}

/// A schema of a stranger's can have as many switches and lists as a number has digits.
#[test]
fn many_small_choices_carry_as_much_as_a_text() {
    let digits: Vec<String> = (0..10).map(|digit| format!("word {digit}")).collect();
    let forms = [json!({ "type": "boolean" }), json!({ "enum": digits }), json!({ "type": "integer" })];
    let values = [json!(true), json!("word 7"), json!(42)];
    for ((form, value), few) in forms.iter().zip(&values).zip([24, 6, 3]) {
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

#[test]
fn a_look_at_the_open_world_carries_nothing_out_unasked() {
    let listed = json!({ "type": "object", "required": ["id"], "properties": {
        "id": { "type": ["string", "integer"] }, "to": { "type": "string" }, "unit": { "enum": ["km", "miles"] },
        "deep": { "type": "boolean" }, "page": { "type": "integer" } } });
    let look = |egress| ToolSpec { egress, parameters: listed.clone(), ..spec(Effect::Read) };
    let said = json!({ "id": "42", "to": "raju" });
    let (taint, clean) = (led("42 raju"), Taint { holds_private: true, ..Taint::clean("42 raju") });
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
    let mut house = Case::with(look(Egress::Ask), connector(ConnectorOrigin::House));
    house.proposal.taint = led("hello");
    assert_eq!(house.word(), "apply", "our own tables are no open world");
}

#[test]
fn a_run_of_before_counts_as_one_that_knows() {
    let stored: Taint = serde_json::from_value(json!({ "sources": ["web"], "own_words": [] })).unwrap();
    assert!(stored.holds_private && !Taint::default().holds_private);
}
