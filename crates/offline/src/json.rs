//! Answers in JSON: only what a message says plainly can be filled in.

use std::collections::BTreeMap;
use std::sync::Arc;

use munshi_llm::{Fault, Message};
use munshi_types::tool::ToolSpec;
use serde_json::Value;

use crate::fill::fill;
use crate::palette::{Palette, fields};
use crate::reading::{Before, Reading};
use crate::sight::Sight;

/// The object a schema asks for, filled from the last message; refused unless every required field is certain.
pub(crate) fn answer(message: Option<&Message>, schema: &Value) -> Result<String, Fault> {
    let unsure =
        |why: &str| Fault::Rejected { status: 422, message: format!("the offline model is not sure: {why}") };
    let text = message.map(Message::text).unwrap_or_default();
    let fields = fields(schema);
    let none: [Arc<ToolSpec>; 0] = [];
    let palette = Palette::new(&none);
    let sight = Sight::new(Reading::new(&text, &Before::default()), &palette);
    let filled = fill(&sight, &sight.spans, &fields, None);
    if let Some((name, _)) = filled.doubts.first() {
        return Err(unsure(&format!("`{name}` has two readings")));
    }
    if fields.is_empty() {
        return Err(unsure("the schema has no fields"));
    }
    let open = fields.iter().find(|field| field.is_required && !filled.arguments.contains_key(&field.name));
    if let Some(field) = open {
        return Err(unsure(&format!("nothing says `{}`", field.name)));
    }
    if !sight.reading.mood.is_plain() {
        return Err(unsure("the message asks or denies"));
    }
    let sorted: BTreeMap<String, Value> = filled.arguments.into_iter().collect();
    serde_json::to_string(&sorted).map_err(|_| unsure("it can't be written"))
}
