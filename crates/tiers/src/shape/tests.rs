//! The tables and the types they stand for say the same, and what is written reads back.

use munshi_types::tier::{Channel, TierKind};
use proptest::prelude::*;
use serde_json::{Map, Value};

use super::{FieldRequirement, TierField, ValueShape, fields, prose_key};
use crate::draft::{Tier, TierBody};
use crate::files::{parse, render};

/// Something that every shape takes.
fn sample(shape: &ValueShape) -> Value {
    match shape {
        ValueShape::Text => Value::from("some text"),
        ValueShape::Word(form) => {
            let words = [
                "meera",
                "number:+919812345678",
                "search",
                "hi",
                "default",
                "mon-fri 10:00-18:00",
                "2026-11-16",
            ];
            Value::from(words.into_iter().find_map(|word| (form.read)(word).ok()).unwrap())
        }
        ValueShape::Number { least, .. } => Value::from(*least),
        ValueShape::Flag => Value::from(true),
        ValueShape::Choice(words) => Value::from(words[words.len() - 1]),
        ValueShape::List(inner) => Value::from(vec![sample(inner)]),
        ValueShape::Table(fields) => Value::Object(full(fields)),
        ValueShape::Map { values, .. } => serde_json::json!({ "default": sample(values) }),
        ValueShape::Guardrail => serde_json::json!({ "id": "cooldown", "turns": 4 }),
        ValueShape::Free => serde_json::json!({ "id": "own", "any": ["x"] }),
    }
}

fn full(fields: &[TierField]) -> TierBody {
    let mut body: TierBody =
        fields.iter().map(|field| (field.name.to_owned(), sample(&field.shape))).collect();
    // A slice differs in one way.
    if body.contains_key("share") {
        body.remove("binding");
    }
    body
}

#[test]
fn every_key_of_a_table_is_one_of_its_type_and_none_is_lost() {
    for kind in TierKind::ALL {
        let body = full(fields(kind));
        let read = Tier::read(kind, &body).unwrap_or_else(|error| panic!("{kind}: {error}"));
        assert_eq!(read.values().unwrap(), Value::Object(body), "{kind}");
    }
}

#[test]
fn what_is_needed_is_all_that_is_needed() {
    for kind in TierKind::ALL {
        let needed = fields(kind).iter().filter(|field| field.needed == FieldRequirement::Always);
        let body: TierBody = needed.map(|field| (field.name.to_owned(), sample(&field.shape))).collect();
        Tier::read(kind, &body).unwrap_or_else(|error| panic!("{kind}: {error}"));
    }
}

#[test]
fn a_bindings_file_may_name_every_channel() {
    let names = Channel::ALL.map(|channel| format!("\"{channel}\"")).join(", ");
    let text = format!("human = \"meera\"\nteam = \"shop\"\nagent = \"shop\"\nchannels = [{names}]\n");
    let draft = parse(TierKind::Binding, "x".parse().unwrap(), "x", text.as_bytes()).unwrap();
    assert_eq!(draft.body["channels"], serde_json::json!(Channel::ALL));
}

/// Texts that are hard to write: quotes, fences, line ends, all scripts.
fn text() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        Just("+++".to_owned()),
        Just("\n".to_owned()),
        Just("\n+++\n".to_owned()),
        Just("\"\"\"".to_owned()),
        Just("'''".to_owned()),
        Just("\\".to_owned()),
        Just("\t".to_owned()),
        Just("\u{7f}\u{1}".to_owned()),
        Just("# कर्ज़".to_owned()),
        Just("வணக்கம்\u{200d}🙏".to_owned()),
        "[a-z \"'=\\[\\]{}#,.-]{0,12}",
        any::<char>()
            .prop_filter("no text", |letter| *letter != '\0' && *letter != '\r')
            .prop_map(String::from),
    ];
    prop::collection::vec(word, 0..8).prop_map(|words| words.concat())
}

fn number(least: i64, most: i64) -> BoxedStrategy<Value> {
    (least..=most).prop_map(Value::from).boxed()
}

fn free(depth: u32) -> BoxedStrategy<Value> {
    let leaf = prop_oneof![
        text().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (-1000_i32..1000, 1_u8..9)
            .prop_map(|(whole, part)| Value::from(f64::from(whole) + f64::from(part) / 16.0)),
        any::<bool>().prop_map(Value::from),
    ];
    let table = prop::collection::btree_map("[a-z]{1,6}|[a-z .\"]{1,6}", leaf.clone(), 0..4)
        .prop_map(|map| Value::Object(map.into_iter().collect()));
    if depth == 0 {
        return prop_oneof![leaf, table].boxed();
    }
    prop::collection::btree_map("[a-z]{1,6}", free(depth - 1), 1..4)
        .prop_map(|map| Value::Object(map.into_iter().collect()))
        .boxed()
}

fn any_of(shape: &'static ValueShape) -> BoxedStrategy<Value> {
    match shape {
        ValueShape::Text => text().prop_map(Value::from).boxed(),
        ValueShape::Word(_) | ValueShape::Choice(_) | ValueShape::Flag => Just(sample(shape)).boxed(),
        ValueShape::Number { least, most } => number(*least, *most),
        ValueShape::List(inner) => {
            let least = usize::from(matches!(inner, ValueShape::Table(_) | ValueShape::Free));
            prop::collection::vec(any_of(inner), least..4).prop_map(Value::from).boxed()
        }
        ValueShape::Table(fields) => body(fields).prop_map(Value::Object).boxed(),
        ValueShape::Map { values, .. } => {
            any_of(values).prop_map(|value| serde_json::json!({ "cheap": value })).boxed()
        }
        ValueShape::Guardrail => prop_oneof![
            text().prop_map(Value::from),
            (text(), number(0, 9)).prop_map(|(id, turns)| serde_json::json!({ "id": id, "turns": turns })),
        ]
        .boxed(),
        ValueShape::Free => free(1),
    }
}

fn body(fields: &'static [TierField]) -> BoxedStrategy<TierBody> {
    let each: Vec<BoxedStrategy<Option<(String, Value)>>> = fields
        .iter()
        .map(|field| {
            let value = any_of(&field.shape).prop_map(move |value| Some((field.name.to_owned(), value)));
            match field.needed {
                FieldRequirement::Always => value.boxed(),
                FieldRequirement::No => prop_oneof![value, Just(None)].boxed(),
            }
        })
        .collect();
    each.prop_map(|pairs| {
        let mut body: Map<String, Value> = pairs.into_iter().flatten().collect();
        if body.contains_key("share") {
            body.remove("binding");
            body.insert("human".to_owned(), Value::from("meera@3"));
        }
        body
    })
    .boxed()
}

/// Prose that is empty is none.
fn without_empty_prose(kind: TierKind, mut body: TierBody) -> TierBody {
    if let Some(key) = prose_key(kind).filter(|key| body.get(*key) == Some(&Value::from(""))) {
        body.remove(key);
    }
    body
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn what_is_written_reads_back_to_the_byte(
        (kind, body) in prop_oneof![
            body(fields(TierKind::Human)).prop_map(|body| (TierKind::Human, body)),
            body(fields(TierKind::Team)).prop_map(|body| (TierKind::Team, body)),
            body(fields(TierKind::Agent)).prop_map(|body| (TierKind::Agent, body)),
            body(fields(TierKind::Binding)).prop_map(|body| (TierKind::Binding, body)),
        ]
    ) {
        let body = without_empty_prose(kind, body);
        let text = render(kind, &body);
        let draft = parse(kind, "x".parse().unwrap(), "x", text.as_bytes())
            .map_err(|problems| TestCaseError::fail(format!("{problems:?}\n{text}")))?;
        prop_assert_eq!(&draft.body, &body, "{}", text);
        prop_assert_eq!(render(kind, &draft.body), text);
    }
}
