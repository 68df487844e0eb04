//! What fits a schema, what does not, and which schemas are refused.
#![allow(clippy::panic, clippy::expect_used, reason = "a test fails by panicking")]

use munshi_schema::Schema;
use serde_json::{Value, json};

fn compiled(schema: &Value) -> Schema {
    Schema::compile(schema).unwrap_or_else(|error| panic!("{schema}: {error}"))
}

/// A schema, values that fit it, and values that don't.
type Case = (Value, Vec<Value>, Vec<Value>);

fn cases() -> Vec<Case> {
    let mut cases = vec![
        (json!(true), vec![json!(1), json!(null)], vec![]),
        (json!(false), vec![], vec![json!(1), json!(null)]),
        (json!({ "type": "integer" }), vec![json!(1), json!(1.0), json!(-3)], vec![json!(1.5), json!("1")]),
        (json!({ "type": ["string", "null"] }), vec![json!("a"), json!(null)], vec![json!(1), json!([])]),
        (
            json!({ "enum": [1, "a", { "b": [2] }] }),
            vec![json!(1.0), json!({ "b": [2.0] })],
            vec![json!("b")],
        ),
        (json!({ "const": null }), vec![json!(null)], vec![json!(0), json!(false)]),
        (
            json!({ "minimum": 1, "exclusiveMaximum": 2 }),
            vec![json!(1), json!(1.9), json!("x")],
            vec![json!(2), json!(0.9)],
        ),
        (json!({ "minimum": 1, "exclusiveMinimum": true }), vec![json!(1.1)], vec![json!(1)]),
        (
            json!({ "maximum": 9_007_199_254_740_993_i64 }),
            vec![json!(9_007_199_254_740_993_i64)],
            vec![json!(9_007_199_254_740_994_i64)],
        ),
        (json!({ "multipleOf": 0.01 }), vec![json!(0.07), json!(19.99), json!(3)], vec![json!(0.075)]),
        (
            json!({ "minLength": 2, "maxLength": 3 }),
            vec![json!("हि"), json!("abc"), json!(1)],
            vec![json!("a"), json!("abcd")],
        ),
        (
            json!({ "uniqueItems": true }),
            vec![json!([1, "1", [1]])],
            vec![json!([1, 1.0]), json!([{ "a": 1, "b": 2 }, { "b": 2, "a": 1 }])],
        ),
    ];
    cases.extend(arrays());
    cases.extend(objects());
    cases.extend(branches());
    cases.extend(texts());
    cases
}

fn arrays() -> Vec<Case> {
    vec![
        (
            json!({ "items": { "type": "string" }, "minItems": 1 }),
            vec![json!(["a"]), json!({})],
            vec![json!([]), json!(["a", 1])],
        ),
        (
            json!({ "prefixItems": [{ "const": 1 }], "items": false }),
            vec![json!([1]), json!([])],
            vec![json!([2]), json!([1, 2])],
        ),
        (
            json!({ "items": [{ "const": 1 }], "additionalItems": { "const": 2 } }),
            vec![json!([1, 2, 2])],
            vec![json!([1, 3])],
        ),
        (json!({ "contains": { "const": 1 } }), vec![json!([0, 1])], vec![json!([]), json!([0])]),
        (
            json!({ "contains": { "const": 1 }, "minContains": 0, "maxContains": 1 }),
            vec![json!([]), json!([1])],
            vec![json!([1, 1])],
        ),
    ]
}

fn objects() -> Vec<Case> {
    vec![
        (
            json!({ "properties": { "a": { "type": "string" } }, "required": ["a"], "additionalProperties": false }),
            vec![json!({ "a": "x" }), json!("no object")],
            vec![json!({}), json!({ "a": 1 }), json!({ "a": "x", "b": 1 })],
        ),
        (
            json!({ "patternProperties": { "^x-": { "type": "integer" } }, "additionalProperties": { "type": "string" } }),
            vec![json!({ "x-a": 1, "b": "c" })],
            vec![json!({ "x-a": "1" }), json!({ "b": 1 })],
        ),
        (json!({ "propertyNames": { "maxLength": 2 } }), vec![json!({ "ab": 1 })], vec![json!({ "abc": 1 })]),
        (
            json!({ "minProperties": 1, "maxProperties": 1 }),
            vec![json!({ "a": 1 })],
            vec![json!({}), json!({ "a": 1, "b": 1 })],
        ),
        (
            json!({ "dependentRequired": { "a": ["b"] } }),
            vec![json!({ "b": 1 }), json!({ "a": 1, "b": 1 })],
            vec![json!({ "a": 1 })],
        ),
        (
            json!({ "dependentSchemas": { "a": { "required": ["b"] } } }),
            vec![json!({})],
            vec![json!({ "a": 1 })],
        ),
        (
            json!({ "dependencies": { "a": ["b"], "c": { "required": ["d"] } } }),
            vec![json!({ "c": 1, "d": 1 })],
            vec![json!({ "a": 1 }), json!({ "c": 1 })],
        ),
    ]
}

fn branches() -> Vec<Case> {
    vec![
        (
            json!({ "anyOf": [{ "type": "string" }, { "minimum": 5 }] }),
            vec![json!("a"), json!(5)],
            vec![json!(4)],
        ),
        (json!({ "oneOf": [{ "minimum": 1 }, { "maximum": 3 }] }), vec![json!(0), json!(4)], vec![json!(2)]),
        (json!({ "allOf": [{ "minimum": 1 }, { "maximum": 3 }] }), vec![json!(2)], vec![json!(0), json!(4)]),
        (json!({ "not": { "type": "string" } }), vec![json!(1)], vec![json!("a")]),
        (
            json!({ "if": { "properties": { "kind": { "const": "a" } } }, "then": { "required": ["x"] }, "else": { "required": ["y"] } }),
            vec![json!({ "kind": "a", "x": 1 }), json!({ "kind": "b", "y": 1 })],
            vec![json!({ "kind": "a", "y": 1 }), json!({ "kind": "b", "x": 1 })],
        ),
        (
            json!({ "$defs": { "tree/1": { "properties": { "sub": { "items": { "$ref": "#/$defs/tree~11" } } }, "additionalProperties": false } }, "$ref": "#/%24defs/tree~11" }),
            vec![json!({ "sub": [{ "sub": [{}] }] })],
            vec![json!({ "sub": [{ "sub": [{ "odd": 1 }] }] })],
        ),
        (
            json!({ "$ref": "#/definitions/a", "minimum": 3, "definitions": { "a": { "type": "integer" } } }),
            vec![json!(3)],
            vec![json!(2), json!(3.5)],
        ),
    ]
}

fn texts() -> Vec<Case> {
    let format = |name: &str, good: &[&str], bad: &[&str]| {
        let values = |texts: &[&str]| texts.iter().map(|text| json!(text)).collect();
        (json!({ "format": name }), values(good), values(bad))
    };
    vec![
        (
            json!({ "pattern": "^\\d+$" }),
            vec![json!("12"), json!("1")],
            vec![json!("१२"), json!("1\n"), json!("a1")],
        ),
        (json!({ "pattern": "^[\\w.&[-]+\\/x$" }), vec![json!("a.&[-/x")], vec![json!("é/x")]),
        (json!({ "pattern": "^\\<[a-z]+\\>$" }), vec![json!("<abc>")], vec![json!("abc")]),
        (json!({ "pattern": "^[\\w-~]+$" }), vec![json!("a-~")], vec![json!("{|}")]),
        (json!({ "pattern": "b" }), vec![json!("abc")], vec![json!("ac")]),
        format(
            "date",
            &["2026-11-16", "2024-02-29"],
            &["2026-02-29", "2026-1-1", "16-11-2026", "१९९९-01-01"],
        ),
        format("time", &["10:00:00Z", "23:59:60Z", "10:00:00.5+05:30"], &["10:00", "24:00:00Z", "10:00:60Z"]),
        format("date-time", &["2026-11-16T10:00:00Z"], &["2026-11-16", "2026-11-31T10:00:00Z"]),
        format("duration", &["P1D", "PT5M", "P1Y2M3DT4H5M6S", "P2W"], &["P", "PT", "P1S", "1D", "P1D2Y"]),
        format("email", &["a@b.in", "a.b+c@d"], &["a", "@b.in", "a..b@c.in", "a@-b.in"]),
        format("hostname", &["a.in", "x"], &["-a.in", "a..in", ""]),
        format("ipv4", &["127.0.0.1"], &["127.0.0.256", "1.2.3"]),
        format("ipv6", &["::1"], &["::g", "1.2.3.4"]),
        format("uri", &["https://a.in/b?c=%20#d", "urn:x:y"], &["a.in/b", "http://a b", "http://%zz"]),
        format("uuid", &["2eb8aa08-aa98-11ea-b4aa-73b441d16380"], &["2eb8aa08aa9811eab4aa73b441d16380"]),
        format("money", &["whatever"], &[]),
    ]
}

#[test]
fn every_keyword_holds_what_it_says() {
    for (schema, fitting, unfit) in cases() {
        let compiled = compiled(&schema);
        for value in fitting {
            assert!(
                compiled.is_valid(&value),
                "{schema} must take {value}: {:?}",
                compiled.find_violations(&value, 5)
            );
        }
        for value in unfit {
            assert!(!compiled.is_valid(&value), "{schema} must refuse {value}");
        }
    }
}

#[test]
fn a_schema_that_cannot_be_checked_whole_is_refused() {
    for (schema, why) in [
        (
            json!({ "properties": { "a": { "unevaluatedProperties": false } } }),
            "`unevaluatedProperties` is not supported",
        ),
        (json!({ "$dynamicRef": "#a" }), "`$dynamicRef` is not supported"),
        (json!({ "$ref": "https://elsewhere.example/schema" }), "does not resolve"),
        (json!({ "$ref": "#/$defs/gone" }), "does not resolve"),
        (
            json!({ "$defs": { "a": { "anyOf": [{ "$ref": "#/$defs/a" }] } }, "$ref": "#/$defs/a" }),
            "form a cycle",
        ),
        (json!({ "items": { "$id": "other", "type": "string" } }), "`$id` below the root"),
        (json!({ "pattern": "^(?!a)" }), "linear"),
        (json!({ "pattern": "(a)\\1" }), "linear"),
        (json!({ "pattern": "((a{1,1000}){1,1000}){1,1000}" }), "linear"),
        (json!({ "pattern": "[^]" }), "empty character class"),
        (json!({ "type": "money" }), "unknown type `money`"),
        (json!({ "required": true }), "`required`"),
        (json!({ "minimum": true }), "`minimum`"),
        (json!({ "dependencies": ["a"] }), "`dependencies`"),
        (json!({ "pattern": "[ab]*[ab]{5000}c" }), "linear"),
        (json!({ "minLength": -1 }), "`minLength`"),
        (json!({ "multipleOf": 0 }), "`multipleOf`"),
        (json!({ "properties": { "a": 5 } }), "an object or a boolean"),
    ] {
        let error = Schema::compile(&schema).expect_err(&schema.to_string()).to_string();
        assert!(error.contains(why), "{schema}: {error}");
    }
    assert!(
        Schema::compile(&json!({ "title": "T", "x-own": { "type": "nonsense" }, "nullable": true })).is_ok()
    );
}

#[test]
fn a_misfit_names_the_place_and_never_the_value() {
    let schema = compiled(&json!({
        "properties": { "to": { "items": { "properties": { "amount": { "type": "integer" } } } } },
        "additionalProperties": false,
    }));
    let misfits =
        schema.find_violations(&json!({ "to": [{}, { "amount": "secret" }], "extra": "hidden" }), 5);
    let told: Vec<String> = misfits.iter().map(ToString::to_string).collect();
    assert_eq!(
        told,
        ["the whole has `extra`, which is not among its properties", "/to/1/amount must be of type integer"]
    );
}

/// Eight hundred branches that each go down the same value: by trying every way it would take 800^20 steps.
#[test]
fn branches_that_contain_themselves_are_checked_within_a_bound() {
    let branches: Vec<Value> = (0..800).map(|_| json!({ "$ref": "#/$defs/n" })).collect();
    let schema = compiled(&json!({
        "$defs": { "n": { "type": "object", "properties": { "next": { "anyOf": branches } }, "required": ["value"] } },
        "$ref": "#/$defs/n",
    }));
    let mut value = json!({});
    let mut fitting = json!({ "value": 1 });
    for _ in 0..20 {
        value = json!({ "next": value, "value": 1 });
        fitting = json!({ "next": fitting, "value": 1 });
    }
    assert!(!schema.is_valid(&value));
    assert!(schema.is_valid(&fitting));
}

#[test]
fn what_takes_too_long_is_refused_and_never_passed() {
    let choices: Vec<Value> = (0..2_000).map(|number| json!({ "const": number })).collect();
    let schema = compiled(&json!({ "items": { "not": { "anyOf": choices } } }));
    let list: Vec<Value> = (0..2_000).map(|_| json!("x")).collect();
    assert_eq!(schema.find_violations(&json!(list), 5)[0].what, "takes too long to check");
    let empty: Vec<Value> = (0..8_000).map(|_| json!({})).collect();
    let schema = compiled(&json!({ "items": { "allOf": empty } }));
    assert_eq!(schema.find_violations(&json!(vec![0; 2_000]), 1)[0].what, "takes too long to check");
    let deep = (0..400).fold(json!({ "const": 1 }), |inner, _| json!({ "not": inner }));
    assert!(Schema::compile(&deep).is_err());
    // Short ways into a long chain: each is shallow to read, and the whole is not.
    let (mut chain, mut ways) = (serde_json::Map::new(), serde_json::Map::new());
    for number in 0..2_000 {
        chain.insert(format!("d{number}"), json!({ "not": { "$ref": format!("#/$defs/d{}", number + 1) } }));
    }
    chain.insert("d2000".to_owned(), json!(true));
    for number in (0..2_000).step_by(20) {
        ways.insert(format!("{:04}", 2_000 - number), json!({ "$ref": format!("#/$defs/d{number}") }));
    }
    let chained = compiled(&json!({ "$defs": chain, "properties": ways, "$ref": "#/$defs/d0" }));
    assert_eq!(chained.find_violations(&json!(1), 1)[0].what, "takes too long to check");
}

/// What is compared is paid for by its size, not by the number of its items.
#[test]
fn comparing_large_items_takes_as_long_as_they_are() {
    let unique = vec![json!({ "uniqueItems": true }); 1_000];
    let schema = compiled(&json!({ "allOf": unique }));
    assert_eq!(schema.find_violations(&json!([1, 2, "a"]), 1), []);
    let large = json!([{ "k": vec![0; 6_400] }, 0]);
    assert_eq!(schema.find_violations(&large, 1)[0].what, "takes too long to check");
    let listed = compiled(&json!({ "allOf": vec![json!({ "const": "x".repeat(20_000) }); 1_000] }));
    assert_eq!(listed.find_violations(&json!("x".repeat(20_000)), 1)[0].what, "takes too long to check");
    let plain = compiled(&json!({ "uniqueItems": true, "items": { "enum": ["a", "b", "c"] } }));
    assert_eq!(plain.find_violations(&json!(["a", "b"]), 1), []);
}
