//! A body as TOML: the keys in their table's order, so that the same body always has the same bytes.

use munshi_toml::writer::{write_entries, write_heading};
use serde_json::{Map, Value};

use super::{TierField, ValueShape};

/// Writes `body` without the key `skip`, which stands elsewhere.
pub(crate) fn render_toml(fields: &[TierField], body: &Map<String, Value>, skip: Option<&str>) -> String {
    let mut out = String::new();
    table(fields, body, skip, "", &mut out);
    out
}

/// Plain values first, then tables under their headings: TOML wants it so.
fn table(fields: &[TierField], body: &Map<String, Value>, skip: Option<&str>, path: &str, out: &mut String) {
    let known = || fields.iter().filter(|field| Some(field.name) != skip);
    let plain = known().filter(|field| !has_heading(&field.shape));
    write_entries(plain.filter_map(|field| Some((field.name, body.get(field.name)?))), out);
    for field in known().filter(|field| has_heading(&field.shape)) {
        let Some(value) = body.get(field.name) else { continue };
        let path = if path.is_empty() { field.name.to_owned() } else { format!("{path}.{}", field.name) };
        match (&field.shape, value) {
            (ValueShape::Table(fields), Value::Object(inner)) => {
                write_heading(&format!("[{path}]"), out);
                table(fields, inner, None, &path, out);
            }
            (ValueShape::Map { .. }, Value::Object(inner)) => {
                write_heading(&format!("[{path}]"), out);
                write_entries(inner, out);
            }
            (ValueShape::List(ValueShape::Table(fields)), Value::Array(items)) if !items.is_empty() => {
                for inner in items.iter().filter_map(Value::as_object) {
                    write_heading(&format!("[[{path}]]"), out);
                    table(fields, inner, None, &path, out);
                }
            }
            (ValueShape::List(ValueShape::Free), Value::Array(items)) if !items.is_empty() => {
                for inner in items.iter().filter_map(Value::as_object) {
                    write_heading(&format!("[[{path}]]"), out);
                    write_entries(inner, out);
                }
            }
            _ => {}
        }
    }
}

fn has_heading(shape: &ValueShape) -> bool {
    matches!(
        shape,
        ValueShape::Table(_)
            | ValueShape::Map { .. }
            | ValueShape::List(ValueShape::Table(_) | ValueShape::Free)
    )
}
