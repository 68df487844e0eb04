//! Answers in JSON: only what a message says plainly can be filled in.

use std::collections::BTreeMap;
use std::sync::Arc;

use munshi_llm::{ChatMessage, ModelError};
use munshi_types::tool::ToolSpec;
use serde_json::Value;

use crate::fill::fill;
use crate::prepared_tools::{PreparedToolSet, parse_fields};
use crate::reading::{OfflineReading, OfflineReadingContext};
use crate::tool_view::MessageToolView;

/// The object a schema asks for, filled from the last message; refused unless every required field is certain.
pub(crate) fn answer(message: Option<&ChatMessage>, schema: &Value) -> Result<String, ModelError> {
    let unsure = |why: &str| ModelError::Rejected {
        status: 422,
        message: format!("the offline model is not sure: {why}"),
    };
    let text = message.map(ChatMessage::text).unwrap_or_default();
    let fields = parse_fields(schema);
    let none: [Arc<ToolSpec>; 0] = [];
    let palette = PreparedToolSet::new(&none);
    let sight = MessageToolView::new(OfflineReading::new(&text, &OfflineReadingContext::default()), &palette);
    let filled = fill(&sight, &sight.spans, &fields, None);
    if let Some((name, _)) = filled.doubts.first() {
        return Err(unsure(&format!("`{name}` is ambiguous")));
    }
    if fields.is_empty() {
        return Err(unsure("the schema has no fields"));
    }
    let open = fields.iter().find(|field| field.is_required && !filled.arguments.contains_key(&field.name));
    if let Some(field) = open {
        return Err(unsure(&format!("no value found for `{}`", field.name)));
    }
    if !sight.reading.mood.is_plain() {
        return Err(unsure("the message asks or denies"));
    }
    let sorted: BTreeMap<String, Value> = filled.arguments.into_iter().collect();
    serde_json::to_string(&sorted).map_err(|_| unsure("serialization failed"))
}
