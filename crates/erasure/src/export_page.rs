//! An export as a page for whoever it is about: kind by kind, a box a record. Its pieces are put out one by one, so that a long one
//! needs no room of its own.

use askama::Template;
use munshi_types::Timestamp;
use serde_json::Value;
use uuid::Uuid;

use crate::export::ExportedRecord;

/// The end of the page.
pub const END: &str = "</body></html>\n";

#[derive(Template)]
#[template(path = "export_head.html")]
struct Head<'a> {
    about: &'a str,
    at: Timestamp,
}

#[derive(Template)]
#[template(path = "export_record.html")]
struct Record {
    /// Whether it is the first of its kind.
    begins: bool,
    heading: String,
    id: Uuid,
    fields: Vec<(String, String)>,
}

/// What stands before the records.
pub fn render_head(about: &str, at: Timestamp) -> askama::Result<String> {
    Head { about, at }.render()
}

/// A record, and the heading of its kind where it is the first of it.
pub fn render_record(record: &ExportedRecord, last_kind: Option<&str>) -> askama::Result<String> {
    let mut fields = Vec::new();
    list_fields("", &record.data, &mut fields);
    let begins = last_kind != Some(record.kind.as_str());
    Record { begins, heading: capitalise(&record.kind), id: record.id, fields }.render()
}

fn capitalise(kind: &str) -> String {
    let mut letters = kind.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Every value that says something, under the names that lead to it.
fn list_fields(path: &str, value: &Value, fields: &mut Vec<(String, String)>) {
    let step = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path} / {name}") };
    match value {
        Value::Null => {}
        Value::Object(inner) => {
            inner.iter().for_each(|(name, value)| list_fields(&step(&name.replace('_', " ")), value, fields));
        }
        Value::Array(inner) => {
            inner
                .iter()
                .enumerate()
                .for_each(|(at, value)| list_fields(&step(&(at + 1).to_string()), value, fields));
        }
        Value::String(text) if text.is_empty() => {}
        Value::String(text) => fields.push((path.to_owned(), text.clone())),
        Value::Bool(_) | Value::Number(_) => fields.push((path.to_owned(), value.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_people_wrote_is_text_and_no_markup() {
        let data = json!({
            "text": "<script>alert(1)</script>",
            "said_at": "2026-11-19T08:00:00Z",
            "entities": { "items": ["rice", null, ""] },
        });
        let record = ExportedRecord { kind: "messages".to_owned(), id: Uuid::nil(), data };
        let page = render_record(&record, None).unwrap();
        assert!(page.contains("<h2>Messages</h2>"), "{page}");
        assert!(page.contains("<dd>&lt;script&gt;alert(1)&lt;/script&gt;</dd>"), "{page}");
        assert!(page.contains("<dt>entities / items / 1</dt><dd>rice</dd>"), "{page}");
        assert!(!page.contains("items / 2"), "{page}");
        assert!(!render_record(&record, Some("messages")).unwrap().contains("<h2>"));
        let head = render_head("<b>Asha", Timestamp::from_micros(0));
        assert!(head.unwrap().contains("What is known about &lt;b&gt;Asha</title>"));
    }
}
