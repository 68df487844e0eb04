use munshi_types::ToolSpec;
use proptest::prelude::*;
use serde_json::json;

use super::*;
use munshi_tools::{ChoiceOption, FailureHint};

fn spec() -> ToolSpec {
    ToolSpec::read_only("find_leads".parse().unwrap(), "", "crm.lead.find")
}

fn with(result: &Value) -> SessionEntities {
    let mut entities = SessionEntities::default();
    entities.observe(&spec(), result);
    entities
}

fn leads(names: &[&str]) -> SessionEntities {
    let list: Vec<Value> =
        (1..).zip(names).map(|(id, name)| json!({ "id": format!("L-{id:03}"), "name": name })).collect();
    with(&json!({ "count": names.len(), "leads": list }))
}

fn meant(entities: &SessionEntities, text: &str) -> Vec<String> {
    entities.resolve(text).into_iter().map(|one| one.id).collect()
}

#[test]
fn i_think_i_only_have_one() {
    let one = leads(&["Ramesh Kumar"]);
    for text in
        ["I think I only have 1", "mere paas sirf ek hi hai", "1", "the first one", "मुझे लगता है सिर्फ़ 1 है"]
    {
        assert_eq!(meant(&one, text), ["L-001"], "{text}");
    }
    let told = one.render_for_prompt("I think I only have 1").unwrap();
    assert!(told.as_str().contains("Shown last: 1 lead: 1. Ramesh Kumar (id L-001)"), "{}", told.as_str());
    assert!(
        told.as_str().contains("The message may mean: lead Ramesh Kumar (id L-001)"),
        "{}",
        told.as_str()
    );
    let three = leads(&["Ramesh", "Suresh", "Ganesh"]);
    assert_eq!(meant(&three, "I think I only have 1"), Vec::<String>::new());
    assert_eq!(meant(&three, "yes all 3 of them").len(), 3);
    assert!(meant(&three, "I paid ₹3 today").is_empty());
}

#[test]
fn a_name_that_is_a_number_means_both() {
    let names = ["Asha", "Bilal", "Chitra", "Deepa", "Ettu", "Farida", "Gopal", "Hema"];
    let known = leads(&names);
    assert_eq!(meant(&known, "Ettu"), ["L-008", "L-005"], "eight in Malayalam, and a person");
    assert_eq!(meant(&known, "8"), ["L-008"]);
}

#[test]
fn places_and_names_in_any_script() {
    let known = leads(&["Ramesh Kumar", "Suresh Gupta", "Water on Monday"]);
    for (text, id) in [
        ("call the second one", "L-002"),
        ("दूसरे वाले को फ़ोन करो", "L-002"),
        ("2", "L-002"),
        ("last one", "L-003"),
        ("सुरेश को फ़ोन करो", "L-002"),
        ("call suresh", "L-002"),
        ("రమేష్ కి చెప్పు", "L-001"),
        ("what about L-003?", "L-003"),
        ("tell me of water", "L-003"),
    ] {
        assert_eq!(meant(&known, text), [id], "{text}");
    }
    assert!(meant(&known, "put it on the table").is_empty());
    let uneven = leads(&["Ramesh Kumar", "Ramesh Chandra Prasad Gupta"]);
    assert_eq!(meant(&uneven, "ramesh ko bolo").len(), 2);
}

#[test]
fn the_persons_own_spelling_is_kept() {
    let mut known = leads(&["Suresh Gupta"]);
    assert_eq!(known.resolve_and_learn("सुरेश को बताओ").len(), 1);
    let stored = serde_json::to_value(&known).unwrap();
    assert_eq!(stored["known"][0]["aliases"], json!(["सुरेश"]));
    known.observe(&spec(), &json!({ "id": "L-001", "name": "Suresh K Gupta" }));
    assert_eq!(known.known().count(), 1, "the same thing under its newer name");
    assert_eq!(serde_json::to_value(&known).unwrap()["known"][0]["aliases"], json!(["सुरेश"]));
}

#[test]
fn the_newest_comes_first_and_the_oldest_goes() {
    let mut known = SessionEntities::default();
    for number in 0..30 {
        known.observe(&spec(), &json!({ "id": number, "name": format!("Lead {number}") }));
    }
    let ids: Vec<String> = known.known().map(|one| one.id).collect();
    assert_eq!((ids.len(), ids[0].as_str(), ids[19].as_str()), (MOST, "29", "10"));
    let list = leads(&["A a", "B b"]);
    assert_eq!(list.known().next().unwrap().name, "A a", "a list keeps its order");
}

#[test]
fn a_row_of_another_version_is_no_obstacle() {
    assert!(SessionEntities::from_stored(&json!(null)).is_empty());
    assert!(SessionEntities::from_stored(&json!({ "known": 5 })).is_empty());
    let many: Vec<Value> =
        (0..50).map(|id| json!({ "kind": "x", "id": id.to_string(), "name": "n" })).collect();
    assert_eq!(SessionEntities::from_stored(&json!({ "known": many, "later": 1 })).known().count(), MOST);
}

#[test]
fn a_question_waits_for_one_message() {
    let choices = vec![ChoiceOption::new("a", "Ramesh Kumar"), ChoiceOption::new("b", "Ramesh Gupta")];
    let next = FailureHint::Choose { argument: "who".to_owned(), choices };
    let asked = ChoiceQuestion::from_hint("balance", &json!({ "who": "ramesh" }), &next).unwrap();
    let mut known = SessionEntities::default();
    known.set_pending_question(asked.clone());
    let mut known = SessionEntities::from_stored(&serde_json::to_value(&known).unwrap());
    assert_eq!(known.pick("दूसरा वाला").unwrap().arguments, Some(json!({ "who": "b" })));
    assert_eq!(known.pick("2"), None);
    known.set_pending_question(asked);
    assert_eq!(known.pick("what is the time"), None);
    assert_eq!(known.pending_question(), None);
}

/// Any JSON, some of it as tools write it.
fn results() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<u32>().prop_map(Value::from),
        "\\PC{0,12}".prop_map(Value::from),
        "[0-9]{1,2} leads found".prop_map(Value::from),
        "[क-ह ]{0,200}".prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 120, 30, |inner| {
        let key = prop_oneof![
            Just("id"),
            Just("name"),
            Just("title"),
            Just("leads"),
            Just("count"),
            Just("kind"),
            Just("a_id")
        ];
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..30).prop_map(Value::from),
            proptest::collection::vec((key, inner), 0..7).prop_map(|fields| {
                Value::Object(fields.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
            }),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn nothing_grows_without_end(results in proptest::collection::vec(results(), 1..6), text: String) {
        let mut known = SessionEntities::default();
        for result in &results {
            known.observe(&spec(), result);
            known.resolve_and_learn(&text);
        }
        prop_assert!(known.known().count() <= MOST);
        let stored = serde_json::to_value(&known).unwrap();
        prop_assert!(stored.to_string().len() < 64 * 1024);
        prop_assert_eq!(&SessionEntities::from_stored(&stored), &known);
        if let Some(told) = known.render_for_prompt(&text) {
            prop_assert!(told.as_str().chars().count() < LONGEST_TOLD + 200);
        }
        prop_assert!(known.resolve(&text).len() <= 2 * MOST);
    }

    #[test]
    fn a_name_and_a_place_find_their_own(names in proptest::collection::hash_set("[A-Z][a-z]{4,9}", 1..12), at in 0usize..12) {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let known = leads(&names);
        let at = at % names.len();
        let id = format!("L-{:03}", at + 1);
        prop_assert_eq!(meant(&known, &(at + 1).to_string()), vec![id.clone()]);
        prop_assert!(meant(&known, names[at]).contains(&id), "{:?}", names);
    }
}
