//! Our checker must say of every value what a full implementation says, for every schema it takes; and it must take
//! every schema that uses supported keywords only.

use munshi_schema::Schema;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-5_i64..8).prop_map(Value::from),
        prop_oneof![Just(0.5), Just(1.0), Just(2.25), Just(-3.0), Just(0.1)].prop_map(Value::from),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(name(), inner, 0..4)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

fn name() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["a", "b", "c", "x-1", "x/2", "long name"]).prop_map(str::to_owned)
}

fn text() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "", "a", "ab", "abc", "हिंदी", "12", "१२", "a1_", "a\nb", " ", "2026-11-16", "2026-02-30", "127.0.0.1", "::1",
        "2eb8aa08-aa98-11ea-b4aa-73b441d16380", "a@b.in", "x.y",
    ])
    .prop_map(str::to_owned)
}

fn pattern() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "^a", "b$", "^\\d+$", "\\w", "^\\s*$", "^[a-c]+$", "^[^\\d]*$", "a.b", "^(?:ab|12)$", "x\\.y", "[\\w.-]+",
    ])
    .prop_map(str::to_owned)
}

/// A few keywords at once, of which most say nothing about most values.
fn schema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        any::<bool>().prop_map(Value::from),
        prop::collection::vec(plain(), 0..3).prop_map(merged),
        prop::sample::select(vec!["#/$defs/one", "#/$defs/two"]).prop_map(|to| json!({ "$ref": to })),
    ];
    leaf.prop_recursive(3, 32, 4, |inner| {
        prop::collection::vec(prop_oneof![2 => plain(), 3 => nested(inner)], 1..4).prop_map(merged)
    })
}

fn merged(parts: Vec<Value>) -> Value {
    let mut all = Map::new();
    for part in parts {
        all.extend(part.as_object().cloned().unwrap_or_default());
    }
    Value::Object(all)
}

fn plain() -> BoxedStrategy<Value> {
    let types = vec!["null", "boolean", "object", "array", "number", "integer", "string"];
    let kind = prop::sample::select(types.clone());
    prop_oneof![
        kind.prop_map(|kind| json!({ "type": kind })),
        prop::sample::subsequence(types, 1..4).prop_map(|kinds| json!({ "type": kinds })),
        prop::collection::vec(value(), 1..4).prop_map(|values| json!({ "enum": values })),
        value().prop_map(|value| json!({ "const": value })),
        (-3_i64..6).prop_map(|bound| json!({ "minimum": bound })),
        (-3_i64..6).prop_map(|bound| json!({ "maximum": bound })),
        prop_oneof![Just(0.5), Just(1.0)].prop_map(|bound| json!({ "exclusiveMinimum": bound })),
        prop_oneof![Just(2.25), Just(3.0)].prop_map(|bound| json!({ "exclusiveMaximum": bound })),
        prop_oneof![Just(json!(2)), Just(json!(0.5)), Just(json!(0.1)), Just(json!(3))]
            .prop_map(|of| json!({ "multipleOf": of })),
        (0_u64..4).prop_map(|size| json!({ "minLength": size })),
        (0_u64..4).prop_map(|size| json!({ "maxLength": size })),
        pattern().prop_map(|pattern| json!({ "pattern": pattern })),
        prop::sample::select(vec!["date", "ipv4", "ipv6", "uuid", "email", "money", "int64"])
            .prop_map(|format| json!({ "format": format })),
        (0_u64..3).prop_map(|size| json!({ "minItems": size })),
        (0_u64..3).prop_map(|size| json!({ "maxItems": size })),
        any::<bool>().prop_map(|unique| json!({ "uniqueItems": unique })),
        (0_u64..3).prop_map(|size| json!({ "minProperties": size })),
        (0_u64..3).prop_map(|size| json!({ "maxProperties": size })),
        prop::collection::btree_set(name(), 0..3).prop_map(|names| json!({ "required": names })),
        (name(), prop::collection::btree_set(name(), 0..3))
            .prop_map(|(name, names)| json!({ "dependentRequired": { name: names } })),
        prop::sample::select(vec!["title", "description", "x-own", "default"])
            .prop_map(|word| json!({ word: "says nothing" })),
    ]
    .boxed()
}

fn nested(inner: BoxedStrategy<Value>) -> impl Strategy<Value = Value> {
    let named = prop::collection::btree_map(name(), inner.clone(), 0..4);
    let list = prop::collection::vec(inner.clone(), 1..4);
    prop_oneof![
        named.prop_map(|named| json!({ "properties": named })),
        inner.clone().prop_map(|other| json!({ "additionalProperties": other })),
        (pattern(), inner.clone()).prop_map(|(pattern, node)| json!({ "patternProperties": { pattern: node } })),
        inner.clone().prop_map(|names| json!({ "propertyNames": names })),
        (name(), inner.clone()).prop_map(|(name, node)| json!({ "dependentSchemas": { name: node } })),
        inner.clone().prop_map(|items| json!({ "items": items })),
        list.clone().prop_map(|first| json!({ "prefixItems": first })),
        (inner.clone(), 0_u64..3).prop_map(|(node, least)| json!({ "contains": node, "minContains": least })),
        (inner.clone(), 0_u64..3).prop_map(|(node, most)| json!({ "contains": node, "maxContains": most })),
        list.clone().prop_map(|list| json!({ "allOf": list })),
        list.clone().prop_map(|list| json!({ "anyOf": list })),
        list.prop_map(|list| json!({ "oneOf": list })),
        inner.clone().prop_map(|node| json!({ "not": node })),
        (inner.clone(), inner.clone(), inner).prop_map(|(test, then, otherwise)| {
            json!({ "if": test, "then": then, "else": otherwise })
        }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200_000, max_global_rejects: 1_000_000, ..ProptestConfig::default() })]

    #[test]
    fn both_say_the_same(
        mut schema in schema(),
        one in schema(),
        two in plain(),
        values in prop::collection::vec(value(), 8),
    ) {
        if let Some(top) = schema.as_object_mut() {
            top.insert("$defs".to_owned(), json!({ "one": one, "two": two }));
        }
        let reference = jsonschema::options().should_validate_formats(true).build(&schema);
        let ours = Schema::compile(&schema);
        match (reference, ours) {
            (Ok(reference), Ok(ours)) => {
                for value in &values {
                    prop_assert_eq!(ours.is_valid(value), reference.is_valid(value), "{} of {}", value, schema);
                }
            }
            // A circle that never ends is ours to refuse; the other goes round until something stops it.
            (Ok(_), Err(error)) => prop_assert!(error.what.contains("circle"), "{}: {}", schema, error),
            (Err(_), _) => {}
        }
    }
}
