//! Keywords that hold no schema, read from what stands behind them.

use serde_json::{Map, Value};

use crate::format::SchemaFormat;
use crate::node::{Assertion, NumberBound, SizeBound, TypeSet};
use crate::number::is_whole;
use crate::pattern::SchemaPattern;

pub(super) fn parse_simple_keywords(keywords: &Map<String, Value>) -> Result<Vec<Assertion>, String> {
    let mut assertions = Vec::new();
    if let Some(types) = keywords.get("type") {
        assertions.push(Assertion::Types(read_types(types)?));
    }
    if let Some(values) = keywords.get("enum") {
        let values = values.as_array().ok_or("`enum` must be an array")?;
        assertions.push(Assertion::OneOfValues(values.clone()));
    }
    if let Some(value) = keywords.get("const") {
        assertions.push(Assertion::OneOfValues(vec![value.clone()]));
    }
    read_numbers(keywords, &mut assertions)?;
    read_texts(keywords, &mut assertions)?;
    read_sizes(keywords, &mut assertions)?;
    match keywords.get("uniqueItems") {
        None | Some(Value::Bool(false)) => {}
        Some(Value::Bool(true)) => assertions.push(Assertion::Unique),
        Some(_) => return Err("`uniqueItems` must be true or false".to_owned()),
    }
    if let Some(names) = keywords.get("required") {
        assertions.push(Assertion::Required(texts(names).map_err(|what| format!("`required`: {what}"))?));
    }
    if let Some(needs) = keywords.get("dependentRequired") {
        let needs = needs.as_object().ok_or("`dependentRequired` must be an object")?;
        for (property, names) in needs {
            assertions.push(Assertion::RequiredWith { property: property.clone(), names: texts(names)? });
        }
    }
    Ok(assertions)
}

fn read_types(types: &Value) -> Result<TypeSet, String> {
    let mut set = TypeSet::default();
    let names = match types {
        Value::String(name) => vec![name.clone()],
        list => texts(list).map_err(|what| format!("`type`: {what}"))?,
    };
    match names.iter().find(|name| !set.insert(name)) {
        Some(unknown) => Err(format!("unknown type `{unknown}`")),
        None => Ok(set),
    }
}

fn read_numbers(keywords: &Map<String, Value>, into: &mut Vec<Assertion>) -> Result<(), String> {
    let number = |keyword: &str| match keywords.get(keyword) {
        None => Ok(None),
        Some(Value::Bool(_)) if keyword.starts_with("exclusive") => Ok(None),
        Some(Value::Number(number)) => Ok(Some(number.clone())),
        Some(_) => Err(format!("`{keyword}` must be a number")),
    };
    // Draft 4 says by a boolean that the bound itself is out.
    let is_out = |keyword: &str| keywords.get(keyword) == Some(&Value::Bool(true));
    if let Some(least) = number("minimum")? {
        let bound = if is_out("exclusiveMinimum") { NumberBound::MoreThan } else { NumberBound::AtLeast };
        into.push(Assertion::Number(bound(least)));
    }
    if let Some(most) = number("maximum")? {
        let bound = if is_out("exclusiveMaximum") { NumberBound::LessThan } else { NumberBound::AtMost };
        into.push(Assertion::Number(bound(most)));
    }
    into.extend(number("exclusiveMinimum")?.map(|bound| Assertion::Number(NumberBound::MoreThan(bound))));
    into.extend(number("exclusiveMaximum")?.map(|bound| Assertion::Number(NumberBound::LessThan(bound))));
    if let Some(of) = number("multipleOf")? {
        if of.as_f64().is_none_or(|of| of <= 0.0) {
            return Err("`multipleOf` must be greater than 0".to_owned());
        }
        into.push(Assertion::MultipleOf(of));
    }
    Ok(())
}

fn read_texts(keywords: &Map<String, Value>, into: &mut Vec<Assertion>) -> Result<(), String> {
    if let Some(pattern) = keywords.get("pattern") {
        let pattern = pattern.as_str().ok_or("`pattern` must be a string")?;
        into.push(Assertion::Pattern(Box::new(SchemaPattern::compile(pattern)?)));
    }
    if let Some(format) = keywords.get("format") {
        let name = format.as_str().ok_or("`format` must be a string")?;
        into.extend(SchemaFormat::find(name).map(Assertion::Format));
    }
    Ok(())
}

fn read_sizes(keywords: &Map<String, Value>, into: &mut Vec<Assertion>) -> Result<(), String> {
    let mut bounds = |(least, most): (&str, &str), assertion: fn(SizeBound) -> Assertion| {
        into.extend(count(keywords, least)?.map(|size| assertion(SizeBound::AtLeast(size))));
        into.extend(count(keywords, most)?.map(|size| assertion(SizeBound::AtMost(size))));
        Ok(())
    };
    bounds(("minLength", "maxLength"), Assertion::Text)?;
    bounds(("minItems", "maxItems"), Assertion::Count)?;
    bounds(("minProperties", "maxProperties"), Assertion::PropertyCount)
}

/// A whole number from 0, also where it is spelled 2.0.
pub(super) fn count(keywords: &Map<String, Value>, keyword: &str) -> Result<Option<u64>, String> {
    let Some(value) = keywords.get(keyword) else { return Ok(None) };
    let number = value.as_number().filter(|number| is_whole(number));
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole and in range")]
    let size = number.and_then(|number| {
        number
            .as_u64()
            .or_else(|| number.as_f64().filter(|size| (0.0..1e15).contains(size)).map(|size| size as u64))
    });
    size.map(Some).ok_or_else(|| format!("`{keyword}` must be a non-negative integer"))
}

pub(super) fn texts(value: &Value) -> Result<Vec<String>, String> {
    let list = value.as_array().ok_or("it must be an array of strings")?;
    list.iter()
        .map(|text| {
            text.as_str().map(str::to_owned).ok_or_else(|| "it must be an array of strings".to_owned())
        })
        .collect()
}

/// A reference is an address, and may spell any byte as `%2F`.
pub(super) fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
        let value = digit(rest.next())? * 16 + digit(rest.next())?;
        bytes.push(u8::try_from(value).ok()?);
    }
    String::from_utf8(bytes).ok()
}
