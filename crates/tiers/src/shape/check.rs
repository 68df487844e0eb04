//! A file's TOML against its table: the body, where each value stands, and everything that is wrong.

use std::collections::BTreeMap;
use std::ops::Range;

use munshi_toml::{QuotedValue, TextPosition, TomlSource, describe_value, render_hint};
use munshi_types::tier::TierKind;
use serde_json::{Map, Value};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::{FieldRequirement, TierField, ValueShape, fields, prose_key};
use crate::problem::FolderProblem;

/// Where values stand, by path, such as `slices[0].human`.
pub(crate) type ValuePositions = BTreeMap<String, TextPosition>;

#[derive(Debug)]
pub(crate) struct CheckedFile {
    pub(crate) body: Map<String, Value>,
    pub(crate) spots: ValuePositions,
    pub(crate) problems: Vec<FolderProblem>,
}

/// Checks the part of `text` in `range`, which is all of a TOML file or the front matter of another.
pub(crate) fn check(kind: TierKind, file: &str, text: &str, range: Range<usize>) -> CheckedFile {
    let (source, table, slips) = TomlSource::parse(text, range);
    let problems = slips.into_iter().map(|slip| FolderProblem::from_syntax(file, slip)).collect();
    let mut walk = Walk { kind, file, source, spots: ValuePositions::new(), problems };
    let body = walk.table(fields(kind), table.get_ref(), "", 0);
    CheckedFile { body, spots: walk.spots, problems: walk.problems }
}

struct Walk<'a> {
    kind: TierKind,
    file: &'a str,
    source: TomlSource<'a>,
    spots: ValuePositions,
    problems: Vec<FolderProblem>,
}

impl Walk<'_> {
    fn table(
        &mut self,
        fields: &[TierField],
        table: &DeTable<'_>,
        path: &str,
        at: usize,
    ) -> Map<String, Value> {
        let mut body = Map::new();
        for (key, value) in table {
            let name = key.get_ref().as_ref();
            let inner = join(path, name);
            match fields.iter().find(|field| field.name == name) {
                Some(field) if path.is_empty() && prose_key(self.kind) == Some(field.name) => {
                    let place = key.span().start;
                    let hint = format!("write it as plain text after the second +++, without `{name} =`");
                    self.add(place, &inner, "this belongs in the text below the front matter", &hint);
                }
                Some(field) => {
                    if let Some(value) = self.value(&field.shape, value, &inner) {
                        body.insert(name.to_owned(), value);
                    }
                }
                None => self.report_unknown_key(fields, name, path, key.span().start),
            }
        }
        for field in fields.iter().filter(|field| field.needed == FieldRequirement::Always) {
            if !table.iter().any(|(key, _)| key.get_ref().as_ref() == field.name) {
                let hint = format!("write {} = …, {}", field.name, field.shape.describe());
                self.add(at, &join(path, field.name), "this key is required", &hint);
            }
        }
        body
    }

    fn value(&mut self, shape: &ValueShape, value: &Spanned<DeValue<'_>>, path: &str) -> Option<Value> {
        let at = value.span().start;
        self.spots.insert(path.to_owned(), self.source.locate(at));
        match (shape, value.get_ref()) {
            (ValueShape::Text, DeValue::String(text)) => self.text(text, path, at),
            (ValueShape::Word(form), DeValue::String(text)) => match (form.read)(text) {
                Ok(spelled) => Some(Value::String(spelled)),
                Err(error) => self.report_bad_word(at, path, &error),
            },
            (ValueShape::Choice(words), DeValue::String(text)) => {
                if words.contains(&text.as_ref()) {
                    return Some(Value::String(text.clone().into_owned()));
                }
                let hint = render_hint(text, words.to_vec(), &format!("write {}", shape.describe()));
                self.add(at, path, &format!("unknown value {}", QuotedValue(text)), &hint);
                None
            }
            (ValueShape::Number { least, most }, DeValue::Integer(number)) => {
                let read = i64::from_str_radix(number.as_str(), number.radix()).ok();
                match read.filter(|number| (least..=most).contains(&number)) {
                    Some(number) => Some(Value::from(number)),
                    None => self.refuse(
                        at,
                        path,
                        &format!("{} is out of range", number.as_str()),
                        &shape.describe(),
                    ),
                }
            }
            (ValueShape::Flag, DeValue::Boolean(flag)) => Some(Value::Bool(*flag)),
            (ValueShape::List(inner), DeValue::Array(items)) => {
                // No heading can say that there is none; it says no more than its absence.
                if items.is_empty() && matches!(inner, ValueShape::Table(_) | ValueShape::Free) {
                    return None;
                }
                let each = items.iter().enumerate();
                let read: Vec<Value> =
                    each.filter_map(|(at, item)| self.value(inner, item, &format!("{path}[{at}]"))).collect();
                Some(Value::Array(read))
            }
            (ValueShape::Table(fields), DeValue::Table(table)) => {
                Some(Value::Object(self.table(fields, table, path, at)))
            }
            (ValueShape::Map { keys, values }, DeValue::Table(table)) => self.map(keys, values, table, path),
            (ValueShape::Guardrail, DeValue::String(text)) => self.text(text, path, at),
            (ValueShape::Guardrail, DeValue::Table(table)) => {
                if !table.iter().any(|(key, value)| key.get_ref() == "id" && value.get_ref().is_str()) {
                    return self.refuse(at, path, "this rule has no id", &shape.describe());
                }
                self.check_free_value(value, path)
            }
            (ValueShape::Free, DeValue::Table(_)) => self.check_free_value(value, path),
            (_, other) => {
                self.refuse(at, path, &format!("this is {}", describe_value(other)), &shape.describe())
            }
        }
    }

    fn text(&mut self, text: &str, path: &str, at: usize) -> Option<Value> {
        if text.contains('\0') {
            return self.refuse(at, path, "the text contains a NUL character", "text without it");
        }
        Some(Value::String(text.to_owned()))
    }

    fn map(
        &mut self,
        keys: &super::WordForm,
        values: &ValueShape,
        table: &DeTable<'_>,
        path: &str,
    ) -> Option<Value> {
        let mut body = Map::new();
        for (key, value) in table {
            let inner = join(path, key.get_ref());
            match (keys.read)(key.get_ref()) {
                Ok(name) => {
                    if let Some(value) = self.value(values, value, &inner) {
                        body.insert(name, value);
                    }
                }
                Err(error) => {
                    self.report_bad_word(key.span().start, &inner, &error);
                }
            }
        }
        Some(Value::Object(body))
    }

    /// What somebody else reads: anything JSON can hold.
    fn check_free_value(&mut self, value: &Spanned<DeValue<'_>>, path: &str) -> Option<Value> {
        let at = value.span().start;
        match value.get_ref() {
            DeValue::String(text) => self.text(text, path, at),
            DeValue::Boolean(flag) => Some(Value::Bool(*flag)),
            DeValue::Integer(number) => match i64::from_str_radix(number.as_str(), number.radix()) {
                Ok(number) => Some(Value::from(number)),
                Err(_) => self.refuse(at, path, "this number is too large", "a smaller one"),
            },
            DeValue::Float(number) => {
                match number.as_str().replace('_', "").parse().ok().and_then(normalize_number) {
                    Some(number) => Some(Value::Number(number)),
                    None => self.refuse(at, path, "this number is not finite or too large", "a plain number"),
                }
            }
            DeValue::Datetime(_) => self.refuse(at, path, "this is a date", "it as text, in quotes"),
            DeValue::Array(items) => {
                let each = items.iter().enumerate();
                Some(
                    each.filter_map(|(at, item)| self.check_free_value(item, &format!("{path}[{at}]")))
                        .collect(),
                )
            }
            DeValue::Table(table) => {
                let mut body = Map::new();
                for (key, value) in table {
                    let inner = join(path, key.get_ref());
                    if let Some(value) = self.check_free_value(value, &inner) {
                        body.insert(key.get_ref().clone().into_owned(), value);
                    }
                }
                Some(Value::Object(body))
            }
        }
    }

    fn report_unknown_key(&mut self, fields: &[TierField], name: &str, path: &str, at: usize) {
        let names: Vec<&str> = fields.iter().map(|field| field.name).collect();
        let place = if path.is_empty() { format!("a {}", self.kind) } else { format!("`{path}`") };
        let list: Vec<&str> =
            names.iter().copied().filter(|name| prose_key(self.kind) != Some(*name)).collect();
        let otherwise = format!("{place} has {}", list.join(", "));
        let hint = render_hint(name, names, &otherwise);
        let what = format!("unknown key {}", QuotedValue(&join(path, name)));
        self.push(at, FolderProblem::in_file(self.file, what).hint(hint));
    }

    /// The error of a form says what is wrong, a colon, and what to write.
    fn report_bad_word(&mut self, at: usize, path: &str, error: &str) -> Option<Value> {
        let (what, hint) = error.rsplit_once(": ").unwrap_or((error, "see docs/tiers.md"));
        self.add(at, path, what, hint);
        None
    }

    fn refuse(&mut self, at: usize, path: &str, what: &str, expects: &str) -> Option<Value> {
        self.add(at, path, what, &format!("write {expects}"));
        None
    }

    fn add(&mut self, at: usize, path: &str, what: &str, hint: &str) {
        self.push(at, FolderProblem::in_file(self.file, what).key(path).hint(hint));
    }

    fn push(&mut self, at: usize, problem: FolderProblem) {
        let place = self.source.locate(at);
        if !self.source.is_broken(place.line) {
            self.problems.push(problem.at_position(place));
        }
    }
}

/// A number that comes back from both engines as it was: Postgres knows no difference between 1.0 and 1, nor between 0
/// and -0.
fn normalize_number(number: f64) -> Option<serde_json::Number> {
    const LARGEST: f64 = 9_007_199_254_740_992.0;
    match number.fract() == 0.0 {
        true => (number.abs() <= LARGEST).then_some((number as i64).into()),
        false => serde_json::Number::from_f64(number),
    }
}

fn join(path: &str, name: &str) -> String {
    if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") }
}
